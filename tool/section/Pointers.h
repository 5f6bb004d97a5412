// SPDX-License-Identifier: MIT
//
// Which objects of a section's own may still be pointed to when the section has ended. In the
// user's function such an object lives to the end of its block, behind the unlock; in the extracted
// function it would be gone.
#pragma once

#include "section/Captures.h"
#include "section/ProgramView.h"

#include <set>

namespace relock {

struct OutlivingPointer {
  const clang::VarDecl *Variable = nullptr; // null: a compound literal
  clang::SourceLocation At;                 // where its address goes to what lives longer
};

// Dropped: names in text of the section that this configuration does not compile. Trusts: gets the
// functions of which only the project file says what they do with pointers.
std::vector<OutlivingPointer>
outlivingPointers(const SectionText &Text, const std::vector<DroppedName> &Dropped,
                  const clang::FunctionDecl *F, const std::vector<Mention> &All,
                  const CallLiveness &Liveness, const clang::ParentMap &Parents,
                  const ProgramView &Linked, const Source &S, std::set<std::string> &Trusts);

} // namespace relock
