// SPDX-License-Identifier: MIT
//
// Local variables that a section names in text that this configuration drops.
#pragma once

#include "section/Captures.h"

#include <vector>

namespace relock {

// The names in the text between lock and last unlock, but for the unlocks in branches and their
// tails, that are no expression here and are spelled like a local variable of the function.
std::vector<DroppedName> droppedNames(const Extraction &Placed, const clang::FunctionDecl *F,
                                      const std::vector<Mention> &All, const Source &S);

// Likewise in the function's text around the section, whether or not they are spelled so.
std::vector<Around> namesAround(const Extraction &Placed, const clang::FunctionDecl *F,
                                const std::vector<Mention> &All, const Source &S);

// True if one of these may be the variable: it is in scope there.
bool isNamed(const clang::VarDecl *V, const std::vector<Around> &Names,
             const clang::FunctionDecl *F, const clang::ParentMap &Parents, const Source &S);

// True if the variable has a value whenever the statement is reached: it is a parameter, has an
// initialiser, or is assigned to before in one of the blocks around it.
bool hasValueAt(const clang::Stmt *Statement, const clang::VarDecl *V,
                const clang::ParentMap &Parents);

} // namespace relock
