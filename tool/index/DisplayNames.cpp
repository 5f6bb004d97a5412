// SPDX-License-Identifier: MIT
#include "index/DisplayNames.h"

#include "support/Source.h"

using namespace clang;
using namespace llvm;

namespace relock {

// `static struct { pthread_mutex_t lock; } expiry;` makes `expiry.lock`.
static std::string typeName(const RecordDecl *Record) {
  if (Record->getIdentifier())
    return Record->getNameAsString();
  if (const TypedefNameDecl *Typedef = Record->getTypedefNameForAnonDecl())
    return Typedef->getNameAsString();
  const NamedDecl *With = declaredWith(Record);
  return With ? displayName(With) : Record->isUnion() ? "union" : "struct";
}

std::string displayName(const NamedDecl *D) {
  std::string Name = D->getNameAsString();
  if (const auto *Field = dyn_cast<FieldDecl>(D))
    return typeName(recordOf(Field)) + "." + Name;
  const auto *V = dyn_cast<VarDecl>(D);
  const auto *F = V ? dyn_cast_or_null<FunctionDecl>(V->getParentFunctionOrMethod()) : nullptr;
  return F ? F->getNameAsString() + "." + Name : Name;
}

} // namespace relock
