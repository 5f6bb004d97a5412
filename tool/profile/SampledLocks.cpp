// SPDX-License-Identifier: MIT
#include "profile/SampledLocks.h"

#include "profile/Symbolize.h"
#include "profile/Text.h"
#include "support/Color.h"
#include "support/Messages.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <pthread.h>
#include <sys/syscall.h>

using namespace llvm;

namespace relock {

namespace {

// Those in which threads sleep with a lock; others have their number.
std::string systemCallName(long Number) {
  static const std::pair<long, const char *> Known[] = {
      {SYS_read, "read"},
      {SYS_write, "write"},
      {SYS_pread64, "pread"},
      {SYS_pwrite64, "pwrite"},
      {SYS_readv, "readv"},
      {SYS_writev, "writev"},
      {SYS_openat, "openat"},
      {SYS_close, "close"},
      {SYS_fsync, "fsync"},
      {SYS_fdatasync, "fdatasync"},
      {SYS_ppoll, "poll"},
      {SYS_pselect6, "select"},
      {SYS_epoll_pwait, "epoll_wait"},
      {SYS_recvfrom, "recv"},
      {SYS_recvmsg, "recvmsg"},
      {SYS_sendto, "send"},
      {SYS_sendmsg, "sendmsg"},
      {SYS_accept4, "accept"},
      {SYS_connect, "connect"},
      {SYS_wait4, "wait"},
      {SYS_nanosleep, "nanosleep"},
      {SYS_clock_nanosleep, "nanosleep"},
      {SYS_futex, "futex"},
      {SYS_mmap, "mmap"},
      {SYS_munmap, "munmap"},
      {SYS_madvise, "madvise"},
#ifdef SYS_poll
      {SYS_poll, "poll"},
      {SYS_select, "select"},
      {SYS_epoll_wait, "epoll_wait"},
      {SYS_accept, "accept"},
      {SYS_open, "open"},
#endif
  };
  for (auto [Call, Name] : Known)
    if (Call == Number)
      return Name;
  return "system call " + std::to_string(Number);
}

// `a 61%, b 39%`: the most frequent first, of so many in all.
template <typename T, typename NameOf>
std::string sharesOf(const std::map<T, uint64_t> &Counts, NameOf Name) {
  constexpr size_t Shown = 4;
  std::vector<std::pair<uint64_t, T>> Sorted;
  uint64_t All = 0;
  for (const auto &[Of, Count] : Counts) {
    Sorted.push_back({Count, Of});
    All += Count;
  }
  stable_sort(Sorted, [](const auto &A, const auto &B) { return A.first > B.first; });
  std::string Text;
  for (const auto &[Count, Of] : ArrayRef(Sorted).take_front(Shown))
    Text += (Text.empty() ? "" : ", ") + Name(Of) + " " + percent(Count, All);
  return Sorted.size() > Shown ? Text + ", " + counted(Sorted.size() - Shown, "other") : Text;
}

// A thread sleeps for one mutex at a time.
std::vector<SeenWait> circleOf(ArrayRef<SeenWait> Waits) {
  std::map<pid_t, const SeenWait *> WaitOf;
  for (const SeenWait &W : Waits)
    if (!W.Limited)
      WaitOf[W.Thread] = &W;
  for (const auto &[Thread, First] : WaitOf) {
    std::vector<SeenWait> Way;
    for (auto At = WaitOf.find(Thread); At != WaitOf.end() && Way.size() <= WaitOf.size();
         At = WaitOf.find(At->second->Holder)) {
      Way.push_back(*At->second);
      if (At->second->Holder == Thread)
        return Way;
    }
  }
  return {};
}

bool isSame(ArrayRef<SeenWait> A, ArrayRef<SeenWait> B) {
  return A.size() == B.size() && std::equal(A.begin(), A.end(), B.begin(), [](auto &A, auto &B) {
           return A.Thread == B.Thread && A.Mutex == B.Mutex && A.Holder == B.Holder;
         });
}

} // namespace

void SampledLock::add(const SampledLock &Other) {
  Mutexes.insert(Other.Mutexes.begin(), Other.Mutexes.end());
  Waits += Other.Waits;
  Most = std::max(Most, Other.Most);
  for (auto [Call, Count] : Other.Calls)
    Calls[Call] += Count;
  for (auto [Thread, Count] : Other.Holders)
    Holders[Thread] += Count;
  for (auto [Now, Count] : Other.Holding)
    Holding[Now] += Count;
}

void SampledLocks::add(const Look &Seen) {
  ++Looks;
  Threads += Seen.Threads.size();
  std::map<uint64_t, uint64_t> Waiters;
  std::map<pid_t, const SeenWait *> WaitOf;
  for (const SeenWait &W : Seen.Waits)
    WaitOf[W.Thread] = &W;
  for (const SeenWait &W : Seen.Waits) {
    SampledLock &Lock = Mutexes[W.Mutex];
    Lock.Mutexes.insert(W.Mutex);
    ++Lock.Waits;
    ++Lock.Calls[W.Call];
    if (++Waiters[W.Mutex] > 1)
      continue; // its holder is counted once
    ++Lock.Holders[W.Holder];
    if (ThreadNames.try_emplace(W.Holder).second)
      ThreadNames[W.Holder] = Process.threadName(W.Holder);
    auto Holder = Seen.Threads.find(W.Holder);
    if (auto Other = WaitOf.find(W.Holder); Other != WaitOf.end())
      ++Lock.Holding[{Doing::Waits, Other->second->Mutex}];
    else if (Holder->second)
      ++Lock.Holding[{Doing::Sleeps, uint64_t(*Holder->second)}];
    else
      ++Lock.Holding[{Doing::Runs, 0}];
  }
  for (auto [Mutex, Count] : Waiters)
    Mutexes[Mutex].Most = std::max(Mutexes[Mutex].Most, Count);
  std::vector<SeenWait> Now = circleOf(Seen.Waits);
  Same = !Now.empty() && isSame(Now, Circle) ? Same + 1 : 1;
  Circle = std::move(Now);
}

std::string SampledLocks::threadName(pid_t Thread) {
  auto [Known, New] = ThreadNames.try_emplace(Thread);
  if (New)
    Known->second = Process.threadName(Thread);
  std::string Name = printable(Known->second);
  return (Name.empty() ? "thread" : Name) + " " + std::to_string(Thread);
}

std::string SampledLocks::callName(uint64_t Call) {
  const RawModule *Module = Call ? Process.moduleOf(Call) : nullptr;
  if (!Module)
    return "a call that was not found";
  CodePlace Place = Names.code(Module->Path, Call - Module->Bias)[0];
  std::string File = Place.File.empty()
                         ? sys::path::filename(Module->Path).str() + "+0x" +
                               utohexstr(Call - Module->Bias, /*LowerCase=*/true)
                         : sys::path::filename(Place.File).str() + ":" + std::to_string(Place.Line);
  return Place.Function.empty() ? File : Place.Function + " (" + File + ")";
}

std::string SampledLocks::doingName(const Doing &Now) {
  switch (Now.What) {
  case Doing::Runs:
    return "ran";
  case Doing::Sleeps:
    return "slept in " + systemCallName(long(Now.Of));
  case Doing::Waits:
    return "waited for " + lockName(Now.Of);
  }
  return "";
}

// As `relock check` names it, or at least the variable; empty: neither is known.
std::string SampledLocks::declaredName(uint64_t Mutex, uint64_t Call) {
  if (const RawModule *Module = Process.moduleOf(Mutex)) {
    DataPlace Data =
        Names.data(Module->Path, Mutex - Module->Bias, RELOCK_MUTEX, sizeof(pthread_mutex_t));
    if (!Data.Symbol.empty()) // else it may be memory that lies behind the module
      return Data.Is.ClassName;
  }
  const RawModule *Module = Call ? Process.moduleOf(Call) : nullptr;
  if (!Module)
    return "";
  uint64_t At = Call - Module->Bias;
  for (const CodePlace &Place : Names.code(Module->Path, At))
    if (Declared Is = Names.declared(RELOCK_MUTEX, Module->Path, At, Place, false);
        !Is.ClassName.empty())
      return Is.ClassName;
  return "";
}

std::string SampledLocks::lockName(uint64_t Mutex) {
  SampledLock &Lock = Mutexes[Mutex];
  for (auto [Call, Count] : Lock.Calls) // not each of them says what it locks
    if (Lock.Name.empty())
      Lock.Name = declaredName(Mutex, Call);
  if (Lock.Name.empty())
    Lock.Name = "mutex of " + callName(Lock.Calls.begin()->first);
  return Lock.Name;
}

std::vector<SampledLock> SampledLocks::byClass() {
  std::map<std::string, SampledLock> Classes;
  for (auto &[Address, Lock] : Mutexes) {
    std::string Name = lockName(Address);
    Classes[Name].Name = Name;
    Classes[Name].add(Lock);
  }
  std::vector<SampledLock> Sorted;
  for (auto &[Name, Lock] : Classes)
    Sorted.push_back(std::move(Lock));
  stable_sort(Sorted, [](const auto &A, const auto &B) { return A.Waits > B.Waits; });
  return Sorted;
}

constexpr unsigned ClassWidth = 40;

void SampledLocks::print(const SampledLock &Lock, raw_ostream &OS) {
  std::string Name = printable(Lock.Name);
  OS << left_justify(nameForColumn(Name, ClassWidth, OS), ClassWidth)
     << right_justify(number(double(Lock.Waits) / double(Looks), ""), 10)
     << right_justify(percent(Lock.Waits, Threads), 12) << right_justify(count(Lock.Most), 8)
     << '\n';
  if (Lock.Mutexes.size() > 1)
    printParagraph(counted(Lock.Mutexes.size(), "mutex", "mutexes"), OS, 4, 2);
  printParagraph("wait in " + sharesOf(Lock.Calls, [&](uint64_t C) { return callName(C); }), OS, 4,
                 2);
  printParagraph("held by " + sharesOf(Lock.Holders, [&](pid_t T) { return threadName(T); }), OS, 4,
                 2);
  printParagraph("who meanwhile " +
                     sharesOf(Lock.Holding, [&](const Doing &D) { return doingName(D); }),
                 OS, 4, 2);
}

void SampledLocks::print(raw_ostream &OS) {
  std::vector<SampledLock> Classes = byClass();
  if (Classes.empty()) {
    OS << "\nNo thread was seen waiting for a mutex.\n";
    return;
  }
  OS << '\n'
     << painted("Mutexes that threads were seen waiting for:", Style::Heading, OS) << "\n\n"
     << left_justify("LOCK CLASS", ClassWidth) << right_justify("WAITERS", 10)
     << right_justify("OF THREADS", 12) << right_justify("MOST", 8) << '\n';
  for (const SampledLock &Lock : Classes)
    print(Lock, OS);
}

} // namespace relock
