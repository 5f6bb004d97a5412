// SPDX-License-Identifier: MIT
//
// One subcommand of the relock command: its options live beside it, in its own file.
#pragma once

#include "llvm/Support/CommandLine.h"

namespace relock {

// Exit statuses that every subcommand shares.
enum ExitStatus {
  Done = 0,          // nothing to look at
  LookAtThis = 1,    // done, but there is a refusal, a finding or a regression
  BadUsage = 2,      // wrong usage or unreadable input
  InternalError = 3, // a bug in relock
};

struct Subcommand {
  llvm::cl::SubCommand &Command;
  int (*Run)();
  const char *MoreHelp; // what --help says behind the options: examples and exit statuses
};

Subcommand indexSubcommand();
Subcommand checkSubcommand();
Subcommand adviseSubcommand();
Subcommand rewriteSubcommand();
Subcommand explainSubcommand();
Subcommand patchesSubcommand();
Subcommand profileSubcommand();
Subcommand reportSubcommand();
Subcommand benchSubcommand();
Subcommand calibrateSubcommand();
Subcommand simulateSubcommand();
Subcommand compareSubcommand();
Subcommand trialSubcommand();
Subcommand doctorSubcommand();

} // namespace relock
