// SPDX-License-Identifier: MIT
#include "rewrite/LockTable.h"

#include "advise/Algorithms.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Regex.h"

using namespace llvm;

namespace relock {

static const char Head[] =
    R"(/* The lock classes of this program that run on Relock, and the algorithm of each.
 *
 * Written by `relock rewrite`; yours to edit: change an algorithm (adaptive, ccsynch, rcl, ...) and
 * rebuild, or set RELOCK_LOCKS="class=algorithm,..." in the environment without rebuilding.
 */
#ifndef RELOCK_LOCKS_H
#define RELOCK_LOCKS_H

#include <relock/relock.h>

)";
static const char Foot[] = "\n#endif\n";

// The text with these lines behind the last one that has the macro.
static std::optional<std::string> added(StringRef Text, StringRef Macro, StringRef Lines) {
  size_t End = Text.rfind(Macro);
  if (End == StringRef::npos)
    return std::nullopt;
  End = Text.find('\n', End);
  End = End == StringRef::npos ? Text.size() : End + 1;
  return (Text.take_front(End) + Lines + Text.drop_front(End)).str();
}

// The algorithm of the first entry that matches these regular expressions.
static StringRef algorithmOf(StringRef Table, const Twine &Identifier, const Twine &Name) {
  Regex Entry(("RELOCK_LOCK_CLASS\\(" + Identifier + ",[[:space:]]*\"" + Name +
               "\",[[:space:]]*\"([^\"]*)\"")
                  .str());
  SmallVector<StringRef> Parts;
  return Entry.match(Table, &Parts) ? Parts[1] : "";
}

StringRef tableAlgorithm(StringRef Table, StringRef Name) {
  return algorithmOf(Table, "[^,]*", Regex::escape(Name));
}

std::string lockTable(StringRef Before, const std::vector<TableEntry> &Entries,
                      const std::vector<TableServer> &Servers) {
  std::string Existing = Before.str(), Classes, Places;
  for (const TableEntry &E : Entries)
    if (!Before.contains("RELOCK_LOCK_CLASS(" + E.Identifier + ","))
      Classes += "RELOCK_LOCK_CLASS(" + E.Identifier + ", \"" + E.Name + "\", \"" +
                 (E.Algorithm.empty() ? DefaultAlgorithm.str() : E.Algorithm) + "\");\n";
    else if (StringRef Old = algorithmOf(Existing, E.Identifier, "[^\"]*");
             !Old.empty() && !E.Algorithm.empty())
      Existing.replace(Old.data() - Existing.data(), Old.size(), E.Algorithm);
  for (const TableServer &S : Servers)
    if (std::string Begin = "RELOCK_SERVER_PLACE(" + std::to_string(S.Number) + ", ";
        !Before.contains(Begin))
      Places += Begin + (S.Cpu ? std::to_string(*S.Cpu) : "RELOCK_ANY_CPU") + ");\n";
  std::string Text = added(Existing, "RELOCK_LOCK_CLASS(", Classes).value_or(Head + Classes + Foot);
  if (std::optional<std::string> More = added(Text, "RELOCK_SERVER_PLACE(", Places))
    return *More;
  return Places.empty() ? Text : *added(Text, "RELOCK_LOCK_CLASS(", "\n" + Places);
}

namespace {

struct Directive {
  StringRef Name, Rest;
};

std::optional<Directive> directive(StringRef Line) {
  Line = Line.ltrim();
  if (!Line.consume_front("#"))
    return std::nullopt;
  Line = Line.ltrim();
  StringRef Name = Line.take_while([](char C) { return isAlpha(C); });
  return Directive{Name, Line.drop_front(Name.size()).trim()};
}

// The end of the comments and blank lines that a file begins with.
unsigned afterLeadingComment(StringRef Text) {
  unsigned At = Text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  for (;;) {
    size_t Next = Text.find_first_not_of(" \t\r\n", At);
    if (Next == StringRef::npos)
      return At;
    StringRef Rest = Text.drop_front(Next);
    size_t End = StringRef::npos;
    if (Rest.starts_with("//"))
      End = Text.find('\n', Next);
    else if (Rest.starts_with("/*"))
      End = Text.find("*/", Next);
    else
      return At;
    if (End == StringRef::npos)
      return At;
    At = Text.find('\n', End);
    At = At == unsigned(StringRef::npos) ? Text.size() : At + 1;
  }
}

} // namespace

unsigned includeOffset(StringRef Text, unsigned Before) {
  int Depth = 0, Outer = 0, Braces = 0;
  bool First = true, Comment = false, Continued = false;
  bool Unfinished = false; // the line before goes on: an initialiser is included
  StringRef Guard;
  unsigned Best = 0, AfterGuard = 0;
  for (unsigned At = 0; At < Text.size() && At < Before;) {
    size_t End = Text.find('\n', At);
    unsigned Next = End == StringRef::npos ? Text.size() : End + 1;
    StringRef Line = Text.slice(At, Next);
    Line.consume_front("\xEF\xBB\xBF"); // a byte order mark
    bool Skip = Comment || Continued;
    Continued = Line.rtrim().ends_with("\\");
    size_t Open = Line.rfind("/*"), Close = Line.rfind("*/");
    if (Open != StringRef::npos && (Close == StringRef::npos || Close < Open))
      Comment = true;
    else if (Close != StringRef::npos)
      Comment = false;
    if (std::optional<Directive> D = Skip ? std::nullopt : directive(Line)) {
      if (D->Name.starts_with("if")) {
        if (First && D->Name == "ifndef")
          Guard = D->Rest;
        ++Depth;
      } else if (D->Name == "endif") {
        --Depth;
      } else if (D->Name == "define" && !Guard.empty() && Depth == 1 && !AfterGuard &&
                 D->Rest.split(' ').first == Guard) {
        Outer = 1;
        AfterGuard = Next;
      } else if (D->Name == "pragma" && D->Rest.starts_with("once")) {
        AfterGuard = Next;
      } else if (D->Name == "include" && Depth == Outer && Braces == 0 && !Unfinished) {
        Best = Next;
      }
      First = false;
    } else if (!Skip) {
      Braces += int(Line.count('{')) - int(Line.count('}'));
      StringRef Code = Line.take_front(std::min(Line.find("//"), Line.find("/*"))).rtrim();
      if (!Code.empty())
        Unfinished = StringRef("=,(").contains(Code.back());
    }
    At = Next;
  }
  if (Best)
    return Best;
  return AfterGuard ? AfterGuard : afterLeadingComment(Text);
}

} // namespace relock
