// SPDX-License-Identifier: MIT
//
// Where the pointers that a function is given can be found when it has returned: what the table of
// the C library (LibraryPointers.def) and the project file say. Of any other function nothing is
// known but its body.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <vector>

namespace relock {

class ProjectFile;

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

struct PointerEffects {
  enum {
    Unknown,   // what it is given may go anywhere
    KeepsNone, // it may go into the result, or where other arguments point to
    Exact,     // it goes where Flows says
  } Known = Unknown;
  std::vector<PointerFlow> Flows;
  bool Trusted = false; // it is the project file that says so
};

// Defined: by the program, so that the function is not the library's of that name.
PointerEffects pointerEffects(llvm::StringRef Name, bool Defined, const ProjectFile &Project);

} // namespace relock
