// SPDX-License-Identifier: MIT
//
// What can be seen of the mutexes of a process that nobody has prepared: at one moment, which
// threads sleep for which mutex, from which call, and which thread has it. The process is neither
// stopped nor changed: the kernel says in which system call a thread sleeps (/proc/PID/task), and
// the C library's mutex who owns it (process_vm_readv).
//
// Known are the mutexes of glibc, in their private and shared, robust and priority-inheriting
// forms: who waits for one sleeps in futex() at its address, and its owner is in it. Threads that
// spin, and those that wait for rwlocks, conditions or anything else, only count as asleep or not.
#pragma once

#include "profile/Records.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <sys/types.h>
#include <vector>

namespace relock {

struct SeenWait {
  pid_t Thread;
  uint64_t Mutex;
  uint64_t Call; // the return address of the program's call that takes it; 0: not found
  pid_t Holder;
  bool Limited; // it gives up at some time
};

// The system call in which each thread sleeps; those that run have none.
using SeenThreads = std::map<pid_t, std::optional<long>>;

struct Look {
  SeenThreads Threads;
  std::vector<SeenWait> Waits;
};

class Sampler {
public:
  explicit Sampler(pid_t Pid) : Pid(Pid) {}

  // Takes some 20 microseconds per thread. None: the process has ended, or may not be looked at, as
  // errno says.
  std::optional<Look> look();

  // The module of an address, of its code or data, of those that were there at the first question;
  // null: none. `Path` can be opened by us.
  const RawModule *moduleOf(uint64_t Address);
  std::string threadName(pid_t Thread) const; // as it calls itself; empty: it has ended

private:
  // Where a thread sleeps: in this system call, with these arguments and this stack pointer.
  struct Sleep {
    long Call;
    uint64_t Arguments[6], Stack;
  };

  struct Mapped : RawModule {
    bool Code;    // this mapping is executable
    bool Library; // the C library or the loader
  };

  std::string file(const std::string &Name) const;
  bool readMemory(uint64_t Address, void *To, size_t Size) const;
  void addWait(pid_t Thread, const Sleep &At, Look &Seen);
  uint64_t programsCall(uint64_t Stack);
  bool isBehindCall(uint64_t Address) const;
  void readModules();
  const Mapped *mappingOf(uint64_t Address);

  pid_t Pid;
  std::vector<Mapped> Mappings;
  std::map<uint64_t, bool> Calls; // return addresses, and whether they are
};

} // namespace relock
