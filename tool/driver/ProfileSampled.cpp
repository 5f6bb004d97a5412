// SPDX-License-Identifier: MIT
#include "driver/ProfileSampled.h"

#include "driver/ProfileWindow.h"
#include "driver/Subcommand.h"
#include "profile/Aggregate.h"
#include "profile/SampledLocks.h"
#include "profile/Symbolize.h"
#include "profile/Text.h"
#include "support/Messages.h"
#include "support/Output.h"

#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

using namespace llvm;

namespace relock {

namespace {

// Between two looks, which take a tenth of a processor at most.
constexpr double Pause = 10; // milliseconds
constexpr double Share = 0.1;

struct Watched {
  uint64_t Took = 0, Looking = 0; // nanoseconds
};

// False: it may not be looked at, or has never been, as errno says.
bool watch(Sampler &Process, SampledLocks &Locks, const WindowEnd &End, Watched &Time) {
  const uint64_t Begin = readClocks().Nanoseconds;
  do {
    const uint64_t Before = readClocks().Nanoseconds;
    std::optional<Look> Seen = Process.look();
    const uint64_t After = readClocks().Nanoseconds;
    Time.Took = After - Begin;
    if (!Seen)
      return Locks.looks() != 0;
    Locks.add(*Seen);
    Time.Looking += After - Before;
    End.wait(std::max(Pause, double(After - Before) / 1e6 / Share));
  } while (!End.reached());
  Time.Took = readClocks().Nanoseconds - Begin;
  return true;
}

void describe(pid_t Pid, const SampledLocks &Locks, const Watched &Time) {
  outs() << "process " << Pid << ", seen from outside: " << counted(Locks.looks(), "look") << " in "
         << duration(Time.Took) << ", which took " << percent(Time.Looking, Time.Took)
         << " of a processor\n";
  printParagraph("How often its locks are taken, how long they are held, and waits for anything "
                 "but a mutex are not known so: `relock profile -- COMMAND` counts them.",
                 outs());
}

int reportDeadlock(SampledLocks &Locks) {
  std::vector<SeenWait> Circle = Locks.deadlock();
  if (Circle.empty())
    return Done;
  std::string Text;
  for (const SeenWait &W : Circle)
    Text += (Text.empty() ? "" : "; ") + Locks.threadName(W.Thread) + " waits in " +
            Locks.callName(W.Call) + " for " + Locks.lockName(W.Mutex) + ", which " +
            Locks.threadName(W.Holder) + " has";
  message("deadlock: " + Text, "profile-deadlock");
  return LookAtThis;
}

} // namespace

int profileSampled(pid_t Pid, std::optional<double> Seconds) {
  Sampler Process(Pid);
  Symbolizer Names;
  SampledLocks Locks(Process, Names);
  WindowEnd End(Pid, Seconds);
  Watched Time;
  if (!watch(Process, Locks, End, Time)) {
    message("process " + std::to_string(Pid) + " cannot be looked at: " + strerror(errno) +
                "; give the number of a process that runs, as its user or as root, where the "
                "kernel lets one process look at another (kernel.yama.ptrace_scope)",
            "profile-pid");
    return BadUsage;
  }
  describe(Pid, Locks, Time);
  Locks.print(outs());
  if (!flushOutput())
    return BadUsage;
  return reportDeadlock(Locks);
}

} // namespace relock
