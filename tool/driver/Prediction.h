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
  ~MachineSimulator();

  const std::string &machine() const { return Machine; }
  unsigned processors() const { return Processors; }
  double movedLine() const { return MovedLine; } // ns, of the nearest other processor
  llvm::Expected<std::vector<SimulatedProgram>>
  run(llvm::StringRef Load, llvm::ArrayRef<std::string> Choices, SimulatedMachine Where);

private:
  MachineSimulator() = default;
  llvm::Error execute(const std::vector<std::string> &Words) const;
  llvm::Error readMachine();
  std::string path(llvm::StringRef Name) const { return Folder + "/" + Name.str(); }

  std::string Folder; // temporary
  std::string Program, File, Machine;
  unsigned Processors = 0, Jobs = 0;
  double MovedLine = 0;
};

} // namespace relock
