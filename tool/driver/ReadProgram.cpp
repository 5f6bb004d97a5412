// SPDX-License-Identifier: MIT
#include "driver/ReadProgram.h"

#include "driver/Undo.h"
#include "support/Messages.h"

using namespace llvm;

namespace relock {

std::optional<IndexResult> readProgram(ArrayRef<std::string> Builds, unsigned Jobs) {
  if (!checkFinished(Builds))
    return std::nullopt;
  Expected<IndexResult> Index = indexBuild(Builds, Jobs);
  if (Index)
    return std::move(*Index);
  message(toString(Index.takeError()), "no-database");
  return std::nullopt;
}

} // namespace relock
