// SPDX-License-Identifier: MIT
//
// What the subcommands share: the category of relock's own options (everything else that LLVM
// registers is hidden), texts of --help, and how files with errors show in the exit status.
#pragma once

#include "driver/Subcommand.h"
#include "index/Index.h"

#include "llvm/Support/CommandLine.h"

namespace relock {

inline llvm::cl::OptionCategory &options() {
  static llvm::cl::OptionCategory Category("Relock");
  return Category;
}

inline const char *const JobsHelp = "translation units at a time (default: one per core)";
inline const char *const AcceptHelp =
    "convert although text that this build skips may use the locks (see `relock explain "
    "uncovered`)";

// The exit status of a subcommand that would end with Status if every file were known.
inline int statusWith(const IndexResult &Index, int Status) {
  if (!Index.Unparsed.empty())
    return BadUsage;
  return Status == Done && Index.Broken ? LookAtThis : Status;
}

} // namespace relock
