// SPDX-License-Identifier: MIT
#include "profile/AddRuntime.h"

#include "profile/Aggregate.h"
#include "profile/Buckets.h"
#include "profile/Symbolize.h"

#include "../../runtime/statistics/stats_share.h"

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
#include <map>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <thread>
#include <tuple>
#include <unistd.h>
#include <utility>

using namespace llvm;

namespace relock {

namespace {

constexpr StringRef Extension = ".librelock";

bool isCostlier(const ProfiledClass &A, const ProfiledClass &B) {
  return std::make_tuple(A.waitTotal(), A.holdTotal(), A.acquisitions()) >
         std::make_tuple(B.waitTotal(), B.holdTotal(), B.acquisitions());
}

std::string partOf(int64_t Pid, StringRef Folder) {
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

// Neither dead nor stopped.
bool runs(pid_t Pid) {
  auto Stat = MemoryBuffer::getFileAsStream("/proc/" + Twine(Pid) + "/stat");
  if (!Stat)
    return kill(Pid, 0) == 0 || errno == EPERM;
  StringRef State = (*Stat)->getBuffer().rsplit(')').second.ltrim();
  return !State.empty() && !StringRef("TtZX").contains(State[0]);
}

// --- Reading -------------------------------------------------------------------------------------

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

// --- Callers -------------------------------------------------------------------------------------

// librelock counts each call, by its section and caller alone. Samples say what callers these had,
// and how the exact numbers divide among them.
class Callers {
public:
  Callers(const ProfiledClass *Recorded, SiteNames &Names) : Names(Names) {
    if (Recorded)
      for (const CallSite &Sample : Recorded->Sites)
        if (Sample.Stack.size() > 1)
          Samples[Sample.Stack.front()].push_back(&Sample);
  }

  std::vector<CallSite> of(CallSite Site) {
    auto Known = Samples.find(join(Site.Stack, " "));
    if (Known == Samples.end()) {
      Names.name(Site);
      return {std::move(Site)};
    }
    std::vector<CallSite> Result;
    for (const CallSite *Sample : Known->second)
      Result.push_back({{Sample->Stack.begin() + 1, Sample->Stack.end()}, false, Sample->Samples});
    for (uint64_t CallSite::*Field :
         {&CallSite::Acquisitions, &CallSite::Contended, &CallSite::Wait, &CallSite::Hold})
      divide(Site.*Field, Known->second, Field, Result);
    return Result;
  }

private:
  static double sum(ArrayRef<const CallSite *> Samples, uint64_t CallSite::*Field) {
    double Sum = 0;
    for (const CallSite *Sample : Samples)
      Sum += double(Sample->*Field);
    return Sum;
  }

  // By what is known best: all waits can have been missed.
  static void divide(uint64_t Exact, ArrayRef<const CallSite *> Samples, uint64_t CallSite::*Field,
                     std::vector<CallSite> &Result) {
    uint64_t CallSite::*By = Field;
    for (uint64_t CallSite::*Other : {&CallSite::Acquisitions, &CallSite::Samples})
      if (sum(Samples, By) == 0)
        By = Other;
    double All = sum(Samples, By), Sampled = 0;
    uint64_t Given = 0;
    for (auto [Sample, Site] : zip_equal(Samples, Result)) {
      Sampled += double(Sample->*By);
      const uint64_t Until = Sampled == All ? Exact : uint64_t(double(Exact) * (Sampled / All));
      Site.*Field = Until - Given;
      Given = Until;
    }
  }

  SiteNames &Names;
  std::map<std::string, std::vector<const CallSite *>> Samples; // by where librelock has them
};

// Those that cost most, as in the classes of the records.
void keepCostliest(ProfiledClass &Class) {
  std::stable_sort(Class.Sites.begin(), Class.Sites.end(), [](const auto &A, const auto &B) {
    return std::make_tuple(A.Wait, A.Hold, A.Acquisitions) >
           std::make_tuple(B.Wait, B.Hold, B.Acquisitions);
  });
  if (Class.Sites.size() <= SitesPerClass)
    return;
  Class.SitesOmitted += Class.Sites.size() - SitesPerClass;
  Class.Sites.resize(SitesPerClass);
}

// --- Joining -------------------------------------------------------------------------------------

// Takes out of the profile's classes those that stand for the runtime's.
std::map<std::string, ProfiledClass> takeRecorded(Profile &P) {
  std::map<std::string, ProfiledClass> Recorded;
  auto First =
      std::stable_partition(P.Classes.begin(), P.Classes.end(), [](const ProfiledClass &Class) {
        return Class.Primitive != RecordedPrimitive;
      });
  for (auto At = First; At != P.Classes.end(); ++At)
    Recorded.emplace(At->Key, std::move(*At));
  P.Classes.erase(First, P.Classes.end());
  return Recorded;
}

// Gives what the records have of the runtime's classes the keys of these; what has none, since the
// runtime did not say, is left out.
class Rekeyer {
public:
  Rekeyer(Profile &P, bool OfWindow) : P(P), OfWindow(OfWindow), Recorded(takeRecorded(P)) {}

  bool any() const { return !Recorded.empty(); }

  // Null: the records have nothing of it.
  const ProfiledClass *of(const ProfiledClass &Class) const {
    auto Found = Recorded.find(keyOf(Class));
    return Found == Recorded.end() ? nullptr : &Found->second;
  }

  void add(ProfiledClass &Class) {
    auto Found = Recorded.find(keyOf(Class));
    if (Found == Recorded.end())
      return;
    Keys[Found->first] = Class.Key;
    Holds[Class.Key] = Class.Hold.Count;
    if (OfWindow) {
      Class.Wait = std::move(Found->second.Wait);
      takeHolds(Class.Hold, std::move(Found->second.Hold));
    }
    Class.Inside = std::move(Found->second.Inside);
    Class.TriedInside = std::move(Found->second.TriedInside);
    Class.ReadInside = std::move(Found->second.ReadInside);
  }

  // After all classes have been added.
  void finish() {
    for (ProfiledClass &Class : P.Classes) {
      rekey(Class.Inside, &std::pair<std::string, uint64_t>::first);
      rekey(Class.TriedInside, &std::pair<std::string, uint64_t>::first);
      rekey(Class.ReadInside, &ReadNesting::Key);
    }
    for (ProfiledThread &Thread : P.ByThread)
      rekey(Thread.Classes, &ThreadShare::Key);
    if (!P.ThreadsOmitted && !P.Drops.Times) // of all threads
      shareHolds();
    const size_t Waits = P.Timeline.size();
    rekey(P.Timeline, &ProfiledWait::Key);
    rekey(P.OverTime, &WaitingOverTime::Key);
    P.TimelineOmitted += Waits - P.Timeline.size();
  }

private:
  static std::string keyOf(const ProfiledClass &Class) {
    return Class.Runtime ? recordedKey(Class.Runtime->RecordedAs) : "";
  }

  // The records know them by those that were timed; how many they were is counted by the runtime.
  static void takeHolds(Times &Hold, Times Recorded) {
    const uint64_t Count = Hold.Count;
    Hold = std::move(Recorded);
    if (Hold.Timed == Hold.Count && Hold.Count != Count)
      Hold.Error = std::nullopt; // of those that chance chose there is none
    Hold.Timed = std::min(Hold.Timed, Count);
    correctHolds(Hold, Count);
  }

  void shareHolds() {
    std::map<std::string, SharedHolds> Shared;
    for (const ProfiledThread &Thread : P.ByThread)
      for (const ThreadShare &Share : Thread.Classes)
        if (Holds.count(Share.Key)) {
          SharedHolds &All = Shared[Share.Key];
          All.Threads += Share.Acquisitions > 0;
          All.Count += Share.Acquisitions;
          All.Variance += Share.Variance;
        }
    for (ProfiledThread &Thread : P.ByThread)
      for (ThreadShare &Share : Thread.Classes)
        if (auto Exact = Holds.find(Share.Key); Exact != Holds.end() && Share.Acquisitions)
          correctHolds(Share, Shared[Share.Key].likely(Share, Exact->second));
  }

  template <typename T, typename Field> void rekey(std::vector<T> &All, Field Key) {
    llvm::erase_if(All, [&](T &Each) {
      if (!Recorded.count(Each.*Key))
        return false;
      auto Known = Keys.find(Each.*Key);
      if (Known == Keys.end())
        return true;
      Each.*Key = Known->second;
      return false;
    });
  }

  Profile &P;
  bool OfWindow;
  std::map<std::string, ProfiledClass> Recorded; // by the records' keys
  std::map<std::string, std::string> Keys;
  std::map<std::string, uint64_t> Holds; // by the runtime's keys
};

void nameSites(ProfiledClass &Class, const ProfiledClass *Recorded, SiteNames &Names) {
  Callers Known(Recorded, Names);
  for (CallSite &Site : std::exchange(Class.Sites, {}))
    for (CallSite &Each : Known.of(std::move(Site)))
      Class.Sites.push_back(std::move(Each));
  keepCostliest(Class);
}

} // namespace

int openRuntime(int64_t Pid, StringRef Folder) {
  return open(partOf(Pid, Folder).c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

// A runtime answers within a millisecond, unless its machine is busy or its process stopped.
bool askRuntime(pid_t Pid, int File) {
  using namespace std::chrono;
  std::optional<relock_share> Share = readShare(File);
  if (!Share || !Share->listens)
    return false;
  const uint32_t Question = Share->asked + 1;
  if (!ask(File, Question))
    return false;
  const auto Patience = steady_clock::now() + seconds(30);
  while (Share && Share->answered != Question && steady_clock::now() < Patience && runs(Pid)) {
    std::this_thread::sleep_for(microseconds(500));
    Share = readShare(File);
  }
  return Share && Share->answered == Question;
}

void askRuntimes(StringRef Folder) {
  std::error_code Error;
  for (sys::fs::directory_iterator At(Folder, Error), End; !Error && At != End;
       At.increment(Error)) {
    pid_t Pid;
    StringRef Path = At->path();
    if (!Path.ends_with(Extension) || !to_integer(sys::path::stem(Path), Pid, 10) || Pid <= 0)
      continue;
    if (int File = openRuntime(Pid, Folder); File >= 0) {
      askRuntime(Pid, File);
      close(File);
    }
  }
}

// The runtime makes the file when it starts, and writes it at the end and when it is asked.
std::optional<Profile> readRuntime(int File, StringRef Executable) {
  auto Buffer = MemoryBuffer::getOpenFile(File, "statistics", /*FileSize=*/-1,
                                          /*RequiresNullTerminator=*/false, /*IsVolatile=*/true);
  if (!Buffer || (*Buffer)->getBufferSize() < sizeof(relock_share))
    return std::nullopt;
  relock_share Share;
  StringRef Content = (*Buffer)->getBuffer();
  std::copy_n(Content.data(), sizeof Share, reinterpret_cast<char *>(&Share));
  if (Share.magic != RELOCK_SHARE_MAGIC || Share.length > Content.size() - sizeof Share)
    return std::nullopt;
  Expected<Profile> Counted = parseProfile(Content.substr(sizeof Share, Share.length));
  if (!Counted) {
    consumeError(Counted.takeError());
    return std::nullopt;
  }
  if (Counted->Executable != Executable)
    return std::nullopt;
  return std::move(*Counted);
}

void renameBuckets(Profile &P, uint64_t TicksPerSecond) {
  const Buckets From(P.TicksPerSecond), To(TicksPerSecond);
  for (std::vector<ProfiledClass> *Classes : {&P.Classes, &P.Waits})
    for (ProfiledClass &Class : *Classes)
      for (Times *T : {&Class.Wait, &Class.Hold})
        renameBuckets(*T, From, To);
  P.TicksPerSecond = TicksPerSecond;
}

uint64_t countRuntime(int64_t Pid, StringRef Executable, StringRef Folder) {
  int File = openRuntime(Pid, Folder);
  if (File < 0)
    return 0;
  std::optional<Profile> Counted = readRuntime(File, Executable);
  close(File);
  return Counted ? Counted->acquisitions() : 0;
}

void addRuntime(Profile &P, std::optional<Profile> Counted, bool OfWindow) {
  Rekeyer Recorded(P, OfWindow);
  SiteNames Names;
  if (!Counted)
    Counted.emplace().Drops.Runtimes = 1;
  renameBuckets(*Counted, P.TicksPerSecond);
  for (auto [From, To] : {std::pair(&Counted->Classes, &P.Classes), {&Counted->Waits, &P.Waits}})
    for (ProfiledClass &Class : *From) {
      nameSites(Class, Recorded.of(Class), Names);
      Recorded.add(Class);
      To->push_back(std::move(Class));
    }
  Recorded.finish();
  std::stable_sort(P.Classes.begin(), P.Classes.end(), isCostlier);
  std::stable_sort(P.Waits.begin(), P.Waits.end(), isCostlier);
  P.RuntimeSectionTime = Counted->SectionTime;
  P.RuntimeWithin = Recorded.any();
  P.Overhead += Counted->Overhead;
  P.Holds += Counted->Holds;
  P.HoldsTimed += Counted->HoldsTimed;
  P.ForeignReleases += Counted->ForeignReleases;
  P.Drops.Times += Counted->Drops.Times;
  P.Drops.Runtimes += Counted->Drops.Runtimes;
  P.Servers = std::move(Counted->Servers);
}

void addRuntime(Profile &P, StringRef Folder) {
  int File = openRuntime(P.Pid, Folder);
  if (File < 0)
    return;
  addRuntime(P, readRuntime(File, P.Executable));
  close(File);
}

} // namespace relock
