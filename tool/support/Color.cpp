// SPDX-License-Identifier: MIT
#include "support/Color.h"

#include "llvm/ADT/Twine.h"

#include <cstdlib>

using namespace llvm;

namespace relock {

static ColorMode Chosen = ColorMode::Auto;

void setColorMode(ColorMode Mode) { Chosen = Mode; }

static bool showsColors(const raw_ostream &OS) {
  if (Chosen == ColorMode::Never || (&OS != &outs() && &OS != &errs()))
    return false;
  if (Chosen == ColorMode::Always)
    return true;
  StringRef Forbidden = getenv("NO_COLOR");
  return Forbidden.empty() && OS.has_colors(); // which knows terminals by TERM
}

static StringRef sequence(Style As) {
  switch (As) {
  case Style::Heading:
  case Style::Place:
    return "\033[1m"; // bold
  case Style::Code:
    return "\033[36m"; // cyan
  case Style::Good:
    return "\033[32m"; // green
  case Style::Doubtful:
    return "\033[33m"; // yellow
  case Style::Bad:
    return "\033[31m"; // red
  }
  return "";
}

std::string painted(StringRef Text, Style As, const raw_ostream &OS) {
  if (Text.empty() || !showsColors(OS))
    return Text.str();
  return (Twine(sequence(As)) + Text + "\033[0m").str();
}

} // namespace relock
