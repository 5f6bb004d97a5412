// SPDX-License-Identifier: MIT
//
// What the subcommands share: the category of relock's own options (everything else that LLVM
// registers is hidden), texts of --help, and how files with errors show in the exit status.
#pragma once

#include "driver/Subcommand.h"
#include "index/Index.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/CommandLine.h"

namespace relock {

inline llvm::cl::OptionCategory &options() {
  static llvm::cl::OptionCategory Category("Relock");
  return Category;
}

// The parsers of options whose value is one of several names.
inline llvm::DenseMap<const llvm::cl::Option *, const llvm::cl::generic_parser_base *> &
namedValues() {
  static llvm::DenseMap<const llvm::cl::Option *, const llvm::cl::generic_parser_base *> Parsers;
  return Parsers;
}

// Stands behind the definition of such an option, so that --help can say the names.
struct NamedValuesOf {
  template <class T> NamedValuesOf(llvm::cl::opt<T> &Option) {
    namedValues()[&Option] = &Option.getParser();
  }
};

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
