// SPDX-License-Identifier: MIT
//
// Sections that the user names by a place in the text.
#pragma once

#include "program/Decide.h"

#include "llvm/ADT/StringRef.h"

namespace relock {

struct FoundSection {
  const CheckedClass *Class;
  const CheckedSection *Section;
};

// The sections whose lock stands at `FILE:LINE`, or if there are none, those that have a reason
// there, which check prints as well; the end of a path names the file too. None: a message was
// printed, which names the option.
std::vector<FoundSection> sectionsAt(const Decision &Decided, llvm::StringRef Place,
                                     llvm::StringRef Option);

} // namespace relock
