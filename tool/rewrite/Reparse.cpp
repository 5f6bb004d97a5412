// SPDX-License-Identifier: MIT
#include "rewrite/Reparse.h"

#include "support/Messages.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/xxhash.h"

#include <set>

using namespace llvm;

namespace relock {

// A warning about a lock type names it as it is called now: the types that it quotes do not count,
// nor whether it says what they stand for, as it does of a relock_mutex_t and not of a
// pthread_mutex_t.
static std::string withoutLockTypes(const UnitDiagnostic &D) {
  StringRef Text = D.Text;
  bool OfLocks = any_of(ArrayRef<StringRef>{"pthread_mutex_t", "pthread_cond_t", "relock_"},
                        [&](StringRef Name) { return Text.contains(Name); });
  if (D.Error || !OfLocks)
    return D.Text;
  std::string Result;
  for (bool Quoted = false; !Text.empty(); Quoted = !Quoted) {
    auto [Part, Rest] = Text.split('\'');
    if (!Quoted)
      Result += Part;
    Text = Rest;
  }
  for (size_t At; (At = Result.find(" (aka )")) != std::string::npos;)
    Result.erase(At, StringRef(" (aka )").size());
  return Result;
}

// What is in After and not in Before, as often as it is there: lines may have moved.
static std::vector<UnitDiagnostic> added(std::vector<UnitDiagnostic> Before,
                                         std::vector<UnitDiagnostic> After) {
  std::vector<UnitDiagnostic> Gone, New, Result;
  sort(Before);
  sort(After);
  std::set_difference(Before.begin(), Before.end(), After.begin(), After.end(),
                      std::back_inserter(Gone));
  std::set_difference(After.begin(), After.end(), Before.begin(), Before.end(),
                      std::back_inserter(New));
  std::multiset<std::pair<std::string, std::string>> Renamed; // by file
  for (const UnitDiagnostic &D : Gone)
    if (!D.Error)
      Renamed.emplace(D.At.File, withoutLockTypes(D));
  for (UnitDiagnostic &D : New)
    if (auto Same = Renamed.find({D.At.File, withoutLockTypes(D)});
        !D.Error && Same != Renamed.end())
      Renamed.erase(Same);
    else
      Result.push_back(std::move(D));
  return Result;
}

Reparser::Reparser(const IndexResult &Index, unsigned Jobs)
    : Index(Index), Count(Index.Units.size() + Index.NotC.size()), Jobs(Jobs), Good(Count),
      Before(Count) {
  for (size_t Unit = 0; Unit < Count; ++Unit)
    eachFile(Unit, [&](const std::string &File) { Read.insert(File); });
}

void Reparser::eachFile(size_t Unit, function_ref<void(const std::string &)> Visit) const {
  if (Unit < Index.Units.size())
    for (const Dependency &D : Index.Units[Unit].Dependencies)
      Visit(D.File);
  else
    for (const std::string &File : Index.NotC[Unit - Index.Units.size()].Includes)
      Visit(File);
}

bool Reparser::reads(size_t Unit, StringRef File) const {
  bool Result = false;
  eachFile(Unit, [&](const std::string &Other) { Result |= Other == File; });
  return Result;
}

// Of the changed texts that a unit reads, and of the new ones, which it may read then; empty: it
// reads none.
std::string Reparser::hashOf(size_t Unit, const FileTexts &Changed) const {
  std::string Hash;
  eachFile(Unit, [&](const std::string &File) {
    if (auto Text = Changed.find(File); Text != Changed.end())
      Hash += utohexstr(xxh3_64bits(Text->second)) + " ";
  });
  if (!Hash.empty())
    for (const auto &[File, Text] : Changed)
      if (!Read.contains(File))
        Hash += utohexstr(xxh3_64bits(Text)) + " ";
  return Hash;
}

std::vector<UnitDiagnostic> Reparser::of(size_t Unit, const FileTexts &Changed) {
  const size_t OfC = Index.Units.size();
  const clang::tooling::CompileCommand &Command =
      Unit < OfC ? Index.Commands[Unit] : Index.CommandsNotC[Unit - OfC];
  std::vector<UnitDiagnostic> After = parseUnit(Command, {}, &Changed, Warnings::All);
  if (After.empty()) // mostly, and then it does not matter which there were before
    return {};
  if (!Before[Unit])
    Before[Unit] = parseUnit(Command, {}, nullptr, Warnings::All);
  return added(*Before[Unit], std::move(After));
}

std::vector<NewDiagnostic> Reparser::all(const FileTexts &Changed) {
  std::vector<size_t> Units;
  std::vector<std::string> Hashes;
  for (size_t I = 0; I < Count; ++I)
    if (std::string Hash = hashOf(I, Changed); !Hash.empty() && !Good[I].count(Hash)) {
      Units.push_back(I);
      Hashes.push_back(std::move(Hash));
    }
  std::vector<std::vector<UnitDiagnostic>> PerUnit(Units.size());
  Progress Shown("checking the result,", Units.size());
  DefaultThreadPool Pool(hardware_concurrency(Jobs));
  for (size_t I = 0; I < Units.size(); ++I)
    Pool.async([&, I] {
      PerUnit[I] = of(Units[I], Changed);
      Shown.step();
    });
  Pool.wait();
  std::vector<NewDiagnostic> Found;
  for (size_t I = 0; I < Units.size(); ++I) {
    if (PerUnit[I].empty())
      Good[Units[I]].insert(std::move(Hashes[I]));
    for (UnitDiagnostic &D : PerUnit[I])
      Found.push_back({Units[I], std::move(D)});
  }
  return Found;
}

} // namespace relock
