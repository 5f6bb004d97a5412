// SPDX-License-Identifier: MIT
//
// A run of a shell command, in a process group of its own, and what it took.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include <csignal>
#include <memory>
#include <string>

namespace relock {

struct MeasuredRun {
  double WallSeconds = 0, ProcessorSeconds = 0;
  double VoluntarySwitches = 0, InvoluntarySwitches = 0;
  double MaxResident = 0; // bytes; 0: less than can be told
  int Status = 0;         // as wait4() says it
  int StartError = 0;     // the error number, where it could not be started
  bool TimedOut = false;
  int Asked = 0; // the signal that asked relock to end meanwhile
  std::unique_ptr<llvm::MemoryBuffer> Output, Errors; // what it printed
};

class CommandRunner {
public:
  // Of a run that takes longer than Timeout seconds the group is killed; 0: none does. A shell runs
  // the command, unless it is a path with plain words behind it.
  explicit CommandRunner(double Timeout);
  // What it leaves running in its group is killed. Once relock was asked to end, nothing runs.
  // Enter is called in the child before the command's time begins.
  MeasuredRun run(const std::string &Command, llvm::function_ref<void()> Enter = [] {});
  // In bytes: whether a command has less resident cannot be told.
  double leastResident() const { return LeastResident; }

private:
  enum class Wait { Ended, TimeIsUp, Asked };
  struct Start;
  [[noreturn]] void execute(const std::string &Command, llvm::function_ref<void()> Enter,
                            int Output, int Errors) const;
  Wait waitFor(pid_t Pid, double Seconds);
  void waitForEnd(MeasuredRun &R, pid_t Pid);

  const double Timeout;
  sigset_t Waited, Before; // signals that are waited for, and the mask without that
  Start *Started;          // shared with the child
  int Asked = 0;
  double LeastResident = 0;
};

} // namespace relock
