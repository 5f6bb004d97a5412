// SPDX-License-Identifier: MIT
//
// relock doctor: what this machine has of what the runtime uses, what that means, and what to do
// where it is missing. It looks as the runtime does, so that both find the same; each look is a
// function that returns an item.
#include "driver/Subcommand.h"

#include "driver/Options.h"
#include "support/Messages.h"

#include "../../runtime/base/quota.h"
#include "../../runtime/base/rseq.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <set>

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#endif
#include <sys/syscall.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

using namespace llvm;

namespace relock {

static cl::SubCommand Command("doctor", "say what this machine has of what the runtime uses");
static cl::opt<bool> Json("json", cl::desc("print JSON (tool/doc/formats.md)"), cl::sub(Command),
                          cl::cat(options()));

static const char *const MoreHelp = R"help(
EXAMPLES:

  relock doctor
  relock doctor --json

EXIT STATUS:

  0  this machine has all that a server needs
  1  a server lacks something
  2  wrong usage, or output that cannot be written
)help";

namespace {

enum Need { Useful, ForServers };

struct Item {
  std::string Name;
  bool Has;
  Need For;           // what it is missing for
  std::string Found;  // what there is, in a few words
  std::string Means;  // for Relock
  std::string Remedy; // where it is missing
};

// The first line of a file of /proc or /sys; empty: it cannot be read.
std::string firstLineOf(const Twine &File) {
  auto Text = MemoryBuffer::getFileAsStream(File);
  return Text ? (*Text)->getBuffer().split('\n').first.trim().str() : "";
}

// `0-3,8`, as the system writes lists of processors.
std::string rangeList(const std::vector<unsigned> &Sorted) {
  std::string Text;
  for (size_t I = 0, Next; I < Sorted.size(); I = Next) {
    for (Next = I + 1; Next < Sorted.size() && Sorted[Next] == Sorted[Next - 1] + 1;)
      ++Next;
    Text += (I ? "," : "") + std::to_string(Sorted[I]);
    if (Next - I > 1)
      Text += "-" + std::to_string(Sorted[Next - 1]);
  }
  return Text;
}

// That this process may use. The set is larger than cpu_set_t, for any machine.
std::vector<unsigned> processors() {
  unsigned char Set[4096 / CHAR_BIT] = {};
  std::vector<unsigned> Numbers;
  if (syscall(SYS_sched_getaffinity, 0, sizeof Set, Set) > 0)
    for (unsigned I = 0; I < 4096; ++I)
      if (Set[I / CHAR_BIT] >> I % CHAR_BIT & 1)
        Numbers.push_back(I);
  return Numbers;
}

// Of these, how many at a time, as the runtime counts them.
size_t processorsAtATime() {
  size_t Quota = relock_quota("");
  return Quota ? std::min(Quota, processors().size()) : processors().size();
}

Item lookAtProcessors() {
  std::vector<unsigned> Numbers = processors();
  size_t Usable = processorsAtATime();
  std::string Limit = Usable < Numbers.size()
                          ? "; control groups leave it the time of " + std::to_string(Usable)
                          : "";
  return {"processors",
          Usable > 1,
          Useful,
          std::to_string(Numbers.size()) + " of " + std::to_string(sysconf(_SC_NPROCESSORS_ONLN)) +
              ": " + rangeList(Numbers) + Limit,
          "On one processor nobody spins: every lock that is taken means a sleep, and no algorithm "
          "is much better than another.",
          "widen the affinity of the process (taskset, the container's cpuset) or its quota "
          "(cpu.max), or give the virtual machine more processors"};
}

Item lookAtTopology() {
  std::string Nodes = firstLineOf("/sys/devices/system/node/online");
  std::set<std::string> Caches;
  for (unsigned Cpu : processors()) {
    std::string Shared;
    for (unsigned I = 0; I < 8; ++I) { // the last one that there is has the highest level
      std::string List = firstLineOf("/sys/devices/system/cpu/cpu" + Twine(Cpu) + "/cache/index" +
                                     Twine(I) + "/shared_cpu_list");
      Shared = List.empty() ? Shared : List;
    }
    if (!Shared.empty())
      Caches.insert(Shared);
  }
  return {"topology",
          !Nodes.empty() && !Caches.empty(),
          Useful,
          "NUMA nodes " + (Nodes.empty() ? "unknown" : Nodes) + "; last-level caches " +
              (Caches.empty() ? "unknown"
                              : std::to_string(Caches.size()) + ", shared by processors " +
                                    join(Caches, " | ")),
          "cohort, hclh, hsynch and hbo keep a lock within a node; a server is nearest to clients "
          "that share its cache.",
          "mount /sys in the container; RELOCK_CLUSTERS=N tells the runtime what it cannot see"};
}

Item lookAtThreadPointer() {
#if defined(__x86_64__)
  bool Has = getauxval(AT_HWCAP2) & 1ul << 1; // Documentation/arch/x86/x86_64/fsgs.rst
  std::string Found = Has ? "FSGSBASE" : "no FSGSBASE";
#else
  bool Has = true;
  std::string Found = "tpidr_el0";
#endif
  return {"thread pointer",
          Has,
          ForServers,
          Found,
          "A combiner or a server runs sections with their callers' identity (errno, thread-local "
          "variables). Without it, and in programs whose sigaction() is not librelock's, only "
          "sections for any thread are run by others.",
          "Linux 5.9 or later, without the boot option nofsgsbase, on a processor from 2012 on "
          "(AMD: 2017); a virtual machine has to be given the feature"};
}

Item lookAtFutex() {
  uint32_t Word = 0;
  bool Has = syscall(SYS_futex, &Word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0) == 0;
  return {"futex",
          Has,
          ForServers,
          Has ? "works" : strerror(errno),
          "Every thread that waits for long sleeps in one.",
          "allow the system call futex in the sandbox (seccomp)"};
}

Item lookAtMembarrier() {
  long Commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
  bool Has = Commands > 0 && Commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED;
  return {"membarrier",
          Has,
          Useful,
          Has             ? "private expedited"
          : Commands >= 0 ? "not the private expedited one"
                          : strerror(errno),
          "With it an unlock that nobody waits for is a quarter cheaper, and a section with its "
          "caller's identity needs no atomic operation to keep signal handlers out.",
          "Linux 4.14 or later; allow the system call membarrier in the sandbox (seccomp)"};
}

// The kernel says so, if the C library gave it enough memory.
Item lookAtSlices() {
  bool Has = false;
#if __has_include(<sys/rseq.h>)
  const char *Area = static_cast<const char *>(__builtin_thread_pointer()) + __rseq_offset;
  Has = __rseq_size && reinterpret_cast<const relock_rseq *>(Area)->flags & RELOCK_SLICE_AVAILABLE;
#endif
  return {"longer time slices",
          Has,
          Useful,
          Has ? "on request" : "not known to the C library, or not in the kernel",
          "A combiner that the kernel would take its processor from hands the lock on first.",
          "Linux 7.0 or later with CONFIG_RSEQ_SLICE_EXTENSION, glibc 2.41 or later"};
}

// Leaves the process as it was.
Item lookAtFifo() {
  int Policy = sched_getscheduler(0);
  sched_param Before, Fifo = {};
  Fifo.sched_priority = 2;
  bool Known = Policy >= 0 && sched_getparam(0, &Before) == 0;
  bool Has = Known && sched_setscheduler(0, SCHED_FIFO, &Fifo) == 0;
  std::string Found = Has ? "permitted" : strerror(errno);
  if (Has)
    sched_setscheduler(0, Policy, &Before);
  rlimit Limit = {};
  getrlimit(RLIMIT_RTPRIO, &Limit);
  Found += "; RLIMIT_RTPRIO " +
           (Limit.rlim_cur == RLIM_INFINITY ? "unlimited" : std::to_string(Limit.rlim_cur));
  return {"SCHED_FIFO",
          Has,
          ForServers,
          Found,
          "A server with a processor of its own keeps it. Without that it shares it with other "
          "programs on equal terms, and all its clients wait meanwhile.",
          "`ulimit -r 4` (limits.conf: rtprio; systemd: LimitRTPRIO=4), or CAP_SYS_NICE: `setcap "
          "cap_sys_nice+ep PROGRAM`, `docker run --cap-add SYS_NICE`"};
}

Item lookAtThrottling() {
  std::string Runtime = firstLineOf("/proc/sys/kernel/sched_rt_runtime_us");
  std::string Period = firstLineOf("/proc/sys/kernel/sched_rt_period_us");
  bool Has = Runtime == "-1" || (!Runtime.empty() && Runtime == Period);
  return {"real time without limit",
          Has,
          Useful,
          "kernel.sched_rt_runtime_us " + (Runtime.empty() ? "unknown" : Runtime) +
              (Has || Period.empty() ? "" : " of " + Period),
          "With a limit, a server that always has work loses the rest of the time to others on its "
          "processor, if there are any: 50 ms of each second by default.",
          "leave it, it keeps the machine usable; where the server's processor is free of others "
          "anyhow, `sysctl kernel.sched_rt_runtime_us=-1`"};
}

Item lookAtCounters() {
  perf_event_attr Attributes = {};
  Attributes.type = PERF_TYPE_HARDWARE;
  Attributes.size = sizeof Attributes;
  Attributes.config = PERF_COUNT_HW_CACHE_MISSES;
  Attributes.exclude_kernel = 1;
  long Counter =
      syscall(SYS_perf_event_open, &Attributes, 0, -1, -1, (unsigned long)PERF_FLAG_FD_CLOEXEC);
  std::string Found = Counter >= 0 ? "cache misses" : strerror(errno);
  bool Forbidden = Counter < 0 && (errno == EACCES || errno == EPERM);
  if (Counter >= 0)
    close(int(Counter));
  std::string Paranoid = firstLineOf("/proc/sys/kernel/perf_event_paranoid");
  return {"hardware counters",
          Counter >= 0,
          Useful,
          Found + "; kernel.perf_event_paranoid " + (Paranoid.empty() ? "unknown" : Paranoid),
          "The statistics have the servers' misses, and `relock profile --event=cache-misses` "
          "those of critical sections; without it there is '-', or an estimate.",
          Forbidden
              ? "`sysctl kernel.perf_event_paranoid=2` or less, or CAP_PERFMON; in a container "
                "allow the system call perf_event_open"
              : "the machine has no such counter: give the virtual machine a virtual PMU"};
}

#if defined(__x86_64__)
bool cpuid(unsigned Leaf, unsigned Bit) {
  unsigned A, B, C = 0, D;
  return __get_cpuid_count(Leaf, 0, &A, &B, &C, &D) && C >> Bit & 1;
}

// Instructions that others' locks and queues have been made faster with.
void lookAtInstructions(std::vector<Item> &Items) {
  const struct {
    const char *Name;
    unsigned Leaf, Bit; // of ECX
    const char *Does;
  } Instructions[] = {
      {"PREFETCHW", 0x80000001, 8, "Fetches a cache line for writing."},
      {"CLDEMOTE", 7, 25, "Pushes a cache line to the cache that all share."},
      {"MOVDIR64B", 7, 28, "Writes 64 bytes at once, past the caches."},
      {"WAITPKG (UMWAIT)", 7, 5, "Waits for a write to a cache line, in user mode."},
      {"MONITORX (MWAITX)", 0x80000001, 29, "Waits for a write to a cache line, in user mode."},
  };
  for (const auto &I : Instructions) {
    bool Has = cpuid(I.Leaf, I.Bit);
    Items.push_back({I.Name, Has, Useful, Has ? "in the processor" : "not in the processor",
                     std::string(I.Does) + " The runtime does not use it today.",
                     "none; nothing is lost"});
  }
}
#else
void lookAtInstructions(std::vector<Item> &) {}
#endif

struct Tunable {
  const char *Name;
  unsigned long Default, Least, Greatest;
};

constexpr Tunable Tunables[] = {
#define RELOCK_TUNABLE(name, value, least, greatest) {#name, value, least, greatest},
#include "../../runtime/base/tunables.def"
};

// An entry of RELOCK_TUNE with its default, or what is wrong with it. As the runtime reads it
// (read_tuning(), runtime/base/options.c).
Expected<std::string> readTuning(StringRef Entry) {
  auto [Name, Text] = Entry.split('=');
  const Tunable *Found = find_if(Tunables, [&](const Tunable &T) { return Name == T.Name; });
  if (Found == std::end(Tunables))
    return createStringError("'" + Entry + "': that is none of the names below");
  char *End;
  std::string Digits = Text.str();
  unsigned long Value = strtoul(Digits.c_str(), &End, 10);
  if (Digits.empty() || *End || Value < Found->Least || Value > Found->Greatest)
    return createStringError("'" + Entry + "': the value must be a number from " +
                             Twine(Found->Least) + " to " + Twine(Found->Greatest));
  return (Name + "=" + Twine(Value) + " (default " + Twine(Found->Default) + ")").str();
}

Item lookAtThresholds() {
  const char *Given = getenv("RELOCK_TUNE");
  std::vector<std::string> Values, Wrong, Defaults;
  for (const Tunable &T : Tunables)
    Defaults.push_back(T.Name + ("=" + std::to_string(T.Default)));
  SmallVector<StringRef> Entries;
  StringRef List = Given ? Given : "";
  if (List.size() > 1)
    List.consume_back(",");
  if (!List.empty())
    List.split(Entries, ',');
  for (StringRef Entry : Entries) {
    Expected<std::string> Value = readTuning(Entry);
    if (Value)
      Values.push_back(*Value);
    else
      Wrong.push_back(toString(Value.takeError()));
  }
  return {
      "thresholds",
      Wrong.empty(),
      ForServers,
      Entries.empty() ? "the defaults"
                      : "RELOCK_TUNE: " + join(Wrong.empty() ? Values : Wrong, ", "),
      "How long threads wait, and what else the runtime decides by a number. `relock-bench "
      "--calibrate` tries others, and prints a RELOCK_TUNE if one is better on this machine. The "
      "defaults are " +
          join(Defaults, ", ") + ".",
      "unset RELOCK_TUNE, or mend it: a program that uses the runtime ends at its start, with "
      "status 2"};
}

constexpr size_t EnoughProcessors = 3;

Item lookAtRoom() {
  size_t N = processorsAtATime();
  return {"room for a server",
          N >= EnoughProcessors,
          ForServers,
          std::to_string(N) + (N == 1 ? " processor" : " processors"),
          "A server's own processor is one that the program does not have: of two it costs half of "
          "the machine, more than it gives. Combining (adaptive, ccsynch) needs none.",
          "use adaptive here, and rcl and adaptive_rcl, with a processor per server "
          "(RELOCK_SERVERS), where there are " +
              std::to_string(EnoughProcessors) + " processors or more"};
}

std::vector<Item> lookAtAll() {
  std::vector<Item> Items = {lookAtProcessors(), lookAtTopology(),   lookAtThreadPointer(),
                             lookAtFutex(),      lookAtMembarrier(), lookAtSlices(),
                             lookAtFifo(),       lookAtThrottling(), lookAtCounters()};
  lookAtInstructions(Items);
  Items.push_back(lookAtThresholds());
  Items.push_back(lookAtRoom());
  return Items;
}

void printParagraph(StringRef Text) {
  constexpr unsigned Indent = 9, Width = 80;
  unsigned Column = Width;
  SmallVector<StringRef> Words;
  Text.split(Words, ' ');
  for (StringRef Word : Words) {
    bool Breaks = Column + 1 + Word.size() > Width;
    if (Breaks && Word.data() != Text.data())
      outs() << '\n';
    outs().indent(Breaks ? Indent : 1) << Word;
    Column = (Breaks ? Indent : Column + 1) + Word.size();
  }
  outs() << '\n';
}

void printText(const std::vector<Item> &Items) {
  for (const Item &I : Items) {
    outs() << (I.Has ? "ok       " : "missing  ") << I.Name << ": " << I.Found << "\n";
    printParagraph(I.Means);
    if (!I.Has)
      printParagraph("Remedy: " + I.Remedy + ".");
  }
}

void printJson(const std::vector<Item> &Items, bool ServerReady) {
  json::OStream J(outs(), 1);
  J.object([&] {
    J.attribute("version", 1);
    J.attribute("server_ready", ServerReady);
    J.attributeArray("items", [&] {
      for (const Item &I : Items)
        J.object([&] {
          J.attribute("item", I.Name);
          J.attribute("status", I.Has ? "ok" : "missing");
          J.attribute("needed_by_servers", I.For == ForServers);
          J.attribute("found", I.Found);
          J.attribute("means", I.Means);
          J.attribute("remedy", I.Has ? json::Value(nullptr) : json::Value(I.Remedy));
        });
    });
  });
  outs() << "\n";
}

int run() {
  std::vector<Item> Items = lookAtAll();
  std::vector<std::string> Lacking;
  for (const Item &I : Items)
    if (!I.Has && I.For == ForServers)
      Lacking.push_back(I.Name);
  if (Json)
    printJson(Items, Lacking.empty());
  else
    printText(Items);
  if (!Json && Lacking.empty())
    outs() << "\na server has all that it needs here\n";
  else if (!Json)
    outs() << "\na server lacks here: " << join(Lacking, ", ") << "\n";
  outs().flush();
  if (outs().has_error()) {
    outs().clear_error();
    message("the result could not be written to standard output; is the disk full?",
            "cannot-write");
    return BadUsage;
  }
  return Lacking.empty() ? Done : LookAtThis;
}

} // namespace

Subcommand doctorSubcommand() { return {Command, run, MoreHelp}; }

} // namespace relock
