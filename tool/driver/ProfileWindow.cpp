// SPDX-License-Identifier: MIT
#include "driver/ProfileWindow.h"

#include "driver/ProfileFile.h"
#include "driver/ProfileSampled.h"
#include "driver/Subcommand.h"
#include "profile/AddRuntime.h"
#include "profile/Aggregate.h"
#include "profile/Records.h"
#include "profile/RuntimeWindow.h"
#include "profile/Window.h"
#include "support/Messages.h"
#include "support/Output.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

using namespace llvm;

namespace relock {

static volatile sig_atomic_t Interrupted = 0;
static void interrupt(int) { Interrupted = 1; }

WindowEnd::WindowEnd(pid_t Pid, std::optional<double> Seconds)
    : Pid(Pid), Seconds(Seconds), Begin(readClocks().Nanoseconds) {
  struct sigaction Action = {};
  Action.sa_handler = interrupt;
  for (int Signal : {SIGINT, SIGTERM, SIGHUP})
    sigaction(Signal, &Action, nullptr);
}

double WindowEnd::left() const {
  return *Seconds * 1e3 - double(readClocks().Nanoseconds - Begin) / 1e6;
}

bool WindowEnd::reached() const {
  return Interrupted || (Seconds && left() <= 0) || (kill(Pid, 0) != 0 && errno != EPERM);
}

void WindowEnd::wait(double Milliseconds) const {
  if (Seconds)
    Milliseconds = std::clamp(left() + 1, 0.0, Milliseconds);
  poll(nullptr, 0, int(Milliseconds));
}

namespace {

int failed(const Twine &Text, StringRef Code) {
  message(Text.str(), Code);
  return BadUsage;
}

std::string procFile(pid_t Pid, const Twine &Name) {
  return ("/proc/" + Twine(Pid) + "/" + Name).str();
}

// The program has its records mapped, which is how they are found; it may see other files than we
// do. Open, they stay although their folder may go. Negative: an error, which errno says, or the
// program is not recorded.
int openRecords(pid_t Pid, bool &Recorded, std::string &Path) {
  Recorded = true;
  auto Maps = MemoryBuffer::getFileAsStream(procFile(Pid, "maps"));
  if (!Maps) {
    errno = Maps.getError().value();
    return -1;
  }
  SmallVector<StringRef> Lines;
  (*Maps)->getBuffer().split(Lines, '\n');
  for (StringRef Line : Lines) {
    size_t At = Line.find('/');
    if (At == StringRef::npos || !Line.ends_with(".records"))
      continue;
    std::string Name = Line.substr(At).str();
    for (const std::string &Seen : {Name, procFile(Pid, "root") + Name})
      if (int File = open(Seen.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC); File >= 0) {
        Path = Seen;
        return File;
      }
    return -1;
  }
  Recorded = false;
  return -1;
}

std::vector<std::string> commandOf(pid_t Pid) {
  std::vector<std::string> Words;
  auto Text = MemoryBuffer::getFileAsStream(procFile(Pid, "cmdline"));
  StringRef Rest = Text ? (*Text)->getBuffer() : "";
  while (!Rest.empty()) {
    auto [Word, After] = Rest.split('\0');
    Words.push_back(Word.str());
    Rest = After;
  }
  return Words;
}

// What librelock in the process leaves beside its records: a reading of it when the window begins,
// and another one when that ends. Nothing, where there is no librelock.
class RuntimeReadings {
public:
  RuntimeReadings(pid_t Pid, StringRef Records, const RawProcess &Process)
      : Pid(Pid), Executable(Process.Executable),
        File(openRuntime(Process.Header.pid, sys::path::parent_path(Records))) {}
  ~RuntimeReadings() {
    if (File >= 0)
      close(File);
  }
  RuntimeReadings(const RuntimeReadings &) = delete;
  RuntimeReadings &operator=(const RuntimeReadings &) = delete;

  bool any() const { return File >= 0; }

  void begin() { Before = read(); }
  void end() { After = read(); }

  // Nothing: it did not answer.
  std::optional<Profile> counted(bool Whole) const {
    if (Whole || !Before || !After)
      return Whole ? After : std::nullopt;
    return runtimeBetween(*Before, *After);
  }

private:
  // What an earlier question was answered says nothing of now, but its end is the last word.
  std::optional<Profile> read() const {
    if (File < 0)
      return std::nullopt;
    bool Answered = askRuntime(Pid, File);
    std::optional<Profile> Read = readRuntime(File, Executable);
    return Answered || (Read && Read->End.How != "running") ? Read : std::nullopt;
  }

  pid_t Pid;
  std::string Executable;
  int File;
  std::optional<Profile> Before, After;
};

Ending endingOf(const RawProcess &Process, pid_t Pid) {
  if (Process.Header.end != RELOCK_END_UNKNOWN)
    return {"exit", int(Process.Header.status)};
  return {kill(Pid, 0) == 0 || errno == EPERM ? "running" : "unknown", 0};
}

} // namespace

int profileWindow(pid_t Pid, std::optional<double> Seconds, StringRef Output, bool ToFile) {
  bool Recorded;
  std::string Path;
  int File = openRecords(Pid, Recorded, Path);
  const bool Whole = Seconds && *Seconds <= 0;
  if (!Recorded && (Whole || ToFile))
    return failed("process " + Twine(Pid) +
                      " is not recorded: what its locks did is known only if it was started with "
                      "the profiler, by `relock profile -- COMMAND`, or with the environment that "
                      "`relock profile --environment FOLDER` prints; without --for=0 and -o, it is "
                      "looked at from outside",
                  "profile-pid-not-recorded");
  if (!Recorded)
    return profileSampled(Pid, Seconds);
  if (File < 0)
    return failed("process " + Twine(Pid) + " cannot be looked at: " + strerror(errno) +
                      "; give the number of a process that runs, as its user or as root",
                  "profile-pid");
  auto Close = make_scope_exit([&] { close(File); });
  if (Error E = checkWritable(Output)) {
    messageFor(Output, unwritable(std::move(E)), "profile-output");
    return BadUsage;
  }
  std::string Records = "/proc/self/fd/" + std::to_string(File);
  std::vector<std::string> Command = commandOf(Pid);
  ClockReading Begin = readClocks();
  ProcessUse UseBefore = useOf(Pid);
  Expected<RawProcess> Before = readRecords(Records);
  std::optional<RuntimeReadings> Runtime;
  if (Before)
    Runtime.emplace(Pid, Path, *Before);
  if (Before && !Whole) {
    Runtime->begin();
    for (WindowEnd End(Pid, Seconds); !End.reached();)
      End.wait(20);
  }
  ClockReading End = readClocks();
  ProcessUse Use = useOf(Pid);
  Expected<RawProcess> After = readRecords(Records);
  if (Runtime)
    Runtime->end();
  if (!Before || !After) {
    consumeError(Before.takeError());
    consumeError(After.takeError());
    return failed("the records of process " + Twine(Pid) +
                      " are not of this version of relock; use the relock that started it",
                  "profile-pid");
  }
  if (!Use.ProcessorTime) { // it has ended meanwhile
    Use.ProcessorTime = After->Header.processor_ns;
    Use.May = UseBefore.May;
  }
  RawProcess Window = Whole ? std::move(*After) : between(*Before, std::move(*After), Begin, End);
  if (Whole)
    Begin = {Window.Header.start_ticks, Window.Header.start_ns};
  Profile P = aggregate(Window, Begin, End, End.Ticks);
  bool Unanswered = false;
  if (Runtime->any()) {
    std::optional<Profile> Counted = Runtime->counted(Whole);
    Unanswered = !Counted;
    addRuntime(P, std::move(Counted), !Whole);
  }
  P.Command = Command;
  P.End = endingOf(Window, Pid);
  P.ProcessorTime = Whole
                        ? Use.ProcessorTime
                        : Use.ProcessorTime - std::min(UseBefore.ProcessorTime, Use.ProcessorTime);
  if (!Whole) // of what was before, nobody knows
    describeUse(P, UseBefore, Use);
  describeMachine(P);
  makeUtf8(P);
  if (Error E = writeProfileTo(Output, P)) {
    messageFor(Output, unwritable(std::move(E)), "profile-output");
    return BadUsage;
  }
  int Status = Done;
  if (Unanswered) {
    message("librelock in process " + std::to_string(Pid) +
                " does not say what its locks did, so the profile has the others alone: it is a "
                "forked process, or is stopped",
            "profile-pid-librelock");
    Status = LookAtThis;
  } else if (!Window.acquisitions() && !P.acquisitions()) {
    message("process " + std::to_string(Pid) +
                " took no lock and waited for nothing of pthreads in this time",
            "profile-no-locks");
    Status = LookAtThis;
  }
  message(("profile written to " + Output + "; next: relock report " + Output).str(),
          "profile-written");
  return Status;
}

} // namespace relock
