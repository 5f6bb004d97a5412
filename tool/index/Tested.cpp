// SPDX-License-Identifier: MIT
//
// The locks and unlocks of a normal or a recursive mutex return 0, in POSIX as in the runtime, as
// long as the mutex exists and the caller's use of it is defined. A delegated section returns which
// exit it took, and no error: so the test goes with the operation, and what it guards, which never
// runs, goes too. Of other mutexes the runtime ends the program where a section's lock fails, as a
// test does that only aborts. The statement is executed here, with 0 for the call and with what is
// known of the variables that it declares. Nothing else may depend on the text that goes: no label
// that would be unused, no static function of which it may be the last use, no jump. Nor a variable
// that the operation's own argument does not name. useOfResult() leaves that to its caller, who
// knows the rest of the function.
#include "index/Tested.h"

#include "clang/AST/Attr.h"
#include "clang/AST/Decl.h"
#include "clang/Basic/Builtins.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace clang;
using namespace llvm;

namespace relock {

static bool isLikePrintf(const FormatAttr *Format) {
  StringRef Kind = Format->getType()->getName();
  return Kind == "printf" || Kind == "gnu_printf";
}

bool isPrinted(const FunctionDecl *F, unsigned Argument) {
  return any_of(F->specific_attrs<FormatAttr>(), [&](const FormatAttr *Format) {
    return isLikePrintf(Format) && Format->getFirstArg() > 0 &&
           Argument + 1 >= unsigned(Format->getFirstArg());
  });
}

namespace {

class Execution {
public:
  Execution(const CallExpr *Call, const ASTContext &Context, int64_t Returned = 0,
            bool MayPrint = false)
      : Call(Call), Context(Context), Returned(Returned), MayPrint(MayPrint) {
    for (const Expr *Argument : Call->arguments())
      collectNames(Argument);
  }

  // What a function returns that is given these numbers, and does nothing else.
  static std::optional<int64_t> resultOf(const FunctionDecl *F, ArrayRef<int64_t> Arguments,
                                         const ASTContext &Context) {
    const auto *Body = dyn_cast_or_null<CompoundStmt>(F->getBody());
    if (!Body || F->isVariadic() || F->hasAttr<WeakAttr>() || F->param_size() != Arguments.size())
      return std::nullopt;
    Execution Run(Context);
    for (auto [P, Value] : zip(F->parameters(), Arguments)) {
      if (P->getType().isVolatileQualified() || !Run.holds(P->getType(), Value))
        return std::nullopt;
      Run.Declared[P] = Value;
    }
    int64_t Result = 0;
    Run.ReturnsAny = &Result;
    bool Known = Run.runBlock(Body) == Returns && Run.holds(F->getReturnType(), Result);
    return Known ? std::optional(Result) : std::nullopt;
  }

  // The result may stay in a variable: the statement, and those behind it that only test that one.
  std::optional<ResultUse> runUse(const Stmt *Statement, ArrayRef<const Stmt *> Behind) {
    return use(Statement, Behind) ? std::optional(takeUse()) : std::nullopt;
  }

  // The same up to an `if` of which one arm runs, by what is known of the result.
  std::optional<Entrance> runEntrance(const Stmt *Statement, ArrayRef<const Stmt *> Behind) {
    const auto *If = dyn_cast<IfStmt>(Statement);
    Use.emplace();
    if (!If && use(Statement, Behind) && !Use->Returns && Use->Decided.size() < Behind.size()) {
      const Stmt *Next = Behind[Use->Decided.size()];
      If = Use->variable() && tests(Next) ? dyn_cast<IfStmt>(Next) : nullptr;
    }
    if (!If || If->getInit() || If->getConditionVariable())
      return std::nullopt;
    std::optional<Result> Condition = evaluate(If->getCond());
    if (!Condition || !Condition->Value || Calls != 1)
      return std::nullopt;
    const Stmt *Other = *Condition->Value ? If->getElse() : If->getThen();
    const auto *Arm =
        dyn_cast_or_null<CompoundStmt>(*Condition->Value ? If->getThen() : If->getElse());
    if (!Arm || (Other && !canGo(Other)))
      return std::nullopt;
    return Entrance{If, Arm, takeUse()};
  }

  // The same for the body of a function, which may return what the call does at its end.
  // Any: or another number, which goes there.
  bool runBody(const CompoundStmt *Body, int64_t *Any) {
    InBody = true;
    ReturnsAny = Any;
    for (const Expr *Argument : Call->arguments())
      collectNames(Argument); // once more, through local variables
    MayReturn = true;
    const Way After = runBlock(Body);
    return After == Ends || After == Returns;
  }

  bool runPart(ArrayRef<const Stmt *> Statements, bool Stays) {
    InBody = true;
    NamesStay = Stays;
    int64_t Any = 0;
    ReturnsAny = &Any;
    MayReturn = true;
    return all_of(Statements, [&](const Stmt *Child) {
      const Way After = run(Child);
      return After == Ends || (After == Returns && Child == Statements.back());
    });
  }

  // How a statement that leaves no other trace than the call goes on.
  enum Way { Ends, Breaks, Returns, Unknown };

  Way run(const Stmt *S) {
    if (isa<NullStmt>(S))
      return Ends;
    if (isa<BreakStmt>(S))
      return Breaks;
    if (const auto *Return = dyn_cast<ReturnStmt>(S))
      return MayReturn && returnsSame(Return) ? Returns : Unknown;
    if (const auto *Block = dyn_cast<CompoundStmt>(S))
      return runBlock(Block);
    if (const auto *Declared = dyn_cast<DeclStmt>(S))
      return all_of(Declared->decls(), [&](const Decl *D) { return declare(D); }) ? Ends : Unknown;
    if (const auto *If = dyn_cast<IfStmt>(S)) {
      std::optional<Result> Condition = evaluate(If->getCond());
      if (Condition && !Condition->Value && onlyPrints(If))
        return Ends;
      if (!Condition || !Condition->Value)
        return Unknown;
      const Stmt *Taken = *Condition->Value ? If->getThen() : If->getElse();
      const Stmt *Other = *Condition->Value ? If->getElse() : If->getThen();
      if (Other && !canGo(Other))
        return Unknown;
      Way After = Taken ? run(Taken) : Ends;
      if (Other || After != Breaks)
        Aborts &= Other && aborts(Other);
      return After;
    }
    if (const auto *Do = dyn_cast<DoStmt>(S)) {
      Way Body = run(Do->getBody());
      if (Body == Breaks) {
        Aborts &= aborts(Do->getBody());
        return canGo(Do->getCond()) ? Ends : Unknown;
      }
      if (Body != Ends)
        return Body;
      std::optional<Result> Condition = evaluate(Do->getCond());
      return Condition && Condition->Value == 0 ? Ends : Unknown;
    }
    if (const auto *Switch = dyn_cast<SwitchStmt>(S); Switch && !Call)
      return runSwitch(Switch);
    if (const auto *Label = dyn_cast<SwitchCase>(S); Label && !Call)
      return run(Label->getSubStmt());
    const auto *E = dyn_cast<Expr>(S);
    return E && (onlyPrints(E) || evaluate(E)) ? Ends : Unknown;
  }

  // From the label on, where all labels stand directly in the block.
  Way runSwitch(const SwitchStmt *Switch) {
    const auto *Block = dyn_cast<CompoundStmt>(Switch->getBody());
    std::optional<Result> Condition = evaluate(Switch->getCond());
    if (!Block || !Condition || !Condition->Value)
      return Unknown;
    unsigned Labels = 0;
    for (const SwitchCase *Label = Switch->getSwitchCaseList(); Label;
         Label = Label->getNextSwitchCase())
      ++Labels;
    auto Begin = Block->body_end(), Default = Begin;
    for (auto At = Block->body_begin(); At != Block->body_end(); ++At)
      for (const auto *Label = dyn_cast<SwitchCase>(*At); Label;
           Label = dyn_cast<SwitchCase>(Label->getSubStmt()), --Labels) {
        const auto *Case = dyn_cast<CaseStmt>(Label);
        std::optional<Result> Is = Case ? evaluate(Case->getLHS()) : std::nullopt;
        if (Case && (!Is || !Is->Value || Case->getRHS()))
          return Unknown;
        if (!Case)
          Default = At;
        else if (Is->Value == Condition->Value)
          Begin = At;
      }
    if (Labels)
      return Unknown;
    const Way After =
        runAll(ArrayRef(Begin == Block->body_end() ? Default : Begin, Block->body_end()));
    return After == Breaks ? Ends : After;
  }

  Besides besides() const { return {Aborts, Reports, Prints, EndIn}; }
  bool hasCalled() const { return Calls == 1; }
  // True if whatever would run otherwise is abort.
  bool abortsOtherwise() const { return Aborts && EndIn.empty(); }

private:
  // Of the body of a function that is called: all of it stays.
  explicit Execution(const ASTContext &Context)
      : Call(nullptr), Context(Context), Returned(0), MayReturn(true), MayPrint(false) {}

  struct Result {
    std::optional<int64_t> Value; // none: it does not matter, or is not known
  };

  const CallExpr *Call; // null: of a function that is called with the operation's result
  const ASTContext &Context;
  int64_t Returned; // by the call
  int64_t *ReturnsAny = nullptr;
  unsigned Calls = 0;
  bool Aborts = true;
  bool InBody = false;    // its variables go with it
  bool MayReturn = false; // what the call does
  bool NamesStay = false; // all that it names is named elsewhere, too
  bool MayPrint, Prints = false, Reports = false;
  std::vector<const FunctionDecl *> EndIn; // as Besides::Ends
  SmallPtrSet<const ValueDecl *, 4> Names; // in the call's arguments, which stay
  SmallPtrSet<const VarDecl *, 4> Through; // of these, those whose initialisers are looked at
  DenseMap<const ValueDecl *, std::optional<int64_t>> Declared;
  mutable std::optional<ResultUse> Use;       // of runUse()
  bool Assigned = false;                      // its variable has its value
  mutable SmallPtrSet<const Decl *, 4> GoToo; // declared in what never runs

  bool use(const Stmt *Statement, ArrayRef<const Stmt *> Behind) {
    Use.emplace();
    if (!begins(Statement) || Calls != 1)
      return false;
    Assigned = true;
    for (const Stmt *Next : Behind) {
      if (Use->Returns || !Use->variable() || !tests(Next))
        break;
      ResultUse Before = *Use;
      const bool Printed = Prints;
      if (!(returnsZero(Next) || (!isa<ReturnStmt>(Next) && run(Next) == Ends)) ||
          Prints != Printed) {
        Use = std::move(Before);
        Prints = Printed;
        break;
      }
      Use->Decided.push_back(Next);
    }
    return true;
  }

  ResultUse takeUse() {
    for (const auto &[Variable, Value] : Declared)
      Use->Missed.erase(Variable);
    for (const Decl *Inner : GoToo)
      if (const auto *Named = dyn_cast<NamedDecl>(Inner))
        Use->Missed.erase(Named);
    return *std::exchange(Use, std::nullopt);
  }

  bool begins(const Stmt *Statement) {
    if (const auto *D = dyn_cast<DeclStmt>(Statement)) {
      const auto *V = D->isSingleDecl() ? dyn_cast<VarDecl>(D->getSingleDecl()) : nullptr;
      if (!V || !V->hasInit() || !declare(V) || Declared[V] != 0)
        return false;
      Use->Declared = V;
      return true;
    }
    return returnsZero(Statement) || (!isa<ReturnStmt>(Statement) && run(Statement) == Ends);
  }

  bool returnsZero(const Stmt *Statement) {
    const auto *Return = dyn_cast<ReturnStmt>(Statement);
    const Expr *Value = Return ? Return->getRetValue() : nullptr;
    if (!Value || !Value->getType()->isIntegerType())
      return false;
    std::optional<Result> Is = evaluate(Value);
    Use->Returns = Is && Is->Value == 0;
    return Use->Returns;
  }

  // True if the function returns what the call does, or nothing.
  bool returnsSame(const ReturnStmt *Return) {
    std::optional<Result> Value =
        Return->getRetValue() ? evaluate(Return->getRetValue()) : Result{Returned};
    if (!Value || !Value->Value)
      return false;
    if (!ReturnsAny)
      return Value->Value == Returned;
    *ReturnsAny = *Value->Value;
    return !Return->getRetValue() || Return->getRetValue()->getType()->isIntegerType();
  }

  // An `if`, an assertion or a return that asks for the variable.
  bool tests(const Stmt *Statement) const {
    return names(Statement, Use->variable()) &&
           (isa<IfStmt>(Statement) || isa<ReturnStmt>(Statement) ||
            Statement->getBeginLoc().isMacroID());
  }

  static bool names(const Stmt *S, const VarDecl *V) {
    const auto *Ref = dyn_cast<DeclRefExpr>(S);
    return (Ref && Ref->getDecl() == V) ||
           any_of(S->children(), [&](const Stmt *Child) { return Child && names(Child, V); });
  }

  // `rc`, `status->error` or `errno`: a number that can be set to 0 in its place.
  bool canKeep(const Expr *Target) const {
    if (!Target->getType()->isIntegerType() || Target->getType().isVolatileQualified())
      return false;
    const auto *Dereference = dyn_cast<UnaryOperator>(Target);
    const auto *Errno = Dereference && Dereference->getOpcode() == UO_Deref
                            ? dyn_cast<CallExpr>(Dereference->getSubExpr()->IgnoreParens())
                            : nullptr;
    if (const FunctionDecl *Callee = Errno ? Errno->getDirectCallee() : nullptr)
      return Callee->getName() == "__errno_location";
    return (isa<DeclRefExpr>(Target) || isa<MemberExpr>(Target)) &&
           !Target->HasSideEffects(Context);
  }

  // An assignment of what is known to be 0 to what outlives the statement.
  std::optional<Result> keep(const Expr *Target, const Expr *Source) {
    if (!Use || Assigned || Use->Target || !canKeep(Target))
      return std::nullopt;
    std::optional<Result> Value = evaluate(Source);
    if (!Value || Value->Value != 0 || Use->Target)
      return std::nullopt;
    Use->Target = Target;
    if (const VarDecl *V = Use->variable())
      Declared[V] = 0;
    return Value;
  }

  void collectNames(const Stmt *S) {
    if (const auto *Ref = dyn_cast<DeclRefExpr>(S)) {
      const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
      // The initialiser takes the variable's place at callers, see LocalNames.
      if (InBody && V && V->isLocalVarDecl() && V->hasInit() && Through.insert(V).second)
        collectNames(V->getInit());
      Names.insert(Ref->getDecl());
    }
    for (const Stmt *Child : S->children())
      if (Child)
        collectNames(Child);
  }

  // A message, or messages under conditions, whose text can go.
  bool onlyPrints(const Stmt *S) {
    if (!MayPrint || !prints(S) || !canGo(S))
      return false;
    Prints = true;
    return true;
  }

  bool prints(const Stmt *S) const {
    if (isa<NullStmt>(S))
      return true;
    if (const auto *Block = dyn_cast<CompoundStmt>(S))
      return all_of(Block->body(), [&](const Stmt *Child) { return prints(Child); });
    if (const auto *If = dyn_cast<IfStmt>(S))
      return isPure(If->getCond()) && prints(If->getThen()) &&
             (!If->getElse() || prints(If->getElse()));
    if (const auto *Do = dyn_cast<DoStmt>(S)) {
      Expr::EvalResult Again;
      return Do->getCond()->EvaluateAsInt(Again, Context) && Again.Val.getInt() == 0 &&
             prints(Do->getBody());
    }
    const auto *E = dyn_cast<Expr>(S);
    const auto *Message = E ? dyn_cast<CallExpr>(E->IgnoreParenCasts()) : nullptr;
    const FunctionDecl *Callee = Message ? Message->getDirectCallee() : nullptr;
    return Callee && any_of(Callee->specific_attrs<FormatAttr>(), isLikePrintf) &&
           all_of(Message->arguments(), [&](const Expr *Argument) { return isPure(Argument); });
  }

  static bool isExpect(const CallExpr *Call) {
    return Call->getBuiltinCallee() == Builtin::BI__builtin_expect;
  }

  // No side effects; likely() and unlikely() have none.
  bool isPure(const Expr *E) const {
    const auto *Expect = dyn_cast<CallExpr>(E->IgnoreParenCasts());
    if (Expect && isExpect(Expect))
      return isPure(Expect->getArg(0));
    return !E->HasSideEffects(Context);
  }

  Way runBlock(const CompoundStmt *Block) {
    return runAll(ArrayRef(Block->body_begin(), Block->body_end()));
  }

  Way runAll(ArrayRef<const Stmt *> Statements) {
    for (auto At = Statements.begin(); At != Statements.end(); ++At) {
      Way Child = run(*At);
      ArrayRef<const Stmt *> Behind(std::next(At), Statements.end());
      if ((Child == Breaks || Child == Returns) &&
          all_of(Behind, [&](const Stmt *Never) { return canGo(Never); })) {
        // What fails goes on there.
        if (Child == Returns && any_of(Behind, [](const Stmt *S) { return !isa<NullStmt>(S); }))
          Aborts = false;
        return Child;
      }
      if (Child != Ends)
        return Unknown;
    }
    return Ends;
  }

  bool declare(const Decl *D) {
    const auto *V = dyn_cast<VarDecl>(D);
    // The operand may start from a pointer.
    bool Pointer = InBody && V && V->getType()->isPointerType();
    if (!V || !V->hasLocalStorage() || V->hasAttr<CleanupAttr>() ||
        !(Pointer || V->getType()->isIntegerType()) || V->getType().isVolatileQualified() ||
        (Pointer && V->hasInit() && !canGo(V->getInit())))
      return false;
    std::optional<Result> Initial = !V->hasInit() ? Result()
                                    : Pointer     ? constant(V->getInit())
                                                  : evaluate(V->getInit());
    if (!Initial)
      return false;
    Declared[V] = Initial->Value;
    return true;
  }

  // What an expression is, if it leaves no trace.
  std::optional<Result> evaluate(const Expr *E) {
    E = E->IgnoreParens();
    if (E == Call) {
      ++Calls;
      return Result{Returned};
    }
    if (const auto *Cast = dyn_cast<CastExpr>(E)) {
      std::optional<Result> Sub = evaluate(Cast->getSubExpr());
      if (!Sub || !Sub->Value)
        return Sub;
      if (Cast->getType()->isBooleanType())
        return Result{*Sub->Value != 0};
      if (Cast->getType()->isIntegerType())
        return holds(Cast->getType(), *Sub->Value) ? Sub : Result();
      return isa<ImplicitCastExpr>(Cast) ? Sub : Result();
    }
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
      if (auto Known = Declared.find(Ref->getDecl()); Known != Declared.end())
        return Result{Known->second};
    if (const auto *Unary = dyn_cast<UnaryOperator>(E); Unary && Unary->getOpcode() == UO_LNot) {
      std::optional<Result> Sub = evaluate(Unary->getSubExpr());
      return Sub && Sub->Value ? Result{!*Sub->Value} : Sub;
    }
    if (const auto *Unary = dyn_cast<UnaryOperator>(E); Unary && Unary->getOpcode() == UO_Extension)
      return evaluate(Unary->getSubExpr());
    if (const auto *Binary = dyn_cast<BinaryOperator>(E))
      return evaluate(Binary);
    if (const auto *Choice = dyn_cast<ConditionalOperator>(E)) {
      std::optional<Result> Condition = evaluate(Choice->getCond());
      if (!Condition || !Condition->Value)
        return std::nullopt;
      const Expr *True = Choice->getTrueExpr(), *False = Choice->getFalseExpr();
      Aborts &= aborts(*Condition->Value ? False : True);
      return canGo(*Condition->Value ? False : True) ? evaluate(*Condition->Value ? True : False)
                                                     : std::nullopt;
    }
    if (const auto *Block = dyn_cast<StmtExpr>(E))
      return run(Block->getSubStmt()) == Ends ? std::optional(Result()) : std::nullopt;
    if (const auto *Other = dyn_cast<CallExpr>(E))
      return evaluate(Other);
    if (isa<clang::StringLiteral>(E))
      return Result{1}; // `assert(lock(&l) == 0 && "cannot lock")`: true
    return constant(E);
  }

  // likely(), unlikely(), and functions that make another number of the result.
  std::optional<Result> evaluate(const CallExpr *Other) {
    const FunctionDecl *Callee = Other->getDirectCallee(), *Defined = nullptr;
    if (isExpect(Other))
      return evaluate(Other->getArg(0));
    if (!Call || !Callee || !Callee->isDefined(Defined) || !canGo(Other->getCallee()))
      return std::nullopt;
    SmallVector<int64_t, 4> Arguments;
    for (const Expr *Argument : Other->arguments()) {
      std::optional<Result> Value = evaluate(Argument);
      if (!Value || !Value->Value)
        return std::nullopt;
      Arguments.push_back(*Value->Value);
    }
    std::optional<int64_t> Value = resultOf(Defined, Arguments, Context);
    return Value ? std::optional(Result{*Value}) : std::nullopt;
  }

  // False for a number that would become another one by its type.
  bool holds(QualType Type, int64_t Value) const {
    if (!Type->isIntegerType())
      return false;
    if (Type->isBooleanType())
      return Value == 0 || Value == 1;
    const unsigned Width = Context.getIntWidth(Type);
    return Type->isSignedIntegerOrEnumerationType() ? isIntN(Width, Value)
                                                    : Value >= 0 && isUIntN(Width, Value);
  }

  std::optional<Result> constant(const Expr *E) const {
    if (E->HasSideEffects(Context) || usesLocal(E))
      return std::nullopt;
    Expr::EvalResult Value;
    if (E->getType()->isIntegerType() && E->EvaluateAsInt(Value, Context))
      if (std::optional<int64_t> Fits = Value.Val.getInt().tryExtValue())
        return Result{*Fits};
    return Result();
  }

  // True if a variable that stays, of the function, might become unused.
  bool usesLocal(const Stmt *S) const {
    if (const auto *Ref = dyn_cast<DeclRefExpr>(S))
      if (const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
          V && V->isLocalVarDecl() && !InBody && !Declared.count(V) && !Names.count(V))
        return true;
    return any_of(S->children(), [&](const Stmt *Child) { return Child && usesLocal(Child); });
  }

  std::optional<Result> evaluate(const BinaryOperator *Binary) {
    if (Binary->getOpcode() == BO_Assign) {
      const auto *Target = dyn_cast<DeclRefExpr>(Binary->getLHS()->IgnoreParens());
      if (!Target || !Declared.count(Target->getDecl()))
        return keep(Binary->getLHS()->IgnoreParens(), Binary->getRHS());
      std::optional<Result> Value = evaluate(Binary->getRHS());
      if ((Use && Target->getDecl() == Use->variable()) || !Value)
        return std::nullopt;
      Declared[Target->getDecl()] = Value->Value;
      return Value;
    }
    if (Binary->isAssignmentOp())
      return std::nullopt;
    std::optional<Result> Left = evaluate(Binary->getLHS());
    if (!Left)
      return std::nullopt;
    if (Binary->isLogicalOp()) {
      bool Or = Binary->getOpcode() == BO_LOr;
      if (!Left->Value)
        return std::nullopt;
      if (bool(*Left->Value) == Or)
        return canGo(Binary->getRHS()) ? std::optional(Result{Or}) : std::nullopt;
    }
    std::optional<Result> Right = evaluate(Binary->getRHS());
    if (!Right || Binary->getOpcode() == BO_Comma)
      return Right;
    if (!Left->Value || !Right->Value)
      return Result();
    int64_t A = *Left->Value, B = *Right->Value;
    switch (Binary->getOpcode()) {
    case BO_EQ:
      return Result{A == B};
    case BO_NE:
      return Result{A != B};
    case BO_LT:
      return Result{A < B};
    case BO_GT:
      return Result{A > B};
    case BO_LE:
      return Result{A <= B};
    case BO_GE:
      return Result{A >= B};
    case BO_LAnd:
    case BO_LOr:
      return Result{B != 0};
    default:
      return Result();
    }
  }

  // True if all that the statement does is to abort, or to fail an assertion, perhaps with a
  // message before.
  bool aborts(const Stmt *S) {
    if (const auto *Block = dyn_cast<CompoundStmt>(S)) {
      if (Block->body_empty() || !aborts(Block->body_back()))
        return false;
      auto Messages = ArrayRef(Block->body_begin(), Block->size() - 1);
      if (Messages.empty())
        return true;
      bool Only = MayPrint && all_of(Messages, [&](const Stmt *Child) { return prints(Child); });
      Reports |= Only;
      return Only;
    }
    if (const auto *Do = dyn_cast<DoStmt>(S))
      return aborts(Do->getBody());
    const auto *E = dyn_cast<Expr>(S);
    const auto *Call = E ? dyn_cast<CallExpr>(E->IgnoreParenCasts()) : nullptr;
    const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
    if (!Callee || !Callee->getIdentifier())
      return false;
    if (Callee->getName() == "abort" || Callee->getName() == "__assert_fail")
      return true;
    // `log_fatal(__FILE__, __LINE__, strerror(error));`
    Reports = true;
    EndIn.push_back(Callee);
    return true;
  }

  // True for statements that can go without a trace, as they never run.
  bool canGo(const Stmt *S) const {
    if (!Call)
      return true; // it stays
    if (Use)
      Use->Never.push_back(S);
    return partCanGo(S);
  }

  // No compiler warns where nothing calls an inline function of a header.
  bool mayBeUnused(const ValueDecl *D) const {
    const auto *F = dyn_cast<FunctionDecl>(D);
    return D->hasAttr<UnusedAttr>() || (F && F->isInlineSpecified() &&
                                        !Context.getSourceManager().isInMainFile(F->getLocation()));
  }

  bool partCanGo(const Stmt *S) const {
    if (isa<LabelStmt>(S) || isa<IndirectGotoStmt>(S) || isa<SwitchCase>(S) ||
        isa<AddrLabelExpr>(S) || S == Call)
      return false;
    if (!Use && !InBody && (isa<GotoStmt>(S) || isa<StmtExpr>(S)))
      return false; // a function's body stays where it is
    if (const auto *Goto = dyn_cast<GotoStmt>(S); Goto && Use)
      Use->Missed.insert(Goto->getLabel());
    if (const auto *Ref = dyn_cast<DeclRefExpr>(S)) {
      const ValueDecl *D = Ref->getDecl();
      bool Known = Declared.count(D) || Names.count(D) || GoToo.contains(D) || NamesStay ||
                   mayBeUnused(D) || (InBody && D->getParentFunctionOrMethod());
      if (!isa<EnumConstantDecl>(D) && !D->hasExternalFormalLinkage() && !Known) {
        if (!Use)
          return false;
        Use->Missed.insert(D);
      }
    }
    if (const auto *D = dyn_cast<DeclStmt>(S))
      for (const Decl *Inner : D->decls())
        GoToo.insert(Inner);
    return all_of(S->children(), [&](const Stmt *Child) { return !Child || partCanGo(Child); });
  }
};

} // namespace

bool onlyOperation(const Stmt *Statement, const CallExpr *Call, const ASTContext &Context,
                   Besides *What, int64_t Result) {
  Execution Run(Call, Context, Result, What != nullptr);
  // A variable that the statement itself declares is for what follows.
  bool Only = !isa<DeclStmt>(Statement) && Run.run(Statement) == Execution::Ends && Run.hasCalled();
  if (What)
    *What = Only ? Run.besides() : Besides();
  return Only;
}

bool onlyOperationOfBody(const CompoundStmt *Body, const CallExpr *Call, const ASTContext &Context,
                         int64_t Result, bool *Aborts, int64_t *Returns) {
  Execution Run(Call, Context, Result);
  if (Returns)
    *Returns = Result;
  bool Only = Run.runBody(Body, Returns) && Run.hasCalled();
  if (Aborts)
    *Aborts = Only && Run.abortsOtherwise();
  return Only;
}

bool onlyOperationOf(ArrayRef<const Stmt *> Statements, const CallExpr *Call,
                     const FunctionDecl *F) {
  Execution Run(Call, F->getASTContext());
  return Run.runPart(Statements, F->hasExternalFormalLinkage() && !F->isInlined()) &&
         Run.hasCalled();
}

const VarDecl *ResultUse::variable() const {
  const auto *Ref = Target ? dyn_cast<DeclRefExpr>(Target->IgnoreParens()) : nullptr;
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : Declared;
  return V && V->hasLocalStorage() ? V : nullptr;
}

std::optional<ResultUse> useOfResult(const Stmt *Statement, ArrayRef<const Stmt *> Behind,
                                     const CallExpr *Call, const ASTContext &Context,
                                     Besides *What) {
  Execution Run(Call, Context, 0, What != nullptr);
  std::optional<ResultUse> Use = Run.runUse(Statement, Behind);
  if (What)
    *What = Run.besides();
  return Use;
}

std::vector<const Stmt *> Entrance::gone() const {
  const Stmt *Other = Arm == If->getThen() ? If->getElse() : If->getThen();
  std::vector<const Stmt *> Result = {If->getCond()};
  if (Other)
    Result.push_back(Other);
  return Result;
}

std::optional<Entrance> entranceOf(const Stmt *Statement, ArrayRef<const Stmt *> Behind,
                                   const CallExpr *Call, const ASTContext &Context,
                                   int64_t Result) {
  return Execution(Call, Context, Result).runEntrance(Statement, Behind);
}

} // namespace relock
