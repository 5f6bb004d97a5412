// SPDX-License-Identifier: MIT
#include "section/Nest.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace relock {

static bool apart(const Range &A, const Range &B) { return A.End <= B.Begin || B.End <= A.Begin; }

bool inTail(const Extraction &Inner, const Extraction &Outer) {
  return any_of(Outer.Exits,
                [&](const EarlyExit &Exit) { return contains(Exit.Tail, Inner.Whole); });
}

bool fitsWithin(const Extraction &Inner, const Extraction &Outer) {
  if (Inner.HoistAt)
    return false; // it changes text that may move
  if (inTail(Inner, Outer))
    return true;
  // An exit of the outer section is apart from the inner one, or stands behind an inner unlock.
  bool ExitsFit = all_of(Outer.Exits, [&](const EarlyExit &Exit) {
    return apart(Exit.Unlock, Inner.Whole) || any_of(Inner.Exits, [&](const EarlyExit &Own) {
             return contains(Own.Tail, Exit.Unlock);
           });
  });
  return ExitsFit && contains(Outer.Body, Inner.Whole) && !Outer.resumes() &&
         none_of(Outer.Kept,
                 [&](const KeptDeclaration &Kept) { return !apart(Kept.At, Inner.Whole); });
}

} // namespace relock
