// SPDX-License-Identifier: MIT
#include "index/LockEdits.h"

#include "index/ClassParameter.h"
#include "index/LockApi.h"
#include "support/MacroText.h"

#include "clang/Basic/CharInfo.h"
#include "clang/Basic/DiagnosticParse.h"
#include "clang/Basic/DiagnosticSema.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/StringExtras.h"

using namespace clang;
using namespace llvm;

namespace relock {

void LockEdits::visitStatement(const Stmt *Statement) {
  if (const CallExpr *Call = soleCall(Statement))
    WholeStatement.try_emplace(Call, Statement); // the outermost one
}

// The variable or member whose declaration says of which type `*a.b[i]` is; null: something else
// does.
static const ValueDecl *declarationBehind(const Expr *E) {
  E = E->IgnoreParenImpCasts();
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
    return dyn_cast<VarDecl>(Ref->getDecl());
  if (const auto *Member = dyn_cast<MemberExpr>(E))
    return Member->getMemberDecl();
  if (const auto *Subscript = dyn_cast<ArraySubscriptExpr>(E))
    return declarationBehind(Subscript->getBase());
  const auto *Unary = dyn_cast<UnaryOperator>(E);
  bool Points = Unary && (Unary->getOpcode() == UO_Deref || Unary->getOpcode() == UO_AddrOf);
  return Points ? declarationBehind(Unary->getSubExpr()) : nullptr;
}

void LockEdits::typeToken(TypeLoc Spelled, const std::string &Node, SourceLocation At) {
  while (Spelled) {
    if (auto Named = Spelled.getAs<TypedefTypeLoc>()) {
      const TypedefNameDecl *Typedef = Named.getTypedefNameDecl();
      StringRef Name = Typedef->getName();
      if (!isSyncName(Name) && !S.inSystemHeader(Typedef->getLocation()))
        return ownName(Named.getNameLoc(), Typedef, Node, At);
      if (!isSyncName(Name) || !S.editable(Named.getNameLoc()))
        break;
      if (!replaceTypeMacro(Named.getNameLoc(), Name, Node))
        Out.sharedEdit(Named.getNameLoc(), Name.size(), relockName(Name), Node);
      return;
    }
    if (auto Operand = Spelled.getAs<TypeOfExprTypeLoc>()) {
      const ValueDecl *D = declarationBehind(Operand.getUnderlyingExpr());
      if (!D || syncType(D->getType()) == SyncType::None)
        break;
      return Out.flow(Node, nodeFor(D, S), Flow::Text, At); // the type changes with that of D
    }
    if (auto Pointer = Spelled.getAs<PointerTypeLoc>())
      Spelled = Pointer.getPointeeLoc();
    else if (auto Array = Spelled.getAs<ArrayTypeLoc>())
      Spelled = Array.getElementLoc();
    else if (auto Function = Spelled.getAs<FunctionTypeLoc>())
      Spelled = Function.getReturnLoc();
    else if (TypeLoc Next = Spelled.getNextTypeLoc(); Next && Next != Spelled)
      Spelled = Next; // qualifiers, parentheses, elaboration
    else
      break;
  }
  Out.escape(Node, "type-spelling", "is declared with a type that is not spelled 'pthread_…_t'",
             At);
}

// `#define my_mutex pthread_mutex_t`: the same for a macro that is no more than the type's name.
bool LockEdits::replaceTypeMacro(SourceLocation Body, StringRef Name, const std::string &Node) {
  SourceLocation Use = Body;
  while (!S.inFile(Use)) {
    if (S.SM.isMacroArgExpansion(Use)) {
      Use = S.SM.getImmediateSpellingLoc(Use);
      continue;
    }
    SourceLocation Begin, End = Use.getLocWithOffset(S.tokenLength(Use));
    if (!S.SM.isAtStartOfImmediateMacroExpansion(Use, &Begin) ||
        !S.SM.isAtEndOfImmediateMacroExpansion(End, &End) || Begin != End)
      return false;
    Use = Begin;
  }
  if (Use == Body || !S.editable(Use))
    return false;
  const std::string Macro = tokenNode(S.spelled(Body));
  Out.sharedEdit(Use, S.tokenLength(Use), relockName(Name), Node);
  Facts.Edits.back().Where = Edit::AtUse;
  Facts.Edits.back().Macro = Macro;
  Facts.Edits.push_back(
      {S.spelled(Body), unsigned(Name.size()), relockName(Name), Node, Edit::InBody, Macro});
  return true;
}

// A name of the program's own for the type: what it stands for changes, or its uses do.
void LockEdits::ownName(SourceLocation L, const TypedefNameDecl *Typedef, const std::string &Node,
                        SourceLocation At) {
  QualType T = Typedef->getUnderlyingType();
  SyncType Object = T->isArrayType() || T.hasQualifiers() ? SyncType::None : syncObject(T);
  std::string Own = nodeFor(Typedef, S);
  if ((Object != SyncType::Mutex && Object != SyncType::Condition) || !S.editable(L))
    return Out.flow(Node, Own, Flow::Text, At);
  Out.flow(Node, Own, Flow::Named, At);
  Out.sharedEdit(L, Typedef->getName().size(),
                 Object == SyncType::Mutex ? "relock_mutex_t" : "relock_cond_t", Node);
  Facts.Edits.back().Where = Edit::AtUse;
  Facts.Edits.back().Macro = Own;
}

void LockEdits::called(const CallExpr *Call, LockCall Record) {
  Record.At = S.shown(Call->getExprLoc());
  Record.Spelled = S.spelled(Call->getExprLoc());
  const auto *Ref = dyn_cast<DeclRefExpr>(Call->getCallee()->IgnoreParenImpCasts());
  if (Ref && S.editable(Call->getRParenLoc())) {
    name(Ref, Record);
    Record.Behind = S.spelled(behindArguments(Call));
  }
  Facts.LockCalls.push_back(std::move(Record));
}

void LockEdits::calledLater(const DeclRefExpr *Handler, LockCall Record) {
  Record.At = S.shown(Handler->getExprLoc());
  Record.Spelled = S.spelled(Handler->getExprLoc());
  name(Handler, Record);
  Facts.LockCalls.push_back(std::move(Record));
}

void LockEdits::name(const DeclRefExpr *Callee, LockCall &Record) {
  if (!S.editable(Callee->getLocation()))
    return;
  Record.Name = S.spelled(Callee->getLocation());
  Record.Length = Callee->getDecl()->getName().size();
  Record.InMacro = !S.inFile(Callee->getLocation());
}

void LockEdits::sizeTokens(const Stmt *E, const std::string &Node) {
  if (const auto *Size = dyn_cast<UnaryExprOrTypeTraitExpr>(E);
      Size && Size->isArgumentType() && syncType(Size->getArgumentType()) != SyncType::None)
    typeToken(Size->getArgumentTypeInfo()->getTypeLoc(), Node, Size->getExprLoc());
  for (const Stmt *Child : E->children())
    if (Child)
      sizeTokens(Child, Node);
}

// Finds the name of the macro.
void LockEdits::initialiser(const InitListExpr *List, const std::string &Node) {
  SourceLocation L = List->getLBraceLoc();
  if (L.isInvalid())
    L = List->getBeginLoc();
  while (L.isMacroID()) {
    if (S.SM.isMacroArgExpansion(L)) {
      L = S.SM.getImmediateSpellingLoc(L);
      continue;
    }
    StringRef Macro = Lexer::getImmediateMacroName(L, S.SM, S.Language);
    std::string Replacement = relockInitialiser(Macro);
    SourceLocation Name = S.SM.getImmediateExpansionRange(L).getBegin();
    if (!Replacement.empty()) {
      if (!S.inFile(Name) && replaceWholeMacro(List, Replacement, Node))
        return;
      if (!S.editable(Name))
        break;
      // One macro body may serve several variables: then they are one class.
      if (S.inFile(Name))
        Out.edit(Name, Macro.size(), Replacement, Node);
      else
        Out.sharedEdit(Name, Macro.size(), Replacement, Node);
      return;
    }
    L = Name;
  }
  zeroInitialiser(List, Node);
}

// True for a constant 0, or a list of such.
static bool isZero(const Expr *E, const ASTContext &Context) {
  if (const auto *List = dyn_cast<InitListExpr>(E))
    return all_of(List->inits(), [&](const Expr *Sub) { return isZero(Sub, Context); });
  Expr::EvalResult Value;
  return isa<ImplicitValueInitExpr>(E) ||
         E->isNullPointerConstant(const_cast<ASTContext &>(Context),
                                  Expr::NPC_ValueDependentIsNotNull) ||
         (E->EvaluateAsInt(Value, Context) && Value.Val.getInt() == 0);
}

static size_t writtenValues(const Expr *E) {
  if (const auto *List = dyn_cast<InitListExpr>(E)) {
    size_t Sum = 0;
    for (const Expr *Sub : List->inits())
      Sum += writtenValues(Sub);
    return Sum;
  }
  return !isa<ImplicitValueInitExpr>(E);
}

// All zero is a lock of no special kind, whatever the fields are; what other values mean is the C
// library's secret.
void LockEdits::zeroInitialiser(const InitListExpr *List, const std::string &Node) {
  StringRef Replacement = syncObject(List->getType()) == SyncType::Mutex
                              ? "RELOCK_MUTEX_INITIALIZER($CLASS)"
                              : "RELOCK_COND_INITIALIZER";
  bool Zero = isZero(List, S.Context);
  if (Zero && replaceWholeMacro(List, Replacement, Node))
    return;
  SourceLocation Open = List->getLBraceLoc(), Close = List->getRBraceLoc();
  std::optional<Source::Range> Range;
  if (Zero && Open.isValid() && Open.isFileID() && Close.isFileID() && S.editable(Open))
    Range = S.range({Open, Close});
  StringRef Text = Range ? S.text(*Range) : "";
  if (Text.starts_with("{") && Text.ends_with("}")) {
    Out.edit(Open, Text.size(), Replacement.str(), Node);
  } else if (!Zero || writtenValues(List) > 1 || Open.isMacroID()) {
    // The `0` of an outer list is valid for both types; more would fall on other fields.
    Out.escape(Node, "initialiser", "has an initialiser that is not one of POSIX's",
               List->getBeginLoc());
  }
}

// Takes space in the executable that the zeros did not.
constexpr unsigned LargestNamed = 64 * 1024;

// A variable that nothing initialises gets an initialiser that names its class, unless calls
// initialise that class: a tentative definition, or a local one with static storage.
void LockEdits::zeroFilled(const VarDecl *V) {
  bool One = V->isFileVarDecl() ? V->getActingDefinition() == V &&
                                      count_if(V->redecls(),
                                               [](const VarDecl *D) {
                                                 return D->isThisDeclarationADefinition() !=
                                                        VarDecl::DeclarationOnly;
                                               }) == 1
                                : V->isStaticLocal();
  bool Shared = V->hasExternalFormalLinkage() && !S.SM.isInMainFile(V->getLocation());
  QualType T = V->getType();
  if (V->hasInit() || !One || Shared || V->getLocation().isMacroID() || !V->getTypeSourceInfo() ||
      V->getTLSKind() != VarDecl::TLS_None || T->isIncompleteType() || T->isPointerType() ||
      S.Context.getTypeSizeInChars(T).getQuantity() > LargestNamed)
    return;
  std::vector<Member> Mutexes;
  if (!findMutex(V->getTypeSourceInfo()->getTypeLoc(), nodeFor(V, S), "", Mutexes) ||
      Mutexes.size() != 1)
    return;
  const auto &[Node, Way] = Mutexes.front();
  std::string Value = "RELOCK_MUTEX_INITIALIZER($CLASS)";
  if (!Way.empty() && !hasDesignators(V->getLocation()))
    return;
  if (!Way.empty())
    Value = "{" + Way + " = " + Value + "}";
  if (std::optional<unsigned> End = endOfDeclarator(V->getLocation()))
    nameUnlessNamed(S.SM.getFileID(V->getLocation()), *End, " = " + Value, Node, nodeFor(V, S));
}

void LockEdits::leftOut(const InitListExpr *List, const FieldDecl *Mutex) {
  SourceLocation Close = List->getRBraceLoc();
  const InitListExpr *Written = List->isSyntacticForm() ? List : List->getSyntacticForm();
  if (!Written || !Written->getNumInits() || Close.isInvalid() || Close.isMacroID() ||
      !S.editable(Close) || Mutex->getName().empty() || !hasDesignators(Close) ||
      isConditional(Mutex))
    return;
  SourceLocation Last = Written->getInit(Written->getNumInits() - 1)->getEndLoc();
  if (Last.isMacroID())
    Last = S.SM.getExpansionRange(Last).getEnd();
  Last = Lexer::getLocForEndOfToken(Last, 0, S.SM, S.Language);
  if (Last.isInvalid() || S.SM.getFileID(Last) != S.SM.getFileID(Close))
    return;
  Position At = S.spelled(Last);
  nameUnlessNamed(S.SM.getFileID(Last), S.SM.getFileOffset(Last),
                  ", ." + Mutex->getName().str() + " = RELOCK_MUTEX_INITIALIZER($CLASS)",
                  nodeFor(Mutex, S), At.File.str() + ":" + std::to_string(At.Offset));
}

// C has designators since 1999, and as an extension before.
bool LockEdits::hasDesignators(SourceLocation At) const {
  return S.Language.C99 || S.SM.getDiagnostics().isIgnored(diag::ext_designated_init, At);
}

// True for a field that its struct has in some configurations only: no initialiser can name it.
bool LockEdits::isConditional(const FieldDecl *Field) const {
  auto [File, End] = S.SM.getDecomposedExpansionLoc(Field->getLocation());
  auto [Begins, Begin] = S.SM.getDecomposedExpansionLoc(Field->getParent()->getBeginLoc());
  return File == Begins && Texts.isOpenBehind({File, Begin, End});
}

void LockEdits::nameUnlessNamed(FileID File, unsigned Offset, std::string Text,
                                const std::string &Node, const std::string &Variable) {
  Facts.Edits.push_back(
      {S.position(File, Offset), 0, std::move(Text), Node, Edit::IfUnnamed, "", Variable});
}

// Each mutex in an object that is declared so. False: not all can be designated.
bool LockEdits::findMutex(TypeLoc Spelled, const std::string &Node, std::string Way,
                          std::vector<Member> &Found) {
  QualType T = Spelled.getType();
  if (!T->isArrayType() && syncType(T) != SyncType::None) {
    if (syncObject(T) == SyncType::Mutex)
      Found.push_back({Node, Way});
    return true;
  }
  if (T->isArrayType()) {
    QualType Element = S.Context.getBaseElementType(T);
    if (syncType(Element) == SyncType::None && !Element->isRecordType())
      return true;
    auto Named = Spelled.getUnqualifiedLoc().getAsAdjusted<TypedefTypeLoc>();
    if (Named)
      return findMutex(Named.getTypedefNameDecl()->getTypeSourceInfo()->getTypeLoc(), Node,
                       std::move(Way), Found);
    auto Array = Spelled.getUnqualifiedLoc().getAsAdjusted<ArrayTypeLoc>();
    std::optional<std::string> Whole = Array ? wholeArray(Array) : std::nullopt;
    size_t Before = Found.size();
    return Array && findMutex(Array.getElementLoc(), Node, Way + Whole.value_or(""), Found) &&
           (Whole || Found.size() == Before);
  }
  const auto *Record = T->getAs<RecordType>();
  if (!Record || Record->isUnionType() || !Record->getDecl()->isCompleteDefinition())
    return !Record || !Record->isUnionType();
  for (const FieldDecl *Field : Record->getDecl()->fields()) {
    std::string Step = Field->getName().empty() ? "" : "." + Field->getName().str();
    const size_t Before = Found.size();
    if (!Field->getTypeSourceInfo() ||
        !findMutex(Field->getTypeSourceInfo()->getTypeLoc(), nodeFor(Field, S), Way + Step,
                   Found) ||
        (Found.size() != Before && isConditional(Field)))
      return false;
  }
  return true;
}

// A designator of all elements, with the bound as it is written. Only GNU C has it.
std::optional<std::string> LockEdits::wholeArray(ArrayTypeLoc Array) const {
  const Expr *Bound = Array.getSizeExpr();
  if (!Bound || !isa<ConstantArrayType>(Array.getType()) ||
      !S.SM.getDiagnostics().isIgnored(diag::ext_gnu_array_range, Array.getBeginLoc()))
    return std::nullopt;
  Expr::EvalResult Value;
  if (!Bound->EvaluateAsInt(Value, S.Context) || Value.Val.getInt() < 1)
    return std::nullopt;
  if (isa<IntegerLiteral>(Bound->IgnoreParens()) && Bound->getBeginLoc().isFileID())
    return Value.Val.getInt() == 1
               ? "[0]"
               : "[0 ... " + std::to_string(Value.Val.getInt().getExtValue() - 1) + "]";
  std::string Text = S.expressionText(Bound);
  bool Name = all_of(Text, [](char C) { return isAlnum(C) || C == '_'; });
  return "[0 ... " + (Name ? Text : "(" + Text + ")") + " - 1]";
}

// Behind the last token before the `,` or `;` that ends the declarator at a name.
std::optional<unsigned> LockEdits::endOfDeclarator(SourceLocation Name) const {
  FileID File = S.SM.getFileID(Name);
  StringRef Text = S.fileText(File);
  Lexer Raw(S.SM.getLocForStartOfFile(File), S.Language, Text.begin(),
            Text.begin() + S.SM.getFileOffset(Name), Text.end());
  int Depth = 0;
  unsigned End = 0;
  for (Token T; !Raw.LexFromRawLexer(T);) {
    if (Depth == 0 && T.isOneOf(tok::comma, tok::semi))
      return End;
    if (T.isOneOf(tok::hash, tok::equal, tok::l_brace))
      return std::nullopt;
    Depth += T.is(tok::l_paren) - T.is(tok::r_paren);
    End = S.SM.getFileOffset(T.getLocation()) + T.getLength();
  }
  return std::nullopt;
}

// Where a macro of the project is the whole initialiser, its use changes: in the body of the macro,
// all that it initialises would have to be one class.
bool LockEdits::replaceWholeMacro(const InitListExpr *List, StringRef Replacement,
                                  const std::string &Node) {
  SourceLocation Begin = List->getLBraceLoc(), Last = List->getRBraceLoc();
  while (Begin.isMacroID() && Last.isMacroID()) {
    if (S.SM.isMacroArgExpansion(Begin) && S.SM.isMacroArgExpansion(Last)) {
      Begin = S.SM.getImmediateSpellingLoc(Begin);
      Last = S.SM.getImmediateSpellingLoc(Last);
      continue;
    }
    SourceLocation End = Last.getLocWithOffset(S.tokenLength(Last));
    if (!S.SM.isAtStartOfImmediateMacroExpansion(Begin, &Begin) ||
        !S.SM.isAtEndOfImmediateMacroExpansion(End, &Last))
      return false;
    if (!S.inFile(Begin) || !S.inFile(Last))
      continue;
    Position From = S.spelled(Begin), To = S.spelled(Last);
    if (From.File != To.File || !S.editable(Begin))
      return false;
    Out.edit(Begin, To.Offset + S.tokenLength(Last) - From.Offset, Replacement.str(), Node);
    return true;
  }
  return false;
}

void LockEdits::sharedInsert(SourceLocation L, std::string Text, const std::string &Node) {
  if (S.editable(L))
    Out.sharedEdit(L, 0, std::move(Text), Node);
  else
    Out.escape(Node, "macro-text", "is initialised by text that no file has", L);
}

static SourceLocation operandLeafLocation(const Expr *E) {
  E = E->IgnoreParenCasts();
  if (const auto *Unary = dyn_cast<UnaryOperator>(E))
    return operandLeafLocation(Unary->getSubExpr());
  if (const auto *Subscript = dyn_cast<ArraySubscriptExpr>(E))
    return operandLeafLocation(Subscript->getBase());
  if (const auto *Member = dyn_cast<MemberExpr>(E))
    return Member->getMemberLoc();
  return E->getExprLoc();
}

void LockEdits::renameCall(const CallExpr *Call, const DeclRefExpr *CalleeRef, StringRef Name,
                           const Expr *Operand, const std::string &Node) {
  SourceLocation L = CalleeRef->getLocation();
  if (!S.editable(L))
    return Out.escape(Node, "macro-text", "is locked by text that no file has", L);
  if (S.inFile(L))
    Out.edit(L, Name.size(), relockName(Name), Node);
  else if (S.inFile(operandLeafLocation(Operand)) && replaceInvocation(Call, L, Name, Node))
    return;
  else if (Name == "pthread_mutex_init" &&
           initialiseThroughMacro(Call, L, S.inFile(operandLeafLocation(Operand)), Node))
    return;
  else if (Name != "pthread_mutex_init" && operateThroughMacro(L, Name, Node))
    return;
  else
    Out.sharedEdit(L, Name.size(), relockName(Name), Node);
  if (Name == "pthread_mutex_init" && !S.inFile(L)) // for all that the macro serves
    Out.flow(Node, tokenNode(S.spelled(L)), Flow::NamingText, L);
  if (Name == "pthread_mutex_init")
    sharedInsert(behindArguments(Call), ", RELOCK_CLASS($CLASS)", Node);
}

void LockEdits::renameHandler(const DeclRefExpr *Handler, StringRef Name, const std::string &Node) {
  SourceLocation L = Handler->getLocation();
  if (!S.editable(L))
    Out.escape(Node, "macro-text", "is unlocked by text that no file has", L);
  else if (S.inFile(L))
    Out.edit(L, Name.size(), relockName(Name), Node);
  else
    Out.sharedEdit(L, Name.size(), relockName(Name), Node);
}

// Behind the last argument where a file has it, before the blanks that may follow; in a macro the
// argument may stand elsewhere than the parenthesis.
SourceLocation LockEdits::behindArguments(const CallExpr *Call) const {
  SourceLocation Close = Call->getRParenLoc();
  // `call(pthread_mutex_init, &lock, NULL)`: what the macro calls are its arguments.
  if (!Close.isFileID() && !S.inFile(Call->getCallee()->getExprLoc()))
    return Close;
  SourceLocation Last = Call->getArg(Call->getNumArgs() - 1)->getEndLoc();
  while (Last.isMacroID())
    Last = S.SM.isMacroArgExpansion(Last) ? S.SM.getImmediateSpellingLoc(Last)
                                          : S.SM.getImmediateExpansionRange(Last).getEnd();
  return Lexer::getLocForEndOfToken(Last, 0, S.SM, S.Language);
}

bool LockEdits::replaceInvocation(const CallExpr *Call, SourceLocation Body, StringRef Name,
                                  const std::string &Node) {
  const Stmt *Whole = Call;
  bool Statement = false;
  if (!exactInvocation(Call->getSourceRange())) {
    auto Found = WholeStatement.find(Call);
    if (Found == WholeStatement.end() || !exactInvocation(Found->second->getSourceRange()))
      return false;
    Whole = Found->second;
    Statement = true;
  }
  std::optional<Source::Range> Range = S.range(Whole->getSourceRange());
  if (!Range)
    return false;
  std::string Arguments = "(";
  for (unsigned I = 0; I < Call->getNumArgs(); ++I)
    Arguments += (I ? ", " : "") + argumentText(Call->getArg(I));
  bool Initialises = Name == "pthread_mutex_init";
  std::string Text = relockName(Name) + Arguments + (Initialises ? ", RELOCK_CLASS($CLASS))" : ")");
  StringRef After = S.fileText(Range->File).drop_front(Range->End).ltrim();
  if (Statement && !After.starts_with(";"))
    Text += ";";
  else if (!Initialises)
    keepArguments(*Range, Arguments + ")", Text);
  std::string Macro = tokenNode(S.spelled(Body));
  Facts.Edits.push_back({S.position(Range->File, Range->Begin), Range->End - Range->Begin, Text,
                         Node, Edit::AtUse, Macro});
  Facts.Edits.push_back(
      {S.spelled(Body), unsigned(Name.size()), relockName(Name), Node, Edit::InBody, Macro});
  if (Initialises) // other users of the macro get the default class
    Facts.Edits.push_back(
        {S.spelled(Call->getRParenLoc()), 0, ", NULL", Node, Edit::InBody, Macro});
  return true;
}

// Where the invocation has just these arguments, only its name has to change, and what in them
// has to change too, such as the type in a cast, can.
void LockEdits::keepArguments(Source::Range &Invocation, StringRef Arguments, std::string &Text) {
  auto WithoutBlanks = [](StringRef Written) {
    std::string Result = Written.str();
    erase_if(Result, [](char C) { return isSpace(C); });
    return Result;
  };
  StringRef Written = S.fileText(Invocation.File).slice(Invocation.Begin, Invocation.End);
  StringRef Macro = Written.take_front(Written.find('(')).rtrim();
  if (WithoutBlanks(Written.drop_front(Macro.size())) != WithoutBlanks(Arguments))
    return;
  Invocation.End = Invocation.Begin + Macro.size();
  Text.resize(Text.find('('));
}

// The operations of POSIX that the body of the macro names.
static unsigned operationsNamed(const MacroInfo *Macro) {
  return !Macro ? 0 : count_if(Macro->tokens(), [](const Token &T) {
    return T.getIdentifierInfo() && lockFunction(T.getIdentifierInfo()->getName());
  });
}

// The use of a macro that does more than to initialise a mutex, with the class of that.
std::optional<std::string> LockEdits::writtenOut(const CallExpr *Call, SourceLocation Body) {
  SourceLocation Use = S.SM.getExpansionLoc(Body);
  if (!S.range({Body, Body}) || operationsNamed(macroUsedAt(Use, S)) != 1)
    return std::nullopt;
  return expandOnce(Use,
                    {{S.SM.getSpellingLoc(Body), relockName("pthread_mutex_init")},
                     {S.SM.getSpellingLoc(Call->getRParenLoc()), ", RELOCK_CLASS($CLASS))"}},
                    S);
}

// bson_mutex_lock → bson_mutex_lock_relock
static std::string relockedName(StringRef Macro) {
  return (Macro + (any_of(Macro, isLowercase) ? "_relock" : "_RELOCK")).str();
}

// `check(pthread_mutex_lock(m) == 0)` in a macro: its body changes; or, where some of its users
// stay as they are, the others use a second macro, which stands behind the first one in each
// configuration. A macro that is no more than the function's name needs no second one.
bool LockEdits::operateThroughMacro(SourceLocation Body, StringRef Name, const std::string &Node) {
  auto Written = [&](SourceLocation L) { // also as another macro's argument
    while (L.isMacroID() && S.SM.isMacroArgExpansion(L))
      L = S.SM.getImmediateSpellingLoc(L);
    return L;
  };
  const SourceLocation Inner = Written(Body);
  if (Inner.isFileID())
    return false;
  const SourceLocation Use = Written(S.SM.getImmediateExpansionRange(Inner).getBegin());
  const StringRef Used = Lexer::getImmediateMacroName(Inner, S.SM, S.Language);
  const MacroInfo *Macro = S.macroAt(Used, S.SM.getExpansionLoc(Body));
  auto InBody = [&](const Token &T) { return T.getLocation() == S.SM.getSpellingLoc(Body); };
  if (!Macro || operationsNamed(Macro) != 1 || none_of(Macro->tokens(), InBody) ||
      !S.editable(Macro->getDefinitionLoc()) || !S.editable(Use))
    return false;
  const bool OnlyName = Macro->isObjectLike() && Macro->getNumTokens() == 1;
  const std::string Other = OnlyName ? relockName(Name) : relockedName(Used);
  const FileID Id = S.SM.getFileID(Macro->getDefinitionLoc());
  StringRef File = S.fileText(Id);
  auto All = definitionsOf(Used, File);
  // Another configuration may know the name as something else, or as nothing.
  if (!All || (OnlyName ? All->size() > 1 : File.contains(Other) || S.beginsMacro(Other)))
    return false;
  const std::string Place = tokenNode(S.spelled(Body));
  auto Add = [&](Position At, size_t Length, std::string Text, Edit::Place Where) {
    Facts.Edits.push_back({At, unsigned(Length), std::move(Text), Node, Where, Place});
  };
  if (S.inFile(Use))
    Out.edit(Use, Used.size(), Other, Node);
  else // all that the macro around it operates on
    Out.sharedEdit(Use, Used.size(), Other, Node);
  Facts.Edits.back().Where = Edit::AtUse;
  Facts.Edits.back().Macro = Place;
  if (!OnlyName)
    Facts.Edits.back().Use = Other;
  Add(S.spelled(Body), Name.size(), relockName(Name), Edit::InBody);
  if (OnlyName)
    return true;
  for (const WrittenMacro &D : *All) {
    StringRef Parameters = D.Head.drop_front(Used.size());
    std::string Text = File.slice(D.Begin, D.Name).str() + Other + Parameters.str();
    StringRef Rest = behindLongerHead(D.Body, Other.size() - Used.size());
    for (size_t At; (At = Rest.find(Name)) != StringRef::npos;
         Rest = Rest.drop_front(At + Name.size())) {
      const bool IsWord =
          !isAsciiIdentifierContinue(Rest.take_front(At).empty() ? ' ' : Rest[At - 1]) &&
          !Rest.drop_front(At + Name.size()).starts_with("_");
      Text += Rest.take_front(At).str() + (IsWord ? relockName(Name) : Name.str());
    }
    Add(S.position(Id, D.End), 0, "\n" + Text + Rest.str(), Edit::AtUse);
    Facts.Edits.back().Use = Other;
  }
  return true;
}

// A macro that does more than to initialise can serve locks of several classes.
bool LockEdits::initialiseThroughMacro(const CallExpr *Call, SourceLocation Body,
                                       bool OperandInFile, const std::string &Node) {
  SourceLocation Close = Call->getRParenLoc();
  if (!S.editable(Close) || Close.isFileID())
    return false;
  std::optional<std::string> Text = OperandInFile ? writtenOut(Call, Body) : std::nullopt;
  std::optional<ClassParameter> Parameter = classParameter(Body, Close, S);
  if (!Text && !Parameter)
    return false;
  const std::string Macro = tokenNode(S.spelled(Body)), Use = tokenNode(S.shown(Body));
  const StringRef Name = "pthread_mutex_init";
  if (Text) {
    std::optional<Source::Range> Range = S.range({Body, Body});
    Facts.Edits.push_back({S.position(Range->File, Range->Begin), Range->End - Range->Begin, *Text,
                           Node, Edit::WrittenOut, Macro, "", Use});
    Facts.Edits.push_back(
        {S.spelled(Body), unsigned(Name.size()), relockName(Name), Node, Edit::InBody, Macro});
  } else {
    Out.sharedEdit(Body, Name.size(), relockName(Name), Node);
  }
  Facts.Edits.push_back({S.spelled(Close), 0, ", NULL", Node, Edit::InBody, Macro});
  if (!Parameter)
    return true;
  for (Edit &E : Parameter->Edits) {
    E.Node = Node;
    E.Macro = Macro;
    Facts.Edits.push_back(std::move(E));
  }
  if (SourceLocation At = Parameter->NamedIn; At.isValid())
    Out.flow(Node, tokenNode(S.spelled(At)), Flow::NamingText, At);
  return true;
}

std::string LockEdits::argumentText(const Expr *Argument) {
  if (Argument->isNullPointerConstant(S.Context, Expr::NPC_ValueDependentIsNull))
    return "NULL";
  return S.expressionText(Argument->IgnoreParenImpCasts());
}

// True if the tokens are what one macro invocation in a file expands to, no more and no less
// (a `;` at the end of the macro apart).
bool LockEdits::exactInvocation(SourceRange Tokens) {
  SourceLocation Begin, End;
  if (Tokens.getBegin().isFileID() || Tokens.getEnd().isFileID() ||
      !Lexer::isAtStartOfMacroExpansion(Tokens.getBegin(), S.SM, S.Language, &Begin))
    return false;
  if (!Lexer::isAtEndOfMacroExpansion(Tokens.getEnd(), S.SM, S.Language, &End))
    return false;
  return Begin.isFileID() && End.isFileID() &&
         S.SM.getExpansionLoc(Tokens.getBegin()) == S.SM.getExpansionLoc(Tokens.getEnd());
}

} // namespace relock
