// SPDX-License-Identifier: MIT
#include "driver/ProfileFile.h"

#include "support/Output.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <time.h>
#include <tuple>
#include <unistd.h>

using namespace llvm;

namespace relock {

static std::string machineModel() {
  auto Text = MemoryBuffer::getFileAsStream("/proc/cpuinfo");
  if (!Text)
    return "unknown";
  SmallVector<StringRef> Lines;
  (*Text)->getBuffer().split(Lines, '\n');
  for (StringRef Line : Lines)
    if (Line.starts_with("model name") || Line.starts_with("CPU part"))
      return Line.split(':').second.trim().str();
  return "unknown";
}

// Lines of `cpuN`, with the time in this and that, idle the fourth and waiting for a disk the
// fifth.
static std::vector<uint64_t> idleByProcessor() {
  std::vector<uint64_t> Idle;
  auto Text = MemoryBuffer::getFileAsStream("/proc/stat");
  if (!Text)
    return Idle;
  const uint64_t Tick = 1000000000u / uint64_t(sysconf(_SC_CLK_TCK));
  for (auto [Line, Rest] = (*Text)->getBuffer().split('\n'); Line.starts_with("cpu");
       std::tie(Line, Rest) = Rest.split('\n')) {
    SmallVector<StringRef> Words;
    Line.split(Words, ' ', -1, /*KeepEmpty=*/false);
    uint64_t Number, Nothing, Disk;
    if (Words.size() < 6 || Words[0].drop_front(3).getAsInteger(10, Number) ||
        Words[4].getAsInteger(10, Nothing) || Words[5].getAsInteger(10, Disk) ||
        Number >= CPU_SETSIZE)
      continue; // the first line is the sum
    Idle.resize(std::max<size_t>(Idle.size(), Number + 1));
    Idle[Number] = (Nothing + Disk) * Tick;
  }
  return Idle;
}

ProcessUse useOf(pid_t Pid) {
  ProcessUse Use;
  clockid_t Clock;
  timespec Time;
  if (clock_getcpuclockid(Pid, &Clock) == 0 && clock_gettime(Clock, &Time) == 0)
    Use.ProcessorTime = uint64_t(Time.tv_sec) * 1000000000u + uint64_t(Time.tv_nsec);
  if (sched_getaffinity(Pid, sizeof Use.May, &Use.May)) // where there are more than 1024
    CPU_ZERO(&Use.May);
  Use.Idle = idleByProcessor();
  return Use;
}

void describeUse(Profile &P, const ProcessUse &Before, const ProcessUse &After) {
  P.UsableProcessors = CPU_COUNT(&After.May);
  P.SpareTime = 0;
  for (size_t I = 0; I < std::min(Before.Idle.size(), After.Idle.size()); ++I)
    if (CPU_ISSET(I, &After.May))
      P.SpareTime += After.Idle[I] - std::min(Before.Idle[I], After.Idle[I]);
}

void describeMachine(Profile &P) {
  P.Machine = machineModel();
  P.Processors = int(sysconf(_SC_NPROCESSORS_ONLN));
}

Error writeProfileTo(StringRef File, const Profile &P) {
  constexpr unsigned OwnerOnly = 0600; // it has the command line, and what threads are called
  return writeAtomically(File, [&](raw_ostream &OS) { writeProfile(P, OS); }, OwnerOnly);
}

std::string unwritable(Error E) {
  return "cannot be written: " + toString(std::move(E)) +
         "; name a file that can with `relock profile -o FILE`";
}

std::string findInstalled(StringRef Name) {
  SmallString<256> Lib(sys::path::parent_path(
      sys::fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&findInstalled))));
  sys::path::append(Lib, "..", "lib");
  std::vector<std::string> Folders = {Lib.str().str(), (Lib + "64").str()};
  std::error_code Error;
  for (sys::fs::directory_iterator At(Lib, Error), End; !Error && At != End; At.increment(Error))
    Folders.push_back(At->path()); // lib/x86_64-linux-gnu and the like
  for (const std::string &Folder : Folders)
    for (StringRef Own : {"", "relock"}) { // packages keep apart what no program is linked with
      SmallString<256> Path(Folder);
      sys::path::append(Path, Own, Name);
      SmallString<256> Real;
      if (!sys::fs::real_path(Path, Real))
        return Real.str().str();
    }
  return "";
}

} // namespace relock
