// SPDX-License-Identifier: MIT
//
// Sections that stand in the body of a macro: the macro's definition is what changes.
#pragma once

#include "section/Captures.h"
#include "section/Operations.h"
#include "section/Section.h"
#include "support/Source.h"

#include <optional>

namespace relock {

// The expansion of a macro in whose body a section stands, and its definition.
struct MacroBody {
  clang::FileID Expansion;
  const clang::MacroInfo *Macro = nullptr;
  std::string Name;
};

// The innermost macro whose body has the lock and the unlock, both.
std::optional<MacroBody> macroBody(const clang::Stmt *Lock, const clang::Stmt *Unlock,
                                   const Source &S);

// Arguments that would be evaluated before the lock, and are not proved to be the same there.
struct EarlyArguments {
  bool Allowed = false; // by the user
  bool Needed = false;  // for the section to be delegated
};

// A straight section as text of the body, or what speaks against it in Against. Unlock is the
// statement.
void extractFromMacro(const MacroBody &Body, const LockOperation &Lock, const clang::Stmt *Unlock,
                      const SectionText &Text, const clang::FunctionDecl *F,
                      const std::vector<Mention> &All, const clang::ParentMap &Parents,
                      const Source &S, EarlyArguments &Early, Extraction &Result,
                      std::vector<Reason> &Against);

// What such a section is given, and would evaluate before the lock if all arguments may be.
std::vector<const clang::Stmt *> argumentsBefore(const MacroBody &Body, const SectionText &Text,
                                                 const clang::FunctionDecl *F,
                                                 const std::vector<Mention> &All,
                                                 const clang::ParentMap &Parents, const Source &S);

// Where the tokens of an operation stand in the bodies of macros, inside out.
std::vector<Position> macroPlaces(clang::SourceLocation L, const Source &S);

} // namespace relock
