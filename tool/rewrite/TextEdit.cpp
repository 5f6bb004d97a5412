// SPDX-License-Identifier: MIT
#include "rewrite/TextEdit.h"

#include "section/Nest.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace relock {

bool collide(const TextEdit &A, const TextEdit &B) {
  return A.At.Begin < B.At.End && B.At.Begin < A.At.End;
}

std::string applyEdits(StringRef File, Range Part, const std::vector<TextEdit> &Edits,
                       bool &Collided) {
  std::string Result;
  unsigned At = Part.Begin;
  for (const TextEdit &E : Edits) {
    bool Outside = E.At.End <= Part.Begin || E.At.Begin >= Part.End;
    if (Outside && !(E.At.Begin == E.At.End && contains(Part, E.At)))
      continue;
    if (E.At.Begin < At || E.At.End > Part.End) {
      Collided = true;
      continue;
    }
    Result += File.slice(At, E.At.Begin);
    Result += E.Text;
    At = E.At.End;
  }
  return Result + File.slice(At, Part.End).str();
}

void compose(std::vector<TextEdit> &Edits, TextEdit Added) {
  erase_if(Edits, [&](const TextEdit &E) { return contains(Added.At, E.At); });
  Edits.push_back(std::move(Added));
}

} // namespace relock
