// SPDX-License-Identifier: MIT
#include "driver/Benchmark.h"

#include "bench/Plot.h"
#include "bench/Table.h"
#include "driver/Subcommand.h"
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

namespace {

volatile sig_atomic_t Child = 0, Asked = 0;

// Whoever ends us ends the benchmark; we go on to show what it has measured so far.
void forward(int Signal) {
  Asked = Signal;
  if (Child > 0)
    kill(Child, Signal);
}

// As long as it lives. What the caller ignores stays ignored.
class ForwardedSignals {
public:
  ForwardedSignals() {
    struct sigaction Action = {};
    Action.sa_handler = forward;
    Action.sa_flags = SA_RESTART;
    for (auto &[Signal, Before] : Actions) {
      sigaction(Signal, nullptr, &Before);
      if (Before.sa_handler != SIG_IGN)
        sigaction(Signal, &Action, nullptr);
    }
  }
  ~ForwardedSignals() {
    for (const auto &[Signal, Before] : Actions)
      sigaction(Signal, &Before, nullptr);
  }

private:
  std::pair<int, struct sigaction> Actions[3] = {{SIGINT, {}}, {SIGTERM, {}}, {SIGHUP, {}}};
};

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

// A point is shown as soon as the next one begins.
void showPoints(BenchmarkRun &R, size_t Count, Progress &P) {
  std::vector<BenchPoint> Points = R.Results.points();
  for (; R.PointsShown < std::min(Count, Points.size()); ++R.PointsShown) {
    P.clear();
    printBenchPoint(R.Results, Points[R.PointsShown], outs());
    outs().flush();
  }
}

void readResults(BenchmarkRun &R, FILE *Output) {
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

std::string plotFile(StringRef Svg, StringRef Quantity, const BenchPoint &Point) {
  SmallString<256> File(Svg);
  sys::path::append(File,
                    Quantity + "-k" + Twine(Point.Lines) + "-d" + Twine(Point.Delay) + ".svg");
  return File.str().str();
}

int writeFile(StringRef File, function_ref<void(raw_ostream &)> Write) {
  if (Error E = writeAtomically(File, Write))
    return failBenchmarkFor(BadUsage, File, "cannot be written: " + toString(std::move(E)),
                            "bench-file");
  return Done;
}

} // namespace

void repeatErrors(const BenchmarkRun &R, StringRef Code) {
  StringRef Rest = R.Errors;
  while (!Rest.empty()) {
    auto [Line, After] = Rest.split('\n');
    Rest = After;
    if (Line.consume_front("relock-bench: ") || Line.consume_front("relock-simulator: "))
      message(Line, Code);
    else
      errs() << Line << "\n";
  }
}

int failBenchmark(int Status, const Twine &Text, StringRef Code) {
  message(Text.str(), Code);
  return Status;
}
int failBenchmarkFor(int Status, StringRef File, const Twine &Text, StringRef Code) {
  messageFor(File, Text.str(), Code);
  return Status;
}

std::string findBenchmark(StringRef Name) {
  std::string Executable =
      sys::fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&findBenchmark));
  for (StringRef Folder : {"", "../libexec/relock"}) {
    SmallString<256> Path(sys::path::parent_path(Executable));
    sys::path::append(Path, Folder, Name);
    if (sys::fs::can_execute(Path))
      return Path.str().str();
  }
  return "";
}

int runBenchmark(BenchmarkRun &R) {
  return runBenchmark(R, [&](FILE *Output) { readResults(R, Output); });
}

int runBenchmark(BenchmarkRun &R, function_ref<void(FILE *)> Read) {
  int Pipe[2], Errors = memfd_create("relock-errors", MFD_CLOEXEC);
  if (Errors < 0 || pipe2(Pipe, O_CLOEXEC))
    return errno;
  auto CloseErrors = make_scope_exit([&] { close(Errors); });
  std::vector<char *> Pointers;
  for (std::string &Word : R.Words)
    Pointers.push_back(Word.data());
  Pointers.push_back(nullptr);
  posix_spawn_file_actions_t Actions;
  posix_spawn_file_actions_init(&Actions);
  posix_spawn_file_actions_adddup2(&Actions, Pipe[1], 1);
  posix_spawn_file_actions_adddup2(&Actions, Errors, 2);
  ForwardedSignals Forwarded;
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
  Read(Output);
  fclose(Output);
  while (waitpid(Pid, &R.Status, 0) < 0 && errno == EINTR)
    ;
  Child = 0;
  R.Asked = Asked;
  R.Errors = readAll(Errors);
  return 0;
}

int reportEndOfBenchmark(const BenchmarkRun &R) {
  if (!R.Broken.empty())
    return failBenchmarkFor(InternalError, R.Program, "printed what is no result: " + R.Broken,
                            "bench-output");
  if (WIFSIGNALED(R.Status)) {
    repeatErrors(R, "bench-died");
    int Signal = WTERMSIG(R.Status);
    std::string Text = (R.Results.Received ? "the results above are" : "there is nothing but") +
                       (" what was measured before: " + std::to_string(R.Results.Received) +
                        " of " + std::to_string(R.Results.Expected) + " repetitions");
    if (Signal == Asked)
      return failBenchmark(LookAtThis, "interrupted; " + Text, "bench-interrupted");
    return failBenchmarkFor(
        InternalError, R.Program,
        "died of signal " + Twine(Signal) + " (" + strsignal(Signal) + "); " + Text, "bench-died");
  }
  int Status = WEXITSTATUS(R.Status);
  repeatErrors(R, Status == 2 ? "bench-refused" : Status == 3 ? "bench-wrong" : "bench-died");
  if (Status == 2 || Status == 3)
    return R.Errors.empty()
               ? failBenchmarkFor(Status, R.Program, "ended with status " + Twine(Status),
                                  Status == 2 ? "bench-refused" : "bench-wrong")
               : Status;
  if (Status || !R.Results.Complete)
    return failBenchmarkFor(InternalError, R.Program,
                            "ended with status " + Twine(Status) + " after " +
                                Twine(R.Results.Received) + " of " + Twine(R.Results.Expected) +
                                " repetitions",
                            "bench-died");
  return Done;
}

int writeBenchmarkFiles(const BenchResults &Results, StringRef Json, StringRef Svg) {
  int Status = Done;
  if (!Results.Received)
    return Done;
  if (!Json.empty())
    Status = writeFile(Json, [&](raw_ostream &OS) { writeBench(Results, OS); });
  if (Svg.empty())
    return Status;
  for (const BenchPoint &Point : Results.points()) {
    Status = std::max(Status, writeFile(plotFile(Svg, "throughput", Point), [&](raw_ostream &OS) {
                        plotThroughput(Results, Point, OS);
                      }));
    if (Results.baseline())
      Status = std::max(Status, writeFile(plotFile(Svg, "ratio", Point),
                                          [&](raw_ostream &OS) { plotRatio(Results, Point, OS); }));
  }
  return Status;
}

int checkBenchmarkFiles(StringRef Json, StringRef Svg) {
  if (!Json.empty())
    if (Error E = checkWritable(Json))
      return failBenchmarkFor(BadUsage, Json, "cannot be written: " + toString(std::move(E)),
                              "bench-file");
  if (Svg.empty())
    return Done;
  if (std::error_code Error = sys::fs::create_directories(Svg))
    return failBenchmarkFor(BadUsage, Svg, "cannot be made a folder: " + Error.message(),
                            "bench-file");
  if (Error E = checkWritable(plotFile(Svg, "throughput", {0, 0})))
    return failBenchmarkFor(BadUsage, Svg, "cannot be written into: " + toString(std::move(E)),
                            "bench-file");
  return Done;
}

} // namespace relock
