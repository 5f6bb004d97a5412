// SPDX-License-Identifier: MIT
#include "index/FileName.h"

#include "llvm/ADT/StringMap.h"

#include <mutex>

using namespace llvm;

namespace relock {

static const std::string *kept(StringRef Path) {
  static std::mutex Lock;
  static StringMap<std::string> &All =
      *new StringMap<std::string>; // never ends: others use it at exit
  std::lock_guard<std::mutex> Guard(Lock);
  auto [At, New] = All.try_emplace(Path, Path);
  return &At->getValue();
}

FileName::FileName(StringRef Path) {
  static const std::string None;
  Text = Path.empty() ? &None : kept(Path);
}

} // namespace relock
