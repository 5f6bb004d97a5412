// SPDX-License-Identifier: MIT
//
// relock compare: runs two commands in turns until it is known how much faster one of them is.
#include "driver/Subcommand.h"

#include "bench/Comparison.h"
#include "bench/ComparisonTable.h"
#include "driver/Options.h"
#include "driver/PlanOption.h"
#include "driver/Turns.h"
#include "support/Messages.h"
#include "support/Output.h"

#include "llvm/Support/Process.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace llvm;

namespace relock {

static cl::SubCommand Command("compare", "run two commands in turns and say how much faster the "
                                         "second one is; exit status 1 if it is slower");

static cl::opt<std::string>
    BeforeCommand("before", cl::Required, cl::value_desc("CMD"),
                  cl::desc("the command to compare with, run by /bin/sh; without "
                           "it where it is a path and plain words"),
                  cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> AfterCommand("after", cl::Required, cl::value_desc("CMD"),
                                         cl::desc("the command that may be faster or slower"),
                                         cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> Setup("setup", cl::value_desc("CMD"),
                                  cl::desc("run this before every run, not timed"),
                                  cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> Cleanup("cleanup", cl::value_desc("CMD"),
                                    cl::desc("run this after every run, not timed"),
                                    cl::sub(Command), cl::cat(options()));
static cl::opt<unsigned> WarmUps("warmup", cl::init(1), cl::value_desc("N"),
                                 cl::desc("turns at the beginning that do not count (default 1)"),
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
static cl::opt<unsigned>
    MaxRuns("max-runs", cl::init(1000), cl::value_desc("N"),
            cl::desc("at most so many runs of each (default 1000), and 6 or more"),
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
static cl::opt<std::string> PlanFile("plan", cl::value_desc("FILE"),
                                     cl::desc("show what this plan predicts, as --predicted"),
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
static cl::opt<std::string> Csv("csv", cl::value_desc("FILE"),
                                cl::desc("write them as comma-separated values, a line for each "
                                         "run"),
                                cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> Markdown("markdown", cl::value_desc("FILE"),
                                     cl::desc("write the table and what it says as Markdown"),
                                     cl::sub(Command), cl::cat(options()));

static const char *const MoreHelp = R"help(
EXAMPLES:

  relock compare --before ./server-old --after ./server-new
  relock compare --before "RELOCK_LOCKS='*=posix' ./load" --after ./load
  relock compare --before ./old --after ./new --figure 'latency: ([0-9.]+)'

EXIT STATUS:

  0  the second command is not slower, or that cannot be told
  1  the second command is slower for sure
  2  wrong usage, or a command that failed, took too long or printed no figure
  128 + N  interrupted by signal N (130: ^C), after what was measured is shown
)help";

namespace {

int fail(int Status, const Twine &Text, StringRef Code) {
  message(Text.str(), Code);
  return Status;
}

struct File {
  const cl::opt<std::string> *Name;
  void (*Write)(const Comparison &, raw_ostream &);
};
constexpr File Files[] = {
    {&Json, writeComparison}, {&Csv, writeComparedRuns}, {&Markdown, writeMarkdown}};

// What --predicted or the plan says. False: a message says what is wrong.
bool readPrediction(Comparison &C) {
  if (!PlanFile.empty()) {
    std::optional<Plan> Read = loadPlan(PlanFile);
    if (!Read)
      return false;
    if (Read->Predicted.empty()) {
      messageFor(PlanFile, "predicts nothing; `relock advise --machine here -o` on it does",
                 "compare-refused");
      return false;
    }
    C.Predicted = predictionOf(*Read);
  } else if (Predicted.empty()) {
    return true;
  } else {
    C.Predicted = parsePrediction(Predicted);
  }
  if (!C.Predicted)
    message((PlanFile.empty() ? "--predicted" : "'predicted' of " + PlanFile) +
                " must be a ratio above 0, or two of them: 1.9 or 1.5-2.2",
            "compare-refused");
  return C.Predicted.has_value();
}

// A comparison takes long: whatever can be refused is refused before it.
int readOptions(Comparison &C) {
  auto Refuse = [](const Twine &Text) { return fail(BadUsage, Text, "compare-refused"); };
  if (std::string Wrong = wrongFigure(Pattern, HigherIsBetter); !Wrong.empty())
    return Refuse(Wrong);
  if (!(Precision > 0))
    return Refuse("--precision must be above 0");
  if (!(Time >= 0) || !(RunTimeout >= 0))
    return Refuse("--time and --run-timeout must not be below 0");
  if (MaxRuns < pairsAtNextLook(0))
    return Refuse("--max-runs must be " + Twine(pairsAtNextLook(0)) +
                  " or more: fewer runs have no 95 % interval");
  if (!(Threshold >= 0 && Threshold < 100))
    return Refuse("--threshold must be 0 or more, and below 100");
  if (!readPrediction(C))
    return BadUsage;
  for (const File &F : Files)
    if (!F.Name->empty())
      if (Error E = checkWritable(*F.Name)) {
        messageFor(*F.Name, "cannot be written: " + toString(std::move(E)), "compare-file");
        return BadUsage;
      }
  C.Commands = {BeforeCommand, AfterCommand};
  C.Setup = Setup;
  C.Cleanup = Cleanup;
  C.WarmUps = WarmUps;
  C.Pattern = Pattern;
  C.HigherIsBetter = HigherIsBetter;
  C.Precision = Precision / 100;
  C.Threshold = Threshold / 100;
  return Done;
}

} // namespace

namespace {

int writeFiles(const Comparison &C) {
  int Status = Done;
  for (const File &F : Files) {
    if (F.Name->empty() || C.Turns.empty())
      continue;
    if (Error E = writeAtomically(*F.Name, [&](raw_ostream &OS) { F.Write(C, OS); })) {
      messageFor(*F.Name, "cannot be written: " + toString(std::move(E)), "compare-file");
      Status = BadUsage;
    }
  }
  return Status;
}

int statusOf(const Comparison &C, int Asked) {
  if (C.Ended == EndOfComparison::Interrupted)
    return fail(128 + Asked, "interrupted; complete turns: " + Twine(C.Turns.size()),
                "compare-interrupted");
  if (C.Ended == EndOfComparison::Failed)
    return BadUsage;
  return C.verdict() == ComparisonVerdict::Slower ? LookAtThis : Done;
}

int run() {
  sys::Process::FixupStandardFileDescriptors();
  Comparison C;
  if (int Status = readOptions(C))
    return Status;
  C.Machine = describeMachine();
  printComparedMachine(C, outs());
  outs().flush();
  TurnLimits Limits;
  Limits.Seconds = Time;
  Limits.MaxRuns = MaxRuns;
  Limits.RunTimeout = RunTimeout;
  Limits.IgnoreFailure = IgnoreFailure;
  Limits.ShowOutput = ShowOutput;
  int Asked = runTurns(C, Limits);
  if (!C.Turns.empty())
    printComparison(C, outs());
  int Output = flushOutput() ? Done : BadUsage;
  warnOfNoise(C);
  return std::max({statusOf(C, Asked), Output, writeFiles(C)});
}

} // namespace

Subcommand compareSubcommand() { return {Command, run, MoreHelp}; }

} // namespace relock
