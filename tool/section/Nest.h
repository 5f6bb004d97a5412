// SPDX-License-Identifier: MIT
//
// Delegated sections within the text of other delegated sections.
#pragma once

#include "section/Section.h"

namespace relock {

inline bool contains(const Range &Outer, const Range &Inner) {
  return Inner.Begin >= Outer.Begin && Inner.End <= Outer.End;
}

// True if Inner stands behind an unlock of Outer: its call is no part of the extracted function.
bool inTail(const Extraction &Inner, const Extraction &Outer);

// True if Inner, whose text overlaps that of Outer, can be written as a call there.
bool fitsWithin(const Extraction &Inner, const Extraction &Outer);

} // namespace relock
