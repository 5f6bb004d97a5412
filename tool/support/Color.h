// SPDX-License-Identifier: MIT
//
// Colors in what people read on a terminal, and nowhere else. (`NO_COLOR`: no-color.org.)
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace relock {

enum class ColorMode { Auto, Always, Never };
void setColorMode(ColorMode Mode); // Auto without it

// What a text is, not how it looks.
enum class Style { Heading, Place, Code, Good, Doubtful, Bad };

// The text as the stream shows it: with colors where it is a terminal that has some and NO_COLOR
// does not forbid it, or where the user wants them always; else as it is. Only standard output and
// standard error ever have colors.
std::string painted(llvm::StringRef Text, Style As, const llvm::raw_ostream &OS);

} // namespace relock
