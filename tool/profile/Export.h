// SPDX-License-Identifier: MIT
//
// A profile for other viewers. All take the profile file itself, since it may have call sites and
// single waits that Profile does not know, and believe nothing in those.
#pragma once

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace relock {

// Folded stacks, `frame;frame;lock class NANOSECONDS`, for flame graphs of waiting.
void writeFolded(const llvm::json::Object &Profile, llvm::raw_ostream &OS);

// pprof's profile.proto, compressed where LLVM can, with the samples of Go's mutex profiles.
void writePprof(const llvm::json::Object &Profile, llvm::raw_ostream &OS);

// Each wait as an event of Chrome's trace format, for about:tracing and Perfetto.
bool hasTimeline(const llvm::json::Object &Profile);
void writeTrace(const llvm::json::Object &Profile, llvm::raw_ostream &OS);

} // namespace relock
