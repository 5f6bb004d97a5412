// SPDX-License-Identifier: MIT
//
// A variable is such a name if nothing assigns to it or has its address, if its initialiser has no
// effect, and if that is the same where the operation is: its variables do not change, and neither
// does the memory that it reads, for which the function must do nothing else before.
#include "index/LocalNames.h"

#include "index/LockApi.h"
#include "index/Operand.h"
#include "index/Tested.h"

#include "clang/AST/ASTContext.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace clang;
using namespace llvm;

namespace relock {

// What a statement itself assigns to, changes, or takes the address of.
static void collectChanged(const Stmt *Statement, SmallVectorImpl<const Expr *> &Changed) {
  if (const auto *Binary = dyn_cast<BinaryOperator>(Statement); Binary && Binary->isAssignmentOp())
    Changed.push_back(Binary->getLHS());
  if (const auto *Unary = dyn_cast<UnaryOperator>(Statement);
      Unary && (Unary->isIncrementDecrementOp() || Unary->getOpcode() == UO_AddrOf))
    Changed.push_back(Unary->getSubExpr());
  if (const auto *Asm = dyn_cast<GCCAsmStmt>(Statement))
    append_range(Changed, Asm->outputs());
}

unsigned changesOf(const VarDecl *Variable, const Stmt *Statement) {
  SmallVector<const Expr *, 2> Changed;
  collectChanged(Statement, Changed);
  unsigned Count =
      count_if(Changed, [&](const Expr *E) { return storedDeclaration(E) == Variable; });
  for (const Stmt *Child : Statement->children())
    if (Child)
      Count += changesOf(Variable, Child);
  return Count;
}

static bool callsOther(const Stmt *S, const CallExpr *Call) {
  return (isa<CallExpr>(S) && S != Call) ||
         any_of(S->children(), [&](const Stmt *Child) { return Child && callsOther(Child, Call); });
}

// True if the statement, with the call in it, calls nothing before that.
static bool callsFirst(const Stmt *Statement, const CallExpr *Call, const ASTContext &Context) {
  if (soleCall(Statement) == Call || onlyOperation(Statement, Call, Context))
    return true;
  if (const auto *If = dyn_cast<IfStmt>(Statement))
    Statement = If->getCond();
  bool Evaluates = isa<Expr>(Statement) || isa<DeclStmt>(Statement) || isa<ReturnStmt>(Statement);
  return Evaluates && contains(Statement, Call) && !callsOther(Statement, Call);
}

// True if it may change one of the variables and members, as far as the text tells.
static bool storesTo(const Stmt *S, const SmallPtrSetImpl<const ValueDecl *> &Loaded) {
  SmallVector<const Expr *, 2> Changed;
  collectChanged(S, Changed);
  for (const Expr *E : Changed) {
    const ValueDecl *D = storedDeclaration(E);
    if (D ? Loaded.contains(D) : !isa<UnaryOperator>(S))
      return true;
    if (!isa<UnaryOperator>(S) && E->getType()->isRecordType())
      return true;
  }
  return any_of(S->children(), [&](const Stmt *Child) { return Child && storesTo(Child, Loaded); });
}

// The value without casts that only change a pointer's type, and without what macros evaluate
// before, to check types.
static const Expr *plainValue(const Expr *E, const ASTContext &Context) {
  E = E->IgnoreParens();
  const auto *Cast = dyn_cast<CastExpr>(E);
  if (Cast && (Cast->getCastKind() == CK_BitCast || Cast->getCastKind() == CK_NoOp) &&
      Cast->getSubExpr()->getType()->isPointerType())
    return plainValue(Cast->getSubExpr(), Context);
  const auto *Comma = dyn_cast<BinaryOperator>(E);
  return Comma && Comma->isCommaOp() && !Comma->getLHS()->HasSideEffects(Context)
             ? plainValue(Comma->getRHS(), Context)
             : E;
}

static const VarDecl *readVariable(const Expr *E) {
  const auto *Cast = dyn_cast<ImplicitCastExpr>(E);
  const auto *Ref = Cast && Cast->getCastKind() == CK_LValueToRValue
                        ? dyn_cast<DeclRefExpr>(Cast->getSubExpr()->IgnoreParens())
                        : nullptr;
  return Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
}

// `(&object)->member` is `object.member`.
static const Expr *objectAt(const Expr *Pointer) {
  const auto *Address = dyn_cast<UnaryOperator>(Pointer->IgnoreParens());
  return Address && Address->getOpcode() == UO_AddrOf ? Address->getSubExpr()->IgnoreParens()
                                                      : nullptr;
}

const Expr *LocalNames::expand(const Expr *E) {
  ASTContext &Context = S.Context;
  if (const VarDecl *V = readVariable(E))
    if (const Expr *Value = meaning(V))
      return Value;
  auto Inner = [&](const Expr *Part) { return const_cast<Expr *>(expand(Part)); };
  if (const auto *Paren = dyn_cast<ParenExpr>(E)) {
    const Expr *Sub = Inner(Paren->getSubExpr());
    return Sub == Paren->getSubExpr() ? E : Sub;
  }
  if (const auto *Cast = dyn_cast<ImplicitCastExpr>(E)) {
    Expr *Sub = Inner(Cast->getSubExpr());
    return Sub == Cast->getSubExpr()
               ? E
               : ImplicitCastExpr::Create(Context, Cast->getType(), Cast->getCastKind(), Sub,
                                          nullptr, Cast->getValueKind(), FPOptionsOverride());
  }
  if (const auto *Cast = dyn_cast<CStyleCastExpr>(E)) {
    Expr *Sub = Inner(Cast->getSubExpr());
    return Sub == Cast->getSubExpr()
               ? E
               : CStyleCastExpr::Create(Context, Cast->getType(), Cast->getValueKind(),
                                        Cast->getCastKind(), Sub, nullptr, FPOptionsOverride(),
                                        Cast->getTypeInfoAsWritten(), Cast->getLParenLoc(),
                                        Cast->getRParenLoc());
  }
  if (const auto *Member = dyn_cast<MemberExpr>(E)) {
    Expr *Base = Inner(Member->getBase());
    if (Base == Member->getBase())
      return E;
    const Expr *Object = Member->isArrow() ? objectAt(Base) : nullptr;
    return MemberExpr::CreateImplicit(Context, Object ? const_cast<Expr *>(Object) : Base,
                                      Member->isArrow() && !Object, Member->getMemberDecl(),
                                      Member->getType(), Member->getValueKind(),
                                      Member->getObjectKind());
  }
  if (const auto *Unary = dyn_cast<UnaryOperator>(E)) {
    Expr *Sub = Inner(Unary->getSubExpr());
    if (Sub == Unary->getSubExpr())
      return E;
    const Expr *Object = Unary->getOpcode() == UO_Deref ? objectAt(Sub) : nullptr;
    return Object ? Object
                  : UnaryOperator::Create(Context, Sub, Unary->getOpcode(), Unary->getType(),
                                          Unary->getValueKind(), Unary->getObjectKind(),
                                          Unary->getOperatorLoc(), Unary->canOverflow(),
                                          FPOptionsOverride());
  }
  if (const auto *Subscript = dyn_cast<ArraySubscriptExpr>(E)) {
    Expr *Left = Inner(Subscript->getLHS()), *Right = Inner(Subscript->getRHS());
    return Left == Subscript->getLHS() && Right == Subscript->getRHS()
               ? E
               : new (Context)
                     ArraySubscriptExpr(Left, Right, Subscript->getType(),
                                        Subscript->getValueKind(), Subscript->getObjectKind(),
                                        Subscript->getRBracketLoc());
  }
  if (const auto *Binary = dyn_cast<BinaryOperator>(E)) {
    Expr *Left = Inner(Binary->getLHS()), *Right = Inner(Binary->getRHS());
    return Left == Binary->getLHS() && Right == Binary->getRHS()
               ? E
               : BinaryOperator::Create(Context, Left, Right, Binary->getOpcode(),
                                        Binary->getType(), Binary->getValueKind(),
                                        Binary->getObjectKind(), Binary->getOperatorLoc(),
                                        FPOptionsOverride());
  }
  if (const auto *Choice = dyn_cast<ConditionalOperator>(E)) {
    Expr *Test = Inner(Choice->getCond());
    Expr *True = Inner(Choice->getTrueExpr()), *False = Inner(Choice->getFalseExpr());
    return Test == Choice->getCond() && True == Choice->getTrueExpr() &&
                   False == Choice->getFalseExpr()
               ? E
               : new (Context) ConditionalOperator(Test, Choice->getQuestionLoc(), True,
                                                   Choice->getColonLoc(), False, Choice->getType(),
                                                   Choice->getValueKind(), Choice->getObjectKind());
  }
  return E;
}

// What the variable stands for, with a cast where that has another type; null: it is no name.
const Expr *LocalNames::meaning(const VarDecl *V) {
  auto [At, New] = Known.try_emplace(V, nullptr); // null: also in its own initialiser
  if (!New)
    return At->second;
  QualType T = V->getType();
  bool IsName = V->isLocalVarDecl() && V->hasLocalStorage() && V->hasInit() &&
                V->getDeclContext() == F && !T.isVolatileQualified() &&
                (T->isPointerType() || (T->isIntegerType() && T->isBuiltinType())) &&
                !mayChange(F->getBody(), V) && isFixed(V->getInit());
  if (!IsName)
    return nullptr;
  T = T.getUnqualifiedType();
  const Expr *Value = V->getInit();
  if (T->isPointerType()) {
    Value = plainValue(Value, S.Context);
    if (!S.Context.hasSameUnqualifiedType(Value->getType(), T))
      Value = Value->getType()->isPointerType()
                  ? ImplicitCastExpr::Create(S.Context, T, CK_BitCast, const_cast<Expr *>(Value),
                                             nullptr, VK_PRValue, FPOptionsOverride())
                  : V->getInit();
  }
  return Known[V] = expand(Value);
}

bool LocalNames::isFixed(const Expr *Initialiser) {
  return !Initialiser->HasSideEffects(S.Context) && namesFixed(Initialiser) &&
         staysUntilCall(Initialiser);
}

// True if the variables of the function that an expression names do not change.
bool LocalNames::namesFixed(const Stmt *E) {
  const auto *Ref = dyn_cast<DeclRefExpr>(E);
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  if (V && !V->isFileVarDecl() && !meaning(V) &&
      (!isa<ParmVarDecl>(V) || V->getType().isVolatileQualified() || mayChange(F->getBody(), V)))
    return false;
  return all_of(E->children(), [&](const Stmt *Child) { return !Child || namesFixed(Child); });
}

// True if the memory that an initialiser reads is the same at the operation.
bool LocalNames::staysUntilCall(const Expr *Initialiser) const {
  SmallPtrSet<const ValueDecl *, 4> Loaded;
  bool Unknown = false;
  collectLoaded(Initialiser, Loaded, Unknown);
  bool Reads = Unknown || any_of(Loaded, [](const ValueDecl *D) {
                 const auto *V = dyn_cast<VarDecl>(D);
                 return !V || V->hasGlobalStorage();
               });
  if (Pure || !Reads)
    return true;
  if (Unknown || storesTo(F->getBody(), Loaded))
    return false;
  for (const Stmt *Statement : cast<CompoundStmt>(F->getBody())->body()) {
    if (contains(Statement, Call))
      return callsFirst(Statement, Call, S.Context);
    const auto *Declares = dyn_cast<DeclStmt>(Statement);
    if (!Declares || any_of(Declares->children(), [&](const Stmt *Child) {
          const auto *Value = dyn_cast_or_null<Expr>(Child);
          return !Value || Value->HasSideEffects(S.Context);
        }))
      return false;
  }
  return false;
}

// Where a file has the expression in one piece, perhaps as the argument of a macro or a use of one.
static std::optional<Source::Range> placeOf(const Expr *E, const Source &S) {
  CharSourceRange At = Lexer::makeFileCharRange(CharSourceRange::getTokenRange(E->getSourceRange()),
                                                S.SM, S.Language);
  if (At.isInvalid())
    return std::nullopt;
  return Source::Range{S.SM.getFileID(At.getBegin()), S.SM.getFileOffset(At.getBegin()),
                       S.SM.getFileOffset(At.getEnd())};
}

// The places of the variables in the text of an expression.
bool LocalNames::putNames(const Stmt *E, Source::Range Whole,
                          std::vector<std::pair<Source::Range, const VarDecl *>> &Put) {
  const auto *Ref = dyn_cast<DeclRefExpr>(E);
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  if (V && meaning(V)) {
    std::optional<Source::Range> At = placeOf(Ref, S);
    if (!At || At->File != Whole.File || At->Begin < Whole.Begin || At->End > Whole.End)
      return false;
    Put.push_back({*At, V});
  }
  return all_of(E->children(),
                [&](const Stmt *Child) { return !Child || putNames(Child, Whole, Put); });
}

std::optional<std::string> LocalNames::text(const Expr *E) {
  std::optional<Source::Range> Whole = placeOf(E, S);
  std::vector<std::pair<Source::Range, const VarDecl *>> Places;
  if (!Whole || !putNames(E, *Whole, Places))
    return std::nullopt;
  auto Begin = [](const auto &One) { return One.first.Begin; };
  sort(Places, [&](const auto &A, const auto &B) { return Begin(A) < Begin(B); });
  Places.erase(std::unique(Places.begin(), Places.end(),
                           [&](const auto &A, const auto &B) { return Begin(A) == Begin(B); }),
               Places.end()); // a macro may use its argument more than once
  std::string Text = S.text(*Whole).str();
  for (const auto &[Range, V] : reverse(Places)) {
    QualType T = V->getType().getUnqualifiedType();
    const Expr *Plain = V->getInit();
    if (T->isPointerType())
      Plain = plainValue(Plain, S.Context);
    std::optional<std::string> Value = text(Plain);
    if (!Value)
      Value = text(V->getInit()); // all that a macro makes
    if (!Value)
      return std::nullopt;
    std::string Put = "(" + *Value + ")";
    if (!T->isPointerType())
      Put =
          "((" + T.getCanonicalType().getAsString(S.Context.getPrintingPolicy()) + ")" + Put + ")";
    else if (!S.Context.hasSameUnqualifiedType(Plain->getType(), T))
      Put = "((" + T.getAsString(S.Context.getPrintingPolicy()) + ")" + Put + ")";
    Text.replace(Range.Begin - Whole->Begin, Range.End - Range.Begin, Put);
  }
  return Text;
}

} // namespace relock
