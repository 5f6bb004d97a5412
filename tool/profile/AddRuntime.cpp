// SPDX-License-Identifier: MIT
#include "profile/AddRuntime.h"

#include "profile/Buckets.h"
#include "profile/Symbolize.h"

#include "../../runtime/base/stats_share.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <thread>
#include <tuple>
#include <unistd.h>

using namespace llvm;

namespace relock {

namespace {

constexpr StringRef Extension = ".librelock";

bool isCostlier(const ProfiledClass &A, const ProfiledClass &B) {
  return std::make_tuple(A.waitTotal(), A.holdTotal(), A.acquisitions()) >
         std::make_tuple(B.waitTotal(), B.holdTotal(), B.acquisitions());
}

std::string fileOf(int64_t Pid, StringRef Folder) {
  return (Folder + "/" + Twine(Pid) + Extension).str();
}

// --- Asking --------------------------------------------------------------------------------------

// The file may be anything where the program runs as another user: it is read and written, not
// mapped, but for the address of a futex.
std::optional<relock_share> readShare(int File) {
  relock_share Share;
  if (pread(File, &Share, sizeof Share, 0) != sizeof Share || Share.magic != RELOCK_SHARE_MAGIC)
    return std::nullopt;
  return Share;
}

bool ask(int File, uint32_t Question) {
  if (pwrite(File, &Question, sizeof Question, offsetof(relock_share, asked)) != sizeof Question)
    return false;
  void *Page = mmap(nullptr, sizeof(relock_share), PROT_READ | PROT_WRITE, MAP_SHARED, File, 0);
  if (Page == MAP_FAILED)
    return false;
  syscall(SYS_futex, &static_cast<relock_share *>(Page)->asked, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  munmap(Page, sizeof(relock_share));
  return true;
}

// A runtime answers within a millisecond, unless its process is stopped or its machine is busy.
void askRuntime(pid_t Pid, StringRef Path) {
  using namespace std::chrono;
  int File = open(Path.str().c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (File < 0)
    return;
  auto Close = make_scope_exit([&] { close(File); });
  std::optional<relock_share> Share = readShare(File);
  if (!Share || !Share->listens)
    return;
  const uint32_t Question = Share->asked + 1;
  if (!ask(File, Question))
    return;
  const auto Patience = steady_clock::now() + seconds(2);
  while (Share && Share->answered != Question && steady_clock::now() < Patience &&
         (kill(Pid, 0) == 0 || errno == EPERM)) {
    std::this_thread::sleep_for(microseconds(500));
    Share = readShare(File);
  }
}

// --- Reading -------------------------------------------------------------------------------------

// The runtime makes the file when it starts, and writes it at the end and when it is asked.
std::optional<Profile> readCounts(int64_t Pid, StringRef Executable, StringRef Folder) {
  auto Buffer = MemoryBuffer::getFile(fileOf(Pid, Folder), /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false, /*IsVolatile=*/true);
  if (!Buffer || (*Buffer)->getBufferSize() < sizeof(relock_share))
    return std::nullopt;
  relock_share Share;
  StringRef Content = (*Buffer)->getBuffer();
  std::copy_n(Content.data(), sizeof Share, reinterpret_cast<char *>(&Share));
  if (Share.magic != RELOCK_SHARE_MAGIC || Share.length > Content.size() - sizeof Share)
    return std::nullopt;
  Expected<Profile> Counted = parseProfile(Content.substr(sizeof Share, Share.length));
  if (Counted && Counted->Executable == Executable)
    return std::move(*Counted);
  if (!Counted)
    consumeError(Counted.takeError());
  return std::nullopt;
}

// Both count in buckets of the same clock, and have measured its frequency each for itself.
void renameBuckets(Times &T, const Buckets &From, const Buckets &To) {
  for (auto &[Floor, Count] : T.Histogram)
    Floor = To.floor(From.named(Floor));
}

// --- Naming --------------------------------------------------------------------------------------

class SiteNames {
public:
  // The innermost frame of two is the section itself, the outer one, or the only one, a call.
  void name(CallSite &Site) {
    std::vector<std::string> Stack;
    for (const auto &[I, Frame] : enumerate(Site.Stack))
      name(Frame, I == 0 && Site.Stack.size() > 1, Stack);
    Site.Stack = std::move(Stack);
  }

private:
  void name(StringRef Frame, bool IsEntry, std::vector<std::string> &Stack) {
    auto [Module, Text] = Frame.rsplit('+');
    std::string Place = (sys::path::filename(Module) + "+" + Text).str();
    uint64_t Offset;
    if (!to_integer(Text, Offset, 0) || !sys::fs::exists(Module)) {
      Stack.push_back(Place);
      return;
    }
    for (const CodePlace &Code : Names.code(Module, Offset + IsEntry)) {
      std::string Where = Code.File.empty() ? Place
                                            : sys::path::filename(Code.File).str() + ":" +
                                                  std::to_string(Code.Line);
      Stack.push_back(Code.Function.empty() ? Where : Code.Function + " (" + Where + ")");
    }
  }

  Symbolizer Names;
};

} // namespace

void askRuntimes(StringRef Folder) {
  std::error_code Error;
  for (sys::fs::directory_iterator At(Folder, Error), End; !Error && At != End;
       At.increment(Error)) {
    pid_t Pid;
    StringRef Path = At->path();
    if (Path.ends_with(Extension) && to_integer(sys::path::stem(Path), Pid, 10) && Pid > 0)
      askRuntime(Pid, Path);
  }
}

uint64_t countRuntime(int64_t Pid, StringRef Executable, StringRef Folder) {
  std::optional<Profile> Counted = readCounts(Pid, Executable, Folder);
  return Counted ? Counted->acquisitions() : 0;
}

void addRuntime(Profile &P, StringRef Folder) {
  if (!sys::fs::exists(fileOf(P.Pid, Folder)))
    return;
  std::optional<Profile> Counted = readCounts(P.Pid, P.Executable, Folder);
  if (!Counted) {
    ++P.Drops.Runtimes;
    return;
  }
  const Buckets Theirs(Counted->TicksPerSecond), Ours(P.TicksPerSecond);
  SiteNames Names;
  for (auto [From, To] : {std::pair(&Counted->Classes, &P.Classes), {&Counted->Waits, &P.Waits}})
    for (ProfiledClass &Class : *From) {
      renameBuckets(Class.Wait, Theirs, Ours);
      renameBuckets(Class.Hold, Theirs, Ours);
      for (CallSite &Site : Class.Sites)
        Names.name(Site);
      To->push_back(std::move(Class));
    }
  std::stable_sort(P.Classes.begin(), P.Classes.end(), isCostlier);
  std::stable_sort(P.Waits.begin(), P.Waits.end(), isCostlier);
  P.RuntimeSectionTime = Counted->SectionTime;
  P.Overhead += Counted->Overhead;
  P.ForeignReleases += Counted->ForeignReleases;
  P.Drops.Times += Counted->Drops.Times;
  P.Servers = std::move(Counted->Servers);
}

} // namespace relock
