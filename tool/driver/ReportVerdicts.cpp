// SPDX-License-Identifier: MIT
#include "driver/ReportVerdicts.h"

#include "advise/ProfileClasses.h"
#include "driver/Check.h"
#include "driver/PlanOption.h"
#include "driver/ProjectOption.h"
#include "driver/ReadProgram.h"
#include "support/Messages.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace relock {

namespace {

constexpr size_t SectionsShown = 8; // of a class, with the reasons why they are not delegated

class VerdictWriter {
public:
  explicit VerdictWriter(const ProfileClasses &Classes) : Classes(Classes) {}

  void estimate(Profile &P) const {
    for (ProfiledClass &Class : P.Classes) {
      SourceClass Found = Classes.find(P, Class);
      if (Found.Class)
        Class.SourceClass = Found.Class->Class.Name;
      Class.NoSourceClass = Found.Converted ? "an earlier rewrite has converted it" : Found.Why;
      if (Found.Class && Found.Class->Shared)
        Class.EstimatedSharedLines = Found.Class->Shared->PerSection;
    }
  }

  std::string write(const Profile &P) {
    std::string Text;
    raw_string_ostream OS(Text);
    json::OStream J(OS);
    J.object([&] {
      J.attributeArray("classes", [&] {
        for (const ProfiledClass &Class : P.Classes)
          if (SourceClass Found = Classes.find(P, Class); Found.Class)
            write(J, Class.Key, *Found.Class);
      });
      J.attributeArray("others", [&] {
        for (const ProfiledClass &Class : P.Classes)
          if (SourceClass Found = Classes.find(P, Class); !Found.Class)
            write(J, Class.Key, Found);
      });
    });
    return Text;
  }

private:
  static size_t count(const CheckedClass &Class, Verdict V) {
    return count_if(Class.Sections, [&](const CheckedSection &S) { return S.Outcome == V; });
  }

  static void write(json::OStream &J, StringRef Key, const SourceClass &None) {
    J.object([&] {
      J.attribute("key", Key);
      if (None.Converted)
        J.attribute("converted", true);
      else
        J.attribute("why", None.Why);
    });
  }

  static void write(json::OStream &J, StringRef Key, const CheckedClass &Class) {
    J.object([&] {
      J.attribute("key", Key);
      J.attribute("name", Class.Class.Name);
      J.attribute("verdict", Class.converts() ? "convert" : "keep");
      J.attribute("declaration", shownPlace(Class.Class.At));
      writeReasons(J, Class.Class.Kept);
      if (Class.Shared)
        J.attributeObject("shared_lines", [&] {
          J.attribute("per_section", Class.Shared->PerSection);
          J.attribute("known", int64_t(Class.Shared->Known));
          J.attribute("sections", int64_t(Class.Shared->Sections));
        });
      J.attribute("delegate", int64_t(count(Class, Verdict::Delegate)));
      J.attribute("hold", int64_t(count(Class, Verdict::Hold)));
      J.attribute("keep", int64_t(count(Class, Verdict::Keep)));
      J.attributeArray("held", [&] {
        size_t Shown = 0;
        for (const CheckedSection &S : Class.Sections)
          if (S.Outcome != Verdict::Delegate && Shown++ < SectionsShown)
            write(J, S);
      });
    });
  }

  static void write(json::OStream &J, const CheckedSection &S) {
    J.object([&] {
      J.attribute("function", S.Facts.FunctionName);
      J.attribute("location", shownPlace(S.Facts.At));
      J.attribute("verdict", verdictName(S.Outcome));
      writeReasons(J, S.Reasons);
    });
  }

  const ProfileClasses &Classes;
};

} // namespace

std::optional<json::Value> checkProfile(Profile &P, ArrayRef<std::string> Builds,
                                        const cl::opt<std::string> &Project, unsigned Jobs) {
  std::optional<IndexResult> Index = readProgram(Builds, Jobs);
  if (!Index)
    return std::nullopt;
  std::optional<ProjectFile> Declared = loadProject(Project, Builds, *Index);
  if (!Declared)
    return std::nullopt;
  if (!Index->Unparsed.empty()) {
    message("which lock classes convert is only known when every file is; no report was written",
            "unparsed");
    return std::nullopt;
  }
  Extras Wanted;
  Wanted.SharedLines = true;
  Decision Decided = decide(*Index, *Declared, Jobs, /*AcceptUncovered=*/false, Wanted);
  reportUnmatched(Decided);
  Program Linked(*Index, /*AcceptUncovered=*/false, *Declared);
  ProfileClasses Classes(Index->Units, Linked, Decided,
                         [&](StringRef Name) { return isConverted(*Index, Name); });
  VerdictWriter Writer(Classes);
  Writer.estimate(P);
  return cantFail(json::parse(Writer.write(P)));
}

} // namespace relock
