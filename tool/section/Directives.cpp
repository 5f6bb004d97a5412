// SPDX-License-Identifier: MIT
//
// A section's text moves with the conditions in it. What this configuration does compile may be
// missing elsewhere: then the section does less, which is sound if its function still has its form,
// and the context names nothing that exists under that condition only. What it does not compile is
// for section/Skipped.cpp to judge.
#include "section/Directives.h"

#include "index/Configuration.h"
#include "index/OtherSystems.h"
#include "section/Nest.h"

#include "clang/Basic/CharInfo.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace clang;
using namespace llvm;

namespace relock {

static bool lies(unsigned Offset, const std::vector<Range> &Branches) {
  return any_of(Branches, [&](const Range &B) { return Offset >= B.Begin && Offset < B.End; });
}

// The word of a directive; none: the line is no directive.
static std::optional<StringRef> directiveOf(StringRef Line) {
  Line = Line.ltrim();
  if (!Line.consume_front("#"))
    return std::nullopt;
  return Line.ltrim().take_while([](char C) { return isAlpha(C); });
}

static bool opens(StringRef Word) { return Word == "if" || Word == "ifdef" || Word == "ifndef"; }
static bool continues(StringRef Word) { return Word == "else" || Word.starts_with("elif"); }

// Where the line ends, without its newline.
static unsigned endOfLine(StringRef File, unsigned At) {
  return std::min(File.find('\n', At), File.size());
}

std::optional<std::vector<Range>> conditionalBranches(StringRef File, const Range &Part) {
  std::vector<Range> Branches;
  std::vector<unsigned> Open; // where the branch of each open group begins
  for (unsigned At = Part.Begin, End; At < Part.End; At = End + 1) {
    End = endOfLine(File, At);
    StringRef Line = File.slice(At, End);
    std::optional<StringRef> Word = directiveOf(Line);
    if (!Word)
      continue;
    bool Known = opens(*Word) || ((continues(*Word) || *Word == "endif") && !Open.empty());
    if (!Known || Line.rtrim().ends_with("\\"))
      return std::nullopt;
    if (!opens(*Word)) {
      Branches.push_back({Open.back(), At});
      Open.pop_back();
    }
    if (*Word != "endif")
      Open.push_back(End + 1);
  }
  return Open.empty() ? std::optional(Branches) : std::nullopt;
}

namespace {
struct NameInText {
  unsigned At;
  std::string Type; // that it is declared with there: words, `*`s, `[`
};
} // namespace

// Where a text declares a name: `unsigned long *name;`, `int other, name = 1;`.
static std::vector<NameInText> declarationsIn(StringRef File, const Range &Part, StringRef Name,
                                              const LangOptions &Language) {
  Lexer Raw(SourceLocation::getFromRawEncoding(1), Language, File.begin(),
            File.begin() + Part.Begin, File.end());
  std::vector<Token> Words; // but those of directives
  bool Directive = false;
  Token Next;
  for (Raw.LexFromRawLexer(Next);
       Next.isNot(tok::eof) && Raw.getBufferLocation() <= File.begin() + Part.End;
       Raw.LexFromRawLexer(Next)) {
    if (Next.isAtStartOfLine())
      Directive = Next.is(tok::hash);
    if (!Directive)
      Words.push_back(Next);
  }
  auto IsWord = [&](size_t I) { return Words[I].is(tok::raw_identifier); };
  auto TextOf = [&](size_t I) { return Words[I].getRawIdentifier(); };
  // The words of the type that end before Words[End]; empty: it is none.
  auto TypeBefore = [&](size_t End) {
    size_t Begin = End;
    while (Begin > 0 && IsWord(Begin - 1))
      --Begin;
    std::string Type;
    for (size_t I = Begin; I < End; ++I)
      if (is_contained({"return", "case", "goto", "sizeof", "else", "do"}, TextOf(I)))
        return std::string();
      else if (!is_contained({"const", "register", "static", "volatile", "restrict"}, TextOf(I)))
        Type += TextOf(I).str() + " ";
    return Type;
  };
  std::vector<NameInText> Result;
  for (size_t I = 1; I + 1 < Words.size(); ++I) {
    if (!IsWord(I) || TextOf(I) != Name ||
        !Words[I + 1].isOneOf(tok::semi, tok::equal, tok::comma, tok::r_paren, tok::l_square))
      continue;
    size_t First = I;
    while (First > 0 && Words[First - 1].is(tok::star))
      --First;
    const std::string Stars(I - First, '*');
    std::string Type = TypeBefore(First);
    if (Type.empty() && First > 0 && Words[First - 1].is(tok::comma)) {
      // From the begin of the statement, through what looks like a type and a name.
      size_t Begin = First - 1;
      while (Begin > 0 &&
             !Words[Begin - 1].isOneOf(tok::semi, tok::l_brace, tok::r_brace, tok::l_paren))
        --Begin;
      size_t End = Begin;
      while (End < First && IsWord(End))
        ++End;
      if (End < First && Words[End].is(tok::star))
        Type = TypeBefore(End);
      else if (End > Begin + 1)
        Type = TypeBefore(End - 1);
      if (Begin > 0 && Words[Begin - 1].is(tok::l_paren))
        Type.clear(); // of a call
    }
    if (!Type.empty())
      Result.push_back({unsigned(Words[I].getLocation().getRawEncoding() - 1),
                        Type + Stars + (Words[I + 1].is(tok::l_square) ? "[" : "")});
  }
  return Result;
}

bool declaredOtherwise(StringRef File, const Range &Function, unsigned At, StringRef Name,
                       const LangOptions &Language) {
  struct Group {
    unsigned Begin;
    std::vector<Range> Branches; // that Linux may compile
    unsigned Branch;             // where the one begins that is looked at
    bool Possible, Decided;
  };
  std::vector<Group> Open;
  auto BeginBranch = [](Group &G, StringRef Line, unsigned Begin) {
    const std::optional<bool> Value = valueOnLinux(Line);
    G.Branch = Begin;
    G.Possible = !G.Decided && Value != false;
    G.Decided |= Value == true;
  };
  for (unsigned Begin = 0, End; Begin < File.size(); Begin = End + 1) {
    End = endOfLine(File, Begin);
    const StringRef Line = File.slice(Begin, End);
    const std::optional<StringRef> Word = directiveOf(Line);
    if (!Word || (Open.empty() && Begin >= Function.End))
      continue;
    if (opens(*Word)) {
      Open.push_back({Begin, {}, 0, true, false});
      BeginBranch(Open.back(), Line, End + 1);
      continue;
    }
    if (Open.empty() || (!continues(*Word) && *Word != "endif"))
      continue;
    Group &G = Open.back();
    const Range Branch = {G.Branch, Begin};
    if (G.Possible || (Branch.Begin <= At && At < Branch.End))
      G.Branches.push_back(Branch);
    if (continues(*Word)) {
      BeginBranch(G, *Word == "else" ? "" : Line, End + 1);
      continue;
    }
    if (G.Begin < At && At < Begin && (G.Begin >= Function.Begin || End <= Function.End)) {
      std::string Own;
      std::vector<NameInText> Others;
      for (const Range &B : G.Branches)
        for (const NameInText &D : declarationsIn(File, B, Name, Language))
          if (D.At == At)
            Own = D.Type;
          else if (At < B.Begin || B.End <= At)
            Others.push_back(D);
      if (any_of(Others, [&](const NameInText &D) { return D.Type != Own; }))
        return true;
    }
    Open.pop_back();
  }
  return false;
}

// `#ifdef X` and `#else`, with nothing between: `#ifndef X`.
static std::string inOneLine(StringRef Group) {
  auto [First, Rest] = Group.split('\n');
  StringRef Word = directiveOf(First).value_or("");
  StringRef Name = StringRef(Word.end(), First.end() - Word.end());
  if (directiveOf(Rest) != StringRef("else") || Rest.count('\n') != 1 ||
      (Word != "ifdef" && Word != "ifndef") || !isValidAsciiIdentifier(Name.trim()))
    return Group.str();
  return (First.take_front(Word.data() - First.data()) + (Word == "ifdef" ? "ifndef" : "ifdef") +
          Name + "\n")
      .str();
}

std::optional<OpenConditions> openConditions(StringRef File, const Range &Part) {
  std::vector<std::string> Groups; // the lines of each
  for (StringRef Line : split(File.slice(Part.Begin, Part.End), '\n')) {
    Line = Line.trim();
    StringRef Word = directiveOf(Line).value_or("");
    if ((opens(Word) || continues(Word)) && Line.ends_with("\\"))
      return std::nullopt;
    if (opens(Word))
      Groups.push_back(Line.str() + "\n");
    else if (continues(Word) && !Groups.empty())
      Groups.back() += Line.str() + "\n";
    else if (Word == "endif" && !Groups.empty())
      Groups.pop_back();
  }
  return OpenConditions{join(map_range(Groups, inOneLine), ""), unsigned(Groups.size())};
}

std::optional<std::set<std::string>> redefinedIn(StringRef Text) {
  std::set<std::string> Names;
  for (StringRef Line : split(Text, '\n')) {
    StringRef Word = directiveOf(Line).value_or("");
    if (Word != "define" && Word != "undef")
      continue;
    StringRef Name = Line.substr(Word.end() - Line.begin()).ltrim();
    Name = Name.take_while([](char C) { return isAsciiIdentifierContinue(C); });
    if (Name.empty())
      return std::nullopt;
    Names.insert(Name.str());
  }
  return Names;
}

// True if a group that is open where the text begins ends in it, or has a branch that does.
static bool endsGroup(StringRef Text) {
  unsigned Open = 0;
  for (StringRef Line : split(Text, '\n')) {
    StringRef Word = directiveOf(Line).value_or("");
    if (!Open && (continues(Word) || Word == "endif"))
      return true;
    Open += opens(Word);
    Open -= Word == "endif";
  }
  return false;
}

std::optional<unsigned> beginOfHead(StringRef File, const Range &Head, const Range &Body) {
  unsigned Inner = 0, Outer = 0; // groups that begin in the head, and that end there only
  bool Divided = false;          // by an `#else` of one that has not ended
  for (StringRef Line : split(File.slice(Head.Begin, Head.End), '\n')) {
    std::optional<StringRef> Word = directiveOf(Line);
    if (!Word)
      continue;
    if (Line.rtrim().ends_with("\\") || !(opens(*Word) || continues(*Word) || *Word == "endif"))
      return std::nullopt;
    if (opens(*Word)) {
      ++Inner;
    } else if (Inner) {
      Inner -= *Word == "endif";
    } else {
      Divided = *Word != "endif";
      Outer += *Word == "endif";
    }
  }
  if (Inner || Divided || endsGroup(File.slice(Body.Begin, Body.End)))
    return std::nullopt;
  unsigned At = Head.Begin;
  while (Outer) {
    const unsigned Line = File.rfind('\n', At) + 1;
    if (!Line)
      return std::nullopt;
    At = File.rfind('\n', Line - 1) + 1;
    StringRef Word = directiveOf(File.slice(At, Line)).value_or("");
    Outer += Word == "endif";
    Outer -= opens(Word);
  }
  return At;
}

// None if a directive goes on in the next line, or the part shares a line with other text.
static std::optional<OperationGroup> groupOf(StringRef File, const Range &First, const Range &Last,
                                             const Range &Part) {
  StringRef Directive = File.slice(First.Begin, First.End).rtrim();
  StringRef Closing = File.slice(Last.Begin, Last.End).rtrim();
  StringRef Head = File.slice(First.End, Part.Begin), Tail = File.slice(Part.End, Last.Begin);
  bool Goes = Directive.ends_with("\\") || (Closing.contains("/*") && !Closing.ends_with("*/"));
  bool OwnLines = Head.rtrim(" \t").ends_with("\n") && Tail.ltrim(" \t\r").starts_with("\n");
  if (Goes || !OwnLines)
    return std::nullopt;
  return OperationGroup{{First.Begin, Last.Begin + unsigned(Closing.size())},
                        Directive.str(),
                        !Head.trim().empty(),
                        !Tail.trim().empty()};
}

std::optional<OperationGroup> groupAround(StringRef File, const Range &Part, const Range &Within) {
  struct Group {
    Range First; // its first line
    bool Else = false;
  };
  std::vector<Group> Open;
  for (unsigned At = endOfLine(File, Within.Begin) + 1, End; At < Within.End; At = End + 1) {
    End = endOfLine(File, At);
    StringRef Word = directiveOf(File.slice(At, End)).value_or("");
    if (opens(Word)) {
      Open.push_back({{At, End}});
    } else if (continues(Word) && !Open.empty()) {
      Open.back().Else = true;
    } else if (Word == "endif" && !Open.empty()) {
      Group Inner = Open.back();
      Open.pop_back();
      if (Inner.First.End <= Part.Begin && At >= Part.End)
        return Inner.Else ? std::nullopt : groupOf(File, Inner.First, {At, End}, Part);
    }
  }
  return std::nullopt;
}

bool isSkipped(const Range &Branch, StringRef File, const std::set<unsigned> &Compiled,
               const LangOptions &Language) {
  auto First = Compiled.lower_bound(Branch.Begin);
  return (First == Compiled.end() || *First >= Branch.End) &&
         !isBlank(File, Branch.Begin, Branch.End, Language);
}

bool staysOutside(const Range &Branch, const Extraction &Section) {
  bool Directive = !Section.Directive.empty();
  return (Directive && !contains(Section.Body, Branch)) ||
         any_of(Section.Exits, [&](const EarlyExit &Exit) {
           return contains(Exit.Tail, Branch) ||
                  (Directive && contains({Exit.Unlock.Begin, Exit.Tail.Begin}, Branch));
         });
}

bool canMove(const std::vector<Range> &Branches, const Extraction &Section) {
  if (Branches.empty())
    return true;
  if (Section.resumes() || !Section.Kept.empty() || !Section.Hoisted.empty())
    return false;
  for (const Range &Branch : Branches)
    // An exit belongs to the form of the section.
    if (any_of(Section.Exits, [&](const EarlyExit &Exit) {
          return Exit.Unlock.Begin < Branch.End && Branch.Begin < Exit.Unlock.End;
        }))
      return false;
  return all_of(Section.Captures, [&](const Capture &C) {
    return any_of(C.References, [&](const Reference &R) { return !lies(R.At.Begin, Branches); });
  });
}

} // namespace relock
