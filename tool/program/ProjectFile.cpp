// SPDX-License-Identifier: MIT
#include "program/ProjectFile.h"

#include "index/LockApi.h"
#include "support/Path.h"
#include "support/Yaml.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace relock {

namespace {

class ProjectReader : YamlReader {
public:
  // Library: what the file is about if it comes with Relock.
  ProjectReader(StringRef File, MemoryBufferRef Text, StringRef Library = "")
      : YamlReader(File, Text, "a project file"), Library(Library) {
    Result.Path = File.str();
  }

  Expected<ProjectFile> run() {
    if (Error Failed = readDocument([&](yaml::Node *Root) { return readRoot(Root); }))
      return Failed;
    const std::set<std::string> Named = std::exchange(Result.Libraries, {});
    for (const std::string &Name : Named)
      Result.addLibrary(Name);
    return std::move(Result);
  }

private:
  StringRef Library;
  ProjectFile Result;

  bool readRoot(yaml::Node *Root) {
    bool HasVersion = false;
    bool Good = members(
        Root, "a project file", [&](StringRef Key, const yaml::Node *At, yaml::Node *Value) {
          if (Key == "version")
            return HasVersion = readVersion(Value);
          if (Key == "functions")
            return elements(Value, Key, [&](yaml::Node *Entry) { return readFunctions(Entry); });
          if (Key == "operators")
            return elements(Value, Key, [&](yaml::Node *Entry) { return readOperators(Entry); });
          if (Key == "macros")
            return elements(Value, Key, [&](yaml::Node *Entry) { return readMacros(Entry); });
          if (Key == "libraries") {
            Result.NamesLibraries = true;
            return elements(Value, Key, [&](yaml::Node *Name) { return readLibrary(Name); });
          }
          if (Key == "headers" && !Library.empty())
            return elements(Value, Key, [&](yaml::Node *Name) {
              return Result.Headers.insert(scalar(Name).value_or("")).second;
            });
          if (Key == "roots")
            return elements(Value, Key, [&](yaml::Node *Folder) { return readFolder(Folder); });
          if (Key == "closed")
            return readTruth(Value, Key, Result.Closed);
          if (Key == "accept")
            return elements(Value, Key, [&](yaml::Node *Code) { return readAccepted(Code); });
          return unknownKey(At, Key,
                            "version, functions, operators, macros, libraries, roots, closed and "
                            "accept");
        });
    return Good && (HasVersion || failAt(1, 1, "says no 'version: 1'"));
  }

  // An entry of `functions`.
  bool readFunctions(yaml::Node *Entry) {
    DeclaredFunction Declared;
    std::vector<std::pair<std::string, Position>> Names;
    bool HasEffect = false;
    std::optional<bool> Mixes;
    Position Begin = place(Entry);
    bool Good = members(
        Entry, "an entry of 'functions'",
        [&](StringRef Key, const yaml::Node *At, yaml::Node *Value) {
          if (Key == "names")
            return elements(Value, Key, [&](yaml::Node *Name) { return readName(Name, Names); });
          if (Key == "effect")
            return HasEffect = readEffect(Value, Declared.Effect);
          if (Key == "calls-given-to")
            return elements(Value, Key, [&](yaml::Node *Name) {
              return readSetter(Name, Declared.CallsGivenTo);
            });
          if (Key == "keeps-pointers")
            return readTruth(Value, Key, Declared.KeepsPointers);
          if (Key == "pointers")
            return readPointers(Value, Declared.Pointers);
          if (Key == "mixes-pointers")
            return readTruth(Value, Key, Mixes);
          if (Key == "because")
            return readText(Value, Key, Declared.Because);
          return unknownKey(At, Key,
                            "names, effect, calls-given-to, keeps-pointers, pointers, "
                            "mixes-pointers and because");
        });
    if (!Good)
      return false;
    if (Names.empty())
      return failAt(Begin.Line, Begin.Column, "this entry has no 'names'");
    if (!HasEffect)
      return failAt(Begin.Line, Begin.Column, "this entry has no 'effect'");
    if (Declared.KeepsPointers && Declared.Pointers)
      return failAt(Begin.Line, Begin.Column, "'pointers' says all that 'keeps-pointers' could");
    Declared.MixesPointers = Mixes.value_or(true);
    return declare(Names, Declared);
  }

  bool declare(const std::vector<std::pair<std::string, Position>> &Names,
               DeclaredFunction Declared) {
    Declared.Library = Library.str();
    for (auto &[Name, At] : Names) {
      Declared.At = At;
      bool Prefix = StringRef(Name).ends_with("*");
      auto &Table = Prefix ? Result.Prefixes : Result.Functions;
      auto [Known, New] =
          Table.try_emplace(Prefix ? Name.substr(0, Name.size() - 1) : Name, Declared);
      if (!New)
        return failAt(At.Line, At.Column,
                      "'" + Twine(Name) + "' is declared already, in line " +
                          Twine(Known->second.At.Line));
    }
    return true;
  }

  // An entry of `operators`. Its functions have effects, too: they are about the caller's locks.
  bool readOperators(yaml::Node *Entry) {
    DeclaredOperator Declared;
    std::string Because;
    std::optional<bool> Shared;
    std::vector<std::pair<std::string, Position>> Names;
    bool HasKind = false;
    Position Begin = place(Entry);
    bool Good = members(
        Entry, "an entry of 'operators'",
        [&](StringRef Key, const yaml::Node *At, yaml::Node *Value) {
          if (Key == "names")
            return elements(Value, Key, [&](yaml::Node *Name) { return readName(Name, Names); });
          if (Key == "kind")
            return HasKind = readKind(Value, Declared.Does.Kind);
          if (Key == "type")
            return readText(Value, Key, Declared.Does.Type);
          if (Key == "argument")
            return readArgument(Value, Declared.Does.Argument);
          if (Key == "success")
            return readSuccess(Value, Declared.Does.SucceedsNonzero);
          if (Key == "no-op")
            return Declared.Does.NothingAtZero =
                       scalar(Value) == "zero" || fail(Value, "'no-op' can be nothing but zero");
          if (Key == "shared")
            return readTruth(Value, Key, Shared);
          if (Key == "because")
            return readText(Value, Key, Because);
          return unknownKey(At, Key,
                            "names, kind, type, argument, success, no-op, shared and because");
        });
    if (!Good)
      return false;
    StringRef Missing = Names.empty()                ? "names"
                        : !HasKind                   ? "kind"
                        : Declared.Does.Type.empty() ? "type"
                                                     : "";
    if (!Missing.empty())
      return failAt(Begin.Line, Begin.Column, "this entry has no '" + Missing + "'");
    Declared.Shared = Shared.value_or(false);
    for (auto &[Name, At] : Names) {
      if (StringRef(Name).ends_with("*"))
        return failAt(At.Line, At.Column, "an operator is declared by its full name");
      Declared.At = At;
      Result.Operators[Name] = Declared;
    }
    bool Waits = Declared.Does.Kind == Operation::Wait;
    DeclaredFunction Function;
    Function.Effect = Waits ? FunctionEffect::Blocks : FunctionEffect::Identity;
    Function.KeepsPointers = false;
    Function.Because = Because;
    return declare(Names, Function);
  }

  // An entry of `macros`.
  bool readMacros(yaml::Node *Entry) {
    DeclaredMacro Declared;
    std::optional<bool> Before;
    std::vector<std::pair<std::string, Position>> Names;
    const Position Begin = place(Entry);
    bool Good = members(
        Entry, "an entry of 'macros'", [&](StringRef Key, const yaml::Node *At, yaml::Node *Value) {
          if (Key == "names")
            return elements(Value, Key, [&](yaml::Node *Name) { return readMacro(Name, Names); });
          if (Key == "arguments-before-lock")
            return readTruth(Value, Key, Before);
          if (Key == "because")
            return readText(Value, Key, Declared.Because);
          return unknownKey(At, Key, "names, arguments-before-lock and because");
        });
    if (!Good)
      return false;
    if (Names.empty() || !Before.value_or(false))
      return failAt(Begin.Line, Begin.Column,
                    Twine("this entry has no '") +
                        (Names.empty() ? "names" : "arguments-before-lock: true") + "'");
    for (auto &[Name, At] : Names) {
      Declared.At = At;
      Result.Macros.try_emplace(Name, Declared);
    }
    return true;
  }

  bool readMacro(const yaml::Node *N, std::vector<std::pair<std::string, Position>> &Names) {
    std::optional<std::string> Name = scalar(N);
    if (!Name || !isName(*Name))
      return fail(N, "'" + Twine(Name.value_or("")) + "' is no name of a macro");
    Names.push_back({*Name, place(N)});
    return true;
  }

  bool readKind(const yaml::Node *N, Operation &Kind) {
    std::optional<std::string> Word = scalar(N);
    auto Known = StringSwitch<std::optional<Operation>>(Word ? StringRef(*Word) : "")
                     .Case("lock", Operation::Lock)
                     .Case("trylock", Operation::TryLock)
                     .Case("timedlock", Operation::TimedLock)
                     .Case("unlock", Operation::Unlock)
                     .Case("wait", Operation::Wait)
                     .Default(std::nullopt);
    Kind = Known.value_or(Kind);
    return Known || fail(N, "'kind' must be one of lock, trylock, timedlock, unlock and wait");
  }

  bool readArgument(const yaml::Node *N, unsigned &Argument) {
    std::optional<std::string> Word = scalar(N);
    if (!Word || StringRef(*Word).getAsInteger(10, Argument) || Argument == 0)
      return fail(N, "'argument' must be a number, 1 for the first argument");
    --Argument;
    return true;
  }

  bool readSuccess(const yaml::Node *N, bool &Nonzero) {
    std::optional<std::string> Word = scalar(N);
    Nonzero = Word && *Word == "nonzero";
    return Nonzero || (Word && *Word == "zero") || fail(N, "'success' must be zero or nonzero");
  }

  bool readLibrary(const yaml::Node *N) {
    std::optional<std::string> Name = scalar(N);
    if (Name && libraryFiles().count(*Name)) {
      Result.Libraries.insert(*Name);
      return true;
    }
    SmallVector<StringRef> Known;
    for (const auto &[Library, File] : libraryFiles())
      Known.push_back(Library);
    return fail(N, "a library must be one of " + join(Known, ", "));
  }

  bool readAccepted(const yaml::Node *N) {
    std::optional<std::string> Code = scalar(N);
    if (!Code || !isAcceptable(*Code))
      return fail(N, "'" + Twine(Code.value_or("")) +
                         "' cannot be accepted; of the reasons for which sections hold, only "
                         "'cancellation', 'function-name' and 'lock-message' "
                         "are a matter of taste");
    Result.Accepted.try_emplace(*Code, place(N));
    return true;
  }

  // Relative to the project file.
  bool readFolder(const yaml::Node *N) {
    std::optional<std::string> Name = scalar(N);
    SmallString<256> Folder, Real;
    if (Name && sys::path::is_relative(*Name))
      Folder = sys::path::parent_path(Result.Path);
    sys::path::append(Folder, Name.value_or(""));
    if (!Name || sys::fs::real_path(Folder, Real) || !sys::fs::is_directory(Real))
      return fail(N, "a root must be a folder; there is no folder " + Folder);
    Result.Roots.push_back(std::string(Real));
    return true;
  }

  static bool isName(StringRef Text) {
    return !Text.empty() && all_of(Text, [](char C) { return isAlnum(C) || C == '_' || C == '$'; });
  }

  bool readName(const yaml::Node *N, std::vector<std::pair<std::string, Position>> &Names) {
    std::optional<std::string> Name = scalar(N);
    if (!Name)
      return fail(N, "a name must be a word");
    StringRef Stem = *Name;
    bool Prefix = Stem.consume_back("*");
    if (Prefix && Stem.empty())
      return fail(N, "'*' alone would speak of every function; write a prefix before it");
    if (!isName(Stem))
      return fail(N, "'" + Twine(*Name) +
                         "' is no name of a function, nor such a beginning with a '*' behind it");
    if (!Prefix && (lockFunction(Stem) || otherLock(Stem)))
      return fail(N,
                  "'" + Twine(*Name) + "' operates a lock; what it does is not yours to declare");
    Names.push_back({*Name, place(N)});
    return true;
  }

  // An element of `calls-given-to`: `table_new`, `table_new(1, 2)`.
  bool readSetter(const yaml::Node *N, std::vector<CallbackSetter> &Setters) {
    const std::string Text = scalar(N).value_or("");
    StringRef Name = Text, Arguments;
    if (Name.consume_back(")"))
      std::tie(Name, Arguments) = Name.split('(');
    CallbackSetter Setter = {Name.rtrim().str()};
    bool Good = isName(Setter.Name) && Arguments.empty() == !StringRef(Text).ends_with(")");
    while (!Arguments.empty()) {
      StringRef Argument;
      std::tie(Argument, Arguments) = Arguments.split(',');
      unsigned Number = 0;
      Good &= !Argument.trim().getAsInteger(10, Number) && Number > 0;
      Setter.Arguments.insert(Number);
    }
    if (!Good)
      return fail(N, "'calls-given-to' lists functions by their full names, like table_new, or "
                     "\"table_new(1, 2)\" for what its first and second arguments give; '" +
                         Twine(Text) + "' is none");
    Setters.push_back(std::move(Setter));
    return true;
  }

  bool readEffect(const yaml::Node *N, FunctionEffect &Effect) {
    std::optional<std::string> Word = scalar(N);
    for (FunctionEffect E : {FunctionEffect::Plain, FunctionEffect::Identity,
                             FunctionEffect::Thread, FunctionEffect::Blocks, FunctionEffect::Jumps,
                             FunctionEffect::Ends, FunctionEffect::Unknown})
      if (Word && *Word == effectName(E)) {
        Effect = E;
        return true;
      }
    return fail(N,
                "'effect' must be one of plain, identity, thread, blocks, jumps, ends and unknown");
  }

  // `["1>result", "*2>*1"]`
  bool readPointers(yaml::Node *List, std::optional<std::vector<PointerFlow>> &Flows) {
    Flows.emplace();
    return elements(List, "pointers", [&](yaml::Node *N) {
      std::optional<std::string> Text = scalar(N);
      std::string Problem = "is no flow, like \"1>result\"";
      std::optional<PointerFlow> Flow = Text ? readPointerFlow(*Text, Problem) : std::nullopt;
      if (Flow)
        Flows->push_back(*Flow);
      return Flow || fail(N, "'" + Twine(Text.value_or("")) + "' " + Problem);
    });
  }

  bool readTruth(const yaml::Node *N, StringRef Key, bool &Truth) {
    std::optional<bool> Read;
    bool Good = readTruth(N, Key, Read);
    Truth = Read.value_or(Truth);
    return Good;
  }

  bool readTruth(const yaml::Node *N, StringRef Key, std::optional<bool> &Truth) {
    if (std::optional<std::string> Word = scalar(N))
      Truth = yaml::parseBool(*Word);
    return Truth || fail(N, "'" + Key + "' must be true or false");
  }
};

} // namespace

Expected<ProjectFile> ProjectFile::read(StringRef File) {
  Expected<std::unique_ptr<MemoryBuffer>> Text = openYaml(File, "the project file");
  if (!Text)
    return Text.takeError();
  return ProjectReader((*Text)->getBufferIdentifier(), (*Text)->getMemBufferRef()).run();
}

const std::map<std::string, ProjectFile> &libraryFiles() {
  static constexpr struct {
    StringLiteral Name, Text;
  } Files[] = {
#include "Libraries.inc"
  };
  static const std::map<std::string, ProjectFile> Parsed = [] {
    std::map<std::string, ProjectFile> Result;
    for (const auto &[Name, Text] : Files) {
      std::string File = ("libraries/" + Name + ".yaml").str();
      Result[Name.str()] = cantFail(ProjectReader(File, MemoryBufferRef(Text, File), Name).run());
    }
    return Result;
  }();
  return Parsed;
}

void ProjectFile::addLibrary(StringRef Name) {
  if (!Libraries.insert(Name.str()).second)
    return;
  const ProjectFile &File = libraryFiles().at(Name.str());
  for (const auto &[Function, Declared] : File.Functions) {
    auto Operator = File.Operators.find(Function);
    if (Functions.try_emplace(Function, Declared).second && Operator != File.Operators.end())
      Operators.insert(*Operator);
  }
  Prefixes.insert(File.Prefixes.begin(), File.Prefixes.end());
}

void ProjectFile::findLibraries(const std::set<StringRef> &Files, StringRef Root) {
  if (NamesLibraries)
    return;
  const std::string Own = (Root + "/").str();
  for (const auto &[Name, Library] : libraryFiles())
    for (const std::string &Header : Library.Headers)
      if (any_of(Files, [&, End = "/" + Header](StringRef File) {
            return File.ends_with(End) && !File.starts_with(Own);
          }))
        addLibrary(Name);
}

std::optional<OtherLock> ProjectFile::otherLock(StringRef Name) const {
  if (std::optional<OtherLock> Known = relock::otherLock(Name))
    return Known;
  auto Declared = Operators.find(Name);
  return Declared == Operators.end() ? std::nullopt : std::optional(Declared->second.Does);
}

const DeclaredFunction *ProjectFile::named(StringRef Name) const {
  auto Found = Functions.find(Name);
  return Found == Functions.end() ? nullptr : &Found->second;
}

const DeclaredFunction *ProjectFile::prefixOf(StringRef Name) const {
  for (StringRef Prefix = Name; !Prefix.empty(); Prefix = Prefix.drop_back())
    if (auto Found = Prefixes.find(Prefix); Found != Prefixes.end())
      return &Found->second;
  return nullptr;
}

std::string findProjectFile(StringRef Build, const std::vector<std::string> &Sources) {
  SmallString<256> Database(Build);
  sys::fs::make_absolute(Database);
  sys::path::remove_dots(Database, /*remove_dot_dot=*/true);
  StringRef Root = sys::path::parent_path(Sources.front());
  while (!Root.empty() && !all_of(Sources, [&](StringRef File) { return isBelow(File, Root); }))
    Root = sys::path::parent_path(Root);
  std::vector<StringRef> Folders = {Database, Root};
  // `src` and `build` beside each other: the root is the folder that has both.
  if (StringRef Above = sys::path::parent_path(Root);
      Database != Root && !isBelow(Database, Root) && isBelow(Database, Above))
    Folders.push_back(Above);
  for (StringRef Folder : Folders) {
    SmallString<256> File(Folder);
    sys::path::append(File, "relock.yaml");
    uint64_t Size; // empty: `relock check --suggest > relock.yaml`, which has yet to print
    if (Folder.size() > 1 && !sys::fs::file_size(File, Size) && Size)
      return std::string(File);
  }
  return "";
}

} // namespace relock
