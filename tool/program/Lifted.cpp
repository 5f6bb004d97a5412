// SPDX-License-Identifier: MIT
#include "program/Lifted.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;

namespace relock {

void LiftedFunctions::collect(ArrayRef<Call> Calls, bool AnyThread,
                              std::set<std::string> &Names) const {
  std::set<std::string> Seen;
  SmallVector<const Call *, 32> Open(map_range(Calls, [](const Call &C) { return &C; }));
  while (!Open.empty()) {
    const Call &C = *Open.pop_back_val();
    if (!Seen.insert(C.Function).second)
      continue;
    if (!Linked.isDefined(C.Function) || Wide.isDeclared(C.Function)) {
      Effects Without = Narrow.itself(C), With = Wide.itself(C);
      if ((Without.Refuse && !With.Refuse) || (AnyThread && Without.Identity && !With.Identity))
        Names.insert(C.Name);
      if (Linked.isDefined(C.Function) || !Linked.isFollowed(C.Function))
        continue;
    }
    for (const Call &Further : Linked.Functions.at(C.Function).Calls)
      Open.push_back(&Further);
  }
}

// True for a function that nothing speaks against but what it may call through pointers, or calls
// that is unknown.
static bool onlyPointersHold(const Function &F, const EffectTable &Table) {
  return F.Defined && !F.IndirectCalls.empty() && !F.Waits && !Table.isDeclared(F.Node) &&
         all_of(F.Calls, [&](const Call &C) {
           Effects E = Table.of(C);
           return !E.Refuse || E.Refuse->Code == "unknown-callee" ||
                  E.Refuse->Code == "indirect-call";
         });
}

ProjectFile assumeUnknown(const Program &Linked, const EffectTable &Table) {
  ProjectFile Assumed = Linked.Project;
  for (const auto &[Node, F] : Linked.Functions) {
    if (onlyPointersHold(F, Table))
      Assumed.Functions[F.Name].Effect = FunctionEffect::Identity;
    for (const Call &C : F.Calls) {
      if (Linked.isDefined(C.Function))
        continue;
      Effects E = Table.itself(C);
      if (E.Refuse && E.Refuse->Code == "unknown-callee")
        Assumed.Functions[C.Name].Effect = FunctionEffect::Identity;
    }
  }
  return Assumed;
}

ProjectFile assumePanics(const Program &Linked) {
  ProjectFile Assumed = Linked.Project;
  for (const auto &[Node, F] : Linked.Functions)
    if (Linked.endsProcess(Node) && !declarationOf(F.Name, /*Defined=*/true, Linked.Project))
      Assumed.Functions[F.Name].Effect = FunctionEffect::Ends;
  return Assumed;
}

std::map<std::string, Position> unmatchedEntries(const Program &Linked) {
  const ProjectFile &Project = Linked.Project;
  std::set<const DeclaredFunction *> Matched;
  for (const auto &[Node, F] : Linked.Functions) {
    if (F.Defined)
      Matched.insert(declarationOf(F.Name, /*Defined=*/true, Project));
    for (const Call &C : F.Calls)
      if (!Linked.isDefined(C.Function))
        Matched.insert(declarationOf(C.Name, /*Defined=*/false, Project));
  }
  std::map<std::string, Position> Result;
  for (const auto &[Name, Declared] : Project.Functions)
    if (Declared.Library.empty() && !Matched.count(&Declared))
      Result[Name] = Declared.At;
  for (const auto &[Prefix, Declared] : Project.Prefixes)
    if (Declared.Library.empty() && !Matched.count(&Declared))
      Result[Prefix + "*"] = Declared.At;
  return Result;
}

} // namespace relock
