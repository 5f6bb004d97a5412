// SPDX-License-Identifier: MIT
#include "index/Undefined.h"

#include "index/LockApi.h"

#include "llvm/ADT/SetVector.h"

using namespace clang;
using namespace llvm;

namespace relock {

static const RecordType *recordTypeBehind(QualType T) {
  for (;;) {
    if (T->isAnyPointerType())
      T = T->getPointeeType();
    else if (const auto *Array = T->getAsArrayTypeUnsafe())
      T = Array->getElementType();
    else
      break;
  }
  return T->getAs<RecordType>();
}

static const RecordDecl *recordBehind(QualType T) {
  const RecordType *Record = recordTypeBehind(T);
  return Record ? Record->getDecl()->getDefinition() : nullptr;
}

// Through members, and what they point to: whoever knows a struct knows these types, too.
static std::set<std::string> locksReachedFrom(const RecordDecl *Record, const Source &S) {
  std::set<std::string> Locks;
  SmallSetVector<const RecordDecl *, 16> Reached;
  Reached.insert(Record);
  for (size_t I = 0; I < Reached.size(); ++I)
    for (const FieldDecl *Field : Reached[I]->fields())
      if (SyncType Sync = syncType(Field->getType());
          Sync == SyncType::Mutex || Sync == SyncType::Condition)
        Locks.insert(nodeFor(Field, S));
      else if (const RecordDecl *Next = recordBehind(Field->getType()))
        Reached.insert(Next);
  return Locks;
}

std::string UndefinedUses::recordWithLocks(const RecordDecl *Record) {
  auto [It, New] = Known.try_emplace(Record);
  if (!New)
    return It->second;
  std::set<std::string> Locks = locksReachedFrom(Record, S);
  if (Locks.empty())
    return "";
  std::string Node = nodeFor(Record, S);
  Facts.LockRecords.push_back({Node, {Locks.begin(), Locks.end()}});
  return Known[Record] = Node;
}

std::vector<std::string> UndefinedUses::recordsIn(QualType T) {
  SmallVector<QualType, 8> Parts = {T};
  if (const auto *F = T->getAs<FunctionProtoType>()) {
    Parts = {F->getReturnType()};
    Parts.append(F->param_type_begin(), F->param_type_end());
  }
  std::set<std::string> Records;
  for (QualType Part : Parts)
    if (const RecordDecl *Record = recordBehind(Part))
      if (std::string Node = recordWithLocks(Record); !Node.empty())
        Records.insert(std::move(Node));
  return {Records.begin(), Records.end()};
}

void UndefinedUses::use(const ValueDecl *D) {
  const auto *V = dyn_cast<VarDecl>(D);
  const auto *F = dyn_cast<FunctionDecl>(D);
  bool DefinedHere = V ? V->hasDefinition() != VarDecl::DeclarationOnly : F && F->isDefined();
  if ((!V && !F) || DefinedHere || !D->hasExternalFormalLinkage() ||
      S.inSystemHeader(D->getLocation()) || !Seen.insert(D->getCanonicalDecl()).second)
    return;
  std::vector<std::string> Records = recordsIn(D->getType());
  if (!Records.empty())
    Facts.UndefinedUses.push_back({nodeFor(D, S), D->getNameAsString(), F != nullptr,
                                   std::move(Records), S.shown(D->getLocation())});
}

// The unit need not know what its users know of the type.
void UndefinedUses::define(const VarDecl *V) {
  if (V->isFileVarDecl() && V->hasExternalFormalLinkage() &&
      V->isThisDeclarationADefinition() != VarDecl::DeclarationOnly &&
      recordTypeBehind(V->getType()))
    Facts.DefinedVariables.push_back(nodeFor(V, S));
}

} // namespace relock
