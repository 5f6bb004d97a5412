// SPDX-License-Identifier: MIT
#include "support/Shell.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace relock {

std::string shellWord(StringRef Word) {
  constexpr llvm::StringLiteral Safe =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
      "_-+=./,:@%";
  if (!Word.empty() && Word.find_first_not_of(Safe) == StringRef::npos)
    return Word.str();
  std::string Result = "'";
  for (char C : Word)
    Result += C == '\'' ? "'\\''" : std::string(1, C);
  return Result + "'";
}

std::string shellCommand(ArrayRef<std::string> Words) {
  return join(map_range(Words, [](const std::string &W) { return shellWord(W); }), " ");
}

} // namespace relock
