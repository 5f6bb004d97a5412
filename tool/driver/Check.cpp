// SPDX-License-Identifier: MIT
//
// relock check: lists every lock class and every critical section with its verdict and reasons.
#include "driver/Check.h"

#include "driver/Annotations.h"
#include "driver/BuildOption.h"
#include "driver/CompletedValues.h"
#include "driver/Gate.h"
#include "driver/Options.h"
#include "driver/OtherText.h"
#include "driver/PlanOption.h"
#include "driver/ProjectOption.h"
#include "driver/ReadProgram.h"
#include "driver/Subcommand.h"
#include "support/Color.h"
#include "support/Messages.h"
#include "support/Output.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace relock {

static cl::SubCommand Command("check", "list lock classes and critical sections with verdicts");
static cl::list<std::string> Builds("p", cl::desc(BuildHelp), cl::value_desc("BUILD"), cl::Prefix,
                                    cl::sub(Command), cl::cat(options()));
static cl::opt<std::string>
    Json("json",
         cl::desc("print the result as JSON instead (tool/doc/formats.md); with a FILE that is not "
                  "'-', write it there, besides"),
         cl::value_desc("FILE"), cl::ValueOptional, cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> Project("project", cl::desc(ProjectHelp), cl::value_desc("FILE"),
                                    cl::sub(Command), cl::cat(options()));
static cl::opt<std::string>
    PlanFile("plan",
             cl::desc("cut the flows of pointers that this plan cuts (tool/doc/formats.md)"),
             cl::value_desc("PLAN"), cl::sub(Command), cl::cat(options()));
static cl::opt<bool> Suggest("suggest",
                             cl::desc("print entries for a project file instead: the unknown "
                                      "functions that hold sections back, the worst first, the "
                                      "program's own that do, and those that may operate locks"),
                             cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> Path(
    "path",
    cl::desc("explain one section: for each reason, every step down to the place that causes it"),
    cl::value_desc("FILE:LINE"), cl::sub(Command), cl::cat(options()));
static cl::list<std::string>
    Why("why", cl::desc("show how two locks became one class, or why they are converted together"),
        cl::value_desc("A B"), cl::multi_val(2), cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> ShowOrder(
    "lock-order",
    cl::desc("print which lock is taken under which, and the cycles in that order; 'dot': as a "
             "graph for Graphviz"),
    cl::value_desc("dot"), cl::ValueOptional, cl::sub(Command), cl::cat(options()));
static cl::opt<std::string>
    SarifFile("sarif",
              cl::desc("also write the findings as SARIF 2.1.0, for viewers; '-': to standard "
                       "output, and all else to standard error"),
              cl::value_desc("FILE"), cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> FailOn(
    "fail-on",
    cl::desc(
        "print the findings, and end with status 1 if one of these is neither known nor "
        "suppressed: kinds (hold, keep, unconverted, uncovered, lock-order, accidental-merge), "
        "codes of reasons, sure-cycle, stale, any, none, with commas between them (default: "
        "those of --only, else all but lock-order)"),
    cl::value_desc("LIST"), cl::sub(Command), cl::cat(options()));
static cl::opt<std::string>
    Only("only",
         cl::desc("report no findings but these, and those of --fail-on (default: those of "
                  "--fail-on); `--only=lock-order` is a check of the order of locks alone"),
         cl::value_desc("LIST"), cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> BaselineFile(
    "baseline",
    cl::desc("findings of this file are known: they are not reported and do not fail the check"),
    cl::value_desc("FILE"), cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> WriteBaseline(
    "write-baseline",
    cl::desc("write the findings that comments do not suppress as a file for --baseline: "
             "those of --only, without it all, also the cycles in the order of locks"),
    cl::value_desc("FILE"), cl::sub(Command), cl::cat(options()));
static cl::opt<std::string>
    Since("diff",
          cl::desc("report only findings one of whose places is on a line that has changed since "
                   "this revision of git, or since it was branched off; the whole program is "
                   "analysed"),
          cl::value_desc("BASE"), cl::sub(Command), cl::cat(options()));
static cl::opt<bool> Github("github",
                            cl::desc("also print the findings as annotations for GitHub's "
                                     "workflows, at most 10 errors and 10 warnings"),
                            cl::sub(Command), cl::cat(options()));
static cl::opt<bool> AcceptUncovered("accept-uncovered", cl::desc(AcceptHelp), cl::sub(Command),
                                     cl::cat(options()));
static cl::opt<unsigned> Jobs("j", cl::desc(JobsHelp), cl::value_desc("N"), cl::Prefix, cl::init(0),
                              cl::sub(Command), cl::cat(options()));

static const char *const MoreHelp = R"help(
EXAMPLES:

  relock check
  relock check --path stats.c:120    # why this section is held, call by call
  relock check --only=lock-order --baseline locks.yaml --diff origin/main

EXIT STATUS:

  0  every lock class converts and every section is delegated; of --lock-order:
     there is no cycle; of --fail-on, --only, --baseline, --diff and --github:
     no finding fails the check
  1  something is held, kept or not covered; of these options: a finding fails
     the check; or a translation unit has errors
  2  wrong usage, no compile database, or a translation unit of which nothing is
     known
)help";

StringRef verdictName(Verdict V) {
  return V == Verdict::Delegate ? "delegate" : V == Verdict::Hold ? "hold" : "keep";
}

void writeWay(json::OStream &J, const std::vector<Step> &Way) {
  if (Way.empty())
    return;
  J.attributeArray("path", [&] {
    for (const Step &Next : Way)
      J.object([&] {
        J.attribute("message", Next.Text);
        J.attribute("location", shownPlace(Next.At));
      });
  });
}

void writeEach(json::OStream &J, const std::vector<Reason> &Reasons) {
  for (const Reason &R : Reasons)
    J.object([&] {
      J.attribute("code", R.Code);
      J.attribute("message", R.Message);
      J.attribute("location", shownPlace(R.At));
      writeWay(J, R.Way);
    });
}

void writeReasons(json::OStream &J, const std::vector<Reason> &Reasons) {
  J.attributeArray("reasons", [&] { writeEach(J, Reasons); });
}

namespace {

struct Counts {
  size_t Delegate = 0, Hold = 0, Keep = 0, Uncovered = 0;
  size_t total() const { return Delegate + Hold + Keep + Uncovered; }
};

Counts count(const Decision &Decided) {
  Counts C;
  for (const CheckedClass &Class : Decided.Classes)
    for (const CheckedSection &S : Class.Sections)
      ++(S.Outcome == Verdict::Delegate ? C.Delegate
         : S.Outcome == Verdict::Hold   ? C.Hold
                                        : C.Keep);
  C.Uncovered = Decided.Uncovered.size();
  return C;
}

// The other classes that are converted with this one because they share source text.
std::vector<StringRef> groupOf(const Decision &Decided, const CheckedClass &Class) {
  std::vector<StringRef> Others;
  for (const CheckedClass &Other : Decided.Classes)
    if (&Other != &Class && Other.Class.Group == Class.Class.Group)
      Others.push_back(Other.Class.Name);
  return Others;
}

bool anyClass(const CheckedClass &) { return true; }

void writeTrust(json::OStream &J, const Decision &Decided, const ProjectFile &Declared) {
  TrustCounts Trust = countTrust(Decided, anyClass);
  if (Declared.Path.empty() && !Trust.Sections)
    return;
  J.attributeObject("project", [&] {
    if (!Declared.Path.empty())
      J.attribute("file", shownPath(Declared.Path));
    J.attribute("sections", Trust.Sections);
    J.attributeArray("functions", [&] {
      for (const auto &[Name, Sections] : Trust.Functions)
        J.object([&] {
          const DeclaredFunction *Entry = Declared.entryOf(Name);
          J.attribute("name", Name);
          J.attribute("effect", effectName(Entry->Effect));
          J.attribute("because", Entry->Because);
          J.attribute("location", shownPlace(Entry->At));
          J.attribute("sections", Sections);
        });
    });
    J.attributeArray("macros", [&] {
      for (const auto &[Name, Sections] : Trust.Macros)
        J.object([&] {
          const DeclaredMacro &Entry = Declared.Macros.at(Name);
          J.attribute("name", Name);
          J.attribute("because", Entry.Because);
          J.attribute("location", shownPlace(Entry.At));
          J.attribute("sections", Sections);
        });
    });
  });
}

void writeMerge(json::OStream &J, const AccidentalMerge &M) {
  J.object([&] {
    J.attribute("class", M.Class);
    J.attributeArray("locks", [&] { J.value(M.Left), J.value(M.Right); });
    J.attribute("from", M.From);
    J.attribute("to", M.To);
    J.attribute("message", describe(M));
    J.attribute("location", shownPlace(M.At));
  });
}

void printJson(raw_ostream &OS, const Decision &Decided, const ProjectFile &Declared) {
  json::OStream J(OS, 1);
  Counts C = count(Decided);
  J.object([&] {
    J.attribute("version", 1);
    J.attributeObject("sites", [&] {
      J.attribute("total", C.total());
      J.attribute("delegate", C.Delegate);
      J.attribute("hold", C.Hold);
      J.attribute("keep", C.Keep);
      J.attribute("uncovered", C.Uncovered);
    });
    J.attributeArray("classes", [&] {
      for (const CheckedClass &Class : Decided.Classes)
        J.object([&] {
          J.attribute("name", Class.Class.Name);
          J.attribute("verdict", Class.converts() ? "convert" : "keep");
          J.attribute("declaration", shownPlace(Class.Class.At));
          writeReasons(J, Class.Class.Kept);
          J.attributeArray("group", [&] {
            for (StringRef Other : groupOf(Decided, Class))
              J.value(Other);
          });
          J.attributeArray("sections", [&] {
            for (const CheckedSection &S : Class.Sections)
              J.object([&] {
                J.attribute("function", S.Facts.FunctionName);
                J.attribute("location", shownPlace(S.Facts.At));
                J.attribute("shape", shapeName(S.Facts.Form));
                J.attribute("verdict", verdictName(S.Outcome));
                if (S.Facts.Continues)
                  J.attribute("continues", shownPlace(*S.Facts.Continues));
                writeReasons(J, S.Reasons);
                J.attributeArray("rests_on", [&] {
                  if (S.Outcome == Verdict::Delegate)
                    for (const std::string &Name : S.RestsOn)
                      J.value(Name);
                  if (!S.RestsOnMacro.empty())
                    J.value("macro " + S.RestsOnMacro);
                });
                if (S.Outcome == Verdict::Delegate && !S.Accepted.empty())
                  J.attributeArray("accepted", [&] { writeEach(J, S.Accepted); });
                J.attributeArray("drops_tests", [&] {
                  if (S.Outcome == Verdict::Delegate)
                    for (const ResultTest &Test : S.Facts.Tests)
                      J.value(shownPlace(Test.At));
                });
              });
          });
        });
    });
    J.attributeArray("wrappers", [&] {
      for (const auto &[At, Function] : Decided.InOperators)
        J.object([&] {
          J.attribute("function", Function);
          J.attribute("location", shownPlace(At));
        });
    });
    J.attributeArray("left_held", [&] {
      for (const HeldAtReturn &F : Decided.LeftHeld)
        J.object([&] {
          J.attribute("function", F.Name);
          J.attribute("location", shownPlace(F.At));
          J.attribute("calls", F.Calls);
          J.attribute("through_pointers", F.ThroughPointers);
        });
    });
    auto WriteSites = [&](StringRef Name, const std::vector<UncoveredSite> &Sites) {
      J.attributeArray(Name, [&] {
        for (const UncoveredSite &Site : Sites)
          J.object([&] {
            J.attribute("operator", Site.Operator);
            J.attribute("operand", Site.Operand);
            J.attribute("location", shownPlace(Site.At));
            J.attribute("condition", Site.Condition);
            J.attribute("other_system", Site.Elsewhere && !Site.Unrun);
            J.attributeArray("classes", [&] {
              for (const CheckedClass &Class : Decided.Classes)
                if (Site.Classes.count(Class.Class.Id))
                  J.value(Class.Class.Name);
            });
          });
      });
    };
    WriteSites("uncovered", Decided.Uncovered);
    WriteSites("left_operations", Decided.LeftOperations);
    J.attributeArray("accidental_merges", [&] {
      for (const AccidentalMerge &M : Decided.Merges)
        writeMerge(J, M);
    });
    J.attributeArray("other_locks", [&] {
      for (const auto &[Type, Acquisitions] : Decided.OtherLocks)
        J.object([&] {
          J.attribute("type", Type);
          J.attribute("acquisitions", Acquisitions);
        });
    });
    J.attributeArray("assertions", [&] {
      for (const Position &At : Decided.Assertions)
        J.value(shownPlace(At));
    });
    writeTrust(J, Decided, Declared);
  });
  OS << "\n";
}

std::string codeText(StringRef Code, const raw_ostream &OS) {
  return painted(("[" + Code + "]").str(), Style::Code, OS);
}

Style styleOf(Verdict V) {
  switch (V) {
  case Verdict::Delegate:
    return Style::Good;
  case Verdict::Hold:
    return Style::Doubtful;
  case Verdict::Keep:
    return Style::Bad;
  }
  return Style::Bad;
}

// In columns, of which colors take none.
void printVerdict(raw_ostream &OS, const CheckedSection &S) {
  StringRef Name = verdictName(S.Outcome);
  OS << "  " << painted(Name, styleOf(S.Outcome), OS);
  OS.indent(Name.size() < 9 ? 9 - Name.size() : 0);
  OS << format("%-15s", shapeName(S.Facts.Form).data()) << S.Facts.FunctionName << " ("
     << shownPlace(S.Facts.At) << ")\n";
}

void printReason(raw_ostream &OS, const Reason &R, StringRef Indent) {
  OS << Indent << shownPlace(R.At) << ": " << R.Message << " " << codeText(R.Code, OS) << "\n";
}

StringRef kindName(Operation Kind) {
  return Kind == Operation::Lock      ? "lock"
         : Kind == Operation::TryLock ? "trylock"
         : Kind == Operation::Unlock  ? "unlock"
                                      : "timedlock";
}

// What may be true of the program, but takes a person to say: comments.
void printProposals(const Decision &Decided) {
  if (!Decided.Libraries.empty()) {
    outs() << "# Relock brings files that know functions of these libraries; if the program uses "
              "them, add:\n# libraries: [";
    ListSeparator Comma;
    for (const auto &[Name, Functions] : Decided.Libraries)
      outs() << Comma << Name;
    outs() << "]\n";
  }
  for (const auto &[Code, Sections] : Decided.Acceptable)
    outs() << "# A matter of taste that alone holds " << Sections
           << (Sections == 1 ? " section" : " sections") << " (relock explain " << Code
           << "); if you accept it, add:\n# accept: [" << Code << "]\n";
  if (Decided.HeldByPanics) {
    outs() << "# For what functions that end the process do before (they wait, take locks, or may "
              "jump away)\n# "
           << Decided.HeldByPanics
           << (Decided.HeldByPanics == 1 ? " section holds" : " sections hold")
           << ". Run by another thread, they may hang instead; if you accept that, add to "
              "functions:\n#   - names: [";
    ListSeparator Comma;
    for (const std::string &Name : Decided.Panics)
      outs() << Comma << Name;
    outs() << "]\n#     effect: ends\n";
  }
  if (!Decided.Early.empty())
    outs()
        << "# Macros that hold their sections for nothing but that an argument is evaluated under "
           "the lock. If each may be\n# evaluated once, before it, also where the section does "
           "without, add:\n# macros:\n";
  for (const auto &[Macro, Sections] : Decided.Early)
    outs() << "#   - names: [" << Macro << "]   # " << Sections
           << (Sections == 1 ? " section" : " sections") << "\n#     arguments-before-lock: true\n";
  if (!Decided.Own.empty())
    outs() << "# Functions of the program that alone hold sections, each by what is named with it. "
              "If that does not\n# matter where another thread runs the section (a log that says "
              "which thread wrote it), add to functions:\n";
  for (const HoldingOwn &F : Decided.Own)
    outs() << "#   - names: [" << F.Name << "]   # " << F.Sections
           << (F.Sections == 1 ? " section: " : " sections: ") << F.Refusal.Message << " ("
           << shownPlace(F.Refusal.At) << ")\n#     effect: identity\n";
  if (Decided.Operators.empty())
    return;
  outs() << "# Unknown functions with names like operations of locks; those that are, add without "
            "the '#':\n# operators:\n";
  for (const ProposedOperator &Proposed : Decided.Operators) {
    outs() << "#   - {names: [" << Proposed.Name << "], kind: " << kindName(Proposed.Does.Kind)
           << ", type: \"" << Proposed.Does.Type << "\"";
    if (Proposed.Does.Argument)
      outs() << ", argument: " << Proposed.Does.Argument + 1;
    if (Proposed.Does.Kind == Operation::TryLock || Proposed.Does.Kind == Operation::TimedLock)
      outs() << ", success: zero"; // or nonzero
    outs() << "}\n";
  }
}

size_t countDelegated(const Decision &Decided) {
  size_t Result = 0;
  for (const CheckedClass &Class : Decided.Classes)
    Result += count_if(Class.Sections,
                       [](const CheckedSection &S) { return S.Outcome == Verdict::Delegate; });
  return Result;
}

// How many more sections are delegated if nothing outside the program calls it.
size_t freedIfClosed(const IndexResult &Index, const ProjectFile &Declared,
                     const Decision &Decided) {
  if (Declared.Closed)
    return 0;
  ProjectFile Assumed = Declared;
  Assumed.Closed = true;
  size_t Delegated = countDelegated(decide(Index, Assumed, Jobs, AcceptUncovered));
  return Delegated - std::min(Delegated, countDelegated(Decided));
}

// Entries that stand as they are in a project file, or are all of one.
void printSuggestions(const IndexResult &Index, const Decision &Decided,
                      const ProjectFile &Declared) {
  if (size_t Freed = freedIfClosed(Index, Declared, Decided))
    outs() << "# " << Freed << (Freed == 1 ? " section is" : " sections are")
           << " delegated if nothing but the indexed sources calls the program's functions by "
              "name: no\n# program of a library's users, no plug-in; if so, add:\n"
              "# closed: true\n";
  printProposals(Decided);
  if (Decided.Holding.empty()) {
    outs() << "# No section is held by nothing but unknown functions.\n";
    return;
  }
  outs() << "# Unknown functions that sections would be delegated without; say what they do:\n"
            "#   plain     touches nothing of its thread, and always returns soon\n"
            "#   identity  touches state of its thread (errno, thread-local data, the allocator, "
            "locks)\n"
            "#   thread    is about the thread that the kernel runs\n"
            "#   blocks    may wait for another thread, a process or a device\n"
            "#   jumps     may leave otherwise than by returning\n"
            "#   ends      ends the process\n";
  if (Declared.Path.empty())
    outs() << "version: 1\nfunctions:\n";
  else
    outs() << "# To add to 'functions' in " << shownPath(Declared.Path) << ".\n";
  for (const HoldingFunction &F : Decided.Holding) {
    outs() << "  # holds " << F.Alone << (F.Alone == 1 ? " section" : " sections") << " alone";
    if (F.Together)
      outs() << ", " << F.Together << " with others";
    for (const auto &[Codes, Sections] : F.Accepting)
      outs() << ", " << Sections << " more with accept: [" << Codes << "]";
    if (F.Pointer)
      outs() << "; calls through a pointer (" << shownPlace(*F.Pointer)
             << "): say what that does, too";
    outs() << "\n  - names: [" << F.Name << "]\n    effect: unknown\n";
  }
}

// What delegated sections do not do any more.
void printTests(raw_ostream &OS, const Decision &Decided) {
  std::map<ResultTest, std::pair<StringRef, size_t>> Tests; // a function, and how many sections
  for (const CheckedClass &Class : Decided.Classes)
    for (const CheckedSection &S : Class.Sections)
      if (S.Outcome == Verdict::Delegate)
        for (const ResultTest &Test : S.Facts.Tests)
          Tests.try_emplace(Test, S.Facts.FunctionName, 0).first->second.second++;
  if (Tests.empty())
    return;
  OS << "tests of a lock's or unlock's result that delegated sections drop (relock explain "
        "tested-result):\n";
  for (const auto &[Test, By] : Tests) {
    OS << "  " << shownPlace(Test.At) << ": in "
       << (Test.Wrapper.empty() ? By.first : Test.Wrapper);
    if (!Test.Wrapper.empty())
      OS << ", for " << By.second << (By.second == 1 ? " section" : " sections");
    OS << "\n";
  }
}

// Locks of other types than mutexes are no lock sites; that they were seen is said.
void printOtherLocks(raw_ostream &OS, const Decision &Decided) {
  if (Decided.OtherLocks.empty())
    return;
  SmallVector<std::string> Types;
  for (const auto &[Type, Acquisitions] : Decided.OtherLocks)
    Types.push_back((Twine(Acquisitions) + " of " + Type).str());
  OS << "other locks, which stay what they are: " << join(Types, ", ") << "\n";
}

void printText(raw_ostream &OS, const Decision &Decided, const ProjectFile &Declared) {
  for (const CheckedClass &Class : Decided.Classes) {
    OS << painted(Class.Class.Name, Style::Heading, OS) << " (" << shownPlace(Class.Class.At)
       << "): "
       << (Class.converts() ? painted("convert", Style::Good, OS) : painted("keep", Style::Bad, OS))
       << "\n";
    std::vector<StringRef> Others = groupOf(Decided, Class);
    if (!Others.empty() && Others.front() > Class.Class.Name)
      OS << "    converted together with " << join(Others, ", ") << "\n";
    else if (!Others.empty())
      OS << "    converted together with " << Others.front() << ", as listed there\n";
    for (const Reason &R : Class.Class.Kept)
      printReason(OS, R, "    ");
    for (const CheckedSection &S : Class.Sections) {
      printVerdict(OS, S);
      if (S.Outcome == Verdict::Hold)
        for (const Reason &R : S.Reasons)
          printReason(OS, R, "      ");
      if (S.Outcome == Verdict::Delegate)
        for (const Reason &R : S.Accepted)
          printReason(OS, R, "      accepted: ");
    }
  }
  for (const auto *Sites : {&Decided.Uncovered, &Decided.LeftOperations})
    for (const UncoveredSite &Site : *Sites)
      OS << shownPlace(Site.At) << ": " << describe(Site) << " " << codeText("uncovered", OS)
         << "\n";
  for (const AccidentalMerge &M : Decided.Merges)
    OS << shownPlace(M.At) << ": " << describe(M) << " " << codeText("accidental-merge", OS)
       << "\n";
  Counts C = count(Decided);
  if (!Decided.InOperators.empty())
    OS << "lock wrappers, whose sections are listed where they are called:\n";
  for (const auto &[At, Function] : Decided.InOperators)
    OS << "  " << Function << " (" << shownPlace(At) << ")\n";
  OS << counted(C.total(), "lock site") << ": " << C.Delegate << " delegate, " << C.Hold
     << " hold, " << C.Keep << " keep, " << C.Uncovered << " uncovered";
  if (!Decided.InOperators.empty())
    OS << ", " << Decided.InOperators.size() << " in lock wrappers";
  OS << "\n";
  if (!Decided.LeftHeld.empty())
    OS << "functions that return with a lock, whose callers' sections are not listed (relock "
          "explain cross-function):\n";
  for (const HeldAtReturn &F : Decided.LeftHeld)
    OS << "  " << F.Name << " (" << shownPlace(F.At)
       << "): " << (F.Calls ? counted(F.Calls, "call") : "calls through pointers")
       << (F.Calls && F.ThroughPointers ? ", and perhaps through pointers" : "") << "\n";
  printOtherLocks(OS, Decided);
  if (size_t N = Decided.Assertions.size())
    OS << "trylocks that only assert that the lock is held: " << N << "\n";
  printTests(OS, Decided);
  if (TrustCounts Trust = countTrust(Decided, anyClass); Trust.Sections || !Declared.Path.empty())
    OS << trustLine(Trust, Declared) << "\n";
  for (const std::string &Line : acceptedLines(Decided, anyClass, Declared))
    OS << Line << "\n";
}

// What is asked for besides the list of all classes and sections.
unsigned modes() {
  return !Path.empty() + !Why.empty() + Suggest + (ShowOrder.getNumOccurrences() > 0);
}

bool wantsJson() { return Json.getNumOccurrences() > 0; }
bool jsonToOutput() { return wantsJson() && (Json.empty() || Json == "-"); }

// For people: standard output, unless that is taken.
raw_ostream &text() { return jsonToOutput() || SarifFile == "-" ? errs() : outs(); }

int runMode(const IndexResult &Index, const ProjectFile &Declared, const Decision &Decided) {
  if (Suggest)
    printSuggestions(Index, Decided, Declared);
  if (!Path.empty())
    return showPath(Decided, Path, wantsJson());
  if (ShowOrder.getNumOccurrences() > 0)
    return showLockOrder(Decided, ShowOrder == "dot", wantsJson());
  return Done;
}

std::set<std::string> filesThatChange(const Decision &Decided) {
  std::set<std::string> Files;
  for (const CheckedClass &Class : Decided.Classes)
    if (auto Edits = Decided.Edits.find(Class.Class.Group);
        Class.converts() && Edits != Decided.Edits.end())
      for (const Edit &E : Edits->second)
        Files.insert(E.At.File);
  return Files;
}

GateOptions gateOptions() {
  auto Given = [](const cl::opt<std::string> &Option) {
    return Option.getNumOccurrences() ? std::optional(Option.getValue()) : std::nullopt;
  };
  return {Given(FailOn),        Given(Only),  Given(BaselineFile),
          Given(WriteBaseline), Given(Since), Github};
}

// What the options ask for that does not go together; empty: all does.
std::string wrongUsage() {
  if (modes() && !SarifFile.empty())
    return "--sarif goes with the list of all sections, not with --path, --why, --lock-order or "
           "--suggest";
  if (modes() && gateOptions().any())
    return "--fail-on, --only, --baseline, --write-baseline, --diff and --github go with the list "
           "of all findings, not with --path, --why, --lock-order or --suggest; the order of locks "
           "alone: --only=lock-order";
  if (modes() > 1)
    return "--path, --why, --lock-order and --suggest exclude each other";
  if (modes() && wantsJson() && !jsonToOutput())
    return "--json=FILE goes with the list of all sections or findings; others print it only";
  if (!ShowOrder.empty() && ShowOrder != "dot")
    return "--lock-order takes no value but 'dot'";
  if (WriteBaseline.getNumOccurrences() && (wantsJson() || !SarifFile.empty()))
    return "--write-baseline writes the baseline and nothing else; --json and --sarif do not go "
           "with it";
  if (jsonToOutput() && SarifFile == "-")
    return "standard output can have one of --json and --sarif; give the other one a file";
  return "";
}

// False: a message was printed.
bool writeJson(function_ref<void(raw_ostream &)> Print) {
  if (!wantsJson())
    return true;
  if (jsonToOutput()) {
    Print(outs());
    return true;
  }
  Error Failed = writeAtomically(Json, Print);
  if (!Failed)
    return true;
  messageFor(Json, "cannot be written: " + toString(std::move(Failed)), "cannot-write");
  return false;
}

// The findings instead of the list of classes and sections.
int runGate(const IndexResult &Index, const Decision &Decided, Gate &Judge) {
  if (!Judge.judge(Index, Decided))
    return BadUsage;
  if (WriteBaseline.getNumOccurrences())
    return Judge.writeBaseline(Index);
  if (!jsonToOutput())
    Judge.print(text());
  if (Github)
    printAnnotations(text(), Judge.findings(), Index.Root);
  if (!writeJson([&](raw_ostream &OS) { Judge.printJson(OS); }) ||
      (!SarifFile.empty() && !writeSarif(Index, Judge.findings(), SarifFile)))
    return BadUsage;
  return Judge.conclude();
}

int listAll(const IndexResult &Index, const Decision &Decided, const ProjectFile &Declared,
            const std::optional<Plan> &Planned) {
  if (!writeJson([&](raw_ostream &OS) { printJson(OS, Decided, Declared); }))
    return BadUsage;
  if (!jsonToOutput()) {
    printText(text(), Decided, Declared);
    if (Planned && !Planned->Cuts.empty())
      text() << cutLine(*Planned) << "\n";
  }
  if (!SarifFile.empty() && !writeSarif(Index, judgeByComments(Index, Decided), SarifFile))
    return BadUsage;
  const std::set<std::string> Changed = filesThatChange(Decided);
  auto Converts = [](const CheckedClass &Class) { return Class.converts(); };
  reportUnindexed(Index, Changed, Decided, Converts);
  reportGenerated(Changed);
  reportOtherDefinitions(Decided, Converts, {});
  Counts C = count(Decided);
  bool Uncovered = any_of(Decided.Uncovered, [](const UncoveredSite &U) { return !U.Elsewhere; });
  // One that acquires nothing has no section.
  bool Unconverted = any_of(Decided.Classes, [](const CheckedClass &Class) {
    return any_of(Class.Class.Kept, [](const Reason &R) { return R.Code == "unconverted"; });
  });
  bool Look = C.Hold || C.Keep || Uncovered || Unconverted || !Decided.Merges.empty();
  return Look ? LookAtThis : Done;
}

// Where standard output could not be written, all else does not matter.
int unlessOutputFailed(int Status) {
  outs().flush();
  std::error_code Failed = outs().error();
  if (!Failed)
    return Status;
  outs().clear_error();
  message("standard output cannot be written: " + Failed.message(), "cannot-write");
  return BadUsage;
}

int run() {
  if (std::string Wrong = wrongUsage(); !Wrong.empty()) {
    message(Wrong, "usage");
    return BadUsage;
  }
  std::optional<Gate> Judge;
  if (gateOptions().any() && !(Judge = Gate::open(gateOptions())))
    return BadUsage;
  std::optional<Plan> Planned;
  if (PlanFile.getNumOccurrences() &&
      (!(Planned = loadPlan(PlanFile)) || !serversHaveClasses(*Planned)))
    return BadUsage;
  if (!completeBuilds(Builds))
    return BadUsage;
  std::optional<IndexResult> Index = readProgram(Builds, Jobs);
  if (!Index)
    return BadUsage;
  if (Planned && !applyCuts(*Index, *Planned))
    return BadUsage;
  std::optional<ProjectFile> Declared = loadProject(Project, Builds, *Index);
  if (!Declared)
    return BadUsage;
  if (!Why.empty()) {
    int Status = showWhy(*Index, *Declared, Why[0], Why[1], wantsJson());
    return statusWith(*Index, Status);
  }
  Extras Wanted;
  Wanted.Suggestions = Suggest;
  Wanted.Merges = !modes();
  Wanted.LockOrder =
      Judge ? Judge->wantsLockOrder() : ShowOrder.getNumOccurrences() > 0 || !SarifFile.empty();
  Decision Decided = decide(*Index, *Declared, Jobs, AcceptUncovered, Wanted);
  rememberClasses(Builds, Decided);
  reportUnmatched(Decided);
  reportCuts(*Index, Decided);
  int Status = modes() ? runMode(*Index, *Declared, Decided)
               : Judge ? runGate(*Index, Decided, *Judge)
                       : listAll(*Index, Decided, *Declared, Planned);
  return unlessOutputFailed(statusWith(*Index, Status));
}

} // namespace

Subcommand checkSubcommand() { return {Command, run, MoreHelp}; }

} // namespace relock
