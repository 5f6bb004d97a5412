// SPDX-License-Identifier: MIT
#pragma once

#include "clang/AST/Stmt.h"

namespace relock {

// True for the body of a function that ends the process on each way: `void panic(…) { …; abort();
// }`. Handlers of exit() may do anything, so that a function that calls it is none.
bool endsProcess(const clang::Stmt *Body);

} // namespace relock
