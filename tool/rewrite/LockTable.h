// SPDX-License-Identifier: MIT
//
// The generated table of lock classes, relock_locks.h, and the #include lines that bring it in.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace relock {

struct TableEntry {
  std::string Identifier, Name, Algorithm;
};

// A server, and its processor; none: any.
struct TableServer {
  unsigned Number;
  std::optional<unsigned> Cpu;
};

// The text of the table with these entries; entries of an existing table stay as their owner has
// edited them.
std::string lockTable(llvm::StringRef Existing, const std::vector<TableEntry> &Entries,
                      const std::vector<TableServer> &Servers);

// Where an `#include "Path"` goes in a C file so that it precedes Before: after the last #include
// at the outer level, or after the header guard, or after the leading comment.
unsigned includeOffset(llvm::StringRef Text, unsigned Before);

} // namespace relock
