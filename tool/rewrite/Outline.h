// SPDX-License-Identifier: MIT
//
// Renders a delegated section: the context, the extracted function, and the call that takes the
// place of the section.
#pragma once

#include "rewrite/TextEdit.h"

namespace relock {

// Where the word stands first in the text, not as a part of a longer one; npos: nowhere.
size_t findWord(llvm::StringRef Text, llvm::StringRef Word);
inline bool hasWord(llvm::StringRef Text, llvm::StringRef Word) {
  return findWord(Text, Word) != llvm::StringRef::npos;
}

struct Outline {
  std::string Function;  // the context's struct and the extracted function
  std::string Call;      // takes the place of Extraction::Whole
  bool Collided = false; // two changes of the section's text do not go together: of no use
};

// The function that runs a section, and the arguments that precede the section's.
struct ExecuteCall {
  std::string Function;
  std::vector<std::string> Arguments;
  // Where it does not hold, the section's function is called instead. Empty: always the call.
  std::string Condition;
};

// A delegated section that stands in the text of another one. Name: of its function and struct.
// CallerName: what they would be called if no equal section had them; it names the caller's
// variables.
struct OutlinedSection {
  const Extraction *Extract = nullptr;
  std::string Name;
  std::string CallerName;
  ExecuteCall Execute;
  std::vector<OutlinedSection> Inner; // in the order of the text
};

// Tokens: the edits that converting the classes makes in this file. The calls of the inner sections
// are part of the result, their functions are not.
Outline renderOutline(const OutlinedSection &Section, llvm::StringRef File,
                      const std::vector<TextEdit> &Tokens);

} // namespace relock
