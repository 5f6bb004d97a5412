// SPDX-License-Identifier: MIT
//
// relock compare: runs two commands in turns until it is known how much faster one of them is.
#include "driver/Subcommand.h"

#include "bench/Comparison.h"
#include "bench/ComparisonTable.h"
#include "driver/MeasuredRun.h"
#include "driver/Options.h"
#include "support/Messages.h"
#include "support/Output.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <sys/wait.h>

using namespace llvm;

namespace relock {

static cl::SubCommand Command("compare", "run two commands in turns and say how much faster the "
                                         "second one is; exit status 1 if it is slower");

static cl::opt<std::string> BeforeCommand("before", cl::Required, cl::value_desc("CMD"),
                                          cl::desc("the command to compare with, run by /bin/sh"),
                                          cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> AfterCommand("after", cl::Required, cl::value_desc("CMD"),
                                         cl::desc("the command that may be faster or slower"),
                                         cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> Setup("setup", cl::value_desc("CMD"),
                                  cl::desc("run this before every run, not timed"),
                                  cl::sub(Command), cl::cat(options()));
static cl::opt<std::string>
    Pattern("figure", cl::value_desc("REGEX"),
            cl::desc("what decides is a number that the commands print: the first group of this "
                     "POSIX extended regular expression, in the last line of standard output that "
                     "matches (default: wall time decides)"),
            cl::sub(Command), cl::cat(options()));
static cl::opt<bool> HigherIsBetter("higher-is-better",
                                    cl::desc("of the number of --figure (default: lower)"),
                                    cl::sub(Command), cl::cat(options()));
static cl::opt<double> Precision("precision", cl::init(2), cl::value_desc("PERCENT"),
                                 cl::desc("run until the 95 % interval of the ratio is narrower "
                                          "than this part of the ratio (default 2)"),
                                 cl::sub(Command), cl::cat(options()));
static cl::opt<double> Time("time", cl::init(60), cl::value_desc("SECONDS"),
                            cl::desc("begin no turn after this time, but make 6 turns however long "
                                     "they take: with fewer there is no interval (default 60)"),
                            cl::sub(Command), cl::cat(options()));
static cl::opt<unsigned> MaxRuns("max-runs", cl::init(1000), cl::value_desc("N"),
                                 cl::desc("at most so many runs of each command, 6 or more "
                                          "(default 1000)"),
                                 cl::sub(Command), cl::cat(options()));
static cl::opt<double> RunTimeout("run-timeout", cl::init(0), cl::value_desc("SECONDS"),
                                  cl::desc("end a run that takes longer, and the comparison with "
                                           "an error (default 0: never)"),
                                  cl::sub(Command), cl::cat(options()));
static cl::opt<double> Threshold("threshold", cl::init(0), cl::value_desc("PERCENT"),
                                 cl::desc("slower, with exit status 1, is what is slower by more "
                                          "than this for sure (default 0)"),
                                 cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> Predicted("predicted", cl::value_desc("RATIO|LOW-HIGH"),
                                      cl::desc("how many times as fast the second command was said "
                                               "to be, to show beside the result"),
                                      cl::sub(Command), cl::cat(options()));
static cl::opt<bool> IgnoreFailure("ignore-failure",
                                   cl::desc("count runs that exit with another status than 0"),
                                   cl::sub(Command), cl::cat(options()));
static cl::opt<bool> ShowOutput("show-output",
                                cl::desc("show on standard error what the commands print, after "
                                         "each run (default: the last 20 lines, if one fails)"),
                                cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> Json("json", cl::value_desc("FILE"),
                                 cl::desc("write all figures of all runs as JSON "
                                          "(tool/doc/formats.md)"),
                                 cl::sub(Command), cl::cat(options()));

namespace {

constexpr StringRef SideNames[] = {"before", "after"};

int fail(int Status, const Twine &Text, StringRef Code) {
  message(Text.str(), Code);
  return Status;
}

bool readPrediction(Comparison &C) {
  auto [Low, High] = StringRef(Predicted).split('-');
  Prediction P;
  if (Low.getAsDouble(P.Low) || (High.empty() ? Low : High).getAsDouble(P.High))
    return false;
  C.Predicted = P;
  return P.Low > 0 && P.Low <= P.High && std::isfinite(P.High);
}

// A comparison takes long: whatever can be refused is refused before it.
int readOptions(Comparison &C) {
  auto Refuse = [](const Twine &Text) { return fail(BadUsage, Text, "compare-refused"); };
  std::string Wrong;
  Regex Figure(Pattern);
  if (!Pattern.empty() && !Figure.isValid(Wrong))
    return Refuse("--figure: '" + Pattern + "' is no regular expression: " + Wrong);
  if (!Pattern.empty() && !Figure.getNumMatches())
    return Refuse("--figure: '" + Pattern + "' has no group; put brackets around the number");
  if (HigherIsBetter && Pattern.empty())
    return Refuse("--higher-is-better is said of the number of --figure, which is missing");
  if (!(Precision > 0))
    return Refuse("--precision must be above 0");
  if (!(Time >= 0) || !(RunTimeout >= 0))
    return Refuse("--time and --run-timeout must not be below 0");
  if (MaxRuns < pairsAtNextLook(0))
    return Refuse("--max-runs must be " + Twine(pairsAtNextLook(0)) +
                  " or more: fewer runs have no 95 % interval");
  if (!(Threshold >= 0 && Threshold < 100))
    return Refuse("--threshold must be 0 or more, and below 100");
  if (!Predicted.empty() && !readPrediction(C))
    return Refuse("--predicted must be a ratio above 0, or two of them: 1.9 or 1.5-2.2");
  if (!Json.empty())
    if (Error E = checkWritable(Json)) {
      messageFor(Json, "cannot be written: " + toString(std::move(E)), "compare-file");
      return BadUsage;
    }
  C.Commands = {BeforeCommand, AfterCommand};
  C.Setup = Setup;
  C.Pattern = Pattern;
  C.HigherIsBetter = HigherIsBetter;
  C.Precision = Precision / 100;
  C.Threshold = Threshold / 100;
  return Done;
}

// By lines, so that ^ and $ are theirs. The last one counts: programs print a sum in the end.
std::optional<StringRef> findFigure(StringRef Output, Regex &Figure) {
  SmallVector<StringRef> Lines, Groups;
  Output.consume_back("\n");
  Output.split(Lines, '\n');
  for (StringRef Line : reverse(Lines))
    if (Figure.match(Line.rtrim('\r'), &Groups))
      return Groups[1];
  return std::nullopt;
}

std::string secondsText(double Seconds) {
  std::string Text;
  raw_string_ostream(Text) << format("%g s", Seconds);
  return Text;
}

std::string statusText(const MeasuredRun &R) {
  std::string Text = "ended with exit status " + std::to_string(WEXITSTATUS(R.Status));
  if (WIFSIGNALED(R.Status))
    Text = "died of signal " + std::to_string(WTERMSIG(R.Status)) + " (" +
           strsignal(WTERMSIG(R.Status)) + ")";
  bool Printed = R.Output->getBufferSize() || R.Errors->getBufferSize();
  return Text + (Printed ? "; what it printed last is above" : "; it printed nothing");
}

void printLastLines(const MeasuredRun &R) {
  constexpr size_t Shown = 20;
  SmallVector<StringRef> Lines;
  for (StringRef Text : {R.Output->getBuffer(), R.Errors->getBuffer()})
    if (!Text.empty())
      Text.rtrim('\n').split(Lines, '\n');
  for (StringRef Line : ArrayRef(Lines).take_back(Shown))
    errs() << "  | " << printable(Line) << "\n";
}

// On a terminal, while a comparison runs.
class TurnLine {
public:
  void show(const Comparison &C, double Seconds) {
    if (!Terminal)
      return;
    PairedRatio Speed = C.speed();
    errs() << "\r\033[K" << C.Turns.size() << " turns, " << format("%.0f", Seconds) << " s";
    if (Speed.hasInterval())
      errs() << format(", %.3f to %.3f times as fast", Speed.Low, Speed.High);
  }
  void clear() {
    if (Terminal)
      errs() << "\r\033[K";
  }

private:
  const bool Terminal = sys::Process::StandardErrIsDisplayed();
};

class Comparing {
public:
  explicit Comparing(Comparison &C) : C(C), Runner(RunTimeout), Figure(Pattern) {
    C.LeastResident = Runner.leastResident();
  }
  void run();
  int signalAsked() const { return Asked; }

private:
  bool hasEnded();
  bool runTurn(ComparedTurn &T, StringRef Where);
  bool runSide(FigureValues &Values, Side S, StringRef Where);
  bool runCommand(MeasuredRun &R, StringRef Name, const std::string &Text, StringRef Where);
  bool readFigure(FigureValues &Values, const MeasuredRun &R, Side S, StringRef Where);
  bool failed(const MeasuredRun &R, const Twine &Text, StringRef Code);
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - Begin).count();
  }

  Comparison &C;
  CommandRunner Runner;
  Regex Figure;
  TurnLine Line;
  size_t NextLook = pairsAtNextLook(0);
  int Asked = 0;
  const std::chrono::steady_clock::time_point Begin = std::chrono::steady_clock::now();
};

} // namespace

bool Comparing::failed(const MeasuredRun &R, const Twine &Text, StringRef Code) {
  Line.clear();
  if (R.Output && !ShowOutput)
    printLastLines(R);
  message(Text.str(), Code);
  C.Ended = EndOfComparison::Failed;
  return false;
}

// False: the comparison ends with it.
bool Comparing::runCommand(MeasuredRun &R, StringRef Name, const std::string &Text,
                           StringRef Where) {
  R = Runner.run(Text);
  std::string Which = (Where + ": " + Name + " (" + Text + ") ").str();
  if (R.Asked) {
    Asked = R.Asked;
    C.Ended = EndOfComparison::Interrupted;
    return false;
  }
  if (R.StartError)
    return failed(R, Which + "could not be started: " + strerror(R.StartError), "compare-start");
  if (ShowOutput) {
    Line.clear();
    errs() << R.Output->getBuffer() << R.Errors->getBuffer();
  }
  if (R.TimedOut)
    return failed(R,
                  Which + "took more than the " + secondsText(RunTimeout) +
                      " of --run-timeout, and was killed",
                  "compare-timeout");
  if (R.Status && !IgnoreFailure)
    return failed(R, Which + statusText(R), "compare-failed");
  return true;
}

bool Comparing::readFigure(FigureValues &Values, const MeasuredRun &R, Side S, StringRef Where) {
  std::string Which = (Where + ": " + SideNames[S] + " (" + C.Commands[S] + ") ").str();
  std::optional<StringRef> Text = findFigure(R.Output->getBuffer(), Figure);
  if (!Text)
    return failed(R, Which + "printed nothing that matches --figure", "compare-figure");
  double Value;
  if (Text->getAsDouble(Value) || !std::isfinite(Value) || !(Value > 0))
    return failed(R, Which + "printed '" + *Text + "' for --figure, which is no number above 0",
                  "compare-figure");
  Values[Printed] = Value;
  return true;
}

bool Comparing::runSide(FigureValues &Values, Side S, StringRef Where) {
  MeasuredRun R;
  if (!C.Setup.empty() && !runCommand(R, "setup", C.Setup, Where))
    return false;
  if (!runCommand(R, SideNames[S], C.Commands[S], Where))
    return false;
  Values[WallTime] = R.WallSeconds;
  Values[ProcessorTime] = R.ProcessorSeconds;
  Values[VoluntarySwitches] = R.VoluntarySwitches;
  Values[InvoluntarySwitches] = R.InvoluntarySwitches;
  Values[MaxResident] = R.MaxResident;
  return C.Pattern.empty() || readFigure(Values, R, S, Where);
}

bool Comparing::runTurn(ComparedTurn &T, StringRef Where) {
  Side Second = T.First == Before ? After : Before;
  return runSide(T.Runs[T.First], T.First, Where) && runSide(T.Runs[Second], Second, Where);
}

bool Comparing::hasEnded() {
  if (C.Turns.size() < pairsAtNextLook(0))
    return false;
  if (C.Turns.size() >= NextLook) {
    NextLook = pairsAtNextLook(C.Turns.size());
    C.Ended = EndOfComparison::Precision;
    if (C.quotient(C.deciding()).isNarrowerThan(C.Precision))
      return true;
  }
  C.Ended = C.Turns.size() >= MaxRuns ? EndOfComparison::Runs : EndOfComparison::Time;
  return C.Turns.size() >= MaxRuns || seconds() >= Time;
}

// Whatever drifts meanwhile favours the first and the second of a turn in turns.
void Comparing::run() {
  ComparedTurn WarmUp;
  bool Runs = runTurn(WarmUp, "warm-up");
  while (Runs && !hasEnded()) {
    ComparedTurn T;
    T.First = C.Turns.size() % 2 ? After : Before;
    Runs = runTurn(T, "turn " + std::to_string(C.Turns.size() + 1));
    if (Runs)
      C.Turns.push_back(T);
    Line.show(C, seconds());
  }
  Line.clear();
  C.Seconds = seconds();
}

namespace {

void warnOfNoise(const Comparison &C) {
  std::optional<Noise> N = C.noise();
  if (!N || C.verdict() == Verdict::TooFewPairs)
    return;
  std::string Text;
  raw_string_ostream(Text) << "the runs of " << SideNames[N->Of] << " differ much: their quartiles "
                           << format("%.0f %%", 100 * N->Distance)
                           << " of the median apart. Either the machine does other work, or the "
                              "command does not do the same each time: compare on an idle machine, "
                              "let a run take longer, or begin each from the same state (--setup)";
  message(Text, "compare-noisy");
}

int writeJson(const Comparison &C) {
  if (Json.empty() || C.Turns.empty())
    return Done;
  if (Error E = writeAtomically(Json, [&](raw_ostream &OS) { writeComparison(C, OS); })) {
    messageFor(Json, "cannot be written: " + toString(std::move(E)), "compare-file");
    return BadUsage;
  }
  return Done;
}

int flushOutput() {
  outs().flush();
  if (!outs().has_error())
    return Done;
  std::error_code Error = outs().error();
  outs().clear_error();
  return fail(BadUsage, "standard output cannot be written: " + Error.message(), "output");
}

int statusOf(const Comparison &C, int Asked) {
  if (C.Ended == EndOfComparison::Interrupted)
    return fail(128 + Asked, "interrupted; complete turns: " + Twine(C.Turns.size()),
                "compare-interrupted");
  if (C.Ended == EndOfComparison::Failed)
    return BadUsage;
  return C.verdict() == Verdict::Slower ? LookAtThis : Done;
}

int run() {
  sys::Process::FixupStandardFileDescriptors();
  Comparison C;
  if (int Status = readOptions(C))
    return Status;
  C.Machine = describeMachine();
  printComparedMachine(C, outs());
  outs().flush();
  Comparing Run(C);
  Run.run();
  if (!C.Turns.empty())
    printComparison(C, outs());
  int Output = flushOutput();
  warnOfNoise(C);
  return std::max({statusOf(C, Run.signalAsked()), Output, writeJson(C)});
}

} // namespace

Subcommand compareSubcommand() { return {Command, run}; }

} // namespace relock
