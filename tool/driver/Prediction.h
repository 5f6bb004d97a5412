// SPDX-License-Identifier: MIT
//
// Runs relock-simulator for predictions (advise/Predict.h).
#pragma once

#include "advise/Predict.h"

#include "llvm/ADT/StringRef.h"

#include <memory>
#include <string>
#include <vector>

namespace relock {

class MachineSimulator {
public:
  // Name: of a machine, a file, or `here`: this one, which is measured for a second or two. Null: a
  // message was printed.
  static std::unique_ptr<MachineSimulator> open(llvm::StringRef Name, unsigned Jobs);

  const std::string &machine() const { return Machine; }
  unsigned processors() const { return Processors; }
  double movedLine() const { return MovedLine; } // ns, of the nearest other processor
  llvm::Expected<std::vector<SimulatedProgram>>
  run(llvm::StringRef Text, llvm::ArrayRef<std::string> Choices, SimulatedMachine Where);

private:
  // A file that goes in the end, also if a signal ends it all.
  class TemporaryFile {
  public:
    TemporaryFile() = default;
    TemporaryFile(const TemporaryFile &) = delete;
    ~TemporaryFile();
    llvm::Error write(llvm::StringRef Text);
    const std::string &path() const { return Path; }

  private:
    std::string Path; // empty: nothing was written
  };

  MachineSimulator() = default;
  llvm::Error openMachine(llvm::StringRef Name);
  // What a program prints.
  llvm::Expected<std::string> output(std::vector<std::string> Words) const;

  std::string Program, File, Machine;
  TemporaryFile Here, Load;
  unsigned Processors = 0, Jobs = 0;
  double MovedLine = 0;
};

} // namespace relock
