// SPDX-License-Identifier: MIT
//
// relock calibrate: measures this machine and writes its file for relock simulate. relock-bench
// measures (runtime/bench/describe); this is what the user sees of it.
#include "driver/Subcommand.h"

#include "bench/MachineFile.h"
#include "driver/Benchmark.h"
#include "driver/Options.h"
#include "support/Messages.h"
#include "support/Output.h"
#include "support/Shell.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace relock {

static cl::SubCommand Command("calibrate", "measure this machine and write its file for relock "
                                           "simulate");

static cl::opt<std::string> File("o", cl::value_desc("FILE.machine"),
                                 cl::desc("the machine's file (default: printed, unless --show)"),
                                 cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> Show("show", cl::ValueOptional, cl::value_desc("FILE"),
                                 cl::desc("draw how far the processors are from each other; with a "
                                          "FILE, of that one, and measure nothing"),
                                 cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> Seconds("seconds", cl::value_desc("N"),
                                    cl::desc("measure at most about so long (default 20)"),
                                    cl::sub(Command), cl::cat(options()));
static cl::opt<std::string>
    Name("name", cl::value_desc("NAME"),
         cl::desc("the machine's name (default: that of the file, or here)"), cl::sub(Command),
         cl::cat(options()));

static const char *const MoreHelp = R"help(
EXAMPLES:

  relock calibrate -o here.machine --show
  relock calibrate --seconds 60 --name web1 -o web1.machine
  relock calibrate --show=here.machine    # draws it, measures nothing

EXIT STATUS:

  0  measured, although some figures may be defaults
  2  wrong usage, a file that cannot be read or written, or too little memory
  3  relock-bench is not installed, or failed
  128 + N  interrupted by signal N (130: ^C); nothing is written
)help";

namespace {

// On a terminal, on standard error.
class StepLine {
public:
  void show(StringRef Text) {
    if (Terminal)
      errs() << "\r\033[Krelock: measuring, " << Text;
  }
  ~StepLine() {
    if (Terminal)
      errs() << "\r\033[K";
  }

private:
  const bool Terminal = isatty(2);
};

// The file, without the lines that say how far it is.
std::string readFile(FILE *Output) {
  StepLine Steps;
  std::string Text;
  char *Line = nullptr;
  size_t Size = 0;
  for (ssize_t Length; (Length = getline(&Line, &Size, Output)) > 0;) {
    StringRef Read(Line, size_t(Length));
    if (Read.consume_front("#: "))
      Steps.show(Read.rtrim());
    else
      Text += Read;
  }
  free(Line);
  return Text;
}

// The file's, if that is one that relock-bench takes.
std::string machineName() {
  StringRef Stem = sys::path::stem(File);
  bool Usable = !Stem.empty() && Stem.size() < 64 &&
                all_of(Stem, [](char C) { return isAlnum(C) || StringRef("._-").contains(C); });
  return Name.getNumOccurrences() ? Name.getValue() : Usable ? Stem.str() : "here";
}

std::vector<std::string> arguments(StringRef Program) {
  std::vector<std::string> Words = {Program.str(), "--describe", "--name=" + machineName()};
  if (Seconds.getNumOccurrences())
    Words.push_back("--seconds=" + Seconds);
  if (isatty(2))
    Words.push_back("--progress");
  return Words;
}

// Why there is no file; Done: there is one.
int statusOf(const BenchmarkRun &R) {
  if (R.Asked)
    return failBenchmark(128 + R.Asked, "interrupted; nothing is written", "calibrate-interrupted");
  if (WIFSIGNALED(R.Status))
    return failBenchmarkFor(InternalError, R.Program,
                            "died of signal " + Twine(WTERMSIG(R.Status)) + " (" +
                                strsignal(WTERMSIG(R.Status)) + "); nothing is written",
                            "bench-died");
  if (int Status = WEXITSTATUS(R.Status)) {
    repeatErrors(R, Status == BadUsage ? "bench-refused" : "bench-died");
    if (R.Errors.empty())
      failBenchmarkFor(Status, R.Program, "ended with status " + Twine(Status), "bench-died");
    return Status == BadUsage ? BadUsage : InternalError;
  }
  return Done;
}

int unreadable(StringRef Of, Error E) {
  return failBenchmarkFor(BadUsage, Of, toString(std::move(E)), "calibrate-file");
}

// What the reader of the figures has to know about them.
void warn(const MachineFile &M) {
  for (StringRef Remark : M.Remarks)
    if (Remark.starts_with("The check") || Remark.starts_with("The figures were not checked"))
      message("t" + Remark.drop_front().rtrim('.').str(), "calibrate-check");
  const MachineLine *Usable = M.find("usable processors");
  if (Usable && StringRef(Usable->Source).starts_with("control groups"))
    message("control groups leave this process the time of " + Usable->Value + " of its " +
                std::to_string(std::max<size_t>(M.Pairs.size(), 1)) +
                " processors; what is measured when it is over waits for more",
            "calibrate-limits");
  if (M.Pairs.empty())
    message("one processor has no lines to transfer: what these cost is a default; widen the "
            "affinity (taskset), or measure on a larger machine",
            "calibrate-limits");
}

std::string nextCommand() {
  std::string Machine = File;
  if (!StringRef(Machine).contains('/') && !StringRef(Machine).ends_with(".machine"))
    Machine = "./" + Machine;
  return "relock simulate --machine " + shellWord(Machine) + " --lock adaptive,mcs,posix";
}

int writeFile(StringRef Text) {
  if (Error E = writeAtomically(File, [&](raw_ostream &OS) { OS << Text; }))
    return failBenchmarkFor(BadUsage, File, "cannot be written: " + toString(std::move(E)),
                            "calibrate-file");
  return Done;
}

// The file goes out first: what was measured is not lost to whatever comes then.
int report(const BenchmarkRun &R, StringRef Text) {
  Expected<MachineFile> M = MachineFile::read(Text);
  if (!M)
    return failBenchmarkFor(InternalError, R.Program,
                            "printed no machine's file: " + toString(M.takeError()),
                            "bench-output");
  const bool Draws = Show.getNumOccurrences(), Writes = !File.empty();
  if (Writes) {
    if (int Status = writeFile(Text))
      return Status;
    printMachineSummary(*M, outs());
  } else if (!Draws) {
    outs() << Text;
  }
  if (Draws)
    printMachinePairs(*M, outs());
  if (Writes)
    outs() << "\nnext: " << nextCommand() << "\n";
  int Status = flushOutput() ? Done : BadUsage;
  warn(*M);
  return Status;
}

int showFile() {
  if (!File.empty() || Seconds.getNumOccurrences() || Name.getNumOccurrences())
    return failBenchmark(BadUsage, "--show=FILE measures nothing, and goes without other options",
                         "calibrate-refused");
  auto Text = MemoryBuffer::getFile(Show);
  if (!Text)
    return unreadable(Show, errorCodeToError(Text.getError()));
  Expected<MachineFile> M = MachineFile::read((*Text)->getBuffer());
  if (!M)
    return unreadable(Show, M.takeError());
  printMachineSummary(*M, outs());
  printMachinePairs(*M, outs());
  return flushOutput() ? Done : BadUsage;
}

int run() {
  if (!Show.empty())
    return showFile();
  if (File.getNumOccurrences() && File.empty())
    return failBenchmark(BadUsage, "-o needs a file's name", "calibrate-refused");
  BenchmarkRun R;
  R.Program = findBenchmark();
  if (R.Program.empty())
    return failBenchmark(InternalError,
                         "relock-bench is not beside this command; build or install the runtime",
                         "bench-runner");
  if (!File.empty())
    if (Error E = checkWritable(File))
      return failBenchmarkFor(BadUsage, File, "cannot be written: " + toString(std::move(E)),
                              "calibrate-file");
  R.Words = arguments(R.Program);
  std::string Text;
  if (int Error = runBenchmark(R, [&](FILE *Output) { Text = readFile(Output); }))
    return failBenchmarkFor(BadUsage, R.Program, Twine("cannot be started: ") + strerror(Error),
                            "bench-runner");
  if (int Status = statusOf(R))
    return Status;
  return report(R, Text);
}

} // namespace

Subcommand calibrateSubcommand() { return {Command, run, MoreHelp}; }

} // namespace relock
