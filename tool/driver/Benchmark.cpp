// SPDX-License-Identifier: MIT
#include "driver/Benchmark.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace relock {

std::string findBenchmark() {
  std::string Executable =
      sys::fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&findBenchmark));
  for (StringRef Place : {"relock-bench", "../libexec/relock/relock-bench"}) {
    SmallString<256> Path(sys::path::parent_path(Executable));
    sys::path::append(Path, Place);
    if (sys::fs::can_execute(Path))
      return Path.str().str();
  }
  return "";
}

} // namespace relock
