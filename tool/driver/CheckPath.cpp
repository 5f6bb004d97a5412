// SPDX-License-Identifier: MIT
//
// relock check --path: why one section has its verdict, step by step down to the cause.
#include "driver/Check.h"
#include "driver/SectionPlace.h"
#include "driver/Subcommand.h"
#include "support/Messages.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace relock {
namespace {

void printSection(const FoundSection &F) {
  const CheckedSection &S = *F.Section;
  outs() << shownPlace(S.Facts.At) << ": " << S.Facts.FunctionName << " locks '"
         << F.Class->Class.Name << "': " << verdictName(S.Outcome) << ", "
         << shapeName(S.Facts.Form) << "\n";
  // A class that is kept has reasons of its own, each at its place.
  bool Kept = S.Outcome == Verdict::Keep;
  for (const Reason &R : Kept ? F.Class->Class.Kept : S.Reasons) {
    outs() << "  " << (Kept ? "the class " : "") << R.Message << " [" << R.Code << "]\n";
    if (R.Way.empty())
      outs() << "    " << shownPlace(R.At) << ": here\n";
    for (const Step &Next : R.Way)
      outs() << "    " << shownPlace(Next.At) << ": " << Next.Text << "\n";
  }
}

void printJson(const std::vector<FoundSection> &Sections) {
  json::OStream J(outs(), 1);
  J.object([&] {
    J.attribute("version", 1);
    J.attributeArray("sections", [&] {
      for (const FoundSection &F : Sections)
        J.object([&] {
          J.attribute("class", F.Class->Class.Name);
          J.attribute("function", F.Section->Facts.FunctionName);
          J.attribute("location", shownPlace(F.Section->Facts.At));
          J.attribute("shape", shapeName(F.Section->Facts.Form));
          J.attribute("verdict", verdictName(F.Section->Outcome));
          writeReasons(J, F.Section->Outcome == Verdict::Keep ? F.Class->Class.Kept
                                                              : F.Section->Reasons);
        });
    });
  });
  outs() << "\n";
}

} // namespace

int showPath(const Decision &Decided, StringRef Place, bool Json) {
  std::vector<FoundSection> Sections = sectionsAt(Decided, Place, "--path");
  if (Sections.empty())
    return BadUsage;
  if (Json)
    printJson(Sections);
  else
    for (const FoundSection &F : Sections)
      printSection(F);
  return any_of(Sections,
                [](const FoundSection &F) { return F.Section->Outcome != Verdict::Delegate; })
             ? LookAtThis
             : Done;
}

} // namespace relock
