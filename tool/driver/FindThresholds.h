// SPDX-License-Identifier: MIT
//
// relock advise --find-thresholds
#pragma once

namespace relock {

// Prints the thresholds of this machine; returns the exit status. Threads: of the benchmark; 0: one
// for each processor but one, which is left to the server.
int findThresholds(unsigned Threads);

} // namespace relock
