// SPDX-License-Identifier: MIT
#include "driver/SuppressComments.h"

#include "support/Messages.h"
#include "support/Path.h"

#include "clang/Lex/Lexer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace relock {

namespace {

constexpr StringRef Form = "`relock: suppress CODE because REASON`";

// Counts lines on the way through a text.
class LineCounter {
public:
  explicit LineCounter(StringRef Text) : Text(Text) {}
  // Offsets do not fall from call to call.
  unsigned lineAt(size_t Offset) {
    Line += Text.slice(Counted, Offset).count('\n');
    Counted = Offset;
    return Line;
  }
  unsigned columnAt(size_t Offset) const {
    size_t Newline = Text.take_front(Offset).rfind('\n');
    return Offset - (Newline == StringRef::npos ? 0 : Newline + 1) + 1;
  }

private:
  StringRef Text;
  size_t Counted = 0;
  unsigned Line = 1;
};

// What a comment says, in one line: without its marks, and the stars at the beginnings of lines.
std::string contentOf(StringRef Comment) {
  if (Comment.consume_front("/*"))
    Comment.consume_back("*/");
  else
    Comment = Comment.drop_front(2);
  SmallVector<StringRef> Words;
  for (StringRef Line : split(Comment, '\n')) {
    Line = Line.trim().ltrim("*!</");
    SplitString(Line, Words);
  }
  return join(Words, " ");
}

// Other comments that begin with the tool's name are the user's own words.
bool meansToSuppress(StringRef Verb) {
  return is_contained({"accept", "ignore", "allow", "disable", "nolint"}, Verb) ||
         Verb.edit_distance("suppress") <= 2;
}

} // namespace

SuppressComments::SuppressComments(const IndexResult &Index) {
  std::set<std::string> Files;
  for (const UnitFacts &Unit : Index.Units)
    for (const Dependency &Read : Unit.Dependencies)
      if (isBelow(Read.File, Index.Root))
        Files.insert(Read.File);
  for (const UnitFacts &Unit : Index.Units)
    Files.insert(Unit.MainFile);
  for (const std::string &File : Files)
    read(File);
}

void SuppressComments::read(StringRef File) {
  auto Buffer = MemoryBuffer::getFile(File);
  if (!Buffer || !(*Buffer)->getBuffer().contains("relock:"))
    return;
  StringRef Text = (*Buffer)->getBuffer();
  clang::LangOptions Language;
  Language.LineComment = Language.C99 = Language.C11 = true;
  clang::Lexer Lexer(clang::SourceLocation(), Language, Text.begin(), Text.begin(), Text.end());
  Lexer.SetCommentRetentionState(true);
  LineCounter Lines(Text);
  unsigned LastCode = 0; // the line that the last token ends in which is no comment
  std::vector<std::pair<Position, std::string>> Waiting; // for the next code
  clang::Token Token;
  for (bool End = false; !End;) {
    End = Lexer.LexFromRawLexer(Token) || Token.is(clang::tok::eof);
    const size_t Begin = Lexer.getBufferLocation() - Text.begin() - Token.getLength();
    const unsigned Line = Lines.lineAt(Begin);
    if (Token.isNot(clang::tok::comment)) {
      for (const auto &[At, Said] : Waiting)
        add(At, Said, Line);
      Waiting.clear();
      LastCode = Lines.lineAt(Begin + Token.getLength());
      continue;
    }
    Position At{File.str(), unsigned(Begin), Line, Lines.columnAt(Begin)};
    std::string Said = contentOf(Text.substr(Begin, Token.getLength()));
    if (LastCode == Line)
      add(At, Said, Line);
    else
      Waiting.emplace_back(At, Said);
  }
  for (const auto &[At, Said] : Waiting) // no code follows
    add(At, Said, At.Line);
}

void SuppressComments::reject(const Position &At, const Twine &Why) {
  message(At, Why.str(), "suppress-comment");
  ++Bad;
}

void SuppressComments::add(const Position &At, StringRef Text, unsigned Line) {
  if (!Text.consume_front("relock:"))
    return;
  auto [Verb, Rest] = Text.ltrim().split(' ');
  if (Verb == "accept")
    return reject(At,
                  "a comment suppresses a finding, and accepts nothing for the conversion (that "
                  "is `accept` in relock.yaml): write " +
                      Form);
  if (Verb != "suppress")
    return meansToSuppress(Verb)
               ? reject(At, "'" + Verb + "' is no word of such a comment: write " + Form)
               : void();
  const size_t Because = (" " + Rest + " ").str().find(" because ");
  StringRef Reason = Because == std::string::npos ? "" : Rest.substr(Because + 7).trim();
  SmallVector<StringRef> Codes;
  SplitString(Rest.take_front(Because), Codes, " ,");
  if (Reason.empty() || Codes.empty())
    return reject(At, (Codes.empty() ? "does not say what it suppresses: write "
                                     : "does not say why: write ") +
                          Form);
  for (StringRef Code : Codes) {
    if (isFindingCode(Code)) {
      Comments.push_back({At, Line, Code.str(), Reason.str()});
      continue;
    }
    std::string Nearest = nearestFindingCode(Code);
    reject(At, "there is no code '" + Code + "'" +
                   (Nearest.empty() ? "; `relock explain` lists them"
                                    : "; did you mean '" + Nearest + "'?"));
  }
}

const SuppressComment *SuppressComments::suppressing(const Finding &F) {
  const SuppressComment *Found = nullptr;
  const std::vector<Position> Sites = F.sites();
  for (SuppressComment &Comment : Comments)
    if (Comment.Code == F.Why.Code && any_of(Sites, [&](const Position &At) {
          return At.Line == Comment.Line && At.File == Comment.At.File;
        })) {
      Comment.Used = true;
      Found = Found ? Found : &Comment;
    }
  return Found;
}

size_t SuppressComments::reportUnused(const FindingFilter &Judged) const {
  size_t Unused = 0;
  for (const SuppressComment &Comment : Comments) {
    if (Comment.Used || !Judged.covers(Comment.Code))
      continue;
    message(Comment.At,
            "suppresses nothing: line " + std::to_string(Comment.Line) +
                " has no finding with the "
                "code '" +
                Comment.Code +
                "'; take the comment out, or put it to the place that "
                "`relock check` names",
            "suppress-unused");
    ++Unused;
  }
  return Unused + Bad;
}

} // namespace relock
