// SPDX-License-Identifier: MIT
//
// relock bench: runs the runtime's microbenchmark and shows its results as tables, a file, plots.
#include "driver/Subcommand.h"

#include "bench/Compare.h"
#include "driver/Benchmark.h"
#include "driver/Options.h"
#include "driver/Reproduce.h"
#include "support/Messages.h"
#include "support/Output.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cstring>

using namespace llvm;

namespace relock {

static cl::SubCommand Command("bench",
                              "measure every lock algorithm on this machine, side by side");

// Options for relock-bench, which knows what is right for them and what their defaults are.
static cl::opt<std::string> Algorithm("algorithm", cl::value_desc("A,B"),
                                      cl::desc("locks to measure (default: all, the C library's "
                                               "mutexes and one fetch-and-add)"),
                                      cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> Mode("mode", cl::value_desc("A,B"),
                                 cl::desc("of hold, execute, any-thread (default: all)"),
                                 cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> Threads("threads", cl::value_desc("N,N"),
                                    cl::desc("numbers of threads (default 1,2,4,8,32)"),
                                    cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> Lines("lines", cl::value_desc("N,N"),
                                  cl::desc("shared cache lines per section (default 1,5)"),
                                  cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> Delay("delay", cl::value_desc("N,N"),
                                  cl::desc("cycles between sections (default "
                                           "100,1000,10000,100000)"),
                                  cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> Lengths("lengths", cl::value_desc("N,N"),
                                    cl::desc("cycles in the sections of the threads, in turn"),
                                    cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> Repetitions("r", cl::value_desc("N"),
                                        cl::desc("repetitions of each cell (default 5)"),
                                        cl::Prefix, cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> Milliseconds("m", cl::value_desc("N"),
                                         cl::desc("milliseconds per repetition (default 200)"),
                                         cl::Prefix, cl::sub(Command), cl::cat(options()));
static cl::opt<bool> NoPin("no-pin", cl::desc("let the kernel place the threads"), cl::sub(Command),
                           cl::cat(options()));
static cl::opt<bool> Uncontended("uncontended",
                                 cl::desc("measure one thread with empty sections instead"),
                                 cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> Other("other", cl::value_desc("FILE.so"),
                                  cl::desc("measure the locks of a shared object too "
                                           "(runtime/bench/other.h)"),
                                  cl::sub(Command), cl::cat(options()));

static cl::opt<std::string> Baseline("baseline", cl::value_desc("LOCK[:MODE]"),
                                     cl::desc("show ratios to this row, paired by repetition (9 "
                                              "of each cell, unless -r says how many)"),
                                     cl::sub(Command), cl::cat(options()));

static cl::opt<std::string> Runner("runner", cl::value_desc("PATH"),
                                   cl::desc("the benchmark program (default: relock-bench beside "
                                            "this command)"),
                                   cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> Json("json", cl::value_desc("FILE"),
                                 cl::desc("write the results as JSON too (tool/doc/formats.md)"),
                                 cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> Svg("svg", cl::value_desc("DIR"),
                                cl::desc("plot throughput into this folder, an SVG file for each "
                                         "combination of lines and delay; with --baseline, the "
                                         "ratios too"),
                                cl::sub(Command), cl::cat(options()));

static cl::opt<std::string> Compare("compare", cl::value_desc("FILE"),
                                    cl::desc("compare with an earlier file of --json; exit status "
                                             "1 if something is slower"),
                                    cl::sub(Command), cl::cat(options()));

static cl::opt<PaperName> Reproduce(
    "reproduce",
    cl::desc("run the experiments of a paper instead, on a simulated machine, and show published "
             "figures beside those obtained"),
    cl::values(clEnumValN(PaperName::Lozi, "lozi", "remote core locking (2014)"),
               clEnumValN(PaperName::Petrovic, "petrovic", "messages, combining, servers (2016)"),
               clEnumValN(PaperName::RamosHoefler, "ramos-hoefler", "cache lines, barriers (2016)"),
               clEnumValN(PaperName::Reble, "reble", "many cores without coherence (2015)")),
    cl::value_desc("PAPER"), cl::init(PaperName::None), cl::sub(Command), cl::cat(options()));
static NamedValuesOf Papers(Reproduce);
static cl::opt<std::string> Experiments("experiment", cl::value_desc("A,B"),
                                        cl::desc("with --reproduce, only these of the paper's "
                                                 "(default: all)"),
                                        cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> Machine("machine", cl::value_desc("here|NAME|FILE"),
                                    cl::desc("with --reproduce, 'here' for this machine itself, or "
                                             "a simulated one (default: the published ones)"),
                                    cl::sub(Command), cl::cat(options()));

static const char *const MoreHelp = R"help(
EXAMPLES:

  relock bench --threads 2,8 --lines 1 --delay 100,1000 --json before.json
  relock bench --compare before.json --algorithm adaptive,pthread
  relock bench --reproduce lozi --experiment many

EXIT STATUS:

  0  measured; nothing is slower than in the file of --compare; with --reproduce,
     whatever the errors are
  1  something is slower, or the run was interrupted
  2  wrong usage, or a file that cannot be read or written
  3  a lock failed, or relock-bench (relock-simulator) is not installed
)help";

namespace {

std::vector<std::string> arguments(StringRef Program) {
  std::vector<std::string> Words = {Program.str()};
  const std::pair<const char *, const cl::opt<std::string> *> Passed[] = {
      {"--algorithm", &Algorithm},
      {"--mode", &Mode},
      {"--threads", &Threads},
      {"--lines", &Lines},
      {"--delay", &Delay},
      {"--lengths", &Lengths},
      {"--repetitions", &Repetitions},
      {"--milliseconds", &Milliseconds},
      {"--other", &Other},
      {"--baseline", &Baseline}};
  for (auto [Name, Option] : Passed)
    if (Option->getNumOccurrences())
      Words.push_back(std::string(Name) + "=" + Option->getValue());
  if (NoPin)
    Words.push_back("--no-pin");
  if (Uncontended)
    Words.push_back("--uncontended");
  return Words;
}

struct Run : BenchmarkRun {
  std::optional<BenchSummary> Earlier;
};

int compare(const Run &R) {
  if (!R.Earlier || !R.Results.Received)
    return Done;
  BenchChanges Changes = compareBench(R.Results, *R.Earlier, outs());
  if (R.Earlier->model() != R.Results.Machine.getString("model").value_or(""))
    messageFor(Compare, "was measured on another machine (" + R.Earlier->model().str() + ")",
               "bench-machine");
  std::string Text = std::to_string(Changes.Compared) +
                     " cells compared with it: " + std::to_string(Changes.Slower) + " slower, " +
                     std::to_string(Changes.Faster) + " faster; the others show no difference";
  if (Changes.Moved)
    Text += "; " + std::to_string(Changes.Moved) +
            " not compared, since two processors were not as far apart";
  return failBenchmarkFor(Changes.Slower ? LookAtThis : Done, Compare, Text, "bench-compared");
}

// A run takes long: whatever can be refused is refused before it.
int prepare(Run &R) {
  R.Program = Runner.empty() ? findBenchmark() : Runner.getValue();
  if (R.Program.empty())
    return failBenchmark(
        InternalError,
        "relock-bench is not beside this command; build or install the runtime, or say "
        "where it is with --runner",
        "bench-runner");
  if (sys::fs::is_directory(R.Program) || !sys::fs::can_execute(R.Program))
    return failBenchmarkFor(BadUsage, R.Program, "cannot be executed; is it relock-bench?",
                            "bench-runner");
  if (!Svg.empty() && Uncontended)
    return failBenchmark(BadUsage, "--svg plots throughput, which --uncontended does not measure",
                         "bench-refused");
  if (!Compare.empty()) {
    Expected<BenchSummary> Summary = BenchSummary::read(Compare);
    if (!Summary)
      return failBenchmarkFor(BadUsage, Compare, toString(Summary.takeError()), "bench-compare");
    R.Earlier = std::move(*Summary);
  }
  return checkBenchmarkFiles(Json, Svg);
}

int reproduce() {
  const std::pair<StringRef, unsigned> Given[] = {
      {"--uncontended", Uncontended.getNumOccurrences()},
      {"--no-pin", NoPin.getNumOccurrences()},
      {"--compare", Compare.getNumOccurrences()},
      {"--svg", Svg.getNumOccurrences()},
      {"--runner", Runner.getNumOccurrences()}};
  bool Others = arguments("").size() > 1;
  for (auto [Name, Count] : Given)
    Others |= Count > 0;
  if (Others)
    return failBenchmark(BadUsage,
                         "--reproduce goes with --experiment, --machine and --json only; the paper "
                         "says the rest",
                         "bench-refused");
  return reproducePaper({Reproduce, Experiments, Machine, Json});
}

int run() {
  if (Reproduce != PaperName::None)
    return reproduce();
  if (Experiments.getNumOccurrences() || Machine.getNumOccurrences())
    return failBenchmark(BadUsage, "--experiment and --machine go with --reproduce",
                         "bench-refused");
  Run R;
  if (int Status = prepare(R))
    return Status;
  R.Words = arguments(R.Program);
  if (int Error = runBenchmark(R))
    return failBenchmarkFor(BadUsage, R.Program, Twine("cannot be started: ") + strerror(Error),
                            "bench-runner");
  int Status = compare(R);
  const bool Shown = flushOutput();
  Status = std::max({Status, reportEndOfBenchmark(R), int(Shown ? Done : BadUsage)});
  return std::max(Status, writeBenchmarkFiles(R.Results, Json, Svg));
}

} // namespace

Subcommand benchSubcommand() { return {Command, run, MoreHelp}; }

} // namespace relock
