// SPDX-License-Identifier: MIT
#include "index/WrapperBody.h"

#include "index/LocalNames.h"
#include "index/LockApi.h"
#include "index/Tested.h"

#include "clang/AST/ASTContext.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"

using namespace clang;
using namespace llvm;

namespace relock {
namespace {

ArrayRef<Stmt *> statementsOf(const CompoundStmt *Block) {
  return ArrayRef(const_cast<CompoundStmt *>(Block)->body_begin(), Block->size());
}

class BodyReader {
public:
  BodyReader(const FunctionDecl *F, const CallExpr *Operation, const Wrapper &W, const Source &S)
      : F(F), Operation(Operation), W(W), S(S),
        Statements(statementsOf(cast<CompoundStmt>(F->getBody()))) {}

  std::optional<WrapperBody> read(const Expr *Operand, const std::vector<Call> &Calls) {
    Operand = withoutIdleCasts(Operand)->IgnoreParenImpCasts();
    if (!canMove() || isa<CStyleCastExpr>(Operand) || !findOperation() || !readParameters())
      return std::nullopt;
    Body.Tests = W.Pure ? W.Tests : End != Begin + 1 || soleCall(Statements[Begin]) != Operation;
    for (size_t I = 0; I < Statements.size(); ++I)
      if ((I < Begin || I >= End) && !Gone.contains(Statements[I]) &&
          !isa<NullStmt>(Statements[I]) &&
          !add(Statements[I], (I < Begin) == (W.Kind == Operation::Lock), Calls))
        return std::nullopt;
    if (W.Kind == Operation::Lock) {
      Body.Lock = S.expressionText(Operand);
      noteNames(Operand, /*Under=*/false);
    }
    erase_if(Body.Aliases, [](const WrapperBody::Alias &A) { return !A.Outside && !A.Under; });
    return std::move(Body);
  }

private:
  const FunctionDecl *F;
  const CallExpr *Operation;
  const Wrapper &W;
  const Source &S;
  const ArrayRef<Stmt *> Statements;
  size_t Begin = 0, End = 0;         // of Statements: the operation, and tests of its result
  SmallPtrSet<const Stmt *, 4> Gone; // what else goes, such as declarations of that result
  SmallPtrSet<const Decl *, 2> Results;
  SmallPtrSet<const Decl *, 4> Inner;        // declared in the statement that is looked at
  DenseMap<const VarDecl *, size_t> Aliases; // their places in Body
  WrapperBody Body;

  bool canMove() const {
    const Stmt *Whole = F->getBody();
    return (F->getReturnType()->isVoidType() || W.Pure) && !F->isVariadic() &&
           (F->hasWrittenPrototype() || S.Language.C23) && Whole->getBeginLoc().isFileID() &&
           Whole->getEndLoc().isFileID();
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
    while (Begin < Statements.size() && !contains(Statements[Begin], Operation))
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
    for (const Stmt *Statement : Statements.take_front(Begin))
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
    for (End = Begin + 1; End < Statements.size(); ++End) {
      Run.push_back(Statements[End]);
      if (none_of(Results, [&](const Decl *V) { return mentions(Statements[End], V); }) ||
          !onlyOperationOf(Run, Operation, F))
        break;
    }
    for (const Stmt *Statement : Statements.slice(Begin, End - Begin))
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
    const auto *At = find(Statements, Statement);
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

std::optional<WrapperBody> wrapperBody(const FunctionDecl *F, const CallExpr *Operation,
                                       const Expr *Operand, const Wrapper &W,
                                       const std::vector<Call> &Calls, const Source &S) {
  return BodyReader(F, Operation, W, S).read(Operand, Calls);
}

} // namespace relock
