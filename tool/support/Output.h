// SPDX-License-Identifier: MIT
//
// Files that are written wholly or not at all.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace relock {

// Replaces the file by what Write prints; on an error it is as it was before, or absent. Into a
// device or a pipe it prints. Mode: what its permissions are before the umask.
llvm::Error writeAtomically(llvm::StringRef File,
                            llvm::function_ref<void(llvm::raw_ostream &)> Write,
                            unsigned Mode = 0666);

// Flushes standard output. False: a message says that it cannot be written (`output`).
bool flushOutput();

// Before long work: can the file be written?
llvm::Error checkWritable(llvm::StringRef File);

} // namespace relock
