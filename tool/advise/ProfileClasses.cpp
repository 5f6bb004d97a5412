// SPDX-License-Identifier: MIT
#include "advise/ProfileClasses.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

#include <algorithm>

using namespace llvm;

namespace relock {

static std::string lineKey(StringRef File, unsigned Line) {
  return (sys::path::filename(File) + ":" + Twine(Line)).str();
}

ProfileClasses::ProfileClasses(const std::vector<UnitFacts> &Units, const Program &Linked,
                               const Decision &Decided, std::function<bool(StringRef)> IsConverted)
    : Merges(Units, Linked), IsConverted(std::move(IsConverted)) {
  for (const CheckedClass &Class : Decided.Classes) {
    ByName[Class.Class.Name] = &Class;
    for (const CheckedSection &S : Class.Sections)
      Acquisitions.emplace(lineKey(S.Facts.At.File, S.Facts.At.Line),
                           Acquisition{S.Facts.At.File, S.Facts.FunctionName, &Class});
  }
  for (const UncoveredSite &Site : Decided.Uncovered)
    Acquisitions.emplace(lineKey(Site.At.File, Site.At.Line),
                         Acquisition{Site.At.File, "", nullptr});
  for (const UnitFacts &Unit : Units) {
    Files.insert(sys::path::filename(Unit.MainFile).str());
    for (const Dependency &D : Unit.Dependencies)
      Files.insert(sys::path::filename(D.File).str());
    for (const Declaration &D : Unit.Declarations)
      if (const LockClass *Class = Linked.classOf(D.Node); Class && ByName.count(Class->Name))
        Declarations.emplace(lineKey(D.At.File, D.At.Line), std::pair(&D, ByName.at(Class->Name)));
  }
}

// --- Declarations
// ---------------------------------------------------------------------------------

static size_t commonEnd(StringRef A, StringRef B) {
  size_t Length = 0;
  while (Length < std::min(A.size(), B.size()) &&
         A[A.size() - Length - 1] == B[B.size() - Length - 1])
    ++Length;
  return Length;
}

// Of files of one name that whose path ends most like that of the profile: the sources may lie
// elsewhere now. Several in one line have names.
const CheckedClass *ProfileClasses::declaredAt(const ProfiledClass &Class) const {
  if (Class.DeclaredAs.empty())
    return nullptr;
  auto [First, Last] = Declarations.equal_range(lineKey(Class.File, unsigned(Class.Line)));
  std::map<std::tuple<size_t, bool>, Classes> Ranked;
  for (const auto &[Line, Declared] : make_range(First, Last)) {
    const auto &[D, Found] = Declared;
    Ranked[{commonEnd(D->At.File, Class.File), D->Name == Class.DeclaredAs}].insert(Found);
  }
  if (Ranked.empty() || Ranked.rbegin()->second.size() != 1)
    return nullptr;
  return *Ranked.rbegin()->second.begin();
}

const CheckedClass *ProfileClasses::named(StringRef Name) const {
  std::vector<NamedLock> Found = Merges.named(Name);
  auto Checked = Found.size() == 1 ? ByName.find(Found.front().Class->Name) : ByName.end();
  return Checked == ByName.end() ? nullptr : Checked->second;
}

// A profile tells classes of one name apart by a file before the name, or by a caller behind it.
// One that is known by a call only has its place.
const CheckedClass *ProfileClasses::byName(const ProfiledClass &Class) const {
  StringRef Name = StringRef(Class.Name).split(" from ").first.split(" #").first;
  if (const CheckedClass *Found = named(Name))
    return Found;
  if (!Class.DeclaredAs.empty())
    return named(Class.DeclaredAs);
  bool IsCall = Class.Line && Class.Kind != "static";
  return IsCall ? named(lineKey(Class.File, unsigned(Class.Line))) : nullptr;
}

// --- Acquisitions
// ---------------------------------------------------------------------------------

// `function (file.c:12)`; no line: `function (module+0x1a2b)`, or the latter alone.
struct SourceCall {
  StringRef Function, File;
  unsigned Line = 0;

  explicit SourceCall(StringRef Text) {
    auto [Before, Place] = Text.rsplit(" (");
    Function = Before;
    StringRef Number;
    std::tie(File, Number) = Place.rsplit(':');
    if (!Number.consume_back(")") || Number.getAsInteger(10, Line))
      Line = 0;
  }
};

ProfileClasses::Classes ProfileClasses::acquiredIn(StringRef Text, Evidence &Found) const {
  SourceCall Call(Text);
  auto [First, Last] = Acquisitions.equal_range(lineKey(Call.File, Call.Line));
  Classes Acquired;
  for (const auto &[Line, Site] : make_range(First, Last)) {
    Found.Uncovered |= !Site.Class;
    if (Site.Class && Site.Function == Call.Function)
      Acquired.insert(Site.Class);
  }
  Found.HasLine |= Call.Line != 0;
  Found.InFiles |= Call.Line && Files.count(Call.File.str());
  return Acquired;
}

ProfileClasses::Evidence ProfileClasses::evidenceOf(const ProfiledClass &Class) const {
  Evidence Found;
  bool IsFirst = true;
  for (const CallSite &Site : Class.Sites) {
    if (Site.Stack.empty() || Site.Reading)
      continue;
    Classes Here = acquiredIn(Site.Stack.front(), Found);
    if (Here.empty() && Found.Unknown.empty())
      Found.Unknown = Site.Stack.front();
    if (Here.empty())
      continue;
    Found.All.insert(Here.begin(), Here.end());
    if (std::exchange(IsFirst, false))
      Found.Everywhere = Here;
    else
      erase_if(Found.Everywhere, [&](const CheckedClass *Known) { return !Here.count(Known); });
  }
  return Found;
}

// --- Both
// -----------------------------------------------------------------------------------------

static std::string quotedNames(const std::set<const CheckedClass *> &Classes) {
  std::vector<std::string> Names;
  for (const CheckedClass *Class : Classes)
    Names.push_back("'" + Class->Class.Name + "'");
  sort(Names);
  return join(Names, ", ");
}

std::string ProfileClasses::whyNone(const Profile &P, const ProfiledClass &Class,
                                    const Evidence &Calls) {
  if (Calls.All.size() > 1)
    return "its calls acquire several classes of the sources, " + quotedNames(Calls.All) +
           ", which the call that initialises them does not tell apart";
  if (Class.Sites.empty())
    return "no call that acquires it was sampled; profile with --sample-interval=0";
  if (Calls.Uncovered)
    return "it is acquired in " + Calls.Unknown +
           ", in text that no configuration of the compile database compiles";
  if (Calls.InFiles)
    return "it is acquired in " + Calls.Unknown +
           ", where these sources acquire no lock: they are not those that were profiled; build "
           "and "
           "profile again";
  if (Calls.HasLine)
    return "it is acquired in " + Calls.Unknown +
           ", a file that is not in the compile database: of a library, or of another program?";
  StringRef Module = StringRef(Calls.Unknown).rsplit('(').second.split('+').first;
  if (Module.empty())
    Module = StringRef(Calls.Unknown).split('+').first;
  if (Module == sys::path::filename(P.Executable))
    return (Module + " has no debug information; build it with -g, and profile again").str();
  return (Module + ", which acquires it, has no debug information; if it is part of this build, "
                   "build it with -g, and profile again")
      .str();
}

// What an address is of is known for sure; a call that initialises mutexes can be several calls of
// the sources. A library may have a variable of the same name as the program.
SourceClass ProfileClasses::find(const Profile &P, const ProfiledClass &Class) const {
  SourceClass Result;
  if (Class.Primitive != "mutex") {
    Result.Why = "only mutexes are converted, and it is none (" + Class.Primitive + ")";
    return Result;
  }
  Evidence Calls = evidenceOf(Class);
  bool IsForeign = Calls.HasLine && !Calls.InFiles;
  const CheckedClass *Declared = declaredAt(Class);
  if (!Declared && !IsForeign)
    Declared = byName(Class);
  bool IsContradicted = !Calls.All.empty() && !Calls.Everywhere.count(Declared);
  if (Declared && (!IsContradicted || Class.Kind == "static"))
    Result.Class = Declared;
  else if (Calls.Everywhere.size() == 1)
    Result.Class = *Calls.Everywhere.begin();
  else if (Class.Runtime || IsConverted(Class.Name) ||
           (!Class.DeclaredAs.empty() && IsConverted(Class.DeclaredAs)))
    Result.Converted = true;
  else
    Result.Why = whyNone(P, Class, Calls);
  return Result;
}

std::optional<double> takenPart(const CheckedClass &Class, const ProfiledClass &Profiled,
                                function_ref<bool(const CheckedSection &)> Has) {
  std::map<std::string, bool> HasIt; // by FILE:LINE
  for (const CheckedSection &S : Class.Sections) {
    auto [Known, IsNew] = HasIt.try_emplace(lineKey(S.Facts.At.File, S.Facts.At.Line), true);
    Known->second &= Has(S); // two on a line: nobody knows which one it was
  }
  double Known = 0, Taken = 0;
  for (const CallSite &Site : Profiled.Sites) {
    if (Site.Stack.empty())
      continue;
    SourceCall Call(Site.Stack.front());
    auto Found = HasIt.find(lineKey(Call.File, Call.Line));
    if (Found == HasIt.end())
      continue;
    Known += double(Site.Acquisitions);
    Taken += Found->second ? double(Site.Acquisitions) : 0;
  }
  return Known > 0 ? std::optional(Taken / Known) : std::nullopt;
}

double delegatedPart(const CheckedClass &Class, const ProfiledClass &Profiled) {
  auto IsDelegated = [](const CheckedSection &S) { return S.Outcome == Verdict::Delegate; };
  if (std::optional<double> Taken = takenPart(Class, Profiled, IsDelegated))
    return *Taken;
  const size_t All = Class.Sections.size();
  return All ? double(count_if(Class.Sections, IsDelegated)) / double(All) : 0;
}

} // namespace relock
