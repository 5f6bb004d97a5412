// SPDX-License-Identifier: MIT
//
// Replacements of characters of a text, and how several go together. Two that overlap do not: which
// of them is right nobody can say, so whoever applies them is told.
#pragma once

#include "section/Section.h"

#include "llvm/ADT/StringRef.h"

#include <string>
#include <tuple>
#include <vector>

namespace relock {

// Replaces the characters of At in the original text of a file.
struct TextEdit {
  Range At;
  std::string Text;

  friend bool operator==(const TextEdit &A, const TextEdit &B) {
    return A.At.Begin == B.At.Begin && A.At.End == B.At.End && A.Text == B.Text;
  }
  friend bool operator<(const TextEdit &A, const TextEdit &B) {
    return std::tie(A.At.Begin, A.At.End, A.Text) < std::tie(B.At.Begin, B.At.End, B.Text);
  }
};

// True if both replace some character, or one inserts text in the midst of what the other replaces,
// or both replace the same range.
bool collide(const TextEdit &A, const TextEdit &B);

// A part of a file with the edits that lie in it, sorted. Collided is set if two of these collide,
// or one lies across the edge of the part; the text is of no use then.
std::string applyEdits(llvm::StringRef File, Range Part, const std::vector<TextEdit> &Edits,
                       bool &Collided);

// Adds an edit whose text has been made with those that lie in its range: it takes their place.
void compose(std::vector<TextEdit> &Edits, TextEdit Added);

} // namespace relock
