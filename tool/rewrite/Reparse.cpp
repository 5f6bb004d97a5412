// SPDX-License-Identifier: MIT
#include "rewrite/Reparse.h"

#include "support/Messages.h"

#include "llvm/Support/ThreadPool.h"

using namespace llvm;

namespace relock {

static bool touches(const UnitFacts &Unit, const FileTexts &Changed) {
  return any_of(Unit.Dependencies, [&](const Dependency &D) { return Changed.count(D.File) != 0; });
}

// What is in After and not in Before, as often as it is there: lines may have moved.
static std::vector<UnitDiagnostic> added(std::vector<UnitDiagnostic> Before,
                                         std::vector<UnitDiagnostic> After) {
  std::vector<UnitDiagnostic> Result;
  sort(Before);
  sort(After);
  std::set_difference(After.begin(), After.end(), Before.begin(), Before.end(),
                      std::back_inserter(Result));
  return Result;
}

std::vector<UnitDiagnostic> newDiagnostics(const IndexResult &Index, const FileTexts &Changed,
                                           unsigned Jobs) {
  std::vector<std::vector<UnitDiagnostic>> PerUnit(Index.Commands.size());
  Progress Shown("checking the result,", count_if(Index.Units, [&](const UnitFacts &Unit) {
                   return touches(Unit, Changed);
                 }));
  DefaultThreadPool Pool(hardware_concurrency(Jobs));
  for (size_t I = 0; I < PerUnit.size(); ++I)
    if (touches(Index.Units[I], Changed))
      Pool.async([&, I] {
        // Mostly there are none, and then it does not matter which there were before.
        std::vector<UnitDiagnostic> After = parseUnit(Index.Commands[I], {}, &Changed);
        if (!After.empty())
          PerUnit[I] = added(parseUnit(Index.Commands[I], {}), std::move(After));
        Shown.step();
      });
  Pool.wait();
  std::vector<UnitDiagnostic> All;
  for (auto &Unit : PerUnit)
    All.insert(All.end(), Unit.begin(), Unit.end());
  return All;
}

} // namespace relock
