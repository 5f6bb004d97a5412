// SPDX-License-Identifier: MIT
//
// Where the runtime's benchmark program is.
#pragma once

#include <string>

namespace relock {

// relock-bench as it was built or installed beside this command; empty: it is not there.
std::string findBenchmark();

} // namespace relock
