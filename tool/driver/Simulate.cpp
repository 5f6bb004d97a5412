// SPDX-License-Identifier: MIT
//
// relock simulate: runs the microbenchmark on a simulated machine and shows its results as tables,
// a file, plots.
#include "driver/Subcommand.h"

#include "driver/Benchmark.h"
#include "driver/MachineOption.h"
#include "driver/Options.h"
#include "profile/Symbolize.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>

using namespace llvm;

namespace relock {

static cl::SubCommand Command("simulate",
                              "measure lock algorithms on a machine that is not at hand");

static cl::opt<std::string> Machine("machine", cl::value_desc("NAME|FILE"),
                                    cl::desc("which one; without, those that there are are listed"),
                                    cl::sub(Command), cl::cat(options()));
// Options for relock-simulator, which knows what is right for them and what their defaults are.
static cl::opt<std::string> Lock("lock", cl::value_desc("A,B"),
                                 cl::desc("algorithms (default: all)"), cl::sub(Command),
                                 cl::cat(options()));
static cl::opt<std::string>
    Mode("mode", cl::value_desc("A,B"),
         cl::desc("of hold, execute, any-thread (default: any-thread of "
                  "algorithms that combine or delegate, hold of others), or "
                  "of counter, stack, queue and queue-2: containers; or bare: published "
                  "algorithms without a mutex around them; or broadcast: of --lines "
                  "through the buffers of scc-48"),
         cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> Threads("threads", cl::value_desc("N,N-M"),
                                    cl::desc("numbers of threads; 1-47: doubling, and the last "
                                             "(default: one less than processors)"),
                                    cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> Lines("lines", cl::value_desc("N,N"),
                                  cl::desc("shared cache lines per section (default 5)"),
                                  cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> Delay("delay", cl::value_desc("N,N"),
                                  cl::desc("cycles between sections (default 100)"),
                                  cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> Microseconds("microseconds", cl::value_desc("N"),
                                         cl::desc("simulated time for each point (default 1000, "
                                                  "or 20 delays)"),
                                         cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> Sections("sections", cl::value_desc("N"),
                                     cl::desc("so many of each thread instead, however long that "
                                              "takes"),
                                     cl::sub(Command), cl::cat(options()));
static cl::opt<bool> Explain("explain",
                             cl::desc("show the places in the runtime's code where threads wait "
                                      "for cache lines"),
                             cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> Jobs("j", cl::value_desc("N"),
                                 cl::desc("points at a time (default: one per processor)"),
                                 cl::Prefix, cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> Json("json", cl::value_desc("FILE"),
                                 cl::desc("write the results as JSON too (tool/doc/formats.md)"),
                                 cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> Svg("svg", cl::value_desc("DIR"),
                                cl::desc("plot throughput into this folder, an SVG file for each "
                                         "combination of lines and delay"),
                                cl::sub(Command), cl::cat(options()));

static const char *const MoreHelp = R"help(
EXAMPLES:

  relock simulate --machine magnycours-48 --lock adaptive,posix --threads 1-47
  relock simulate --machine sapphire-16 --lock adaptive --explain

EXIT STATUS:

  0  simulated
  1  the run was interrupted
  2  wrong usage, no machine (those that there are are listed), or a file that
     cannot be written
  3  a lock failed, or relock-simulator is not installed
)help";

namespace {

std::vector<std::string> arguments(StringRef Program, StringRef File) {
  std::vector<std::string> Words = {Program.str(), "--machine=" + File.str()};
  const std::pair<const char *, const cl::opt<std::string> *> Passed[] = {
      {"--lock", &Lock},        {"--mode", &Mode},   {"--threads", &Threads},
      {"--lines", &Lines},      {"--delay", &Delay}, {"--microseconds", &Microseconds},
      {"--sections", &Sections}};
  for (auto [Name, Option] : Passed)
    if (Option->getNumOccurrences())
      Words.push_back(std::string(Name) + "=" + Option->getValue());
  if (Explain)
    Words.push_back("--explain");
  if (Jobs.getNumOccurrences())
    Words.push_back("-j" + Jobs);
  return Words;
}

// The function and those that it was inlined into, the last of which is a function of the program.
std::string placeName(Symbolizer &Symbols, StringRef Program, uint64_t Address) {
  std::string Name;
  for (const CodePlace &At : Symbols.code(Program, Address)) {
    Name += (Name.empty() ? "" : ", in ") + (At.Function.empty() ? "?" : At.Function);
    if (!At.File.empty())
      Name += (" (" + sys::path::filename(At.File) + ":" + Twine(At.Line) + ")").str();
  }
  return Name.empty() ? "?" : Name;
}

void printPlaces(const BenchResults &Results, StringRef Program) {
  Symbolizer Symbols;
  for (const BenchCell &Cell : Results.Cells) {
    const double Sections = Cell.Samples.empty() ? 0 : Cell.Samples.back().Operations;
    if (Sections == 0)
      continue;
    outs() << "\nwhere threads wait for cache lines, per section: " << Results.Rows[Cell.Row].name()
           << ", " << Cell.Lines << " lines, " << Cell.Delay << " cycles, T=" << Cell.Threads
           << "\n misses  cycles  place\n";
    for (const BenchPlace &Place : Cell.Places)
      outs() << format("%7.2f %7.0f  ", Place.Misses / Sections, Place.Cycles / Sections)
             << placeName(Symbols, Program, Place.Address) << "\n";
  }
}

int run() {
  BenchmarkRun R;
  if (Machine.empty()) {
    listMachines("simulate");
    return BadUsage;
  }
  const std::string File = findMachine(Machine);
  if (File.empty())
    return BadUsage;
  R.Program = findBenchmark("relock-simulator");
  if (R.Program.empty())
    return failBenchmark(InternalError,
                         "relock-simulator is not beside this command; it is built with the "
                         "runtime, on x86-64",
                         "bench-runner");
  if (int Status = checkBenchmarkFiles(Json, Svg))
    return Status;
  R.Words = arguments(R.Program, File);
  if (int Error = runBenchmark(R))
    return failBenchmarkFor(BadUsage, R.Program, Twine("cannot be started: ") + strerror(Error),
                            "bench-runner");
  if (Explain)
    printPlaces(R.Results, R.Program);
  outs().flush();
  const int Status = reportEndOfBenchmark(R);
  return std::max(Status, writeBenchmarkFiles(R.Results, Json, Svg));
}

} // namespace

Subcommand simulateSubcommand() { return {Command, run, MoreHelp}; }

} // namespace relock
