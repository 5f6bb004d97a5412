// SPDX-License-Identifier: MIT
#include "rewrite/Rewrite.h"

#include "index/LockApi.h"
#include "rewrite/CompanionText.h"
#include "rewrite/Format.h"
#include "rewrite/Layout.h"
#include "rewrite/LockTable.h"
#include "rewrite/Outline.h"
#include "section/Directives.h"
#include "section/Nest.h"
#include "support/Messages.h"

#include "clang/Basic/LangOptions.h"
#include "clang/Lex/Lexer.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

#include <list>

using namespace llvm;

namespace relock {
namespace {

struct DelegatedSection {
  const Extraction *Extract;
  bool AnyThread;
  Owners By; // itself; the uses of a macro have one section
};

// What happens to one file.
struct FilePlan {
  std::map<TextEdit, Owners> Tokens;
  std::vector<DelegatedSection> Sections; // in the order of the text
};

struct OwnedEdit {
  TextEdit Edit;
  Owners By;
};

// The sections of a file as they are written, and what else changes in it.
struct FileSections {
  std::string File;
  std::vector<DelegatedSection> Sections;
  std::vector<TextEdit> Tokens;
};

class Rewriter {
public:
  // Kept: nodes of static lock wrappers that stay, although no unit calls them any more.
  Rewriter(const IndexResult &Index, const Decision &Decided, const Choice &Chosen,
           const std::vector<TableServer> &Servers, const std::set<std::string> &Kept)
      : Index(Index), Decided(Decided), Chosen(Chosen), Servers(Servers), Kept(Kept) {}

  Expected<RewriteResult> run() {
    plan();
    if (Plans.empty())
      return std::move(Result);
    for (auto &[File, Plan] : Plans)
      if (Error Failed = load(File))
        return Failed;
    if (!Result.Faults.empty())
      return std::move(Result);
    findOwnFiles();
    planRests();
    planCompanions();
    planUnusedWrappers();
    placeTable();
    findFarReaders();
    for (auto &[File, Plan] : Plans)
      rewriteFile(File, Plan);
    writeTable();
    return std::move(Result);
  }

  // The nodes of removed functions that the text still calls: in a macro that no unit uses, or
  // where no configuration of the index gets.
  std::set<std::string> removedInVain(const RewriteResult &Written) const {
    std::set<std::string> Found;
    for (const StaticWrapper *W : Removed) {
      const std::string File = W->Place.Begin.File.str();
      const bool Own = OwnFiles.count(File);
      auto Calls = [&](const std::string &Other, StringRef Text) {
        return (!Own || Other == File) && calls(Text, W->Name);
      };
      auto CallsUnchanged = [&](const std::string &Other) {
        auto Buffer = MemoryBuffer::getFile(Other);
        return Buffer && Calls(Other, (*Buffer)->getBuffer());
      };
      if (any_of(Written.After, [&](const auto &F) { return Calls(F.first, F.second); }) ||
          (!Own && any_of(unchangedFiles(), CallsUnchanged)))
        Found.insert(W->Node);
    }
    return Found;
  }

private:
  const IndexResult &Index;
  const Decision &Decided;
  const Choice &Chosen;
  const std::vector<TableServer> &Servers;
  const std::set<std::string> &Kept;
  std::map<std::string, FilePlan> Plans;
  std::vector<const StaticWrapper *> Removed;
  std::vector<TableEntry> Entries;
  std::string Table;                                  // absolute path of relock_locks.h
  std::map<std::string, std::set<std::string>> Names; // of extracted functions, to their files
  std::set<std::string> OwnFiles;                     // main files that no other unit includes
  std::set<std::string> FarReaders;                   // files that need the table's path to name it
  std::map<std::string, std::string> CompanionOf;     // names, by Companion::id()
  std::map<std::string, std::string> CompanionNames;  // the other way
  std::map<std::string, std::string> CompanionDefinitions; // by the node of the wrapper before it
  RewriteResult Result;
  std::list<Extraction> Retyped;
  std::set<std::string> Split; // macros and layers that also serve locks that are not converted
  // Static functions of the program's lock layer whose calls become others where they convert; and
  // those of them that nothing calls any more.
  std::set<std::string> ReplacedCalls;
  std::map<std::string, Owners> Uncalled;

  void plan() {
    std::map<std::string, Owners> Groups;
    for (const CheckedClass &Checked : Decided.Classes) {
      auto Algorithm = Chosen.find(Checked.Class.Id);
      if (Algorithm == Chosen.end())
        continue;
      if (Checked.converts())
        Entries.push_back({Checked.Class.Identifier, Checked.Class.Name, Algorithm->second});
      Groups[Checked.Class.Group].Classes.insert(Checked.Class.Id);
    }
    for (const auto &[Group, Edits] : Decided.Edits)
      if (!Groups.count(Group))
        for (const Edit &E : Edits)
          if (!E.Macro.empty())
            Split.insert(E.Macro);
    for (const CheckedClass &Checked : Decided.Classes) {
      if (!Chosen.count(Checked.Class.Id))
        continue;
      if (!Checked.changes())
        Result.Faults.push_back(
            {"not-rewritten", "'" + Checked.Class.Name + "' is kept", {{}, {Checked.Class.Id}}});
      for (const CheckedSection &S : Checked.Sections) {
        if (S.Outcome != Verdict::Delegate) {
          ++Result.Held;
          continue;
        }
        ++Result.Delegated;
        if (S.Facts.Continues)
          continue; // a part of another one
        const Extraction &Extract = *S.Facts.Extract;
        Plans[Extract.File].Sections.push_back(
            {&retyped(Extract), S.AnyThread, {{keyOf(S.Facts)}, {}}});
        for (const MacroRest &Rest : Extract.Rests)
          for (const MacroRest::Definition &D : Rest.Definitions)
            Plans[D.At.File];
        if (Extract.Through) { // the files of its companion change too
          Plans[Extract.Through->end().File];
          for (const Prototype &Declared : Extract.Through->Prototypes)
            Plans[Declared.At.File];
        }
      }
    }
    planTokens(Groups);
    for (auto &[File, Plan] : Plans)
      sort(Plan.Sections, [](const DelegatedSection &A, const DelegatedSection &B) {
        return A.Extract->Whole.Begin < B.Extract->Whole.Begin;
      });
  }

  // The extraction as its captured variables are declared when all has converted: a pointer to a
  // mutex or condition of a class that does is one of Relock's.
  const Extraction &retyped(const Extraction &Extract) {
    if (Extract.LockNodes.empty())
      return Extract;
    Extraction &Changed = Retyped.emplace_back(Extract);
    for (const auto &[Name, Id] : Extract.LockNodes) {
      if (!Chosen.count(Id))
        continue;
      for (Capture &C : Changed.Captures)
        if (C.Name == Name)
          for (std::string *Text : {&C.Field, &C.Local, &C.Parameter})
            retype(*Text);
      for (std::string &Declaration : Changed.Hoisted)
        if (hasWord(Declaration, Name))
          retype(Declaration);
      for (KeptDeclaration &Kept : Changed.Kept)
        for (KeptDeclaration::Value &Value : Kept.Values)
          if (Value.Name == Name)
            retype(Value.Type);
    }
    return Changed;
  }

  void retype(std::string &Declaration) const {
    auto Replace = [&](StringRef Type, const std::string &By) {
      if (size_t At = findWord(Declaration, Type); At != StringRef::npos)
        Declaration.replace(At, Type.size(), By);
    };
    for (StringRef Type : {"pthread_mutex_t", "pthread_cond_t"})
      Replace(Type, relockName(Type));
    for (const LayerName &Own : Decided.LayerNames)
      if (Split.count(Own.Layer)) // it stays
        Replace(Own.Name, Own.Condition ? "relock_cond_t" : "relock_mutex_t");
  }

  void planTokens(const std::map<std::string, Owners> &Groups) {
    const std::map<std::string, InitMacro> Init = initMacros(Groups);
    std::map<std::pair<Position, std::string>, MacroCopy> Copies; // by place and text
    for (const auto &[Group, By] : Groups) {
      auto Found = Decided.Edits.find(Group);
      if (Found == Decided.Edits.end())
        continue;
      for (const Edit &E : Found->second) {
        auto Macro = Init.find(E.Macro);
        std::optional<std::string> Text = textOf(E, Macro == Init.end() ? nullptr : &Macro->second);
        if (!Text)
          continue;
        if (E.Where == Edit::AtUse && !E.Use.empty() && !E.Length) {
          MacroCopy &Copy = Copies[{E.At, *Text}];
          Copy.Name = E.Use;
          Copy.By.add(By);
          continue;
        }
        Plans[E.At.File].Tokens[{{E.At.Offset, E.At.Offset + E.Length}, *Text}].add(By);
      }
    }
    for (const auto &[Place, Copy] : Copies)
      if (isUsed(Copy.Name))
        insertLate(Place.first, Place.second, Copy.By);
    for (const StaticWrapper &W : Decided.StaticWrappers) {
      const bool Replaced = W.Layer.Initialises || Split.count(W.Layer.Id);
      if (W.Layer.Id.empty() || !Replaced || W.Layer.Users.empty())
        continue;
      ReplacedCalls.insert(W.Node);
      if (!all_of(W.Layer.Users,
                  [&](const std::string &Group) { return Groups.count(Group) != 0; }))
        continue;
      Plans[W.Place.Begin.File];
      for (const std::string &Group : W.Layer.Users)
        Uncalled[W.Node].add(Groups.at(Group));
    }
  }

  // Of a lock macro that also serves locks that stay.
  struct MacroCopy {
    std::string Name;
    Owners By;
  };

  // True if text that stays uses the copy of a lock macro: an operation of a delegated section
  // goes.
  bool isUsed(const std::string &Copy) const {
    return any_of(Plans, [&](const auto &File) {
      const FilePlan &Plan = File.second;
      return any_of(Plan.Tokens, [&](const auto &Token) {
        const TextEdit &E = Token.first;
        return E.Text == Copy && all_of(Plan.Sections, [&](const DelegatedSection &S) {
                 return staysIn(*S.Extract, E.At);
               });
      });
    });
  }

  static bool staysIn(const Extraction &Section, const Range &At) {
    if (!contains(Section.Whole, At))
      return true;
    return contains(Section.Body, At) && none_of(Section.Exits, [&](const EarlyExit &Exit) {
             return contains(Exit.Unlock, At) && !contains(Exit.Tail, At);
           });
  }

  // A macro that does more than to initialise a mutex, and serves none that stays.
  struct InitMacro {
    std::set<std::string> Classes;    // `, RELOCK_CLASS(queue_lock)`, by all of its uses
    std::set<Position> Places;        // of a class in its body
    std::set<std::string> Named;      // the uses that can name their class
    std::set<std::string> WrittenOut; // those that can be written out
    bool NamesClass = false;          // in its body, whatever its uses may say

    bool takesClass() const { return Classes.size() > 1 && !NamesClass && allNamed(); }
    bool isOfOneClass() const { // its body names it
      return Classes.size() == 1 && !NamesClass && allNamed();
    }

  private:
    bool allNamed() const {
      return std::includes(Named.begin(), Named.end(), WrittenOut.begin(), WrittenOut.end());
    }
  };

  std::map<std::string, InitMacro> initMacros(const std::map<std::string, Owners> &Groups) const {
    std::map<std::string, InitMacro> Result;
    auto Each = [&](auto Do) {
      for (const auto &[Group, Edits] : Decided.Edits)
        if (Groups.count(Group))
          for (const Edit &E : Edits)
            if (!E.Macro.empty() && !Split.count(E.Macro))
              Do(E);
    };
    Each([&](const Edit &E) {
      if (E.Where == Edit::WrittenOut)
        Result[E.Macro].WrittenOut.insert(E.Use);
      if (E.Where != Edit::WithClass)
        return;
      InitMacro &Macro = Result[E.Macro];
      if (!E.Use.empty())
        Macro.Named.insert(E.Use);
      if (E.Length == 0 && !E.Use.empty())
        Macro.Classes.insert(E.Text);
      else if (E.Length == 0)
        Macro.Places.insert(E.At);
    });
    Each([&](const Edit &E) { // what other configurations leave to the body
      if (auto Macro = Result.find(E.Macro); Macro != Result.end() && E.Where == Edit::InBody &&
                                             Macro->second.Places.count(E.At) && E.Text != ", NULL")
        Macro->second.Classes.insert(E.Text);
    });
    std::set<Position> Named;
    for (const auto &[Group, Edits] : Decided.Edits)
      if (Groups.count(Group))
        for (const Edit &E : Edits)
          if (E.Where == Edit::Anywhere && StringRef(E.Text).contains("RELOCK_CLASS("))
            Named.insert(E.At);
    for (auto &[Name, Macro] : Result)
      Macro.NamesClass = any_of(Macro.Places, [&](const Position &At) { return Named.count(At); });
    return Result;
  }

  // What an edit writes; nothing if another one does it. Macro: that initialises, or null.
  std::optional<std::string> textOf(const Edit &E, const InitMacro *Macro) const {
    if (Split.count(E.Layer))
      return std::nullopt;
    const bool Stays = Split.count(E.Macro);
    const bool TakesClass = Macro && Macro->takesClass();
    const bool OfOneClass = Macro && Macro->isOfOneClass();
    bool Written = true;
    switch (E.Where) {
    case Edit::Anywhere:
    case Edit::IfUnnamed:
      break;
    case Edit::AtUse:
      Written = Stays || StringRef(E.Text).contains("RELOCK_CLASS(");
      break;
    case Edit::WrittenOut:
      Written = Stays || (!TakesClass && !OfOneClass);
      break;
    case Edit::WithClass:
      Written = TakesClass;
      break;
    case Edit::InBody:
      if (Macro && Macro->Places.count(E.At)) {
        if (OfOneClass)
          return *Macro->Classes.begin();
        Written = !TakesClass;
      } else {
        Written = !Stays;
      }
      break;
    }
    return Written ? std::optional(E.Text) : std::nullopt;
  }

  Error load(const std::string &File) {
    auto Buffer = MemoryBuffer::getFile(File);
    if (!Buffer)
      return createStringError(shownPath(File) +
                               ": cannot be read: " + Buffer.getError().message());
    std::string Text = (*Buffer)->getBuffer().str();
    std::string Hash = utohexstr(xxh3_64bits(Text));
    for (const UnitFacts &Unit : Index.Units)
      for (const Dependency &D : Unit.Dependencies)
        if (D.File == File && D.Hash != Hash)
          return createStringError(shownPath(File) +
                                   ": changed while it was being analysed; run the command again");
    Result.Before[File] = std::move(Text);
    return Error::success();
  }

  // Gives the sections macros for what lock macros do besides.
  void planRests() {
    std::map<std::pair<Position, std::string>, Owners> Definitions;
    for (const auto &[File, Plan] : Plans)
      for (const DelegatedSection &S : Plan.Sections)
        for (const MacroRest &Rest : S.Extract->Rests) {
          if (!Rest.Text.empty())
            Plans[File].Tokens[{Rest.Use, Rest.Text}].add(S.By);
          for (const MacroRest::Definition &D : Rest.Definitions)
            Definitions[{D.At, D.Text}].add(S.By);
        }
    for (auto &[Definition, By] : Definitions)
      insertLate(Definition.first, Definition.second, By);
  }

  // Gives each lock wrapper that sections are executed through its companion.
  void planCompanions() {
    std::map<std::string, DelegatedSection> Wrappers;
    for (const auto &[File, Plan] : Plans)
      for (const DelegatedSection &S : Plan.Sections)
        if (S.Extract->Through)
          addUse(Wrappers.try_emplace(S.Extract->Through->id(), S).first->second, S);
    for (const auto &[Id, Use] : Wrappers) {
      Companion Through = *Use.Extract->Through;
      for (Prototype &Declared : Through.Prototypes)
        for_each(Declared.Parameters, [&](std::string &P) { retype(P); });
      if (Through.Around)
        for (WrapperBody::Parameter &P : Through.Facts.Body->Parameters)
          retype(P.Text);
      CompanionText Text = {.Name = companionName(Through.Name, Id),
                            .Execute =
                                Use.AnyThread ? "relock_execute_any_thread" : "relock_execute",
                            .Lock = Through.Around ? Through.Facts.Body->Lock : Use.Extract->Lock,
                            .Unit = Use.Extract->IndentUnit,
                            .Brace = braceLike(Through.Facts)};
      CompanionOf[Id] = Text.Name;
      CompanionNames[Text.Name] = Id;
      const Position End = Through.end();
      std::vector<std::string> Parameters;
      for (const Prototype &Declared : Through.Prototypes)
        if (Declared.At == Through.Facts.Behind)
          Parameters = Declared.Parameters;
        else
          insertLate(Declared.At, "\n" + Text.head(Through, Declared.Parameters) + ";", Use.By);
      const std::string Definition = Text.definition(Through, Parameters);
      std::string &Place =
          CompanionDefinitions[End == Through.Facts.Behind ? Through.Node : Through.UnlockNode];
      Place += (Place.empty() ? "" : "\n\n") + Definition;
      const bool BehindGroup =
          End != Through.Facts.End && (!Through.Unlock || End != Through.Unlock->End);
      StringRef Next = StringRef(Result.Before.at(End.File)).substr(End.Offset);
      const bool Blank = !BehindGroup || Next.starts_with("\n\n") || Next.trim().empty();
      insertLate(End, "\n\n" + Definition + (Blank ? "" : "\n"), Use.By);
    }
  }

  static void addUse(DelegatedSection &Known, const DelegatedSection &Other) {
    Known.AnyThread &= Other.AnyThread;
    Known.By.add(Other.By);
  }

  // Between the head and the body of a function, as the wrapper has it.
  std::string braceLike(const Wrapper &W) const {
    StringRef Text = StringRef(Result.Before.at(W.End.File)).slice(W.Begin.Offset, W.End.Offset);
    bool OwnLine = Text.take_front(Text.find('{')).rtrim(" \t").ends_with("\n");
    return OwnLine ? "\n{\n" : " {\n";
  }

  // A static lock wrapper that nothing calls any more would be a new warning.
  void planUnusedWrappers() {
    std::map<std::string, std::pair<size_t, Owners>> Gone;
    std::set<std::string> Named; // by macros that nobody uses any more, or by a companion elsewhere
    for (const auto &[File, Plan] : Plans)
      for (const DelegatedSection &S : Plan.Sections) {
        Named.insert(S.Extract->Cleanup);
        if (S.Extract->Through && !S.Extract->Through->Configuration.empty())
          Named.insert({S.Extract->Through->Node, S.Extract->Through->UnlockNode});
        for (const std::string &Node : S.Extract->Wrappers) {
          ++Gone[Node].first;
          Gone[Node].second.add(S.By);
        }
      }
    std::set<std::string> Done;
    for (bool Changed = true; Changed;) {
      Changed = false;
      for (const StaticWrapper &W : Decided.StaticWrappers) {
        auto Found = Gone.find(W.Node);
        auto Replaced = Uncalled.find(W.Node);
        bool Unused = ReplacedCalls.count(W.Node)
                          ? Replaced != Uncalled.end()
                          : Found != Gone.end() && Found->second.first == W.Calls;
        if (!Unused || W.Place.Common || !Done.insert(W.Node).second)
          continue;
        const Owners By = Replaced != Uncalled.end() ? Replaced->second : Found->second.second;
        if (W.Place.Declared || Named.count(W.Node) || Kept.count(W.Node)) {
          insertLate(W.Place.Begin, "__attribute__((unused)) ", By);
          continue;
        }
        removeFunction(W, By);
        if (!W.Through.empty()) { // its call of that goes with it
          ++Gone[W.Through].first;
          Gone[W.Through].second.add(By);
          Changed = true;
        }
      }
    }
  }

  // Its companion, which stands behind it, takes its place.
  void removeFunction(const StaticWrapper &Unused, const Owners &By) {
    const WrapperPlace &W = Unused.Place;
    Removed.push_back(&Unused);
    StringRef Text = Result.Before[W.Begin.File];
    unsigned Begin = Text.rfind('\n', W.Begin.Offset) + 1, End = W.End.Offset;
    size_t Line = Text.find('\n', End);
    End = Line == StringRef::npos ? Text.size() : Line + 1;
    auto Companion = CompanionDefinitions.find(Unused.Node);
    bool Replaced = Companion != CompanionDefinitions.end();
    const bool Stays = Begin && !Text.take_front(Begin).ends_with("\n\n") &&
                       any_of(Removed, [&](const StaticWrapper *Other) {
                         return CompanionDefinitions.count(Other->Node) &&
                                Text.find('\n', Other->Place.End.Offset) + 1 == Begin;
                       });
    if (Text.substr(End).starts_with("\n") && !Replaced && !Stays)
      ++End; // one of the two blank lines around it
    std::map<TextEdit, Owners> &Tokens = Plans[W.Begin.File].Tokens;
    std::erase_if(Tokens, [&](const auto &T) { return contains({Begin, End}, T.first.At); });
    Tokens[{{Begin, End}, Replaced ? Companion->second + "\n" : ""}].add(By);
  }

  void insertLate(const Position &At, std::string Text, const Owners &By) {
    Plans[At.File].Tokens[{{At.Offset, At.Offset}, std::move(Text)}].add(By);
  }

  // STATS_LOCK → STATS_EXECUTE, StatsLock → StatsExecute.
  std::string companionName(StringRef Wrapper, const std::string &Id) const {
    auto IsUpper = [](StringRef Word) { return any_of(Word, isUpper) && none_of(Word, isLower); };
    std::string Name;
    size_t At = Wrapper.rfind_insensitive("lock");
    if (At == StringRef::npos) {
      Name = (Wrapper + (IsUpper(Wrapper) ? "_EXECUTE" : "_execute")).str();
    } else {
      StringRef Lock = Wrapper.substr(At, 4);
      StringRef Word = IsUpper(Lock) ? "EXECUTE" : isUpper(Lock[0]) ? "Execute" : "execute";
      Name = (Wrapper.take_front(At) + Word + Wrapper.drop_front(At + 4)).str();
    }
    while (!isFree(Name, Id))
      Name += "_relock";
    return Name;
  }

  // Every file may see the companion, or be linked with it.
  bool isFree(StringRef Name, const std::string &Id) const {
    auto Given = CompanionNames.find(Name.str());
    if (Given != CompanionNames.end() && Given->second != Id)
      return false;
    if (any_of(Result.Before,
               [&](const auto &File) { return StringRef(File.second).contains(Name); }))
      return false;
    return none_of(unchangedFiles(), [&](const std::string &File) {
      auto Buffer = MemoryBuffer::getFile(File);
      return Buffer && (*Buffer)->getBuffer().contains(Name);
    });
  }

  // What units read besides.
  std::set<std::string> unchangedFiles() const {
    std::set<std::string> Files;
    for (const UnitFacts &Unit : Index.Units)
      for (const Dependency &D : Unit.Dependencies)
        if (!Plans.count(D.File))
          Files.insert(D.File);
    return Files;
  }

  // Beside the table that is there already, or in the folder that holds all changed files of the
  // source root.
  void placeTable() {
    for (const UnitFacts &Unit : Index.Units)
      if (!Unit.LockTable.empty())
        Table = Unit.LockTable;
    if (!Table.empty())
      return;
    SmallString<256> Folder;
    for (const auto &[File, Plan] : Plans) {
      if (!StringRef(File).starts_with(Index.Root + "/"))
        continue;
      if (Folder.empty())
        Folder = sys::path::parent_path(File);
      while (!StringRef(File).starts_with((Folder + "/").str()))
        sys::path::remove_filename(Folder);
    }
    if (Folder.empty()) // all of them are in other folders that the user names
      Folder = Index.Root;
    sys::path::append(Folder, "relock_locks.h");
    Table = std::string(Folder);
  }

  // A file that only commands read which search the table's folder names it as it names headers of
  // the program that are not beside it. Of commands that did not parse nobody knows what they read.
  void findFarReaders() {
    const StringRef Folder = sys::path::parent_path(Table);
    const bool All = !Index.Unparsed.empty();
    for (size_t I = 0; I < Index.Units.size(); ++I)
      if (All || !searches(Index.Commands[I], Folder))
        for (const Dependency &D : Index.Units[I].Dependencies)
          FarReaders.insert(D.File);
    for (size_t I = 0; I < Index.NotC.size(); ++I)
      if (All || !searches(Index.CommandsNotC[I], Folder))
        FarReaders.insert(Index.NotC[I].Includes.begin(), Index.NotC[I].Includes.end());
  }

  // True if `#include "…"` looks in the folder, wherever it stands.
  static bool searches(const clang::tooling::CompileCommand &Command, StringRef Folder) {
    const std::vector<std::string> &Words = Command.CommandLine;
    for (size_t I = 0; I < Words.size(); ++I) {
      StringRef Word = Words[I];
      if (!Word.consume_front("-iquote") && !Word.consume_front("-I"))
        continue;
      SmallString<256> Searched(Word.empty() && I + 1 < Words.size() ? Words[I + 1] : Word);
      sys::fs::make_absolute(Command.Directory, Searched);
      sys::path::remove_dots(Searched, /*remove_dot_dot=*/true);
      if (Searched == Folder)
        return true;
    }
    return false;
  }

  void writeTable() {
    std::string Existing;
    if (auto Buffer = MemoryBuffer::getFile(Table)) {
      Existing = (*Buffer)->getBuffer().str();
      Result.Before[Table] = Existing;
    }
    std::string Text = lockTable(Existing, Entries, Servers);
    if (Text != Existing) {
      Result.Edits[Table] = {wholeEdit(Existing, Text)};
      Result.After[Table] = Text;
    }
  }

  // One edit that makes a text of another: what differs between their common head and tail.
  static TextEdit wholeEdit(StringRef Before, StringRef After) {
    size_t Least = std::min(Before.size(), After.size()), Head = 0, Tail = 0;
    while (Head < Least && Before[Head] == After[Head])
      ++Head;
    while (Tail < Least - Head &&
           Before[Before.size() - 1 - Tail] == After[After.size() - 1 - Tail])
      ++Tail;
    return {{unsigned(Head), unsigned(Before.size() - Tail)},
            After.drop_back(Tail).substr(Head).str()};
  }

  // Edits that touch become one: nobody else need know in which order they go.
  static std::vector<TextEdit> joined(const std::vector<TextEdit> &Edits) {
    std::vector<TextEdit> Result;
    for (const TextEdit &E : Edits)
      if (!Result.empty() && Result.back().At.End == E.At.Begin) {
        Result.back().At.End = E.At.End;
        Result.back().Text += E.Text;
      } else {
        Result.push_back(E);
      }
    return Result;
  }

  void rewriteFile(const std::string &File, const FilePlan &Plan) {
    StringRef Text = Result.Before[File];
    std::vector<OwnedEdit> Edits;
    std::map<std::string, std::string> Functions; // names by text
    FileSections Unlike = {File, unlikeSections(Plan.Sections), {}};
    for (const auto &[Token, By] : Plan.Tokens)
      Unlike.Tokens.push_back(Token);
    for (size_t I = 0; I < Unlike.Sections.size();) {
      Owners By;
      OutlinedSection Section = outline(Unlike, I, Text, Functions, Edits, By);
      Edits.push_back({{Section.Extract->Whole, render(Section, Unlike, Text, By).Call}, By});
      std::string Hoisted;
      for (const std::string &Declaration : Section.Extract->Hoisted)
        Hoisted += "\n" + Section.Extract->Indent + Declaration;
      if (unsigned At = Section.Extract->HoistAt)
        Edits.push_back({{{At, At}, Hoisted}, By});
    }
    std::vector<OwnedEdit> Removed;
    removeDeclarators(Text, Plan, Unlike.Tokens, Removed);
    for (const auto &[Token, By] : Plan.Tokens)
      if (none_of(Plan.Sections,
                  [&, At = Token.At](const DelegatedSection &S) {
                    return contains(S.Extract->Whole, At);
                  }) &&
          none_of(Removed,
                  [&, At = Token.At](const OwnedEdit &E) { return contains(E.Edit.At, At); }))
        Edits.push_back({Token, By});
    append_range(Edits, Removed);
    addLayout(Text, Edits);
    addInclude(File, Text, Edits);
    finishFile(File, Edits);
  }

  static void addLayout(StringRef Text, std::vector<OwnedEdit> &Edits) {
    std::vector<TextEdit *> All;
    for (OwnedEdit &E : Edits)
      All.push_back(&E.Edit);
    for (auto &[Edit, For] : keepLayout(Text, All))
      Edits.push_back({std::move(Edit), Edits[For].By});
  }

  void finishFile(const std::string &File, std::vector<OwnedEdit> &Edits) {
    StringRef Text = Result.Before[File];
    // Several functions before one: they keep the order of their sections.
    stable_sort(Edits, [](const OwnedEdit &A, const OwnedEdit &B) {
      return std::tie(A.Edit.At.Begin, A.Edit.At.End) < std::tie(B.Edit.At.Begin, B.Edit.At.End);
    });
    std::vector<TextEdit> Plain;
    for (size_t I = 0, Furthest = 0; I < Edits.size(); ++I) {
      if (I && collide(Edits[Furthest].Edit, Edits[I].Edit))
        collision(File, Edits[I], Edits[Furthest].By);
      if (Edits[I].Edit.At.End > Edits[Furthest].Edit.At.End)
        Furthest = I;
      Plain.push_back(Edits[I].Edit);
      Result.Owned[File].push_back({Edits[I].Edit.At, Edits[I].By});
    }
    Plain = joined(Plain);
    if (endsWithReturns(Text))
      for (TextEdit &E : Plain)
        E.Text = withReturns(E.Text);
    formatAsProject(File, Index.Root, Text, Plain, Result.Unread);
    bool Collided = false; // is among the faults then
    Result.After[File] = applyEdits(Text, {0, unsigned(Text.size())}, Plain, Collided);
    Result.Edits[File] = std::move(Plain);
  }

  // It is enough that the sections among the owners hold.
  void collision(const std::string &File, const OwnedEdit &E, const Owners &Other) {
    Owners By = E.By;
    By.add(Other);
    size_t Line = 1 + StringRef(Result.Before[File]).take_front(E.Edit.At.Begin).count('\n');
    Result.Faults.push_back({"not-rewritten",
                             "two changes of its text in " + shownPath(File) + ":" +
                                 std::to_string(Line) + " do not go together",
                             std::move(By)});
  }

  Outline render(const OutlinedSection &Section, const FileSections &In, StringRef Text,
                 const Owners &By) {
    Outline Result = renderOutline(Section, Text, In.Tokens);
    if (Result.Collided)
      collision(In.File, {{Section.Extract->Whole, ""}, By}, {});
    return Result;
  }

  // The uses of a macro have one section: it stands in the macro's body.
  static std::vector<DelegatedSection> unlikeSections(const std::vector<DelegatedSection> &All) {
    std::vector<DelegatedSection> Result;
    for (const DelegatedSection &S : All) {
      bool Known = !S.Extract->Macro.empty() && !Result.empty() &&
                   Result.back().Extract->Whole.Begin == S.Extract->Whole.Begin;
      if (!Known)
        Result.push_back(S);
      else
        addUse(Result.back(), S);
    }
    return Result;
  }

  // Adds the function of section I, behind those of the sections within it. I: the next section.
  // By: gets all of them.
  OutlinedSection outline(const FileSections &Plan, size_t &I, StringRef Text,
                          std::map<std::string, std::string> &Functions,
                          std::vector<OwnedEdit> &Edits, Owners &By) {
    const DelegatedSection &S = Plan.Sections[I++];
    By.add(S.By);
    std::string Name = uniqueName(S.Extract->FunctionName, Plan.File, Text);
    OutlinedSection Result = {S.Extract, Name, Name, {}, {}};
    if (S.Extract->Through)
      Result.Execute = {CompanionOf[S.Extract->Through->id()], S.Extract->Through->Arguments, ""};
    else
      Result.Execute = {executeName(S), {S.Extract->Lock}, ""};
    if (!S.Extract->Guard.empty() && S.Extract->Through)
      Result.Execute.Condition = S.Extract->Guard;
    else if (!S.Extract->Guard.empty())
      Result.Execute.Arguments.insert(Result.Execute.Arguments.begin(), S.Extract->Guard);
    while (I < Plan.Sections.size() && Plan.Sections[I].Extract->Whole.Begin < S.Extract->Whole.End)
      Result.Inner.push_back(outline(Plan, I, Text, Functions, Edits, By));
    std::string Function = render(Result, Plan, Text, By).Function;
    unsigned At = S.Extract->FunctionBegin;
    // A section of the same function with the same text needs no second function.
    std::string Same = std::to_string(At) + withoutName(Function, Result.Name);
    auto [Known, New] = Functions.try_emplace(Same, Result.Name);
    if (!New && !S.Extract->OwnStatics) {
      Result.Name = Known->second;
      return Result;
    }
    StringRef Above = Text.take_front(At);
    bool First = none_of(Edits, [&](const OwnedEdit &E) { return E.Edit.At.Begin == At; });
    if (First && At && !Above.ends_with("\n\n") && !Above.ends_with("\n\r\n"))
      Function = "\n" + Function;
    Edits.push_back({{{At, At}, std::move(Function)}, By});
    return Result;
  }

  static std::string executeName(const DelegatedSection &S) {
    StringRef Waits = S.Extract->Waits.empty() ? "" : "_resumable";
    bool Returns = any_of(S.Extract->Exits, [](const EarlyExit &Exit) { return Exit.Returns; });
    StringRef Guarded = S.Extract->Guard.empty() ? "" : "_if";
    return ("relock_execute" + Guarded + Waits + (!Waits.empty() && Returns ? "_from" : "")).str() +
           (S.AnyThread ? "_any_thread" : "");
  }

  static std::string withoutName(std::string Text, StringRef Name) {
    for (size_t At; (At = StringRef(Text).find(Name)) != std::string::npos;)
      Text.erase(At, Name.size());
    return Text;
  }

  // The mentions of such a section are mentions of the other one.
  static bool inBodyOfAnother(const Extraction &Inner, const FilePlan &Plan) {
    return any_of(Plan.Sections, [&](const DelegatedSection &S) {
      return S.Extract != &Inner && Inner.Macro.empty() &&
             contains(S.Extract->Whole, Inner.Whole) && !inTail(Inner, *S.Extract);
    });
  }

  // Variables that have moved into extracted functions with all their mentions.
  static void removeDeclarators(StringRef Text, const FilePlan &Plan,
                                const std::vector<TextEdit> &Tokens,
                                std::vector<OwnedEdit> &Edits) {
    std::map<unsigned, const Declarator *> Statements;   // by place
    std::map<unsigned, Owners> By;                       // likewise
    std::map<std::pair<unsigned, size_t>, size_t> Moved; // mentions by place and index
    std::map<std::pair<unsigned, size_t>, size_t> Mentions;
    for (const DelegatedSection &S : Plan.Sections) {
      auto Count = [&](const Declarator &Outer, size_t Moves) {
        Statements[Outer.Statement.Begin] = &Outer;
        By[Outer.Statement.Begin].add(S.By);
        Moved[{Outer.Statement.Begin, Outer.Index}] += Moves;
        Mentions[{Outer.Statement.Begin, Outer.Index}] = Outer.Mentions;
      };
      if (inBodyOfAnother(*S.Extract, Plan))
        continue;
      for (const Capture &C : S.Extract->Captures)
        if (C.Outer)
          Count(*C.Outer, C.Mentions);
      for (const Variable &V : S.Extract->Gone)
        Count(V.Outer, V.Mentions);
    }
    std::optional<unsigned> Gone; // all lines from the block's brace to here
    for (const auto &[Begin, D] : Statements) {
      std::vector<std::string> Left;
      for (size_t I = 0; I < D->All.size(); ++I)
        if (!Moved.count({Begin, I}) || Moved[{Begin, I}] != Mentions[{Begin, I}])
          Left.push_back(converted(Text, D->All[I], Tokens));
      Range Lines = D->Lines;
      bool First = Gone == Lines.Begin || Text.take_front(Lines.Begin).rtrim().ends_with("{");
      Gone = First && Left.empty() ? std::optional(Lines.End) : std::nullopt;
      if (First && Text.substr(Lines.End).starts_with("\n"))
        ++Lines.End; // the blank line that set the declarations apart
      if (Left.empty())
        Edits.push_back({{Lines, ""}, By[Begin]});
      else if (Left.size() < D->All.size())
        Edits.push_back(
            {{D->Statement, converted(Text, {D->Statement.Begin, D->SpecifierEnd}, Tokens) + " " +
                                join(Left, ", ") + ";"},
             By[Begin]});
    }
  }

  // A part of the text with the changes of its own words.
  static std::string converted(StringRef Text, Range Part, const std::vector<TextEdit> &Tokens) {
    bool Collided = false; // words do not overlap
    return applyEdits(Text, Part, Tokens, Collided);
  }

  // True if most lines end in "\r\n": then generated ones do, too.
  static bool endsWithReturns(StringRef Text) { return Text.count("\r\n") * 2 > Text.count('\n'); }

  static std::string withReturns(StringRef Text) {
    std::string Result;
    for (size_t I = 0; I < Text.size(); ++I) {
      if (Text[I] == '\n' && (I == 0 || Text[I - 1] != '\r'))
        Result += '\r';
      Result += Text[I];
    }
    return Result;
  }

  void findOwnFiles() {
    if (!Index.Unparsed.empty())
      return; // they may include any
    std::set<std::string> Included;
    for (const UnitFacts &Unit : Index.Units) {
      OwnFiles.insert(Unit.MainFile);
      for (const Dependency &D : Unit.Dependencies)
        if (D.File != Unit.MainFile)
          Included.insert(D.File);
    }
    for (const std::string &File : Included)
      OwnFiles.erase(File);
  }

  // Static functions, so that two files may have one of the same name if no unit has both.
  bool isTaken(const std::string &Name, const std::string &File) const {
    auto Taken = Names.find(Name);
    if (Taken == Names.end())
      return false;
    return !OwnFiles.count(File) || any_of(Taken->second, [&](const std::string &Other) {
      return Other == File || !OwnFiles.count(Other);
    });
  }

  std::string uniqueName(const std::string &Function, const std::string &File, StringRef Text) {
    std::string Base = Function + "_section", Name = Base;
    for (unsigned N = 2; Text.contains(Name) || isTaken(Name, File); ++N)
      Name = Base + std::to_string(N);
    Names[Name].insert(File);
    return Name;
  }

  // True if tokens of these spellings follow each other in the text.
  static bool hasTokens(StringRef Text, ArrayRef<StringRef> Spellings) {
    if (!Text.contains(Spellings.front()))
      return false;
    clang::LangOptions C;
    C.LineComment = true;
    std::string Buffer = Text.str(); // ends with a 0, as the lexer wants it
    clang::Lexer Raw(clang::SourceLocation(), C, Buffer.data(), Buffer.data(),
                     Buffer.data() + Buffer.size());
    size_t Matched = 0;
    for (clang::Token T; !Raw.LexFromRawLexer(T);) {
      StringRef Spelled(Raw.getBufferLocation() - T.getLength(), T.getLength());
      Matched = Spelled == Spellings[Matched] ? Matched + 1 : Spelled == Spellings.front();
      if (Matched == Spellings.size())
        return true;
    }
    return false;
  }

  // True if a directive in the text, not a comment, includes the file.
  static bool includes(StringRef Text, StringRef QuotedName) {
    return hasTokens(Text, {"#", "include", QuotedName});
  }

  static bool calls(StringRef Text, StringRef Function) { return hasTokens(Text, {Function, "("}); }

  // Where the table is not found, since the file is read through a link in another folder, it is
  // the fault of all that changes there.
  void addInclude(const std::string &File, StringRef Text, std::vector<OwnedEdit> &Edits) {
    const std::string Relative = relativePath(sys::path::parent_path(File), Table);
    std::string Name =
        "\"" + (FarReaders.count(File) ? Relative : sys::path::filename(Table).str()) + "\"";
    if (includes(Text, Name) || includes(Text, "\"" + Relative + "\""))
      return;
    std::string Line = "#include " + Name + "\n";
    std::vector<unsigned> Uses;
    Owners All;
    for (const OwnedEdit &E : Edits) {
      Uses.push_back(E.Edit.At.Begin);
      All.add(E.By);
    }
    unsigned At = includeOffset(Text, Uses);
    Result.Owned[File].push_back({{At, At}, std::move(All)});
    Edits.insert(Edits.begin(), {{{At, At}, Line}, {}});
  }

  static std::string relativePath(StringRef Folder, StringRef Target) {
    SmallVector<StringRef, 16> From, To;
    Folder.split(From, '/', -1, false);
    Target.split(To, '/', -1, false);
    size_t Common = 0;
    while (Common < From.size() && Common + 1 < To.size() && From[Common] == To[Common])
      ++Common;
    std::string Path;
    for (size_t I = Common; I < From.size(); ++I)
      Path += "../";
    for (size_t I = Common; I < To.size(); ++I)
      Path += (I > Common ? "/" : "") + To[I].str();
    return Path;
  }
};

} // namespace

Owners RewriteResult::ownersAt(StringRef File, unsigned Offset) const {
  Owners By;
  auto Ranges = Owned.find(File.str());
  auto Changes = Edits.find(File.str());
  if (Ranges == Owned.end() || Changes == Edits.end())
    return By;
  int64_t Moved = 0; // by the edits before
  for (const TextEdit &E : Changes->second) {
    int64_t Begin = E.At.Begin + Moved, End = Begin + E.Text.size();
    if (Offset >= Begin && Offset <= End)
      for (const OwnedRange &R : Ranges->second)
        if (R.At.Begin <= E.At.End && R.At.End >= E.At.Begin)
          By.add(R.By);
    Moved += int64_t(E.Text.size()) - (E.At.End - E.At.Begin);
  }
  return By;
}

Expected<RewriteResult> rewrite(const IndexResult &Index, const Decision &Decided,
                                const Choice &Chosen, const std::vector<TableServer> &Servers) {
  std::set<std::string> Kept;
  for (;;) {
    Rewriter Once(Index, Decided, Chosen, Servers, Kept);
    Expected<RewriteResult> Result = Once.run();
    if (!Result || !Result->Faults.empty())
      return Result;
    std::set<std::string> InVain = Once.removedInVain(*Result);
    if (InVain.empty())
      return Result;
    Kept.insert(InVain.begin(), InVain.end());
  }
}

} // namespace relock
