// SPDX-License-Identifier: MIT
//
// What calling a function does, and what is known of the functions of the C library without the
// user's help: LibraryFunctions.def.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace relock {

// What a call does to the thread that runs it: see LibraryFunctions.def.
enum class FunctionEffect { Plain, Identity, Thread, Blocks, Jumps, Ends, Unknown };

// As relock.yaml has it: `plain`.
llvm::StringRef effectName(FunctionEffect E);

// One way that a pointer goes through a call: `1>result`, `*2>*1`, `2>kept`.
struct PointerFlow {
  // An argument, or what is read behind it: Loads says how many times.
  struct Place {
    enum { Argument, Result, Kept } Kind = Argument;
    unsigned Index = 0, Loads = 0;
  };
  Place From, To;
};

// What is wrong with the text stands in Problem if the result is empty.
std::optional<PointerFlow> readPointerFlow(llvm::StringRef Text, std::string &Problem);
std::string pointerFlowText(const PointerFlow &Flow);

struct LibraryFunction {
  FunctionEffect Effect;
  bool CancelPoint;                                 // Identity: whether it may be one
  std::optional<std::vector<PointerFlow>> Pointers; // where they are after the call; else anywhere
  // The function of the library that was given what a call of this one may call, or empty.
  std::string CallsGivenTo = "";
};

// Null: it is not known. A function of the program may have the same name.
const LibraryFunction *libraryFunction(llvm::StringRef Name);

// `memcpy` of `__builtin___memcpy_chk`.
llvm::StringRef plainName(llvm::StringRef Name);

} // namespace relock
