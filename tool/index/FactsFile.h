// SPDX-License-Identifier: MIT
//
// The files that keep what is known of a unit, its facts and its sections: compressed, with what it
// comes from. A cache: a file that cannot be used, for whatever reason, is one that is not there.
#pragma once

#include "index/Records.h"

#include "llvm/ADT/StringRef.h"

namespace relock {

enum class Compression : uint64_t { None, Zlib, Zstd };

Compression bestCompression(); // that LLVM has been built with

// Origin: what it comes from, in any words.
std::string packFacts(const UnitFacts &Facts, llvm::StringRef Origin,
                      Compression Compressed = bestCompression());

std::string packBytes(llvm::StringRef Bytes, llvm::StringRef Origin,
                      Compression Compressed = bestCompression());

// The bytes in a file of this origin. None: it is damaged, of another version or origin, or
// compressed in a way that this build cannot read.
std::optional<std::string> unpackBytes(llvm::StringRef File, llvm::StringRef Origin);

// The origin that a file says it has; empty: it is no such file.
llvm::StringRef originOf(llvm::StringRef File);

} // namespace relock
