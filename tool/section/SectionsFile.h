// SPDX-License-Identifier: MIT
//
// Sections are kept beside the facts of their unit: they are found again without its text, until
// that changes, or what else of the program they depend on.
#pragma once

#include "section/Find.h"

namespace relock {

struct IndexResult;

// The sections of a unit of the index, kept or found and kept.
UnitSections sectionsOf(const IndexResult &Index, size_t Unit, const Program &Linked);

} // namespace relock
