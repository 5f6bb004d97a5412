// SPDX-License-Identifier: MIT
#include "driver/ChangedLines.h"

#include "support/VersionControl.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace relock {

namespace {

constexpr unsigned AllLines = ~0u;

std::string withoutLinks(StringRef Path) {
  SmallString<256> Real;
  return sys::fs::real_path(Path, Real) ? Path.str() : std::string(Real);
}

// A path as git prints it: in quotation marks, with escapes as in C, where it has other characters
// than plain ones.
std::string unquoted(StringRef Path) {
  Path = Path.rtrim('\t'); // behind a path with blanks
  if (!Path.consume_front("\"") || !Path.consume_back("\""))
    return Path.str();
  std::string Result;
  for (; !Path.empty(); Path = Path.drop_front()) {
    unsigned char Octal;
    if (!Path.consume_front("\\"))
      Result += Path.front();
    else if (!Path.take_front(3).getAsInteger(8, Octal))
      Result += char(Octal), Path = Path.drop_front(2);
    else if (size_t Letter = StringRef("abtnvfr").find(Path.front()); Letter != StringRef::npos)
      Result += "\a\b\t\n\v\f\r"[Letter];
    else
      Result += Path.front();
  }
  return Result;
}

// `12,3` in the line before a hunk, `@@ -12,3 +12 @@`: the first line, and how many.
std::pair<unsigned, unsigned> linesOf(StringRef HunkLine, StringRef Mark) {
  auto [First, Count] = HunkLine.split(Mark).second.split(' ').first.split(',');
  unsigned Begin = 0, Lines = 1;
  First.getAsInteger(10, Begin);
  if (!Count.empty())
    Count.getAsInteger(10, Lines);
  return {Begin, Lines};
}

std::string firstLine(StringRef Text) { return Text.split('\n').first.str(); }

// The commit that the changes are counted from.
Expected<std::string> commonCommit(StringRef Folder, StringRef Base) {
  std::string Named = (Base + "^{commit}").str();
  auto Commit = git(Folder, {"rev-parse", "--verify", "--quiet", "--end-of-options", Named});
  if (!Commit) {
    consumeError(Commit.takeError());
    return createStringError("git knows no revision '" + Base + "' in " + Folder +
                             "; where only a part of the history was fetched, fetch that one, too");
  }
  auto Common = git(Folder, {"merge-base", firstLine(*Commit), "HEAD"});
  if (!Common) {
    consumeError(Common.takeError());
    return createStringError("'" + Base +
                             "' and what is checked out have no commit in common; where only a "
                             "part of the history was fetched, fetch more of it");
  }
  return firstLine(*Common);
}

} // namespace

ChangedLines::Changes &ChangedLines::changesOf(StringRef Top, StringRef Path) {
  return Changed[withoutLinks((Top + "/" + Path).str())];
}

void ChangedLines::addDiff(StringRef Text, StringRef Top) {
  std::string File;
  unsigned Left = 0; // lines of the hunk, which may look like anything
  for (StringRef Line : split(Text, '\n')) {
    if (Left && (Line.starts_with("+") || Line.starts_with("-"))) {
      --Left;
    } else if (Line.starts_with("+++ ")) {
      File = unquoted(Line.drop_front(4));
    } else if (Line.starts_with("@@ ") && StringRef(File).starts_with("b/")) {
      auto [First, Count] = linesOf(Line, " +");
      unsigned Removed = linesOf(Line, " -").second;
      Left = Removed + Count;
      Changes &Found = changesOf(Top, StringRef(File).drop_front(2));
      Found.Lines.push_back({First, Count ? First + Count - 1 : First + 1});
      if (!Count)
        Found.Lost.push_back(First);
    }
  }
}

Expected<ChangedLines> ChangedLines::since(StringRef Folder, StringRef Base) {
  auto Top = git(Folder, {"rev-parse", "--show-toplevel"});
  if (!Top)
    return Top.takeError();
  std::string Root = StringRef(*Top).rtrim('\n').str();
  auto Commit = commonCommit(Root, Base);
  if (!Commit)
    return Commit.takeError();
  auto Diff = git(Root, {"diff", "-U0", "--inter-hunk-context=0", "--no-color", "--no-ext-diff",
                         "--no-textconv", "--no-relative", "--find-renames", "--src-prefix=a/",
                         "--dst-prefix=b/", *Commit, "--"});
  if (!Diff)
    return Diff.takeError();
  auto New = git(Root, {"ls-files", "--others", "--exclude-standard", "-z"});
  if (!New)
    return New.takeError();
  ChangedLines Result;
  Result.addDiff(*Diff, Root);
  for (StringRef Path : split(StringRef(*New), '\0'))
    if (!Path.empty())
      Result.changesOf(Root, Path).Lines.push_back({1, AllLines});
  return Result;
}

const ChangedLines::Changes *ChangedLines::find(const std::string &File) {
  auto [Known, New] = Real.try_emplace(File);
  if (New)
    Known->second = withoutLinks(File);
  auto Found = Changed.find(Known->second);
  return Found == Changed.end() ? nullptr : &Found->second;
}

bool ChangedLines::has(const Position &At) {
  const Changes *Found = find(At.File);
  return Found && any_of(Found->Lines, [&](const Range &Lines) {
           return Lines.First <= At.Line && At.Line <= Lines.Last;
         });
}

bool ChangedLines::lostBetween(const Position &From, unsigned End) {
  const Changes *Found = find(From.File);
  return Found &&
         any_of(Found->Lost, [&](unsigned Line) { return From.Line <= Line && Line < End; });
}

} // namespace relock
