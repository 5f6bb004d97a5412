// SPDX-License-Identifier: MIT
//
// Which lines of shared memory a section touches, itself or by the functions that it calls, as far
// as the text names them.
#pragma once

#include "program/Program.h"
#include "section/Section.h"

#include "llvm/ADT/ArrayRef.h"

#include <set>
#include <string>
#include <vector>

namespace relock {

struct CheckedClass;

struct DataUse {
  std::set<std::string> Touched, Written;
  bool Complete = true; // all that it calls is in the sources, and followed
};

// Of a section whose extent is known: it has Section::Touched. All branches count.
DataUse dataUse(const Program &Linked, const Section &S);

// Of the sections of a class: what the text proves of their data. Says nothing (Known is false)
// where it is not known what one of them touches.
struct ClassData {
  bool Known = false;
  // Numbers of sections that have no line in common that one of them writes; those without such a
  // line are in none.
  std::vector<std::vector<size_t>> Groups;
  // By the number of the section: it writes none of the lines, it touches none that another one or
  // it writes.
  std::vector<bool> OnlyReads, NeedsNone;
};
ClassData classData(const Program &Linked, const CheckedClass &Class);

} // namespace relock
