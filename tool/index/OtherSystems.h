// SPDX-License-Identifier: MIT
//
// Text that is compiled on other systems only. librelock runs on Linux: no build of a converted
// program compiles such text, so that it concerns no lock class.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace relock {

// The value of a conditional directive on Linux if no more than the system decides it: false for
// `#ifdef __APPLE__` and `#elif defined(_WIN32) && WITH_THREADS`, true for `#ifndef _WIN32`.
std::optional<bool> valueOnLinux(llvm::StringRef Directive);

} // namespace relock
