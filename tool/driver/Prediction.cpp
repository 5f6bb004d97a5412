// SPDX-License-Identifier: MIT
#include "driver/Prediction.h"

#include "driver/Benchmark.h"
#include "driver/MachineOption.h"
#include "driver/Subcommand.h"
#include "support/Messages.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Signals.h"

#include <csignal>
#include <cstring>
#include <sys/wait.h>

using namespace llvm;

namespace relock {
namespace {

double number(const json::Object &Of, StringRef Name) { return Of.getNumber(Name).value_or(0); }

SimulatedProgram readRun(const json::Object &Of) {
  SimulatedProgram Run;
  Run.Seconds = number(Of, "seconds");
  if (const json::Array *Groups = Of.getArray("threads"))
    for (const json::Value &Group : *Groups)
      if (const json::Object *One = Group.getAsObject())
        Run.Groups.push_back({unsigned(number(*One, "count")), number(*One, "visits")});
  if (const json::Array *Classes = Of.getArray("classes"))
    for (const json::Value &Class : *Classes)
      if (const json::Object *One = Class.getAsObject())
        Run.Classes.push_back({number(*One, "sections"), number(*One, "waiting_ns"),
                               number(*One, "inside_ns"), number(*One, "handovers")});
  return Run;
}

// The objects of a type, of what a program printed, an object per line.
std::vector<json::Object> objectsIn(StringRef Text, StringRef Type) {
  std::vector<json::Object> Found;
  SmallVector<StringRef> Lines;
  Text.split(Lines, '\n', -1, false);
  for (StringRef Line : Lines) {
    Expected<json::Value> Value = json::parse(Line);
    if (!Value)
      consumeError(Value.takeError());
    else if (json::Object *Object = Value->getAsObject();
             Object && Object->getString("type") == Type)
      Found.push_back(std::move(*Object));
  }
  return Found;
}

} // namespace

MachineSimulator::TemporaryFile::~TemporaryFile() {
  if (Path.empty())
    return;
  sys::fs::remove(Path);
  sys::DontRemoveFileOnSignal(Path);
}

Error MachineSimulator::TemporaryFile::write(StringRef Text) {
  if (Path.empty()) {
    SmallString<128> Made;
    if (std::error_code Failed = sys::fs::createTemporaryFile("relock-predict", "txt", Made))
      return errorCodeToError(Failed);
    Path = Made.str().str();
    sys::RemoveFileOnSignal(Path);
  }
  return writeToOutput(Path, [&](raw_ostream &OS) {
    OS << Text;
    return Error::success();
  });
}

std::unique_ptr<MachineSimulator> MachineSimulator::open(StringRef Name, unsigned Jobs) {
  std::unique_ptr<MachineSimulator> Made(new MachineSimulator);
  Made->Jobs = Jobs;
  Made->Program = findBenchmark("relock-simulator");
  if (Made->Program.empty()) {
    message("relock-simulator, which predicts, is not beside this command; it is built with the "
            "runtime, on x86-64",
            "bench-runner");
    return nullptr;
  }
  if (Name != "here" && (Made->File = findMachine(Name)).empty())
    return nullptr;
  if (Error Failed = Made->openMachine(Name)) {
    message("the prediction failed: " + toString(std::move(Failed)), "prediction-failed");
    return nullptr;
  }
  return Made;
}

// The simulator says what it has read of the machine before it does anything.
Error MachineSimulator::openMachine(StringRef Name) {
  if (Name == "here") {
    Expected<std::string> Described =
        output({findBenchmark("relock-bench"), "--describe", "--seconds=2"});
    if (!Described)
      return Described.takeError();
    if (Error Failed = Here.write(*Described))
      return Failed;
    File = Here.path();
  }
  Expected<std::string> Printed =
      output({Program, "--machine=" + File, "--lock=posix", "--threads=1", "--microseconds=10"});
  if (!Printed)
    return Printed.takeError();
  for (const json::Object &Line : objectsIn(*Printed, "machine")) {
    Machine = Name == "here" ? "this machine" : Line.getString("name").value_or("").str();
    Processors = unsigned(number(Line, "processors"));
    MovedLine = number(Line, "transfer_ns");
  }
  return Processors ? Error::success() : createStringError("it says nothing of the machine");
}

Expected<std::string> MachineSimulator::output(std::vector<std::string> Words) const {
  BenchmarkRun R;
  R.Program = Words.front();
  R.Words = std::move(Words);
  std::string Printed;
  int Problem = runBenchmark(R, [&](FILE *Output) {
    char Buffer[4096];
    for (size_t Length; (Length = fread(Buffer, 1, sizeof Buffer, Output)) > 0;)
      Printed.append(Buffer, Length);
  });
  if (Problem)
    return createStringError(R.Program + " cannot be started: " + strerror(Problem));
  if (R.Asked) // as if it had come while nothing was simulated
    raise(R.Asked);
  if (R.Status == 0)
    return Printed;
  if (StringRef Said = StringRef(R.Errors).trim(); !Said.empty())
    return createStringError(Said);
  return createStringError(R.Program + " ended with " +
                           (WIFEXITED(R.Status) ? "status " + std::to_string(WEXITSTATUS(R.Status))
                                                : "signal " + std::to_string(WTERMSIG(R.Status))));
}

Expected<std::vector<SimulatedProgram>>
MachineSimulator::run(StringRef Text, ArrayRef<std::string> Choices, SimulatedMachine Where) {
  if (Error Failed = Load.write(Text))
    return Failed;
  std::vector<std::string> Words = {Program, "--machine=" + File, "--program=" + Load.path()};
  for (const std::string &Choice : Choices)
    Words.push_back("--choice=" + Choice);
  if (Where.Even)
    Words.push_back("--even");
  if (Where.Processors)
    Words.push_back("--processors=" + std::to_string(Where.Processors));
  if (Jobs)
    Words.push_back("-j" + std::to_string(Jobs));
  Expected<std::string> Printed = output(std::move(Words));
  if (!Printed)
    return Printed.takeError();
  std::vector<SimulatedProgram> Runs;
  for (const json::Object &Line : objectsIn(*Printed, "program"))
    Runs.push_back(readRun(Line));
  if (Runs.size() != Choices.size())
    return createStringError("the simulator printed " + std::to_string(Runs.size()) +
                             " results instead of " + std::to_string(Choices.size()));
  return Runs;
}

} // namespace relock
