// SPDX-License-Identifier: MIT
#include "index/Operand.h"

#include "index/LockApi.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/Lex/Lexer.h"
#include "clang/Lex/Preprocessor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace clang;
using namespace llvm;

namespace relock {

// A member of a union changes with the others.
static bool inUnion(const Expr *E) {
  for (const auto *Member = dyn_cast<MemberExpr>(E); Member;
       Member = dyn_cast<MemberExpr>(Member->getBase()->IgnoreParenImpCasts())) {
    const auto *Field = dyn_cast<FieldDecl>(Member->getMemberDecl());
    if (!Field || Field->getParent()->isUnion())
      return true;
    if (Member->isArrow())
      return false;
  }
  return false;
}

void collectLoaded(const Stmt *Operand, SmallPtrSetImpl<const ValueDecl *> &Loaded, bool &Unknown) {
  if (const auto *Cast = dyn_cast<ImplicitCastExpr>(Operand);
      Cast && Cast->getCastKind() == CK_LValueToRValue) {
    const Expr *Source = Cast->getSubExpr()->IgnoreParenCasts();
    const ValueDecl *D = storedDeclaration(Source);
    const auto *Subscript = dyn_cast<ArraySubscriptExpr>(Source);
    if (isa<UnaryOperator>(Source) || inUnion(Source) ||
        (Subscript && !Subscript->getBase()->IgnoreParenImpCasts()->getType()->isArrayType()))
      Unknown = true;
    else if (D)
      Loaded.insert(D);
  }
  for (const Stmt *Child : Operand->children())
    if (Child)
      collectLoaded(Child, Loaded, Unknown);
}

OperandLoad operandLoad(const ValueDecl *D, const Source &S) {
  OperandLoad Load = {D->getNameAsString(), nodeFor(D, S), ""};
  if (const auto *Field = dyn_cast<FieldDecl>(D))
    Load.Record = recordNode(S.Context.getRecordType(Field->getParent()), S);
  return Load;
}

constexpr char ParameterMark = '\1'; // in keys, before its index

static const ParmVarDecl *parameterOf(const Expr *E, const FunctionDecl *F) {
  const auto *Ref = dyn_cast<DeclRefExpr>(E);
  const auto *P = Ref ? dyn_cast<ParmVarDecl>(Ref->getDecl()) : nullptr;
  return P && P->getDeclContext() == F ? P : nullptr;
}

static std::optional<APSInt> constantOf(const Expr *E, const ASTContext &Context) {
  Expr::EvalResult Value;
  if (!E->getType()->isIntegerType() || !E->EvaluateAsInt(Value, Context))
    return std::nullopt;
  return Value.Val.getInt();
}

// A pointer to a mutex keeps its type, which is another one in the converted program.
static bool isPlainCast(const CastExpr *Cast) {
  auto PointsToLock = [](const Expr *E) {
    return !E->getType()->isPointerType() || syncType(E->getType()) != SyncType::None;
  };
  switch (Cast->getCastKind()) {
  case CK_BitCast:
    return !PointsToLock(Cast) && !PointsToLock(Cast->getSubExpr());
  case CK_LValueToRValue:
  case CK_ArrayToPointerDecay:
  case CK_NoOp:
  case CK_IntegralCast:
  case CK_IntegralToBoolean:
    return true;
  default:
    return false;
  }
}

static bool namesOnlyGlobals(const Stmt *E, const FunctionDecl *F) {
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E); Ref && !parameterOf(Ref, F)) {
    const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
    if (V ? !V->isFileVarDecl() || V->getTLSKind() != VarDecl::TLS_None
          : !isa<EnumConstantDecl>(Ref->getDecl()))
      return false;
  }
  return all_of(E->children(),
                [&](const Stmt *Child) { return !Child || namesOnlyGlobals(Child, F); });
}

static bool isComputation(const Expr *E, const ASTContext &Context) {
  E = E->IgnoreParens();
  if (isa<DeclRefExpr>(E) || constantOf(E, Context))
    return true;
  if (const auto *Cast = dyn_cast<CastExpr>(E))
    return isPlainCast(Cast) && isComputation(Cast->getSubExpr(), Context);
  if (const auto *Member = dyn_cast<MemberExpr>(E))
    return isComputation(Member->getBase(), Context);
  if (const auto *Subscript = dyn_cast<ArraySubscriptExpr>(E))
    return isComputation(Subscript->getLHS(), Context) &&
           isComputation(Subscript->getRHS(), Context);
  if (const auto *Unary = dyn_cast<UnaryOperator>(E))
    return !Unary->isIncrementDecrementOp() && isComputation(Unary->getSubExpr(), Context);
  if (const auto *Binary = dyn_cast<BinaryOperator>(E))
    return !Binary->isAssignmentOp() && !Binary->isCommaOp() &&
           isComputation(Binary->getLHS(), Context) && isComputation(Binary->getRHS(), Context);
  if (const auto *Choice = dyn_cast<ConditionalOperator>(E))
    return isComputation(Choice->getCond(), Context) &&
           isComputation(Choice->getTrueExpr(), Context) &&
           isComputation(Choice->getFalseExpr(), Context);
  return false;
}

bool isComputed(const Expr *Operand, const FunctionDecl *F, const Source &S) {
  bool Callable = F->hasWrittenPrototype() && !F->isVariadic() &&
                  (!F->hasExternalFormalLinkage() || !F->isInlined());
  return Callable && !F->getBody()->getBeginLoc().isMacroID() &&
         !Operand->HasSideEffects(S.Context) && namesOnlyGlobals(Operand, F) &&
         isComputation(Operand, S.Context);
}

static void collectDeclared(const Stmt *E, SmallPtrSetImpl<const ValueDecl *> &Named) {
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
    Named.insert(Ref->getDecl());
  for (const Stmt *Child : E->children())
    if (Child)
      collectDeclared(Child, Named);
}

// How a companion of F is declared. Units of a header that need it no more must not warn.
static std::string storageLike(const FunctionDecl *F, const Source &S) {
  if (F->hasExternalFormalLinkage())
    return "";
  if (F->isInlineSpecified())
    return S.Language.C99 || S.Language.GNUKeywords ? "static inline " : "static __inline ";
  bool MayBeUnused = F->hasAttr<UnusedAttr>() || !S.SM.isInMainFile(F->getLocation());
  return MayBeUnused ? "static __attribute__((unused)) " : "static ";
}

// Which names are not free in a companion that the statement becomes a part of.
static void noteTaken(const Stmt *Statement, const Source &S, WrapperPlace &W) {
  SmallPtrSet<const ValueDecl *, 8> Named;
  collectDeclared(Statement, Named);
  for (StringRef Base : {"section", "context", "call", "result"})
    for (std::string Name : {Base.str(), Base.str() + "2", Base.str() + "3"}) {
      const IdentifierInfo &Identifier = S.Context.Idents.get(Name);
      if (Identifier.hasMacroDefinition() ||
          !S.Context.getTranslationUnitDecl()->lookup(&Identifier).empty() ||
          any_of(Named, [&](const ValueDecl *D) { return D->getName() == Name; }))
        W.Taken.push_back(Name);
    }
}

void describeComputed(const Expr *Operand, const FunctionDecl *F, const Source &S,
                      WrapperPlace &W) {
  W.Storage = storageLike(F, S);
  SmallPtrSet<const ValueDecl *, 8> Named;
  collectDeclared(Operand, Named);
  for (const ParmVarDecl *P : F->parameters())
    if (Named.contains(P))
      W.Parameters.push_back(P->getFunctionScopeIndex());
  noteTaken(Operand, S, W);
}

void describeCompanion(const FunctionDecl *F, const Source &S, WrapperPlace &W) {
  W.Storage = storageLike(F, S);
  for (const ParmVarDecl *P : F->parameters())
    W.Parameters.push_back(P->getFunctionScopeIndex());
  noteTaken(F->getBody(), S, W);
}

std::optional<unsigned> behindDeclaration(const Source::Range &Declarator, const Source &S) {
  StringRef File = S.fileText(Declarator.File);
  Lexer Raw(S.SM.getLocForStartOfFile(Declarator.File), S.Language, File.begin(),
            File.begin() + Declarator.End, File.end());
  Token Current;
  for (Raw.LexFromRawLexer(Current); Current.isNot(tok::semi); Raw.LexFromRawLexer(Current))
    if (Current.isOneOf(tok::eof, tok::l_brace, tok::equal, tok::hash))
      return std::nullopt;
  return S.SM.getFileOffset(Current.getEndLoc());
}

std::optional<Prototype> computedPrototype(const FunctionDecl *F, const WrapperPlace &W,
                                           const Source &S) {
  std::optional<Source::Range> Whole = S.range(F->getSourceRange());
  if (!Whole || F->getEndLoc().isMacroID() || !F->hasWrittenPrototype() ||
      !F->getLexicalDeclContext()->isFileContext() || S.inSystemHeader(F->getLocation()))
    return std::nullopt;
  Prototype Result;
  unsigned End = W.Behind.Offset;
  if (!F->doesThisDeclarationHaveABody()) {
    std::optional<unsigned> Behind = behindDeclaration(*Whole, S);
    if (!Behind)
      return std::nullopt;
    End = *Behind;
  }
  Result.At = S.position(Whole->File, End);
  unsigned Last = Whole->Begin;
  for (unsigned I : W.Parameters) {
    std::optional<Source::Range> R = S.range(F->getParamDecl(I)->getSourceRange());
    if (!R || R->File != Whole->File || R->Begin < Last || R->End > Whole->End)
      return std::nullopt; // one macro brings several
    Last = R->End;
    Result.Parameters.push_back(S.text(*R).str());
  }
  return Result;
}

namespace {

class ExactKey {
public:
  ExactKey(const FunctionDecl *Of, const Source &S, raw_ostream &OS) : Of(Of), S(S), OS(OS) {}

  void write(const Expr *E) {
    E = E->IgnoreParens();
    if (std::optional<APSInt> Value = constantOf(E, S.Context)) {
      OS << *Value;
    } else if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
      writeName(Ref);
    } else if (const Expr *Pointer = castPointer(E); Pointer != E) {
      QualType To = E->getType()->getPointeeType();
      if (!To->isVoidType() &&
          !S.Context.hasSameUnqualifiedType(To, Pointer->getType()->getPointeeType()))
        OS << "(" << To.getCanonicalType().getUnqualifiedType().getAsString() << " *)";
      write(Pointer);
    } else if (const auto *Cast = dyn_cast<CastExpr>(E)) {
      if (Cast->getType()->isIntegerType() && Cast->getCastKind() != CK_LValueToRValue)
        OS << "(" << Cast->getType().getCanonicalType().getAsString() << ")";
      write(Cast->getSubExpr());
    } else if (const auto *Member = dyn_cast<MemberExpr>(E)) {
      write(Member->getBase());
      OS << (Member->isArrow() ? "->" : ".") << Member->getMemberDecl()->getName();
    } else if (const auto *Subscript = dyn_cast<ArraySubscriptExpr>(E)) {
      writeAll("[", {Subscript->getBase(), Subscript->getIdx()}, "]");
    } else if (const auto *Unary = dyn_cast<UnaryOperator>(E)) {
      writeAll(UnaryOperator::getOpcodeStr(Unary->getOpcode()), {Unary->getSubExpr()}, "");
    } else if (const auto *Binary = dyn_cast<BinaryOperator>(E)) {
      writeAll(Binary->getOpcodeStr(), {Binary->getLHS(), Binary->getRHS()}, "");
    } else if (const auto *Choice = dyn_cast<ConditionalOperator>(E)) {
      writeAll("?", {Choice->getCond(), Choice->getTrueExpr(), Choice->getFalseExpr()}, "");
    } else if (const auto *Call = dyn_cast<CallExpr>(E); Call && Call->getDirectCallee()) {
      writeAll(nodeFor(Call->getDirectCallee(), S), SmallVector<const Expr *>(Call->arguments()),
               "");
    } else {
      OS << lockKey(E);
    }
  }

private:
  const FunctionDecl *Of;
  const Source &S;
  raw_ostream &OS;

  // Without casts between pointers.
  static const Expr *castPointer(const Expr *E) {
    const auto *Cast = dyn_cast<CastExpr>(E);
    bool Only = Cast && (Cast->getCastKind() == CK_BitCast || Cast->getCastKind() == CK_NoOp) &&
                Cast->getType()->isPointerType() && Cast->getSubExpr()->getType()->isPointerType();
    return Only ? castPointer(Cast->getSubExpr()->IgnoreParens()) : E;
  }

  void writeAll(StringRef Operator, ArrayRef<const Expr *> Operands, StringRef End) {
    OS << Operator << "(";
    for (const Expr *E : Operands) {
      write(E);
      OS << ",";
    }
    OS << ")" << End;
  }

  void writeName(const DeclRefExpr *Ref) {
    const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
    if (const ParmVarDecl *P = parameterOf(Ref, Of))
      OS << ParameterMark << P->getFunctionScopeIndex() << ";";
    else if (V && !V->isFileVarDecl())
      OS << V->getName() << "@" << V->getLocation().getRawEncoding();
    else
      OS << nodeFor(Ref->getDecl(), S);
  }
};

} // namespace

std::string exactKey(const Expr *E, const FunctionDecl *Of, const Source &S) {
  std::string Key;
  raw_string_ostream OS(Key);
  ExactKey(Of, S, OS).write(E);
  return Key;
}

std::string keyAtCall(StringRef Key, const CallExpr *Call, const Source &S) {
  std::string Result;
  for (size_t At; (At = Key.find(ParameterMark)) != StringRef::npos;) {
    unsigned Parameter = 0;
    Result += Key.take_front(At);
    Key = Key.drop_front(At + 1);
    Key.consumeInteger(10, Parameter);
    Key.consume_front(";");
    Result += exactKey(Call->getArg(Parameter), nullptr, S);
  }
  return Result + Key.str();
}

} // namespace relock
