// SPDX-License-Identifier: MIT
//
// A variable that is only read travels by value: nothing else can change it while its function
// waits. Everything that is written or that others may see travels by address, which is exact
// whatever happens in the section. A variable that is dead on both sides moves into the extracted
// function.
#include "section/Captures.h"

#include "index/LockApi.h"
#include "section/Directives.h"
#include "section/Dropped.h"
#include "section/Flow.h"
#include "section/Hoist.h"
#include "support/MacroText.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Analysis/Analyses/LiveVariables.h"
#include "clang/Analysis/AnalysisDeclContext.h"
#include "clang/Basic/Builtins.h"
#include "clang/Basic/CharInfo.h"
#include "clang/Lex/Lexer.h"
#include "clang/Lex/Preprocessor.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace clang;
using namespace llvm;

namespace relock {

// --- Liveness -----------------------------------------------------------------------------------

CallLiveness::CallLiveness(const FunctionDecl *F) {
  AnalysisDeclContextManager Manager(F->getASTContext());
  AnalysisDeclContext *Context = Manager.getContext(F);
  Context->getCFGBuildOptions().setAllAlwaysAdd(); // or uses inside expressions go unseen
  std::vector<const VarDecl *> Variables;
  for (const Decl *D : F->decls())
    if (const auto *V = dyn_cast<VarDecl>(D))
      Variables.push_back(V);
  // A constant that travels in the context is none for the compiler of the result: it sees the ways
  // that the constant closes, and warns of a variable that has no value there.
  Context->getCFGBuildOptions().PruneTriviallyFalseEdges = none_of(Variables, [](const VarDecl *V) {
    return V->getType().isConstQualified() && V->getType()->isIntegralOrEnumerationType();
  });
  if (!Context->getCFG())
    return;
  std::unique_ptr<LiveVariables> Live = LiveVariables::computeLiveness(*Context, true);
  if (!Live)
    return;
  struct Observer : LiveVariables::Observer {
    decltype(After) &Result;
    const std::vector<const VarDecl *> &Variables;
    Observer(decltype(After) &Result, const std::vector<const VarDecl *> &Variables)
        : Result(Result), Variables(Variables) {}
    void observeStmt(const Stmt *S, const CFGBlock *,
                     const LiveVariables::LivenessValues &Values) override {
      if (!isa<CallExpr>(S))
        return;
      auto &Set = Result[S];
      for (const VarDecl *V : Variables)
        if (Values.isLive(V))
          Set.insert(V);
    }
  } Watch(After, Variables);
  Live->runOnAllBlocks(Watch);
}

bool CallLiveness::liveAfter(const CallExpr *Call, const VarDecl *V) const {
  auto It = After.find(Call);
  return It == After.end() || It->second.contains(V);
}

void CallLiveness::join(const CallExpr *First, ArrayRef<const CallExpr *> Others) {
  for (const CallExpr *Other : Others)
    if (auto It = After.find(Other); It == After.end())
      After.erase(First); // not known
    else if (auto Joined = After.find(First); Joined != After.end())
      Joined->second.insert(It->second.begin(), It->second.end());
}

namespace {
// Follows the ways from a call to where a variable is read or written. LiveVariables would count
// what stands in text that goes.
class Readers {
public:
  Readers(const VarDecl *V, ArrayRef<const Stmt *> Gone, ArrayRef<const Stmt *> Never,
          const CFG &Graph)
      : V(V), Graph(Graph), Gone(partsOf(Gone)), Never(partsOf(Never)) {}

  bool from(const CallExpr *Call) {
    for (const CFGBlock *Block : Graph)
      for (auto At = Block->begin(); At != Block->end(); ++At)
        if (std::optional<CFGStmt> S = At->getAs<CFGStmt>(); S && S->getStmt() == Call)
          return reads(*Block, std::next(At));
    return true;
  }

private:
  const VarDecl *V;
  const CFG &Graph;
  StatementParts Gone, Never;
  SmallPtrSet<const CFGBlock *, 16> Seen;

  bool isVariable(const Stmt *S) const {
    const auto *Ref = dyn_cast<DeclRefExpr>(S);
    return Ref && Ref->getDecl() == V;
  }

  bool reads(const CFGBlock &Block, CFGBlock::const_iterator At) {
    SmallPtrSet<const Stmt *, 4> Targets; // of assignments: these do not read
    for (const CFGElement &Element : Block)
      if (std::optional<CFGStmt> S = Element.getAs<CFGStmt>())
        if (const auto *B = dyn_cast<BinaryOperator>(S->getStmt());
            B && B->getOpcode() == BO_Assign)
          Targets.insert(B->getLHS()->IgnoreParens());
    for (; At != Block.end(); ++At) {
      std::optional<CFGStmt> Element = At->getAs<CFGStmt>();
      const Stmt *S = Element ? Element->getStmt() : nullptr;
      if (!S || Gone.contains(S))
        continue;
      if (isVariable(S) && !Targets.contains(S))
        return true;
      const auto *Assigns = dyn_cast<BinaryOperator>(S);
      if (Assigns && Assigns->getOpcode() == BO_Assign &&
          isVariable(Assigns->getLHS()->IgnoreParens()))
        return false;
    }
    return any_of(Block.succs(), [&](const CFGBlock *Next) {
      return Next && !runsNever(*Next, Never) && Seen.insert(Next).second &&
             reads(*Next, Next->begin());
    });
  }
};
} // namespace

static bool takesAddress(const Stmt *S, const VarDecl *V) {
  const auto *Unary = dyn_cast<UnaryOperator>(S);
  const auto *Ref = Unary && Unary->getOpcode() == UO_AddrOf
                        ? dyn_cast<DeclRefExpr>(Unary->getSubExpr()->IgnoreParens())
                        : nullptr;
  return (Ref && Ref->getDecl() == V) ||
         any_of(S->children(), [&](const Stmt *Child) { return Child && takesAddress(Child, V); });
}

bool mayBeRead(const VarDecl *V, const CallExpr *Call, ArrayRef<const Stmt *> Gone,
               ArrayRef<const Stmt *> Never, const FunctionDecl &F, const CFG &Graph) {
  return takesAddress(F.getBody(), V) || Readers(V, Gone, Never, Graph).from(Call);
}

// --- Mentions -----------------------------------------------------------------------------------

static Mention::Role roleOf(const DeclRefExpr *Ref, const ParentMap &Parents) {
  const Stmt *Child = Ref;
  const Stmt *Parent = Parents.getParent(Ref);
  while (Parent && isa<ParenExpr>(Parent)) {
    Child = Parent;
    Parent = Parents.getParent(Parent);
  }
  if (const auto *Cast = dyn_cast_or_null<ImplicitCastExpr>(Parent)) {
    if (Cast->getCastKind() == CK_LValueToRValue)
      return Mention::Read;
    if (Cast->getCastKind() == CK_ArrayToPointerDecay)
      return Mention::Element;
  }
  if (const auto *Unary = dyn_cast_or_null<UnaryOperator>(Parent)) {
    if (Unary->isIncrementDecrementOp())
      return Mention::Write;
    return Mention::AddressTaken;
  }
  if (const auto *Binary = dyn_cast_or_null<BinaryOperator>(Parent);
      Binary && Binary->isAssignmentOp() && Binary->getLHS() == Child)
    return Mention::Write;
  if (isa_and_nonnull<MemberExpr>(Parent))
    return Mention::Member;
  if (isa_and_nonnull<UnaryExprOrTypeTraitExpr>(Parent))
    return Mention::Unevaluated;
  if (const auto *Call = dyn_cast_or_null<CallExpr>(Parent);
      Call && Call->getBuiltinCallee() == Builtin::BI__builtin_va_start)
    return Mention::Unevaluated; // the last named parameter
  return Mention::AddressTaken;  // anything that we do not know may keep its address
}

static void collectMentions(Stmt *S, const ParentMap &Parents, std::vector<Mention> &Found) {
  if (!S)
    return;
  if (auto *Ref = dyn_cast<DeclRefExpr>(S))
    if (const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
        V && (V->hasLocalStorage() || V->isStaticLocal()))
      Found.push_back({Ref, V, roleOf(Ref, Parents)});
  for (Stmt *Child : S->children())
    collectMentions(Child, Parents, Found);
}

std::vector<std::pair<Expr *, const Stmt *>> typeOperands(Stmt *Body) {
  struct Finder : RecursiveASTVisitor<Finder> {
    std::vector<std::pair<Expr *, const Stmt *>> Found;
    std::vector<const Stmt *> Around;
    bool dataTraverseStmtPre(Stmt *S) {
      Around.push_back(S);
      return true;
    }
    bool dataTraverseStmtPost(Stmt *) {
      Around.pop_back();
      return true;
    }
    bool VisitTypeOfExprTypeLoc(TypeOfExprTypeLoc T) {
      Found.push_back({T.getUnderlyingExpr(), Around.back()});
      return true;
    }
  } Types;
  Types.TraverseStmt(Body);
  return Types.Found;
}

std::vector<Mention> mentions(Stmt *Body, ParentMap &Parents) {
  std::vector<Mention> Found;
  collectMentions(Body, Parents, Found);
  for (auto [Operand, Around] : typeOperands(Body)) {
    Parents.addStmt(Operand);
    Parents.setParent(Operand, Around);
    size_t Evaluated = Found.size();
    collectMentions(Operand, Parents, Found);
    for (Mention &M : MutableArrayRef(Found).drop_front(Evaluated))
      M.How = Mention::Unevaluated;
  }
  return Found;
}

// --- Captures -----------------------------------------------------------------------------------

static bool isTypeOf(QualType T) { return isa<TypeOfExprType, TypeOfType>(T.getTypePtr()); }

QualType withoutTypeOf(QualType T, const ASTContext &Context) {
  while (isTypeOf(T))
    T = T.getSingleStepDesugaredType(Context);
  const auto *Pointer = dyn_cast<PointerType>(T.getTypePtr());
  if (!Pointer)
    return T;
  QualType Pointee = withoutTypeOf(Pointer->getPointeeType(), Context);
  return Pointee == Pointer->getPointeeType()
             ? T
             : Context.getQualifiedType(Context.getPointerType(Pointee), T.getQualifiers());
}

static bool spelledTheSame(QualType T) {
  if (T->isVariablyModifiedType() || isTypeOf(T))
    return false;
  if (const auto *Typedef = T->getAs<TypedefType>())
    return !Typedef->getDecl()->getDeclContext()->isFunctionOrMethod();
  if (const auto *Pointer = T->getAs<PointerType>())
    return spelledTheSame(Pointer->getPointeeType());
  if (const auto *Array = T->getAsArrayTypeUnsafe())
    return spelledTheSame(Array->getElementType());
  if (const auto *F = T->getAs<FunctionProtoType>())
    return spelledTheSame(F->getReturnType()) && all_of(F->getParamTypes(), spelledTheSame);
  if (const auto *Tag = T->getAs<TagType>()) {
    const TagDecl *D = Tag->getDecl();
    return !D->getDeclContext()->isFunctionOrMethod() &&
           (D->getIdentifier() || D->getTypedefNameForAnonDecl());
  }
  return true;
}

bool spellable(QualType T, const ASTContext &Context) {
  return spelledTheSame(withoutTypeOf(T, Context));
}

// True where `bool` is a keyword, or <stdbool.h> has been included.
static bool hasBool(SourceLocation At, const Source &S) {
  const MacroInfo *Macro = S.macroAt("bool", At);
  if (!Macro)
    return S.Language.C23;
  return Macro->getNumTokens() == 1 &&
         Macro->getReplacementToken(0).isOneOf(tok::kw__Bool, tok::kw_bool);
}

std::string declarationText(QualType T, StringRef Name, SourceLocation At, const Source &S) {
  PrintingPolicy Policy(S.Language);
  Policy.Bool = hasBool(At, S);
  Policy.SuppressInitializers = true;
  std::string Printed;
  raw_string_ostream OS(Printed);
  withoutTypeOf(T, S.Context).print(OS, Policy, Name);
  return Printed;
}

// True if the expression names nothing of its function.
static bool meansTheSame(const Stmt *Size) {
  const auto *Ref = dyn_cast<DeclRefExpr>(Size);
  const auto *Trait = dyn_cast<UnaryExprOrTypeTraitExpr>(Size);
  if ((Ref && Ref->getDecl()->getDeclContext()->isFunctionOrMethod()) ||
      (Trait && Trait->isArgumentType() && !spelledTheSame(Trait->getArgumentType())))
    return false;
  return all_of(Size->children(), meansTheSame);
}

static bool declaredBefore(SourceLocation At, const Stmt *Size, const Source &S) {
  const auto *Ref = dyn_cast<DeclRefExpr>(Size);
  if (Ref && !S.SM.isBeforeInTranslationUnit(S.SM.getExpansionLoc(Ref->getDecl()->getLocation()),
                                             S.SM.getExpansionLoc(At)))
    return false;
  return all_of(Size->children(), [&](const Stmt *Child) { return declaredBefore(At, Child, S); });
}

namespace {

// A type with the bounds that its declaration has, where they mean the same at At, and with the
// macros that name parts of it, `#define REAL double`: they may name others in other
// configurations. The printer knows only the values of bounds, and the types that macros name: a
// bound that has a text is the name of a variable to it, and such a macro a typedef.
class AsWritten {
public:
  AsWritten(SourceLocation At, const Source &S) : At(At), S(S) {}

  QualType of(QualType T, TypeLoc Written) const {
    Written = Written.getUnqualifiedLoc().IgnoreParens();
    if (std::optional<StringRef> Macro = macroNaming(Written)) {
      auto *Name = S.Context.buildImplicitTypedef(T.getLocalUnqualifiedType(), *Macro);
      return S.Context.getQualifiedType(S.Context.getTypedefType(Name), T.getLocalQualifiers());
    }
    while (isa<ParenType, DecayedType>(T.getTypePtr()))
      T = T.getSingleStepDesugaredType(S.Context);
    QualType Changed = T.getLocalUnqualifiedType();
    if (const auto *Pointer = dyn_cast<PointerType>(T.getTypePtr()))
      Changed = pointer(Pointer, Written);
    else if (auto Array = Written.getAs<ArrayTypeLoc>())
      Changed = array(Changed, Array);
    else if (auto Function = Written.getAs<FunctionProtoTypeLoc>())
      Changed = function(Changed, Function);
    return S.Context.getQualifiedType(Changed, T.getLocalQualifiers());
  }

  // The macro that a type is all of, if it means the same at At.
  std::optional<StringRef> macroNaming(TypeLoc Written) const {
    SourceLocation Begin = Written.getBeginLoc(), End = Written.getEndLoc();
    if (!Begin.isMacroID() || !End.isMacroID() ||
        !Lexer::isAtStartOfMacroExpansion(Begin, S.SM, S.Language, &Begin) ||
        !Lexer::isAtEndOfMacroExpansion(End, S.SM, S.Language, &End) || Begin != End)
      return std::nullopt;
    StringRef Name = Lexer::getSourceText(CharSourceRange::getTokenRange(Begin), S.SM, S.Language);
    return isValidAsciiIdentifier(Name) && sameMacros(Name, Begin, At, S) ? std::optional(Name)
                                                                          : std::nullopt;
  }

  // Its text; none where it has another meaning there.
  std::optional<std::string> bound(const Expr *Size) const {
    if (!Size || !meansTheSame(Size) || !declaredBefore(At, Size, S))
      return std::nullopt;
    std::string Text = S.expressionText(Size);
    return sameMacros(Text, Size->getBeginLoc(), At, S) ? std::optional(Text) : std::nullopt;
  }

private:
  SourceLocation At;
  const Source &S;

  QualType pointer(const PointerType *Pointer, TypeLoc Written) const {
    TypeLoc Pointee;
    if (auto Plain = Written.getAs<PointerTypeLoc>())
      Pointee = Plain.getPointeeLoc();
    else if (auto Parameter = Written.getAs<ArrayTypeLoc>())
      Pointee = Parameter.getElementLoc();
    return Pointee ? S.Context.getPointerType(of(Pointer->getPointeeType(), Pointee))
                   : QualType(Pointer, 0);
  }

  QualType array(QualType T, ArrayTypeLoc Written) const {
    const auto *Array = dyn_cast<ArrayType>(T.getTypePtr());
    if (!Array)
      return T;
    QualType Element = of(Array->getElementType(), Written.getElementLoc());
    unsigned Qualifiers = Array->getIndexTypeCVRQualifiers();
    const auto *Sized = dyn_cast<ConstantArrayType>(Array);
    if (!Sized)
      return isa<IncompleteArrayType>(Array)
                 ? S.Context.getIncompleteArrayType(Element, Array->getSizeModifier(), Qualifiers)
                 : T;
    if (std::optional<std::string> Text = bound(Written.getSizeExpr()))
      return S.Context.getVariableArrayType(Element, named(*Text), Array->getSizeModifier(),
                                            Qualifiers, SourceRange());
    return S.Context.getConstantArrayType(Element, Sized->getSize(), nullptr,
                                          Array->getSizeModifier(), Qualifiers);
  }

  QualType function(QualType T, FunctionProtoTypeLoc Written) const {
    const auto *Function = dyn_cast<FunctionProtoType>(T.getTypePtr());
    if (!Function || Function->getNumParams() != Written.getNumParams())
      return T;
    SmallVector<QualType> Parameters;
    for (auto [Type, Declared] : zip(Function->getParamTypes(), Written.getParams()))
      Parameters.push_back(Declared ? of(Type, Declared->getTypeSourceInfo()->getTypeLoc()) : Type);
    return S.Context.getFunctionType(of(Function->getReturnType(), Written.getReturnLoc()),
                                     Parameters, Function->getExtProtoInfo());
  }

  Expr *named(StringRef Text) const {
    ASTContext &Context = S.Context;
    auto *Name = VarDecl::Create(Context, Context.getTranslationUnitDecl(), {}, {},
                                 &Context.Idents.get(Text), Context.IntTy, nullptr, SC_Extern);
    return DeclRefExpr::Create(Context, {}, {}, Name, false, SourceLocation(), Context.IntTy,
                               VK_LValue);
  }
};

} // namespace

QualType returnAsWritten(const FunctionDecl *F, const Source &S) {
  const QualType T = F->getReturnType().getUnqualifiedType();
  const FunctionTypeLoc Written = F->getFunctionTypeLoc();
  return Written ? AsWritten(F->getBeginLoc(), S).of(T, Written.getReturnLoc()) : T;
}

bool isMacrosType(const VarDecl *V, SourceLocation At, const Source &S) {
  TypeLoc Written = V->getTypeSourceInfo()->getTypeLoc();
  for (TypeLoc Inner; (Inner = Written.getUnqualifiedLoc().IgnoreParens().getNextTypeLoc());
       Written = Inner)
    if (AsWritten(At, S).macroNaming(Written.getUnqualifiedLoc().IgnoreParens()))
      return false;
  Written = Written.getUnqualifiedLoc().IgnoreParens();
  SourceLocation Spelled = Written.getBeginLoc();
  while (S.SM.isMacroArgExpansion(Spelled)) // a macro is given it
    Spelled = S.SM.getImmediateSpellingLoc(Spelled);
  if (!Spelled.isMacroID() || AsWritten(At, S).macroNaming(Written))
    return false;
  // One that the file defines once is the same everywhere, as far as text can tell.
  const SourceLocation Use = S.SM.getExpansionLoc(Written.getBeginLoc());
  const MacroInfo *Macro =
      S.macroAt(Lexer::getSourceText(CharSourceRange::getTokenRange(Use), S.SM, S.Language), Use);
  if (!Macro || Macro->isBuiltinMacro() || Macro->getDefinitionLoc().isInvalid())
    return true;
  StringRef File = S.fileText(S.SM.getFileID(Macro->getDefinitionLoc()));
  StringRef Name = Lexer::getSourceText(CharSourceRange::getTokenRange(Macro->getDefinitionLoc()),
                                        S.SM, S.Language);
  return count_if(split(File, '\n'), [&](StringRef Line) {
           return Line.consume_front("#") && (Line = Line.ltrim()).consume_front("define") &&
                  Line.ltrim().take_while([](char C) { return isAsciiIdentifierContinue(C); }) ==
                      Name;
         }) > 1;
}

QualType asWritten(QualType T, const VarDecl *V, SourceLocation At, const Source &S) {
  TypeLoc Written = V->getTypeSourceInfo()->getTypeLoc().IgnoreParens();
  bool Adjusted = isa<ParmVarDecl>(V); // `int rows[][COLS]` is a pointer
  while (!Adjusted && !S.Context.hasSameUnqualifiedType(Written.getType(), T)) {
    auto Array = Written.getAs<ArrayTypeLoc>();
    if (!Array)
      return T;
    Written = Array.getElementLoc().IgnoreParens();
  }
  return AsWritten(At, S).of(T, Written);
}

std::optional<ArrayText> arrayText(const VarDecl *V, unsigned Skip, SourceLocation At,
                                   const Source &S) {
  ArrayText Result = {"", V->getType()};
  auto Written = V->getTypeSourceInfo()->getTypeLoc().IgnoreParens().getAs<ArrayTypeLoc>();
  auto Outer = [&] {
    return dyn_cast_or_null<ConstantArrayType>(S.Context.getAsArrayType(Result.Element));
  };
  for (; Written && Outer(); Written = Written.getElementLoc().getAs<ArrayTypeLoc>()) {
    const Expr *Size = Written.getSizeExpr();
    if (Skip)
      --Skip;
    else if (Size && !meansTheSame(Size))
      return std::nullopt;
    else
      Result.Bounds += "[" +
                       AsWritten(At, S).bound(Size).value_or(
                           llvm::toString(Outer()->getSize(), 10, /*Signed=*/false)) +
                       "]";
    Result.Element = Outer()->getElementType();
  }
  if (Skip && Outer())
    Result.Element = Outer()->getElementType(); // of a typedef
  return Result;
}

void noteLockType(const VarDecl *V, const Source &S, Extraction &Result) {
  if (syncType(V->getType()) != SyncType::None)
    Result.LockNodes[V->getNameAsString()] = nodeFor(V, S);
}

unsigned withComment(StringRef File, unsigned End) {
  StringRef Line = File.substr(End).split('\n').first;
  StringRef Rest = Line.trim();
  bool Closed = Rest.starts_with("/*") && Rest.find("*/") == Rest.size() - 2;
  return Rest.starts_with("//") || Closed ? End + Line.rtrim().size() : End;
}

Range wholeLines(Range R, StringRef Text) {
  unsigned Begin = R.Begin, End = R.End;
  if (End < Text.size() && Text[End] == ';')
    ++End;
  unsigned Semicolon = End;
  while (Begin > 0 && (Text[Begin - 1] == ' ' || Text[Begin - 1] == '\t'))
    --Begin;
  while (End < Text.size() && (Text[End] == ' ' || Text[End] == '\t'))
    ++End;
  bool Alone = (Begin == 0 || Text[Begin - 1] == '\n') && End < Text.size() && Text[End] == '\n';
  return Alone ? Range{Begin, End + 1} : Range{R.Begin, Semicolon};
}

namespace {

class CaptureBuilder {
public:
  CaptureBuilder(const SectionText &Text, const FunctionDecl *F, const std::vector<Mention> &All,
                 const CallLiveness &Liveness, const ParentMap &Parents, const Source &S,
                 Extraction &Result, std::vector<Reason> &Against)
      : Text(Text), F(F), All(All), Liveness(Liveness), Parents(Parents), S(S), Result(Result),
        Against(Against) {}

  void run() {
    SmallSetVector<const VarDecl *, 16> Used;
    for (const Mention &M : All)
      if (inside(M.Ref) && !declaredInside(M.Variable))
        Used.insert(M.Variable);
    for (const DeclStmt *Hoisted : Text.Hoisted)
      for (const Decl *D : Hoisted->decls())
        Used.insert(cast<VarDecl>(D));
    for (const VarDecl *V : Used)
      capture(V);
    for (const DroppedName &D : Text.Dropped)
      if (!addDropped(D) && !declaredInside(D.Variable))
        captureDropped(D);
    // Nothing else would use the context here.
    if (none_of(Result.Captures, [](const Capture &C) { return passed(C) && !C.Dropped; }))
      for (const DroppedName &D : Text.Dropped)
        if (any_of(Result.Captures,
                   [&](const Capture &C) { return C.Dropped && C.Name == D.Variable->getName(); }))
          refuse(D);
    // The same order in configurations that drop other names.
    std::stable_sort(Result.Captures.begin(), Result.Captures.end(),
                     [](const Capture &A, const Capture &B) { return A.First < B.First; });
  }

private:
  const SectionText &Text;
  const FunctionDecl *F;
  const std::vector<Mention> &All;
  const CallLiveness &Liveness;
  const ParentMap &Parents;
  const Source &S;
  Extraction &Result;
  std::vector<Reason> &Against;

  static bool passed(const Capture &C) { return C.How != Travel::Inside; }

  bool inside(const Stmt *E) const {
    return within(Text.Statements, E, Parents) && !within(Text.Outside, E, Parents);
  }

  bool hoisted(const VarDecl *V) const {
    return any_of(Text.Hoisted, [&](const DeclStmt *D) { return is_contained(D->decls(), V); });
  }

  bool declaredInside(const VarDecl *V) const {
    if (hoisted(V))
      return false;
    SourceLocation L = S.SM.getExpansionLoc(V->getLocation());
    for (const Stmt *Statement : Text.Statements)
      if (!S.SM.isBeforeInTranslationUnit(L, S.SM.getExpansionLoc(Statement->getBeginLoc())) &&
          !S.SM.isBeforeInTranslationUnit(S.SM.getExpansionLoc(Statement->getEndLoc()), L))
        return true;
    return false;
  }

  void refuse(const VarDecl *V, StringRef Code, const Twine &Message, SourceLocation At) {
    Against.push_back({Code.str(), ("'" + V->getName() + "' " + Message).str(), S.shown(At)});
  }

  std::string declaration(const VarDecl *V, QualType T, StringRef Name) const {
    SourceLocation At = F->getBeginLoc();
    return declarationText(asWritten(T, V, At, S), Name, At, S);
  }

  // The context has the type that is known here.
  bool hasOtherType(const VarDecl *V) const {
    std::optional<Source::Range> Whole = S.range(F->getSourceRange());
    const auto [File, At] = S.SM.getDecomposedLoc(S.SM.getExpansionLoc(V->getLocation()));
    return isMacrosType(V, F->getBeginLoc(), S) ||
           (Whole && Whole->File == File &&
            declaredOtherwise(S.fileText(File), {Whole->Begin, Whole->End}, At, V->getName(),
                              S.Language));
  }

  void capture(const VarDecl *V) {
    std::vector<const Mention *> Here;
    bool Written = false, Addressed = false, AddressedOutside = false;
    bool WrittenInGap = false; // a copy would not see it
    bool Elsewhere = false;    // the caller mentions it, too
    bool Sized = false;        // an array is used as one
    for (const Mention &M : All) {
      if (M.Variable != V)
        continue;
      bool In = inside(M.Ref);
      bool Address = M.How == Mention::AddressTaken;
      Addressed |= Address;
      AddressedOutside |= Address && !In;
      Elsewhere |= !In;
      WrittenInGap |= M.How == Mention::Write && inGap(M.Ref);
      if (!In)
        continue;
      Here.push_back(&M);
      Written |= M.How == Mention::Write;
      Sized |= M.How == Mention::Unevaluated || Address;
    }
    for (const DroppedName &D : Text.Dropped)
      Sized |= D.Sized && D.Variable->getName() == V->getName();
    QualType T = withoutTypeOf(hoisted(V) ? hoistedType(V) : V->getType(), S.Context);
    SourceLocation First = Here.empty() ? V->getLocation() : Here[0]->Ref->getExprLoc();
    bool IsArray = T->isArrayType();
    bool IsRecord = T->isRecordType();
    if (!spellable(T, S.Context))
      return refuse(V, "local-type", "has a type that cannot be written outside its function",
                    First);
    // An array on some machines: by reference, which is the same everywhere but for parameters.
    bool VariableArguments = S.Context.hasSameType(T, S.Context.getBuiltinVaListType());
    if (isa<ParmVarDecl>(V) && S.Context.hasSameType(T, S.Context.getAdjustedParameterType(
                                                            S.Context.getBuiltinVaListType())))
      return refuse(V, "va-list", "is a parameter of type va_list", First);
    if (hasOtherType(V))
      return refuse(V, "preprocessor", "may have another type in another configuration", First);
    for (const Decl *D : F->decls())
      if (const auto *Other = dyn_cast<VarDecl>(D);
          Other && Other != V && Other->getName() == V->getName() && declaredInside(Other))
        return refuse(V, "shadowed", "is hidden by a variable of the section with its name",
                      Other->getLocation());
    // Its cleanup function has the address of a variable, too.
    bool Shared = Addressed || V->hasAttr<CleanupAttr>() || VariableArguments ||
                  V->isStaticLocal() || T.isVolatileQualified() || T->isAtomicType();

    Capture C;
    C.Name = V->getNameAsString();
    bool LiveIn = Liveness.liveAfter(Text.Lock, V);
    // Behind a gap the section itself goes on.
    bool LiveOut = any_of(Text.Unlocks,
                          [&](const CallExpr *U) {
                            return Liveness.liveAfter(U, V) && (Elsewhere || !beginsGap(U));
                          }) ||
                   (Text.InScope && liveBehindScope(V, LiveIn, Elsewhere)) ||
                   isNamed(V, Text.DroppedAround, F, Parents, S);
    // A dead store stays what it is: in a private copy, compilers would warn of it.
    bool OnlyStored = all_of(Here, [](const Mention *M) { return M->How == Mention::Write; });
    // It may have no value yet.
    bool OnlyAsked =
        !LiveIn && all_of(Here, [](const Mention *M) { return M->How == Mention::Unevaluated; });
    bool Scalar = !IsArray && !IsRecord && !Shared && !OnlyStored && !OnlyAsked && !WrittenInGap;
    bool Parameter = isa<ParmVarDecl>(V);
    if (IsArray && !VariableArguments) {
      C.How = Sized ? Travel::Pointer : Travel::Array;
    } else if (hoisted(V)) {
      C.How = Travel::Pointer;
    } else if (Scalar && Written && !LiveIn && !LiveOut && !Parameter && !AddressedOutside) {
      C.Outer = V->hasInit() ? std::nullopt : declaratorOf(V, F, Result.File, S);
      if (C.Outer) // those that have gone are counted by Extraction::Gone
        C.Outer->Mentions = mentionsOf(V) + (Text.Gone.count(V) ? Text.Gone.at(V) : 0);
      if (C.Outer && C.Outer->All.size() == 1)
        C.Comment = S.fileText(S.SM.getFileID(F->getBody()->getBeginLoc()))
                        .slice(C.Outer->Statement.End, C.Outer->Lines.End)
                        .rtrim()
                        .str();
      C.How = !C.Outer ? Travel::Pointer : livesAcross(V) ? Travel::Kept : Travel::Inside;
    } else if (Scalar && !LiveOut && (Parameter || V->hasInit())) {
      C.How = Travel::Value; // a private copy, even where the section changes it
      C.Changes = Written && livesAcross(V);
    } else if (Scalar && !Written) {
      C.How = Travel::Value;
    } else {
      C.How = Travel::Pointer;
    }
    if (C.How == Travel::Pointer && V->getStorageClass() == SC_Register)
      return refuse(V, "register", "is a register variable that the section writes", First);
    if (!declareFields(C, V, T))
      return refuse(V, "local-type", "has a size that cannot be written outside its function",
                    First);
    noteLockType(V, S, Result);
    for (const Mention *M : Here)
      addReference(C, *M, V);
    if (C.How == Travel::Pointer && !IsArray && !IsRecord && !Shared && canCopy()) {
      C.Local = declaration(V, T.getLocalUnqualifiedType(), C.Name);
      C.Assigned = !LiveIn;
      for (unsigned Exit = 0; Exit <= Result.Exits.size(); ++Exit)
        if (LiveIn ||
            Liveness.liveAfter(Text.Unlocks[Exit == Result.Exits.size() ? 0 : Exit + 1], V))
          C.Stored.push_back(Exit);
    }
    // The macro has no other name for it.
    if (C.InMacro && !copy(C) && (C.How != Travel::Value || C.Changes) && C.How != Travel::Inside)
      return refuse(V, "macro-reference", "is named, pasted or made a string of by a macro", First);
    C.Mentions = Here.size();
    C.First = placeOf(First);
    for (const Mention *M : Here)
      C.First = std::min(C.First, placeOf(M->Ref->getLocation()));
    Result.Captures.push_back(std::move(C));
  }

  // True if the function can store locals wherever it ends: each exit is an unlock of a block.
  bool canCopy() const {
    return !Text.resumes() && Result.Completes && Text.Unlocks.size() == Result.Exits.size() + 1 &&
           all_of(Result.Exits, [](const EarlyExit &Exit) { return Exit.InBlock; });
  }

  // Gives the function a local of the variable's name. False: others may see the variable
  // meanwhile.
  static bool copy(Capture &C) {
    if (C.How != Travel::Pointer || C.Local.empty())
      return false;
    C.Copied = true;
    C.Parameter.clear();
    return true;
  }

  // A block that ends may begin again, in a loop: what is read then is read behind the lock, too.
  bool liveBehindScope(const VarDecl *V, bool LiveIn, bool Elsewhere) const {
    if (!Text.Leaves)
      return LiveIn || Elsewhere;
    return any_of(All, [&](const Mention &M) {
      return M.Variable == V && within(Text.Outside, M.Ref, Parents);
    });
  }

  unsigned placeOf(SourceLocation L) const {
    return S.inFile(L) ? S.spelled(L).Offset : S.shown(L).Offset;
  }

  // --- Names in text that is dropped ---

  void refuse(const DroppedName &D) {
    refuse(D.Variable, "macro-reference",
           D.Pasted ? "is named in a macro that makes text of it"
                    : "is named in text that this configuration drops",
           D.Location);
  }

  // Names the variable there as its capture does. False: it is not captured.
  bool addDropped(const DroppedName &D) {
    auto Known =
        find_if(Result.Captures, [&](const Capture &C) { return C.Name == D.Variable->getName(); });
    if (Known == Result.Captures.end())
      return false;
    if (Known->Copied || (D.Pasted && Known->How == Travel::Kept) ||
        ((D.Pasted || D.Asserted) && copy(*Known)))
      return true;
    bool Copied = Known->How == Travel::Value && !Known->Changes;
    if (D.Pasted || (Copied && D.Written)) {
      refuse(D);
      return true;
    }
    if (Copied && D.Asserted)
      Known->InMacro = true;
    else
      Known->References.push_back({D.At, Reference::Plain, {}});
    if (Known->How != Travel::Kept)
      Known->First = std::min(Known->First, D.At.Begin);
    return true;
  }

  // A variable that only such text names: a copy will do where nothing can change it. A local of
  // that name would be unused here, so text that is made of the name must not show it.
  void captureDropped(const DroppedName &D) {
    const VarDecl *V = D.Variable;
    QualType T = V->getType();
    bool Addressed = any_of(
        All, [&](const Mention &M) { return M.Variable == V && M.How == Mention::AddressTaken; });
    if (D.Pasted || D.Asserted || D.Written || !D.Unique || Addressed || !V->hasLocalStorage() ||
        !T->isScalarType() || T.isVolatileQualified() || T->isAtomicType() ||
        !spellable(T, S.Context) || Text.resumes() || !hasValueAt(Text.Lock, V, Parents) ||
        hasOtherType(V))
      return refuse(D);
    Capture C;
    C.Name = V->getNameAsString();
    C.How = Travel::Value;
    C.Field = C.Local = declaration(V, T.getLocalUnqualifiedType(), C.Name);
    C.Dropped = true;
    C.First = D.At.Begin;
    C.References.push_back({D.At, Reference::Plain, {}});
    Result.Captures.push_back(std::move(C));
  }

  bool inGap(const Stmt *E) const {
    return any_of(Text.Gaps, [&](const Gap &G) { return within(G.Between, E, Parents); });
  }

  bool beginsGap(const CallExpr *Unlock) const {
    return any_of(Text.Gaps, [&](const Gap &G) { return G.Unlock == Unlock; });
  }

  // True if its value is needed behind a wait or a gap.
  bool livesAcross(const VarDecl *V) const {
    auto LiveAfter = [&](const CallExpr *Call) { return Liveness.liveAfter(Call, V); };
    return any_of(Text.Waits, LiveAfter) ||
           any_of(Text.Gaps, [&](const Gap &G) { return LiveAfter(G.Lock); });
  }

  // False: they cannot be written.
  bool declareFields(Capture &C, const VarDecl *V, QualType T) const {
    std::optional<ArrayText> Array = arrayText(V, C.How == Travel::Array, F->getBeginLoc(), S);
    if (!Array)
      return false;
    std::string Pointer =
        Array->Bounds.empty() ? "*" + C.Name : "(*" + C.Name + ")" + Array->Bounds;
    switch (C.How) {
    case Travel::Value: {
      QualType Plain = T.getLocalUnqualifiedType();
      C.Field = declaration(V, Plain, C.Name);
      C.Local = C.Field;
      // A pointer to a non-const object can be the whole context.
      if (const auto *Pointer = T->getAs<PointerType>();
          Pointer && !Pointer->getPointeeType().hasQualifiers() &&
          !Pointer->getPointeeType()->isFunctionType())
        C.Parameter = C.Field;
      break;
    }
    case Travel::Pointer: {
      C.Field = declaration(V, T->isArrayType() ? Array->Element : T, Pointer);
      if (!T.hasQualifiers())
        C.Parameter = C.Field;
      break;
    }
    case Travel::Array: {
      QualType Element = Array->Element;
      C.Field = declaration(V, Element, Pointer);
      if (!Element.hasQualifiers())
        C.Parameter = C.Field;
      break;
    }
    case Travel::Kept:
      C.Field = declaration(V, T.getLocalUnqualifiedType(), C.Name);
      break;
    case Travel::Inside:
      C.Local = declaration(V, T.getLocalUnqualifiedType(), C.Name);
      break;
    }
    return true;
  }

  void addReference(Capture &C, const Mention &M, const VarDecl *V) {
    SourceLocation L = M.Ref->getLocation();
    if (!S.inFile(L) || S.stringified(L) || printed(M.Ref)) {
      C.InMacro = true;
      return;
    }
    Position At = S.spelled(L);
    if (At.File != Result.File) {
      C.InMacro = true;
      return;
    }
    Reference R;
    R.At = {At.Offset, At.Offset + unsigned(V->getName().size())};
    const Stmt *Parent = Parents.getParent(M.Ref);
    if (C.How == Travel::Pointer) {
      const auto *Unary = dyn_cast_or_null<UnaryOperator>(Parent);
      const auto *Member = dyn_cast_or_null<MemberExpr>(Parent);
      if (Unary && Unary->getOpcode() == UO_AddrOf && S.inFile(Unary->getOperatorLoc()) &&
          isAddress(S.spelled(Unary->getOperatorLoc()), R.At.Begin, L)) {
        R.Kind = Reference::Address;
        R.At.Begin = S.spelled(Unary->getOperatorLoc()).Offset;
      } else if (Member && !Member->isArrow() && S.inFile(Member->getOperatorLoc())) {
        R.Kind = Reference::Member;
        Position Dot = S.spelled(Member->getOperatorLoc());
        R.Operator = {Dot.Offset, Dot.Offset + 1};
      } else if (Member && !Member->isArrow() && !Member->getMemberDecl()->getIdentifier() &&
                 S.fileText(S.SM.getFileID(S.SM.getSpellingLoc(L))).substr(R.At.End, 1) == ".") {
        R.Kind = Reference::Member; // of an anonymous struct or union
        R.Operator = {R.At.End, R.At.End + 1};
      } else if (bare(M.Ref, Parents)) {
        R.Kind = Reference::Bare;
      }
    }
    // A macro that uses its argument twice.
    auto Known = find_if(C.References, [&](const Reference &K) { return K.At.End == R.At.End; });
    if (Known == C.References.end())
      C.References.push_back(R);
    else if (Known->Kind == Reference::Bare)
      Known->Kind = R.Kind;
  }

  bool printed(const Stmt *Ref) const {
    for (const Stmt *Up = Ref; Up; Up = Parents.getParent(Up))
      if (is_contained(Text.Printed, Up))
        return true;
    return false;
  }

  size_t mentionsOf(const VarDecl *V) const {
    return count_if(All, [&](const Mention &M) { return M.Variable == V; });
  }

  // True for `&x`, or `& x`.
  bool isAddress(const Position &Operator, unsigned Name, SourceLocation L) const {
    StringRef Text = S.fileText(S.SM.getFileID(S.SM.getSpellingLoc(L)));
    return Operator.File == Result.File && Operator.Offset < Name &&
           Text.slice(Operator.Offset + 1, Name).trim(" \t").empty();
  }
};

} // namespace

bool bare(const DeclRefExpr *Ref, const ParentMap &Parents) {
  const Stmt *Child = Ref, *Parent = Parents.getParent(Ref);
  while (Parent && isa<ImplicitCastExpr>(Parent)) {
    Child = Parent;
    Parent = Parents.getParent(Parent);
  }
  if (isa_and_nonnull<ParenExpr>(Parent) || isa_and_nonnull<UnaryExprOrTypeTraitExpr>(Parent))
    return true;
  if (const auto *Binary = dyn_cast_or_null<BinaryOperator>(Parent))
    return !Binary->isMultiplicativeOp() || Binary->getLHS() == Child;
  if (const auto *Unary = dyn_cast_or_null<UnaryOperator>(Parent))
    return Unary->isPrefix() && Unary->getOpcode() != UO_AddrOf;
  if (const auto *Call = dyn_cast_or_null<CallExpr>(Parent))
    return Call->getCallee() != Child;
  if (const auto *Subscript = dyn_cast_or_null<ArraySubscriptExpr>(Parent))
    return Subscript->getRHS() == Child;
  return isa_and_nonnull<CStyleCastExpr>(Parent) || isa_and_nonnull<ConditionalOperator>(Parent) ||
         isa_and_nonnull<DeclStmt>(Parent) || isa_and_nonnull<ReturnStmt>(Parent) ||
         isa_and_nonnull<IfStmt>(Parent) || isa_and_nonnull<WhileStmt>(Parent);
}

// The last token of `struct item` in `struct item *it[2]`; invalid for qualified types, whose
// qualifier may stand on either side.
static SourceLocation specifierEnd(TypeLoc Type, const Source &S) {
  for (;;) {
    if (auto Pointer = Type.getAs<PointerTypeLoc>())
      Type = Pointer.getPointeeLoc();
    else if (auto Array = Type.getAs<ArrayTypeLoc>())
      Type = Array.getElementLoc();
    else if (auto Paren = Type.getAs<ParenTypeLoc>())
      Type = Paren.getInnerLoc();
    else
      break;
  }
  bool Plain = !Type.getAs<QualifiedTypeLoc>() && !Type.getAs<FunctionTypeLoc>();
  SourceLocation End = Plain ? Type.getEndLoc() : SourceLocation();
  return End.isMacroID() ? S.SM.getExpansionRange(End).getEnd() : End; // `bool`
}

// The place of the quote that closes the literal that begins there.
static unsigned endOfLiteral(StringRef Text, unsigned Begin) {
  unsigned I = Begin + 1;
  while (I < Text.size() && Text[I] != Text[Begin])
    I += Text[I] == '\\' ? 2 : 1;
  return I;
}

static bool splitDeclarators(StringRef Text, Range R, std::vector<Range> &Parts) {
  int Depth = 0;
  unsigned Begin = R.Begin;
  auto Add = [&](unsigned End) {
    while (Begin < End && isSpace(Text[Begin]))
      ++Begin;
    while (End > Begin && isSpace(Text[End - 1]))
      --End;
    Parts.push_back({Begin, End});
  };
  for (unsigned I = R.Begin; I < R.End; ++I) {
    char C = Text[I];
    if (C == '"' || C == '\'')
      I = endOfLiteral(Text, I);
    if (Text.substr(I).starts_with("/*") || Text.substr(I).starts_with("//"))
      return false; // a comment may speak of one of them: such a declaration is left alone
    Depth += C == '(' || C == '[' || C == '{';
    Depth -= C == ')' || C == ']' || C == '}';
    if (C == ',' && !Depth) {
      Add(I);
      Begin = I + 1;
    }
  }
  Add(R.End);
  return true;
}

static void findDeclStmt(const Stmt *S, const VarDecl *V, const DeclStmt *&Found) {
  if (const auto *D = dyn_cast_or_null<DeclStmt>(S); D && is_contained(D->decls(), V))
    Found = D;
  if (S && !Found)
    for (const Stmt *Child : S->children())
      findDeclStmt(Child, V, Found);
}

bool beginsWithType(const DeclStmt *Statement, const VarDecl *V, const Source &S) {
  if (!Statement->getBeginLoc().isMacroID())
    return true;
  std::optional<Source::Range> Whole = S.range(Statement->getSourceRange());
  if (!Whole || !S.inFile(V->getLocation()))
    return false;
  unsigned Name = S.SM.getFileOffset(V->getLocation());
  return Name > Whole->Begin &&
         all_of(S.fileText(Whole->File).slice(Whole->Begin, Name),
                [](char C) { return isAsciiIdentifierContinue(C) || isSpace(C) || C == '*'; });
}

std::optional<Declarator> declaratorOf(const VarDecl *V, const FunctionDecl *F, StringRef File,
                                       const Source &S) {
  const DeclStmt *Statement = nullptr;
  findDeclStmt(F->getBody(), V, Statement);
  if (!Statement)
    return std::nullopt;
  SourceLocation Specifier = specifierEnd(V->getTypeSourceInfo()->getTypeLoc(), S);
  std::optional<Source::Range> Whole = S.range(Statement->getSourceRange());
  Expr::EvalResult Constant;
  bool Computes = V->hasInit() && (!V->getType()->isIntegerType() ||
                                   !V->getInit()->EvaluateAsInt(Constant, F->getASTContext()));
  if (!Whole || Computes || V->hasAttrs() || !S.inFile(V->getLocation()) ||
      !beginsWithType(Statement, V, S) || Specifier.isInvalid() || !S.inFile(Specifier) ||
      !all_of(Statement->decls(), [](const Decl *D) { return isa<VarDecl>(D); }) ||
      S.filePath(Whole->File) != File)
    return std::nullopt;
  StringRef Text = S.fileText(Whole->File);
  Declarator D;
  unsigned End = Whole->End - (Text[Whole->End - 1] == ';');
  D.Statement = {Whole->Begin, End + (Text.substr(End).starts_with(";") ? 1u : 0u)};
  D.Lines = wholeLines({D.Statement.Begin, withComment(Text, D.Statement.End)}, Text);
  if (Text[D.Lines.End - 1] != '\n') // the comment may speak of what else stands there
    D.Lines = wholeLines(D.Statement, Text);
  D.SpecifierEnd = S.spelled(Specifier).Offset + S.tokenLength(Specifier);
  if (D.SpecifierEnd >= End || !splitDeclarators(Text, {D.SpecifierEnd, End}, D.All))
    return std::nullopt;
  size_t Count = 0;
  for (const Decl *Other : Statement->decls()) {
    if (Other == V)
      D.Index = Count;
    ++Count;
  }
  return Count == D.All.size() ? std::optional(D) : std::nullopt;
}

void findCaptures(const SectionText &Text, const FunctionDecl *F, const std::vector<Mention> &All,
                  const CallLiveness &Liveness, const ParentMap &Parents, const Source &S,
                  Extraction &Result, std::vector<Reason> &Against) {
  CaptureBuilder(Text, F, All, Liveness, Parents, S, Result, Against).run();
}

} // namespace relock
