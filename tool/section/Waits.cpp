// SPDX-License-Identifier: MIT
//
// A resumable section leaves at each wait and is entered again directly behind it, by a case of
// the switch that surrounds its text. So nothing may stand between that switch and the wait that a
// case cannot be entered through: another switch, a statement expression, the scope of a
// variable-length array. Locals are new after a wait: those whose values are needed then, and those
// whose address somebody may have, become fields of the context, which stays where it is.
//
// A wait whose result is used is taken out of its statement: the wait comes first, and its result
// takes the place of the call. C leaves the order of a call and the other operands open, except
// where an operator fixes it: there the call must be the first operand.
#include "section/Waits.h"

#include "index/LockApi.h"
#include "section/Hoist.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Expr.h"
#include "clang/AST/Stmt.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace clang;
using namespace llvm;

namespace relock {
namespace {

class WaitFinder {
public:
  WaitFinder(SectionText &Text, const FunctionDecl *F, const std::vector<Mention> &All,
             const CallLiveness &Liveness, const ParentMap &Parents, const Source &S,
             Extraction &Result, std::vector<Reason> &Against)
      : Text(Text), F(F), All(All), Liveness(Liveness), Parents(Parents), S(S), Result(Result),
        Against(Against) {}

  void run() {
    Mixed = mixesDeclarations(F, S);
    for (size_t I = 0; I < Text.Waits.size(); ++I)
      placeWait(Text.Waits[I], Text.WaitStatements[I], Text.WaitWrappers[I]);
    for (const Gap &G : Text.Gaps)
      canResume(G.Lock, "releases the lock", "loop-carried");
    keepDeclared();
    Result.FirstDeclares = firstDeclares();
  }

private:
  SectionText &Text;
  const FunctionDecl *F;
  const std::vector<Mention> &All;
  const CallLiveness &Liveness;
  const ParentMap &Parents;
  const Source &S;
  Extraction &Result;
  std::vector<Reason> &Against;
  bool Mixed = true;                            // declarations may follow statements
  SmallSetVector<const DeclStmt *, 4> Assigned; // declarations that become assignments

  void refuse(const Twine &Message, SourceLocation At) {
    Against.push_back({"waiting", Message.str(), S.shown(At)});
  }

  // --- The waits --------------------------------------------------------------------------------

  // Only: the statement that does no more.
  void placeWait(const CallExpr *Call, const Stmt *Only, const Wrapper *Wraps) {
    SourceLocation At = Call->getExprLoc();
    Wait Placed;
    const Stmt *Statement = statementOf(Call);
    if (!Statement)
      return refuse("waits in an expression or a condition that would have to be divided", At);
    if (!canResume(Statement, "waits", "waiting"))
      return;
    Placed.Whole = soleCall(Statement) == Call;
    std::optional<Range> Whole = place(Statement, Placed.Whole ? Call : nullptr);
    std::optional<Range> Where = Placed.Whole ? Whole : place(Call, Call);
    if (!(Where && Whole) && Only &&
        place(Only, Call)) { // `CHECK(pthread_cond_wait(&more, &lock));`
      Statement = Only;
      Placed.Whole = true;
      Whole = Where = place(Only, Call);
    }
    if (!Where || !Whole)
      return refuse("waits in the body of a macro", At);
    Placed.Call = *Where;
    Placed.Statement = *Whole;
    const Stmt *Parent = Parents.getParent(Statement);
    Placed.Braces = !Placed.Whole && !isa<CompoundStmt>(Parent);
    if (isa<DeclStmt>(Statement) && !Mixed)
      return refuse("waits in a declaration", At);
    if (Wraps) {
      Placed.Condition = operand(*Wraps->Condition, Call, Placed.Call);
      if (Wraps->Deadline)
        Placed.Deadline = operand(*Wraps->Deadline, Call, Placed.Call);
    } else {
      StringRef Name = Call->getDirectCallee()->getName();
      Placed.Condition = operand(Call->getArg(0), Placed.Call);
      if (Name == "pthread_cond_clockwait")
        Placed.Clock = operand(Call->getArg(2), Placed.Call);
      if (Name != "pthread_cond_wait")
        Placed.Deadline = operand(Call->getArg(Call->getNumArgs() - 1), Placed.Call);
    }
    Result.Waits.push_back(std::move(Placed));
  }

  // An operand of the wait in a wrapper: `&q->items` of `wait_for(&q->items)`, where the wrapper
  // waits on `&$->cond`, becomes `&q->items.cond`.
  Wait::Operand operand(const WrapperOperand &Inner, const CallExpr *Call, const Range &At) {
    StringRef Expression = Inner.Expression;
    if (Inner.Parameter < 0)
      return {{}, Expression.str()};
    const Expr *Argument = Call->getArg(Inner.Parameter)->IgnoreParenImpCasts();
    if (Expression == "$")
      return operand(Argument, At);
    auto [Before, After] = Expression.split('$');
    const auto *Address = dyn_cast<UnaryOperator>(Argument);
    if (Address && Address->getOpcode() == UO_AddrOf && After.starts_with("->") &&
        isa<MemberExpr, ArraySubscriptExpr>(Address->getSubExpr()->IgnoreParens())) {
      Wait::Operand Result = operand(Address->getSubExpr()->IgnoreParens(), At);
      Result.Before = Before.str();
      Result.Behind = "." + After.drop_front(2).str();
      return Result;
    }
    bool Simple = isa<DeclRefExpr, MemberExpr, ArraySubscriptExpr>(Argument);
    Wait::Operand Result = operand(Argument, At);
    Result.Before = Before.str() + (Simple ? "" : "(");
    Result.Behind = (Simple ? "" : ")") + After.str();
    return Result;
  }

  // The range of a statement in the section's file. One that a macro spells must be all that the
  // macro makes, and Sole then is its only call.
  std::optional<Range> place(const Stmt *Statement, const CallExpr *Sole) const {
    SourceLocation Begin = Statement->getBeginLoc(), End = Statement->getEndLoc();
    if (Sole && S.SM.isMacroArgExpansion(Begin))
      return std::nullopt; // the macro may use it twice
    if (Sole && Begin.isMacroID() && End.isMacroID() &&
        !(Lexer::isAtStartOfMacroExpansion(Begin, S.SM, S.Language) &&
          Lexer::isAtEndOfMacroExpansion(End, S.SM, S.Language)))
      return std::nullopt;
    std::optional<Source::Range> R = S.range(Statement->getSourceRange());
    if (!R || S.filePath(R->File) != Result.File)
      return std::nullopt;
    return Range{R->Begin, R->End};
  }

  // The statement in which the call is evaluated, once and before anything whose order is fixed.
  const Stmt *statementOf(const CallExpr *Call) const {
    const Stmt *Child = Call;
    for (const Stmt *Up = Parents.getParent(Call); Up; Child = Up, Up = Parents.getParent(Up)) {
      if (const auto *Binary = dyn_cast<BinaryOperator>(Up)) {
        bool Ordered = Binary->isLogicalOp() || Binary->getOpcode() == BO_Comma;
        if (Ordered && Binary->getLHS() != Child)
          return nullptr;
      } else if (const auto *Conditional = dyn_cast<AbstractConditionalOperator>(Up)) {
        if (Conditional->getCond() != Child)
          return nullptr;
      } else if (isa<StmtExpr>(Up) || isa<UnaryExprOrTypeTraitExpr>(Up) ||
                 isa<GenericSelectionExpr>(Up)) {
        return nullptr;
      } else if (isa<Expr>(Up)) {
        continue;
      } else if (const auto *If = dyn_cast<IfStmt>(Up)) {
        return If->getCond() == Child ? If : inBraces(Child, Call);
      } else if (const auto *Declared = dyn_cast<DeclStmt>(Up)) {
        bool InBlock = isa_and_nonnull<CompoundStmt>(Parents.getParent(Up));
        return InBlock && Declared->isSingleDecl() ? Up : nullptr;
      } else if (isa<CompoundStmt>(Up)) {
        return inBraces(Child, Call);
      } else if (const auto *While = dyn_cast<WhileStmt>(Up)) {
        return While->getBody() == Child ? inBraces(Child, Call) : nullptr;
      } else if (const auto *For = dyn_cast<ForStmt>(Up)) {
        return For->getBody() == Child ? inBraces(Child, Call) : nullptr;
      } else if (const auto *Do = dyn_cast<DoStmt>(Up)) {
        return Do->getBody() == Child ? inBraces(Child, Call) : nullptr;
      } else if (isa<LabelStmt>(Up) || isa<SwitchCase>(Up)) {
        return soleCall(Child) == Call ? inBraces(Child, Call) : nullptr;
      } else {
        return nullptr;
      }
    }
    return nullptr;
  }

  // The braces or the `do { … } while (0)` of a macro that is the call.
  const Stmt *inBraces(const Stmt *Statement, const CallExpr *Call) const {
    for (const Stmt *Up = Parents.getParent(Statement); Up && Up->getBeginLoc().isMacroID();
         Up = Parents.getParent(Up)) {
      if (soleCall(Up) != Call)
        break;
      Statement = Up;
    }
    return Statement;
  }

  bool canResume(const Stmt *Statement, StringRef Does, StringRef Code) {
    auto Refuse = [&](const Twine &Message) {
      Against.push_back({Code.str(), (Does + Message).str(), S.shown(Statement->getBeginLoc())});
      return false;
    };
    for (const Stmt *Up = Statement; Up && !is_contained(Text.Statements, Up);) {
      Up = Parents.getParent(Up);
      if (isa_and_nonnull<SwitchStmt>(Up))
        return Refuse(" in a switch, behind which it cannot be continued");
      if (isa_and_nonnull<StmtExpr>(Up))
        return Refuse(" in a statement expression, which cannot be entered again");
    }
    return true;
  }

  Wait::Operand operand(const Expr *E, const Range &Call) {
    SourceLocation Begin = E->getBeginLoc(), End = E->getEndLoc();
    if (S.inFile(Begin) && S.inFile(End)) {
      Position First = S.spelled(Begin), Last = S.spelled(End);
      unsigned Behind = Last.Offset + S.tokenLength(End);
      if (First.File == Result.File && First.Offset > Call.Begin && Behind <= Call.End)
        return {{First.Offset, Behind}, ""};
    }
    std::optional<Source::Range> R = S.range(E->getSourceRange());
    bool Starts = Begin.isFileID() || Lexer::isAtStartOfMacroExpansion(Begin, S.SM, S.Language);
    bool Ends = End.isFileID() || Lexer::isAtEndOfMacroExpansion(End, S.SM, S.Language);
    if (R && R->Begin > Call.Begin && R->End <= Call.End && Starts && Ends)
      return {{R->Begin, R->End}, ""};
    Text.Printed.push_back(E);
    const auto *Address = dyn_cast<UnaryOperator>(E->IgnoreParenImpCasts());
    if (Address && Address->getOpcode() == UO_AddrOf)
      return {{}, "&" + S.expressionText(Address->getSubExpr()->IgnoreParens())};
    return {{}, S.expressionText(E->IgnoreParenImpCasts())};
  }

  // --- What the section declares
  // ------------------------------------------------------------------

  void keepDeclared() {
    for (const Stmt *Statement : Text.Statements)
      keepDeclared(Statement);
    SmallPtrSet<const IdentifierInfo *, 4> Names;
    for (const DeclStmt *Statement : Assigned) {
      assign(Statement);
      for (const Decl *D : Statement->decls())
        if (!Names.insert(cast<VarDecl>(D)->getIdentifier()).second)
          refuse("two variables named '" + cast<VarDecl>(D)->getName() + "' live across waits",
                 D->getLocation());
    }
  }

  void keepDeclared(const Stmt *Statement) {
    if (!Statement || is_contained(Text.Outside, Statement))
      return;
    if (const auto *Declared = dyn_cast<DeclStmt>(Statement);
        Declared && !is_contained(Text.Hoisted, Declared)) {
      bool After = !Mixed && followsAssigned(Declared);
      if (After || any_of(Declared->decls(), [&](const Decl *D) {
            const auto *V = dyn_cast<VarDecl>(D);
            return V && V->hasLocalStorage() && survives(V, Declared);
          }))
        Assigned.insert(Declared);
    }
    for (const Stmt *Child : Statement->children())
      keepDeclared(Child);
  }

  // A declaration behind one that has become a statement.
  bool followsAssigned(const DeclStmt *Declared) const {
    const auto *Block = dyn_cast_or_null<CompoundStmt>(Parents.getParent(Declared));
    if (!Block)
      return false;
    for (const Stmt *Child : Block->body()) {
      if (Child == Declared)
        return false;
      const auto *Before = dyn_cast<DeclStmt>(Child);
      if (Before && Assigned.contains(Before))
        return true;
    }
    return false;
  }

  bool survives(const VarDecl *V, const DeclStmt *Declared) const {
    QualType T = V->getType();
    bool Shared = T->isArrayType() || T->isRecordType() || T.isVolatileQualified() ||
                  T->isAtomicType() || any_of(All, [&](const Mention &M) {
                    return M.Variable == V && M.How == Mention::AddressTaken;
                  });
    const Stmt *Scope = Parents.getParent(Declared);
    auto LivesAcross = [&](const CallExpr *Call) {
      return Shared ? contains(Scope, Call) : Liveness.liveAfter(Call, V);
    };
    return is_contained(Text.Escaping, V) || any_of(Text.Waits, LivesAcross) ||
           any_of(Text.Gaps, [&](const Gap &G) { return LivesAcross(G.Lock); });
  }

  bool contains(const Stmt *Outer, const Stmt *Inner) const {
    while (Inner && Inner != Outer)
      Inner = Parents.getParent(Inner);
    return Inner;
  }

  // Makes the declaration an assignment to fields of the context.
  void assign(const DeclStmt *Statement) {
    KeptDeclaration Kept;
    std::optional<Source::Range> Whole = S.range(Statement->getSourceRange());
    if (!Whole || Statement->getBeginLoc().isMacroID() || Statement->getEndLoc().isMacroID())
      return refuse("a macro declares a variable that lives across a wait",
                    Statement->getBeginLoc());
    StringRef File = S.fileText(Whole->File);
    Kept.At = {Whole->Begin, Whole->End};
    Kept.Lines = wholeLines(Kept.At, File);
    Kept.InFor = !isa<CompoundStmt>(Parents.getParent(Statement));
    for (const Decl *D : Statement->decls()) {
      const auto *V = dyn_cast<VarDecl>(D);
      if (!V || !V->hasLocalStorage() || V->hasAttrs())
        return refuse("a variable that lives across a wait is declared with something else",
                      D->getLocation());
      if (V->hasInit() && !addValue(V, Kept))
        return;
      keep(V);
    }
    Result.Kept.push_back(std::move(Kept));
  }

  bool addValue(const VarDecl *V, KeptDeclaration &Kept) {
    const Expr *Initial = V->getInit()->IgnoreImplicit();
    std::optional<Source::Range> R = S.range(Initial->getSourceRange());
    if (V->getType()->isArrayType() || !R || S.filePath(R->File) != Result.File) {
      refuse("'" + V->getName() + "' lives across a wait, and is initialised as only a " +
                 "declaration can",
             V->getLocation());
      return false;
    }
    KeptDeclaration::Value Value = {V->getNameAsString(), "", {R->Begin, R->End}};
    if (isa<InitListExpr>(Initial))
      Value.Type = declaration(V, "");
    Kept.Values.push_back(std::move(Value));
    return true;
  }

  std::string declaration(const VarDecl *V, StringRef Name) const {
    SourceLocation At = F->getBeginLoc();
    QualType T = V->getType().getLocalUnqualifiedType();
    return declarationText(asWritten(T, V, At, S), Name, At, S);
  }

  void keep(const VarDecl *V) {
    QualType T = V->getType().getLocalUnqualifiedType();
    if (!spellable(T, S.Context))
      return Against.push_back({"local-type",
                                ("'" + V->getName() +
                                 "' lives across a wait, and has a type "
                                 "that cannot be written outside its function")
                                    .str(),
                                S.shown(V->getLocation())});
    Capture C;
    C.Name = V->getNameAsString();
    C.How = Travel::Kept;
    C.Field = declaration(V, C.Name);
    noteLockType(V, S, Result);
    for (const Mention &M : All) {
      if (M.Variable != V)
        continue;
      SourceLocation L = M.Ref->getLocation();
      if (!S.inFile(L) || S.stringified(L) || S.spelled(L).File != Result.File)
        return Against.push_back(
            {"macro-reference",
             ("'" + V->getName() + "' is named, pasted or made a string of by a macro").str(),
             S.shown(L)});
      unsigned Begin = S.spelled(L).Offset;
      Range At = {Begin, Begin + unsigned(C.Name.size())};
      if (none_of(C.References, [&](const Reference &R) { return R.At.Begin == At.Begin; }))
        C.References.push_back({At, Reference::Plain, {}});
    }
    Result.Captures.push_back(std::move(C));
  }

  // True if a declaration is the first statement that is left of the section.
  bool firstDeclares() const {
    for (const Stmt *Statement : Text.Statements) {
      const auto *Declared = dyn_cast<DeclStmt>(Statement);
      if (!Declared)
        return false;
      if (!Assigned.contains(Declared) && !is_contained(Text.Hoisted, Declared))
        return true;
      if (any_of(Declared->decls(), [](const Decl *D) { return cast<VarDecl>(D)->hasInit(); }))
        return false;
    }
    return false;
  }
};

} // namespace

void findWaits(SectionText &Text, const FunctionDecl *F, const std::vector<Mention> &All,
               const CallLiveness &Liveness, const ParentMap &Parents, const Source &S,
               Extraction &Result, std::vector<Reason> &Against) {
  WaitFinder(Text, F, All, Liveness, Parents, S, Result, Against).run();
}

const Expr *waitMutex(const SectionText &Text, size_t I) {
  const Wrapper *W = Text.WaitWrappers[I];
  if (!W)
    return Text.Waits[I]->getArg(1);
  bool Shared = W->Condition->Parameter == W->Parameter ||
                (W->Deadline && W->Deadline->Parameter == W->Parameter);
  return W->Parameter < 0 || Shared ? nullptr : Text.Waits[I]->getArg(W->Parameter);
}

} // namespace relock
