// SPDX-License-Identifier: MIT
//
// relock rewrite: converts lock classes, as a diff or in place.
#include "driver/Subcommand.h"

#include "advise/Algorithms.h"
#include "driver/BuildOption.h"
#include "driver/CompletedValues.h"
#include "driver/Options.h"
#include "driver/OtherText.h"
#include "driver/PlanOption.h"
#include "driver/ProjectOption.h"
#include "driver/ReadProgram.h"
#include "driver/SectionPlace.h"
#include "driver/Undo.h"
#include "rewrite/Convert.h"
#include "rewrite/Diff.h"
#include "rewrite/Fixes.h"
#include "rewrite/HoldOnly.h"
#include "rewrite/Rewrite.h"
#include "support/Messages.h"
#include "support/Output.h"
#include "support/Transaction.h"
#include "support/VersionControl.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace relock {

static cl::SubCommand Command("rewrite", "convert lock classes: prints a diff, or edits in place");
static cl::list<std::string> Builds("p", cl::desc(BuildHelp), cl::value_desc("BUILD"), cl::Prefix,
                                    cl::sub(Command), cl::cat(options()));
static cl::list<std::string> Locks("lock", cl::desc("convert this lock class to this algorithm"),
                                   cl::value_desc("CLASS=ALGORITHM"), cl::sub(Command),
                                   cl::cat(options()));
static cl::opt<std::string> All("all",
                                cl::desc("convert every class that can be and is locked somewhere "
                                         "(default: adaptive)"),
                                cl::value_desc("ALGORITHM"), cl::ValueOptional, cl::sub(Command),
                                cl::cat(options()));
static cl::opt<std::string> PlanFile(
    "plan",
    cl::desc("convert what this plan says, which `relock advise` writes (tool/doc/formats.md)"),
    cl::value_desc("PLAN"), cl::sub(Command), cl::cat(options()));
static cl::opt<bool> InPlace(
    "in-place",
    cl::desc("edit the files instead of printing a diff; new text has the style of the nearest "
             ".clang-format in the program's folders, else that of the file around it"),
    cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> OutputFolder("o", cl::desc("write the changed files below this folder"),
                                         cl::value_desc("DIR"), cl::Prefix, cl::sub(Command),
                                         cl::cat(options()));
static cl::opt<std::string> Fixes("export-fixes",
                                  cl::desc("write the edits for clang-apply-replacements, as YAML"),
                                  cl::value_desc("FILE"), cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> Project("project", cl::desc(ProjectHelp), cl::value_desc("FILE"),
                                    cl::sub(Command), cl::cat(options()));
static cl::opt<bool> AcceptUncovered("accept-uncovered", cl::desc(AcceptHelp), cl::sub(Command),
                                     cl::cat(options()));
static cl::opt<bool> HoldOnly("hold-only", cl::desc("convert lock for lock: extract no section"),
                              cl::sub(Command), cl::cat(options()));
static cl::list<std::string>
    Sections("section",
             cl::desc("delegate only the section whose lock stands at this place; may repeat; the "
                      "others of the converted classes hold"),
             cl::value_desc("FILE:LINE"), cl::sub(Command), cl::cat(options()));
static cl::list<std::string>
    Texts("semantic-patch",
          cl::desc("with --hold-only, instead of -p: convert all locks in the C files below this "
                   "folder, or in this file; may repeat; needs spatch"),
          cl::value_desc("DIR"), cl::sub(Command), cl::cat(options()));
static cl::opt<bool> Undo("undo",
                          cl::desc("put the files back that the last rewrite of this program has "
                                   "changed, unless one was edited since; their texts from before "
                                   "are kept in BUILD/.relock/changes"),
                          cl::sub(Command), cl::cat(options()));
static cl::opt<unsigned> Jobs("j", cl::desc(JobsHelp), cl::value_desc("N"), cl::Prefix, cl::init(0),
                              cl::sub(Command), cl::cat(options()));

static const char *const MoreHelp = R"help(
EXAMPLES:

  relock rewrite -p build --lock stats_lock=mcs > relock.diff
  relock rewrite -p build --plan plan.yaml --in-place
  relock rewrite --undo

EXIT STATUS:

  0  everything that was asked for is converted
  1  converted, but something was left as it is; or a class that was named
     cannot be converted
  2  wrong usage, no compile database, a file of which nothing is known, or
     output that cannot be written; nothing has changed
  3  a bug in relock; nothing has changed
  128 + N  interrupted by signal N (130: ^C); no file has changed or all have
)help";

namespace {

// Classes that share source text with a chosen one come along, on its algorithm.
void completeGroups(const Decision &Decided, Choice &Chosen) {
  std::map<std::string, const LockClass *> First;
  for (const CheckedClass &Checked : Decided.Classes)
    if (Chosen.count(Checked.Class.Id))
      First.try_emplace(Checked.Class.Group, &Checked.Class);
  for (const CheckedClass &Checked : Decided.Classes) {
    auto Leader = First.find(Checked.Class.Group);
    if (Leader == First.end() || Chosen.count(Checked.Class.Id))
      continue;
    Chosen[Checked.Class.Id] = Chosen[Leader->second->Id];
    message(Checked.Class.At,
            "'" + Checked.Class.Name + "' is converted too: it shares source text with '" +
                Leader->second->Name + "'",
            "group");
  }
}

std::string choices() {
  return algorithmList() + "; rcl and adaptive_rcl may have a server, from 1 to " +
         std::to_string(MaxServers) + ", behind them: rcl:2";
}

// Operations of pthread on locks that are converted, which came later: where all that shares their
// text is of that kind.
void chooseUnconverted(const Decision &Decided, Choice &Chosen) {
  std::map<std::string, bool> Groups; // are all of them
  for (const CheckedClass &Class : Decided.Classes) {
    bool &All = Groups.try_emplace(Class.Class.Group, true).first->second;
    All &= Class.Class.isUnconverted();
  }
  for (const CheckedClass &Class : Decided.Classes)
    if (Groups.at(Class.Class.Group))
      Chosen[Class.Class.Id] = "";
}

// Reads the --lock, --all and --plan options. False: a message was printed.
bool choose(const IndexResult &Index, const Decision &Decided, const std::optional<Plan> &Planned,
            Choice &Chosen, int &Status) {
  if (Planned) {
    if (!choosePlanned(Index, Decided, *Planned, Chosen, Status))
      return false;
    completeGroups(Decided, Chosen);
    Status = BadUsage;
    if (!agreesWithPlan(Decided, *Planned, Chosen))
      return false;
    chooseUnconverted(Decided, Chosen);
    return true;
  }
  Status = BadUsage;
  if (All.getNumOccurrences()) {
    std::optional<std::string> Algorithm = All.empty() ? "" : parseAlgorithm(All);
    if (!Algorithm) {
      message("there is no algorithm '" + All + "'; there are " + choices(), "unknown-algorithm");
      return false;
    }
    for (const CheckedClass &Class : Decided.Classes)
      if (Class.converts() && !Class.Sections.empty()) // who never locks gains nothing
        Chosen[Class.Class.Id] = *Algorithm;
    chooseUnconverted(Decided, Chosen);
  }
  for (const std::string &Option : Locks) {
    auto [Name, Text] = StringRef(Option).rsplit('=');
    std::optional<std::string> Algorithm = parseAlgorithm(Text);
    if (!Algorithm) {
      message("--lock " + Option + ": after '=' stands one of " + choices(), "unknown-algorithm");
      return false;
    }
    auto Found = find_if(Decided.Classes, [&, Wanted = Name](const CheckedClass &Class) {
      return Class.Class.Name == Wanted;
    });
    if (Found == Decided.Classes.end() && isConverted(Index, Name)) {
      message(alreadyConverted(Index, Name, *Algorithm), "converted");
      continue;
    }
    if (Found == Decided.Classes.end()) {
      message(noSuchClass(Index, Decided, Name), "unknown-class");
      return false;
    }
    if (!Found->converts()) {
      for (const Reason &R : Found->Class.Kept)
        message(R.At, "'" + Name.str() + "' cannot be converted: it " + R.Message, R.Code);
      Status = LookAtThis;
      return false;
    }
    Chosen[Found->Class.Id] = *Algorithm;
  }
  completeGroups(Decided, Chosen);
  return true;
}

// What the paths of a diff are relative to: the folder of the repository, else the current one,
// else the one that holds all changed files.
std::string baseFolder(const FileTexts &Files) {
  StringRef File = Files.begin()->first;
  for (StringRef Folder = sys::path::parent_path(File); !Folder.empty();
       Folder = sys::path::parent_path(Folder)) {
    if (sys::fs::exists(Folder + "/.git"))
      return Folder.str();
  }
  SmallString<256> Current;
  sys::fs::current_path(Current);
  auto Holds = [&](StringRef Folder) {
    return all_of(
        Files, [&](const auto &F) { return StringRef(F.first).starts_with((Folder + "/").str()); });
  };
  if (Holds(Current))
    return std::string(Current);
  StringRef Common = sys::path::parent_path(File);
  while (!Common.empty() && Common != "/" && !Holds(Common))
    Common = sys::path::parent_path(Common);
  if (!InPlace && OutputFolder.empty() && Fixes.empty())
    errs() << "relock: the paths in the diff are relative to " << Common << "\n";
  return Common.str();
}

std::string relativeTo(StringRef Base, StringRef File) {
  File.consume_front(Base);
  File.consume_front("/");
  return File.str();
}

void printDiffs(const RewriteResult &Result, StringRef Base) {
  for (const auto &[File, Edits] : Result.Edits) {
    auto Before = Result.Before.find(File);
    bool New = Before == Result.Before.end();
    printDiff(outs(), relativeTo(Base, File), New ? "" : StringRef(Before->second), Edits, New);
  }
}

// What is rewritten, as the options name it.
ArrayRef<std::string> program() { return Texts.empty() ? Builds : Texts; }

std::vector<FileChange> changes(const RewriteResult &Result) {
  std::vector<FileChange> Changes;
  for (const auto &[File, After] : Result.After) {
    auto Before = Result.Before.find(File);
    bool New = Before == Result.Before.end();
    Changes.push_back({File, New ? std::nullopt : std::optional(Before->second), After});
  }
  // What the others include comes first.
  std::stable_partition(Changes.begin(), Changes.end(), [](const FileChange &Change) {
    return sys::path::filename(Change.Path) == "relock_locks.h";
  });
  return Changes;
}

// Whoever looks at the difference, or takes it back, finds other changes in it.
void reportUncommitted(ArrayRef<FileChange> Changes) {
  std::vector<std::string> Files;
  for (const FileChange &Change : Changes)
    if (Change.Before)
      Files.push_back(Change.Path);
  std::vector<std::string> Found = uncommitted(Files);
  if (Found.empty())
    return;
  std::string Others =
      Found.size() == 1 ? "has" : "and " + std::to_string(Found.size() - 1) + " more have";
  messageFor(Found.front(),
             Others + " changes that are not committed; those of relock come on top of them, and "
                      "`relock rewrite --undo` takes back no others",
             "uncommitted");
}

Error writeInPlace(const RewriteResult &Result) {
  std::vector<FileChange> Changes = changes(Result);
  reportUncommitted(Changes);
  return changeFiles(Changes, transactionFolder(program().front()));
}

Error writeFile(StringRef File, StringRef Text) {
  Error Failed = writeAtomically(File, [&](raw_ostream &OS) { OS << Text; });
  if (!Failed)
    return Failed;
  return createStringError(shownPath(File) + ": cannot be written (" + toString(std::move(Failed)) +
                           ")");
}

Error writeBelow(const RewriteResult &Result, StringRef Base) {
  for (const auto &[File, Text] : Result.After) {
    SmallString<256> Target(OutputFolder);
    sys::fs::make_absolute(Target);
    sys::path::append(Target, relativeTo(Base, File));
    if (std::error_code Code = sys::fs::create_directories(sys::path::parent_path(Target)))
      return createStringError(shownPath(Target) +
                               ": its folder cannot be made: " + Code.message());
    if (sys::fs::equivalent(Target, File))
      return createStringError(shownPath(Target) +
                               ": -o would replace the source; --in-place does so");
    if (Error Failed = writeFile(Target, Text))
      return Failed;
  }
  return Error::success();
}

// The file of fixes. New files, which no replacement can make, are written in place after it.
Error writeFixes(const RewriteResult &Result) {
  Expected<std::string> Text = fixesText(Result);
  if (!Text)
    return Text.takeError();
  SmallString<256> Target(Fixes);
  sys::fs::make_absolute(Target);
  if (Error Failed = writeFile(Target, *Text))
    return Failed;
  std::vector<FileChange> New = changes(Result);
  erase_if(New, [](const FileChange &Change) { return Change.Before.has_value(); });
  if (Error Failed = changeFiles(New, transactionFolder(program().front())))
    return Failed;
  for (const FileChange &Made : New)
    messageFor(Made.Path, "is new and written already; the fixes need it", "new-file");
  return Error::success();
}

int write(const RewriteResult &Result) {
  if (Result.After.empty())
    return Done;
  std::string Base = baseFolder(Result.After);
  Error Failed = Error::success();
  if (InPlace)
    Failed = writeInPlace(Result);
  else if (!OutputFolder.empty())
    Failed = writeBelow(Result, Base);
  else if (!Fixes.empty())
    Failed = writeFixes(Result);
  else
    printDiffs(Result, Base);
  if (Failed) {
    reportError(std::move(Failed), "cannot-write");
    return BadUsage;
  }
  outs().flush();
  if (outs().has_error()) {
    outs().clear_error();
    message("the diff could not be written to standard output; is the disk full?", "cannot-write");
    return BadUsage;
  }
  return Done;
}

// False: a message was printed.
bool restrictSections(const Decision &Decided, Restrictions &But) {
  for (const std::string &Place : Sections) {
    std::vector<FoundSection> Found = sectionsAt(Decided, Place, "--section");
    if (Found.empty())
      return false;
    if (!But.Only)
      But.Only.emplace();
    for (const FoundSection &F : Found) {
      const CheckedSection &Begin = begunBy(*F.Class, *F.Section);
      if (&Begin != F.Section)
        message(F.Section->Facts.At,
                "goes on with the section that is begun at " + shownPlace(Begin.Facts.At) +
                    "; both are delegated",
                "continued");
      But.Only->insert(keyOf(Begin.Facts));
    }
  }
  return true;
}

// What the options ask for that does not go together, or is missing.
std::string wrongUsage() {
  if (Undo && (InPlace || HoldOnly || !OutputFolder.empty() || !Fixes.empty() || !Locks.empty() ||
               !PlanFile.empty() || All.getNumOccurrences() || !Sections.empty()))
    return "--undo goes with nothing but -p or --semantic-patch, which say for which program";
  if (Undo)
    return "";
  if (InPlace + !OutputFolder.empty() + !Fixes.empty() > 1)
    return "--in-place, -o and --export-fixes are three ways to write the result; choose one";
  if (!PlanFile.empty() && (!Locks.empty() || All.getNumOccurrences()))
    return "--plan says what to convert; --lock and --all do not go with it";
  if (!Sections.empty() && HoldOnly)
    return "--hold-only extracts no section, and --section says which to extract; choose one";
  if (Texts.empty() && Locks.empty() && PlanFile.empty() && !All.getNumOccurrences())
    return "say what to convert: --lock CLASS=ALGORITHM, --all, or --plan FILE; or all locks of a "
           "text, by --hold-only --semantic-patch DIR";
  if (Texts.empty())
    return "";
  if (!HoldOnly)
    return "a semantic patch extracts no section: --semantic-patch goes with --hold-only";
  if (!Builds.empty())
    return "-p and --semantic-patch are two ways to read a program; choose one";
  if (!Locks.empty() || All.getNumOccurrences() || !PlanFile.empty())
    return "a semantic patch does not tell lock classes apart: it converts all of them to the "
           "class 'default', whose algorithm RELOCK_LOCKS=default=ALGORITHM chooses at run time";
  return "";
}

int runOnText() {
  HoldOnlyResult Result = holdByText(Texts, Jobs);
  if (!Result.Rewrite)
    return Result.Refused ? LookAtThis : BadUsage;
  int Status = write(*Result.Rewrite);
  if (Status == Done)
    errs() << "relock: " << Result.Names << " names of locks retargeted, no section delegated, "
           << Result.Rewrite->After.size() << " files\n";
  return Status;
}

// False, and the exit status: a message says why the result must not be written.
bool usable(const Conversion &Converted, const std::optional<Plan> &Planned, int &Status) {
  if (!Converted.Bug.empty()) {
    message(Converted.Bug + "; nothing was changed; this is a bug in relock, please report it",
            "internal");
    Status = InternalError;
    return false;
  }
  if (Converted.OfCuts.empty())
    return true;
  for (const UnitDiagnostic &D : Converted.OfCuts)
    message(D.At, "the rewritten text has a new diagnostic: " + D.Text, "cut-types");
  messageFor(Planned->Path,
             "a cut separates what the types of the program do not; nothing was changed",
             "cut-types");
  Status = BadUsage;
  return false;
}

size_t countUnconverted(const Conversion &Converted) {
  return count_if(Converted.Decided.Classes, [&](const CheckedClass &Class) {
    return Class.Class.isUnconverted() && Converted.Chosen.count(Class.Class.Id);
  });
}

void reportCounts(const Conversion &Converted, const ProjectFile &Declared,
                  const std::optional<Plan> &Planned) {
  const RewriteResult &Result = Converted.Result;
  const size_t Renamed = countUnconverted(Converted);
  errs() << "relock: " << counted(Converted.Chosen.size() - Renamed, "lock class", "lock classes")
         << " converted, " << counted(Result.Delegated, "section") << " delegated, " << Result.Held
         << " held, " << counted(Result.After.size(), "file") << "\n";
  auto Converts = [&](const CheckedClass &Class) {
    return Converted.Chosen.count(Class.Class.Id) != 0;
  };
  if (Renamed)
    errs() << "relock: " << counted(Renamed, "operation")
           << " of pthread renamed, on locks that were converted before\n";
  if (TrustCounts Trust = countTrust(Converted.Decided, Converts);
      Trust.Sections || !Declared.Path.empty())
    errs() << "relock: " << trustLine(Trust, Declared) << "\n";
  for (const std::string &Line : acceptedLines(Converted.Decided, Converts, Declared))
    errs() << "relock: " << Line << "\n";
  if (Planned && !Planned->Cuts.empty())
    errs() << "relock: " << cutLine(*Planned) << "\n";
  if (Planned)
    reportUnplanned(Converted.Decided, *Planned, Converted.Chosen);
}

void reportLeftAsItIs(const Conversion &Converted) {
  const char *PleaseReport = "; please report it, it is a bug in relock";
  for (const Reason &R : Converted.Left)
    message(R.At, R.Message + (R.Code == "not-rewritten" ? PleaseReport : ""), R.Code);
  for (const auto *Sites : {&Converted.Decided.Uncovered, &Converted.Decided.LeftOperations})
    for (const UncoveredSite &Site : *Sites)
      if (any_of(Site.Classes, [&](auto &Id) { return Converted.Chosen.count(Id) != 0; }))
        message(
            Site.At,
            Site.Operator +
                (Site.Unrun ? ", in an arm that never runs here, becomes one to a converted lock"
                 : Site.Elsewhere ? " stays as it is: it is for another system, without librelock"
                                  : " stays as it is: convert it before you compile it"),
            "uncovered");
}

// Nothing in the text says which class the mutexes of these belong to.
void reportUnnamed(const Conversion &Converted) {
  for (const CheckedClass &Checked : Converted.Decided.Classes) {
    const LockClass &Class = Checked.Class;
    auto Edits = Converted.Decided.Edits.find(Class.Group);
    if (!Converted.Chosen.count(Class.Id) || !Checked.converts() ||
        Edits == Converted.Decided.Edits.end())
      continue;
    bool Named = any_of(Edits->second, [&](const Edit &E) {
      return StringRef(E.Text).contains("(" + Class.Identifier + ")");
    });
    if (!Named)
      message(
          Class.At,
          "no mutex of '" + Class.Name +
              "' is initialised otherwise than by zeros; they run on the default class, which "
              "only RELOCK_LOCKS=default=… reaches; initialise them by a call or an initialiser",
          "default-class");
  }
}

void reportUnreadStyles(const RewriteResult &Result) {
  for (const std::string &Style : Result.Unread)
    message(shownPath(Style) + ": cannot be read, and what was written is not in its style; "
                               "`clang-format --dry-run` says why",
            "style-unread");
}

int run() {
  if (std::string Wrong = wrongUsage(); !Wrong.empty()) {
    message(Wrong, "usage");
    return BadUsage;
  }
  if (Texts.empty() && !completeBuilds(Builds))
    return BadUsage;
  if (Undo)
    return undo(program());
  if (!putBackInterrupted(program()))
    return BadUsage;
  if (!Texts.empty())
    return runOnText();
  std::optional<Plan> Planned;
  if (PlanFile.getNumOccurrences() &&
      (!(Planned = loadPlan(PlanFile)) || !serversHaveClasses(*Planned)))
    return BadUsage;
  std::optional<IndexResult> Index = readProgram(Builds, Jobs);
  if (!Index)
    return BadUsage;
  if (!Index->Unparsed.empty()) {
    message("a lock class can only be converted when every file that may use it is known; nothing "
            "was changed",
            "unparsed");
    return BadUsage;
  }
  if (Planned && !applyCuts(*Index, *Planned))
    return BadUsage;
  std::optional<ProjectFile> Declared = loadProject(Project, Builds, *Index);
  if (!Declared)
    return BadUsage;
  Decider Facts(*Index, *Declared, Jobs, AcceptUncovered);
  Restrictions But;
  But.HoldOnly = HoldOnly;
  Choice Chosen;
  int Status;
  size_t Kept;
  {
    Decision Possible = Facts.decide(But);
    rememberClasses(Builds, Possible);
    Kept = count_if(Possible.Classes, [](const CheckedClass &C) { return !C.changes(); });
    reportUnmatched(Possible);
    reportCuts(*Index, Possible);
    if (!choose(*Index, Possible, Planned, Chosen, Status))
      return Status;
    if (!restrictSections(Possible, But))
      return BadUsage;
  }
  std::vector<TableServer> Servers;
  if (Planned)
    for (const PlanServer &Server : Planned->Servers)
      Servers.push_back({Server.Number, Server.Cpu});
  Reparser Parsed(*Index, Jobs);
  Expected<Conversion> Converted = convert(*Index, Facts, But, Chosen, Servers, Parsed);
  if (!Converted) {
    message(toString(Converted.takeError()), "changed");
    return BadUsage;
  }
  if (!usable(*Converted, Planned, Status))
    return Status;
  Status = write(Converted->Result);
  if (Status != Done)
    return Status;
  reportCounts(*Converted, *Declared, Planned);
  reportUnnamed(*Converted);
  reportUnreadStyles(Converted->Result);
  reportLeftAsItIs(*Converted);
  std::set<std::string> Changed;
  for (const auto &[File, Before] : Converted->Result.Before)
    Changed.insert(File); // not the new ones
  auto Converts = [&](const CheckedClass &Class) {
    return Converted->Chosen.count(Class.Class.Id) != 0;
  };
  reportUnindexed(*Index, Changed, Converted->Decided, Converts);
  reportGenerated(Changed);
  reportOtherDefinitions(Converted->Decided, Converts, Converted->Result.Before);
  if (All.getNumOccurrences() && Kept)
    errs() << "relock: " << counted(Kept, "lock class", "lock classes")
           << " kept; `relock check` says why\n";
  bool Whole = Converted->Left.empty() && !(All.getNumOccurrences() && Kept);
  return statusWith(*Index, Whole ? Done : LookAtThis);
}

} // namespace

Subcommand rewriteSubcommand() { return {Command, run, MoreHelp}; }

} // namespace relock
