// SPDX-License-Identifier: MIT
//
// relock trial: the whole way once, on copies: profile, plan, rewrite, build, test, compare.
#include "driver/Subcommand.h"

#include "bench/ComparisonTable.h"
#include "driver/Benchmark.h"
#include "driver/BuildOption.h"
#include "driver/Options.h"
#include "driver/PlanOption.h"
#include "driver/ProfileFile.h"
#include "driver/Scratch.h"
#include "driver/TrialPage.h"
#include "driver/Turns.h"
#include "support/Messages.h"
#include "support/Output.h"
#include "support/Path.h"
#include "support/Shell.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <chrono>
#include <cstring>
#include <filesystem>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace relock {

static cl::SubCommand Command("trial", "profile, rewrite, build, test and compare a program, on "
                                       "copies of its folder; exit status 1 if it fails or is "
                                       "slower afterwards");

static cl::list<std::string> Builds("p", cl::desc(BuildHelp), cl::value_desc("BUILD"), cl::Prefix,
                                    cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> OutputFolder("o", cl::value_desc("DIR"),
                                         cl::desc("where the copies and all results go; must not "
                                                  "exist (default: beside the folder, NAME.trial)"),
                                         cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> Tree("tree", cl::value_desc("DIR"),
                                 cl::desc("the folder to copy: sources, build files, and what the "
                                          "program needs (default: the innermost one with the "
                                          "current folder and each BUILD)"),
                                 cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> BuildCommand("build", cl::value_desc("CMD"),
                                         cl::desc("builds the program, from the current folder "
                                                  "(default: by what the BUILD folder is made for: "
                                                  "CMake, Ninja or make)"),
                                         cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> TestCommand("test", cl::value_desc("CMD"),
                                        cl::desc("tests the program: exit status 0 is a success"),
                                        cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> PlanFile("plan", cl::value_desc("FILE"),
                                     cl::desc("convert what this plan says (default: profile the "
                                              "program, and have `relock advise` say it)"),
                                     cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> Thresholds("thresholds", cl::value_desc("FILE"),
                                       cl::desc("for `relock advise`"), cl::sub(Command),
                                       cl::cat(options()));
static cl::opt<std::string> Machine(
    "machine", cl::init("here"),
    cl::desc("what is predicted for, as `relock advise --machine` takes it; `none`: nothing "
             "(default: here)"),
    cl::value_desc("here|NAME|FILE|none"), cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> Setup("setup", cl::value_desc("CMD"),
                                  cl::desc("run this before every compared run, not timed"),
                                  cl::sub(Command), cl::cat(options()));
static cl::opt<std::string>
    Pattern("figure", cl::value_desc("REGEX"),
            cl::desc("compare by a number that the program prints, as `relock compare` does"),
            cl::sub(Command), cl::cat(options()));
static cl::opt<bool> HigherIsBetter("higher-is-better",
                                    cl::desc("of the number of --figure (default: lower)"),
                                    cl::sub(Command), cl::cat(options()));
static cl::opt<double> Time("time", cl::init(60), cl::value_desc("SECONDS"),
                            cl::desc("compare for so long (default 60)"), cl::sub(Command),
                            cl::cat(options()));
static cl::opt<double> RunTimeout("run-timeout", cl::init(0), cl::value_desc("SECONDS"),
                                  cl::desc("a compared run that takes longer has failed (default "
                                           "0: none does)"),
                                  cl::sub(Command), cl::cat(options()));
static cl::opt<bool> AcceptUncovered("accept-uncovered", cl::desc(AcceptHelp), cl::sub(Command),
                                     cl::cat(options()));
static cl::opt<std::string> Started(cl::Positional, cl::desc("[--] PROGRAM"), cl::sub(Command),
                                    cl::cat(options()));
// What stands behind the program is the program's, options included.
static cl::list<std::string> Arguments(cl::ConsumeAfter, cl::desc("ARGUMENTS..."), cl::sub(Command),
                                       cl::cat(options()));

static const char *const MoreHelp = R"help(
EXAMPLES:

  relock trial -p build --test 'make check' ./server-load
  relock trial --plan plan.yaml --figure 'latency: ([0-9.]+)' ./load
  relock trial -p . --build 'make -C src' -o /var/tmp/t src/archive /usr/share

EXIT STATUS:

  0  the converted program is not shown to be slower, or there is nothing to do
  1  it is slower, or it is not built, or fails
  2  wrong usage, or something failed before the conversion: the build, the
     test, the profile
  128 + N  interrupted by signal N (130: ^C) while the programs were compared
)help";

namespace {

int fail(int Status, const Twine &Text, StringRef Code) {
  message(Text.str(), Code);
  return Status;
}

std::string absolute(StringRef Path) {
  SmallString<256> Result(Path);
  sys::fs::make_absolute(Result);
  sys::path::remove_dots(Result, /*remove_dot_dot=*/true);
  SmallString<256> Real;
  return (sys::fs::real_path(Result, Real) ? Result : Real).str().str();
}

bool isWithin(StringRef Path, StringRef Folder) { return Path == Folder || isBelow(Path, Folder); }

std::string textOf(StringRef File) {
  auto Text = MemoryBuffer::getFile(File);
  return Text ? (*Text)->getBuffer().str() : "";
}

class Trial {
public:
  int run();

private:
  // The exit status, where the trial ends with it.
  using Ended = std::optional<int>;

  int choosePlaces();
  int chooseBuildCommand();
  bool makeCopies();
  Ended prepare();
  Ended makePlan();
  Ended convert();
  Ended compare();
  std::string nextCommand() const;
  int finish(int Status, const Twine &Sentence, StringRef Next = "");

  // Runs a step in a copy. LastGood: the greatest exit status that is no failure.
  bool step(const Scratch &Where, StringRef Name, const std::string &Shown,
            const std::vector<std::string> &Program, int LastGood = 0,
            const std::vector<std::string> &Variables = {});
  bool shell(const Scratch &Where, StringRef Name, const std::string &Text,
             const std::vector<std::string> &Variables = {}) {
    return step(Where, Name, Text, {"/bin/sh", "-c", Text}, 0, Variables);
  }
  bool relock(const Scratch &Where, StringRef Name, std::vector<std::string> Arguments,
              StringRef Output = "");
  std::vector<std::string> withBuilds(std::vector<std::string> Arguments) const;
  bool profile(const Scratch &Where, StringRef Name, const std::string &File);
  std::string file(StringRef Name) const { return Folder + "/" + Name.str(); }
  std::vector<std::string> toLink() const;
  bool writeLinker(StringRef Library) const;

  TrialResult Result;
  std::string Self; // this program
  std::string Original, Folder;
  std::string Build, Program; // commands
  std::string PlanPath;
  std::optional<Scratch> Before, After;
};

int Trial::choosePlaces() {
  if (!completeBuilds(Builds))
    return BadUsage;
  Self = sys::fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&trialSubcommand));
  if (Started.empty())
    return fail(BadUsage, "say what program to try: relock trial [OPTIONS] -- PROGRAM [ARGUMENTS]",
                "usage");
  std::vector<std::string> Words = {Started};
  append_range(Words, Arguments);
  Program = Words.size() == 1 ? Started : shellCommand(Words); // one word may be a shell's command
  Result.Program = Program;
  Original = absolute(Tree.empty() ? "." : StringRef(Tree));
  for (const std::string &B : Builds)
    while (Tree.empty() && !isWithin(absolute(B), Original))
      Original = sys::path::parent_path(Original).str();
  if (Original == "/" || Original.empty())
    return fail(BadUsage,
                "the current folder and BUILD have no folder but '/' in common; --tree says what "
                "to copy",
                "trial-folder");
  if (!isWithin(absolute("."), Original))
    return fail(BadUsage, "the current folder is not within '" + Original + "'", "trial-folder");
  Folder = OutputFolder.empty() ? Original + ".trial" : absolute(OutputFolder);
  if (isWithin(Folder, Original))
    return fail(BadUsage, "'" + Folder + "' lies within what is copied; -o names another place",
                "trial-folder");
  if (sys::fs::exists(Folder))
    return fail(BadUsage, "'" + Folder + "' exists; remove it, or name another place by -o",
                "trial-folder");
  if (!Scratch::rootIsMount())
    return fail(
        BadUsage,
        "'/' is no mount here, as in a chroot, so no copy can take the place of a folder: make "
        "it one before (mount --bind ROOT ROOT, then chroot ROOT)",
        "trial-namespace");
  return chooseBuildCommand();
}

int Trial::chooseBuildCommand() {
  const std::string Of = shellWord(absolute(Builds.front()));
  auto Has = [](StringRef File) {
    return sys::fs::exists(absolute(Builds.front()) + "/" + File.str());
  };
  Build = !BuildCommand.empty()   ? BuildCommand
          : Has("CMakeCache.txt") ? "cmake --build " + Of
          : Has("build.ninja")    ? "ninja -C " + Of
          : Has("Makefile")       ? "make -C " + Of
                                  : "";
  if (Build.empty())
    return fail(BadUsage,
                "'" + Builds.front() +
                    "' has no CMakeCache.txt, build.ninja or Makefile; say by --build how the "
                    "program is built",
                "trial-build");
  return Done;
}

bool Trial::step(const Scratch &Where, StringRef Name, const std::string &Shown,
                 const std::vector<std::string> &Program, int LastGood,
                 const std::vector<std::string> &Variables) {
  const std::string Log = file("logs/" + Name.str() + ".log");
  errs() << "relock: " << Name << ": " << Shown << "\n";
  auto Begin = std::chrono::steady_clock::now();
  int Status = Where.run(Program, Variables, Log);
  TrialStep Step = {Name.str(), Shown, 0, "ok"};
  Step.Seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - Begin).count();
  bool Good = Status >= 0 && WIFEXITED(Status) && WEXITSTATUS(Status) <= LastGood;
  if (!Good)
    Step.Outcome = Status < 0          ? "it could not be started"
                   : WIFEXITED(Status) ? "exit status " + std::to_string(WEXITSTATUS(Status))
                                       : "died of signal " + std::to_string(WTERMSIG(Status));
  Result.Steps.push_back(Step);
  if (Good)
    return true;
  showLastLines({textOf(Log)});
  messageFor(Log, Step.Name + " failed: " + Step.Outcome, "trial-step");
  return false;
}

std::vector<std::string> Trial::withBuilds(std::vector<std::string> Arguments) const {
  for (const std::string &B : Builds)
    append_range(Arguments, std::vector<std::string>{"-p", absolute(B)});
  return Arguments;
}

// Output: the file for what it prints; empty: it goes to the log with the messages.
bool Trial::relock(const Scratch &Where, StringRef Name, std::vector<std::string> Arguments,
                   StringRef Output) {
  const std::string Shown = "relock " + shellCommand(Arguments);
  std::string Text = "exec " + shellWord(Self) + " " + shellCommand(Arguments);
  if (!Output.empty())
    Text += " > " + shellWord(Output);
  return step(Where, Name, Shown, {"/bin/sh", "-c", Text}, LookAtThis);
}

bool Trial::profile(const Scratch &Where, StringRef Name, const std::string &File) {
  return relock(Where, Name, {"profile", "-o", File, "--", "/bin/sh", "-c", Program});
}

bool Trial::makeCopies() {
  if (std::error_code Code = sys::fs::create_directories(file("logs"))) {
    messageFor(Folder, "cannot be made: " + Code.message(), "trial-folder");
    return false;
  }
  errs() << "relock: copying '" << Original << "' to '" << Folder << "'\n";
  auto Make = [&](StringRef From, StringRef Name) -> std::optional<Scratch> {
    Expected<Scratch> Copied = Scratch::make(Original, From, file(Name));
    if (Copied)
      return std::move(*Copied);
    message(toString(Copied.takeError()), "trial-folder");
    return std::nullopt;
  };
  if (!(Before = Make(Original, "before")))
    return false;
  if (Before->run({"true"}, {}, file("logs/namespace.log"))) {
    const std::string Why = textOf(file("logs/namespace.log"));
    message("this system does not let a copy take the place of a folder (" +
                StringRef(Why).trim().str() +
                "): run as root, or allow user namespaces (user.max_user_namespaces, "
                "kernel.unprivileged_userns_clone)",
            "trial-namespace");
    return false;
  }
  if (!shell(*Before, "build-before", Build))
    return false;
  After = Make(Before->copy(), "after"); // with what was built
  return After.has_value();
}

Trial::Ended Trial::makePlan() {
  PlanPath = PlanFile.empty() ? file("plan.yaml") : absolute(PlanFile);
  if (PlanFile.empty()) {
    const std::string Profile = file("before.profile");
    if (!profile(*Before, "profile-before", Profile) ||
        !relock(*Before, "report", {"report", Profile, "--limit=5", "--sites=0"},
                file("report.txt")))
      return BadUsage;
    Result.Report = textOf(file("report.txt"));
    std::vector<std::string> Advise = withBuilds({"advise", Profile, "-o", PlanPath});
    if (!Thresholds.empty())
      append_range(Advise, std::vector<std::string>{"--thresholds", absolute(Thresholds)});
    if (AcceptUncovered)
      Advise.push_back("--accept-uncovered");
    // What is worth it by either rule is tried: the comparison decides. The simulator is for x86-64
    // only.
    bool Predicts = Machine.getNumOccurrences() || !findBenchmark("relock-simulator").empty();
    if (Predicts && Machine != "none")
      append_range(Advise, std::vector<std::string>{"--machine", Machine, "--rule", "either"});
    if (!relock(*Before, "advise", Advise))
      return BadUsage;
    errs() << textOf(file("logs/advise.log")); // what is hot, and why it stays
  }
  std::vector<std::string> Check = withBuilds({"check"});
  if (AcceptUncovered)
    Check.push_back("--accept-uncovered");
  if (!relock(*Before, "check", Check, file("check.txt")))
    return BadUsage;
  Result.Check = textOf(file("check.txt"));
  Result.Planned = loadPlan(PlanPath);
  if (!Result.Planned)
    return BadUsage;
  bool Any = any_of(Result.Planned->Classes, [](const PlanEntry &E) { return E.Converts; });
  if (!Any)
    return finish(Done, "nothing to do: the plan converts no lock, and says why");
  return std::nullopt;
}

// A linker in front of the others, that links the library where something needs it: no build file
// changes for a trial.
bool Trial::writeLinker(StringRef Library) const {
  if (sys::fs::create_directories(file("bin")))
    return false;
  for (StringRef Name : {"ld", "ld.bfd", "ld.gold", "ld.lld", "ld.mold"}) {
    ErrorOr<std::string> Real = sys::findProgramByName(Name);
    if (!Real)
      continue;
    Error E = writeAtomically(
        file("bin/" + Name.str()),
        [&](raw_ostream &OS) {
          OS << "#!/bin/sh\nfor word; do\n  case $word in\n"
             << "    -r | -i | --relocatable | -v | --version | --help) exec " << shellWord(*Real)
             << " \"$@\" ;;\n"
             << "    -static | -Bstatic | -dn) static=" << shellWord(Library.str() + "/librelock.a")
             << " ;;\n    -Bdynamic | -dy) static= ;;\n  esac\ndone\n"
             << "if [ -n \"${static-}\" ]; then exec " << shellWord(*Real)
             << " \"$@\" \"$static\"; fi\nexec " << shellWord(*Real) << " \"$@\" -rpath "
             << shellWord(Library) << " --push-state --as-needed "
             << shellWord(Library.str() + "/librelock.so") << " --pop-state\n";
        },
        0777);
    if (E) {
      consumeError(std::move(E));
      return false;
    }
  }
  return true;
}

// The variables that have gcc and clang find the header and that linker.
std::vector<std::string> Trial::toLink() const {
  StringRef Prefix = sys::path::parent_path(sys::path::parent_path(Self));
  std::string Header = (Prefix + "/include").str();
  std::string Library = sys::path::parent_path(findInstalled("librelock.so")).str();
  if (!sys::fs::exists(Header + "/relock/relock.h"))
    Header = RELOCK_INCLUDE; // as it was built, not installed
  if (!writeLinker(Library))
    return {};
  const char *Path = getenv("CPATH"), *Compiler = getenv("COMPILER_PATH");
  auto With = [](const std::string &First, const char *Others) {
    return First + (Others && *Others ? std::string(":") + Others : "");
  };
  return {"CPATH=" + With(Header, Path), "COMPILER_PATH=" + With(file("bin"), Compiler)};
}

Trial::Ended Trial::convert() {
  std::vector<std::string> Rewrite = withBuilds({"rewrite", "--plan", PlanPath});
  if (AcceptUncovered)
    Rewrite.push_back("--accept-uncovered");
  if (!relock(*After, "rewrite", Rewrite, file("relock.diff")))
    return BadUsage;
  Result.Diff = textOf(file("relock.diff"));
  Rewrite.push_back("--in-place");
  if (!relock(*After, "rewrite-in-place", Rewrite))
    return BadUsage;
  std::vector<std::string> Variables = toLink();
  if (Variables.empty()) {
    messageFor(Folder, "cannot be written", "trial-folder");
    return BadUsage;
  }
  if (!shell(*After, "build-after", Build, Variables) ||
      (!TestCommand.empty() && !shell(*After, "test-after", TestCommand, Variables)))
    return finish(LookAtThis, "the converted program is not built, or fails its test");
  return std::nullopt;
}

Trial::Ended Trial::compare() {
  Comparison C;
  C.Machine = describeMachine();
  C.Commands = {Program, Program};
  C.Setup = Setup;
  C.Pattern = Pattern;
  C.HigherIsBetter = HigherIsBetter;
  C.Precision = 0.02;
  C.Predicted = predictionOf(*Result.Planned);
  TurnLimits Limits;
  Limits.Seconds = Time;
  Limits.RunTimeout = RunTimeout;
  Limits.Enter = [&](Side S) {
    if (const char *Failed = (S == relock::Before ? Before : After)->enter()) {
      dprintf(STDERR_FILENO, "relock: %s: %s\n", Failed, strerror(errno));
      _exit(127);
    }
  };
  errs() << "relock: comparing: " << Program << "\n";
  if (int Asked = runTurns(C, Limits))
    return fail(128 + Asked,
                "interrupted while comparing; the copies and logs are in '" + Folder + "'",
                "trial-interrupted");
  if (!C.Turns.empty()) {
    printComparedMachine(C, outs());
    printComparison(C, outs());
    outs().flush();
    warnOfNoise(C);
    consumeError(
        writeAtomically(file("compare.json"), [&](raw_ostream &OS) { writeComparison(C, OS); }));
  }
  Result.Measured = std::move(C);
  const Comparison &Measured = *Result.Measured;
  if (Measured.Ended == EndOfComparison::Failed)
    return finish(LookAtThis, "the comparison failed before it showed anything");
  if (PlanFile.empty() && profile(*After, "profile-after", file("after.profile")) &&
      relock(*After, "report-diff",
             {"report", "--diff", file("before.profile"), file("after.profile"), "--limit=5"},
             file("locks.txt")))
    Result.DiffOfProfiles = textOf(file("locks.txt"));
  const bool Slower = Measured.verdict() == ComparisonVerdict::Slower;
  // What is planned for another machine is not refuted by this one.
  const bool Elsewhere = Measured.Predicted && !Measured.Predicted->Machine.empty();
  return finish(Slower ? LookAtThis : Done, comparisonSentence(Measured),
                Slower && !Elsewhere ? "" : nextCommand());
}

// Does to the program what was done to the copy.
std::string Trial::nextCommand() const {
  std::vector<std::string> Words = {"relock", "rewrite"};
  if (Builds.getNumOccurrences())
    for (const std::string &B : Builds)
      append_range(Words, std::vector<std::string>{"-p", B});
  std::string Near = std::filesystem::path(PlanPath).lexically_proximate(absolute("."));
  append_range(Words,
               std::vector<std::string>{"--plan", std::min(Near, PlanPath, [](auto &A, auto &B) {
                                          return A.size() < B.size();
                                        })});
  if (AcceptUncovered)
    Words.push_back("--accept-uncovered");
  Words.push_back("--in-place");
  return shellCommand(Words);
}

// Next: the command that a user may want to type now.
int Trial::finish(int Status, const Twine &Sentence, StringRef Next) {
  Result.Sentence = Sentence.str();
  if (Error E = writeAtomically(file("trial.html"),
                                [&](raw_ostream &OS) { writeTrialPage(Result, OS); })) {
    messageFor(file("trial.html"), "cannot be written: " + toString(std::move(E)), "trial-folder");
    return BadUsage;
  }
  errs() << "relock: " << Result.Sentence << "\n";
  messageFor(file("trial.html"),
             "what was tried, and what came of it" + (Next.empty() ? "" : "; next: " + Next.str()),
             "trial-page");
  return Status;
}

Trial::Ended Trial::prepare() {
  if (std::string Wrong = wrongFigure(Pattern, HigherIsBetter); !Wrong.empty())
    return fail(BadUsage, Wrong, "usage");
  if (int Status = choosePlaces())
    return Status;
  if (!makeCopies())
    return BadUsage;
  if (!TestCommand.empty() && !shell(*Before, "test-before", TestCommand))
    return fail(BadUsage, "the program fails its test before anything is converted", "trial-test");
  return std::nullopt;
}

int Trial::run() {
  for (auto Stage : {&Trial::prepare, &Trial::makePlan, &Trial::convert, &Trial::compare})
    if (Ended Status = (this->*Stage)())
      return *Status;
  return Done;
}

int run() { return Trial().run(); }

} // namespace

Subcommand trialSubcommand() { return {Command, run, MoreHelp}; }

} // namespace relock
