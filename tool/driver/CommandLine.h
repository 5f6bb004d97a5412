// SPDX-License-Identifier: MIT
//
// What is looked at on the command line before LLVM's parser reads it: `relock help`, and names of
// subcommands and options that do not exist, for which there is a better answer than the parser's.
#pragma once

#include "driver/Subcommand.h"

#include <vector>

namespace relock {

// Words, the first of which is the program's name, with `help [CMD]` as `[CMD] --help`.
std::vector<const char *> helpAsOption(std::vector<const char *> Words);

// The one that the words name. Null: none.
const Subcommand *namedSubcommand(llvm::ArrayRef<const char *> Words,
                                  llvm::ArrayRef<Subcommand> Subcommands);

// Wrong: a message names the first word that is no subcommand or option, and what is near to it.
// Help: one before it asks for help.
enum class Words { Right, Wrong, Help };
Words readWords(llvm::ArrayRef<const char *> Words, llvm::ArrayRef<Subcommand> Subcommands);

// Whether relock itself has it; LLVM's shared library registers options of its own.
bool isOwn(const llvm::cl::Option &Option);

} // namespace relock
