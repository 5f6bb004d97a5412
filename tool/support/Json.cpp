// SPDX-License-Identifier: MIT
#include "support/Json.h"

using namespace llvm;

namespace relock {

// Reads strings as the parser does; what is no JSON, the parser finds at the same place.
static bool nestsDeeply(StringRef Text) {
  unsigned Depth = 0;
  bool InString = false;
  for (size_t I = 0; I < Text.size(); ++I) {
    char C = Text[I];
    if (C == '"')
      InString = !InString;
    else if (InString)
      I += C == '\\';
    else if ((C == '[' || C == '{') && ++Depth > JsonNesting)
      return true;
    else if (C == ']' || C == '}')
      Depth -= Depth > 0;
  }
  return false;
}

Expected<json::Value> parseJson(StringRef Text) {
  if (nestsDeeply(Text))
    return createStringError("nests deeper than " + Twine(JsonNesting) + " levels");
  return json::parse(Text);
}

} // namespace relock
