// SPDX-License-Identifier: MIT
#include "driver/ReportVerdicts.h"

#include "driver/Check.h"
#include "driver/ProjectOption.h"
#include "program/Merge.h"
#include "support/Messages.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace relock {

namespace {

constexpr size_t SectionsShown = 8; // of a class, with the reasons why they are not delegated

class VerdictWriter {
public:
  VerdictWriter(const IndexResult &Index, const ProjectFile &Declared, const Decision &Decided)
      : Linked(Index, /*AcceptUncovered=*/false, Declared),
        Merges(Index.Units, Linked) {
    for (const CheckedClass &Class : Decided.Classes)
      ByName[Class.Class.Name] = &Class;
  }

  void estimate(Profile &P) const {
    for (ProfiledClass &Class : P.Classes)
      if (const CheckedClass *Checked = find(Class.Name); Checked && Checked->Shared)
        Class.EstimatedSharedLines = Checked->Shared->PerSection;
  }

  std::string write(const Profile &P) {
    std::string Text;
    raw_string_ostream OS(Text);
    json::OStream J(OS);
    J.object([&] {
      J.attributeArray("classes", [&] {
        for (const ProfiledClass &Class : P.Classes)
          if (const CheckedClass *Checked = find(Class.Name))
            write(J, Class.Key, *Checked);
      });
    });
    return Text;
  }

private:
  // The profile tells locks apart that a pointer mixes; they are then of one class.
  const CheckedClass *find(StringRef Name) const {
    if (const CheckedClass *Class = ByName.lookup(Name))
      return Class;
    std::vector<NamedLock> Locks = Merges.named(Name);
    return Locks.size() == 1 ? ByName.lookup(Locks.front().Class->Name) : nullptr;
  }

  static size_t count(const CheckedClass &Class, Verdict V) {
    return count_if(Class.Sections, [&](const CheckedSection &S) { return S.Outcome == V; });
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

  Program Linked;
  MergeFinder Merges;
  StringMap<const CheckedClass *> ByName;
};

} // namespace

std::optional<json::Value> checkProfile(Profile &P, ArrayRef<std::string> Builds,
                                        const cl::opt<std::string> &Project, unsigned Jobs) {
  Expected<IndexResult> Index = indexBuild(Builds.vec(), Jobs);
  if (!Index) {
    message(toString(Index.takeError()), "no-database");
    return std::nullopt;
  }
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
  VerdictWriter Writer(*Index, *Declared, Decided);
  Writer.estimate(P);
  return cantFail(json::parse(Writer.write(P)));
}

} // namespace relock
