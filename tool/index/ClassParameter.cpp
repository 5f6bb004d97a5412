// SPDX-License-Identifier: MIT
#include "index/ClassParameter.h"

#include "clang/Lex/Lexer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace clang;
using namespace llvm;

namespace relock {
namespace {

constexpr StringRef Parameter = "lock_class";

// LOCK_INIT → LOCK_INIT_CLASS, LockInit → LockInitClass.
std::string withClass(StringRef Name) {
  if (none_of(Name, isLower))
    return (Name + "_CLASS").str();
  return (Name + (any_of(Name, isUpper) && !Name.contains('_') ? "Class" : "_class")).str();
}

class ParameterWriter {
public:
  explicit ParameterWriter(const Source &S) : S(S), SM(S.SM) {}

  std::optional<ClassParameter> write(SourceLocation Name, SourceLocation Behind) {
    const std::string Use = tokenNode(S.shown(Name));
    add(Behind, 0, (", " + Parameter).str());
    for (Name = written(Name); Name.isMacroID();) {
      const SourceLocation User = written(SM.getImmediateExpansionRange(Name).getBegin());
      const StringRef Old = identifier(User);
      const MacroInfo *Macro = S.macroAt(Old, User);
      if (!Macro || !takesParameter(Name, *Macro))
        return std::nullopt;
      if (isInFixedMacro(User))
        NamedIn = User;
      const bool Given = User.isMacroID() && NamedIn.isInvalid(); // by the macro that uses it
      const std::string Of = Given ? "" : Use;
      add(User, Old.size(), withClass(Old), Of);
      if (!insertArgument(User, Given ? Parameter.str() : "RELOCK_CLASS($CLASS)", Of))
        return std::nullopt;
      if (NamedIn.isValid())
        break;
      Name = User;
    }
    return Possible ? std::optional(ClassParameter{std::move(Edits), NamedIn}) : std::nullopt;
  }

private:
  const Source &S;
  const SourceManager &SM;
  std::vector<Edit> Edits;
  SourceLocation NamedIn;
  bool Possible = true;

  // `#define LIST_INIT lock_init(&list_lock)`
  bool isInFixedMacro(SourceLocation User) const {
    if (User.isFileID())
      return false;
    const SourceLocation Outer = written(SM.getImmediateExpansionRange(User).getBegin());
    const MacroInfo *Macro = S.macroAt(identifier(Outer), Outer);
    return Macro && Macro->isObjectLike();
  }

  // Where a token that is an argument of a macro was written.
  SourceLocation written(SourceLocation L) const {
    while (SM.isMacroArgExpansion(L))
      L = SM.getImmediateSpellingLoc(L);
    return L;
  }

  StringRef identifier(SourceLocation L) const {
    const SourceLocation At = SM.getSpellingLoc(L);
    return S.fileText(SM.getFileID(At)).substr(SM.getFileOffset(At), S.tokenLength(At));
  }

  void add(SourceLocation At, unsigned Length, std::string Text, std::string Use = "") {
    At = SM.getSpellingLoc(At);
    Possible &= S.editable(At);
    Edit E;
    E.At = S.spelled(At);
    E.Length = Length;
    E.Text = std::move(Text);
    E.Where = Edit::WithClass;
    E.Use = std::move(Use);
    Edits.push_back(std::move(E));
  }

  // Adds one to the list in parentheses that follows a name. False if there is no list.
  bool insertArgument(SourceLocation Name, const std::string &Text, const std::string &Use = "") {
    const SourceLocation At = SM.getSpellingLoc(Name);
    const FileID File = SM.getFileID(At);
    StringRef All = S.fileText(File);
    Lexer Raw(SM.getLocForStartOfFile(File), S.Language, All.begin(),
              All.begin() + SM.getFileOffset(At), All.end());
    Token Current;
    Raw.LexFromRawLexer(Current); // the name
    int Depth = 0;
    for (Token Last = Current; Current.isNot(tok::eof); Last = Current) {
      Raw.LexFromRawLexer(Current);
      if (Depth == 0 && Current.isNot(tok::l_paren))
        return false;
      Depth += Current.is(tok::l_paren);
      Depth -= Current.is(tok::r_paren);
      if (Depth == 0) {
        add(Last.getEndLoc(), 0, (Last.is(tok::l_paren) ? "" : ", ") + Text, Use);
        return true;
      }
    }
    return false;
  }

  // In the body of a macro.
  static unsigned callsOf(StringRef Name, const MacroInfo &Macro) {
    unsigned Calls = 0;
    for (const Token *T = Macro.tokens_begin(); T + 1 < Macro.tokens_end(); ++T)
      Calls += T->getIdentifierInfo() && T->getIdentifierInfo()->getName() == Name &&
               T[1].is(tok::l_paren);
    return Calls;
  }

  // Renames a macro, in whose body Name stands, with a parameter more; its name stays for others.
  bool takesParameter(SourceLocation Name, const MacroInfo &Macro) {
    const StringRef Named = identifier(Name);
    const SourceLocation At = Macro.getDefinitionLoc();
    if (!Macro.isFunctionLike() || Macro.isVariadic() || Macro.isBuiltinMacro() ||
        Macro.param_empty() || !S.editable(At) ||
        any_of(Macro.params(), [](const auto *P) { return P->getName() == Parameter; }) ||
        any_of(Macro.tokens(),
               [](const Token &T) {
                 return T.getIdentifierInfo() && T.getIdentifierInfo()->getName() == Parameter;
               }) ||
        callsOf(Named, Macro) != 1)
      return false;
    const StringRef Old = identifier(At);
    if (S.macroAt(withClass(Old), Name))
      return false;
    add(At, Old.size(), withClass(Old));
    if (!insertArgument(At, Parameter.str()))
      return false;
    const StringRef Text = S.fileText(SM.getFileID(At));
    const unsigned Offset = SM.getFileOffset(At);
    std::string Alias = "\n" + Text.take_front(Offset).rsplit('\n').second.str() + Old.str() + "(",
                Arguments;
    for (const IdentifierInfo *P : Macro.params())
      Arguments += P->getName().str() + ", ";
    Alias +=
        StringRef(Arguments).drop_back(2).str() + ") " + withClass(Old) + "(" + Arguments + "NULL)";
    add(endOfDefinition(Macro), 0, Alias);
    return true;
  }

  // Behind a comment that ends its last line.
  SourceLocation endOfDefinition(const MacroInfo &Macro) const {
    const SourceLocation Last = Macro.getDefinitionEndLoc();
    const FileID File = SM.getFileID(Last);
    StringRef All = S.fileText(File);
    Lexer Raw(SM.getLocForStartOfFile(File), S.Language, All.begin(),
              All.begin() + SM.getFileOffset(Last), All.end());
    Raw.SetCommentRetentionState(true);
    SourceLocation End;
    for (Token Current;; End = Current.getEndLoc()) {
      Raw.LexFromRawLexer(Current);
      if (End.isValid() && (Current.isAtStartOfLine() || Current.is(tok::eof)))
        return End;
    }
  }
};

} // namespace

std::optional<ClassParameter> classParameter(SourceLocation Callee, SourceLocation Behind,
                                             const Source &S) {
  return ParameterWriter(S).write(Callee, Behind);
}

} // namespace relock
