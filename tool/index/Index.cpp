// SPDX-License-Identifier: MIT
#include "index/Index.h"

#include "index/Collect.h"
#include "index/CompileDatabase.h"
#include "index/FactsFile.h"
#include "index/Serialize.h"
#include "support/Messages.h"
#include "support/Output.h"
#include "support/Path.h"

#include "clang/Tooling/JSONCompilationDatabase.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/xxhash.h"

#include <atomic>
#include <map>
#include <mutex>

using namespace clang;
using namespace llvm;

namespace relock {
namespace {

constexpr StringRef CacheName = ".relock"; // the folder, in that of the compile database

bool isC(StringRef File) { return sys::path::extension(File) == ".c"; }

bool isAssembly(StringRef File) {
  return sys::path::extension(File).equals_insensitive(".s") || File.ends_with(".asm");
}

std::string readHash(const std::string &Path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> Buffer =
      MemoryBuffer::getFile(Path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  return Buffer ? utohexstr(xxh3_64bits((*Buffer)->getBuffer())) : "";
}

// What files hold while a program is read. Units share most of their headers.
class FileHashes {
public:
  const std::string &of(StringRef Path) {
    std::lock_guard<std::mutex> Lock(Access);
    auto [At, New] = Known.try_emplace(Path);
    if (New)
      At->second = readHash(Path.str());
    return At->second; // nothing moves or changes it
  }

private:
  std::mutex Access;
  StringMap<std::string> Known;
};

bool fresh(const UnitFacts &Facts, FileHashes &Hashes) {
  return all_of(Facts.Dependencies,
                [&](const Dependency &D) { return Hashes.of(D.File) == D.Hash; });
}

// Facts are those of this program: another build of it may find others in the same text.
std::string analysisHash() {
  static const std::string Hash =
      readHash(sys::fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&analysisHash)));
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

std::string factsPath(StringRef Build, const tooling::CompileCommand &Command) {
  SmallString<256> Path(cacheFolder(Build));
  sys::path::append(Path,
                    sys::path::filename(Command.Filename) + "-" + commandHash(Command) + ".facts");
  return std::string(Path);
}

std::optional<UnitFacts> keptFacts(const UnitPlace &Unit, FileHashes &Hashes, SharedPools &Known) {
  auto File = MemoryBuffer::getFile(Unit.Facts, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!File)
    return std::nullopt;
  std::optional<std::string> Bytes = unpackBytes((*File)->getBuffer(), origin(Unit.Command));
  std::optional<UnitFacts> Facts = Bytes ? decodeFacts(*Bytes, Known) : std::nullopt;
  return Facts && fresh(*Facts, Hashes) ? std::move(Facts) : std::nullopt;
}

// Makes the folder, and keeps it out of version control if it is the cache of a build.
bool makeFolder(StringRef Folder) {
  if (sys::fs::create_directories(Folder))
    return false;
  SmallString<256> Ignore(Folder);
  sys::path::append(Ignore, ".gitignore");
  if (sys::path::filename(Folder) == CacheName && !sys::fs::exists(Ignore))
    consumeError(writeAtomically(Ignore, [](raw_ostream &OS) { OS << "*\n"; }));
  return true;
}

bool keepFacts(const UnitPlace &Unit, const UnitFacts &Facts) {
  if (!makeFolder(sys::path::parent_path(Unit.Facts)))
    return false;
  Error Failed = writeAtomically(
      Unit.Facts, [&](raw_ostream &OS) { OS << packFacts(Facts, origin(Unit.Command)); });
  bool Good = !Failed;
  consumeError(std::move(Failed));
  sys::fs::remove(Unit.Facts + ".json"); // an earlier relock kept its facts there
  return Good;
}

Error loadCommands(StringRef Build, std::vector<UnitPlace> &Units, std::vector<UnitPlace> &NotC) {
  if (sys::fs::is_regular_file(Build))
    return createStringError(Build + ": a compile database is read from a file called " +
                             DatabaseName +
                             ": link it under that name, and name the folder with -p");
  SmallString<256> File(Build);
  sys::path::append(File, DatabaseName);
  if (!sys::fs::exists(File))
    return createStringError(File + ": there is no compile database; " + HowToMakeDatabase);
  std::string Reason;
  std::unique_ptr<tooling::JSONCompilationDatabase> Database =
      tooling::JSONCompilationDatabase::loadFromFile(File, Reason,
                                                     tooling::JSONCommandLineSyntax::AutoDetect);
  if (!Database)
    return createStringError(File + ": the compile database cannot be read: " + Reason);
  size_t Before = Units.size();
  for (tooling::CompileCommand &Command : Database->getAllCompileCommands())
    if (!isAssembly(Command.Filename))
      (isC(Command.Filename) ? Units : NotC).push_back({Command, factsPath(Build, Command)});
  if (Units.size() == Before)
    return createStringError(File + ": the compile database names no C file");
  return Error::success();
}

void reportErrors(const std::vector<UnitDiagnostic> &Diagnostics) {
  for (const UnitDiagnostic &D : Diagnostics)
    if (D.Error) {
      message(D.At, D.Text, "parse");
      break; // the first one says it; the rest mostly follow from it
    }
}

} // namespace

std::string cacheFolder(StringRef Build) {
  SmallString<256> Path(Build);
  sys::fs::make_absolute(Path);
  sys::path::append(Path, CacheName);
  return std::string(Path);
}

// The folder whose text is the program's own: the top of the working copy, else the one that all
// sources share, or a folder around it that has a compile database: the program's top where it is
// built in place, or the one that has `src` and `build` beside each other. What lies around sources
// with `build` among them is not the program's.
static std::string sourceRoot(const std::vector<UnitPlace> &Units, ArrayRef<std::string> Builds) {
  std::string First = mainFile(Units.front().Command);
  StringRef Root = sys::path::parent_path(First);
  while (!all_of(Units, [&](const UnitPlace &U) { return isBelow(mainFile(U.Command), Root); }))
    Root = sys::path::parent_path(Root);
  for (StringRef Up = Root; !Up.empty(); Up = sys::path::parent_path(Up))
    if (sys::fs::exists(Up + "/.git"))
      return Up.str();
  StringRef Shared = Root;
  for (const std::string &Build : Builds) {
    SmallString<256> Database;
    StringRef Above = sys::path::parent_path(Shared);
    if (sys::fs::real_path(Build, Database) || Shared == Database)
      continue;
    if (isBelow(Shared, Database) && isBelow(Root, Database))
      Root = Shared.take_front(Database.size());
    else if (!isBelow(Database, Shared) && Above.size() > 1 && isBelow(Database, Above) &&
             isBelow(Root, Above))
      Root = Above;
  }
  return Root.str();
}

static std::string andMore(size_t Number) {
  return Number == 0 ? "" : ", and so are " + std::to_string(Number) + " more like it";
}

// What configure scripts try: Autoconf has the name for that, and removes the files; SCons, CMake
// and Meson have the folders.
static bool isConfigureTry(const UnitPlace &U) {
  const std::string Main = mainFile(U.Command);
  const StringRef Folders[] = {".sconf_temp", "CMakeScratch", "CMakeTmp", "meson-private"};
  return (sys::path::filename(Main) == "conftest.c" && !sys::fs::exists(Main)) ||
         std::any_of(sys::path::begin(Main), sys::path::end(Main),
                     [&](StringRef Part) { return is_contained(Folders, Part); });
}

static void leaveOutConfigureTries(std::vector<UnitPlace> &Units) {
  auto Tries = std::stable_partition(Units.begin(), Units.end(),
                                     [](const UnitPlace &U) { return !isConfigureTry(U); });
  if (Tries == Units.begin() || Tries == Units.end())
    return;
  messageFor(mainFile(Tries->Command),
             "is what a configure script has tried; it is left out" +
                 andMore(Units.end() - Tries - 1),
             "configure-try");
  Units.erase(Tries, Units.end());
}

// A recorded build has what CMake and the like have tried while they configured it: files of their
// own, in folders that they have removed since. All folders gone: the build itself is.
static void leaveOutTries(std::vector<UnitPlace> &Units, ArrayRef<std::string> Builds) {
  auto Gone = std::stable_partition(Units.begin(), Units.end(), [](const UnitPlace &U) {
    return sys::fs::is_directory(U.Command.Directory);
  });
  if (Gone == Units.begin() || Gone == Units.end())
    return;
  std::string Root = sourceRoot({Units.begin(), Gone}, Builds);
  auto Tries = std::stable_partition(
      Gone, Units.end(), [&](const UnitPlace &U) { return isBelow(mainFile(U.Command), Root); });
  if (Tries == Units.end())
    return;
  messageFor(mainFile(Tries->Command),
             "is outside the program, and the folder is gone where the compile database has it "
             "compiled; it is left out" +
                 andMore(Units.end() - Tries - 1),
             "folder-gone");
  Units.erase(Tries, Units.end());
}

static std::tuple<std::string, std::vector<std::string>, std::string>
key(const tooling::CompileCommand &Command) {
  return {mainFile(Command), Command.CommandLine, Command.Directory};
}

Expected<std::vector<UnitPlace>> unitsOf(ArrayRef<std::string> Builds,
                                         std::vector<UnitPlace> &NotC) {
  std::vector<UnitPlace> Units;
  for (const std::string &Build : Builds)
    if (Error Failed = loadCommands(Build, Units, NotC))
      return Failed;
  leaveOutConfigureTries(Units);
  leaveOutTries(Units, Builds);
  // The order in a database must not show in any result.
  std::map<decltype(key({})), UnitPlace> ByKey;
  for (UnitPlace &Unit : Units)
    ByKey.try_emplace(key(Unit.Command), std::move(Unit));
  Units.clear();
  for (auto &[Key, Unit] : ByKey)
    Units.push_back(std::move(Unit));
  return Units;
}

// The facts of a unit in another language are what it includes, and names there.
static ForeignFile readForeign(const UnitPlace &Unit, FileHashes &Hashes, SharedPools &Shared) {
  std::optional<UnitFacts> Facts = keptFacts(Unit, Hashes, Shared);
  bool All = true;
  if (!Facts) {
    Facts.emplace();
    Facts->MainFile = mainFile(Unit.Command);
    UnitFiles Read = filesOf(Unit.Command);
    for (const std::string &File : Read.Files)
      Facts->Dependencies.add({File, Hashes.of(File)});
    for (const auto &[File, Names] : Read.Names)
      Facts->NamesIn.push_back({File, {Names.begin(), Names.end()}});
    All = Read.All;
    if (All)
      keepFacts(Unit, *Facts);
  }
  ForeignFile Result = {Facts->MainFile, {}, std::move(Facts->NamesIn), All};
  for (const Dependency &D : Facts->Dependencies)
    Result.Includes.insert(D.File);
  return Result;
}

std::string textOrigin(const tooling::CompileCommand &Command, const UnitFacts &Facts) {
  std::string Texts;
  for (const Dependency &D : Facts.Dependencies)
    Texts += D.File + "\n" + D.Hash + "\n";
  return origin(Command) + "-" + utohexstr(xxh3_64bits(Texts));
}

UnitOutcome indexUnit(const UnitPlace &Unit, UnitFacts &Facts) {
  std::string Main = mainFile(Unit.Command);
  if (!sys::fs::exists(Main)) {
    messageFor(Main,
               "the compile database names this file, but it does not exist; the database is "
               "stale, make it again",
               "stale-database");
    return UnitOutcome::Stale;
  }
  std::vector<UnitDiagnostic> Diagnostics;
  Facts = collectUnit(Unit.Command, Diagnostics);
  if (any_of(Diagnostics, [](const UnitDiagnostic &D) { return D.Error; })) {
    reportErrors(Diagnostics);
    if (!Facts.Broken)
      return UnitOutcome::Unparsed;
    messageFor(
        Main, "has errors: its lock sites are not listed, and the classes that it may use are kept",
        "unparsed");
    return UnitOutcome::Broken;
  }
  return keepFacts(Unit, Facts) ? UnitOutcome::Kept : UnitOutcome::NotKept;
}

Expected<IndexResult> indexBuild(ArrayRef<std::string> Builds, unsigned Jobs) {
  IndexResult Result;
  std::vector<UnitPlace> NotC;
  Expected<std::vector<UnitPlace>> Units = unitsOf(Builds, NotC);
  if (!Units)
    return Units.takeError();
  Result.Root = sourceRoot(*Units, Builds);
  Result.Units.resize(Units->size());
  std::vector<UnitOutcome> Outcomes(Units->size(), UnitOutcome::Kept);
  std::atomic<unsigned> Refreshed = 0;
  FileHashes Hashes;
  SharedPools Shared;
  sort(NotC,
       [](const UnitPlace &A, const UnitPlace &B) { return key(A.Command) < key(B.Command); });
  for (const UnitPlace &Unit : NotC)
    Result.CommandsNotC.push_back(Unit.Command);
  Result.NotC.resize(NotC.size());
  Progress Shown("reading", Units->size() + NotC.size());
  DefaultThreadPool Pool(hardware_concurrency(Jobs));
  for (size_t I = 0; I < Units->size(); ++I)
    Pool.async([&, I] {
      if (std::optional<UnitFacts> Known = keptFacts((*Units)[I], Hashes, Shared)) {
        Result.Units[I] = std::move(*Known);
      } else {
        Outcomes[I] = indexUnit((*Units)[I], Result.Units[I]);
        shareRecords(Result.Units[I], Shared);
        Refreshed += Outcomes[I] != UnitOutcome::Stale;
      }
      Shown.step();
    });
  for (size_t I = 0; I < NotC.size(); ++I)
    Pool.async([&, I] {
      Result.NotC[I] = readForeign(NotC[I], Hashes, Shared);
      Shown.step();
    });
  Pool.wait();
  for (size_t I = 0; I < Units->size(); ++I) {
    if (Outcomes[I] == UnitOutcome::Stale || Outcomes[I] == UnitOutcome::Unparsed)
      Result.Unparsed.push_back(mainFile((*Units)[I].Command));
    Result.Broken += Outcomes[I] == UnitOutcome::Broken;
    Result.CacheWritable &= Outcomes[I] != UnitOutcome::NotKept;
    Result.Commands.push_back(std::move((*Units)[I].Command));
    Result.FactsFiles.push_back(std::move((*Units)[I].Facts));
  }
  Result.Refreshed = Refreshed;
  return Result;
}

} // namespace relock
