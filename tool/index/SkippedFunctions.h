// SPDX-License-Identifier: MIT
//
// The functions that skipped text declares and defines: what such a one does to the lock that it is
// given, it does to the locks of its calls, which stand in skipped text, too, or in the arguments
// of a macro that drops them: `assert(is_locked(&lock))`.
#pragma once

#include "index/Words.h"

#include "llvm/ADT/StringMap.h"

#include <map>
#include <set>

namespace relock {

struct SkippedFunction {
  std::string Name;
  std::set<unsigned> Locks; // the parameters that are the addresses of locks
  std::string Condition;    // the directives that hide it
  bool Elsewhere = true;    // they do on Linux, wherever it is declared
};

class SkippedFunctions {
public:
  // Where: the directives over a place, and whether it is for other systems than Linux.
  using Condition = llvm::function_ref<std::pair<std::string, bool>(clang::SourceLocation At)>;

  // Reads a part of a file that is skipped, and in no function's body. What the unit declares in
  // compiled text as well is not listed.
  void read(const Source &S, std::vector<Word> Part, Condition Where);

  bool empty() const { return Named.empty(); }
  // The function of that name that is given locks; null: none.
  const SkippedFunction *named(llvm::StringRef Name) const;
  // Whether a name stands at the head of such a declaration.
  bool declaresAt(clang::SourceLocation At) const { return Heads.count(At); }

  // The function that has the place in its body, and the value of a caller in its parameter, which
  // keeps it; null: none.
  const SkippedFunction *ofParameter(llvm::StringRef Name, clang::SourceLocation At) const;
  // `struct TAG *p` or `struct TAG v` in the function around, or else outside of functions, makes
  // TAG; empty: none, or more than one.
  llvm::StringRef recordOf(llvm::StringRef Variable, clang::SourceLocation At) const;

private:
  struct Body {
    std::vector<Word> Words; // with its head
    llvm::StringRef Name;
    std::set<llvm::StringRef> Parameters; // that are locks' addresses
  };
  llvm::StringMap<SkippedFunction> Named;
  std::set<clang::SourceLocation> Heads;
  std::map<clang::SourceLocation, Body> Bodies; // by their last word
  llvm::StringMap<llvm::StringRef> Globals;     // their tags

  const Body *around(clang::SourceLocation At) const;
};

} // namespace relock
