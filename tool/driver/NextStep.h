// SPDX-License-Identifier: MIT
//
// What relock says where it is not told what to do.
#pragma once

namespace relock {

// Says on standard error, in two lines, what of relock's work lies in the current folder, and which
// command comes next.
void reportNextStep();

} // namespace relock
