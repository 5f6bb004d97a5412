// SPDX-License-Identifier: MIT
//
// relock profile --pid: a window of a program that runs and is recorded.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <sys/types.h>

namespace relock {

// For so many seconds, at most until the program ends or we are interrupted; 0: from the start of
// the program until now; none: no limit. Returns the exit status.
int profileWindow(pid_t Pid, std::optional<double> Seconds, llvm::StringRef Output);

} // namespace relock
