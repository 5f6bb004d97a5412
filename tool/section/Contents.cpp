// SPDX-License-Identifier: MIT
#include "section/Contents.h"

#include "index/ConstantArms.h"
#include "index/Dying.h"
#include "index/FunctionPointers.h"
#include "index/LockApi.h"
#include "section/Flow.h"
#include "section/Hoist.h"
#include "section/MacroBody.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/RecursiveASTVisitor.h"

using namespace clang;
using namespace llvm;

namespace relock {

// True if the place lies in the statement.
static bool spans(const Stmt *Statement, SourceLocation L, const Source &S) {
  L = S.SM.getExpansionLoc(L);
  return !S.SM.isBeforeInTranslationUnit(L, S.SM.getExpansionLoc(Statement->getBeginLoc())) &&
         !S.SM.isBeforeInTranslationUnit(S.SM.getExpansionLoc(Statement->getEndLoc()), L);
}

static bool hasDeclaration(const Stmt *Statement, const VarDecl *V) {
  const auto *Declared = dyn_cast<DeclStmt>(Statement);
  return (Declared && is_contained(Declared->decls(), V)) ||
         any_of(Statement->children(),
                [&](const Stmt *Child) { return Child && hasDeclaration(Child, V); });
}

// All that the body of a macro brings is shown in one place: there the tree decides.
bool declares(const Stmt *Statement, const VarDecl *V, const Source &S) {
  return spans(Statement, V->getLocation(), S) &&
         (V->getLocation().isFileID() || hasDeclaration(Statement, V) ||
          any_of(typeOperands(const_cast<Stmt *>(Statement)),
                 [&](const auto &Operand) { return hasDeclaration(Operand.first, V); }));
}

namespace {

// What a block of the function is part of, seen from inside a section.
struct Nesting {
  unsigned Loops = 0, Switches = 0; // inside the section
  bool Unrun = false;               // in an arm that never runs: only its text matters
  bool Ends = false;                // in a block that ends the process
};

class Contents {
public:
  Contents(const SectionText &Text, const FunctionDecl *F, const ParentMap &Parents,
           const Source &S, Section &Found)
      : Text(Text), F(F), Parents(Parents), S(S), Found(Found) {}

  void run(bool LocalTypes) {
    for (const Stmt *Statement : Text.Statements) {
      examine(Statement, Nesting());
      // Nothing runs there, but what it names must be known before the function.
      for (auto [Operand, Around] : typeOperands(const_cast<Stmt *>(Statement)))
        examine(Operand, Nesting());
    }
    if (LocalTypes)
      examineTypes();
  }

private:
  const SectionText &Text;
  const FunctionDecl *F;
  const ParentMap &Parents;
  const Source &S;
  Section &Found;

  void against(StringRef Code, const Twine &Message, SourceLocation At) {
    Found.Against.push_back({Code.str(), Message.str(), S.shown(At)});
  }

  void examine(const Stmt *Statement, Nesting Depth) {
    if (!Statement || is_contained(Text.Outside, Statement))
      return;
    SourceLocation At = Statement->getBeginLoc();
    if (isa<ReturnStmt>(Statement) && !Text.Returns)
      against("held-at-exit", "returns with the lock held", At);
    if ((isa<BreakStmt>(Statement) && !Depth.Loops && !Depth.Switches) ||
        (isa<ContinueStmt>(Statement) && !Depth.Loops))
      against("held-at-exit", "leaves the block with the lock held", At);
    if (const auto *Goto = dyn_cast<GotoStmt>(Statement);
        Goto && !within(Text.Statements, Goto->getLabel()->getStmt(), Parents) &&
        !atLastUnlock(Goto))
      against("held-at-exit", "jumps out of the section with the lock held", At);
    if (isa<SwitchCase>(Statement) && !Depth.Switches)
      against("side-entry", "a case of an outer switch enters the section here", At);
    if (isa<AsmStmt>(Statement))
      against("assembly", "contains inline assembly", At);
    if (isa<BlockExpr>(Statement))
      against("address-outlives", "makes a block, which keeps what it names", At);
    if (isa<AddrLabelExpr>(Statement))
      against("computed-goto", "takes the address of a label", At);
    if (const auto *Name = dyn_cast<PredefinedExpr>(Statement); Name && !onlyInFailure(Name, Depth))
      Found.AsksForName.try_emplace(Name->getIdentKindName().str(), S.shown(At));
    if (const auto *E = dyn_cast<Expr>(Statement))
      Found.UsesFloat |= isFloat(E->getType());
    if (const auto *Call = dyn_cast<CallExpr>(Statement); Call && !is_contained(Text.Waits, Call))
      examineCall(Call, Depth);
    if (const auto *Declared = dyn_cast<DeclStmt>(Statement))
      for (const Decl *D : Declared->decls())
        if (const auto *V = dyn_cast<VarDecl>(D))
          examineVariable(V);
    if (const auto *Ref = dyn_cast<DeclRefExpr>(Statement))
      if (const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
          V && V->getTLSKind() != VarDecl::TLS_None && !Depth.Unrun)
        Found.IdentityUses.push_back({"'" + V->getNameAsString() + "'", S.shown(At)});
    if (const auto *Ref = dyn_cast<DeclRefExpr>(Statement); Ref && !declaredBefore(Ref->getDecl()))
      against("declared-late",
              "'" + Ref->getDecl()->getName() + "' is not declared before its function", At);
    if (isa<ForStmt>(Statement) || isa<WhileStmt>(Statement) || isa<DoStmt>(Statement))
      ++Depth.Loops;
    if (isa<SwitchStmt>(Statement))
      ++Depth.Switches;
    Depth.Ends |= isa<CompoundStmt>(Statement) && endsProcess(Statement, S.Context);
    const auto Unrun = unrunArms(Statement, S.Context);
    const bool Within = Depth.Unrun;
    for (const Stmt *Child : Statement->children()) {
      Depth.Unrun = Within || is_contained(Unrun, Child);
      examine(Child, Depth);
    }
  }

  // True if a macro names the function for a message before the program ends (`assert` does), which
  // is then about the extracted function: where the assertion stands.
  bool onlyInFailure(const PredefinedExpr *Name, const Nesting &Depth) const {
    if (S.inFile(Name->getLocation()))
      return false;
    if (Depth.Ends)
      return true;
    const Stmt *Child = Name, *User = Parents.getParent(Name);
    while (isa_and_nonnull<ParenExpr>(User) || isa_and_nonnull<CastExpr>(User) ||
           (isa_and_nonnull<UnaryOperator>(User) &&
            cast<UnaryOperator>(User)->getOpcode() == UO_Extension)) {
      Child = User;
      User = Parents.getParent(User);
    }
    const auto *Call = dyn_cast_or_null<CallExpr>(User);
    const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
    return Callee && Callee->isNoReturn() && is_contained(Call->arguments(), Child);
  }

  // The extracted function stands before F: what it names must be declared there already.
  bool declaredBefore(const ValueDecl *D) const {
    const auto *V = dyn_cast<VarDecl>(D);
    if (V && !V->hasExternalStorage() && V->getDeclContext()->isFunctionOrMethod())
      return true; // a local variable, which is captured
    if (const auto *Builtin = dyn_cast<FunctionDecl>(D); Builtin && Builtin->getBuiltinID())
      return true;
    SourceLocation Begin = S.SM.getExpansionLoc(F->getBeginLoc());
    return any_of(D->redecls(), [&](const Decl *Redeclared) {
      return Redeclared->getLexicalDeclContext()->isFileContext() == !isa<EnumConstantDecl>(D) &&
             S.SM.isBeforeInTranslationUnit(S.SM.getExpansionLoc(Redeclared->getLocation()), Begin);
    });
  }

  // The text moves to where the macro is defined.
  bool inMacroBody() const {
    return Text.Unlocks.empty() || macroBody(Text.Lock, Text.Unlocks.front(), S);
  }

  void examineVariable(const VarDecl *V) {
    SourceLocation At = V->getLocation();
    if (V->getType()->isVariablyModifiedType() || (typeOf(V->getType()) && inMacroBody()))
      against("variable-type", "declares '" + V->getName() + "' with a variable type", At);
    constexpr int64_t Large = 4096; // bytes; the thread that runs the section has its own stack
    if (!V->getType()->isIncompleteType() && V->hasLocalStorage() &&
        S.Context.getTypeSizeInChars(V->getType()).getQuantity() > Large)
      against("stack-size",
              "'" + V->getName() + "' is large, and another thread's stack may be too small for it",
              At);
    if (V->hasAttr<CleanupAttr>() && !Text.InScope)
      against("cleanup",
              "'" + V->getName() + "' has a cleanup function, which runs after the unlock", At);
  }

  static bool typeOf(QualType T) {
    while (T->isPointerType())
      T = T->getPointeeType();
    return isa<TypeOfExprType>(T.getTypePtr());
  }

  // `goto out`, where `out:` labels the last unlock itself.
  bool atLastUnlock(const GotoStmt *Goto) const {
    const Stmt *Target = Goto->getLabel()->getStmt()->getSubStmt();
    while (const auto *Label = dyn_cast<LabelStmt>(Target))
      Target = Label->getSubStmt();
    return Text.Last && Target == Text.Last;
  }

  void examineCall(const CallExpr *Call, const Nesting &Depth) {
    const FunctionDecl *Callee = Call->getDirectCallee();
    SourceLocation At = Call->getExprLoc();
    StringRef Name = Callee && Callee->getIdentifier() ? Callee->getName() : "";
    if (lockFunction(Name))
      return; // a signal: the runtime's own
    if (Name == "alloca" || Name == "__builtin_alloca")
      against("alloca", "allocates on the stack of its function", At);
    if (Name.starts_with("__builtin_frame_address") ||
        Name.starts_with("__builtin_return_address") || Name.starts_with("__builtin_va_"))
      against("stack-frame", "looks at the stack frame of its function", At);
    if (!Depth.Unrun)
      recordCalls(Call, Depth.Ends, S, Found.Calls, Found.IndirectCalls);
  }

  // Types that the function declares, and that the section names without declaring them itself.
  void examineTypes() {
    struct Finder : RecursiveASTVisitor<Finder> {
      std::vector<std::pair<const NamedDecl *, SourceLocation>> Named;
      bool VisitTypedefTypeLoc(TypedefTypeLoc T) { return add(T.getTypedefNameDecl(), T); }
      bool VisitTagTypeLoc(TagTypeLoc T) { return add(T.getDecl(), T); }
      bool add(const NamedDecl *D, TypeLoc At) {
        if (D->getDeclContext()->isFunctionOrMethod())
          Named.push_back({D, At.getBeginLoc()});
        return true;
      }
    } Types;
    for (const Stmt *Statement : Text.Statements)
      Types.TraverseStmt(const_cast<Stmt *>(Statement));
    for (const auto &[Declared, At] : Types.Named)
      if (none_of(Text.Statements, [&](const Stmt *Statement) {
            return spans(Statement, Declared->getLocation(), S);
          }))
        against("local-type", "uses a type that only its function knows", At);
  }
};

} // namespace

void examineContents(const SectionText &Text, const FunctionDecl *F, bool LocalTypes,
                     const ParentMap &Parents, const Source &S, Section &Found) {
  Contents(Text, F, Parents, S, Found).run(LocalTypes);
}

} // namespace relock
