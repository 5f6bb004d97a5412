// SPDX-License-Identifier: MIT
//
// What is not compiled is known by its tokens only. It can move if it is plain: statements that
// stay within it, of variables, functions and types that are declared before the function, members,
// and what it declares itself. A name that means nothing here may be a variable of the function in
// the configuration that compiles the text, and holds the section; so does each way to leave it,
// and every call that names no function.
#include "section/Skipped.h"

#include "clang/AST/ASTContext.h"
#include "clang/Lex/Lexer.h"
#include "clang/Lex/MacroInfo.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringSet.h"

using namespace clang;
using namespace llvm;

namespace relock {
namespace {

class SkippedReader {
public:
  SkippedReader(const Range &Branch, const FunctionDecl *F, const Source &S,
                function_ref<bool(const FunctionDecl *)> Locks)
      : Branch(Branch), F(F), S(S), Locks(Locks), Begin(S.SM.getExpansionLoc(F->getBeginLoc())) {}

  std::optional<std::vector<const FunctionDecl *>> run() {
    lex();
    for (At = 0; At + 1 < Tokens.size() && Plain; ++At)
      read();
    return Plain && Blocks.empty() ? std::optional(std::move(Callees)) : std::nullopt;
  }

private:
  const Range &Branch;
  const FunctionDecl *F;
  const Source &S;
  function_ref<bool(const FunctionDecl *)> Locks;
  SourceLocation Begin; // of the function
  std::vector<Token> Tokens;
  size_t At = 0;
  bool Plain = true, Loop = false; // behind the head of a loop
  unsigned Parentheses = 0;
  std::vector<bool> Blocks; // the open ones; true: in a loop of this text
  StringSet<> Own;          // declared in this text
  SmallPtrSet<const MacroInfo *, 8> Seen;
  std::vector<const FunctionDecl *> Callees;

  // The tokens but for those of directives, and one more.
  void lex() {
    FileID File = S.SM.getFileID(F->getBody()->getBeginLoc());
    StringRef Text = S.fileText(File);
    Lexer Raw(S.SM.getLocForStartOfFile(File), S.Language, Text.begin(),
              Text.begin() + Branch.Begin, Text.end());
    Token Current;
    bool Directive = false;
    do {
      Raw.LexFromRawLexer(Current);
      if (Current.isAtStartOfLine())
        Directive = Current.is(tok::hash);
      bool Ends = Current.is(tok::eof) || S.SM.getFileOffset(Current.getLocation()) >= Branch.End;
      if (Ends)
        Current.setKind(tok::eof);
      if (Ends || !Directive)
        Tokens.push_back(Current);
    } while (Current.isNot(tok::eof));
  }

  tok::TokenKind kind(size_t I) const {
    if (Tokens[I].isNot(tok::raw_identifier))
      return Tokens[I].getKind();
    return S.Context.Idents.get(Tokens[I].getRawIdentifier()).getTokenID();
  }

  tok::TokenKind before() const { return At > 0 ? kind(At - 1) : tok::semi; }

  void read() {
    tok::TokenKind Kind = kind(At);
    Parentheses += Kind == tok::l_paren;
    Parentheses -= Kind == tok::r_paren && Parentheses;
    Loop &= Kind != tok::semi || Parentheses;
    if (Kind == tok::l_brace) {
      Blocks.push_back(Loop || (!Blocks.empty() && Blocks.back()));
      Loop = false;
    } else if (Kind == tok::r_brace) {
      Plain = !Blocks.empty();
      if (Plain)
        Blocks.pop_back();
    } else if (Tokens[At].is(tok::raw_identifier)) {
      if (before() == tok::period || before() == tok::arrow)
        Plain = kind(At + 1) != tok::l_paren;
      else if (Kind == tok::identifier)
        Plain = name(Tokens[At].getRawIdentifier());
      else
        Plain = keyword(Kind);
    }
  }

  bool keyword(tok::TokenKind Kind) {
    bool Head = Kind == tok::kw_for || Kind == tok::kw_while || Kind == tok::kw_do;
    Loop |= Head;
    if (Kind == tok::kw_break || Kind == tok::kw_continue)
      return !Blocks.empty() && Blocks.back();
    return type(Kind) || Head || Kind == tok::kw_if || Kind == tok::kw_else ||
           Kind == tok::kw_sizeof;
  }

  static bool type(tok::TokenKind Kind) {
    return is_contained({tok::kw_void, tok::kw_char, tok::kw_short, tok::kw_int, tok::kw_long,
                         tok::kw_signed, tok::kw_unsigned, tok::kw_float, tok::kw_double,
                         tok::kw__Bool, tok::kw_bool, tok::kw_const, tok::kw_struct, tok::kw_union,
                         tok::kw_enum},
                        Kind);
  }

  bool name(StringRef Name) {
    bool Label = kind(At + 1) == tok::colon &&
                 (before() == tok::semi || before() == tok::l_brace || before() == tok::r_brace);
    if (Label)
      return false;
    if (local(Name))
      return !declares();
    if (Own.contains(Name))
      return true;
    if (S.macroAt(Name, Tokens[At].getLocation()))
      return macro(Name);
    std::optional<bool> Known = global(Name);
    if (!Known && declares())
      Own.insert(Name);
    return Known ? *Known : Own.contains(Name);
  }

  // The captures see to the variables of the function.
  bool local(StringRef Name) const {
    return any_of(F->decls(), [&](const Decl *D) {
      const auto *V = dyn_cast<VarDecl>(D);
      return V && V->getIdentifier() && V->getName() == Name;
    });
  }

  // False: it must not be named; none: it is not declared before the function.
  std::optional<bool> global(StringRef Name) {
    for (const NamedDecl *D :
         S.Context.getTranslationUnitDecl()->lookup(&S.Context.Idents.get(Name))) {
      if (!S.SM.isBeforeInTranslationUnit(S.SM.getExpansionLoc(D->getLocation()), Begin) ||
          (isa<VarDecl>(D) && cast<VarDecl>(D)->getTLSKind() != VarDecl::TLS_None))
        return false;
      if (const auto *Callee = dyn_cast<FunctionDecl>(D)) {
        Callees.push_back(Callee);
        return !Locks(Callee);
      }
      return true;
    }
    return std::nullopt;
  }

  // True for `item *NAME =`.
  bool declares() const {
    tok::TokenKind Next = kind(At + 1);
    if (Next != tok::equal && Next != tok::semi && Next != tok::comma && Next != tok::l_square)
      return false;
    size_t I = At;
    while (I > 0 && kind(I - 1) == tok::star)
      --I;
    if (I == 0)
      return false;
    if (kind(I - 1) != tok::identifier)
      return type(kind(I - 1));
    if (I > 1 && is_contained({tok::kw_struct, tok::kw_union, tok::kw_enum}, kind(I - 2)))
      return true;
    StringRef Type = Tokens[I - 1].getRawIdentifier();
    auto Found = S.Context.getTranslationUnitDecl()->lookup(&S.Context.Idents.get(Type));
    return any_of(Found, [](const NamedDecl *D) { return isa<TypedefNameDecl>(D); });
  }

  // What the body of a macro names, parameters aside, must be as plain.
  bool macro(StringRef Name) {
    const MacroInfo *Macro = S.macroAt(Name, Tokens[At].getLocation());
    if ((Name == "assert" && S.inSystemHeader(Macro->getDefinitionLoc())) ||
        !Seen.insert(Macro).second)
      return true;
    if (!S.isSameMacro(Name, Tokens[At].getLocation(), Begin))
      return false;
    ArrayRef<Token> Body = Macro->tokens();
    for (size_t I = 0; I < Body.size(); ++I) {
      const IdentifierInfo *Part = Body[I].getIdentifierInfo();
      if (Body[I].isOneOf(tok::hash, tok::hashhash))
        return false;
      if (!Part || is_contained(Macro->params(), Part))
        continue;
      bool Member = I > 0 && Body[I - 1].isOneOf(tok::period, tok::arrow);
      bool Called = I + 1 < Body.size() && Body[I + 1].is(tok::l_paren);
      if (Member ? Called : !inMacro(*Part))
        return false;
    }
    return true;
  }

  bool inMacro(const IdentifierInfo &Part) {
    if (S.macroAt(Part.getName(), Tokens[At].getLocation()))
      return macro(Part.getName());
    tok::TokenKind Kind = Part.getTokenID();
    if (Kind != tok::identifier)
      return type(Kind) || Kind == tok::kw_sizeof || Kind == tok::kw_if || Kind == tok::kw_else;
    return !local(Part.getName()) && global(Part.getName()).value_or(false);
  }
};

} // namespace

std::optional<std::vector<const FunctionDecl *>>
readSkipped(const Range &Branch, const FunctionDecl *F, const Source &S,
            function_ref<bool(const FunctionDecl *)> Locks) {
  return SkippedReader(Branch, F, S, Locks).run();
}

} // namespace relock
