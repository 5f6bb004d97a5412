// SPDX-License-Identifier: MIT
//
// Where the pointers that a function is given can be found when it has returned: what the table of
// the C library (LibraryFunctions.def) and the project file say. Of any other function nothing is
// known but its body.
#pragma once

#include "libraries/LibraryFunctions.h"

#include <vector>

namespace relock {

class ProjectFile;

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
