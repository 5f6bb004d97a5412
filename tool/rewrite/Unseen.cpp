// SPDX-License-Identifier: MIT
#include "rewrite/Unseen.h"

#include "section/Section.h"

#include "clang/Basic/IdentifierTable.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Regex.h"

#include <set>

using namespace clang;
using namespace llvm;

namespace relock {
namespace {

struct Piece {
  size_t Begin, End;
  tok::TokenKind Kind; // keywords are told apart
  bool StartsLine;
};

std::vector<Piece> tokensOf(StringRef Text) {
  std::vector<Piece> Result;
  LangOptions C;
  C.C99 = C.C11 = true;
  IdentifierTable Words(C);
  Lexer Raw(SourceLocation(), C, Text.begin(), Text.begin(), Text.end());
  Token Next;
  for (Raw.LexFromRawLexer(Next); Next.isNot(tok::eof); Raw.LexFromRawLexer(Next)) {
    size_t End = Raw.getBufferLocation() - Text.begin();
    tok::TokenKind Kind = Next.is(tok::raw_identifier)
                              ? Words.get(Next.getRawIdentifier()).getTokenID()
                              : Next.getKind();
    Result.push_back({End - Next.getLength(), End, Kind, Next.isAtStartOfLine()});
  }
  return Result;
}

// Finds what is to be hidden.
class Finder {
public:
  struct Found {
    Range At;
    bool Type; // stands for a type
  };

  Finder(StringRef Text, StringRef Names) : Text(Text), Names(Names), Tokens(tokensOf(Text)) {}

  std::vector<Found> run() {
    for (size_t I = 0; I < Tokens.size();)
      I = read(I);
    return std::move(Result);
  }

private:
  StringRef Text;
  Regex Names;
  std::vector<Piece> Tokens;
  std::vector<Found> Result;
  int Depth = 0;
  std::vector<int> Branches; // the depth at each #if that is open
  bool Fresh = true;         // a field or statement may begin here

  StringRef spelling(size_t I) const { return Text.slice(Tokens[I].Begin, Tokens[I].End); }
  tok::TokenKind kind(size_t I) const { return I < Tokens.size() ? Tokens[I].Kind : tok::eof; }
  bool startsLine(size_t I) const { return I >= Tokens.size() || Tokens[I].StartsLine; }

  size_t endOfLine(size_t I) const {
    for (++I; !startsLine(I);)
      ++I;
    return I;
  }

  void hide(size_t First, size_t End, bool Type) {
    for (size_t I = First; I < End; ++I)
      if (Tokens[I].Kind == tok::identifier && Names.match(spelling(I)))
        return;
    Result.push_back({{unsigned(Tokens[First].Begin), unsigned(Tokens[End - 1].End)}, Type});
  }

  size_t read(size_t I) {
    if (kind(I) == tok::hash && startsLine(I))
      return directive(I);
    bool Begins = Fresh;
    Fresh = kind(I) == tok::l_brace || kind(I) == tok::r_brace || kind(I) == tok::semi;
    Depth += kind(I) == tok::l_brace;
    Depth -= kind(I) == tok::r_brace;
    if (kind(I) != tok::identifier || Depth <= 0 || !Begins)
      return I + 1;
    size_t End = pastArguments(I + 1);
    bool OwnLine = startsLine(I) && startsLine(End) && kind(End) != tok::l_brace;
    bool StandsForType = End > I + 1 && kind(End) == tok::identifier &&
                         (kind(End + 1) == tok::semi || kind(End + 1) == tok::l_square ||
                          kind(End + 1) == tok::comma);
    if (OwnLine ? !continues(kind(End)) : StandsForType)
      hide(I, End, !OwnLine);
    Fresh = OwnLine;
    return End;
  }

  // What goes on with the line before.
  static bool continues(tok::TokenKind Kind) {
    return Kind != tok::identifier && Kind != tok::hash && Kind != tok::r_brace &&
           !tok::getKeywordSpelling(Kind);
  }

  size_t pastArguments(size_t I) const {
    if (kind(I) != tok::l_paren)
      return I;
    int Open = 0;
    for (; I < Tokens.size(); ++I) {
      Open += kind(I) == tok::l_paren;
      Open -= kind(I) == tok::r_paren;
      if (Open == 0)
        return I + 1;
    }
    return I;
  }

  size_t directive(size_t I) {
    size_t End = endOfLine(I);
    StringRef Word = I + 1 < End ? spelling(I + 1) : "";
    if (Word.starts_with("if"))
      Branches.push_back(Depth);
    else if (Word.starts_with("el") && !Branches.empty())
      Depth = Branches.back();
    else if (Word == "endif" && !Branches.empty())
      Branches.pop_back();
    else if (Depth > 0 && (Word == "define" || Word == "undef"))
      hide(I, End, false);
    return End;
  }
};

// Not how a comment of the user's begins, `/*relock: suppress …`.
constexpr StringRef Marker = "/*relock-hides:";

std::string marker(size_t I) { return (Marker + Twine(I) + "*/").str(); }

} // namespace

std::vector<NamedPlace> namesIn(StringRef Text, StringRef Names) {
  std::vector<NamedPlace> Result;
  Regex Wanted(Names);
  unsigned Line = 1;
  size_t Counted = 0, LineBegin = 0;
  for (const Piece &T : tokensOf(Text)) {
    StringRef Name = Text.slice(T.Begin, T.End);
    if (T.Kind != tok::identifier || !Wanted.match(Name))
      continue;
    StringRef Between = Text.slice(Counted, T.Begin);
    Line += Between.count('\n');
    if (size_t Newline = Between.rfind('\n'); Newline != StringRef::npos)
      LineBegin = Counted + Newline + 1;
    Counted = T.Begin;
    Result.push_back({Line, unsigned(T.Begin - LineBegin) + 1, Name.str()});
  }
  return Result;
}

HiddenText::HiddenText(StringRef Text, StringRef Names, bool InPlace) : InPlace(InPlace) {
  std::set<std::string> Declared;
  for (const NamedPlace &N : namesIn(Text, Names))
    if (!InPlace && StringRef(N.Name).ends_with("_t"))
      Declared.insert(N.Name);
  if (!Declared.empty())
    Types = "typedef int " + join(Declared, ", ") + ";\n";
  Shown = Types;
  size_t Done = 0;
  for (const Finder::Found &F : Finder(Text, Names).run()) {
    StringRef Hidden = Text.slice(F.At.Begin, F.At.End);
    Shown += Text.slice(Done, F.At.Begin);
    Done = F.At.End;
    if (F.Type)
      Shown += "int";
    if (InPlace)
      for (char C : Hidden.drop_front(F.Type ? 3 : 0))
        Shown += C == '\n' ? '\n' : ' ';
    else
      Shown += marker(Pieces.size());
    Pieces.push_back({F.Type, Hidden.str()});
  }
  Shown += Text.substr(Done);
}

std::optional<std::string> HiddenText::restore(StringRef Changed) const {
  std::string Result;
  if (InPlace)
    return Changed.str();
  if (!Types.empty())
    Changed = Changed.split('\n').second;
  for (size_t I = 0; I < Pieces.size(); ++I) {
    auto [Before, After] = Changed.split((Pieces[I].Type ? "int" : "") + marker(I));
    if (Before.size() == Changed.size())
      return std::nullopt;
    Result += Before;
    Result += Pieces[I].Text;
    Changed = After;
  }
  if (Changed.contains(Marker))
    return std::nullopt;
  return Result + Changed.str();
}

} // namespace relock
