// SPDX-License-Identifier: MIT
//
// A section's text moves with the conditions in it. What this configuration does compile may be
// missing elsewhere: then the section does less, which is sound if its function still has its form,
// and the context names nothing that exists under that condition only. What it does not compile is
// for section/Skipped.cpp to judge.
#include "section/Directives.h"

#include "section/Nest.h"

#include "clang/Lex/Lexer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace clang;
using namespace llvm;

namespace relock {

static bool lies(unsigned Offset, const std::vector<Range> &Branches) {
  return any_of(Branches, [&](const Range &B) { return Offset >= B.Begin && Offset < B.End; });
}

std::optional<std::vector<Range>> conditionalBranches(StringRef File, const Range &Part) {
  std::vector<Range> Branches;
  std::vector<unsigned> Open; // where the branch of each open group begins
  unsigned At = Part.Begin;
  while (At < Part.End) {
    size_t Newline = File.find('\n', At);
    unsigned Next = Newline == StringRef::npos ? File.size() : Newline + 1;
    StringRef Line = File.slice(At, Next).trim();
    unsigned Begin = At;
    At = Next;
    if (!Line.consume_front("#"))
      continue;
    StringRef Word = Line.ltrim().take_while([](char C) { return isAlpha(C); });
    bool Ends = Word == "endif", Opens = Word == "if" || Word == "ifdef" || Word == "ifndef";
    bool Continues = Word == "else" || Word.starts_with("elif");
    if (Line.ends_with("\\") || (!Ends && !Opens && !Continues) || (!Opens && Open.empty()))
      return std::nullopt;
    if (!Opens) {
      Branches.push_back({Open.back(), Begin});
      Open.pop_back();
    }
    if (!Ends)
      Open.push_back(Next);
  }
  return Open.empty() ? std::optional(Branches) : std::nullopt;
}

std::optional<OpenConditions> openConditions(StringRef File, const Range &Part) {
  std::vector<std::string> Groups; // the lines of each
  for (StringRef Line : split(File.slice(Part.Begin, Part.End), '\n')) {
    Line = Line.trim();
    StringRef Word = Line;
    if (!Word.consume_front("#"))
      continue;
    Word = Word.ltrim().take_while([](char C) { return isAlpha(C); });
    bool Opens = Word == "if" || Word == "ifdef" || Word == "ifndef";
    bool Continues = Word == "else" || Word.starts_with("elif");
    if ((Opens || Continues) && Line.ends_with("\\"))
      return std::nullopt;
    if (Opens)
      Groups.push_back(Line.str() + "\n");
    else if (Continues && !Groups.empty())
      Groups.back() += Line.str() + "\n";
    else if (Word == "endif" && !Groups.empty())
      Groups.pop_back();
  }
  return OpenConditions{join(Groups, ""), unsigned(Groups.size())};
}

// The word of a directive; empty: the line is none.
static StringRef directiveOf(StringRef Line) {
  Line = Line.ltrim();
  return Line.consume_front("#") ? Line.ltrim().take_while([](char C) { return isAlpha(C); }) : "";
}

std::optional<OperationGroup> groupAround(StringRef File, const Range &Part, const Range &Within) {
  OperationGroup Group;
  int Depth = 0;
  unsigned At = File.rfind('\n', Part.Begin) + 1, FirstEnd = 0;
  for (bool Found = false; !Found;) {
    if (At <= Within.Begin)
      return std::nullopt;
    FirstEnd = At - 1;
    At = File.rfind('\n', FirstEnd) + 1;
    StringRef Word = directiveOf(File.slice(At, FirstEnd));
    Found = Depth == 0 && Word.starts_with("if");
    if (Depth == 0 && Word.starts_with("el"))
      return std::nullopt;
    Depth += (Word == "endif") - (Word.starts_with("if") && !Found);
  }
  Group.Lines.Begin = At;
  Group.Directive = File.slice(At, FirstEnd).rtrim().str();
  unsigned Last = 0;
  At = std::min(File.find('\n', Part.End), File.size());
  for (bool Found = false; !Found;) {
    Last = At + 1;
    if (Last >= Within.End)
      return std::nullopt;
    At = std::min(File.find('\n', Last), File.size());
    StringRef Word = directiveOf(File.slice(Last, At));
    Found = Depth == 0 && Word == "endif";
    if (Depth == 0 && Word.starts_with("el"))
      return std::nullopt;
    Depth += Word.starts_with("if") - (Word == "endif" && !Found);
  }
  Group.Lines.End = Last + File.slice(Last, At).rtrim().size();
  Group.Before = !File.slice(FirstEnd, Part.Begin).trim().empty();
  Group.Behind = !File.slice(Part.End, Last).trim().empty();
  bool Goes = File.take_front(Group.Lines.Begin).rtrim(" \t\r\n").ends_with("\\");
  StringRef Closing = File.slice(Last, Group.Lines.End);
  if (Goes || StringRef(Group.Directive).ends_with("\\") ||
      (Closing.contains("/*") && !Closing.ends_with("*/")))
    return std::nullopt;
  return Group;
}

// True if a branch has nothing but comments and directives.
static bool isBlank(const Range &Branch, StringRef File, const LangOptions &Language) {
  Lexer Raw(SourceLocation(), Language, File.begin(), File.begin() + Branch.Begin, File.end());
  Token Current;
  bool Directive = false;
  while (!Raw.LexFromRawLexer(Current)) {
    unsigned Offset = Raw.getBufferLocation() - File.begin() - Current.getLength();
    if (Offset >= Branch.End)
      break;
    if (Current.isAtStartOfLine())
      Directive = Current.is(tok::hash);
    if (!Directive)
      return false;
  }
  return true;
}

bool isSkipped(const Range &Branch, StringRef File, const std::set<unsigned> &Compiled,
               const LangOptions &Language) {
  auto First = Compiled.lower_bound(Branch.Begin);
  return (First == Compiled.end() || *First >= Branch.End) && !isBlank(Branch, File, Language);
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
