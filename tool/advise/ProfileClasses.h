// SPDX-License-Identifier: MIT
//
// Which lock class of the sources a lock class of a profile is: by its declaration, by the
// operation that initialises it, or by where it is acquired; and where it is none, why.
#pragma once

#include "profile/Profile.h"
#include "program/Decide.h"
#include "program/Merge.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace relock {

struct SourceClass {
  const CheckedClass *Class = nullptr;
  bool Converted = false; // by an earlier rewrite: it is no lock class of the sources any more
  std::string Why;        // neither: what is known of it, and what would help
};

// Of the acquisitions of a class in a profile, those whose sections can be delegated, from 0 to 1:
// by the calls that were sampled, and where none of them is known, by the number of sections.
double delegatedPart(const CheckedClass &Class, const ProfiledClass &Profiled);
// The same of sections with another property; none: none of the calls is known.
std::optional<double> takenPart(const CheckedClass &Class, const ProfiledClass &Profiled,
                                llvm::function_ref<bool(const CheckedSection &)> Has);

class ProfileClasses {
public:
  // IsConverted: true for the name of a class that an earlier rewrite has converted.
  ProfileClasses(const std::vector<UnitFacts> &Units, const Program &Linked,
                 const Decision &Decided, std::function<bool(llvm::StringRef)> IsConverted);

  SourceClass find(const Profile &P, const ProfiledClass &Class) const;

private:
  using Classes = std::set<const CheckedClass *>;
  // A line that acquires a lock, or would in another configuration.
  struct Acquisition {
    std::string File, Function;
    const CheckedClass *Class; // null: text that no configuration compiles
  };
  // What the sources say of the calls that acquire a class of a profile.
  struct Evidence {
    Classes All, Everywhere; // of any call; of each call that is known at all
    std::string Unknown;     // the first call that acquires no lock in the sources
    bool HasLine = false, InFiles = false, Uncovered = false;
  };

  const CheckedClass *declaredAt(const ProfiledClass &Class) const;
  const CheckedClass *named(llvm::StringRef Name) const;
  const CheckedClass *byName(const ProfiledClass &Class) const;
  Evidence evidenceOf(const ProfiledClass &Class) const;
  Classes acquiredIn(llvm::StringRef Call, Evidence &Found) const;
  static std::string whyNone(const Profile &P, const ProfiledClass &Class, const Evidence &Calls);

  MergeFinder Merges;
  std::function<bool(llvm::StringRef)> IsConverted;
  std::map<std::string, const CheckedClass *> ByName;
  // By FILE:LINE, the file without its folder, as profiles have it.
  std::multimap<std::string, std::pair<const Declaration *, const CheckedClass *>> Declarations;
  std::multimap<std::string, Acquisition> Acquisitions;
  std::set<std::string> Files;
};

} // namespace relock
