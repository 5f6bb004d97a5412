// SPDX-License-Identifier: MIT
#include "index/Touched.h"

#include "index/LockApi.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/RecordLayout.h"

#include <map>

using namespace clang;
using namespace llvm;

namespace relock {

namespace {

constexpr int64_t LineSize = 64, MostLines = 64;

class Toucher {
public:
  Toucher(const Source &S, function_ref<bool(const Stmt *)> Leaves) : S(S), Leaves(Leaves) {}

  // Of an expression, what evaluating it touches; the object that it names is for its user to say.
  void visit(const Stmt *Statement) {
    if (!Statement || Leaves(Statement))
      return;
    if (const auto *Cast = dyn_cast<ImplicitCastExpr>(Statement);
        Cast && Cast->getCastKind() == CK_LValueToRValue)
      touch(Cast->getSubExpr(), false);
    if (const auto *Binary = dyn_cast<BinaryOperator>(Statement);
        Binary && Binary->isAssignmentOp())
      touch(Binary->getLHS(), true);
    if (const auto *Unary = dyn_cast<UnaryOperator>(Statement);
        Unary && Unary->isIncrementDecrementOp())
      touch(Unary->getSubExpr(), true);
    if (const auto *Atomic = dyn_cast<AtomicExpr>(Statement))
      touchPointee(Atomic->getPtr(), true);
    if (const auto *Call = dyn_cast<CallExpr>(Statement)) {
      const FunctionDecl *Callee = Call->getDirectCallee();
      if (Callee && Callee->getIdentifier() && lockFunction(Callee->getName()))
        return; // the line of a lock is taken before the section, and no part of it
      for (const Expr *Argument : Call->arguments())
        touchPointee(Argument, true);
    }
    // sizeof evaluates nothing.
    if (isa<UnaryExprOrTypeTraitExpr>(Statement))
      return;
    for (const Stmt *Child : Statement->children())
      visit(Child);
  }

  std::vector<TouchedLine> lines() const {
    std::vector<TouchedLine> Result;
    for (const auto &[Line, Written] : Lines)
      Result.push_back({Line, Written});
    return Result;
  }

private:
  const Source &S;
  function_ref<bool(const Stmt *)> Leaves;
  std::map<std::string, bool> Lines; // whether it is written

  // An object whose address a function is given: written, unless it is given as const.
  void touchPointee(const Expr *Pointer, bool Written) {
    const Expr *E = Pointer->IgnoreParenCasts();
    bool Const = Pointer->getType()->isPointerType() &&
                 Pointer->getType()->getPointeeType().isConstQualified();
    if (const auto *Address = dyn_cast<UnaryOperator>(E);
        Address && Address->getOpcode() == UO_AddrOf)
      touch(Address->getSubExpr(), Written && !Const);
    else if (E->getType()->isArrayType())
      touch(E, Written && !Const);
  }

  int64_t offsetOf(const FieldDecl *Field) const {
    const RecordDecl *Record = Field->getParent();
    if (Record->isInvalidDecl() || !Record->getDefinition())
      return 0;
    return int64_t(S.Context.getASTRecordLayout(Record).getFieldOffset(Field->getFieldIndex())) / 8;
  }

  int64_t sizeOf(QualType T) const {
    if (T->isIncompleteType() || T->isDependentType() || T->isFunctionType() ||
        T->isVariableArrayType())
      return 1;
    return std::max<int64_t>(S.Context.getTypeSizeInChars(T).getQuantity(), 1);
  }

  void touch(const Expr *Object, bool Written) {
    const Expr *E = Object->IgnoreParens();
    // Of an array that is handed on nobody knows how much is touched.
    int64_t Size = E->getType()->isArrayType() ? 1 : sizeOf(E->getType()), Offset = 0;
    for (;;) {
      E = E->IgnoreParens();
      if (const auto *Member = dyn_cast<MemberExpr>(E)) {
        const auto *Field = dyn_cast<FieldDecl>(Member->getMemberDecl());
        if (!Field)
          return;
        Offset += offsetOf(Field);
        if (Member->isArrow())
          return add(recordNode(S.Context.getRecordType(Field->getParent()), S), Offset, Size,
                     Written);
        E = Member->getBase();
      } else if (const auto *Element = dyn_cast<ArraySubscriptExpr>(E)) {
        const Expr *Base = Element->getBase()->IgnoreParenImpCasts();
        if (!Base->getType()->isArrayType())
          return addPointee(Base, E->getType(), Offset, Size, Written);
        // A struct in an array is known by its type, anything else by where the array is.
        if (std::string Node = recordNode(E->getType(), S); !Node.empty())
          return add(Node, Offset, Size, Written);
        E = Base;
      } else if (const auto *Dereference = dyn_cast<UnaryOperator>(E);
                 Dereference && Dereference->getOpcode() == UO_Deref) {
        return addPointee(Dereference->getSubExpr()->IgnoreParenImpCasts(), E->getType(), Offset,
                          Size, Written);
      } else {
        break;
      }
    }
    const auto *Ref = dyn_cast<DeclRefExpr>(E);
    const auto *Variable = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    if (!Variable || !Variable->hasGlobalStorage() || Variable->getTLSKind() != VarDecl::TLS_None)
      return;
    std::string Node = recordNode(Variable->getType().getCanonicalType(), S);
    add(Node.empty() ? nodeFor(Variable, S) : Node, Offset, Size, Written);
  }

  // What a pointer points to: a struct; or else whatever a global variable or a field points to.
  void addPointee(const Expr *Pointer, QualType Pointee, int64_t Offset, int64_t Size,
                  bool Written) {
    if (std::string Node = recordNode(Pointee.getCanonicalType(), S); !Node.empty())
      return add(Node, Offset, Size, Written);
    const ValueDecl *Held = nullptr;
    if (const auto *Member = dyn_cast<MemberExpr>(Pointer))
      Held = Member->getMemberDecl();
    else if (const auto *Ref = dyn_cast<DeclRefExpr>(Pointer))
      Held = Ref->getDecl();
    const auto *Variable = dyn_cast_or_null<VarDecl>(Held);
    if (Held && (!Variable || Variable->hasGlobalStorage()))
      add("*" + nodeFor(Held, S), Offset, Size, Written);
  }

  void add(const std::string &Node, int64_t Offset, int64_t Size, bool Written) {
    if (Node.empty())
      return;
    int64_t First = Offset / LineSize, Last = (Offset + Size - 1) / LineSize;
    for (int64_t Line = First; Line <= std::min(Last, First + MostLines); ++Line)
      Lines[Node + "+" + std::to_string(Line)] |= Written;
  }
};

} // namespace

std::vector<TouchedLine> touchedLines(ArrayRef<const Stmt *> Text, const Source &S,
                                      function_ref<bool(const Stmt *)> Leaves) {
  Toucher T(S, Leaves);
  for (const Stmt *Statement : Text)
    T.visit(Statement);
  return T.lines();
}

} // namespace relock
