// SPDX-License-Identifier: MIT
//
// A machine's file (runtime/sim/README.md) as people want to see it: what of it was measured, and
// how far its processors are from each other. The simulator reads the figures themselves.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <string>
#include <vector>

namespace relock {

// `name = value   # source`
struct MachineLine {
  std::string Name, Value, Source;
  // What the source begins with: measured, unsteady, default, guess; of others nothing.
  llvm::StringRef quality() const;
};

// From one processor to each, in the order of the rows; 0: itself. None: not measured.
struct MachineRow {
  unsigned Processor;
  std::vector<std::optional<double>> Cycles;
};

struct MachineFile {
  std::vector<MachineLine> Lines;
  std::vector<std::string> Remarks; // comments that are a line of their own, without the `#`
  std::vector<MachineRow> Pairs;
  std::vector<double> Classes; // of distances, in cycles

  static llvm::Expected<MachineFile> read(llvm::StringRef Text);
  const MachineLine *find(llvm::StringRef Name) const;
  // How many figures have it, the matrix apart.
  size_t count(llvm::StringRef Quality) const;
};

void printMachineSummary(const MachineFile &M, llvm::raw_ostream &OS);
// In 80 columns: of many processors, groups.
void printMachinePairs(const MachineFile &M, llvm::raw_ostream &OS);

} // namespace relock
