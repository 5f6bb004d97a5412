// SPDX-License-Identifier: MIT
//
// Renders a delegated section: the context, the extracted function, and the call that takes the
// place of the section.
#pragma once

#include "section/Section.h"

#include "llvm/ADT/StringRef.h"

#include <set>
#include <string>
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

// A range of a file with the edits that lie in it.
std::string applyEdits(llvm::StringRef File, Range R, const std::vector<TextEdit> &Edits);

struct Outline {
  std::string Function; // the context's struct and the extracted function
  std::string Call;     // takes the place of Extraction::Whole
};

// The function that runs a section, and the arguments that precede the section's.
struct ExecuteCall {
  std::string Function;
  std::vector<std::string> Arguments;
};

// A delegated section that stands in the text of another one. Name: of its function and struct.
struct OutlinedSection {
  const Extraction *Extract = nullptr;
  std::string Name;
  ExecuteCall Execute;
  std::vector<OutlinedSection> Inner; // in the order of the text
};

// Tokens: the edits that converting the classes makes in this file. The calls of the inner sections
// are part of the result, their functions are not.
Outline renderOutline(const OutlinedSection &Section, llvm::StringRef File,
                      const std::vector<TextEdit> &Tokens);

} // namespace relock
