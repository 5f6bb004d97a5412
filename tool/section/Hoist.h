// SPDX-License-Identifier: MIT
//
// Variables that a section declares and that its function uses behind it: they can be declared
// before the lock, and their initialisers become assignments of the section.
#pragma once

#include "section/Captures.h"

namespace relock {

// The statement in In (may be null) that declares V; or null.
const clang::DeclStmt *declarationOf(const clang::VarDecl *V, const clang::Stmt *In);

// The declaration of V, if all its variables can be declared before the lock; else null.
const clang::DeclStmt *hoistable(const clang::VarDecl *V, const SectionText &Text,
                                 const clang::FunctionDecl *F, const std::vector<Mention> &All,
                                 const clang::ParentMap &Parents, const Source &S);

// The type with which a hoisted variable is declared: it is assigned to, so it is not const.
clang::QualType hoistedType(const clang::VarDecl *V);

// Writes the declarations of Text.Hoisted, and the assignments that stay in the section.
void placeHoisted(const SectionText &Text, const clang::FunctionDecl *F, const Source &S,
                  Extraction &Result);

// True if declarations may follow statements in F, as far as the project is concerned.
bool mixesDeclarations(const clang::FunctionDecl *F, const Source &S);

} // namespace relock
