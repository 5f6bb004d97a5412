// SPDX-License-Identifier: MIT
#include "driver/Undo.h"

#include "driver/Subcommand.h"
#include "support/Messages.h"
#include "support/Transaction.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace relock {

bool checkFinished(ArrayRef<std::string> Program) {
  auto Interrupted =
      find_if(Program, [](StringRef Of) { return isInterrupted(transactionFolder(Of)); });
  if (Interrupted == Program.end())
    return true;
  messageFor(transactionFolder(*Interrupted),
             "a rewrite of this program was interrupted, and some of its files have changed; "
             "`relock rewrite --undo` puts them back, and so does the next `relock rewrite`",
             "unfinished");
  return false;
}

bool putBackInterrupted(ArrayRef<std::string> Program) {
  for (const std::string &Of : Program) {
    Expected<size_t> Files = undoInterrupted(transactionFolder(Of));
    if (!Files) {
      reportError(Files.takeError(), "cannot-write");
      return false;
    }
    if (*Files)
      message("a rewrite of " + counted(*Files, "file") +
                  " was interrupted; they are as they were before it",
              "put-back");
  }
  return true;
}

int undo(ArrayRef<std::string> Program) {
  for (const std::string &Of : Program) {
    Expected<size_t> Files = undoLast(transactionFolder(Of));
    if (!Files) {
      reportError(Files.takeError(), "cannot-write");
      return BadUsage;
    }
    if (!*Files)
      continue;
    errs() << "relock: " << counted(*Files, "file") << " as before the last rewrite\n";
    return Done;
  }
  message("no rewrite of this program is known that could be undone", "nothing-to-undo");
  return BadUsage;
}

} // namespace relock
