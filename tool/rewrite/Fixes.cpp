// SPDX-License-Identifier: MIT
#include "rewrite/Fixes.h"

#include "support/Messages.h"

#include "clang/Tooling/ReplacementsYaml.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/raw_ostream.h"

using namespace clang::tooling;
using namespace llvm;

namespace relock {

static bool isUtf8(StringRef Text) {
  const UTF8 *Begin = reinterpret_cast<const UTF8 *>(Text.begin());
  return isLegalUTF8String(&Begin, reinterpret_cast<const UTF8 *>(Text.end()));
}

Expected<std::string> fixesText(const RewriteResult &Result) {
  TranslationUnitReplacements All;
  for (const auto &[File, Edits] : Result.Edits) {
    if (!Result.Before.count(File))
      continue; // replacements cannot make a file
    for (const TextEdit &E : Edits) {
      if (!isUtf8(E.Text))
        return createStringError(shownPath(File) + ": what moves in it is not UTF-8, which fixes "
                                                   "cannot hold; use the diff, or --in-place");
      All.Replacements.emplace_back(File, E.At.Begin, E.At.End - E.At.Begin, E.Text);
    }
  }
  std::string Text;
  raw_string_ostream OS(Text);
  yaml::Output Yaml(OS);
  Yaml << All;
  return Text;
}

} // namespace relock
