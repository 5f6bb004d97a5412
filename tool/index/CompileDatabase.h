// SPDX-License-Identifier: MIT
//
// What a compile database is called, and how to get one.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace relock {

inline constexpr llvm::StringLiteral DatabaseName = "compile_commands.json";
inline constexpr llvm::StringLiteral HowToMakeDatabase =
    "make one with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON (CMake), `meson setup`, or `bear -- make`, "
    "and name its folder with -p";

} // namespace relock
