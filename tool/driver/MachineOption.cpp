// SPDX-License-Identifier: MIT
#include "driver/MachineOption.h"

#include "bench/MachineFile.h"
#include "driver/Benchmark.h"
#include "driver/Subcommand.h"
#include "support/Color.h"
#include "support/Messages.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <vector>

using namespace llvm;

namespace relock {

// Beside this command as it was built or installed.
static std::string machinesFolder() {
  SmallString<256> Path(sys::path::parent_path(
      sys::fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&machinesFolder))));
  sys::path::append(Path, "../share/relock/machines");
  return Path.str().str();
}

std::vector<std::string> machineNames() {
  std::vector<std::string> Names;
  std::error_code Failed;
  for (sys::fs::directory_iterator At(machinesFolder(), Failed), End; At != End && !Failed;
       At.increment(Failed))
    if (sys::path::extension(At->path()) == ".machine")
      Names.push_back(sys::path::stem(At->path()).str());
  llvm::sort(Names);
  return Names;
}

static std::string titleOf(StringRef Name) {
  auto Text = MemoryBuffer::getFile(machinesFolder() + "/" + Name + ".machine");
  if (!Text)
    return "";
  Expected<MachineFile> Read = MachineFile::read((*Text)->getBuffer());
  if (!Read) {
    consumeError(Read.takeError());
    return "";
  }
  const MachineLine *Title = Read->find("title");
  return Title ? printable(Title->Value) : "";
}

void listMachines(StringRef Subcommand) {
  const std::vector<std::string> Names = machineNames();
  message("say which machine by --machine: one of these, or a file that `relock calibrate -o "
          "FILE.machine` has written",
          "simulate-machine");
  size_t Width = 0;
  for (const std::string &Name : Names)
    Width = std::max(Width, Name.size());
  for (const std::string &Name : Names)
    errs() << "  " << left_justify(Name, Width) << "  " << titleOf(Name) << "\n";
  if (!Names.empty())
    errs() << painted("next:", Style::Heading, errs()) << " relock " << Subcommand << " --machine "
           << Names.front() << "\n";
}

std::string findMachine(StringRef Name) {
  SmallString<256> Path(Name);
  if (!Name.contains('/') && !Name.ends_with(".machine")) {
    Path = machinesFolder();
    sys::path::append(Path, Name + ".machine");
  }
  if (!Name.empty() && sys::fs::exists(Path))
    return Path.str().str();
  failBenchmark(
      BadUsage,
      Twine("--machine: ") + (Name.empty() ? "which one?" : "there is no '" + Name.str() + "'.") +
          " The machines are: " + join(machineNames(), ", ") +
          "; or name a file: `relock calibrate -o FILE.machine` writes that of this machine",
      "simulate-machine");
  return "";
}

} // namespace relock
