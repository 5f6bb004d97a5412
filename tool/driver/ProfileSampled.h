// SPDX-License-Identifier: MIT
//
// relock profile --pid: of a program that runs and is not recorded, what can be seen from outside.
#pragma once

#include <optional>
#include <sys/types.h>

namespace relock {

// Prints it, for so many seconds, at most until the program ends or we are interrupted; none: no
// limit. Returns the exit status.
int profileSampled(pid_t Pid, std::optional<double> Seconds);

} // namespace relock
