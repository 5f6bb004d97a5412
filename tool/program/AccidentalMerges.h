// SPDX-License-Identifier: MIT
//
// Classes that one flow alone has merged, although nothing behind it operates a lock.
#pragma once

#include "program/Program.h"

namespace relock {

// A flow that takes a mutex along as `void *`, or compares two; without it the class would be two,
// each with a mutex of its own that is locked; and no lock operation of the program is on a pointer
// that it hands on. (Unification does not know where a pointer goes to from where it comes from.)
struct AccidentalMerge {
  std::string Class;
  std::string Left, Right; // a mutex on either side
  std::string From, To;    // the ends, as a cut names them
  std::string Text;        // what the flow is
  Position At;
  bool Lost = false; // from there the pointer goes where it is not followed
};

std::vector<AccidentalMerge> accidentalMerges(const std::vector<UnitFacts> &Units,
                                              const Program &Linked);

// `'a' is the argument for …: nothing else makes one class of 'a' and 'b'`
std::string describe(const AccidentalMerge &M);

} // namespace relock
