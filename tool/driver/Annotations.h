// SPDX-License-Identifier: MIT
//
// relock check --github: findings as commands to GitHub's runners, which show them beside the lines
// of a pull request.
#pragma once

#include "driver/Gate.h"

namespace relock {

// Those that fail as errors, the other open ones as warnings; of each as many as GitHub shows of
// one step. Root: what the paths are relative to, unless the runner says where its workspace is.
void printAnnotations(llvm::raw_ostream &OS, llvm::ArrayRef<JudgedFinding> Findings,
                      llvm::StringRef Root);

} // namespace relock
