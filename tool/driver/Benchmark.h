// SPDX-License-Identifier: MIT
//
// A run of one of the runtime's two programs that measure locks, relock-bench or relock-simulator:
// they print a JSON object per result, which is shown as soon as its table is complete.
#pragma once

#include "bench/Results.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"

#include <cstdio>
#include <string>
#include <vector>

namespace relock {

struct BenchmarkRun {
  std::string Program;
  std::vector<std::string> Words; // its arguments, the first of which is its name
  BenchResults Results;
  std::string Errors; // what the program wrote to standard error
  std::string Broken; // what is wrong with its output
  int Status = 0;
  int Asked = 0; // the signal that asked to end it
  size_t PointsShown = 0;
};

// The program as it was built or installed beside this command; empty: it is not there.
std::string findBenchmark(llvm::StringRef Name = "relock-bench");

// Messages; they return the status.
int failBenchmark(int Status, const llvm::Twine &Text, llvm::StringRef Code);
int failBenchmarkFor(int Status, llvm::StringRef File, const llvm::Twine &Text,
                     llvm::StringRef Code);

// Runs it and shows what it prints. Returns the error number if it cannot be started.
int runBenchmark(BenchmarkRun &R);
// The same with another reader of what it prints.
int runBenchmark(BenchmarkRun &R, llvm::function_ref<void(FILE *)> Read);
// The program's own messages, as ours.
void repeatErrors(const BenchmarkRun &R, llvm::StringRef Code);
// Says why it has ended, if that is worth a message.
int reportEndOfBenchmark(const BenchmarkRun &R);

// Before a run that takes long: whether its files can be written. An empty name: none is wanted.
int checkBenchmarkFiles(llvm::StringRef Json, llvm::StringRef SvgFolder);
int writeBenchmarkFiles(const BenchResults &Results, llvm::StringRef Json,
                        llvm::StringRef SvgFolder);

} // namespace relock
