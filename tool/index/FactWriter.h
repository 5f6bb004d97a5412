// SPDX-License-Identifier: MIT
//
// What one pass over the AST records: which lock flows where, what is not followed, and which text
// changes with a lock.
#pragma once

#include "index/Records.h"
#include "support/Source.h"

#include "clang/AST/Stmt.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"

#include <set>
#include <string>

namespace relock {

class FactWriter {
public:
  FactWriter(const Source &S, UnitFacts &Facts) : S(S), Facts(Facts) {}

  void flow(std::string From, std::string To, Flow::Kind How, clang::SourceLocation At,
            bool Untyped = false);
  void escape(std::string Node, llvm::StringRef Code, const llvm::Twine &Message,
              clang::SourceLocation At);
  // A pointer to that lock comes from where nobody looks.
  void unfollowed(const std::string &Node, clang::SourceLocation At);
  void edit(clang::SourceLocation L, unsigned Length, std::string Text, const std::string &Node);
  // An edit of a token that other declarations or macro expansions may share.
  void sharedEdit(clang::SourceLocation L, unsigned Length, std::string Text,
                  const std::string &Node);

  const Source &S;
  UnitFacts &Facts;
  // The outermost arm that is looked at and never runs; null: none.
  const clang::Stmt *Unrun = nullptr;
};

} // namespace relock
