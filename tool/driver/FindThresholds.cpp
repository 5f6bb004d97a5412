// SPDX-License-Identifier: MIT
//
// Runs the benchmark's pthread mutex under the profiler, and all locks that are compared without
// it.
#include "driver/FindThresholds.h"

#include "advise/Calibrate.h"
#include "bench/Results.h"
#include "driver/Benchmark.h"
#include "driver/Subcommand.h"
#include "profile/Profile.h"
#include "support/Messages.h"
#include "support/Output.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/LineIterator.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Threading.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace relock {
namespace {

// From sections that hardly ever meet to those that always do.
constexpr int64_t Delays[] = {1000000, 300000, 100000, 30000, 10000, 3000, 1000, 300, 100};

class Finder {
public:
  Finder(unsigned Threads, std::string Bench, std::string Folder)
      : Threads(Threads), Bench(std::move(Bench)), Folder(std::move(Folder)) {}

  std::string Machine; // its model, as the profile names it

  // Fails with what went wrong.
  Expected<Calibration> run() {
    std::vector<CalibrationPoint> Points;
    Progress Shown("thresholds", std::size(Delays));
    for (int64_t Delay : Delays) {
      CalibrationPoint Point;
      Point.Delay = Delay;
      if (Error Failed = profile(Point))
        return Failed;
      if (Error Failed = measure(Point))
        return Failed;
      Points.push_back(std::move(Point));
      Shown.step();
    }
    return calibrate(std::move(Points));
  }

private:
  const unsigned Threads;
  const std::string Bench, Folder;

  std::string path(StringRef Name) const { return Folder + "/" + Name.str(); }

  std::vector<std::string> benchmark(int64_t Delay, const std::string &Locks) const {
    return {Bench,
            "--algorithm=" + Locks,
            "--mode=any-thread",
            "--threads=" + std::to_string(Threads),
            "--lines=1",
            "--delay=" + std::to_string(Delay),
            "--milliseconds=100",
            "--repetitions=3"};
  }

  Error execute(const std::vector<std::string> &Words) const {
    std::vector<StringRef> Arguments(Words.begin(), Words.end());
    std::string Output = path("output"), Errors = path("errors");
    sys::fs::remove(Output); // what is longer there would stay behind what is written
    sys::fs::remove(Errors);
    std::optional<StringRef> Redirects[] = {StringRef(""), StringRef(Output), StringRef(Errors)};
    std::string Problem;
    int Status =
        sys::ExecuteAndWait(Words.front(), Arguments, std::nullopt, Redirects, 0, 0, &Problem);
    if (Status == 0)
      return Error::success();
    if (auto Text = MemoryBuffer::getFile(Errors); Problem.empty() && Text)
      Problem = (*Text)->getBuffer().trim().str();
    return createStringError(join(Words, " ") + ": status " + std::to_string(Status) + ": " +
                             Problem);
  }

  // The thread that only starts the others and waits for them is not counted.
  Error profile(CalibrationPoint &Point) {
    std::string File = path("profile");
    std::vector<std::string> Words = {
        sys::fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&findThresholds)), "profile",
        "-o", File, "--"};
    append_range(Words, benchmark(Point.Delay, CalibrationLocks.front()));
    if (Error Failed = execute(Words))
      return Failed;
    Expected<Profile> Read = readProfile(File);
    if (!Read)
      return Read.takeError();
    Machine = Read->Machine;
    uint64_t Most = 0;
    for (const ProfiledClass &Class : Read->Classes)
      Most = std::max(Most, Class.Wait.Total + Class.Hold.Total);
    if (Read->ThreadTime <= Read->Duration)
      return createStringError("the profile of the benchmark has no time of its threads");
    Point.Share = std::min(1.0, double(Most) / double(Read->ThreadTime - Read->Duration));
    return Error::success();
  }

  Error measure(CalibrationPoint &Point) const {
    if (Error Failed = execute(benchmark(Point.Delay, join(CalibrationLocks, ","))))
      return Failed;
    auto Output = MemoryBuffer::getFile(path("output"));
    if (!Output)
      return errorCodeToError(Output.getError());
    BenchResults Results;
    for (line_iterator Line(**Output); !Line.is_at_eof(); ++Line)
      if (Error Failed = Results.addLine(*Line))
        return Failed;
    for (const BenchCell &Cell : Results.Cells)
      Point.Throughput[Results.Rows[Cell.Row].Lock] =
          spread(Cell, [](const BenchSample &S) { return S.throughput(); }).Median;
    return Error::success();
  }
};

int print(const Calibration &Result) {
  writeThresholds(outs(), Result.Found, Result.Remarks);
  return flushOutput() ? Done : BadUsage;
}

int printShipped(unsigned Processors) {
  std::string Why = "this machine has " + std::to_string(Processors) +
                    (Processors == 1 ? " processor" : " processors") + ", and locks differ from " +
                    std::to_string(ProcessorsPerServer) + " on";
  message(Why + "; the shipped thresholds follow (--threads N measures all the same)",
          "thresholds-shipped");
  return print({Thresholds(),
                {"The shipped thresholds: " + Why + ".",
                 "They are those of 48 cores in Lozi's thesis (tool/advise/README.md)."}});
}

int failed(Error Problem) {
  message("the thresholds were not found: " + toString(std::move(Problem)), "thresholds-failed");
  return InternalError;
}

} // namespace

int findThresholds(unsigned Threads) {
  unsigned Processors = hardware_concurrency().compute_thread_count();
  if (!Threads && Processors < ProcessorsPerServer)
    return printShipped(Processors);
  if (!Threads)
    Threads = Processors - 1;
  std::string Bench = findBenchmark();
  if (Bench.empty()) {
    message("relock-bench is not beside this command; build or install the runtime",
            "bench-runner");
    return InternalError;
  }
  SmallString<128> Folder;
  if (std::error_code Problem = sys::fs::createUniqueDirectory("relock-thresholds", Folder))
    return failed(errorCodeToError(Problem));
  auto Remove = make_scope_exit([&] { sys::fs::remove_directories(Folder); });
  Finder Measuring(Threads, Bench, Folder.str().str());
  Expected<Calibration> Result = Measuring.run();
  if (!Result)
    return failed(Result.takeError());
  Result->Remarks.insert(
      Result->Remarks.begin(),
      "Found by `relock advise --find-thresholds` with " + std::to_string(Threads) +
          (Threads == 1 ? " thread on " : " threads on ") + std::to_string(Processors) +
          (Processors == 1 ? " processor" : " processors") + ", " + Measuring.Machine + ".");
  return print(*Result);
}

} // namespace relock
