// SPDX-License-Identifier: MIT
#include "index/Index.h"

#include "index/Collect.h"
#include "index/Serialize.h"
#include "support/Messages.h"

#include "clang/Lex/PPCallbacks.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Tooling/JSONCompilationDatabase.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/xxhash.h"

#include <atomic>
#include <mutex>

using namespace clang;
using namespace llvm;

namespace relock {
namespace {

bool isC(StringRef File) { return sys::path::extension(File) == ".c"; }

// The files that a unit includes, in whatever language it is.
std::set<std::string> includesOf(const tooling::CompileCommand &Command) {
  struct Watch : PPCallbacks {
    const SourceManager &SM;
    std::set<std::string> &Files;
    Watch(const SourceManager &SM, std::set<std::string> &Files) : SM(SM), Files(Files) {}
    void FileChanged(SourceLocation L, FileChangeReason Why, SrcMgr::CharacteristicKind,
                     FileID) override {
      if (OptionalFileEntryRef File = SM.getFileEntryRefForID(SM.getFileID(L)))
        Files.insert(File->getFileEntry().tryGetRealPathName().str());
    }
  };
  std::set<std::string> Files;
  UnitActions Actions;
  Actions.Begin = [&](CompilerInstance &CI) {
    CI.getPreprocessor().addPPCallbacks(std::make_unique<Watch>(CI.getSourceManager(), Files));
  };
  parseUnit(Command, Actions);
  return Files;
}

bool isAssembly(StringRef File) {
  return sys::path::extension(File).equals_insensitive(".s") || File.ends_with(".asm");
}

Expected<std::vector<tooling::CompileCommand>> loadCommands(StringRef Build,
                                                            std::vector<ForeignFile> &NotC) {
  SmallString<256> File(Build);
  sys::path::append(File, "compile_commands.json");
  if (!sys::fs::exists(File))
    return createStringError(
        File + ": there is no compile database; make one with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON "
               "(CMake), `meson setup`, or `bear -- make`, and name its folder with -p");
  std::string Reason;
  std::unique_ptr<tooling::JSONCompilationDatabase> Database =
      tooling::JSONCompilationDatabase::loadFromFile(File, Reason,
                                                     tooling::JSONCommandLineSyntax::AutoDetect);
  if (!Database)
    return createStringError(File + ": the compile database cannot be read: " + Reason);
  std::vector<tooling::CompileCommand> Commands;
  for (tooling::CompileCommand &Command : Database->getAllCompileCommands())
    if (isC(Command.Filename))
      Commands.push_back(std::move(Command));
    else if (!isAssembly(Command.Filename))
      NotC.push_back({mainFile(Command), includesOf(Command)});
  sort(NotC, [](const ForeignFile &A, const ForeignFile &B) { return A.File < B.File; });
  if (Commands.empty())
    return createStringError(File + ": the compile database names no C file");
  // The order in the database must not show in any result.
  stable_sort(Commands, [](const tooling::CompileCommand &A, const tooling::CompileCommand &B) {
    return std::make_tuple(mainFile(A), A.CommandLine) <
           std::make_tuple(mainFile(B), B.CommandLine);
  });
  Commands.erase(std::unique(Commands.begin(), Commands.end(),
                             [](const auto &A, const auto &B) {
                               return mainFile(A) == mainFile(B) && A.CommandLine == B.CommandLine;
                             }),
                 Commands.end());
  return Commands;
}

std::string hashOfFile(const std::string &Path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> Buffer =
      MemoryBuffer::getFile(Path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  return Buffer ? utohexstr(xxh3_64bits((*Buffer)->getBuffer())) : "";
}

bool fresh(const UnitFacts &Facts) {
  return all_of(Facts.Dependencies,
                [](const Dependency &D) { return hashOfFile(D.File) == D.Hash; });
}

// Facts are those of this program: another build of it may find others in the same text.
std::string analysisHash() {
  static const std::string Hash =
      hashOfFile(sys::fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&analysisHash)));
  return Hash;
}

std::string commandHash(const tooling::CompileCommand &Command) {
  std::string All = Command.Directory;
  for (const std::string &Argument : Command.CommandLine)
    All += "\n" + Argument;
  return utohexstr(xxh3_64bits(All));
}

// What facts must say that they come from.
std::string origin(const tooling::CompileCommand &Command) {
  return analysisHash() + "-" + commandHash(Command);
}

class Cache {
public:
  explicit Cache(StringRef Build) : Folder(Build) {
    sys::path::append(Folder, ".relock");
    Usable = !sys::fs::create_directories(Folder);
  }

  std::optional<UnitFacts> read(const tooling::CompileCommand &Command) const {
    auto Buffer = MemoryBuffer::getFile(path(Command));
    if (!Buffer)
      return std::nullopt;
    Expected<UnitFacts> Facts = readFacts((*Buffer)->getBuffer(), origin(Command));
    if (!Facts) {
      consumeError(Facts.takeError());
      return std::nullopt;
    }
    return fresh(*Facts) ? std::optional(std::move(*Facts)) : std::nullopt;
  }

  bool write(const tooling::CompileCommand &Command, const UnitFacts &Facts) const {
    if (!Usable)
      return false;
    Error Failed = writeToOutput(path(Command), [&](raw_ostream &OS) {
      OS << writeFacts(Facts, origin(Command));
      return Error::success();
    });
    bool Good = !Failed;
    consumeError(std::move(Failed));
    return Good;
  }

private:
  std::string path(const tooling::CompileCommand &Command) const {
    SmallString<256> Path(Folder);
    sys::path::append(Path, sys::path::filename(Command.Filename) + "-" + commandHash(Command) +
                                ".facts.json");
    return std::string(Path);
  }

  SmallString<256> Folder;
  bool Usable;
};

void reportErrors(const std::vector<UnitDiagnostic> &Diagnostics) {
  for (const UnitDiagnostic &D : Diagnostics)
    if (D.Error) {
      message(D.At, D.Text, "parse");
      break; // the first one says it; the rest mostly follow from it
    }
}

} // namespace

Expected<IndexResult> indexBuild(StringRef Build, unsigned Jobs) {
  IndexResult Result;
  Expected<std::vector<tooling::CompileCommand>> Commands = loadCommands(Build, Result.NotC);
  if (!Commands)
    return Commands.takeError();
  Result.Commands = std::move(*Commands);
  Result.Units.resize(Result.Commands.size());
  std::vector<char> Failed(Result.Commands.size(), false);
  std::atomic<unsigned> Refreshed = 0;
  std::atomic<bool> Writable = true;
  Cache Facts(Build);
  Progress Shown("reading", Result.Commands.size());
  DefaultThreadPool Pool(hardware_concurrency(Jobs));
  for (size_t I = 0; I < Result.Commands.size(); ++I)
    Pool.async([&, I] {
      auto Step = make_scope_exit([&] { Shown.step(); });
      const tooling::CompileCommand &Command = Result.Commands[I];
      if (!sys::fs::exists(mainFile(Command))) {
        messageFor(mainFile(Command),
                   "the compile database names this file, but it does not exist; the database is "
                   "stale, make it again",
                   "stale-database");
        Failed[I] = true;
        return;
      }
      if (std::optional<UnitFacts> Known = Facts.read(Command)) {
        Result.Units[I] = std::move(*Known);
        return;
      }
      std::vector<UnitDiagnostic> Diagnostics;
      Result.Units[I] = collectUnit(Command, Diagnostics);
      ++Refreshed;
      if (any_of(Diagnostics, [](const UnitDiagnostic &D) { return D.Error; })) {
        reportErrors(Diagnostics);
        Failed[I] = true;
      } else if (!Facts.write(Command, Result.Units[I])) {
        Writable = false;
      }
    });
  Pool.wait();
  for (size_t I = 0; I < Failed.size(); ++I)
    if (Failed[I])
      Result.Unparsed.push_back(mainFile(Result.Commands[I]));
  Result.Refreshed = Refreshed;
  Result.CacheWritable = Writable;
  return Result;
}

} // namespace relock
