// SPDX-License-Identifier: MIT
//
// relock check --path: why one section has its verdict, step by step down to the cause.
#include "driver/Check.h"
#include "driver/Subcommand.h"
#include "support/Messages.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

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

struct Found {
  const CheckedClass *Class;
  const CheckedSection *Section;
};

std::vector<Found> sectionsIn(const Decision &Decided, StringRef File) {
  std::vector<Found> Result;
  for (const CheckedClass &Class : Decided.Classes)
    for (const CheckedSection &S : Class.Sections)
      if (names(File, S.Facts.At.File))
        Result.push_back({&Class, &S});
  stable_sort(Result, [](const Found &A, const Found &B) {
    return A.Section->Facts.At < B.Section->Facts.At;
  });
  return Result;
}

void printSection(const Found &F) {
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

void printJson(const std::vector<Found> &Sections) {
  json::OStream J(outs(), 1);
  J.object([&] {
    J.attribute("version", 1);
    J.attributeArray("sections", [&] {
      for (const Found &F : Sections)
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

int noSection(const Place &Wanted, std::vector<Found> InFile) {
  std::string Where = "there is no section at " + Wanted.File + ":" + std::to_string(Wanted.Line);
  stable_sort(InFile, [&](const Found &A, const Found &B) {
    auto Distance = [&](const Found &F) {
      return std::abs(int(F.Section->Facts.At.Line) - int(Wanted.Line));
    };
    return Distance(A) < Distance(B);
  });
  for (size_t I = 0; I < InFile.size() && I < 3; ++I)
    Where += (I ? ", " : "; nearest are ") + shownPlace(InFile[I].Section->Facts.At) + " (" +
             InFile[I].Section->Facts.FunctionName + ")";
  message(Where + (InFile.empty() ? "; the program locks nothing in that file" : ""), "no-section");
  return BadUsage;
}

} // namespace

int showPath(const Decision &Decided, StringRef Text, bool Json) {
  std::optional<Place> Wanted = parsePlace(Text);
  if (!Wanted) {
    message("'" + Text.str() + "' is no place; --path takes FILE:LINE", "usage");
    return BadUsage;
  }
  std::vector<Found> InFile = sectionsIn(Decided, Wanted->File), Sections;
  // The line of the lock; or, if there is none, that of a reason, which check prints as well.
  copy_if(InFile, std::back_inserter(Sections),
          [&](const Found &F) { return F.Section->Facts.At.Line == Wanted->Line; });
  if (Sections.empty())
    copy_if(InFile, std::back_inserter(Sections), [&](const Found &F) {
      return any_of(F.Section->Reasons, [&](const Reason &R) {
        return R.At.Line == Wanted->Line && names(Wanted->File, R.At.File);
      });
    });
  if (Sections.empty())
    return noSection(*Wanted, std::move(InFile));
  if (Json)
    printJson(Sections);
  else
    for (const Found &F : Sections)
      printSection(F);
  return any_of(Sections, [](const Found &F) { return F.Section->Outcome != Verdict::Delegate; })
             ? LookAtThis
             : Done;
}

} // namespace relock
