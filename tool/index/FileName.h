// SPDX-License-Identifier: MIT
//
// The path of a file. There are few of them, and each stands in thousands of records: it is in
// memory once, for as long as the process lives, and comparing two is comparing two pointers.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace relock {

class FileName {
public:
  FileName() : FileName(llvm::StringRef()) {}
  FileName(llvm::StringRef Path); // safe from several threads
  FileName(const std::string &Path) : FileName(llvm::StringRef(Path)) {}
  FileName(const char *Path) : FileName(llvm::StringRef(Path)) {}

  bool empty() const { return Text->empty(); }
  const std::string &str() const { return *Text; }
  operator const std::string &() const { return *Text; }
  operator llvm::StringRef() const { return *Text; }

  friend bool operator==(FileName A, FileName B) { return A.Text == B.Text; }
  // In the order of the texts, which is the same in each run.
  friend bool operator<(FileName A, FileName B) { return A.Text != B.Text && *A.Text < *B.Text; }

private:
  const std::string *Text; // one for each path
};

} // namespace relock
