// SPDX-License-Identifier: MIT
//
// The command's output goes to files in memory: a pipe would have relock read while the command
// runs, which takes processor time from it, and /dev/null keeps nothing.
#include "driver/MeasuredRun.h"

#include "driver/InheritedSignals.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"

#include <cerrno>
#include <cmath>
#include <ctime>
#include <fcntl.h>
#include <new>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace relock {

// Written by the child before it becomes the command: the time that relock takes to fork is not the
// command's.
struct CommandRunner::Start {
  double Seconds;
  int Error;
};

static double now() {
  timespec Time;
  clock_gettime(CLOCK_MONOTONIC, &Time);
  return double(Time.tv_sec) + double(Time.tv_nsec) * 1e-9;
}

static double seconds(const timeval &Time) {
  return double(Time.tv_sec) + double(Time.tv_usec) * 1e-6;
}

CommandRunner::CommandRunner(double Timeout) : Timeout(Timeout) {
  signal(SIGCHLD, SIG_DFL); // ignored, nothing could be waited for
  // LLVM's handlers have those that the caller ignores, too: one that runs unblocks all others.
  ignoreInheritedSignals();
  sigemptyset(&Waited);
  for (int Signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP})
    if (Signal == SIGCHLD || !callerIgnores(Signal))
      sigaddset(&Waited, Signal);
  sigprocmask(SIG_BLOCK, &Waited, &Before);
  void *Page =
      mmap(nullptr, sizeof(Start), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  Started = Page == MAP_FAILED ? nullptr : new (Page) Start();
  // The system counts what a child of relock had before it became the command as the command's.
  constexpr double Surely = 1.1;
  LeastResident = run(":").MaxResident * Surely;
}

// As make does it: what is a path and plain words means the same without a shell, whose start would
// be in the time. What cannot be started so is left to the shell, and to its messages.
static void executePlain(StringRef Command) {
  SmallVector<StringRef> Words;
  Command.split(Words, ' ', -1, /*KeepEmpty=*/false);
  bool Plain =
      all_of(Command, [](char C) { return isAlnum(C) || StringRef(" _./,:+@%=-").contains(C); });
  if (!Plain || Words.empty() || !Words[0].contains('/') || Words[0].contains('='))
    return;
  std::vector<std::string> Texts(Words.begin(), Words.end());
  std::vector<char *> Pointers;
  for (std::string &Text : Texts)
    Pointers.push_back(Text.data());
  Pointers.push_back(nullptr);
  execv(Pointers[0], Pointers.data());
}

// In the child.
void CommandRunner::execute(const std::string &Command, function_ref<void()> Enter, int Output,
                            int Errors) const {
  setpgid(0, 0);
  // Nobody is at the terminal for a group in the background.
  dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
  dup2(Output, STDOUT_FILENO);
  dup2(Errors, STDERR_FILENO);
  ignoreInheritedSignals();
  sigprocmask(SIG_SETMASK, &Before, nullptr);
  Enter();
  Started->Seconds = now();
  executePlain(Command);
  execl("/bin/sh", "sh", "-c", Command.c_str(), nullptr);
  Started->Error = errno;
  _exit(127);
}

static bool hasEnded(pid_t Pid) {
  siginfo_t Ended;
  Ended.si_pid = 0;
  return waitid(P_PID, id_t(Pid), &Ended, WEXITED | WNOHANG | WNOWAIT) == 0 && Ended.si_pid == Pid;
}

// Those that ask relock to end have lower numbers than SIGCHLD, so the system hands them out first.
CommandRunner::Wait CommandRunner::waitFor(pid_t Pid, double Seconds) {
  const double Deadline = now() + Seconds;
  for (;;) {
    double Left = std::max(0.0, Deadline - now());
    timespec Time = {time_t(Left), long((Left - std::floor(Left)) * 1e9)};
    int Signal = sigtimedwait(&Waited, nullptr, &Time);
    if (Signal > 0 && Signal != SIGCHLD) {
      Asked = Asked ? Asked : Signal; // a second one hurries
      return Wait::Asked;
    }
    if (hasEnded(Pid))
      return Wait::Ended;
    if (Signal < 0 && errno == EAGAIN)
      return Wait::TimeIsUp;
  }
}

// A group that is to end may clear up behind it, for a second.
void CommandRunner::waitForEnd(MeasuredRun &R, pid_t Pid) {
  constexpr double Long = 1e9, Grace = 1;
  Wait How = waitFor(Pid, Timeout > 0 ? Timeout : Long);
  R.WallSeconds = now() - Started->Seconds;
  R.TimedOut = How == Wait::TimeIsUp;
  if (How != Wait::Ended) {
    kill(-Pid, SIGTERM);
    waitFor(Pid, Grace);
  }
  kill(-Pid, SIGKILL); // before it is waited for: afterwards its number may be another's
  rusage Use = {};
  while (wait4(Pid, &R.Status, 0, &Use) < 0 && errno == EINTR)
    ;
  R.Asked = Asked;
  R.ProcessorSeconds = seconds(Use.ru_utime) + seconds(Use.ru_stime);
  R.VoluntarySwitches = double(Use.ru_nvcsw);
  R.InvoluntarySwitches = double(Use.ru_nivcsw);
  double Resident = double(Use.ru_maxrss) * 1024;
  R.MaxResident = Resident > LeastResident ? Resident : 0;
}

static std::unique_ptr<MemoryBuffer> contents(int File) {
  auto Buffer = MemoryBuffer::getOpenFile(File, "output", /*FileSize=*/uint64_t(-1),
                                          /*RequiresNullTerminator=*/false);
  return Buffer ? std::move(*Buffer) : MemoryBuffer::getMemBuffer("");
}

MeasuredRun CommandRunner::run(const std::string &Command, function_ref<void()> Enter) {
  MeasuredRun R;
  R.Asked = Asked;
  if (Asked)
    return R;
  int Output = memfd_create("output", MFD_CLOEXEC), Errors = memfd_create("errors", MFD_CLOEXEC);
  auto Close = make_scope_exit([&] {
    close(Output);
    close(Errors);
  });
  if (!Started || Output < 0 || Errors < 0) {
    R.StartError = errno;
    return R;
  }
  *Started = {now(), 0};
  pid_t Pid = fork();
  if (Pid == 0)
    execute(Command, Enter, Output, Errors);
  if (Pid < 0) {
    R.StartError = errno;
    return R;
  }
  setpgid(Pid, Pid); // here too: whoever is first
  waitForEnd(R, Pid);
  R.StartError = Started->Error;
  R.Output = contents(Output);
  R.Errors = contents(Errors);
  return R;
}

} // namespace relock
