// SPDX-License-Identifier: MIT
//
// relock bench: runs the runtime's microbenchmark and shows its results as tables, a file, plots.
#include "driver/Subcommand.h"

#include "bench/Compare.h"
#include "bench/Plot.h"
#include "bench/Results.h"
#include "bench/Table.h"
#include "driver/Benchmark.h"
#include "driver/Options.h"
#include "support/Messages.h"
#include "support/Output.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

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
                                        cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> Milliseconds("m", cl::value_desc("N"),
                                         cl::desc("milliseconds per repetition (default 200)"),
                                         cl::sub(Command), cl::cat(options()));
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

namespace {

volatile sig_atomic_t Child = 0, Asked = 0;

// Whoever ends us ends the benchmark; we go on to show what it has measured so far.
void forward(int Signal) {
  Asked = Signal;
  if (Child > 0)
    kill(Child, Signal);
}

void forwardSignals() {
  for (int Signal : {SIGINT, SIGTERM, SIGHUP})
    if (signal(Signal, forward) == SIG_IGN)
      signal(Signal, SIG_IGN);
}

int fail(int Status, const Twine &Text, StringRef Code) {
  message(Text.str(), Code);
  return Status;
}
int failFor(int Status, StringRef File, const Twine &Text, StringRef Code) {
  messageFor(File, Text.str(), Code);
  return Status;
}

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

// On a terminal, on standard error: how far the run is and how long it will take.
class Progress {
public:
  void show(const BenchResults &Results) {
    auto Now = std::chrono::steady_clock::now();
    if (!Terminal || !Results.Received || Now - Shown < std::chrono::milliseconds(200))
      return;
    Shown = Now;
    double Elapsed = std::chrono::duration<double>(Now - Start).count();
    double Left = Elapsed / double(Results.Received) *
                  double(Results.Expected - std::min(Results.Received, Results.Expected));
    errs() << "\r\033[K" << Results.Received << " of " << Results.Expected << " measured, ";
    if (Left < 90)
      errs() << uint64_t(Left + 0.5) << " s left";
    else
      errs() << uint64_t(Left / 60 + 0.5) << " min left";
  }
  void clear() {
    if (Terminal && Shown != std::chrono::steady_clock::time_point())
      errs() << "\r\033[K";
  }

private:
  const bool Terminal = isatty(2);
  const std::chrono::steady_clock::time_point Start = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point Shown;
};

struct Run {
  std::string Program;
  BenchResults Results;
  std::string Errors; // what the program wrote to standard error
  std::string Broken; // what is wrong with its output
  int Status = 0;
  size_t PointsShown = 0;
  std::optional<BenchSummary> Earlier;
};

// A point is shown as soon as the next one begins.
void showPoints(Run &R, size_t Count, Progress &P) {
  std::vector<BenchPoint> Points = R.Results.points();
  for (; R.PointsShown < std::min(Count, Points.size()); ++R.PointsShown) {
    P.clear();
    printBenchPoint(R.Results, Points[R.PointsShown], outs());
    outs().flush();
  }
}

void readResults(Run &R, FILE *Output) {
  Progress P;
  char *Line = nullptr;
  size_t Size = 0;
  ssize_t Length;
  while ((Length = getline(&Line, &Size, Output)) > 0) {
    bool First = R.Results.Machine.empty();
    if (Error E = R.Results.addLine(StringRef(Line, size_t(Length)))) {
      R.Broken = toString(std::move(E));
      kill(Child, SIGKILL);
      break;
    }
    if (First)
      printBenchMachine(R.Results, outs());
    if (size_t Points = R.Results.points().size())
      showPoints(R, Points - 1, P);
    P.show(R.Results);
  }
  free(Line);
  showPoints(R, SIZE_MAX, P);
  if (!R.Results.Uncontended.empty())
    printBenchUncontended(R.Results, outs());
  P.clear();
}

std::string readAll(int File) {
  std::string Text;
  char Buffer[4096];
  lseek(File, 0, SEEK_SET);
  for (ssize_t Length; (Length = read(File, Buffer, sizeof Buffer)) > 0;)
    Text.append(Buffer, size_t(Length));
  return Text;
}

// Returns the error number if the program cannot be started.
int runProgram(Run &R) {
  int Pipe[2], Errors = memfd_create("relock-bench", MFD_CLOEXEC);
  if (Errors < 0 || pipe2(Pipe, O_CLOEXEC))
    return errno;
  auto CloseErrors = make_scope_exit([&] { close(Errors); });
  std::vector<std::string> Words = arguments(R.Program);
  std::vector<char *> Pointers;
  for (std::string &Word : Words)
    Pointers.push_back(Word.data());
  Pointers.push_back(nullptr);
  posix_spawn_file_actions_t Actions;
  posix_spawn_file_actions_init(&Actions);
  posix_spawn_file_actions_adddup2(&Actions, Pipe[1], 1);
  posix_spawn_file_actions_adddup2(&Actions, Errors, 2);
  forwardSignals();
  pid_t Pid = 0;
  int Error = posix_spawn(&Pid, R.Program.c_str(), &Actions, nullptr, Pointers.data(), environ);
  posix_spawn_file_actions_destroy(&Actions);
  close(Pipe[1]);
  if (Error) {
    close(Pipe[0]);
    return Error;
  }
  Child = Pid;
  if (Asked) // it came between
    kill(Pid, Asked);
  FILE *Output = fdopen(Pipe[0], "r");
  readResults(R, Output);
  fclose(Output);
  while (waitpid(Pid, &R.Status, 0) < 0 && errno == EINTR)
    ;
  Child = 0;
  R.Errors = readAll(Errors);
  return 0;
}

// The program's own messages, as ours.
void repeatErrors(const Run &R, StringRef Code) {
  StringRef Rest = R.Errors;
  while (!Rest.empty()) {
    auto [Line, After] = Rest.split('\n');
    Rest = After;
    if (Line.consume_front("relock-bench: "))
      message(Line, Code);
    else
      errs() << Line << "\n";
  }
}

int reportEnd(const Run &R) {
  if (!R.Broken.empty())
    return failFor(InternalError, R.Program, "printed what is no result: " + R.Broken,
                   "bench-output");
  if (WIFSIGNALED(R.Status)) {
    repeatErrors(R, "bench-died");
    int Signal = WTERMSIG(R.Status);
    std::string Text = (R.Results.Received ? "the results above are" : "there is nothing but") +
                       (" what was measured before: " + std::to_string(R.Results.Received) +
                        " of " + std::to_string(R.Results.Expected) + " repetitions");
    if (Signal == Asked)
      return fail(LookAtThis, "interrupted; " + Text, "bench-interrupted");
    return failFor(InternalError, R.Program,
                   "died of signal " + Twine(Signal) + " (" + strsignal(Signal) + "); " + Text,
                   "bench-died");
  }
  int Status = WEXITSTATUS(R.Status);
  repeatErrors(R, Status == 2 ? "bench-refused" : Status == 3 ? "bench-wrong" : "bench-died");
  if (Status == 2 || Status == 3)
    return R.Errors.empty() ? failFor(Status, R.Program, "ended with status " + Twine(Status),
                                      Status == 2 ? "bench-refused" : "bench-wrong")
                            : Status;
  if (Status || !R.Results.Complete)
    return failFor(InternalError, R.Program,
                   "ended with status " + Twine(Status) + " after " + Twine(R.Results.Received) +
                       " of " + Twine(R.Results.Expected) + " repetitions",
                   "bench-died");
  return Done;
}

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
  return failFor(Changes.Slower ? LookAtThis : Done, Compare, Text, "bench-compared");
}

std::string plotFile(StringRef Quantity, const BenchPoint &Point) {
  SmallString<256> File(Svg);
  sys::path::append(File,
                    Quantity + "-k" + Twine(Point.Lines) + "-d" + Twine(Point.Delay) + ".svg");
  return File.str().str();
}

int writeFile(StringRef File, function_ref<void(raw_ostream &)> Write) {
  if (Error E = writeAtomically(File, Write))
    return failFor(BadUsage, File, "cannot be written: " + toString(std::move(E)), "bench-file");
  return Done;
}

int writeFiles(const BenchResults &Results) {
  int Status = Done;
  if (!Results.Received)
    return Done;
  if (!Json.empty())
    Status = writeFile(Json, [&](raw_ostream &OS) { writeBench(Results, OS); });
  if (Svg.empty())
    return Status;
  for (const BenchPoint &Point : Results.points()) {
    Status = std::max(Status, writeFile(plotFile("throughput", Point), [&](raw_ostream &OS) {
                        plotThroughput(Results, Point, OS);
                      }));
    if (Results.baseline())
      Status = std::max(Status, writeFile(plotFile("ratio", Point),
                                          [&](raw_ostream &OS) { plotRatio(Results, Point, OS); }));
  }
  return Status;
}

// A run takes long: whatever can be refused is refused before it.
int prepare(Run &R) {
  R.Program = Runner.empty() ? findBenchmark() : Runner.getValue();
  if (R.Program.empty())
    return fail(InternalError,
                "relock-bench is not beside this command; build or install the runtime, or say "
                "where it is with --runner",
                "bench-runner");
  if (sys::fs::is_directory(R.Program) || !sys::fs::can_execute(R.Program))
    return failFor(BadUsage, R.Program, "cannot be executed; is it relock-bench?", "bench-runner");
  if (!Svg.empty() && Uncontended)
    return fail(BadUsage, "--svg plots throughput, which --uncontended does not measure",
                "bench-refused");
  if (!Compare.empty()) {
    Expected<BenchSummary> Summary = BenchSummary::read(Compare);
    if (!Summary)
      return failFor(BadUsage, Compare, toString(Summary.takeError()), "bench-compare");
    R.Earlier = std::move(*Summary);
  }
  if (!Json.empty())
    if (Error E = checkWritable(Json))
      return failFor(BadUsage, Json, "cannot be written: " + toString(std::move(E)), "bench-file");
  if (Svg.empty())
    return Done;
  if (std::error_code Error = sys::fs::create_directories(Svg))
    return failFor(BadUsage, Svg, "cannot be made a folder: " + Error.message(), "bench-file");
  if (Error E = checkWritable(plotFile("throughput", {0, 0})))
    return failFor(BadUsage, Svg, "cannot be written into: " + toString(std::move(E)),
                   "bench-file");
  return Done;
}

int run() {
  Run R;
  if (int Status = prepare(R))
    return Status;
  if (int Error = runProgram(R))
    return failFor(BadUsage, R.Program, Twine("cannot be started: ") + strerror(Error),
                   "bench-runner");
  int Status = compare(R);
  outs().flush();
  Status = std::max(Status, reportEnd(R));
  if (outs().has_error()) {
    std::error_code Error = outs().error();
    outs().clear_error();
    Status = std::max(
        Status, fail(BadUsage, "standard output cannot be written: " + Error.message(), "output"));
  }
  return std::max(Status, writeFiles(R.Results));
}

} // namespace

Subcommand benchSubcommand() { return {Command, run}; }

} // namespace relock
