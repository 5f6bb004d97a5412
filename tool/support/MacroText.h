// SPDX-License-Identifier: MIT
//
// Text that a macro brings, as it would stand in the place of its use: the tokens of the body, with
// the arguments as they are written there. Macros in the body stay as they are.
#pragma once

#include "clang/Basic/SourceManager.h"
#include "clang/Lex/MacroInfo.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace relock {

class Source;

// The body of the macro that is used at Use, with Changes, texts that take the place of tokens of
// the body, by their place. None if the macro makes strings or pastes tokens, or if a token to be
// changed is not one of its body.
std::optional<std::string> expandOnce(clang::SourceLocation Use,
                                      const std::map<clang::SourceLocation, std::string> &Changes,
                                      const Source &S);

// The tokens of an expression that stand in the body of the macro that the text at its place uses.
// None if they begin or end within those of another macro or an argument, or as for expandOnce().
std::optional<std::string> textInMacro(clang::SourceRange Expression, const Source &S);

// The first and the last token of that, in the definition. None if they are not the first and the
// last one of what the inner macros bring, or are in an argument.
std::optional<clang::SourceRange> tokensInMacro(clang::SourceRange Expression, const Source &S);

// The arguments between the parentheses that follow the name at Use.
std::vector<std::string> argumentsAt(clang::SourceLocation Use, const Source &S);

// A definition as it stands in its file: from its `#` to the end of its last line, the break aside.
struct WrittenMacro {
  unsigned Begin, End;
  unsigned Name;              // where the name stands
  llvm::StringRef Head, Body; // Head: the name, and the parameters with their parentheses
};
// All definitions of a name in a file, those that are not compiled among them. None if one cannot
// be read, or if the name loses its meaning somewhere.
std::optional<std::vector<WrittenMacro>> definitionsOf(llvm::StringRef Name, llvm::StringRef File);
// Where the `\` behind the head of a definition keeps its column when that has become longer: the
// text from the head on without as many blanks.
llvm::StringRef behindLongerHead(llvm::StringRef Text, size_t Longer);

// The macro whose use in a file begins at Use, if it takes a fixed number of arguments.
const clang::MacroInfo *macroUsedAt(clang::SourceLocation Use, const Source &S);

// True if the macros in a text that is used at Use, and those that their bodies use, are the same
// at another place.
bool sameMacros(llvm::StringRef Text, clang::SourceLocation Use, clang::SourceLocation Other,
                const Source &S);

} // namespace relock
