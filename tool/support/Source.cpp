// SPDX-License-Identifier: MIT
#include "support/Source.h"

#include "support/MacroText.h"

#include "clang/Basic/CharInfo.h"
#include "clang/Index/USRGeneration.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

#include <set>
#include <utility>

using namespace clang;
using namespace llvm;

namespace relock {

static std::string pathOf(const SourceManager &SM, FileID File) {
  OptionalFileEntryRef Entry = SM.getFileEntryRefForID(File);
  if (!Entry)
    return "";
  SmallString<256> Path(Entry->getFileEntry().tryGetRealPathName());
  if (Path.empty())
    Path = Entry->getName();
  SM.getFileManager().makeAbsolutePath(Path);
  sys::path::remove_dots(Path, /*remove_dot_dot=*/true);
  return std::string(Path);
}

static Position placeIn(const SourceManager &SM, FileID File, unsigned Offset) {
  Position P;
  P.File = pathOf(SM, File);
  P.Offset = Offset;
  P.Line = SM.getLineNumber(File, Offset);
  P.Column = SM.getColumnNumber(File, Offset);
  return P;
}

Position filePosition(const SourceManager &SM, SourceLocation L) {
  auto [File, Offset] = SM.getDecomposedLoc(L);
  return placeIn(SM, File, Offset);
}

std::string Source::filePath(FileID File) const { return pathOf(SM, File); }

Position Source::position(FileID File, unsigned Offset) const { return placeIn(SM, File, Offset); }

Position Source::shown(SourceLocation L) const { return filePosition(SM, SM.getExpansionLoc(L)); }

Position Source::spelled(SourceLocation L) const { return filePosition(SM, SM.getSpellingLoc(L)); }

bool Source::inFile(SourceLocation L) const {
  while (L.isMacroID()) {
    if (!SM.isMacroArgExpansion(L))
      return false;
    L = SM.getImmediateSpellingLoc(L);
  }
  return L.isValid();
}

// A `##` between a comma and the rest of the arguments pastes nothing: where there are none, it
// drops the comma.
static bool dropsComma(const MacroInfo &Macro, size_t I) {
  ArrayRef<Token> Body = Macro.tokens();
  return Macro.isVariadic() && I > 0 && I + 1 < Body.size() && Body[I].is(tok::hashhash) &&
         Body[I - 1].is(tok::comma) &&
         Macro.getParameterNum(Body[I + 1].getIdentifierInfo()) == int(Macro.getNumParams()) - 1;
}

static bool makesTextAt(const MacroInfo &Macro, size_t I) {
  return Macro.tokens()[I].isOneOf(tok::hash, tok::hashat, tok::hashhash) && !dropsComma(Macro, I);
}

namespace {

// Whether parameters of a macro become text, or parts of names, by the body or by the macros to
// which it gives them.
class TextOfParameters {
public:
  TextOfParameters(const Source &S, SourceLocation Use) : S(S), Use(Use) {}

  // Of the parameters from First to before End. What cannot be told is text.
  bool made(const MacroInfo &Macro, unsigned First, unsigned End) {
    if (!Seen.insert({&Macro, First}).second)
      return false; // a macro is not used again in its own text
    SmallVector<Call, 4> Calls;
    const MacroInfo *Closed = nullptr; // the macro whose arguments end at the token before
    for (size_t I = 0; I < Macro.getNumTokens(); ++I) {
      const Token &T = Macro.getReplacementToken(I);
      const MacroInfo *Before = std::exchange(Closed, nullptr);
      if (T.is(tok::l_paren)) {
        Calls.push_back(callAt(Macro, I, Before));
      } else if (T.is(tok::r_paren)) {
        if (Calls.empty())
          return true;
        Closed = Calls.pop_back_val().Callee;
      } else if (T.is(tok::comma) && !Calls.empty()) {
        ++Calls.back().Argument;
      } else if (int P = Macro.getParameterNum(T.getIdentifierInfo()); P >= 0) {
        if (unsigned(P) >= First && unsigned(P) < End && (isText(Macro, I) || given(Calls)))
          return true;
      } else if (T.is(tok::identifier) && !balanced(Macro, I)) {
        return true;
      }
    }
    return !Calls.empty();
  }

private:
  struct Call {
    const MacroInfo *Callee = nullptr;
    bool Known = true; // what is called
    unsigned Argument = 0;
  };

  const Source &S;
  SourceLocation Use;
  std::set<std::pair<const MacroInfo *, unsigned>> Seen;

  const MacroInfo *macro(const Token &T) const {
    const IdentifierInfo *Name = T.getIdentifierInfo();
    return Name ? S.macroAt(Name->getName(), Use) : nullptr;
  }

  static bool isText(const MacroInfo &Macro, size_t I) {
    return (I > 0 && makesTextAt(Macro, I - 1)) ||
           (I + 1 < Macro.getNumTokens() && makesTextAt(Macro, I + 1));
  }

  // What a macro makes may be the name of another one, as in `SELECT(n)(x)`.
  Call callAt(const MacroInfo &Macro, size_t Open, const MacroInfo *Closed) const {
    Call Result;
    Result.Known = !Closed;
    if (Open == 0 || !Macro.getReplacementToken(Open - 1).getIdentifierInfo())
      return Result;
    if (isText(Macro, Open - 1)) {
      Result.Known = pastesNoMacro(Macro, Open - 1);
      return Result;
    }
    const Token &Name = Macro.getReplacementToken(Open - 1);
    Result.Callee = macro(Name);
    Result.Known = Macro.getParameterNum(Name.getIdentifierInfo()) < 0 &&
                   Name.getIdentifierInfo()->getName() != "__VA_OPT__" &&
                   (!Result.Callee || Result.Callee->isFunctionLike());
    return Result;
  }

  // True if no macro begins with the name that what is pasted there begins with, as in
  // `kh_put_##name(h)`.
  bool pastesNoMacro(const MacroInfo &Macro, size_t Last) const {
    while (Last > 1 && Macro.getReplacementToken(Last - 1).is(tok::hashhash))
      Last -= 2;
    const IdentifierInfo *First = Macro.getReplacementToken(Last).getIdentifierInfo();
    return First && Macro.getParameterNum(First) < 0 && !S.beginsMacro(First->getName());
  }

  // An argument before may be several: all parameters from its place on count.
  bool given(ArrayRef<Call> Calls) {
    return any_of(Calls, [&](const Call &C) {
      unsigned Count = C.Callee ? C.Callee->getNumParams() : 0;
      return !C.Known || (Count && made(*C.Callee, std::min(C.Argument, Count - 1), Count));
    });
  }

  // False if the name may bring a parenthesis, or take what follows as its arguments.
  bool balanced(const MacroInfo &Macro, size_t I) const {
    const Token &Name = Macro.getReplacementToken(I);
    const MacroInfo *Inner = macro(Name);
    if (!Inner)
      return true;
    if (Inner->isFunctionLike())
      return I + 1 < Macro.getNumTokens() && Macro.getReplacementToken(I + 1).is(tok::l_paren);
    return none_of(Inner->tokens(),
                   [](const Token &T) { return T.isOneOf(tok::l_paren, tok::r_paren); }) ||
           !S.makesText(Name.getIdentifierInfo()->getName(), Use);
  }
};

} // namespace

// True if the macro in whose argument L is makes text of that.
static bool makesTextOfArgument(const Source &S, SourceLocation L, SourceLocation Use) {
  SourceLocation Parameter = S.SM.getImmediateExpansionRange(L).getBegin(); // in the body's text
  if (!Parameter.isMacroID())
    return true;
  SourceLocation At = S.SM.getSpellingLoc(S.SM.getImmediateExpansionRange(Parameter).getBegin());
  StringRef Name(S.SM.getCharacterData(At), S.tokenLength(At));
  Parameter = S.SM.getSpellingLoc(Parameter);
  const MacroInfo *Macro = S.macroAt(Name, Use);
  for (const Token &T : Macro ? Macro->tokens() : ArrayRef<Token>())
    if (int P = Macro->getParameterNum(T.getIdentifierInfo());
        P >= 0 && T.getLocation() == Parameter)
      return TextOfParameters(S, Use).made(*Macro, P, P + 1);
  return !Macro || S.makesText(Name, Use);
}

bool Source::stringified(SourceLocation L) const {
  SourceLocation Use = SM.getExpansionLoc(L);
  while (L.isMacroID()) {
    bool Argument = SM.isMacroArgExpansion(L);
    if (!PP || (Argument ? makesTextOfArgument(*this, L, Use)
                         : makesText(Lexer::getImmediateMacroName(L, SM, Language), Use)))
      return true;
    L = Argument ? SM.getImmediateSpellingLoc(L) : SM.getImmediateExpansionRange(L).getBegin();
  }
  return false;
}

bool Source::makesText(StringRef Macro, SourceLocation Use) const {
  StringSet<> Seen;
  auto HasHash = [&](StringRef Name) {
    const MacroInfo *Body = macroAt(Name, Use);
    return Body && any_of(seq<size_t>(0, Body->getNumTokens()),
                          [&](size_t I) { return makesTextAt(*Body, I); });
  };
  return !nameReached(Macro, Use, HasHash, Seen).empty();
}

StringRef Source::nameReached(StringRef Name, SourceLocation Use,
                              function_ref<bool(StringRef)> Test, StringSet<> &Seen) const {
  if (!Seen.insert(Name).second)
    return "";
  if (Test(Name))
    return Name;
  const MacroInfo *Macro = macroAt(Name, Use);
  for (const Token &T : Macro ? Macro->tokens() : ArrayRef<Token>())
    if (const IdentifierInfo *Inner = T.getIdentifierInfo())
      if (StringRef Found = nameReached(Inner->getName(), Use, Test, Seen); !Found.empty())
        return Found;
  return "";
}

bool Source::beginsMacro(StringRef Prefix) const {
  if (!PP)
    return true;
  if (!MacroNames) {
    MacroNames.emplace();
    for (const auto &[Name, State] : PP->macros())
      MacroNames->push_back(Name->getName());
    sort(*MacroNames);
  }
  auto Next = lower_bound(*MacroNames, Prefix);
  return Next != MacroNames->end() && Next->starts_with(Prefix);
}

const MacroInfo *Source::macroAt(StringRef Name, SourceLocation L) const {
  const IdentifierInfo *Identifier = PP ? PP->getIdentifierInfo(Name) : nullptr;
  const MacroDirective *History =
      Identifier ? PP->getLocalMacroDirectiveHistory(Identifier) : nullptr;
  if (!History)
    return nullptr;
  MacroDirective::DefInfo Found =
      const_cast<MacroDirective *>(History)->findDirectiveAtLoc(SM.getExpansionLoc(L), SM);
  return Found.isValid() ? Found.getMacroInfo() : nullptr;
}

bool Source::isSameMacro(StringRef Name, SourceLocation A, SourceLocation B) const {
  const MacroInfo *There = macroAt(Name, A), *Here = macroAt(Name, B);
  return There == Here ||
         (There && Here && There->isIdenticalTo(*Here, *PP, /*Syntactically=*/false));
}

bool Source::readOnce(SourceLocation L) const {
  OptionalFileEntryRef File = SM.getFileEntryRefForID(SM.getFileID(L));
  return PP && File && PP->getHeaderSearchInfo().isFileMultipleIncludeGuarded(*File);
}

bool Source::inSystemHeader(SourceLocation L) const {
  return L.isInvalid() || SM.isInSystemHeader(SM.getSpellingLoc(L));
}

bool Source::sameFile(SourceLocation A, SourceLocation B) const {
  return SM.getFileID(SM.getExpansionLoc(A)) == SM.getFileID(SM.getExpansionLoc(B));
}

bool Source::editable(SourceLocation L) const {
  SourceLocation Spelling = SM.getSpellingLoc(L);
  return SM.getFileEntryRefForID(SM.getFileID(Spelling)) && !SM.isInSystemHeader(Spelling);
}

std::optional<Source::Range> Source::range(SourceRange Tokens) const {
  CharSourceRange Chars = SM.getExpansionRange(Tokens);
  if (Chars.isInvalid())
    return std::nullopt;
  auto [BeginFile, Begin] = SM.getDecomposedLoc(Chars.getBegin());
  auto [EndFile, End] = SM.getDecomposedLoc(Chars.getEnd());
  if (BeginFile != EndFile)
    return std::nullopt;
  if (Chars.isTokenRange())
    End += Lexer::MeasureTokenLength(Chars.getEnd(), SM, Language);
  if (End < Begin)
    return std::nullopt;
  return Range{BeginFile, Begin, End};
}

StringRef Source::fileText(FileID File) const { return SM.getBufferData(File); }

StringRef Source::text(const Range &R) const {
  return fileText(R.File).substr(R.Begin, R.End - R.Begin);
}

unsigned Source::tokenLength(SourceLocation L) const {
  return Lexer::MeasureTokenLength(SM.getSpellingLoc(L), SM, Language);
}

// `(s)->lock`, as a macro's parameter leaves it: `s->lock`.
static std::string withoutNeedlessParentheses(std::string Text) {
  for (size_t Open = Text.find('('); Open != std::string::npos; Open = Text.find('(', Open + 1)) {
    size_t Close = Open + 1;
    while (Close < Text.size() && isAsciiIdentifierContinue(Text[Close]))
      ++Close;
    bool Name = Close > Open + 1 && StringRef(Text).substr(Close).starts_with(")->");
    bool Call = Open > 0 && (isAsciiIdentifierContinue(Text[Open - 1]) || Text[Open - 1] == ')');
    if (Name && !Call)
      Text =
          Text.substr(0, Open) + Text.substr(Open + 1, Close - Open - 1) + Text.substr(Close + 1);
  }
  return Text;
}

std::string Source::expressionText(const Expr *E) const {
  SourceRange Tokens(E->getBeginLoc(), E->getEndLoc());
  // Not where a macro puts two of its arguments together.
  CharSourceRange Whole =
      Lexer::makeFileCharRange(CharSourceRange::getTokenRange(Tokens), SM, Language);
  if (Whole.isValid())
    return Lexer::getSourceText(Whole, SM, Language).str();
  if (std::optional<std::string> Text = textInMacro(Tokens, *this))
    return withoutNeedlessParentheses(*Text);
  std::string Printed;
  raw_string_ostream OS(Printed);
  PrintingPolicy Policy(Language);
  Policy.SuppressImplicitBase = true;
  E->printPretty(OS, nullptr, Policy);
  return withoutNeedlessParentheses(Printed);
}

const NamedDecl *declaredWith(const RecordDecl *Record) {
  if (Record->getIdentifier() || Record->getTypedefNameForAnonDecl())
    return nullptr;
  const auto *With = dyn_cast_or_null<NamedDecl>(Record->getNextDeclInContext());
  return With && With->getIdentifier() ? With : nullptr;
}

const RecordDecl *recordOf(const FieldDecl *Field) {
  const RecordDecl *Record = Field->getParent();
  while (Record->isAnonymousStructOrUnion() && isa<RecordDecl>(Record->getDeclContext()))
    Record = cast<RecordDecl>(Record->getDeclContext());
  return Record;
}

// Types without a name, and their members, are known by the way from a declaration that has one:
// Clang would tell them apart by offsets in a file. Empty for all others.
static std::string nodeInUnnamed(const Decl *D, const Source &S) {
  const auto *Field = dyn_cast<FieldDecl>(D);
  const auto *Record = Field ? recordOf(Field) : dyn_cast<RecordDecl>(D);
  const NamedDecl *With = Record ? declaredWith(Record) : nullptr;
  if (!With)
    return "";
  return nodeFor(With, S) + "@S" + (Field ? "@FI@" + Field->getNameAsString() : "");
}

// Two structs of one tag, of two source files, are one type where their members have the same
// names, else two. Empty for what is no part of such a struct.
static std::string membersOf(const Decl *D, const Source &S) {
  const auto *Field = dyn_cast<FieldDecl>(D);
  const auto *Record = Field ? recordOf(Field) : dyn_cast<RecordDecl>(D);
  const RecordDecl *Defined = Record ? Record->getDefinition() : nullptr;
  if (!Defined || !StringRef(S.spelled(Defined->getLocation()).File).ends_with(".c"))
    return "";
  std::string Names;
  for (const FieldDecl *Member : Defined->fields())
    Names += Member->getNameAsString() + ",";
  return "~" + utohexstr(xxh3_64bits(Names));
}

std::string nodeFor(const Decl *D, const Source &S) {
  if (const auto *Parameter = dyn_cast<ParmVarDecl>(D))
    if (const auto *F = dyn_cast<FunctionDecl>(Parameter->getDeclContext()))
      return parameterNode(nodeFor(F, S), Parameter->getFunctionScopeIndex());
  if (std::string Node = nodeInUnnamed(D, S); !Node.empty())
    return Node;
  SmallString<128> Usr;
  if (index::generateUSRForDecl(D, Usr)) {
    Position At = S.spelled(D->getLocation());
    return "D:" + At.File.str() + ":" + std::to_string(At.Offset);
  }
  const auto *Named = dyn_cast<NamedDecl>(D);
  // A type that a source file declares for itself is that file's own.
  bool Type = isa<FieldDecl>(D) || isa<TypedefNameDecl>(D) || isa<RecordDecl>(D);
  bool Everywhere = (Named && Named->hasExternalFormalLinkage()) ||
                    (Type && !StringRef(S.spelled(D->getLocation()).File).ends_with(".c"));
  if (Everywhere && Usr.str().starts_with("c:@")) {
    auto [Record, Field] = Usr.str().rsplit("@FI@");
    return (Record + membersOf(D, S) + (Field.empty() ? "" : "@FI@" + Field)).str();
  }
  return std::string(Usr) + "@" + S.spelled(D->getCanonicalDecl()->getLocation()).File.str();
}

std::string nodeOfFunction(StringRef Name) { return ("c:@F@" + Name).str(); }

bool contains(const Stmt *Statement, const Stmt *Inner) {
  return Statement == Inner || any_of(Statement->children(), [&](const Stmt *Child) {
           return Child && contains(Child, Inner);
         });
}

bool isFloat(QualType Type) {
  if (Type.isNull()) // of an initialiser as it is written
    return false;
  const QualType Pointee = Type->getPointeeType();
  return Type->hasFloatingRepresentation() ||
         (!Pointee.isNull() && Pointee->hasFloatingRepresentation());
}

const ValueDecl *storedDeclaration(const Expr *E) {
  E = E->IgnoreParenCasts();
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
    return Ref->getDecl();
  if (const auto *Member = dyn_cast<MemberExpr>(E))
    return Member->getMemberDecl();
  if (const auto *Subscript = dyn_cast<ArraySubscriptExpr>(E);
      Subscript && Subscript->getBase()->IgnoreParenImpCasts()->getType()->isArrayType())
    return storedDeclaration(Subscript->getBase());
  return nullptr;
}

std::string recordNode(QualType T, const Source &S) {
  const auto *Record = T->getAs<RecordType>();
  return Record ? "S:" + nodeFor(Record->getDecl(), S) : "";
}

std::string parameterNode(StringRef FunctionNode, unsigned Index) {
  return ("P:" + FunctionNode + "#" + Twine(Index)).str();
}

std::string pointerParameter(StringRef FunctionType, unsigned Index) {
  return parameterNode(("(" + FunctionType + ")").str(), Index);
}

std::optional<std::string> typeOfPointerParameter(StringRef Node) {
  if (!Node.consume_front("P:(") || !Node.contains(")#"))
    return std::nullopt;
  return Node.rsplit(")#").first.str();
}

std::string resultNode(StringRef FunctionNode) { return ("R:" + FunctionNode).str(); }

std::string tokenNode(const Position &At) {
  return "T:" + At.File.str() + ":" + std::to_string(At.Offset);
}

} // namespace relock
