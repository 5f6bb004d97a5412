// SPDX-License-Identifier: MIT
#include "index/WrapperBody.h"

#include "index/LocalNames.h"
#include "index/LockApi.h"
#include "index/Operand.h"
#include "index/Tested.h"

#include "clang/AST/ASTContext.h"
#include "clang/Basic/Builtins.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"

using namespace clang;
using namespace llvm;

namespace relock {
namespace {

// A condition, without what asks for its negation; `likely()` is looked through.
struct Asked {
  const Expr *Of;
  bool Negated;
};

Asked askedBy(const Expr *Condition, const ASTContext &Context) {
  const Expr *E = Condition->IgnoreParenCasts();
  if (const auto *Call = dyn_cast<CallExpr>(E);
      Call && Call->getBuiltinCallee() == Builtin::BI__builtin_expect)
    return askedBy(Call->getArg(0), Context);
  if (const auto *Unary = dyn_cast<UnaryOperator>(E); Unary && Unary->getOpcode() == UO_LNot) {
    Asked Sub = askedBy(Unary->getSubExpr(), Context);
    return {Sub.Of, !Sub.Negated};
  }
  const auto *Binary = dyn_cast<BinaryOperator>(E);
  if (Binary && Binary->isEqualityOp())
    for (auto [Zero, Other] : {std::pair(Binary->getRHS(), Binary->getLHS()),
                               std::pair(Binary->getLHS(), Binary->getRHS())}) {
      Expr::EvalResult Value;
      if (Zero->isNullPointerConstant(const_cast<ASTContext &>(Context),
                                      Expr::NPC_ValueDependentIsNotNull) ||
          (Zero->getType()->isIntegerType() && Zero->EvaluateAsInt(Value, Context) &&
           Value.Val.getInt() == 0)) {
        Asked Sub = askedBy(Other, Context);
        return {Sub.Of, Sub.Negated != (Binary->getOpcode() == BO_EQ)};
      }
    }
  return {E, false};
}

class BodyReader {
public:
  BodyReader(const FunctionDecl *F, const WrapperOperation &W, const Source &S)
      : F(F), Operation(W.Call), W(W), S(S) {
    readBlock(F->getBody());
  }

  std::optional<WrapperBody> read(const std::vector<Call> &Calls, std::vector<OperandLoad> &Loads) {
    if (!canMove() || !endsBehind() || !findOperation() || !readParameters())
      return std::nullopt;
    Body.Tests = W.Pure ? W.Tests : End != Begin + 1 || soleCall(Statements[Begin]) != Operation;
    for (size_t I = 0; I < Statements.size(); ++I)
      if ((I < Begin || I >= End) && !Gone.contains(Statements[I]) &&
          !isa<NullStmt>(Statements[I]) && !(I < Begin && addGuard(Statements[I], Loads)) &&
          !(I + 1 == Statements.size() && returnsOnly(Statements[I])) &&
          !add(Statements[I], (I < Begin) == (W.Kind == Operation::Lock), Calls))
        return std::nullopt;
    if (Lost)
      return std::nullopt;
    if (W.Kind == Operation::Lock)
      for (const Expr *Given : W.Given)
        noteNames(Given, /*Under=*/false);
    erase_if(Body.Aliases, [](const WrapperBody::Alias &A) { return !A.Outside && !A.Under; });
    return std::move(Body);
  }

private:
  const FunctionDecl *F;
  const CallExpr *Operation;
  const WrapperOperation &W;
  const Source &S;
  // Of the body and, in place of an `if` around the operation, that and those of its arm.
  SmallVector<const Stmt *> Statements;
  SmallVector<const Stmt *> Behind;  // such an `if`
  bool Lost = false;                 // a guard has no text
  size_t Begin = 0, End = 0;         // of Statements: the operation, and tests of its result
  SmallPtrSet<const Stmt *, 4> Gone; // what else goes, such as declarations of that result
  SmallPtrSet<const Decl *, 2> Results;
  SmallPtrSet<const Decl *, 4> Inner;        // declared in the statement that is looked at
  DenseMap<const VarDecl *, size_t> Aliases; // their places in Body
  WrapperBody Body;

  void readBlock(const Stmt *Block) {
    const auto *Compound = dyn_cast<CompoundStmt>(Block);
    bool Inside = false;
    for (const Stmt *Child : Compound ? ArrayRef(Compound->body_begin(), Compound->size())
                                      : ArrayRef(const_cast<Stmt *const *>(&Block), 1)) {
      (Inside ? Behind : Statements).push_back(Child);
      if (const Stmt *Arm = Inside ? nullptr : armOf(Child)) {
        Inside = true;
        readBlock(Arm);
      }
    }
  }

  // The arm of an `if` that the operation stands in.
  const Stmt *armOf(const Stmt *Statement) const {
    const auto *If = dyn_cast<IfStmt>(Statement);
    if (W.Pure || !If || contains(If->getCond(), Operation))
      return nullptr;
    for (const Stmt *Arm : {If->getThen(), If->getElse()})
      if (Arm && contains(Arm, Operation))
        return Arm;
    return nullptr;
  }

  // True if nothing but returns stands behind an `if` around the operation.
  bool endsBehind() const {
    return all_of(Behind, [&](const Stmt *Statement) {
      return isa<NullStmt>(Statement) || returnsOnly(Statement);
    });
  }

  // True for a return whose value nobody needs: callers that use it get no companion.
  bool returnsOnly(const Stmt *Statement) const {
    const auto *Return = dyn_cast<ReturnStmt>(Statement);
    return Return && (!Return->getRetValue() || !Return->getRetValue()->HasSideEffects(S.Context));
  }

  bool canMove() const {
    const Stmt *Whole = F->getBody();
    return !F->isVariadic() && (F->hasWrittenPrototype() || S.Language.C23) &&
           Whole->getBeginLoc().isFileID() && Whole->getEndLoc().isFileID();
  }

  static bool contains(const Stmt *Whole, const Stmt *Part) {
    return Whole == Part || any_of(Whole->children(), [&](const Stmt *Child) {
             return Child && contains(Child, Part);
           });
  }

  static bool mentions(const Stmt *Statement, const Decl *D) {
    if (const auto *Ref = dyn_cast<DeclRefExpr>(Statement); Ref && Ref->getDecl() == D)
      return true;
    return any_of(Statement->children(),
                  [&](const Stmt *Child) { return Child && mentions(Child, D); });
  }

  // The statements that are the operation, and test its result, with the variables of that.
  bool findOperation() {
    while (Begin < Statements.size() &&
           (armOf(Statements[Begin]) || !contains(Statements[Begin], Operation)))
      ++Begin;
    if (Begin == Statements.size())
      return false;
    if (W.Pure) { // all but the names of the lock
      for (const Stmt *Statement : Statements)
        if (!aliasIn(Statement))
          Gone.insert(Statement);
      End = Begin + 1;
      return true;
    }
    std::vector<const Stmt *> Run;
    for (const Stmt *Statement : ArrayRef(Statements).take_front(Begin))
      if (const auto *Declared = dyn_cast<DeclStmt>(Statement))
        if (const auto *V = dyn_cast<VarDecl>(*Declared->decl_begin());
            V && Declared->isSingleDecl() && V->getType()->isIntegerType() &&
            mentions(Statements[Begin], V)) {
          Gone.insert(Statement);
          Results.insert(V);
          Run.push_back(Statement);
        }
    Run.push_back(Statements[Begin]);
    if (!onlyOperationOf(Run, Operation, F))
      return false;
    for (End = Begin + 1; End < Statements.size() && !returnOf(Run.back()); ++End) {
      Run.push_back(Statements[End]);
      if (none_of(Results, [&](const Decl *V) { return mentions(Statements[End], V); }) ||
          !onlyOperationOf(Run, Operation, F))
        break;
    }
    for (const Stmt *Statement : ArrayRef(Statements).slice(Begin, End - Begin))
      if (const auto *Declared = dyn_cast<DeclStmt>(Statement))
        Results.insert(Declared->decl_begin(), Declared->decl_end());
    return true;
  }

  bool readParameters() {
    for (const ParmVarDecl *P : F->parameters()) {
      std::optional<Source::Range> R = S.range(P->getSourceRange());
      const QualType T = P->getOriginalType();
      if (!R || P->getName().empty() || T->isArrayType() || T->isFunctionType() ||
          T->isVariablyModifiedType() || P->getStorageClass() == SC_Register ||
          mayChange(F->getBody(), P))
        return false;
      Body.Parameters.push_back({P->getName().str(), S.text(*R).str(), false});
    }
    return true;
  }

  // Takes a statement in. Under: the lock is held there.
  bool add(const Stmt *Statement, bool Outside, const std::vector<Call> &Calls) {
    const bool Under = !Outside;
    if (const VarDecl *V = aliasIn(Statement)) {
      std::optional<std::string> Text = textOf(Statement);
      if (!Text)
        return false;
      Aliases[V] = Body.Aliases.size();
      Body.Aliases.push_back({V->getName().str(), *Text});
      return true;
    }
    Inner.clear();
    // Of the two wrappers' variables only the lock's, before it, have a place of their own.
    const bool Declares = isa<DeclStmt>(Statement);
    if ((Declares && (Under || W.Kind != Operation::Lock)) || !allows(Statement, Under, false))
      return false;
    noteNames(Statement, Under);
    std::optional<std::string> Text = textOf(Statement);
    if (!Text)
      return false;
    (Under ? Body.Under : Body.Outside) += *Text + "\n";
    if (Under)
      copy_if(Calls, std::back_inserter(Body.Calls),
              [&](const Call &C) { return standsIn(Statement, C.At); });
    return true;
  }

  // Takes in an `if` that the operation stands in, or that leaves before it. False: it is none.
  bool addGuard(const Stmt *Statement, std::vector<OperandLoad> &Loads) {
    const auto *If = dyn_cast<IfStmt>(Statement);
    if (!If || W.Pure || If->getInit() || If->getConditionVariable())
      return false;
    const Stmt *Arm = armOf(If);
    const Stmt *Other = !Arm ? If->getThen() : Arm == If->getThen() ? If->getElse() : If->getThen();
    if (!Arm && (If->getElse() || !returnOf(Other)))
      return false;
    const bool Negate = Arm == If->getThen();
    std::optional<std::string> Text = conditionText(If->getCond(), Negate);
    SmallPtrSet<const ValueDecl *, 4> Loaded;
    bool Unknown = false;
    collectLoaded(If->getCond(), Loaded, Unknown);
    // What unlocks has the lock, or not, where it does anything before the condition.
    if (!Text || Unknown || (W.Kind == Operation::Unlock && !Body.Under.empty()) ||
        !allows(If->getCond(), /*Under=*/false, false))
      return Lost = true;
    const auto [Asked, Negated] = askedBy(If->getCond(), S.Context);
    if (Asked->HasSideEffects(S.Context))
      return Lost = true;
    WrapperBody::Guard G;
    G.Before = std::exchange(Body.Outside, "");
    G.Condition = *Text;
    G.Key = (Negated != Negate ? "!" : "") + S.expressionText(Asked);
    for (const ValueDecl *D : Loaded)
      if (!isa<ParmVarDecl>(D) && !Aliases.count(dyn_cast<VarDecl>(D))) {
        Loads.push_back(operandLoad(D, S));
        Loads.back().OfCondition = G.Loads = true;
      }
    noteNames(If->getCond(), false);
    Body.Guards.push_back(std::move(G));
    Lost |= Other && !addInstead(Other);
    return true;
  }

  // What a statement returns with, in the end.
  static const ReturnStmt *returnOf(const Stmt *Statement) {
    if (const auto *Block = dyn_cast<CompoundStmt>(Statement))
      return Block->body_empty() ? nullptr : returnOf(Block->body_back());
    return dyn_cast<ReturnStmt>(Statement);
  }

  // Takes in the arm that runs instead of the operation.
  bool addInstead(const Stmt *Arm) {
    const auto *Block = dyn_cast<CompoundStmt>(Arm);
    for (const Stmt *Statement : Block ? ArrayRef(Block->body_begin(), Block->size())
                                       : ArrayRef(const_cast<Stmt *const *>(&Arm), 1)) {
      if (isa<NullStmt>(Statement) || returnsOnly(Statement))
        continue;
      std::optional<std::string> Text;
      if (const auto *Return = dyn_cast<ReturnStmt>(Statement)) { // `return report(m);`
        Statement = soleCall(Return->getRetValue());
        Text = Statement ? textOf(Statement) : std::nullopt;
      } else if (!isa<DeclStmt>(Statement)) {
        Text = textOf(Statement);
      }
      Inner.clear();
      if (!Text || !allows(Statement, /*Under=*/false, false))
        return false;
      noteNames(Statement, false);
      Body.Guards.back().Instead += *Text + "\n";
    }
    return true;
  }

  std::optional<std::string> conditionText(const Expr *Condition, bool Negate) const {
    std::optional<Source::Range> R = S.range(Condition->getSourceRange());
    if (!R || R->File != S.SM.getFileID(F->getBody()->getBeginLoc()) || S.text(*R).contains('\n'))
      return std::nullopt;
    const std::string Text = S.text(*R).str();
    if (!Negate)
      return Text;
    const Expr *E = Condition->IgnoreParenImpCasts();
    if (const auto *Unary = dyn_cast<UnaryOperator>(E); Unary && Unary->getOpcode() == UO_LNot)
      return conditionText(Unary->getSubExpr(), false);
    if (isa<DeclRefExpr, MemberExpr, CallExpr>(E))
      return "!" + Text;
    const auto *Binary = dyn_cast<BinaryOperator>(E);
    if (Binary && Binary->isEqualityOp()) {
      auto Left = conditionText(Binary->getLHS(), false),
           Right = conditionText(Binary->getRHS(), false);
      if (Left && Right)
        return *Left + (Binary->getOpcode() == BO_EQ ? " != " : " == ") + *Right;
    }
    return "!(" + Text + ")";
  }

  bool standsIn(const Stmt *Statement, const Position &At) const {
    const Position First = S.shown(Statement->getBeginLoc()),
                   Last = S.shown(Statement->getEndLoc());
    return At.File == First.File && At.Offset >= First.Offset && At.Offset <= Last.Offset;
  }

  // `struct mutex *l = (struct mutex *)l_;`: the same wherever it stands.
  const VarDecl *aliasIn(const Stmt *Statement) const {
    const auto *Declared = dyn_cast<DeclStmt>(Statement);
    const auto *V =
        Declared && Declared->isSingleDecl() ? dyn_cast<VarDecl>(*Declared->decl_begin()) : nullptr;
    bool IsAlias = V && V->hasLocalStorage() && V->getInit() && V->getType()->isPointerType() &&
                   syncType(V->getType()) == SyncType::None && !mayChange(F->getBody(), V) &&
                   !V->getInit()->HasSideEffects(S.Context) && namesParameters(V->getInit());
    return IsAlias ? V : nullptr;
  }

  // True if nothing but parameters is read.
  static bool namesParameters(const Stmt *E) {
    if (const auto *Cast = dyn_cast<CastExpr>(E); Cast && Cast->getCastKind() == CK_LValueToRValue)
      if (!isa<DeclRefExpr>(Cast->getSubExpr()->IgnoreParens()))
        return false;
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E); Ref && !isa<ParmVarDecl>(Ref->getDecl()))
      return false;
    return !isa<StmtExpr>(E) && all_of(E->children(), [](const Stmt *Child) {
      return !Child || namesParameters(Child);
    });
  }

  // True if the statement means the same in the companion, or, under the lock, in a function of its
  // own that another thread may run. Dying: in a call that does not return.
  bool allows(const Stmt *Statement, bool Under, bool Dying) {
    if (isa<ReturnStmt, GotoStmt, IndirectGotoStmt, LabelStmt, AddrLabelExpr, AsmStmt>(Statement) ||
        (isa<PredefinedExpr>(Statement) && !Dying))
      return false;
    if (const auto *E = dyn_cast<Expr>(Statement); E && syncType(E->getType()) != SyncType::None)
      return false;
    if (const auto *Declared = dyn_cast<DeclStmt>(Statement))
      Inner.insert(Declared->decl_begin(), Declared->decl_end());
    if (const auto *Ref = dyn_cast<DeclRefExpr>(Statement)) {
      if (Results.contains(Ref->getDecl()))
        return false;
      if (const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
          V && (V->isStaticLocal() || (Under && !isKnownThere(V))))
        return false;
    }
    if (const auto *Call = dyn_cast<CallExpr>(Statement)) {
      const FunctionDecl *Callee = Call->getDirectCallee();
      if (Under && !Callee)
        return false;
      Dying |= Callee && Callee->isNoReturn();
    }
    return all_of(Statement->children(),
                  [&](const Stmt *Child) { return !Child || allows(Child, Under, Dying); });
  }

  // True for what a statement under the lock can name, whoever runs it.
  bool isKnownThere(const VarDecl *V) const {
    return V->hasLocalStorage() ? isa<ParmVarDecl>(V) || Aliases.count(V) || Inner.contains(V)
                                : V->getTLSKind() == VarDecl::TLS_None;
  }

  // Which parameters and aliases a statement needs where.
  void noteNames(const Stmt *Statement, bool Under) {
    if (const auto *Ref = dyn_cast<DeclRefExpr>(Statement)) {
      const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
      if (const auto *P = dyn_cast_or_null<ParmVarDecl>(V)) {
        Body.Parameters[P->getFunctionScopeIndex()].Under |= Under;
      } else if (auto Known = Aliases.find(V); V && Known != Aliases.end()) {
        WrapperBody::Alias &Alias = Body.Aliases[Known->second];
        (Under ? Alias.Under : Alias.Outside) = true;
        noteNames(V->getInit(), Under);
      }
    }
    for (const Stmt *Child : Statement->children())
      if (Child)
        noteNames(Child, Under);
  }

  // The lines between the statement before and this one, if they are a comment.
  StringRef commentAbove(const Stmt *Statement, const Source::Range &R) const {
    const auto At = find(Statements, Statement);
    std::optional<Source::Range> Before = At == Statements.begin()
                                              ? S.range(F->getBody()->getBeginLoc())
                                              : S.range((*std::prev(At))->getSourceRange());
    if (!Before || Before->File != R.File || Before->End > R.Begin)
      return "";
    StringRef Between = S.fileText(R.File).slice(Before->End, R.Begin);
    Between = Between.substr(Between.find('\n')).trim("\r\n").rtrim();
    const StringRef Text = Between.ltrim();
    const bool IsComment =
        Text.starts_with("//") || (Text.starts_with("/*") && Text.find("*/") == Text.size() - 2);
    return IsComment && !Text.contains('#') ? Between : "";
  }

  // The statement with its `;` and the comment above it, without the indentation of its first line.
  std::optional<std::string> textOf(const Stmt *Statement) const {
    std::optional<Source::Range> R = S.range(Statement->getSourceRange());
    if (!R || R->File != S.SM.getFileID(F->getBody()->getBeginLoc()))
      return std::nullopt;
    StringRef File = S.fileText(R->File);
    unsigned Last = R->End;
    if (size_t Next = File.find_first_not_of(" \t\r\n", Last); File.substr(Next).starts_with(";"))
      Last = Next + 1;
    if (File.slice(R->Begin, Last).contains("\n#"))
      return std::nullopt; // which of its branches is compiled depends on where it stands
    const StringRef Indent = File.slice(File.rfind('\n', R->Begin) + 1, R->Begin);
    std::string Text;
    SmallVector<StringRef> Lines;
    commentAbove(Statement, *R).split(Lines, '\n', -1, /*KeepEmpty=*/false);
    File.slice(R->Begin, Last).split(Lines, '\n');
    for (StringRef L : Lines) {
      if (Indent.trim().empty())
        L.consume_front(Indent);
      Text += (Text.empty() ? "" : "\n") + L.rtrim("\r").str();
    }
    return Text;
  }
};

} // namespace

std::optional<WrapperBody> wrapperBody(const FunctionDecl *F, const WrapperOperation &Of,
                                       const std::vector<Call> &Calls,
                                       std::vector<OperandLoad> &Loads, const Source &S) {
  return BodyReader(F, Of, S).read(Calls, Loads);
}

} // namespace relock
