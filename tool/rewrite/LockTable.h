// SPDX-License-Identifier: MIT
//
// The generated table of lock classes, relock_locks.h, and the #include lines that bring it in.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace relock {

struct TableEntry {
  std::string Identifier, Name;
  std::string Algorithm; // empty: what the table has, else the default
};

// A server, and its processor; none: any.
struct TableServer {
  unsigned Number;
  std::optional<unsigned> Cpu;
};

// The text of the table with these entries. Of an existing table, only the algorithms change that
// the entries name; all else stays as its owner has edited it.
std::string lockTable(llvm::StringRef Existing, const std::vector<TableEntry> &Entries,
                      const std::vector<TableServer> &Servers);

// The algorithm of a class in the text of a table; empty: it has none of that name.
llvm::StringRef tableAlgorithm(llvm::StringRef Table, llvm::StringRef Name);

// Where an `#include "Path"` goes in a C file so that it precedes these places, and is compiled
// where they are: after the last #include of which that is true, of those that the file begins with
// if there is one; where that is of no library, perhaps after an #if … #endif with some; or after
// the header guard, or after the leading comment.
unsigned includeOffset(llvm::StringRef Text, llvm::ArrayRef<unsigned> Uses);

} // namespace relock
