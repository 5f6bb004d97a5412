// SPDX-License-Identifier: MIT
#include "driver/Turns.h"

#include "bench/PairedRatio.h"
#include "driver/MeasuredRun.h"
#include "support/Messages.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <cmath>
#include <cstring>
#include <sys/wait.h>

using namespace llvm;

namespace relock {

static constexpr StringRef SideNames[] = {"before", "after"};

// By lines, so that ^ and $ are theirs. The last one counts: programs print a sum in the end.
static std::optional<StringRef> findFigure(StringRef Output, Regex &Figure) {
  SmallVector<StringRef> Lines, Groups;
  Output.consume_back("\n");
  Output.split(Lines, '\n');
  for (StringRef Line : reverse(Lines))
    if (Figure.match(Line.rtrim('\r'), &Groups))
      return Groups[1];
  return std::nullopt;
}

static std::string secondsText(double Seconds) {
  std::string Text;
  raw_string_ostream(Text) << format("%g s", Seconds);
  return Text;
}

static std::string statusText(const MeasuredRun &R) {
  std::string Text = "ended with exit status " + std::to_string(WEXITSTATUS(R.Status));
  if (WIFSIGNALED(R.Status))
    Text = "died of signal " + std::to_string(WTERMSIG(R.Status)) + " (" +
           strsignal(WTERMSIG(R.Status)) + ")";
  bool Printed = R.Output->getBufferSize() || R.Errors->getBufferSize();
  return Text + (Printed ? "; what it printed last is above" : "; it printed nothing");
}

namespace {

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
  Comparing(Comparison &C, const TurnLimits &Limits)
      : C(C), Limits(Limits), Runner(Limits.RunTimeout), Figure(C.Pattern) {
    C.LeastResident = Runner.leastResident();
  }
  void run();
  int signalAsked() const { return Asked; }

private:
  bool hasEnded();
  bool runTurn(ComparedTurn &T, StringRef Where);
  bool runSide(FigureValues &Values, Side S, StringRef Where);
  bool runCommand(MeasuredRun &R, StringRef Name, const std::string &Text, Side S, StringRef Where);
  bool readFigure(FigureValues &Values, const MeasuredRun &R, Side S, StringRef Where);
  bool failed(const MeasuredRun &R, const Twine &Text, StringRef Code);
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - Begin).count();
  }

  Comparison &C;
  const TurnLimits &Limits;
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
  if (R.Output && !Limits.ShowOutput)
    showLastLines({R.Output->getBuffer(), R.Errors->getBuffer()});
  message(Text.str(), Code);
  C.Ended = EndOfComparison::Failed;
  return false;
}

// False: the comparison ends with it.
bool Comparing::runCommand(MeasuredRun &R, StringRef Name, const std::string &Text, Side S,
                           StringRef Where) {
  R = Runner.run(Text, [&] {
    if (Limits.Enter)
      Limits.Enter(S);
  });
  std::string Which = (Where + ": " + Name + " (" + Text + ") ").str();
  if (R.Asked) {
    Asked = R.Asked;
    C.Ended = EndOfComparison::Interrupted;
    return false;
  }
  if (R.StartError)
    return failed(R, Which + "could not be started: " + strerror(R.StartError), "compare-start");
  if (Limits.ShowOutput) {
    Line.clear();
    errs() << R.Output->getBuffer() << R.Errors->getBuffer();
  }
  if (R.TimedOut)
    return failed(R,
                  Which + "took more than the " + secondsText(Limits.RunTimeout) +
                      " of --run-timeout, and was killed",
                  "compare-timeout");
  if (R.Status && !Limits.IgnoreFailure)
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
  if (!C.Setup.empty() && !runCommand(R, "setup", C.Setup, S, Where))
    return false;
  if (!runCommand(R, SideNames[S], C.Commands[S], S, Where))
    return false;
  Values[WallTime] = R.WallSeconds;
  Values[ProcessorTime] = R.ProcessorSeconds;
  Values[VoluntarySwitches] = R.VoluntarySwitches;
  Values[InvoluntarySwitches] = R.InvoluntarySwitches;
  Values[MaxResident] = R.MaxResident;
  if (!C.Pattern.empty() && !readFigure(Values, R, S, Where))
    return false;
  return C.Cleanup.empty() || runCommand(R, "cleanup", C.Cleanup, S, Where);
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
  C.Ended = C.Turns.size() >= Limits.MaxRuns ? EndOfComparison::Runs : EndOfComparison::Time;
  return C.Turns.size() >= Limits.MaxRuns || seconds() >= Limits.Seconds;
}

// Whatever drifts meanwhile favours the first and the second of a turn in turns.
void Comparing::run() {
  ComparedTurn WarmUp;
  bool Runs = true;
  for (unsigned I = 0; Runs && I < C.WarmUps; ++I)
    Runs = runTurn(WarmUp, "warm-up");
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

std::string wrongFigure(StringRef Pattern, bool HigherIsBetter) {
  std::string Wrong;
  Regex Figure(Pattern);
  if (!Pattern.empty() && !Figure.isValid(Wrong))
    return ("--figure: '" + Pattern + "' is no regular expression: " + Wrong).str();
  if (!Pattern.empty() && !Figure.getNumMatches())
    return ("--figure: '" + Pattern + "' has no group; put brackets around the number").str();
  if (HigherIsBetter && Pattern.empty())
    return "--higher-is-better is said of the number of --figure, which is missing";
  return "";
}

int runTurns(Comparison &C, const TurnLimits &Limits) {
  Comparing Run(C, Limits);
  Run.run();
  return Run.signalAsked();
}

void warnOfNoise(const Comparison &C) {
  std::optional<Noise> N = C.noise();
  if (!N || C.verdict() == ComparisonVerdict::TooFewPairs)
    return;
  std::string Text;
  raw_string_ostream(Text) << "the runs of " << SideNames[N->Of] << " differ much: their quartiles "
                           << format("%.0f %%", 100 * N->Distance)
                           << " of the median apart. Either the machine does other work, or the "
                              "command does not do the same each time: compare on an idle machine, "
                              "let a run take longer, or begin each from the same state (--setup)";
  message(Text, "compare-noisy");
}

} // namespace relock
