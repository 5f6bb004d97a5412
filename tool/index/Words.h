// SPDX-License-Identifier: MIT
//
// Text that no AST is made of, read token by token.
#pragma once

#include "support/Source.h"

#include "clang/Lex/MacroInfo.h"
#include "clang/Lex/Token.h"

#include <vector>

namespace relock {

struct SkippedFunction;

// A token of skipped text, or of the body of a macro.
struct Word {
  clang::tok::TokenKind Kind;
  llvm::StringRef Name; // of an identifier
  clang::SourceLocation At;
  bool StartsLine;
};

// The tokens of a range of a file.
std::vector<Word> wordsOf(const Source &S, clang::FileID File, unsigned Begin, unsigned End);
// The index of the word behind the one that closes the parenthesis or brace at I.
size_t pastClosing(llvm::ArrayRef<Word> Words, size_t I);
// The arguments of a call whose opening parenthesis is the first word; none if that is none.
std::vector<llvm::ArrayRef<Word>> argumentsOf(llvm::ArrayRef<Word> Words);

// The lock that an argument means.
struct Operand {
  std::string Name;                  // the last identifier that is not an index
  std::vector<llvm::StringRef> Path; // all of them
  bool Member = false;               // `p->lock`
  bool Pointer = false;  // the value of that, which may point to any lock, rather than its address
  bool Computed = false; // from more than that
  clang::SourceLocation Operation;          // the name of the lock function
  const SkippedFunction *Through = nullptr; // which that is, if skipped text declares it
};

Operand operandOf(llvm::ArrayRef<Word> Words);

// The definition of a macro.
struct Definition {
  bool FunctionLike = false;
  std::vector<llvm::StringRef> Parameters;
  std::vector<Word> Body;
};

// `#define LOCK(m) …`, whose `define` is the first word, up to the end of its line.
Definition definitionAt(llvm::ArrayRef<Word> Define);
Definition definitionOf(const clang::MacroInfo &Macro);

// True if the words assign to the name, or take its address.
bool changes(llvm::StringRef Name, llvm::ArrayRef<Word> Words);

} // namespace relock
