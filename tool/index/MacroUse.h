// SPDX-License-Identifier: MIT
//
// The use of a macro in a file, written out.
#pragma once

#include "support/Source.h"

#include "clang/Lex/Preprocessor.h"

#include <map>
#include <optional>
#include <string>

namespace relock {

// The body of the macro that is used at Use, with the arguments of that use in place of its
// parameters and with Changes, texts that take the place of tokens of the body, by their place;
// macros in the body stay as they are. None if the macro makes strings or pastes tokens, or if a
// token to be changed is not one of its body.
std::optional<std::string> expandOnce(clang::SourceLocation Use,
                                      const std::map<clang::SourceLocation, std::string> &Changes,
                                      const Source &S, clang::Preprocessor &PP);

// The operations of POSIX that the body of the macro names.
unsigned operationsNamed(clang::SourceLocation Use, const Source &S, clang::Preprocessor &PP);

} // namespace relock
