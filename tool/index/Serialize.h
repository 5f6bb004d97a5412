// SPDX-License-Identifier: MIT
//
// The facts of a unit as bytes, and as text for people and scripts.
#pragma once

#include "index/Records.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace relock {

std::string encodeFacts(const UnitFacts &Facts);
// None: the bytes are no facts. Known: the records of other units.
std::optional<UnitFacts> decodeFacts(llvm::StringRef Bytes, SharedPools &Known);

// Puts the records of other units in the place of its own that are equal.
void shareRecords(UnitFacts &Facts, SharedPools &Known);

void printFacts(llvm::raw_ostream &OS, const UnitFacts &Facts); // as JSON

} // namespace relock
