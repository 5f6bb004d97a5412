// SPDX-License-Identifier: MIT
#include "driver/SectionPlace.h"

#include "support/Messages.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace relock {
namespace {

struct Place {
  std::string File;
  unsigned Line = 0;
};

// `FILE:LINE`, as check prints it, or `FILE:LINE:COLUMN`, as compilers do.
std::optional<Place> parsePlace(StringRef Text) {
  Place P;
  auto [Rest, Last] = Text.rsplit(':');
  auto [File, Line] = Rest.rsplit(':');
  unsigned Column;
  if (!Line.empty() && !Last.getAsInteger(10, Column) && !Line.getAsInteger(10, P.Line))
    P.File = File.str();
  else if (!Last.getAsInteger(10, P.Line))
    P.File = Rest.str();
  return P.File.empty() ? std::nullopt : std::optional(P);
}

// The end of a path names the file too: `items.c` for `src/items.c`.
bool names(StringRef Wanted, StringRef File) {
  SmallString<256> Absolute(Wanted);
  if (!sys::fs::make_absolute(Absolute))
    sys::path::remove_dots(Absolute, /*remove_dot_dot=*/true);
  return File == Absolute || File.ends_with(("/" + Wanted).str());
}

std::vector<FoundSection> sectionsIn(const Decision &Decided, StringRef File) {
  std::vector<FoundSection> Result;
  for (const CheckedClass &Class : Decided.Classes)
    for (const CheckedSection &S : Class.Sections)
      if (names(File, S.Facts.At.File))
        Result.push_back({&Class, &S});
  stable_sort(Result, [](const FoundSection &A, const FoundSection &B) {
    return A.Section->Facts.At < B.Section->Facts.At;
  });
  return Result;
}

void noSection(const Place &Wanted, std::vector<FoundSection> InFile) {
  std::string Where = "there is no section at " + Wanted.File + ":" + std::to_string(Wanted.Line);
  stable_sort(InFile, [&](const FoundSection &A, const FoundSection &B) {
    auto Distance = [&](const FoundSection &F) {
      return std::abs(int(F.Section->Facts.At.Line) - int(Wanted.Line));
    };
    return Distance(A) < Distance(B);
  });
  for (size_t I = 0; I < InFile.size() && I < 3; ++I)
    Where += (I ? ", " : "; nearest are ") + shownPlace(InFile[I].Section->Facts.At) + " (" +
             InFile[I].Section->Facts.FunctionName + ")";
  message(Where + (InFile.empty() ? "; the program locks nothing in that file" : ""), "no-section");
}

} // namespace

std::vector<FoundSection> sectionsAt(const Decision &Decided, StringRef Text, StringRef Option) {
  std::optional<Place> Wanted = parsePlace(Text);
  if (!Wanted) {
    message("'" + Text.str() + "' is no place; " + Option.str() + " takes FILE:LINE", "usage");
    return {};
  }
  std::vector<FoundSection> InFile = sectionsIn(Decided, Wanted->File), Sections;
  copy_if(InFile, std::back_inserter(Sections),
          [&](const FoundSection &F) { return F.Section->Facts.At.Line == Wanted->Line; });
  if (Sections.empty())
    copy_if(InFile, std::back_inserter(Sections), [&](const FoundSection &F) {
      return any_of(F.Section->Reasons, [&](const Reason &R) {
        return R.At.Line == Wanted->Line && names(Wanted->File, R.At.File);
      });
    });
  if (Sections.empty())
    noSection(*Wanted, std::move(InFile));
  return Sections;
}

} // namespace relock
