// SPDX-License-Identifier: MIT
#include "driver/Prediction.h"

#include "driver/Benchmark.h"
#include "driver/MachineOption.h"
#include "driver/Subcommand.h"
#include "support/Messages.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

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
  SmallString<128> Folder;
  if (std::error_code Failed = sys::fs::createUniqueDirectory("relock-predict", Folder)) {
    message("no temporary folder: " + Failed.message(), "cannot-write");
    return nullptr;
  }
  Made->Folder = Folder.str().str();
  auto Explain = [](Error Failed) {
    message("the prediction failed: " + toString(std::move(Failed)), "prediction-failed");
    return nullptr;
  };
  if (Name == "here") {
    if (Error Failed = Made->execute({findBenchmark("relock-bench"), "--describe", "--seconds=2"}))
      return Explain(std::move(Failed));
    Made->File = Made->path("here.machine");
    if (std::error_code Code = sys::fs::rename(Made->path("output"), Made->File))
      return Explain(errorCodeToError(Code));
  } else {
    Made->File = findMachine(Name);
    if (Made->File.empty())
      return nullptr;
  }
  if (Error Failed = Made->readMachine())
    return Explain(std::move(Failed));
  return Made;
}

MachineSimulator::~MachineSimulator() {
  if (!Folder.empty())
    sys::fs::remove_directories(Folder);
}

// The simulator says what it has read of the machine before it does anything.
Error MachineSimulator::readMachine() {
  if (Error Failed = execute(
          {Program, "--machine=" + File, "--lock=posix", "--threads=1", "--microseconds=10"}))
    return Failed;
  auto Text = MemoryBuffer::getFile(path("output"));
  for (const json::Object &Line : objectsIn(Text ? (*Text)->getBuffer() : "", "machine")) {
    Machine = Line.getString("name").value_or("").str();
    Processors = unsigned(number(Line, "processors"));
    MovedLine = number(Line, "transfer_ns");
  }
  return Processors ? Error::success() : createStringError("it says nothing of the machine");
}

Error MachineSimulator::execute(const std::vector<std::string> &Words) const {
  std::vector<StringRef> Arguments(Words.begin(), Words.end());
  const std::string Output = path("output"), Errors = path("errors");
  sys::fs::remove(Output); // what is longer there would stay behind what is written
  sys::fs::remove(Errors);
  std::optional<StringRef> Redirects[] = {StringRef(""), StringRef(Output), StringRef(Errors)};
  std::string Problem;
  int Status =
      sys::ExecuteAndWait(Words.front(), Arguments, std::nullopt, Redirects, 0, 0, &Problem);
  if (Status == 0)
    return Error::success();
  if (auto Text = MemoryBuffer::getFile(Errors); Problem.empty() && Text)
    Problem = (*Text)->getBuffer().trim().str();
  return createStringError(Problem.empty() ? "exit status " + std::to_string(Status) : Problem);
}

Expected<std::vector<SimulatedProgram>>
MachineSimulator::run(StringRef Load, ArrayRef<std::string> Choices, SimulatedMachine Where) {
  const std::string LoadFile = path("program");
  std::error_code Failed;
  {
    raw_fd_ostream OS(LoadFile, Failed);
    if (!Failed)
      OS << Load;
  }
  if (Failed)
    return errorCodeToError(Failed);
  std::vector<std::string> Words = {Program, "--machine=" + File, "--program=" + LoadFile};
  for (const std::string &Choice : Choices)
    Words.push_back("--choice=" + Choice);
  if (Where.Even)
    Words.push_back("--even");
  if (Where.Processors)
    Words.push_back("--processors=" + std::to_string(Where.Processors));
  if (Jobs)
    Words.push_back("-j" + std::to_string(Jobs));
  if (Error E = execute(Words))
    return E;
  auto Text = MemoryBuffer::getFile(path("output"));
  std::vector<SimulatedProgram> Runs;
  for (const json::Object &Line : objectsIn(Text ? (*Text)->getBuffer() : "", "program"))
    Runs.push_back(readRun(Line));
  if (Runs.size() != Choices.size())
    return createStringError("the simulator printed " + std::to_string(Runs.size()) +
                             " results instead of " + std::to_string(Choices.size()));
  return Runs;
}

} // namespace relock
