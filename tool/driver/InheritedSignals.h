// SPDX-License-Identifier: MIT
//
// The signals that our caller ignores. A program that we start is to find them ignored, whatever
// handlers the libraries that relock is built on have installed by the time main begins.
#pragma once

namespace relock {

bool callerIgnores(int Signal);

// In a child, before it becomes another program.
void ignoreInheritedSignals();

} // namespace relock
