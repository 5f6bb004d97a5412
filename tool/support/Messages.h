// SPDX-License-Identifier: MIT
//
// What the tool tells its user: one line per message, with a place and a stable code.
#pragma once

#include "index/Records.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <chrono>
#include <string>

namespace relock {

// Prints `relock: FILE:LINE:COL: text [CODE]` to standard error, printable but for line ends. Safe
// from several threads.
void message(const Position &At, llvm::StringRef Text, llvm::StringRef Code);
// The same without a place, or with a file only.
void message(llvm::StringRef Text, llvm::StringRef Code);
void messageFor(llvm::StringRef File, llvm::StringRef Text, llvm::StringRef Code);

// Says on a terminal how far a long step is, in one line of standard error that goes in the end,
// and nothing elsewhere. step() is safe from several threads. One at a time.
class Progress {
public:
  Progress(llvm::StringRef What, size_t Total);
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;
  void step();

private:
  std::string What;
  size_t Total, Finished = 0;
  bool Shown;
  std::chrono::steady_clock::time_point Last;
};

// Shows the last lines of what another program has printed, below a message about it.
void showLastLines(llvm::ArrayRef<llvm::StringRef> Texts);

// Text as a terminal can be given it: what would control it, or reorder what it shows, is `?`.
std::string printable(llvm::StringRef Text);

// `1 lock class`, `2 lock classes`. More: of several, where it is not One and an s.
std::string counted(size_t N, llvm::StringRef One, llvm::StringRef More = "");

// A path as the user would type it: relative to the current folder where it lies below it.
std::string shownPath(llvm::StringRef Absolute);
std::string shownPlace(const Position &At); // FILE:LINE

} // namespace relock
