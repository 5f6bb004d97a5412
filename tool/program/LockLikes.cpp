// SPDX-License-Identifier: MIT
#include "program/LockLikes.h"

#include "program/Effects.h"

#include "llvm/ADT/StringExtras.h"

#include <set>

using namespace llvm;

namespace relock {
namespace {

struct Words {
  StringLiteral Release;
  std::initializer_list<StringLiteral> Takes;
};

const Words Pairs[] = {
    {"unlock", {"lock", "trylock", "try_lock", "timedlock", "rdlock", "wrlock"}},
    {"leave", {"enter", "try", "tryenter", "try_enter"}},
    {"exit", {"enter", "tryenter", "try_enter"}},
    {"release", {"acquire", "tryacquire", "try_acquire"}},
};

Operation kindOf(StringRef Word) {
  return Word.starts_with("try")     ? Operation::TryLock
         : Word.starts_with("timed") ? Operation::TimedLock
                                     : Operation::Lock;
}

// The name with the word at that place replaced, in its case: `Unlock` by `Lock`.
std::string withWord(StringRef Name, size_t At, size_t Length, StringRef Word) {
  std::string Replacement = isUpper(Name[At + 1]) ? Word.upper() : Word.str();
  if (isUpper(Name[At]))
    Replacement[0] = toUpper(Replacement[0]);
  return (Name.take_front(At) + Replacement + Name.drop_front(At + Length)).str();
}

bool isUnknown(const LockLike &L, const Program &Linked) {
  return !Linked.isDefined(L.Function) &&
         !declarationOf(L.Name, /*Defined=*/false, Linked.Project) &&
         none_of(libraryFiles(), [&](auto &Library) { return Library.second.named(L.Name); });
}

} // namespace

std::vector<ProposedOperator> proposeOperators(const std::vector<UnitFacts> &Units,
                                               const Program &Linked) {
  std::map<std::string, LockLike> Candidates;
  for (const UnitFacts &Unit : Units)
    for (const LockLike &L : Unit.LockLikes)
      if (isUnknown(L, Linked))
        Candidates.emplace(L.Name, L);
  std::set<ProposedOperator> Found;
  for (const auto &[Name, Releases] : Candidates)
    for (const Words &Pair : Pairs) {
      size_t At = StringRef(Name).rfind_insensitive(Pair.Release);
      if (At == StringRef::npos)
        continue;
      for (StringRef Word : Pair.Takes) {
        auto Takes = Candidates.find(withWord(Name, At, Pair.Release.size(), Word));
        if (Takes == Candidates.end() || Takes->second.Type != Releases.Type ||
            Takes->second.Argument != Releases.Argument)
          continue;
        Found.insert({Takes->first, {kindOf(Word), Releases.Type, Releases.Argument}});
        Found.insert({Name, {Operation::Unlock, Releases.Type, Releases.Argument}});
      }
    }
  return {Found.begin(), Found.end()};
}

std::map<std::string, size_t> proposeLibraries(const Program &Linked) {
  std::set<std::string> Unknown;
  for (const auto &[Node, F] : Linked.Functions)
    for (const Call &C : F.Calls)
      if (!Linked.isDefined(C.Function) &&
          !declarationOf(C.Name, /*Defined=*/false, Linked.Project))
        Unknown.insert(C.Name);
  std::map<std::string, size_t> Result;
  for (const auto &[Name, File] : libraryFiles())
    if (size_t Known = count_if(Unknown, [&](const std::string &F) { return File.named(F); }))
      Result[Name] = Known;
  return Result;
}

} // namespace relock
