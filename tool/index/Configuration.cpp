// SPDX-License-Identifier: MIT
#include "index/Configuration.h"

#include "index/OtherSystems.h"

#include "clang/Lex/Lexer.h"
#include "clang/Lex/PPCallbacks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

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
    Watch(const SourceManager &SM, decltype(Directives) &Seen) : SM(SM), Seen(Seen) {}

    void add(Directive::Word Is, SourceLocation At, bool Taken, const Twine &Condition) {
      auto [File, Offset] = SM.getDecomposedLoc(At);
      Seen[File].push_back({Is, Offset, Taken, Condition.str()});
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
    void MacroDefined(const Token &Name, const MacroDirective *) override {
      add(Directive::Changes, Name.getLocation(), false, "");
    }
    void MacroUndefined(const Token &Name, const MacroDefinition &,
                        const MacroDirective *) override {
      add(Directive::Changes, Name.getLocation(), false, "");
    }
    void InclusionDirective(SourceLocation At, const Token &, StringRef, bool, CharSourceRange,
                            OptionalFileEntryRef, StringRef, StringRef, const Module *, bool,
                            SrcMgr::CharacteristicKind) override {
      add(Directive::Changes, At, false, "");
    }
  };
  PP.addPPCallbacks(std::make_unique<Watch>(PP.getSourceManager(), Directives));
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
  bool Changes = false; // the configuration itself
  for (const Directive &D : OfFile->second) {
    if (D.At < Part.Begin || D.At >= Part.End)
      continue;
    if (D.Is == Directive::Changes) {
      Changes = true;
      continue;
    }
    if (D.Is == Directive::Opens)
      Open.push_back({D.At});
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
  if (!Open.empty() || is_contained(All, "") || (Changes && !All.empty()))
    return std::nullopt;
  return join(All, " && ");
}

} // namespace relock
