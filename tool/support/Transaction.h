// SPDX-License-Identifier: MIT
//
// Changes files of the user's together: all of them or none, whenever the process is killed. A
// folder keeps what it takes to go back, from a change that was interrupted and from the last one.
// Transaction.cpp begins with the protocol.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace relock {

// A message with its code (tool/doc/messages.md).
struct TransactionError : llvm::ErrorInfo<TransactionError> {
  static char ID;
  TransactionError(std::string Text, std::string Code)
      : Text(std::move(Text)), Code(std::move(Code)) {}
  void log(llvm::raw_ostream &OS) const override { OS << Text; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }
  std::string Text, Code;
};

// Prints the message of an error. Code: of one that is no TransactionError.
void reportError(llvm::Error Failed, llvm::StringRef Code);

struct FileChange {
  std::string Path;                  // absolute
  std::optional<std::string> Before; // the text that it was made from; none: there is no such file
  std::string After;
};

// The folder for changes of what belongs to this one: a build, or a tree of sources.
std::string transactionFolder(llvm::StringRef Of);

// Changes the files in this order. Fails with nothing changed, also where a file's text is no more
// the one before, or where a signal arrives that would end the process; one that arrives later
// waits until all files have changed. The error says so if even going back has failed.
llvm::Error changeFiles(llvm::ArrayRef<FileChange> Files, const std::string &Folder);

// Whether a change was interrupted after it had begun to replace files.
bool isInterrupted(const std::string &Folder);

// Puts back the files that an interrupted change has replaced, or those that the last one has.
// Returns how many files the change had; 0: there is none. Fails with the files as they are, or
// with some of them put back, so that it can be tried again.
llvm::Expected<size_t> undoInterrupted(const std::string &Folder);
llvm::Expected<size_t> undoLast(const std::string &Folder);

} // namespace relock
