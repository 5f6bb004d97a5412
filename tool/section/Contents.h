// SPDX-License-Identifier: MIT
//
// What stands in a section, statement by statement, and speaks against running it elsewhere: jumps,
// the stack of its function, names that are not known before it.
#pragma once

#include "section/Captures.h"

namespace relock {

// Fills what the section calls and uses, and says in Found.Against what cannot move. LocalTypes: F
// declares types.
void examineContents(const SectionText &Text, const clang::FunctionDecl *F, bool LocalTypes,
                     const clang::ParentMap &Parents, const Source &S, Section &Found);

// True if the statement declares the variable.
bool declares(const clang::Stmt *Statement, const clang::VarDecl *V, const Source &S);

} // namespace relock
