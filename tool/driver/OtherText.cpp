// SPDX-License-Identifier: MIT
//
// By text alone: which header an `#include` means depends on options that nobody knows here, so its
// name decides, but where a file of that name lies beside the includer.
#include "driver/OtherText.h"

#include "index/Configuration.h"
#include "support/Messages.h"
#include "support/Unit.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace relock {

static bool mentionsLocks(StringRef Text) {
  return Text.contains("pthread_mutex_") || Text.contains("pthread_cond_");
}

// The directive behind the `#` of a line, and what follows it; empty: none.
static std::pair<StringRef, StringRef> directiveOf(StringRef Line) {
  Line = Line.ltrim();
  if (!Line.consume_front("#"))
    return {};
  StringRef Name = Line.ltrim().take_while([](char C) { return isAlpha(C); });
  return {Name, StringRef(Name.end(), Line.end() - Name.end()).trim()};
}

// What one `#include` of a text may mean.
class ChangedHeaders {
public:
  void add(const std::string &File) { Headers.insert(File); }
  bool empty() const { return Headers.empty(); }

  // The first name in an `#include` of a file that is one of these; empty: none.
  StringRef includedBy(StringRef File, StringRef Text) const {
    for (StringRef Line; !Text.empty();) {
      std::tie(Line, Text) = Text.split('\n');
      auto [Directive, Rest] = directiveOf(Line);
      if (Directive == "include" && mayBe(Rest, sys::path::parent_path(File)))
        return sys::path::filename(nameIn(Rest));
    }
    return "";
  }

private:
  std::set<std::string> Headers;

  static StringRef nameIn(StringRef Spelling) {
    bool Quoted = Spelling.consume_front("\"");
    if (!Quoted && !Spelling.consume_front("<"))
      return ""; // a macro
    return Spelling.take_until([&](char C) { return C == (Quoted ? '"' : '>'); });
  }

  // What lies beside the includer comes first; else some folder of the options, or a link in it,
  // may have any of them by that name.
  bool mayBe(StringRef Spelling, StringRef Folder) const {
    StringRef Name = nameIn(Spelling);
    SmallString<256> Near(Name), Real;
    sys::fs::make_absolute(Folder, Near);
    if (Spelling.starts_with("\"") && !sys::fs::real_path(Near, Real))
      return Headers.count(std::string(Real));
    return any_of(Headers, [&](StringRef Header) {
      return sys::path::filename(Header) == sys::path::filename(Name);
    });
  }
};

// The lock wrappers that have companions for delegated sections.
static std::set<StringRef> withCompanions(const Decision &Decided,
                                          function_ref<bool(const CheckedClass &)> Converts) {
  std::set<StringRef> Names;
  for (const CheckedClass &Class : Decided.Classes)
    for (const CheckedSection &S : Class.Sections)
      if (Converts(Class) && S.Outcome == Verdict::Delegate && S.Facts.Extract &&
          S.Facts.Extract->Through)
        Names.insert(S.Facts.Extract->Through->Name);
  return Names;
}

void reportUnindexed(const IndexResult &Index, const std::set<std::string> &Changed,
                     const Decision &Decided, function_ref<bool(const CheckedClass &)> Converts) {
  std::set<std::string> Units;
  for (const clang::tooling::CompileCommand &Command : Index.Commands)
    Units.insert(mainFile(Command));
  Units.insert(Index.Unparsed.begin(), Index.Unparsed.end());
  ChangedHeaders Headers;
  for (const std::string &File : Changed)
    if (!Units.count(File))
      Headers.add(File);
  const std::set<StringRef> Wrappers = withCompanions(Decided, Converts);
  if (Headers.empty() && Wrappers.empty())
    return;
  std::set<std::pair<std::string, std::string>> Found; // sorted; and the header
  std::set<std::pair<std::string, StringRef>> Others;  // and the wrapper
  std::error_code Code;
  size_t Left = 200'000; // of a folder that is far more than the program, not all is worth the time
  for (sys::fs::recursive_directory_iterator It(Index.Root, Code, /*follow_symlinks=*/false), End;
       !Code && It != End && Left-- > 0; It.increment(Code)) {
    StringRef Path = It->path();
    if (sys::path::filename(Path).starts_with(".")) // .git and the like
      It.no_push();
    else if (sys::path::extension(Path) == ".c" && !Units.count(Path.str()))
      if (auto Read = MemoryBuffer::getFile(Path)) {
        StringRef Text = (*Read)->getBuffer();
        if (mentionsLocks(Text))
          if (StringRef Header = Headers.includedBy(Path, Text); !Header.empty())
            Found.insert({Path.str(), Header.str()});
        for (StringRef Wrapper : Wrappers)
          if (definesFunction(Text, Wrapper))
            Others.insert({Path.str(), Wrapper});
      }
  }
  if (Left == size_t(-1))
    messageFor(Index.Root,
               "has more files than are looked through for such that use what changes; name the "
               "others in a compile database",
               "unindexed");
  for (const auto &[File, Header] : Found)
    messageFor(File,
               "is in no compile database, uses mutexes or conditions, and includes '" + Header +
                   "', which changes: index it with the others, or convert it by hand",
               "unindexed");
  for (const auto &[File, Wrapper] : Others)
    messageFor(File,
               "is in no compile database, and defines '" + Wrapper.str() +
                   "' for another system or configuration: sections that called it are run by a "
                   "function beside it, which this file needs, too",
               "unindexed");
}

namespace {

struct MacroDefinition {
  StringRef Name;
  size_t Begin = 0, Line = 0; // of the directive
};

} // namespace

static std::vector<MacroDefinition> definitionsIn(StringRef Text) {
  std::vector<MacroDefinition> Found;
  size_t Number = 0;
  for (StringRef Line : split(Text, '\n')) {
    ++Number;
    auto [Directive, Rest] = directiveOf(Line);
    if (Directive == "define")
      Found.push_back({Rest.take_while([](char C) { return isAlnum(C) || C == '_'; }),
                       size_t(Line.data() - Text.data()), Number});
  }
  return Found;
}

void reportOtherDefinitions(const Decision &Decided,
                            function_ref<bool(const CheckedClass &)> Converts,
                            const FileTexts &Before) {
  // By the place of their lock in the body of a macro. Divided: macros that stay in sections, as
  // another one of as many definitions.
  std::map<Position, size_t> InMacros;
  std::map<StringRef, size_t> Calling;  // lock wrappers, by node
  std::map<ResultTest, size_t> Varying; // … of which a part is compiled elsewhere only
  std::set<StringRef> Divided;
  for (const CheckedClass &Class : Decided.Classes)
    for (const CheckedSection &S : Class.Sections)
      if (Converts(Class) && S.Outcome == Verdict::Delegate && S.Facts.Extract &&
          S.Facts.Extract->Macro.empty() && S.Facts.Extract->Directive.empty()) {
        for (const Position &Place : S.Facts.MacroPlaces)
          ++InMacros[Place];
        for (const ResultTest &Wrapper : S.Facts.Varying)
          ++Varying[Wrapper];
        for (StringRef Node : std::set<StringRef>(S.Facts.Extract->Wrappers.begin(),
                                                  S.Facts.Extract->Wrappers.end()))
          ++Calling[Node];
        for (const MacroRest &Rest : S.Facts.Extract->Rests)
          if (!Rest.Macro.empty())
            Divided.insert(Rest.Macro);
      }
  std::map<std::string, std::unique_ptr<MemoryBuffer>> Texts;
  auto DefinitionsOf = [&](const FileName &File) -> std::vector<MacroDefinition> {
    auto Old = Before.find(File);
    if (Old != Before.end())
      return definitionsIn(Old->second);
    auto &Read = Texts[File.str()];
    if (!Read)
      if (auto Text = MemoryBuffer::getFile(File.str()))
        Read = std::move(*Text);
    return Read ? definitionsIn(Read->getBuffer()) : std::vector<MacroDefinition>();
  };
  auto ReportAt = [](const Position &At, const std::string &What, size_t Number) {
    message(At,
            What + "; " +
                (Number == 1 ? "a delegated section does"
                             : std::to_string(Number) + " delegated sections do") +
                " without it, and may not compile there: build that one, too",
            "other-definition");
  };
  auto Report = [&](const FileName &File, const MacroDefinition &Other, size_t Number) {
    ReportAt(Position{File, unsigned(Other.Begin), unsigned(Other.Line), 1},
             "'" + Other.Name.str() + "' is something else here, for another configuration",
             Number);
  };
  for (const auto &[Place, Number] : InMacros) {
    const std::vector<MacroDefinition> All = DefinitionsOf(Place.File);
    auto Behind = find_if(All, [&](const MacroDefinition &D) { return D.Begin > Place.Offset; });
    if (Behind == All.begin())
      continue;
    const MacroDefinition &Own = *std::prev(Behind);
    auto Other = find_if(
        All, [&](const MacroDefinition &D) { return D.Name == Own.Name && D.Begin != Own.Begin; });
    if (Other != All.end() && !Divided.count(Own.Name))
      Report(Place.File, *Other, Number);
  }
  for (const auto &[Wrapper, Number] : Varying)
    ReportAt(Wrapper.At, "'" + Wrapper.Wrapper + "' does something else in another configuration",
             Number);
  // A static function that is a macro there.
  for (const StaticWrapper &W : Decided.StaticWrappers)
    if (auto Calls = Calling.find(W.Node); Calls != Calling.end()) {
      const std::vector<MacroDefinition> All = DefinitionsOf(W.Place.Begin.File);
      auto Other = find_if(All, [&](const MacroDefinition &D) { return D.Name == W.Name; });
      if (Other != All.end())
        Report(W.Place.Begin.File, *Other, Calls->second);
    }
}

// The first other file that a `#line 12 "grammar.y"` of the text names; empty: none.
static StringRef sourceOf(StringRef File, StringRef Text) {
  for (StringRef Line; !Text.empty();) {
    std::tie(Line, Text) = Text.split('\n');
    auto [Directive, Rest] = directiveOf(Line);
    StringRef Named = Rest.split('"').second.split('"').first;
    if (Directive == "line" && !Named.empty() &&
        sys::path::filename(Named) != sys::path::filename(File))
      return Named;
  }
  return "";
}

void reportGenerated(const std::set<std::string> &Changed) {
  for (const std::string &File : Changed)
    if (auto Text = MemoryBuffer::getFile(File))
      if (StringRef Source = sourceOf(File, (*Text)->getBuffer()); !Source.empty())
        messageFor(File,
                   "changes, and is generated from '" + Source.str() +
                       "', as its #line directives say: change that, too, or the next build "
                       "undoes it",
                   "generated");
}

} // namespace relock
