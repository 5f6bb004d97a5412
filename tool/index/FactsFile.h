// SPDX-License-Identifier: MIT
//
// The file that keeps the facts of a unit: compressed, with what they come from. A cache: a file
// that cannot be used, for whatever reason, is one that is not there.
#pragma once

#include "index/Records.h"

#include "llvm/ADT/StringRef.h"

namespace relock {

enum class Compression : uint64_t { None, Zlib, Zstd };

Compression bestCompression(); // that LLVM has been built with

// Origin: what the facts come from, in any words.
std::string packFacts(const UnitFacts &Facts, llvm::StringRef Origin,
                      Compression Compressed = bestCompression());

// The bytes that encodeFacts has made, out of a file of this origin. None: it is damaged, of
// another version or origin, or compressed in a way that this build cannot read.
std::optional<std::string> unpackFacts(llvm::StringRef File, llvm::StringRef Origin);

// The origin that a file says it has; empty: it is no such file.
llvm::StringRef originOf(llvm::StringRef File);

} // namespace relock
