// SPDX-License-Identifier: MIT
//
// The option --project of the subcommands that link a program, and what they say of its file.
#pragma once

#include "index/Index.h"
#include "program/Decide.h"
#include "program/ProjectFile.h"

#include "llvm/Support/CommandLine.h"

namespace relock {

inline const char *const ProjectHelp =
    "what you know of functions, as YAML (tool/doc/formats.md; default: relock.yaml in BUILD or in "
    "the root of the sources, if there is one; empty: none)";

// Reads the file that the option names, or the one that is found. None: a message was printed.
std::optional<ProjectFile> loadProject(const llvm::cl::opt<std::string> &Option,
                                       llvm::ArrayRef<std::string> Builds,
                                       const IndexResult &Index);

// Says which entries of the project file speak of nothing.
void reportUnmatched(const Decision &Decided);

// The delegated sections that rest on the project file, and on how many of its functions and macros.
struct TrustCounts {
  size_t Sections = 0;
  std::map<std::string, size_t> Functions, Macros; // with the number of sections of each
};
TrustCounts countTrust(const Decision &Decided,
                       llvm::function_ref<bool(const CheckedClass &)> Counts);
// `14 sections rest on relock.yaml (27 functions)`
std::string trustLine(const TrustCounts &Trust, const ProjectFile &Project);
// `3 sections are delegated since relock.yaml:9 accepts function-name`, for each accepted code.
std::vector<std::string> acceptedLines(const Decision &Decided,
                                       llvm::function_ref<bool(const CheckedClass &)> Counts,
                                       const ProjectFile &Project);

} // namespace relock
