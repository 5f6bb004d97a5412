// SPDX-License-Identifier: MIT
//
// What is on disk, in the folder of transactions (which a .gitignore hides from git):
//
//   preparing/ open/ done/   one change each, in the state that the name says
//     files                  its files: the hashes of both texts, and the path
//     K                      the text of its K-th file before, unless that was new
//
// and beside each file, until it is replaced: FILE.relock-new, the text after.
//
//   preparing   Nothing of the user's has changed. `files` is on disk before the first
//               FILE.relock-new is made.
//   open        When all of these are on disk, preparing/ has become open/. One FILE.relock-new
//               after the other is renamed to its FILE.
//   done        When these renames are on disk, open/ has become done/, and the done/ of the change
//               before is gone.
//
// The way back, which may be interrupted as well and taken again:
//
//   preparing   Every FILE.relock-new is removed, then preparing/.
//   open        Every file that has its text after gets the one before, by FILE.relock-old and a
//               rename, or is removed if it was new. When that is on disk, open/ becomes
//               preparing/.
//   done        done/ becomes open/.
//
// Where a file still has its FILE.relock-new, it was not replaced.
//
// Otherwise a text that is neither that of before nor that of after is an edit of what was put
// there; nothing is put back until the user has decided what to do with it. Whoever writes here has
// a lock on the folder (flock), which ends with the process.
#include "support/Transaction.h"

#include "support/Messages.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

#include <csignal>
#include <fcntl.h>
#include <set>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using namespace llvm;

namespace relock {

char TransactionError::ID;

namespace {

const char FirstLine[] = "relock changes 1";
const char NoFile[] = "-"; // in the place of a hash

Error refuse(const Twine &Text, StringRef Code) {
  return make_error<TransactionError>(Text.str(), Code.str());
}

Error cannotWrite(StringRef Path, std::error_code Why) {
  return refuse(shownPath(Path) + ": cannot be written (" + Why.message() + ")", "cannot-write");
}

Error cannotWrite(StringRef Path) { return cannotWrite(Path, errnoAsErrorCode()); }

// Signals and locks ----------------------------------------------------------------------------

// While this lives all signals wait, but those of faults, and a file that gets too large for the
// limits of the process is an error like any other.
class SignalsHeld {
public:
  SignalsHeld() {
    sigset_t All;
    sigfillset(&All);
    for (int Fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS})
      sigdelset(&All, Fault);
    pthread_sigmask(SIG_BLOCK, &All, &Before);
    TooLarge = signal(SIGXFSZ, SIG_IGN);
  }
  ~SignalsHeld() {
    signal(SIGXFSZ, TooLarge);
    pthread_sigmask(SIG_SETMASK, &Before, nullptr);
  }
  SignalsHeld(const SignalsHeld &) = delete;
  SignalsHeld &operator=(const SignalsHeld &) = delete;

  // Whether a signal waits that will end the process.
  static bool interrupted() {
    sigset_t Waiting;
    sigpending(&Waiting);
    return any_of(ArrayRef<int>{SIGINT, SIGTERM, SIGHUP, SIGQUIT}, [&](int Signal) {
      struct sigaction Action;
      return sigismember(&Waiting, Signal) && !sigaction(Signal, nullptr, &Action) &&
             Action.sa_handler != SIG_IGN;
    });
  }

private:
  sigset_t Before;
  void (*TooLarge)(int);
};

// A lock on a folder. Others have it for a moment only; where there are no locks, nobody has it.
class FolderLock {
public:
  explicit FolderLock(const std::string &Folder)
      : File(::open(Folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (File >= 0)
      ::flock(File, LOCK_EX);
  }
  ~FolderLock() {
    if (File >= 0)
      ::close(File);
  }
  FolderLock(const FolderLock &) = delete;
  FolderLock &operator=(const FolderLock &) = delete;

private:
  int File;
};

// Files ----------------------------------------------------------------------------------------

// Nothing if there is no such file. Not mapped: an editor may cut the file off meanwhile.
ErrorOr<std::optional<std::string>> textOf(const std::string &Path) {
  auto Buffer = MemoryBuffer::getFile(Path, /*IsText=*/false, /*RequiresNullTerminator=*/false,
                                      /*IsVolatile=*/true);
  if (Buffer)
    return (*Buffer)->getBuffer().str();
  if (Buffer.getError() == std::errc::no_such_file_or_directory)
    return std::nullopt;
  return Buffer.getError();
}

std::string hashOf(const std::optional<std::string> &Text) {
  return Text ? utohexstr(xxh3_64bits(*Text), /*LowerCase=*/true) : NoFile;
}

Expected<std::string> hashOfFile(const std::string &Path) {
  auto Text = textOf(Path);
  if (Text)
    return hashOf(*Text);
  return refuse(shownPath(Path) + ": cannot be read (" + Text.getError().message() + ")",
                "cannot-read");
}

Error checkUnchanged(const std::string &Path, StringRef Hash) {
  Expected<std::string> Now = hashOfFile(Path);
  if (!Now)
    return Now.takeError();
  if (*Now == Hash)
    return Error::success();
  return refuse(shownPath(Path) + ": changed while relock was at work; run the command again",
                "changed");
}

Error writeText(int File, StringRef Text, StringRef Path) {
  while (!Text.empty()) {
    ssize_t Written = sys::RetryAfterSignal(-1, ::write, File, Text.data(), Text.size());
    if (Written < 0)
      return cannotWrite(Path);
    Text = Text.drop_front(Written);
  }
  return Error::success();
}

// Makes a file and waits until it is on disk. Like: a file whose owner and mode it gets.
Error writeNew(const std::string &Path, StringRef Text, const std::string &Like = "") {
  int File =
      ::open(Path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, Like.empty() ? 0666 : 0600);
  if (File < 0)
    return cannotWrite(Path);
  auto Close = make_scope_exit([&] { ::close(File); });
  if (Error Failed = writeText(File, Text, Path))
    return Failed;
  struct stat Wanted, Made;
  if (!Like.empty() && (::stat(Like.c_str(), &Wanted) || ::fstat(File, &Made)))
    return cannotWrite(Path);
  bool Foreign = !Like.empty() && (Wanted.st_uid != Made.st_uid || Wanted.st_gid != Made.st_gid);
  if ((Foreign && ::fchown(File, Wanted.st_uid, Wanted.st_gid)) ||
      (!Like.empty() && ::fchmod(File, Wanted.st_mode & 07777)) || ::fsync(File))
    return cannotWrite(Path);
  return Error::success();
}

Error rename(const std::string &From, const std::string &To) {
  return ::rename(From.c_str(), To.c_str()) ? cannotWrite(To) : Error::success();
}

Error remove(const std::string &Path) {
  std::error_code Failed = sys::fs::remove(Path);
  return Failed ? cannotWrite(Path, Failed) : Error::success();
}

// Returns when the names in a folder are on disk. Not every file system can tell.
Error sync(const std::string &Folder) {
  int File = ::open(Folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (File < 0)
    return cannotWrite(Folder);
  bool Failed = ::fsync(File) && errno != EINVAL;
  Error Result = Failed ? cannotWrite(Folder) : Error::success();
  ::close(File);
  return Result;
}

// Changes --------------------------------------------------------------------------------------

struct Entry {
  std::string Before, After; // hashes of its texts
  std::string Path;

  std::string next() const { return Path + ".relock-new"; }
  std::string last() const { return Path + ".relock-old"; }
};

// A change that is on disk, in one of its states.
class Change {
public:
  Change(const std::string &Folder, StringRef State) : Folder(Folder), State(State) {}
  Change(const std::string &Folder, ArrayRef<FileChange> Files) : Change(Folder, "preparing") {
    for (const FileChange &File : Files)
      Entries.push_back({hashOf(File.Before), hashOf(File.After), File.Path});
  }

  bool exists() const { return sys::fs::exists(in("")); }
  size_t size() const { return Entries.size(); }
  Error read();
  Error write(ArrayRef<FileChange> Files) const;
  Error replaceFiles() const;
  // Which files have their texts after. Fails where putBack() would, with nothing changed.
  Expected<std::vector<size_t>> replaced() const;
  Error putBack();
  Error discard();
  Error become(StringRef Next);

private:
  std::string in(const Twine &Name) const { return (Folder + "/" + State + "/" + Name).str(); }
  std::string before(size_t K) const { return in(Twine(K)); }
  Error damaged() const;
  Error syncFolders() const;

  std::string Folder;
  StringRef State;
  std::vector<Entry> Entries;
};

Error Change::damaged() const {
  return refuse(shownPath(in("files")) +
                    ": cannot be read, or is damaged; the texts from before are beside it",
                "undo-damaged");
}

Error Change::read() {
  auto Text = textOf(in("files"));
  if (!Text || !*Text)
    return damaged();
  SmallVector<StringRef> Lines;
  StringRef(**Text).split(Lines, '\0'); // paths may have line ends
  if (Lines.size() < 2 || Lines.front() != FirstLine || Lines.back() != "end")
    return damaged();
  for (StringRef Line : ArrayRef(Lines).drop_front().drop_back()) {
    SmallVector<StringRef, 3> Fields;
    Line.split(Fields, ' ', 2);
    if (Fields.size() != 3)
      return damaged();
    Entries.push_back({Fields[0].str(), Fields[1].str(), Fields[2].str()});
  }
  return Error::success();
}

// What can be known of a file before anything is written.
Error checkReplaceable(const FileChange &File, const Entry &E) {
  if (Error Failed = checkUnchanged(File.Path, E.Before))
    return Failed;
  for (const std::string &Path : {E.next(), E.last()})
    if (sys::fs::exists(Path))
      return cannotWrite(Path, std::make_error_code(std::errc::file_exists));
  // A file that its owner made read-only stays as it is, even if its folder is writable.
  if (File.Before && ::access(File.Path.c_str(), W_OK))
    return cannotWrite(File.Path);
  return Error::success();
}

Error Change::write(ArrayRef<FileChange> Files) const {
  for (const auto &[File, E] : zip_equal(Files, Entries))
    if (Error Failed = checkReplaceable(File, E))
      return Failed;
  if (std::error_code Failed = sys::fs::create_directories(in("")))
    return cannotWrite(in(""), Failed);
  std::string Text = std::string(FirstLine) + '\0';
  for (const Entry &E : Entries)
    Text += E.Before + " " + E.After + " " + E.Path + '\0';
  if (Error Failed = writeNew(in("files"), Text + "end"))
    return Failed;
  if (Error Failed = sync(in("")))
    return Failed;
  for (const auto &[K, File] : enumerate(Files)) {
    if (SignalsHeld::interrupted())
      return refuse("interrupted", "interrupted");
    if (File.Before)
      if (Error Failed = writeNew(before(K), *File.Before))
        return Failed;
    if (Error Failed = writeNew(Entries[K].next(), File.After, File.Before ? File.Path : ""))
      return Failed;
  }
  if (Error Failed = sync(in("")))
    return Failed;
  return syncFolders();
}

Error Change::replaceFiles() const {
  for (const Entry &E : Entries) {
    if (Error Failed = checkUnchanged(E.Path, E.Before)) // an editor may have saved it just now
      return Failed;
    if (Error Failed = rename(E.next(), E.Path))
      return Failed;
  }
  return syncFolders();
}

Error Change::syncFolders() const {
  std::set<StringRef> Folders;
  for (const Entry &E : Entries)
    Folders.insert(sys::path::parent_path(E.Path));
  for (StringRef Each : Folders)
    if (Error Failed = sync(Each.str()))
      return Failed;
  return Error::success();
}

Expected<std::vector<size_t>> Change::replaced() const {
  std::vector<size_t> Result;
  for (const auto &[K, E] : enumerate(Entries)) {
    Expected<std::string> Now = hashOfFile(E.Path);
    if (!Now)
      return Now.takeError();
    std::string Kept = E.Before == NoFile ? "" : before(K);
    bool NotYet = *Now == E.Before || sys::fs::exists(E.next());
    if (*Now != E.After && !NotYet)
      return refuse(
          shownPath(E.Path) + ": was edited or removed since relock changed it, and " +
              (Kept.empty() ? "did not exist before; remove it"
                            : "was " + shownPath(Kept) + " before; copy that over it") +
              ", or put your edit aside, then run the command again; nothing was put back",
          "edited");
    if (*Now != E.After)
      continue;
    Result.push_back(K);
    auto Text = Kept.empty() ? std::optional<std::string>() : textOf(Kept);
    if (!Text || hashOf(*Text) != E.Before)
      return damaged();
  }
  return Result;
}

Error Change::putBack() {
  Expected<std::vector<size_t>> Replaced = replaced();
  if (!Replaced)
    return Replaced.takeError();
  for (size_t K : *Replaced) {
    const Entry &E = Entries[K];
    if (Error Failed = remove(E.last()))
      return Failed;
    if (E.Before == NoFile) {
      if (Error Failed = remove(E.Path))
        return Failed;
      continue;
    }
    auto Text = textOf(before(K));
    if (!Text || !*Text)
      return damaged();
    if (Error Failed = writeNew(E.last(), **Text, E.Path))
      return Failed;
    if (Error Failed = rename(E.last(), E.Path))
      return Failed;
  }
  if (Error Failed = syncFolders())
    return Failed;
  if (Error Failed = become("preparing"))
    return Failed;
  return discard();
}

Error Change::discard() {
  for (const Entry &E : Entries)
    for (const std::string &Path : {E.next(), E.last()})
      if (Error Failed = remove(Path))
        return Failed;
  if (std::error_code Failed = sys::fs::remove_directories(in(""), /*IgnoreErrors=*/false))
    return cannotWrite(in(""), Failed);
  return Error::success();
}

Error Change::become(StringRef Next) {
  if (Error Failed = rename(in(""), Folder + "/" + Next.str()))
    return Failed;
  State = Next;
  return Error::success();
}

// What is left of a preparation: without a readable list, it had not got to the files.
Error discardPreparation(const std::string &Folder) {
  Change Left(Folder, "preparing");
  if (!Left.exists())
    return Error::success();
  consumeError(Left.read());
  return Left.discard();
}

Expected<size_t> putBackOpen(const std::string &Folder) {
  if (Error Failed = discardPreparation(Folder))
    return Failed;
  Change Open(Folder, "open");
  if (!Open.exists())
    return 0;
  if (Error Failed = Open.read())
    return Failed;
  if (Error Failed = Open.putBack())
    return Failed;
  return Open.size();
}

Error makeFolder(const std::string &Folder) {
  if (std::error_code Failed = sys::fs::create_directories(Folder))
    return cannotWrite(Folder, Failed);
  std::string Ignore = Folder + "/.gitignore";
  return sys::fs::exists(Ignore) ? Error::success() : writeNew(Ignore, "*\n");
}

Error with(Error Failed, const Twine &More) {
  return handleErrors(std::move(Failed), [&](std::unique_ptr<TransactionError> Why) -> Error {
    Why->Text += More.str();
    return Error(std::move(Why));
  });
}

// Goes from preparing to done, or back. Returns why it went back.
Error carryOut(ArrayRef<FileChange> Files, const std::string &Folder) {
  Change Now(Folder, Files);
  Error Failed = Now.write(Files);
  if (!Failed)
    Failed = Now.become("open");
  if (!Failed)
    Failed = sync(Folder);
  if (!Failed)
    Failed = Now.replaceFiles();
  Change Earlier(Folder, "done");
  if (!Failed && Earlier.exists())
    Failed = Earlier.become("preparing");
  if (!Failed)
    Failed = Now.become("done");
  if (!Failed) {
    // The files have changed; what is not tidied up here is next time.
    consumeError(sync(Folder));
    consumeError(discardPreparation(Folder));
    return Failed;
  }
  Expected<size_t> Back = putBackOpen(Folder);
  if (Back)
    return with(std::move(Failed), "; nothing was changed");
  return with(std::move(Failed), "; then " + toString(Back.takeError()) +
                                     "; not all files are as before, `relock rewrite --undo` tries "
                                     "again");
}

} // namespace

std::string transactionFolder(StringRef Of) {
  SmallString<256> Path(Of);
  sys::fs::make_absolute(Path);
  if (!sys::fs::is_directory(Path))
    sys::path::remove_filename(Path);
  sys::path::append(Path, ".relock", "changes");
  return std::string(Path);
}

Error changeFiles(ArrayRef<FileChange> Files, const std::string &Folder) {
  if (Files.empty())
    return Error::success();
  if (Error Failed = makeFolder(Folder))
    return with(std::move(Failed), "; nothing was changed");
  FolderLock Mine(Folder);
  SignalsHeld Held;
  if (Change(Folder, "open").exists())
    return refuse("a change of these files was interrupted meanwhile; run the command again",
                  "unfinished");
  if (Error Failed = discardPreparation(Folder))
    return with(std::move(Failed), "; nothing was changed");
  std::vector<FileChange> Resolved = Files.vec(); // a link stays one
  for (FileChange &File : Resolved) {
    SmallString<256> Real;
    if (File.Before && !sys::fs::real_path(File.Path, Real))
      File.Path = std::string(Real);
  }
  Error Failed = carryOut(Resolved, Folder);
  // A signal is about to end the process, or nearly always is.
  if (SignalsHeld::interrupted() && !Failed)
    message("interrupted when all files had been written", "interrupted");
  else if (SignalsHeld::interrupted())
    visitErrors(Failed, [](const ErrorInfoBase &Why) { message(Why.message(), "interrupted"); });
  return Failed;
}

bool isInterrupted(const std::string &Folder) {
  FolderLock Theirs(Folder);
  return Change(Folder, "open").exists();
}

Expected<size_t> undoInterrupted(const std::string &Folder) {
  FolderLock Mine(Folder);
  SignalsHeld Held;
  return putBackOpen(Folder);
}

Expected<size_t> undoLast(const std::string &Folder) {
  FolderLock Mine(Folder);
  SignalsHeld Held;
  Change Last(Folder, "done");
  if (Change(Folder, "open").exists() || !Last.exists())
    return putBackOpen(Folder);
  if (Error Failed = Last.read())
    return Failed;
  if (Error Failed = Last.replaced().takeError())
    return Failed;
  if (Error Failed = Last.become("open"))
    return Failed;
  if (Error Failed = sync(Folder))
    return Failed;
  return putBackOpen(Folder);
}

void reportError(Error Failed, StringRef Code) {
  handleAllErrors(
      std::move(Failed), [](const TransactionError &E) { message(E.Text, E.Code); },
      [&](const ErrorInfoBase &E) { message(E.message(), Code); });
}

} // namespace relock
