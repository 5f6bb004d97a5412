// SPDX-License-Identifier: MIT
//
// relock profile: runs a program under the preload library and writes its profile.
#include "profile/Profile.h"
#include "driver/InheritedSignals.h"
#include "driver/ProfileFile.h"
#include "driver/ProfileTarget.h"
#include "driver/ProfileWindow.h"
#include "driver/Subcommand.h"
#include "profile/AddRuntime.h"
#include "profile/Aggregate.h"
#include "profile/CountedEvent.h"
#include "profile/Processors.h"
#include "profile/Records.h"
#include "support/Messages.h"
#include "support/Output.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <optional>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace relock {

namespace {

cl::OptionCategory Category("Relock");
cl::SubCommand Command("profile", "run a pthread program and record what its locks cost");
cl::opt<std::string> Output("o", cl::init("relock.profile"), cl::value_desc("FILE"),
                            cl::desc("write the profile here (default relock.profile)"), cl::Prefix,
                            cl::sub(Command), cl::cat(Category));
cl::opt<unsigned> MemoryLimit("memory-limit", cl::init(512), cl::value_desc("MIB"),
                              cl::desc("memory for the records of one process (default 512)"),
                              cl::sub(Command), cl::cat(Category));
cl::opt<unsigned> SampleInterval("sample-interval", cl::value_desc("US"),
                                 cl::desc("microseconds between two backtraces of a thread (0: "
                                          "every acquisition; default: 1000, then as many as "
                                          "cost 0.2 % of its processor time)"),
                                 cl::sub(Command), cl::cat(Category));
cl::opt<bool> TimeAll("time-all",
                      cl::desc("time every hold, also those of threads that take more than 20 "
                               "locks per millisecond of processor time, which costs them more"),
                      cl::sub(Command), cl::cat(Category));
cl::opt<std::string> Event("event", cl::value_desc("NAME"),
                           cl::desc("count this event in critical sections: cache-misses, the "
                                    "second metric of advise, or another one that perf or "
                                    "libpfm4 knows"),
                           cl::sub(Command), cl::cat(Category));
cl::opt<unsigned> Every("every", cl::init(0), cl::value_desc("SECONDS"),
                        cl::desc("write the profile so far every SECONDS, too"), cl::sub(Command),
                        cl::cat(Category));
cl::opt<std::string> System("system-files", cl::init("/sys"), cl::Hidden, cl::value_desc("DIR"),
                            cl::desc("where to read which processors share caches and nodes"),
                            cl::sub(Command), cl::cat(Category));
cl::opt<int> Pid("pid", cl::value_desc("PID"),
                 cl::desc("profile a process that already runs, from now on; of one that "
                          "was not started under the profiler, say what can be seen from outside"),
                 cl::sub(Command), cl::cat(Category));
cl::opt<double> For("for", cl::value_desc("SECONDS"),
                    cl::desc("with --pid: so long (default until ^C or its end; 0: all that it "
                             "has done so far)"),
                    cl::sub(Command), cl::cat(Category));
cl::opt<std::string> Environment("environment", cl::value_desc("FOLDER"),
                                 cl::desc("print what to set in the environment of a program that "
                                          "others start, for --pid; its records go to FOLDER"),
                                 cl::sub(Command), cl::cat(Category));
cl::opt<bool> LinkFlags("link-flags",
                        cl::desc("print what links the profiler into a static program"),
                        cl::sub(Command), cl::cat(Category));
cl::opt<std::string> Started(cl::Positional, cl::desc("[[--] COMMAND"), cl::sub(Command),
                             cl::cat(Category));
// What stands behind the command is the command's, options included.
cl::list<std::string> Arguments(cl::ConsumeAfter, cl::desc("ARGUMENTS...]"), cl::sub(Command),
                                cl::cat(Category));

const char *const MoreHelp = R"help(
EXAMPLES:

  relock profile -o server.profile ./server --port 8080
  relock profile --every 60 ./server        # the profile so far, once a minute
  relock profile --pid 1234 --for 10        # of one that runs

EXIT STATUS:

  0  the profile is written, and the program ended with status 0 or by a signal
     that it was sent
  1  the program ended otherwise, took no lock, still runs in the background, or
     its threads wait for each other (--pid)
  2  wrong usage, a program that cannot be profiled, or a profile that cannot be
     written
  3  a part of relock is not installed
)help";

std::vector<std::string> Words; // the command and its arguments

constexpr size_t FurtherProfiles = 16;
constexpr int Forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

// What the signal handler needs.
volatile sig_atomic_t Child = 0, LastForwarded = 0, WantedSoFar = 0, AskedFor = 0;

// A signal from the terminal has reached the program already. Those that our caller ignores are
// forwarded too: the program may have set a handler of its own.
void forward(int Signal, siginfo_t *Info, void *) {
  LastForwarded = Signal;
  if (Info->si_code <= 0 && Child > 0)
    kill(Child, Signal);
}

// Our own timer, or somebody who wants to see the profile now.
void wantSoFar(int, siginfo_t *Info, void *) {
  WantedSoFar = 1;
  if (Info->si_code <= 0)
    AskedFor = 1;
}

void forwardSignals() {
  struct sigaction Action = {};
  Action.sa_sigaction = forward;
  Action.sa_flags = SA_SIGINFO | SA_RESTART;
  for (int Signal : Forwarded)
    sigaction(Signal, &Action, nullptr);
  Action.sa_sigaction = wantSoFar;
  Action.sa_flags = SA_SIGINFO; // interrupts the waiting
  sigaction(SIGALRM, &Action, nullptr);
  signal(SIGXFSZ, SIG_IGN); // a profile that is too long is an error to report
}

// What we open must not be taken for a standard stream that our caller has closed; the program
// finds it closed.
void reserveStandardStreams() {
  for (int File = 0; File <= 2; ++File)
    if (fcntl(File, F_GETFD) < 0)
      open("/dev/null", O_RDWR | O_CLOEXEC);
}

constexpr StringRef LibraryName = "librelock-profiler.so";

constexpr StringRef FolderPrefix = "relock-profile-";

bool isAbandoned(const std::string &Path) {
  constexpr time_t Young = 60; // it may be about to be locked
  struct stat Status;
  int File = open(Path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (File < 0)
    return false;
  bool Abandoned = fstat(File, &Status) == 0 && Status.st_uid == geteuid() &&
                   Status.st_mtime + Young < time(nullptr) && flock(File, LOCK_EX | LOCK_NB) == 0;
  close(File);
  return Abandoned;
}

// A relock that was killed could not clear up, and its records take memory.
void removeAbandoned(StringRef Parent) {
  std::error_code Error;
  for (sys::fs::directory_iterator At(Parent, Error), End; !Error && At != End; At.increment(Error))
    if (sys::path::filename(At->path()).starts_with(FolderPrefix) && isAbandoned(At->path()))
      sys::fs::remove_directories(At->path());
}

// A folder for the records, in memory where there is room for it.
std::string makeFolder() {
  std::vector<std::string> Parents = {"/dev/shm"};
  if (const char *Temporary = getenv("TMPDIR"))
    Parents.push_back(Temporary);
  Parents.push_back("/tmp");
  for (const std::string &Parent : Parents) {
    struct statvfs Space;
    if (Parent == "/dev/shm" &&
        (statvfs(Parent.c_str(), &Space) || Space.f_bavail * Space.f_frsize < (uint64_t(64) << 20)))
      continue;
    removeAbandoned(Parent);
    std::string Path = Parent + "/" + FolderPrefix.str() + "XXXXXX";
    if (mkdtemp(Path.data())) {
      // Held until we end, in whatever way: what tells a folder in use from an abandoned one.
      flock(open(Path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), LOCK_EX);
      // A program that gives up root goes on as another user, and its children record too.
      if (geteuid() == 0)
        chmod(Path.c_str(), 01733);
      return Path;
    }
  }
  return "";
}

struct Run {
  std::string Program, Folder, Library;
  std::optional<EncodedEvent> Counted;
  pid_t Pid = 0;
  int Status = 0;
  bool Ended = false;
  ClockReading Start, End; // or the last look at it
  ProcessUse Before, Use;
};

// Says what is wrong and returns the exit status that it means.
int fail(int Status, const Twine &Text, StringRef Code) {
  message(Text.str(), Code);
  return Status;
}
int failFor(int Status, StringRef File, const Twine &Text, StringRef Code) {
  messageFor(File, Text.str(), Code);
  return Status;
}

// In the child: never returns.
[[noreturn]] void execute(const Run &R, int Report) {
  const char *Earlier = getenv("LD_PRELOAD");
  std::string Preload = R.Library + (Earlier && *Earlier ? ":" + std::string(Earlier) : "");
  setenv("LD_PRELOAD", Preload.c_str(), 1);
  setenv(RELOCK_RECORDS_DIR, R.Folder.c_str(), 1);
  setenv(RELOCK_RECORDS_LIMIT, std::to_string(uint64_t(MemoryLimit) << 20).c_str(), 1);
  if (SampleInterval.getNumOccurrences())
    setenv(RELOCK_RECORDS_SAMPLE, std::to_string(SampleInterval).c_str(), 1);
  else
    unsetenv(RELOCK_RECORDS_SAMPLE);
  if (TimeAll)
    setenv(RELOCK_RECORDS_TIME_ALL, "1", 1);
  if (R.Counted)
    setenv(RELOCK_RECORDS_EVENT, R.Counted->Text.c_str(), 1);
  ignoreInheritedSignals();
  std::vector<char *> Passed;
  for (std::string &Word : Words)
    Passed.push_back(Word.data());
  Passed.push_back(nullptr);
  execv(R.Program.c_str(), Passed.data());
  int Error = errno;
  [[maybe_unused]] ssize_t Written = write(Report, &Error, sizeof Error);
  _exit(127);
}

void writeSoFar(Run &R);

void waitForEnd(Run &R) {
  itimerval Timer = {{Every, 0}, {Every, 0}};
  setitimer(ITIMER_REAL, &Timer, nullptr);
  siginfo_t Ended;
  while (waitid(P_PID, id_t(R.Pid), &Ended, WEXITED | WNOWAIT) < 0 && errno == EINTR)
    if (WantedSoFar) {
      WantedSoFar = 0;
      writeSoFar(R);
    }
  Timer = {};
  setitimer(ITIMER_REAL, &Timer, nullptr);
  R.End = readClocks();
  R.Use = useOf(R.Pid);
  waitpid(R.Pid, &R.Status, 0);
  R.Ended = true;
}

// Runs the program to its end. Returns the error number if it could not be started.
int runProgram(Run &R) {
  int Pipe[2];
  if (pipe2(Pipe, O_CLOEXEC))
    return errno;
  forwardSignals();
  // A signal that arrives before the handler knows the child waits.
  sigset_t Block, Before;
  sigemptyset(&Block);
  for (int Signal : Forwarded)
    sigaddset(&Block, Signal);
  sigprocmask(SIG_BLOCK, &Block, &Before);
  R.Pid = fork();
  if (R.Pid < 0)
    return errno;
  if (R.Pid == 0) {
    for (int Signal : Forwarded)
      signal(Signal, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    sigprocmask(SIG_SETMASK, &Before, nullptr);
    execute(R, Pipe[1]);
  }
  R.Start = readClocks();
  R.Before = useOf(R.Pid);
  Child = R.Pid;
  sigprocmask(SIG_SETMASK, &Before, nullptr);
  close(Pipe[1]);
  int Error = 0;
  bool Failed = read(Pipe[0], &Error, sizeof Error) == sizeof Error;
  close(Pipe[0]);
  waitForEnd(R);
  Child = 0;
  return Failed ? Error : 0;
}

// Short runs leave the readings of the clocks too close together to tell the frequency, and a
// program that goes to the background no time to show itself there.
void waitAfterShortRun(const ClockReading &Start, const ClockReading &End) {
  constexpr uint64_t Enough = 50'000'000;
  uint64_t Took = End.Nanoseconds - Start.Nanoseconds;
  if (Took < Enough)
    usleep(useconds_t((Enough - Took) / 1000));
}

// The program that was started is dead; what it has left behind may not be.
bool stillRuns(const RawProcess &Process, const Run &R) {
  pid_t Pid = pid_t(Process.Header.pid);
  return Pid != R.Pid && Process.Header.end == RELOCK_END_UNKNOWN &&
         (kill(Pid, 0) == 0 || errno == EPERM);
}

std::vector<RawProcess> readFolder(StringRef Folder) {
  std::vector<RawProcess> Processes;
  std::error_code Error;
  for (sys::fs::directory_iterator At(Folder, Error), End; !Error && At != End;
       At.increment(Error)) {
    if (!StringRef(At->path()).ends_with(".records") ||
        At->type() != sys::fs::file_type::regular_file)
      continue; // where the program runs as another user, the folder is open to that one
    Expected<RawProcess> Process = readRecords(At->path());
    if (Process)
      Processes.push_back(std::move(*Process));
    else
      consumeError(Process.takeError());
  }
  // By process, and programs that follow each other in one process in their order.
  std::sort(Processes.begin(), Processes.end(), [](const RawProcess &A, const RawProcess &B) {
    return std::make_pair(A.Header.start_ticks, A.Header.pid) <
           std::make_pair(B.Header.start_ticks, B.Header.pid);
  });
  return Processes;
}

// Of locks and of whatever else is recorded, librelock's included.
uint64_t acquisitionsOf(const RawProcess &Process, const Run &R) {
  return Process.acquisitions() +
         countRuntime(int64_t(Process.Header.pid), Process.Executable, R.Folder);
}

// The program that was started if it took a lock, or else whichever of its children took most.
size_t chooseMain(const std::vector<RawProcess> &Processes, const Run &R) {
  size_t Started = 0, Busiest = 0;
  std::vector<uint64_t> Acquired;
  for (const RawProcess &Process : Processes)
    Acquired.push_back(acquisitionsOf(Process, R));
  for (size_t I = 0; I < Processes.size(); ++I) {
    if (pid_t(Processes[I].Header.pid) == R.Pid)
      Started = I; // the last program that ran in it
    if (Acquired[I] > Acquired[Busiest])
      Busiest = I;
  }
  return Acquired[Started] ? Started : Busiest;
}

// Whatever was counted counts as cache misses where its name says so.
void describeEvent(Profile &P, const RawProcess &Process, const EncodedEvent &Counted) {
  const relock_header &Header = Process.Header;
  CountedEvent &Described = P.Event.emplace();
  Described.Name = Counted.Name;
  Described.CacheMisses = Counted.CacheMisses;
  if (Header.event_reading == RELOCK_EVENT_NOT_READ)
    Described.NotAvailable = whyNotCounted(int(Header.event_error));
  Described.Reading = Header.event_reading == RELOCK_EVENT_REGISTER ? "register" : "descriptor";
  Described.PerReading = double(Header.event_alone) / 1024;
  Described.ThreadsNotCounted = Header.dropped_counters;
  if (Counted.CacheMisses)
    for (ProfiledClass &Class : P.Classes)
      if (Class.Events)
        Class.CacheMissesPerSection = Class.Events->PerSection;
}

Profile makeProfile(const RawProcess &Process, const Run &R) {
  bool Main = pid_t(Process.Header.pid) == R.Pid;
  ClockReading Now = readClocks();
  // The clocks run on while the program is dead: its end is what was read when it died.
  bool Seen = Main || stillRuns(Process, R);
  Profile P =
      aggregate(Process, R.Start, Now, Seen ? std::optional<uint64_t>(R.End.Ticks) : std::nullopt);
  addRuntime(P, R.Folder);
  // A process that ended by itself has said what it took.
  if (!P.ProcessorTime && Seen)
    P.ProcessorTime = Main ? R.Use.ProcessorTime : useOf(pid_t(Process.Header.pid)).ProcessorTime;
  if (Main) // of a part of the run nobody knows
    describeUse(P, R.Before, R.Use);
  P.Command.assign(Words.begin(), Words.end());
  describeMachine(P);
  if (R.Counted)
    describeEvent(P, Process, *R.Counted);
  if (Main && !R.Ended)
    P.End = {"running", 0};
  else if (Main && WIFSIGNALED(R.Status))
    P.End = {"signal", WTERMSIG(R.Status)};
  else if (Main)
    P.End = {"exit", WEXITSTATUS(R.Status)};
  else if (Process.Header.end != RELOCK_END_UNKNOWN)
    P.End = {"exit", int(Process.Header.status)};
  else
    P.End = {stillRuns(Process, R) ? "running" : "unknown", 0};
  makeUtf8(P);
  return P;
}

int reportEnd(const Run &R) {
  if (WIFSIGNALED(R.Status)) {
    int Signal = WTERMSIG(R.Status);
    std::string Name = std::to_string(Signal) + " (" + strsignal(Signal) + ")";
    if (Signal == LastForwarded) {
      messageFor(Words[0], "was ended by signal " + Name + ", as asked for", "profile-ended");
      return Done;
    }
    messageFor(Words[0], "died of signal " + Name + "; what it did until then is recorded",
               "profile-died");
    return LookAtThis;
  }
  if (int Status = WEXITSTATUS(R.Status)) {
    messageFor(Words[0], "ended with exit status " + std::to_string(Status), "profile-exit-status");
    return LookAtThis;
  }
  return Done;
}

std::string listed(ArrayRef<std::string> Names) {
  constexpr size_t Shown = 3;
  std::string Text = join(Names.take_front(Shown), ", ");
  if (Names.size() > Shown)
    Text += " and " + std::to_string(Names.size() - Shown) + " more beside them";
  return Text;
}

// Further processes with locks of their own.
int writeOthers(const std::vector<RawProcess> &Processes, size_t Main, const Run &R) {
  size_t Written = 0, Left = 0;
  std::vector<std::string> Names;
  for (size_t I = 0; I < Processes.size(); ++I) {
    const RawProcess &Process = Processes[I];
    if (I == Main || !acquisitionsOf(Process, R))
      continue;
    if (Written == FurtherProfiles) {
      ++Left;
      continue;
    }
    std::string File = Output + "." + std::to_string(Process.Header.pid);
    if (is_contained(Names, File))
      File += "-" + std::to_string(I);
    if (Error E = writeProfileTo(File, makeProfile(Process, R)))
      return failFor(BadUsage, File, unwritable(std::move(E)), "profile-output");
    Names.push_back(File);
    ++Written;
  }
  if (Written && R.Ended)
    messageFor(Words[0],
               "other processes took locks too; their profiles are " + listed(Names) +
                   (Left ? "; not written: " + std::to_string(Left) + " more" : ""),
               "profile-processes");
  return Done;
}

int reportRunning(ArrayRef<RawProcess> Processes, const Run &R) {
  for (const RawProcess &Process : Processes)
    if (stillRuns(Process, R))
      return failFor(LookAtThis, Process.Executable,
                     "runs on in the background as process " + Twine(Process.Header.pid) +
                         ", and what it does there is not recorded: run it in the foreground",
                     "profile-running");
  return Done;
}

// A program that never ends has its profile all the same.
void writeSoFar(Run &R) {
  static bool Said = false;
  askRuntimes(R.Folder);
  R.End = readClocks();
  R.Use = useOf(R.Pid);
  std::vector<RawProcess> Processes = readFolder(R.Folder);
  if (Processes.empty())
    return;
  size_t Main = chooseMain(Processes, R);
  if (Error E = writeProfileTo(Output, makeProfile(Processes[Main], R))) {
    failFor(BadUsage, Output, unwritable(std::move(E)), "profile-output");
    return;
  }
  writeOthers(Processes, Main, R);
  if (!Said || AskedFor)
    message("profile so far written to " + Output + "; the program runs on", "profile-so-far");
  Said = true;
  AskedFor = 0;
}

void reportEvent(const Profile &P) {
  if (P.Event && !P.Event->NotAvailable.empty())
    messageFor(P.Event->Name, "was not counted: " + P.Event->NotAvailable, "profile-no-event");
}

// A program that ends as it goes to the background leaves a child that may not have begun its
// records.
std::vector<RawProcess> readWithChildren(StringRef Folder) {
  std::vector<RawProcess> Processes = readFolder(Folder);
  auto Missing = [&] {
    uint64_t Count = 0; // a record that was cut short may count anything
    for (const RawProcess &Process : Processes)
      Count += uint64_t(Process.Header.forks) - uint64_t(Process.Header.unrecorded_children) -
               (Process.Header.forked != 0);
    return int64_t(Count) > 0; // a fork that failed is missing, too, and does not come
  };
  for (int Waits = 0; Missing() && Waits < 100; ++Waits) {
    usleep(10'000);
    Processes = readFolder(Folder);
  }
  return Processes;
}

int writeProfiles(const Run &R) {
  std::vector<RawProcess> Processes = readWithChildren(R.Folder);
  if (Processes.empty())
    return failFor(LookAtThis, Words[0],
                   "ran without the profiler, so there is no profile: it started no dynamically "
                   "linked program that may be preloaded (static, set-user-id, or of another "
                   "architecture); build it with dynamic linking and run it as its own user",
                   "profile-not-loaded");
  size_t Main = chooseMain(Processes, R);
  const RawProcess &Process = Processes[Main];
  Profile P = makeProfile(Process, R);
  reportEvent(P);
  if (Error E = writeProfileTo(Output, P))
    return failFor(BadUsage, Output, unwritable(std::move(E)), "profile-output");
  int Status = writeOthers(Processes, Main, R);
  Status = std::max(Status, reportRunning(Processes, R));
  if (!acquisitionsOf(Process, R))
    Status = std::max(Status, failFor(LookAtThis, Words[0],
                                      "took no lock of pthreads or C11 and waited for nothing of "
                                      "theirs; the profile holds only its threads (locks of its "
                                      "own making are not recorded)",
                                      "profile-no-locks"));
  message("profile written to " + Output + "; next: relock report " + Output, "profile-written");
  return Status;
}

void removeFolder(StringRef Folder) { sys::fs::remove_directories(Folder); }

int notInstalled(StringRef Name) {
  return fail(InternalError,
              Name + " is neither beside this command in ../lib nor installed; build the targets "
                     "relock-profiler and relock-profiler-static",
              "profile-library");
}

// For programs that `relock profile` does not start.
int printEnvironment() {
  std::string Library = findInstalled(LibraryName);
  if (Library.empty())
    return notInstalled(LibraryName);
  SmallString<256> Folder(Environment);
  sys::fs::make_absolute(Folder);
  if (!sys::fs::is_directory(Folder))
    return failFor(BadUsage, Folder,
                   "is not a folder; make it, so that the program can write there",
                   "profile-folder");
  outs() << "LD_PRELOAD=" << Library << '\n' << RELOCK_RECORDS_DIR "=" << Folder << '\n';
  return Done;
}

int printLinkFlags() {
  std::string Names[] = {"relock-profiler.options", "librelock-profiler.a"};
  for (std::string &Name : Names) {
    std::string Path = findInstalled(Name);
    if (Path.empty())
      return notInstalled(Name);
    Name = Path;
  }
  outs() << "-Wl,@" << Names[0] << ' ' << Names[1] << " -lpthread\n";
  return Done;
}

// Resolves the command and refuses what cannot be profiled, before anything runs.
int prepare(Run &R) {
  auto Program = sys::findProgramByName(Words[0]);
  if (!Program)
    return failFor(BadUsage, Words[0], "command not found; give its path or set PATH",
                   "profile-command");
  R.Program = *Program;
  if (sys::fs::is_directory(R.Program) || !sys::fs::can_execute(R.Program))
    return failFor(BadUsage, Words[0], "cannot be executed; is it a program, and permitted?",
                   "profile-command");
  if (std::optional<ProfileRefusal> Why = whyNotProfiled(R.Program))
    return failFor(BadUsage, R.Program, Why->Text, Why->Code);
  if (std::optional<ProfileRefusal> Why = whyNoRecords())
    return fail(BadUsage, Why->Text, Why->Code);
  if (!Event.empty()) {
    Expected<EncodedEvent> Encoded = encodeEvent(Event);
    if (!Encoded)
      return failFor(BadUsage, Event,
                     "is no event that can be counted here (" + toString(Encoded.takeError()) +
                         "); `perf list` names those of this machine, and cache-misses and "
                         "page-faults are known everywhere",
                     "profile-event");
    R.Counted = std::move(*Encoded);
  }
  R.Library = findInstalled(LibraryName);
  if (R.Library.empty())
    return notInstalled(LibraryName);
  if (Error E = checkWritable(Output))
    return failFor(BadUsage, Output, unwritable(std::move(E)), "profile-output");
  R.Folder = makeFolder();
  if (R.Folder.empty())
    return fail(BadUsage,
                "no folder for the records: neither /dev/shm, TMPDIR nor /tmp can be written",
                "profile-folder");
  return Done;
}

// The loader splits its list at blanks and colons.
void avoidSeparators(Run &R) {
  if (R.Library.find_first_of(" :") == std::string::npos)
    return;
  std::string Link = R.Folder + "/" + LibraryName.str();
  if (symlink(R.Library.c_str(), Link.c_str()) == 0)
    R.Library = Link;
}

int run() {
  reserveStandardStreams();
  if (LinkFlags)
    return printLinkFlags();
  if (!Environment.empty())
    return printEnvironment();
  if (Started.getNumOccurrences())
    Words.push_back(Started);
  Words.insert(Words.end(), Arguments.begin(), Arguments.end());
  if (Words.empty() == (Pid.getNumOccurrences() == 0) ||
      (For.getNumOccurrences() && !Pid.getNumOccurrences()))
    return fail(BadUsage,
                "give a command to run (relock profile COMMAND), or the process to look at "
                "(--pid PID, and --for SECONDS if you like)",
                "usage");
  if (Pid.getNumOccurrences())
    return profileWindow(Pid, For.getNumOccurrences() ? std::optional<double>(For) : std::nullopt,
                         Output, Output.getNumOccurrences() > 0);
  Run R;
  if (int Status = prepare(R))
    return Status;
  auto Remove = make_scope_exit([&] { removeFolder(R.Folder); });
  avoidSeparators(R);
  writeProcessors(R.Folder, System);
  if (int Error = runProgram(R))
    return failFor(BadUsage, Words[0], Twine("cannot be started: ") + strerror(Error),
                   "profile-command");
  waitAfterShortRun(R.Start, R.End);
  int Ended = reportEnd(R);
  return std::max(Ended, writeProfiles(R));
}

} // namespace

Subcommand profileSubcommand() { return {Command, run, MoreHelp}; }

} // namespace relock
