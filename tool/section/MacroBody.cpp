// SPDX-License-Identifier: MIT
//
//   #define ADD(s, n) do {            static int add_section(void *context) { … }
//     lock(&(s)->lock);
//     (s)->sum += (n);  \       →     #define ADD(s, n) do {
//     unlock(&(s)->lock); \             struct add_section add = {.s_value = s, .n_value = n};
//   } while (0)                         relock_execute(&(s)->lock, add_section, &add);
//
// The section is analysed at each use of the macro, and is written once, where the macro is
// defined; `Decide` holds all of them unless all agree. An argument is evaluated before the section
// instead of in it, which is the same where nothing but its own thread can change its value; what
// the section writes, or what others may change, travels by address. The text moves to before the
// definition: each name and macro in it must mean there what it means at the use.
#include "section/MacroBody.h"

#include "section/ReadOnce.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Lex/Lexer.h"
#include "clang/Lex/MacroInfo.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace clang;
using namespace llvm;

namespace relock {

std::vector<Position> macroPlaces(SourceLocation L, const Source &S) {
  std::vector<Position> Places;
  for (; L.isMacroID(); L = S.SM.getImmediateExpansionRange(L).getBegin())
    Places.push_back(S.spelled(L));
  return Places;
}

// The expansions that a token comes from, inside out.
static std::vector<SourceLocation> expansions(SourceLocation L, const Source &S) {
  std::vector<SourceLocation> Chain;
  for (; L.isMacroID(); L = S.SM.getImmediateExpansionRange(L).getBegin())
    Chain.push_back(L);
  return Chain;
}

std::optional<MacroBody> macroBody(const Stmt *Lock, const Stmt *Unlock, const Source &S) {
  std::vector<SourceLocation> Ends = expansions(Unlock->getEndLoc(), S);
  for (SourceLocation L : expansions(Lock->getBeginLoc(), S)) {
    FileID File = S.SM.getFileID(L);
    if (none_of(Ends, [&](SourceLocation End) { return S.SM.getFileID(End) == File; }))
      continue;
    if (S.SM.isMacroArgExpansion(L))
      return std::nullopt;
    MacroBody Body = {File, nullptr, Lexer::getImmediateMacroName(L, S.SM, S.Language).str()};
    Body.Macro = S.macroAt(Body.Name, S.SM.getExpansionLoc(L));
    return Body;
  }
  return std::nullopt;
}

namespace {

class Builder : public RecursiveASTVisitor<Builder> {
public:
  Builder(const MacroBody &Body, const SectionText &Text, const FunctionDecl *F,
          const std::vector<Mention> &All, const ParentMap &Parents, const Source &S,
          EarlyArguments &Early, Extraction &Result, std::vector<Reason> &Against)
      : Body(Body), Text(Text), F(F), All(All), Parents(Parents), S(S), Early(Early),
        Result(Result), Against(Against) {}

  void run(const LockOperation &Lock, const Stmt *Unlock) {
    At = Text.Lock->getExprLoc();
    if (!place(Lock.Statement, Unlock) || !nameLock(Lock))
      return;
    for (const Expr *Given : Lock.Call->arguments())
      collectInLock(Given);
    for (const Stmt *Statement : Text.Statements)
      collect(Statement);
    for (const Stmt *Statement : Text.Statements)
      TraverseStmt(const_cast<Stmt *>(Statement)); // types, members
    for (const auto &[Name, P] : Parameters)
      captureParameter(Name, P);
    for (const auto &[V, References] : Variables)
      captureVariable(V, References);
    checkTokens();
    finish();
  }

  // Those arguments of which the section only uses the value.
  std::vector<const Stmt *> values() {
    if (!Body.Macro)
      return {};
    At = Text.Lock->getExprLoc();
    File = S.fileText(S.SM.getFileID(Body.Macro->getDefinitionLoc()));
    for (const Stmt *Statement : Text.Statements)
      collect(Statement);
    std::vector<const Stmt *> Values;
    for (const auto &[Name, P] : Parameters)
      if (all_of(P.Arguments, [&](const Expr *E) { return readOnly(E) && !assigns(E); }))
        append_range(Values, P.Arguments);
    return Values;
  }

  // What the uses give does not go into the section's function.
  bool TraverseStmt(Stmt *Statement) {
    const auto *E = dyn_cast_or_null<Expr>(Statement);
    return (E && isArgument(E)) || RecursiveASTVisitor::TraverseStmt(Statement);
  }
  bool VisitTypedefTypeLoc(TypedefTypeLoc T) { return declared(T.getTypedefNameDecl()); }
  bool VisitTagTypeLoc(TagTypeLoc T) { return declared(T.getDecl()); }
  bool VisitMemberExpr(MemberExpr *E) { return declared(E->getMemberDecl()); }

private:
  // One parameter of the macro in the section: the arguments that stand for it.
  struct Parameter {
    std::vector<const Expr *> Arguments;
    std::vector<Reference> References;
  };

  const MacroBody &Body;
  const SectionText &Text;
  const FunctionDecl *F;
  const std::vector<Mention> &All;
  const ParentMap &Parents;
  const Source &S;
  EarlyArguments &Early;
  Extraction &Result;
  std::vector<Reason> &Against;
  SourceLocation At, Define;
  StringRef File;
  MapVector<StringRef, Parameter> Parameters;
  SmallSet<StringRef, 4> InLock; // those that the lock's operand names
  MapVector<const VarDecl *, std::vector<Reference>> Variables;
  SmallSet<unsigned, 16> Known; // where they stand

  void refuse(const Twine &Message) {
    Against.push_back({"macro-section", Message.str(), S.shown(At)});
  }

  // --- Places -----------------------------------------------------------------------------

  // Where a token stands in the body. Argument: it comes from the argument for a parameter there.
  struct Place {
    unsigned Offset;
    bool Argument;
  };

  std::optional<Place> exact(SourceLocation L) const {
    L = fromBody(L);
    if (L.isInvalid())
      return std::nullopt;
    bool Argument = S.SM.getFileID(L) != Body.Expansion;
    SourceLocation At = Argument ? S.SM.getImmediateExpansionRange(L).getBegin() : L;
    return Place{S.spelled(At).Offset, Argument};
  }

  // The token as the body has it, or as the argument has that stands there for a parameter.
  SourceLocation fromBody(SourceLocation L) const {
    auto InBody = [&](SourceLocation At) { return S.SM.getFileID(At) == Body.Expansion; };
    while (!InBody(L)) {
      if (!L.isMacroID() || !S.SM.isMacroArgExpansion(L))
        return {};
      if (InBody(S.SM.getImmediateExpansionRange(L).getBegin()))
        break;
      L = S.SM.getImmediateSpellingLoc(L);
    }
    return L;
  }

  // True if the expression is all of the argument that it begins in: whatever stands around the
  // parameter, it is an operand.
  bool isWholeArgument(const Expr *E) const {
    SourceLocation Begin = fromBody(E->getBeginLoc()), Last = fromBody(E->getEndLoc());
    return S.SM.isAtStartOfImmediateMacroExpansion(Begin) &&
           S.SM.isAtEndOfImmediateMacroExpansion(Last.getLocWithOffset(S.tokenLength(Last)));
  }

  // The characters of the body that bring these tokens, widened to whole invocations.
  std::optional<Range> range(SourceRange Tokens) const {
    SourceLocation Begin = Tokens.getBegin(), End = Tokens.getEnd();
    while (Begin.isMacroID() && S.SM.getFileID(Begin) != Body.Expansion)
      Begin = S.SM.getImmediateExpansionRange(Begin).getBegin();
    while (End.isMacroID() && S.SM.getFileID(End) != Body.Expansion)
      End = S.SM.getImmediateExpansionRange(End).getEnd();
    if (Begin.isFileID() || End.isFileID())
      return std::nullopt;
    Range R = {S.spelled(Begin).Offset, S.spelled(End).Offset + S.tokenLength(End)};
    return R.Begin < R.End ? std::optional(R) : std::nullopt;
  }

  // The offset behind a `;` that follows, on this line or a continued one.
  unsigned throughSemicolon(unsigned End) const {
    size_t Next = File.find_first_not_of(" \t\r\n\\", End);
    return Next != StringRef::npos && File[Next] == ';' ? Next + 1 : End;
  }

  bool place(const Stmt *Lock, const Stmt *Unlock) {
    auto No = [&](const Twine &Message) {
      refuse(Message);
      return false;
    };
    const auto *Block = dyn_cast_or_null<CompoundStmt>(Parents.getParent(Lock));
    if (!Body.Macro || !S.editable(Body.Macro->getDefinitionLoc()))
      return No("stands in a macro that cannot be edited");
    Define = Body.Macro->getDefinitionLoc();
    if (!S.SM.isInMainFile(Define)) {
      // Each file that includes it gets the function, whether or not it uses the macro.
      Result.Inline = true;
      if (!isReadOnce(Define, S))
        return No("stands in a macro of a header that may be read twice");
      if (!S.Language.C99 && !S.Language.GNUMode)
        return No("stands in a macro of a header, where no function can be inline");
    } else if (S.filePath(S.SM.getFileID(F->getLocation())) != S.filePath(S.SM.getFileID(Define))) {
      return No("stands in a macro of another file");
    }
    File = S.fileText(S.SM.getFileID(Define));
    if (!Block || Parents.getParent(Unlock) != Block || !inBody(Block->getLBracLoc()) ||
        !inBody(Block->getRBracLoc()))
      return No("part of the section stands in a macro");
    std::optional<Range> First = range(Lock->getSourceRange());
    std::optional<Range> Last = range(Unlock->getSourceRange());
    if (!First || !Last || First->End > Last->Begin)
      return No("part of the section stands in a macro");
    Result.File = S.filePath(S.SM.getFileID(Define));
    Result.Whole = {First->Begin, throughSemicolon(Last->End)};
    if (size_t Next = File.find_first_not_of(" \t", Result.Whole.End);
        File.substr(Next).starts_with("\\\n") || File.substr(Next).starts_with("\\\r\n"))
      Result.Whole.End = Next; // the blanks before the `\`
    Result.Body = {throughSemicolon(First->End), Last->Begin};
    // Each statement has a text of its own, those around the section too.
    unsigned Position = 0;
    for (const Stmt *Child : Block->body()) {
      std::optional<Range> R = range(Child->getSourceRange());
      if (isa<NullStmt>(Child) && R && R->Begin <= Position)
        continue;
      if (!R || R->Begin < Position)
        return No("part of the section stands in a macro");
      Position = R->End;
    }
    unsigned Name = S.spelled(Define).Offset;
    size_t Line = File.rfind('\n', Name) + 1;
    StringRef Directive = File.slice(Line, Name).trim();
    if (!Directive.consume_front("#") || Directive.trim() != "define" || insideDeclaration())
      return No("stands in a macro that is defined inside a function");
    Result.FunctionBegin = Line;
    return true;
  }

  bool inBody(SourceLocation L) const { return S.SM.getFileID(L) == Body.Expansion; }

  bool insideDeclaration() const {
    return any_of(S.Context.getTranslationUnitDecl()->decls(), [&](const Decl *D) {
      SourceRange R = D->getSourceRange();
      return R.isValid() &&
             S.SM.isBeforeInTranslationUnit(S.SM.getExpansionLoc(R.getBegin()), Define) &&
             S.SM.isBeforeInTranslationUnit(Define, S.SM.getExpansionLoc(R.getEnd()));
    });
  }

  // The mutex as the body spells it.
  bool nameLock(const LockOperation &Lock) {
    const Wrapper *W = Lock.ThroughWrapper ? Lock.Wraps : nullptr;
    if (W && !Lock.Call->getNumArgs())
      return true;
    if (W && (W->Computed || W->Parameter < 0)) {
      refuse("stands in a macro, with a lock that is found in a function");
      return false;
    }
    bool Known = true;
    auto Spell = [&](const Expr *E) {
      std::optional<std::string> Spelled = spelling(E);
      Known &= Spelled.has_value();
      return Spelled.value_or("");
    };
    const Expr *Operand = Lock.Call->getArg(W ? W->Parameter : 0);
    Result.Lock = !W                     ? Spell(Operand)
                  : !isArgument(Operand) ? lockThrough(*W, Operand, Spell)
                                         : throughParameter(W->Expression, Spell(Operand));
    if (!Known)
      refuse("stands in a macro that brings its lock from another one");
    return Known;
  }

  void collectInLock(const Stmt *Operand) {
    // What these contain may not be evaluated.
    if (isa<UnaryExprOrTypeTraitExpr, AbstractConditionalOperator>(Operand))
      return;
    if (const auto *Binary = dyn_cast<BinaryOperator>(Operand); Binary && Binary->isLogicalOp())
      return;
    if (const auto *E = dyn_cast<Expr>(Operand); E && isArgument(E) && isWholeArgument(E))
      InLock.insert(parameterAt(exact(E->getBeginLoc())->Offset));
    else
      for (const Stmt *Child : Operand->children())
        collectInLock(Child);
  }

  // Whatever the uses give for it.
  static std::string throughParameter(std::string Lock, const std::string &Parameter) {
    substitute(Lock, Lock == "$" ? Parameter : "(" + Parameter + ")");
    return Lock;
  }

  // True if a parameter of the macro stands for the expression.
  bool isArgument(const Expr *E) const {
    std::optional<Place> Begin = exact(E->getBeginLoc()), End = exact(E->getEndLoc());
    return Begin && End && Begin->Argument && End->Argument && Begin->Offset == End->Offset;
  }

  // The expression as the body has it.
  std::optional<std::string> spelling(const Expr *E) const {
    if (isArgument(E) && !isWholeArgument(E))
      return std::nullopt;
    E = E->IgnoreParenImpCasts();
    std::optional<Place> Begin = exact(E->getBeginLoc()), End = exact(E->getEndLoc());
    if (!Begin || !End)
      return std::nullopt;
    unsigned Length = Lexer::MeasureTokenLength(
        S.SM.getLocForStartOfFile(S.SM.getFileID(Define)).getLocWithOffset(End->Offset), S.SM,
        S.Language);
    return File.slice(Begin->Offset, End->Offset + Length).str();
  }

  // --- What the section needs ---------------------------------------------------------------

  bool isBefore(const Decl *D) const {
    return any_of(D->redecls(), [&](const Decl *Redeclared) {
      return S.SM.isBeforeInTranslationUnit(S.SM.getExpansionLoc(Redeclared->getLocation()),
                                            Define);
    });
  }

  bool declared(const Decl *D) {
    const auto *Builtin = dyn_cast<FunctionDecl>(D);
    if (!isBefore(D) && !(Builtin && Builtin->getBuiltinID()))
      refuse("names something that is declared after the macro's definition");
    return true;
  }

  void declared(QualType T) {
    for (;;) {
      if (const auto *Typedef = T->getAs<TypedefType>())
        return (void)declared(Typedef->getDecl());
      if (const auto *Pointer = T->getAs<clang::PointerType>())
        T = Pointer->getPointeeType();
      else if (const auto *Array = T->getAsArrayTypeUnsafe())
        T = Array->getElementType();
      else
        break;
    }
    if (const auto *Tag = T->getAs<TagType>())
      declared(Tag->getDecl());
    else if (!T->isBuiltinType())
      refuse("uses a type that the macro's definition may not know");
  }

  void collect(const Stmt *Statement) {
    if (!Statement)
      return;
    if (const auto *E = dyn_cast<Expr>(Statement)) {
      std::optional<Place> Begin = exact(E->getBeginLoc());
      if (isArgument(E))
        return addArgument(E, Begin->Offset);
      if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
        addReference(Ref, Begin);
    }
    for (const Stmt *Child : Statement->children())
      collect(Child);
  }

  void addReference(const DeclRefExpr *Ref, const std::optional<Place> &Where) {
    const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
    if (!V || !V->getDeclContext()->isFunctionOrMethod() || V->hasExternalStorage())
      return (void)declared(Ref->getDecl());
    if (within(V->getLocation()))
      return; // the section's own
    if (!Where || Where->Argument)
      return refuse("uses '" + V->getName() + "', which another macro names");
    Reference R;
    R.At = {Where->Offset, Where->Offset + unsigned(V->getName().size())};
    if (inBody(Ref->getLocation()) && bare(Ref, Parents)) // else an inner macro's text is around it
      R.Kind = Reference::Bare;
    Known.insert(R.At.Begin);
    Variables[V].push_back(R);
  }

  // True for what the section declares itself.
  bool within(SourceLocation L) const {
    std::optional<Place> Where = exact(L);
    return Where && Where->Offset >= Result.Body.Begin && Where->Offset < Result.Body.End;
  }

  StringRef parameterAt(unsigned Offset) const {
    return File.substr(Offset).take_while(
        [](char C) { return isAlnum(C) || C == '_' || C == '$'; });
  }

  void addArgument(const Expr *E, unsigned Offset) {
    StringRef Name = parameterAt(Offset);
    Known.insert(Offset);
    if (!isWholeArgument(E))
      return refuse("uses the parameter '" + Name + "' without parentheses");
    Parameter &P = Parameters[Name];
    if (any_of(P.References, [&](const Reference &R) { return R.At.Begin == Offset; }))
      return;
    P.Arguments.push_back(E);
    P.References.push_back({{Offset, Offset + unsigned(Name.size())}, Reference::Plain, {}});
  }

  // --- Captures -----------------------------------------------------------------------------

  // True if the expression has this value whenever the section's thread evaluates it.
  bool pure(const Expr *E) const {
    E = E->IgnoreParens();
    if (isa<IntegerLiteral>(E) || isa<FloatingLiteral>(E) || isa<CharacterLiteral>(E))
      return true;
    if (const auto *Size = dyn_cast<UnaryExprOrTypeTraitExpr>(E))
      return !Size->getTypeOfArgument()->isVariablyModifiedType();
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
      return isa<EnumConstantDecl>(Ref->getDecl());
    if (const auto *Constant = dyn_cast<ConstantExpr>(E))
      return pure(Constant->getSubExpr());
    if (const auto *Cast = dyn_cast<CastExpr>(E)) {
      if (Cast->getCastKind() == CK_LValueToRValue)
        return unshared(Cast->getSubExpr());
      if (Cast->getCastKind() == CK_ArrayToPointerDecay ||
          Cast->getCastKind() == CK_FunctionToPointerDecay)
        return pureAddress(Cast->getSubExpr());
      return pure(Cast->getSubExpr());
    }
    if (const auto *Unary = dyn_cast<UnaryOperator>(E)) {
      if (Unary->getOpcode() == UO_AddrOf)
        return pureAddress(Unary->getSubExpr());
      return Unary->isArithmeticOp() && pure(Unary->getSubExpr());
    }
    if (const auto *Binary = dyn_cast<BinaryOperator>(E)) // a division may trap
      return !Binary->isAssignmentOp() && !Binary->isCommaOp() && Binary->getOpcode() != BO_Div &&
             Binary->getOpcode() != BO_Rem && pure(Binary->getLHS()) && pure(Binary->getRHS());
    return false;
  }

  bool pureAddress(const Expr *E) const {
    E = E->IgnoreParens();
    if (isa<clang::StringLiteral>(E))
      return true;
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
      const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
      return isa<FunctionDecl>(Ref->getDecl()) || (V && V->getStorageClass() != SC_Register);
    }
    if (const auto *Member = dyn_cast<MemberExpr>(E)) {
      const auto *Field = dyn_cast<FieldDecl>(Member->getMemberDecl());
      return Field && !Field->isBitField() &&
             (Member->isArrow() ? pure(Member->getBase()) : pureAddress(Member->getBase()));
    }
    if (const auto *Subscript = dyn_cast<ArraySubscriptExpr>(E))
      return pure(Subscript->getBase()) && pure(Subscript->getIdx());
    const auto *Unary = dyn_cast<UnaryOperator>(E);
    return Unary && Unary->getOpcode() == UO_Deref && pure(Unary->getSubExpr());
  }

  // A local variable whose address nothing takes, and that the section does not change.
  bool unshared(const Expr *E) const {
    const auto *Ref = dyn_cast<DeclRefExpr>(E->IgnoreParens());
    const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    return V && V->hasLocalStorage() && !V->getType().isVolatileQualified() &&
           none_of(All, [&](const Mention &M) {
             if (M.Variable != V)
               return false;
             return M.How == Mention::AddressTaken || (M.How == Mention::Write && contains(M.Ref));
           });
  }

  bool contains(const Stmt *Inner) const {
    for (const Stmt *Up = Inner; Up; Up = Parents.getParent(Up))
      if (is_contained(Text.Statements, Up))
        return true;
    return false;
  }

  // True if evaluating the expression does nothing but to read plain memory.
  bool steady(const Expr *E) const { return !E->HasSideEffects(S.Context) && !readsAnew(E); }

  static bool readsAnew(const Stmt *Statement) {
    const auto *E = dyn_cast<Expr>(Statement);
    return isa<CallExpr, StmtExpr, AtomicExpr>(Statement) ||
           (E && (E->getType().isVolatileQualified() || E->getType()->isAtomicType())) ||
           any_of(Statement->children(),
                  [](const Stmt *Child) { return Child && readsAnew(Child); });
  }

  // How many bits a signed integer needs for all values of an integer type; 0: more than there are.
  unsigned bitsOf(QualType T) const {
    if (!T->isIntegerType() || T->isBooleanType())
      return 0;
    const unsigned Int = S.Context.getTypeSize(S.Context.IntTy),
                   Most = S.Context.getTypeSize(S.Context.LongLongTy);
    const unsigned Bits =
        S.Context.getTypeSize(T) + (T->isUnsignedIntegerOrEnumerationType() ? 1 : 0);
    return Bits <= Int ? Int : Bits <= Most ? Most : 0;
  }

  QualType signedInteger(unsigned Bits) const {
    for (QualType T : {S.Context.IntTy, S.Context.LongTy})
      if (S.Context.getTypeSize(T) == Bits)
        return T;
    return S.Context.LongLongTy;
  }

  // True if the value of an integer counts alone, and not its type: what is made of it is the same
  // in a wider signed type.
  bool isNumber(const Expr *E) const {
    const Stmt *Child = E, *Up = Parents.getParent(E);
    for (; isa_and_nonnull<ParenExpr, ImplicitCastExpr>(Up); Up = Parents.getParent(Up))
      Child = Up;
    if (const auto *Binary = dyn_cast_or_null<BinaryOperator>(Up))
      return Binary->isLogicalOp() ||
             (Binary->getOpcode() == BO_Assign && Binary->getRHS() == Child) ||
             (Binary->isComparisonOp() && Binary->getLHS()->getType()->isSignedIntegerType());
    if (const auto *Unary = dyn_cast_or_null<UnaryOperator>(Up))
      return Unary->getOpcode() == UO_LNot;
    if (const auto *Call = dyn_cast_or_null<CallExpr>(Up)) {
      const FunctionDecl *Callee = Call->getDirectCallee();
      return Callee && Callee->hasPrototype() &&
             is_contained(
                 ArrayRef(Call->getArgs(), Call->getNumArgs()).take_front(Callee->getNumParams()),
                 Child);
    }
    if (const auto *Declared = dyn_cast_or_null<DeclStmt>(Up)) // not by `__auto_type`
      return all_of(Declared->decls(), [](const Decl *D) {
        const auto *V = dyn_cast<VarDecl>(D);
        return V && !V->getType()->getContainedAutoType();
      });
    return isa_and_nonnull<IfStmt, WhileStmt>(Up);
  }

  // True if only the value of what the argument names is used.
  bool readOnly(const Expr *E) const {
    E = E->IgnoreParenImpCasts();
    if (E->isPRValue())
      return true;
    const Stmt *Up = Parents.getParent(E);
    while (isa_and_nonnull<ParenExpr>(Up))
      Up = Parents.getParent(Up);
    const auto *Cast = dyn_cast_or_null<ImplicitCastExpr>(Up);
    return Cast && (Cast->getCastKind() == CK_LValueToRValue ||
                    Cast->getCastKind() == CK_ArrayToPointerDecay ||
                    Cast->getCastKind() == CK_FunctionToPointerDecay);
  }

  bool pureValue(const Expr *E) const {
    E = E->IgnoreParenImpCasts();
    if (E->getType()->isArrayType() || E->getType()->isFunctionType())
      return pureAddress(E);
    return E->isPRValue() ? pure(E) : unshared(E);
  }

  void captureParameter(StringRef Name, const Parameter &P) {
    auto All = [&](auto Test) { return all_of(P.Arguments, Test); };
    const Expr *First = P.Arguments.front()->IgnoreParenImpCasts();
    Capture C;
    C.Name = Name.str();
    QualType T = First->getType();
    bool HasAddress = !T->isArrayType() && First->isLValue() && !First->refersToBitField() &&
                      All([&](const Expr *E) { return pureAddress(E->IgnoreParenImpCasts()); });
    // What the lock's operand reads is read before the section in any case: nobody else may change
    // it meanwhile, and checkLockOperand() says where the section does.
    const bool Read = InLock.contains(Name);
    auto IsSame = [&](const Expr *E) { return pureValue(E) || (Read && steady(E)); };
    auto MayBeBefore = [&](const Expr *E) { return Early.Allowed && !assigns(E); };
    if (All([&](const Expr *E) { return readOnly(E) && (IsSame(E) || MayBeBefore(E)); })) {
      Early.Needed |= !All(IsSame);
      C.How = Travel::Value;
      C.Argument = C.Name;
      // Behind a pointer, a qualifier is part of the type.
      auto IsPlain = [](const Expr *E) {
        return !E->IgnoreParenImpCasts()->getType().hasQualifiers();
      };
      if (HasAddress && !T->isFunctionType() && All(IsPlain))
        Addressed.insert(Name);
      if (All([&](const Expr *E) { return isNumber(E); }))
        C.Bits = bitsOf(T);
      if (T->isArrayType() || T->isFunctionType())
        T = S.Context.getDecayedType(T);
      T = T.getUnqualifiedType();
    } else if (HasAddress) {
      C.How = Travel::Pointer;
      C.Argument = "&" + C.Name;
    } else {
      Early.Needed |= All([&](const Expr *E) { return readOnly(E) && !assigns(E); });
      return refuse("needs the argument for '" + Name + "' evaluated under the lock");
    }
    C.References = P.References;
    const auto *Ref = dyn_cast<DeclRefExpr>(First);
    add(std::move(C), T, Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr);
  }

  void captureVariable(const VarDecl *V, const std::vector<Reference> &References) {
    QualType T = V->getType();
    if (V->getStorageClass() == SC_Register)
      return refuse("uses '" + V->getName() + "', which cannot travel from a macro");
    bool Changes = V->isStaticLocal() || T.isVolatileQualified() || T->isAtomicType() ||
                   T->isRecordType() || T->isArrayType() || any_of(All, [&](const Mention &M) {
                     return M.Variable == V && (M.How == Mention::AddressTaken ||
                                                (M.How == Mention::Write && contains(M.Ref)));
                   });
    Capture C;
    C.Name = V->getNameAsString();
    C.How = Changes ? Travel::Pointer : Travel::Value;
    C.References = References;
    if (!Changes)
      T = T.getUnqualifiedType();
    add(std::move(C), T, V);
  }

  void add(Capture C, QualType T, const VarDecl *V) {
    T = withoutTypeOf(T, S.Context);
    while (const auto *Name = T->getAs<TypedefType>()) { // it has another one before the macro
      if (isBefore(Name->getDecl()))
        break;
      T = Name->desugar().withFastQualifiers(T.getLocalFastQualifiers());
    }
    if (!spellable(T, S.Context))
      return refuse("uses '" + C.Name + "', whose type cannot be written outside its function");
    declared(T);
    if (V)
      T = asWritten(T, V, Define, S);
    QualType Field = C.How == Travel::Pointer ? S.Context.getPointerType(T) : T;
    const auto *Pointer = Field->getAs<clang::PointerType>();
    bool Direct = Pointer && !Pointer->getPointeeType().hasQualifiers() &&
                  !Pointer->getPointeeType()->isFunctionType();
    Fields[C.Name] = Field;
    if (Direct)
      C.Parameter = declarationText(Field, C.Name, Define, S);
    for (Reference &R : C.References)
      withParentheses(R);
    C.Mentions = C.References.size();
    Result.Captures.push_back(std::move(C));
  }

  static bool assigns(const Stmt *Statement) {
    const auto *Binary = dyn_cast<BinaryOperator>(Statement);
    const auto *Unary = dyn_cast<UnaryOperator>(Statement);
    return isa<StmtExpr>(Statement) || (Binary && Binary->isAssignmentOp()) ||
           (Unary && Unary->isIncrementDecrementOp()) ||
           any_of(Statement->children(), [](const Stmt *Child) { return Child && assigns(Child); });
  }

  StringMap<QualType> Fields; // by name
  StringSet<> Addressed;      // travel by value, and might by address

  // `(n)` becomes `section->n_value` or `(*n)`; the parentheses of a call stay.
  void withParentheses(Reference &R) const {
    StringRef Before = File.take_front(R.At.Begin);
    if (!Before.consume_back("(") || !File.substr(R.At.End).starts_with(")"))
      return;
    char Last = Before.rtrim(" \t\r\n\\").back();
    if (!isAlnum(Last) && !StringRef("_)]").contains(Last)) {
      --R.At.Begin;
      ++R.At.End;
    }
  }

  // A parameter of the macro must not have the name of a field: it would be replaced there.
  void finish() {
    sort(Result.Captures, [](const Capture &A, const Capture &B) {
      return A.References.front().At.Begin < B.References.front().At.Begin;
    });
    bool Direct = Result.Captures.size() == 1 && !Result.Captures[0].Parameter.empty();
    for (Capture &C : Result.Captures) {
      QualType Field = Fields[C.Name];
      bool MayBeAddress = Addressed.contains(C.Name);
      if (!C.Argument.empty() && !Direct)
        C.Name += "_value";
      auto Canonical = [&](QualType T) { return T.getCanonicalType().getAsString(); };
      C.Field = declarationText(Field, C.Name, Define, S);
      C.Canonical = Canonical(Field);
      C.Local = C.Field;
      if (MayBeAddress && !Direct) {
        const QualType Pointer = S.Context.getPointerType(Field);
        C.AddressField = declarationText(Pointer, C.Name, Define, S);
        C.AddressCanonical = Canonical(Pointer);
      }
      if (C.Bits)
        C.WideField = declarationText(signedInteger(C.Bits), C.Name, Define, S);
      if (!C.Argument.empty() && !Direct && taken(C.Name))
        refuse("needs the name '" + C.Name + "', which is taken");
    }
    Result.Macro = Body.Name;
    // A file that includes it may have a function of the macro's name in small letters.
    Result.FunctionName = StringRef(Body.Name).lower() + (Result.Inline ? "_macro" : "");
  }

  bool taken(StringRef Name) const {
    return S.macroAt(Name, At) || is_contained(map_range(Body.Macro->params(),
                                                         [](const IdentifierInfo *Parameter) {
                                                           return Parameter->getName();
                                                         }),
                                               Name);
  }

  // --- Tokens -------------------------------------------------------------------------------

  // What a macro in the text is must not depend on where it stands.
  void checkTokens() {
    FileID In = S.SM.getFileID(Define);
    Lexer Raw(S.SM.getLocForStartOfFile(In), S.Language, File.begin(),
              File.begin() + Result.Body.Begin, File.end());
    Token Current;
    tok::TokenKind Previous = tok::unknown;
    StringRef Callee;
    SmallVector<bool, 8> MakesText; // of the macro whose argument the open parentheses enclose
    for (;; Previous = Current.getKind()) {
      Raw.LexFromRawLexer(Current);
      unsigned Offset = S.SM.getFileOffset(Current.getLocation());
      if (Current.is(tok::eof) || Offset >= Result.Body.End)
        return;
      if (Current.isOneOf(tok::hash, tok::hashhash))
        return refuse("makes a string of a parameter, or pastes one");
      if (Current.is(tok::l_paren))
        MakesText.push_back(Previous == tok::raw_identifier &&
                            S.makesText(Callee, S.SM.getExpansionLoc(At)));
      else if (Current.is(tok::r_paren) && !MakesText.empty())
        MakesText.pop_back();
      if (!Current.is(tok::raw_identifier))
        continue;
      StringRef Name = Callee = Current.getRawIdentifier();
      if (Known.contains(Offset) && is_contained(MakesText, true))
        return refuse("uses '" + Name + "' in a macro that makes text of it");
      bool Member = Previous == tok::period || Previous == tok::arrow;
      if (!Known.contains(Offset) && !Member && localName(Name))
        return refuse("names '" + Name + "' in text that this configuration drops");
      if (!Known.contains(Offset) && parameter(Name))
        return refuse("uses the parameter '" + Name + "' otherwise than as an expression");
      if (!sameMacro(Name))
        return;
    }
  }

  bool parameter(StringRef Name) const {
    return any_of(Body.Macro->params(),
                  [&](const IdentifierInfo *P) { return P->getName() == Name; });
  }

  bool localName(StringRef Name) const {
    return any_of(F->decls(), [&](const Decl *D) {
      const auto *V = dyn_cast<VarDecl>(D);
      return V && V->getIdentifier() && V->getName() == Name && !within(V->getLocation());
    });
  }

  bool sameMacro(StringRef Name) {
    StringSet<> Seen;
    auto IsAnother = [&](StringRef Reached) {
      return Reached == "__LINE__" || Reached == "__COUNTER__" ||
             !S.isSameMacro(Reached, Define, At);
    };
    StringRef Other = S.nameReached(Name, Define, IsAnother, Seen);
    if (Other == "__LINE__" || Other == "__COUNTER__")
      refuse("uses '" + Other + "', which is another one at each use");
    else if (!Other.empty())
      refuse("uses '" + Other + "', which is another macro where '" + Body.Name + "' is defined");
    return Other.empty();
  }
};

} // namespace

std::vector<const Stmt *> argumentsBefore(const MacroBody &Body, const SectionText &Text,
                                          const FunctionDecl *F, const std::vector<Mention> &All,
                                          const ParentMap &Parents, const Source &S) {
  EarlyArguments Early;
  Extraction Unused;
  std::vector<Reason> Against;
  return Builder(Body, Text, F, All, Parents, S, Early, Unused, Against).values();
}

void extractFromMacro(const MacroBody &Body, const LockOperation &Lock, const Stmt *Unlock,
                      const SectionText &Text, const FunctionDecl *F,
                      const std::vector<Mention> &All, const ParentMap &Parents, const Source &S,
                      EarlyArguments &Early, Extraction &Result, std::vector<Reason> &Against) {
  Builder(Body, Text, F, All, Parents, S, Early, Result, Against).run(Lock, Unlock);
}

} // namespace relock
