// SPDX-License-Identifier: MIT
#include "index/Configuration.h"

#include "index/OtherSystems.h"

#include "clang/Basic/CharInfo.h"
#include "clang/Lex/Lexer.h"
#include "clang/Lex/PPCallbacks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Regex.h"

using namespace clang;
using namespace llvm;

namespace relock {

bool isBlank(StringRef File, unsigned Begin, unsigned End, const LangOptions &Language) {
  Lexer Raw(SourceLocation(), Language, File.begin(), File.begin() + Begin, File.end());
  Token Current;
  bool Directive = false;
  while (!Raw.LexFromRawLexer(Current)) {
    unsigned Offset = Raw.getBufferLocation() - File.begin() - Current.getLength();
    if (Offset >= End)
      break;
    if (Current.isAtStartOfLine())
      Directive = Current.is(tok::hash);
    if (!Directive)
      return false;
  }
  return true;
}

static std::string negated(const std::string &Condition) {
  return StringRef(Condition).starts_with("!") ? Condition.substr(1) : "!" + Condition;
}

void Configurations::watch(Preprocessor &PP) {
  struct Watch : PPCallbacks {
    const SourceManager &SM;
    decltype(Directives) &Seen;
    decltype(Macros) &Changed;
    Watch(const SourceManager &SM, decltype(Directives) &Seen, decltype(Macros) &Changed)
        : SM(SM), Seen(Seen), Changed(Changed) {}

    void add(Directive::Word Is, SourceLocation At, bool Taken, const Twine &Condition) {
      auto [File, Offset] = SM.getDecomposedLoc(At);
      Seen[File].push_back({Is, Offset, Taken, Condition.str(), Changed.size()});
    }
    void addChange(const Token &Name) {
      add(Directive::Changes, Name.getLocation(), false, "");
      Changed.push_back(Name.getIdentifierInfo());
    }
    // At: of `if` or `elif`; the condition's own begin may lie in a macro.
    void addExpression(Directive::Word Is, SourceLocation At, bool Taken) {
      auto [File, Begin] = SM.getDecomposedLoc(At);
      StringRef Line = SM.getBufferData(File).substr(Begin).ltrim("# \t");
      Line = Line.take_front(Line.find('\n')).drop_while([](char C) { return isAlpha(C); });
      Line = Line.take_front(std::min(Line.find("/*"), Line.find("//"))).trim();
      add(Is, At, Taken, Line.ends_with("\\") ? Twine() : "(" + Line + ")");
    }
    void addName(Directive::Word Is, SourceLocation At, const Token &Name, bool Taken, bool Not) {
      add(Is, At, Taken,
          Twine(Not ? "!" : "") + "defined(" + Name.getIdentifierInfo()->getName() + ")");
    }

    void If(SourceLocation At, SourceRange, ConditionValueKind Value) override {
      addExpression(Directive::Opens, At, Value == CVK_True);
    }
    void Ifdef(SourceLocation At, const Token &Name, const MacroDefinition &Macro) override {
      addName(Directive::Opens, At, Name, bool(Macro), false);
    }
    void Ifndef(SourceLocation At, const Token &Name, const MacroDefinition &Macro) override {
      addName(Directive::Opens, At, Name, !Macro, true);
    }
    void Elif(SourceLocation At, SourceRange, ConditionValueKind Value, SourceLocation) override {
      addExpression(Directive::Continues, At, Value == CVK_True);
    }
    void Elifdef(SourceLocation At, const Token &Name, const MacroDefinition &Macro) override {
      addName(Directive::Continues, At, Name, bool(Macro), false);
    }
    void Elifdef(SourceLocation At, SourceRange, SourceLocation) override {
      add(Directive::Continues, At, false, "");
    }
    void Elifndef(SourceLocation At, const Token &Name, const MacroDefinition &Macro) override {
      addName(Directive::Continues, At, Name, !Macro, true);
    }
    void Elifndef(SourceLocation At, SourceRange, SourceLocation) override {
      add(Directive::Continues, At, false, "");
    }
    void Else(SourceLocation At, SourceLocation) override { add(Directive::Else, At, true, ""); }
    void Endif(SourceLocation At, SourceLocation) override { add(Directive::Ends, At, false, ""); }
    void MacroDefined(const Token &Name, const MacroDirective *) override { addChange(Name); }
    void MacroUndefined(const Token &Name, const MacroDefinition &,
                        const MacroDirective *) override {
      addChange(Name);
    }
    void InclusionDirective(SourceLocation At, const Token &, StringRef, bool, CharSourceRange,
                            OptionalFileEntryRef, StringRef, StringRef, const Module *, bool,
                            SrcMgr::CharacteristicKind) override {
      add(Directive::Changes, At, false, "");
    }
  };
  PP.addPPCallbacks(std::make_unique<Watch>(PP.getSourceManager(), Directives, Macros));
}

// What Linux decides, or nothing does, is no condition.
static bool isDecided(StringRef Condition) {
  const bool Constant = is_contained({"0", "1"}, Condition.trim("!( )"));
  return Constant || valueOnLinux(("#if " + Condition).str()).has_value();
}

bool Configurations::isOpenBehind(const Source::Range &Part) const {
  auto OfFile = Directives.find(Part.File);
  std::vector<bool> Open; // whether it counts
  if (OfFile != Directives.end())
    for (const Directive &D : OfFile->second) {
      if (D.At < Part.Begin || D.At >= Part.End || D.Is == Directive::Changes)
        continue;
      if (D.Is == Directive::Opens)
        Open.push_back(false);
      if (Open.empty())
        continue;
      if (D.Is == Directive::Ends)
        Open.pop_back();
      else if (D.Is != Directive::Else && !isDecided(D.Condition))
        Open.back() = true;
    }
  return is_contained(Open, true);
}

std::optional<std::string> Configurations::of(const Source::Range &Part, const Source &S) const {
  auto OfFile = Directives.find(Part.File);
  if (OfFile == Directives.end())
    return "";
  struct Group {
    unsigned Begin;
    bool Taken = false;
    std::vector<std::string> Parts;
  };
  const StringRef File = S.fileText(Part.File);
  std::vector<Group> Open;
  std::vector<std::string> All;
  for (const Directive &D : OfFile->second) {
    if (D.At < Part.Begin || D.At >= Part.End || D.Is == Directive::Changes)
      continue;
    if (D.Is == Directive::Opens)
      Open.push_back({D.At, false, {}});
    if (Open.empty())
      return std::nullopt; // of a group that begins before
    Group &G = Open.back();
    if (D.Is == Directive::Ends) {
      const unsigned Behind = File.find('\n', G.Begin);
      if (!isBlank(File, std::min(Behind, D.At), D.At, S.Language))
        copy_if(G.Parts, std::back_inserter(All), [&](const std::string &Condition) {
          return !isDecided(Condition) && !is_contained(All, Condition);
        });
      Open.pop_back();
    } else if (!G.Taken && D.Is != Directive::Else) {
      G.Taken = D.Taken;
      G.Parts.push_back(D.Taken || D.Condition.empty() ? D.Condition : negated(D.Condition));
    }
  }
  if (!Open.empty() || is_contained(All, "") || changesIn(Part, All))
    return std::nullopt;
  return join(All, " && ");
}

// True if a part of a file, or what it includes, defines or undefines what conditions name.
bool Configurations::changesIn(const Source::Range &Part, ArrayRef<std::string> Conditions) const {
  auto OfFile = Directives.find(Part.File);
  if (OfFile == Directives.end() || Conditions.empty())
    return false;
  auto Behind = [&](unsigned At) {
    auto Next = find_if(OfFile->second, [&](const Directive &D) { return D.At >= At; });
    return Next == OfFile->second.end() ? Macros.size() : Next->Macros;
  };
  auto Names = [](StringRef Condition, StringRef Macro) {
    for (size_t At = Condition.find(Macro); At != StringRef::npos;
         At = Condition.find(Macro, At + 1))
      if ((At == 0 || !isAsciiIdentifierContinue(Condition[At - 1])) &&
          (At + Macro.size() == Condition.size() ||
           !isAsciiIdentifierContinue(Condition[At + Macro.size()])))
        return true;
    return false;
  };
  const size_t First = Behind(Part.Begin), Last = Behind(Part.End);
  return any_of(ArrayRef(Macros).slice(First, Last - First), [&](const IdentifierInfo *Macro) {
    return any_of(Conditions, [&](StringRef C) { return Names(C, Macro->getName()); });
  });
}

bool definesFunction(StringRef Text, StringRef Function) {
  return Text.contains(Function) && Regex(("^([[:alnum:]_][[:alnum:]_ *\t]*[ *\t])?" + Function +
                                           "[ \t]*[(]([^;(){}]|\n)*[)][[:space:]]*[{]")
                                              .str(),
                                          Regex::Newline)
                                        .match(Text);
}

std::optional<Configurations::Alternatives>
Configurations::alternativesOf(const Source::Range &Definition, StringRef Function,
                               const Source &S) const {
  struct Group {
    unsigned Begin, Branch;         // and where its branch begins that is looked at
    bool Possible = true;           // on Linux it may be compiled
    bool Decided = false;           // … and none behind it
    std::vector<std::string> Parts; // the conditions so far
    bool Other = false;             // another branch defines the function
    unsigned End = 0;
  };
  auto OfFile = Directives.find(Definition.File);
  if (OfFile == Directives.end())
    return std::nullopt;
  const StringRef File = S.fileText(Definition.File);
  auto EndBranch = [&](Group &G, unsigned At) {
    const bool Own = G.Branch <= Definition.Begin && Definition.Begin < At;
    if (!Own && G.Possible)
      G.Other |= definesFunction(File.slice(G.Branch, At), Function);
  };
  auto BeginBranch = [&](Group &G, const Directive &D) {
    std::optional<bool> Value;
    if (D.Is != Directive::Else)
      Value = valueOnLinux("#if " + D.Condition);
    G.Branch = D.At;
    G.Possible = !G.Decided && Value != false;
    G.Decided |= Value == true;
  };
  std::vector<Group> Open, Around;
  unsigned Inner = 0; // groups within those around the definition, behind it
  for (const Directive &D : OfFile->second) {
    if (D.Is == Directive::Changes || (D.At >= Definition.Begin && D.At < Definition.End))
      continue;
    const bool Behind = D.At >= Definition.End;
    if (D.Is == Directive::Opens) {
      if (Behind) {
        ++Inner;
        continue;
      }
      Open.emplace_back();
      Open.back().Begin = D.At;
      BeginBranch(Open.back(), D);
    } else if (Inner) {
      Inner -= D.Is == Directive::Ends;
      continue;
    } else if (Open.empty()) {
      continue;
    } else {
      EndBranch(Open.back(), D.At);
      if (D.Is != Directive::Ends)
        BeginBranch(Open.back(), D);
    }
    if (D.Is == Directive::Ends) {
      if (Behind) {
        Open.back().End = std::min(File.find('\n', D.At), File.size());
        Around.push_back(std::move(Open.back()));
      }
      Open.pop_back();
    } else if (!Behind && D.Is != Directive::Else) {
      Open.back().Parts.push_back(D.Taken || D.Condition.empty() ? D.Condition
                                                                 : negated(D.Condition));
    }
  }
  // The innermost one comes first.
  while (!Around.empty() && !Around.back().Other)
    Around.pop_back();
  if (Around.empty())
    return std::nullopt;
  std::vector<std::string> All;
  for (const Group &G : reverse(Around))
    copy_if(G.Parts, std::back_inserter(All), [&](const std::string &Condition) {
      return !isDecided(Condition) && !is_contained(All, Condition);
    });
  if (All.empty())
    return std::nullopt;
  const Source::Range Whole = {Definition.File, Around.back().Begin, Around.back().End};
  Alternatives Result = {Whole.End, std::nullopt};
  if (!is_contained(All, "") && !changesIn(Whole, All))
    Result.Condition = join(All, " && ");
  return Result;
}

} // namespace relock
