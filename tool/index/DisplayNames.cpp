// SPDX-License-Identifier: MIT
#include "index/DisplayNames.h"

using namespace clang;
using namespace llvm;

namespace relock {

// `static struct { pthread_mutex_t lock; } expiry;` makes `expiry.lock`.
void DisplayNames::nameAnonymous(const Decl *D) {
  if (const auto *Record = dyn_cast<RecordDecl>(D))
    for (const FieldDecl *Field : Record->fields())
      nameAnonymousType(Field->getType(), Record->getNameAsString(), Field);
  else if (const auto *V = dyn_cast<VarDecl>(D))
    nameAnonymousType(V->getType(), "", V);
}

void DisplayNames::nameAnonymousType(QualType T, std::string Outer, const NamedDecl *User) {
  const auto *Type = T->getBaseElementTypeUnsafe()->getAs<RecordType>();
  const RecordDecl *Record = Type ? Type->getDecl() : nullptr;
  if (!Record || Record->getIdentifier() || Record->getTypedefNameForAnonDecl() ||
      !User->getIdentifier())
    return;
  std::string Name = (Outer.empty() ? "" : Outer + ".") + User->getNameAsString();
  AnonymousNames.try_emplace(Record, Name);
  for (const FieldDecl *Field : Record->fields())
    nameAnonymousType(Field->getType(), Name, Field);
}

std::string DisplayNames::of(const NamedDecl *D) const {
  std::string Name = D->getNameAsString();
  if (const auto *Field = dyn_cast<FieldDecl>(D)) {
    const RecordDecl *Record = Field->getParent();
    // An anonymous struct inside another is known by the outer one.
    while (Record->isAnonymousStructOrUnion())
      if (const auto *Outer = dyn_cast<RecordDecl>(Record->getDeclContext()))
        Record = Outer;
      else
        break;
    std::string Tag = Record->getNameAsString();
    if (Tag.empty() && Record->getTypedefNameForAnonDecl())
      Tag = Record->getTypedefNameForAnonDecl()->getNameAsString();
    if (Tag.empty())
      Tag = AnonymousNames.lookup(Record);
    return (Tag.empty() ? "struct" : Tag) + "." + Name;
  }
  const auto *V = dyn_cast<VarDecl>(D);
  if (V && V->getParentFunctionOrMethod())
    if (const auto *F = dyn_cast<FunctionDecl>(V->getParentFunctionOrMethod()))
      return F->getNameAsString() + "." + Name;
  return Name;
}

} // namespace relock
