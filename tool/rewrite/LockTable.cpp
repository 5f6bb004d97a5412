// SPDX-License-Identifier: MIT
#include "rewrite/LockTable.h"

#include "advise/Algorithms.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
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
  StringRef Rest = Line.drop_front(Name.size()).split("/*").first;
  if (Name != "include")
    Rest = Rest.split("//").first;
  return Directive{Name, Rest.trim()};
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

// The branches of conditional directives around a line, each with a number of its own.
using Branches = std::vector<unsigned>;

// `#ifdef __cplusplus`: no C that is compiled stands there, such as `extern "C" {`.
bool isForCxx(const Directive &D) {
  return (D.Name == "if" || D.Name == "ifdef") && D.Rest.contains("__cplusplus") &&
         D.Rest.find_first_of("!|") == StringRef::npos;
}

// The branches around both.
Branches common(const Branches &A, const Branches &B) {
  return {A.begin(), std::mismatch(A.begin(), A.end(), B.begin(), B.end()).first};
}

bool encloses(const Branches &Outer, const Branches &Inner) {
  return common(Outer, Inner) == Outer;
}

// Lines of one kind, of which those count that are compiled wherever a line is.
class Lines {
  std::vector<Branches> Around; // each kind of place once, in a row

public:
  void add(const Branches &At) {
    if (Around.empty() || Around.back() != At)
      Around.push_back(At);
  }
  bool before(const Branches &At) const {
    return any_of(Around, [&](const Branches &Line) { return encloses(Line, At); });
  }
};

// What tells the C library's headers what to declare, see feature_test_macros(7).
bool isFeatureTest(StringRef Macro) {
  return Macro.starts_with("_") && (Macro.ends_with("_SOURCE") || Macro == "_REENTRANT" ||
                                    Macro == "_FILE_OFFSET_BITS" || Macro == "_TIME_BITS");
}

} // namespace

unsigned includeOffset(StringRef Text, ArrayRef<unsigned> Uses) {
  Branches Around;
  std::optional<Branches> AroundUses;
  bool InMacros = false; // a macro before uses the table; its own uses are perhaps further down
  struct Include {
    unsigned End;
    Branches Around;
    bool BehindMacro;
    bool Leads;   // no code stands before it, nor is it a template's, between macros
    bool Settles; // a library's header is read by now: nothing tells the C library more
  };
  std::vector<Include> Includes;
  StringMap<size_t> Defines; // by macro: the first include behind its definition
  Lines OfSystem, Code;      // a library's header is included; code behind that
  struct Group {             // from `#if` to here
    bool Includes = false, OfSystem = false, Code = false;
  };
  std::vector<Group> Groups; // around
  unsigned Branch = 0;
  unsigned ForCxx = 0; // the branch around that is for C++
  int Braces = 0;
  bool First = true, Comment = false, Continued = false;
  bool Macro = false;       // within the definition of one
  bool UsedOutside = false; // of macros
  bool Unfinished = false;  // the line before goes on: an initialiser is included
  StringRef Guard;
  unsigned AfterGuard = 0;
  for (unsigned At = 0; At < Text.size();) {
    size_t End = Text.find('\n', At);
    unsigned Next = End == StringRef::npos ? Text.size() : End + 1;
    StringRef Line = Text.slice(At, Next);
    Line.consume_front("\xEF\xBB\xBF"); // a byte order mark
    bool Used = any_of(Uses, [&](unsigned Use) { return Use >= At && Use < Next; });
    bool Skip = Comment || Continued;
    std::optional<Directive> D = Skip ? std::nullopt : directive(Line);
    if (!Continued)
      Macro = D && D->Name == "define";
    InMacros |= Used && Macro;
    if (Used)
      AroundUses = AroundUses ? common(*AroundUses, Around) : Around;
    UsedOutside |= Used && !Macro;
    Continued = Line.rtrim().ends_with("\\");
    size_t Open = Line.rfind("/*"), Close = Line.rfind("*/");
    if (Open != StringRef::npos && (Close == StringRef::npos || Close < Open))
      Comment = true;
    else if (Close != StringRef::npos)
      Comment = false;
    if (D) {
      if (D->Name.starts_with("if")) {
        if (First && D->Name == "ifndef")
          Guard = D->Rest;
        Around.push_back(++Branch);
        Groups.push_back({});
        if (!ForCxx && isForCxx(*D))
          ForCxx = Branch;
      } else if (D->Name.starts_with("el") && !Around.empty()) {
        Around.back() = ++Branch;
      } else if (D->Name == "endif" && !Around.empty()) {
        const bool OfCxx = is_contained(Around, ForCxx);
        const Group Ended = Groups.back();
        Around.pop_back();
        Groups.pop_back();
        if (Ended.OfSystem)
          OfSystem.add(Around);
        // Behind the includes of a condition: what they define may tell headers what to declare.
        if (Ended.Includes && !Ended.Code && !OfCxx && Braces == 0 && !Unfinished && !UsedOutside) {
          Includes.push_back({Next, Around, InMacros, !Code.before(Around), false});
          if (!Groups.empty())
            Groups.back().Includes = true;
        }
      } else if (D->Name == "define" && !Guard.empty() && Around.size() == 1 && !AfterGuard &&
                 D->Rest.split(' ').first == Guard) {
        AfterGuard = Next;
      } else if (D->Name == "pragma" && D->Rest.starts_with("once")) {
        AfterGuard = Next;
      } else if (D->Name == "include" && Braces == 0 && !Unfinished && !UsedOutside) {
        if (D->Rest.starts_with("<"))
          OfSystem.add(Around);
        Includes.push_back({Next, Around, InMacros, !Code.before(Around), OfSystem.before(Around)});
        if (!Groups.empty()) {
          Groups.back().Includes = true;
          Groups.back().OfSystem |= D->Rest.starts_with("<");
        }
      } else if (D->Name == "undef") {
        auto Defined = Defines.find(D->Rest);
        for (size_t I = Defined == Defines.end() ? Includes.size() : Defined->second;
             I < Includes.size(); ++I)
          Includes[I].Leads = false;
      }
      if (D->Name == "define") {
        StringRef Name = D->Rest.take_while([](char C) { return isAlnum(C) || C == '_'; });
        Defines[Name] = Includes.size();
        if (isFeatureTest(Name))
          for (Include &Before : Includes)
            Before.Leads = false;
      }
      First = false;
      if (!is_contained(Around, ForCxx))
        ForCxx = 0;
    } else if (!Skip && !is_contained(Around, ForCxx)) {
      Braces += int(Line.count('{')) - int(Line.count('}'));
      StringRef Text = Line.take_front(std::min(Line.find("//"), Line.find("/*"))).rtrim();
      if (!Text.empty()) {
        for (Group &G : Groups)
          G.Code = true;
        Unfinished = StringRef("=,(").contains(Text.back());
        // The table needs nothing but what it includes itself, once the macros are defined that
        // tell the C library what to declare.
        if (OfSystem.before(Around))
          Code.add(Around);
      }
    }
    At = Next;
  }
  const Branches Hold = AroundUses.value_or(Branches());
  for (bool BehindMacro : {false, true})
    for (bool Leading : {true, false})
      for (bool Settling : {true, false})
        for (const Include &I : reverse(Includes))
          if (I.BehindMacro == BehindMacro && I.Leads == Leading && (I.Settles || !Settling) &&
              common(I.Around, Hold) == I.Around && (UsedOutside || !BehindMacro))
            return I.End;
  return AfterGuard ? AfterGuard : afterLeadingComment(Text);
}

} // namespace relock
