// SPDX-License-Identifier: MIT
//
// Runs the experiments of a paper, as published.json describes them, by relock-simulator or on this
// machine by relock-bench, one after the other.
#include "driver/Reproduce.h"

#include "bench/Published.h"
#include "driver/Benchmark.h"
#include "driver/MachineOption.h"
#include "driver/Subcommand.h"
#include "support/Messages.h"
#include "support/Output.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sched.h>

using namespace llvm;

namespace relock {

namespace {

const char *nameOf(PaperName Paper) {
  switch (Paper) {
  case PaperName::Lozi:
    return "lozi";
  case PaperName::Petrovic:
    return "petrovic";
  case PaperName::RamosHoefler:
    return "ramos-hoefler";
  case PaperName::Reble:
  case PaperName::None:
    break;
  }
  return "reble";
}

int64_t processorsHere() {
  cpu_set_t Set;
  return sched_getaffinity(0, sizeof Set, &Set) ? 1 : CPU_COUNT(&Set);
}

std::string nameHere() { return "this machine, " + counted(size_t(processorsHere()), "processor"); }

// While an experiment runs; what the user has set comes back.
class Tuned {
public:
  explicit Tuned(const std::string &Value) {
    if (const char *Set = getenv("RELOCK_TUNE"))
      Before = Set;
    if (Value.empty())
      unsetenv("RELOCK_TUNE");
    else
      setenv("RELOCK_TUNE", Value.c_str(), 1);
  }
  ~Tuned() {
    if (Before)
      setenv("RELOCK_TUNE", Before->c_str(), 1);
    else
      unsetenv("RELOCK_TUNE");
  }

private:
  std::optional<std::string> Before;
};

// On a terminal, on standard error.
void showProgress(const PublishedExperiment &E, const BenchResults &Results) {
  if (errs().is_displayed() && Results.Expected)
    errs() << "\r\033[Krelock: " << E.Name << ": " << Results.Received << " of " << Results.Expected
           << " cells";
}
void clearProgress() {
  if (errs().is_displayed())
    errs() << "\r\033[K";
}

// Of `relock-bench --barriers`: "16 threads, ns of …", and a line for each barrier, "  name ns …".
void readBarriers(StringRef Line, BenchResults &Results, int64_t &Threads) {
  SmallVector<StringRef> Words;
  SplitString(Line, Words);
  int64_t Number;
  double Ns;
  if (Words.size() > 1 && Words[1].starts_with("thread") && !Words[0].getAsInteger(10, Number)) {
    Threads = Number;
  } else if (Words.size() > 1 && !Words[1].getAsDouble(Ns) && Threads > 0) {
    Results.Rows.push_back({Words[0].str(), "barrier"});
    BenchSample Sample = {};
    Sample.Operations = double(Threads);
    Sample.Seconds = Ns * 1e-9;
    Results.Cells.push_back({Results.Rows.size() - 1, 0, 0, Threads, {Sample}});
    ++Results.Received;
  }
}

void readLines(BenchmarkRun &R, FILE *Output, const PublishedExperiment &E, bool IsText) {
  char *Line = nullptr;
  size_t Size = 0;
  int64_t Threads = 0;
  for (ssize_t Length; (Length = getline(&Line, &Size, Output)) > 0;) {
    const StringRef Text(Line, size_t(Length));
    if (IsText)
      readBarriers(Text, R.Results, Threads);
    else if (Error Wrong = R.Results.addLine(Text); Wrong && R.Broken.empty())
      R.Broken = toString(std::move(Wrong));
    else
      consumeError(std::move(Wrong));
    showProgress(E, R.Results);
  }
  free(Line);
  clearProgress();
  if (IsText)
    R.Results.Complete = R.Results.Received > 0;
}

class Paper {
public:
  Paper(const ReproduceOptions &Options)
      : Options(Options), Source(publishedSource(nameOf(Options.Paper))),
        IsHere(Options.Machine == "here") {}

  int prepare() {
    for (StringRef Name : split(Options.Experiments, ','))
      if (!Options.Experiments.empty() && !Source.find(Name))
        return failBenchmark(BadUsage,
                             "--experiment: there is no '" + Name + "'; the names are: " + names(),
                             "bench-refused");
    if (!Options.Machine.empty() && !IsHere && (File = findMachine(Options.Machine)).empty())
      return BadUsage;
    Program = findBenchmark(IsHere ? "relock-bench" : "relock-simulator");
    if (Program.empty())
      return failBenchmark(InternalError,
                           (IsHere ? "relock-bench" : "relock-simulator") +
                               Twine(" is not beside this command; build or install the runtime"),
                           "bench-runner");
    return checkBenchmarkFiles(Options.Json, "");
  }

  int run() {
    outs() << Source.Source << "\n";
    int Status = Done;
    for (const PublishedExperiment &E : Source.Experiments) {
      if (Status != Done || !isWanted(E.Name))
        continue;
      Status = std::max(Status, runOne(E));
    }
    printMissing(Source, outs());
    Status = std::max<int>(Status, flushOutput() ? Done : BadUsage);
    return std::max(Status, write());
  }

private:
  std::string names() const {
    std::string Names;
    for (const PublishedExperiment &E : Source.Experiments)
      Names += (Names.empty() ? "" : ", ") + E.Name;
    return Names;
  }
  bool isWanted(StringRef Name) const {
    return Options.Experiments.empty() || is_contained(split(Options.Experiments, ','), Name);
  }

  int runOne(const PublishedExperiment &E) {
    const PublishedExperiment &Base = E.Uses.empty() ? E : *Source.find(E.Uses);
    if (!Runs.count(Base.Name))
      if (int Status = measure(Base, Runs[Base.Name]))
        return Status;
    Reproduced New = reproduce(Source, E, Runs[Base.Name], IsHere);
    explainHere(Base, New);
    printReproduced(New, outs());
    outs().flush();
    All.push_back(std::move(New));
    return Done;
  }

  int measure(const PublishedExperiment &E, BenchResults &Results) {
    BenchmarkRun R;
    R.Program = Program;
    R.Words = IsHere ? wordsHere(E) : wordsSimulated(E);
    if (R.Words.empty()) { // there is nothing that this machine could do
      Results.Machine["name"] = nameHere();
      return Done;
    }
    const bool IsText = IsHere && E.isOfBarriers();
    const Tuned Setting(E.Tune);
    if (int Error = runBenchmark(R, [&](FILE *Output) { readLines(R, Output, E, IsText); }))
      return failBenchmarkFor(BadUsage, R.Program, Twine("cannot be started: ") + strerror(Error),
                              "bench-runner");
    Results = std::move(R.Results);
    if (IsHere)
      Results.Machine["name"] = nameHere();
    R.Results = Results;
    return reportEndOfBenchmark(R);
  }

  std::vector<std::string> wordsSimulated(const PublishedExperiment &E) const {
    std::vector<std::string> Words = {Program, "--machine=" +
                                                   (File.empty() ? findMachine(E.Machine) : File)};
    for (const auto &[Name, Value] : E.Run)
      Words.push_back("--" + Name + "=" + Value);
    return Words;
  }

  // A thread for each processor at most: what was published had that, too.
  std::string threadsHere(const PublishedExperiment &E) const {
    std::string Fitting;
    int64_t Number;
    for (StringRef Threads : split(E.Run.at("threads"), ','))
      if (!Threads.getAsInteger(10, Number) && Number <= processorsHere())
        Fitting += (Fitting.empty() ? "" : ",") + Threads.str();
    return Fitting;
  }

  // Empty: relock-bench has none of it, or too few processors.
  std::vector<std::string> wordsHere(const PublishedExperiment &E) const {
    if (E.isOfBarriers() && E.Rows[0].HereOf.empty())
      return {};
    if (E.isOfBarriers())
      return {Program, "--barriers",
              "--threads=" + std::to_string(std::min<int64_t>(16, processorsHere())), "-r9",
              "-m100"};
    const std::string Threads = threadsHere(E);
    if (Threads.empty() || !has(E, "lines") || E.Run.count("mode"))
      return {};
    return {Program,
            "--algorithm=" + E.Run.at("lock"),
            "--mode=hold,any-thread",
            "--threads=" + Threads,
            "--lines=" + E.Run.at("lines"),
            "--delay=" + E.Run.at("delay"),
            "--repetitions=3",
            "--milliseconds=200"};
  }
  static bool has(const PublishedExperiment &E, const char *Option) { return E.Run.count(Option); }

  // Why this machine has given no figure, where it is not what the run says.
  void explainHere(const PublishedExperiment &E, Reproduced &New) const {
    if (!IsHere)
      return;
    const bool HasProgram =
        E.isOfBarriers() ? !E.Rows[0].HereOf.empty() : has(E, "lines") && !E.Run.count("mode");
    for (ReproducedRow &Row : New.Rows)
      if (!Row.Obtained)
        Row.Why = !HasProgram
                      ? "relock-bench has no such experiment: simulated only"
                      : "this machine has " + counted(size_t(processorsHere()), "processor") +
                            ", or lacks what is measured";
  }

  int write() const {
    if (Options.Json.empty())
      return Done;
    if (Error E = writeAtomically(Options.Json,
                                  [&](raw_ostream &OS) { writeReproduced(Source, All, OS); }))
      return failBenchmarkFor(BadUsage, Options.Json,
                              "cannot be written: " + toString(std::move(E)), "bench-file");
    return Done;
  }

  const ReproduceOptions &Options;
  const PublishedSource Source;
  const bool IsHere;
  std::string File, Program;
  std::map<std::string, BenchResults> Runs;
  std::vector<Reproduced> All;
};

} // namespace

int reproducePaper(const ReproduceOptions &Options) {
  Paper P(Options);
  if (int Status = P.prepare())
    return Status;
  return P.run();
}

} // namespace relock
