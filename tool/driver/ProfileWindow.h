// SPDX-License-Identifier: MIT
//
// relock profile --pid: a window of a program that runs and is recorded.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <sys/types.h>

namespace relock {

// After so many seconds, if any, with the end of the process, or when we are interrupted.
class WindowEnd {
public:
  WindowEnd(pid_t Pid, std::optional<double> Seconds);
  bool reached() const;
  void wait(double Milliseconds) const; // but no longer

private:
  double left() const; // milliseconds

  pid_t Pid;
  std::optional<double> Seconds;
  uint64_t Begin;
};

// For so many seconds, at most until the program ends or we are interrupted; 0: from the start of
// the program until now; none: no limit. One that is not recorded is looked at from outside, unless
// a profile is wanted: ToFile. Returns the exit status.
int profileWindow(pid_t Pid, std::optional<double> Seconds, llvm::StringRef Output, bool ToFile);

} // namespace relock
