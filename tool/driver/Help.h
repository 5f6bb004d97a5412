// SPDX-License-Identifier: MIT
//
// What --help, the man pages and the shells' completions say, all from the options that the
// subcommands have registered.
#pragma once

#include "driver/Subcommand.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"

namespace relock {

struct NamedValue {
  std::string Name;
  llvm::StringRef Text; // may be empty
};

// An option as its user sees it.
struct ShownOption {
  std::string Name; // without hyphens
  llvm::StringRef Value, Text;
  bool OptionalValue = false, Repeats = false;
  unsigned Values = 0;           // how many; 0: none
  std::vector<NamedValue> Named; // what the value may be, where that is a choice

  std::string dashed() const { return (Name.size() == 1 ? "-" : "--") + Name; }
  std::string withValue() const; // --name=<VALUE>
  bool takesFile() const;
};

// Those of a subcommand, or of the command itself, in the order of their names.
std::vector<ShownOption> shownOptions(const llvm::cl::SubCommand &Command);

// What stands behind the options, as `FILE...`.
std::string argumentsOf(const llvm::cl::SubCommand &Command);

// Everything of relock's command line.
struct CommandHelp {
  llvm::ArrayRef<Subcommand> Subcommands; // in any order
  llvm::StringRef Overview, MoreHelp;     // of the command itself
  std::string Version;
};

// Of a subcommand, or, null, of the command; no line is longer than Width if its words allow it.
void printHelp(const CommandHelp &All, const Subcommand *Of, llvm::raw_ostream &OS, unsigned Width);
// The width of the terminal, or 80.
unsigned helpWidth();

// With the day on which the build was configured.
void printManPage(const CommandHelp &All, const Subcommand *Of, llvm::raw_ostream &OS);

// False: there is none for such a shell.
bool printCompletion(const CommandHelp &All, llvm::StringRef Shell, llvm::raw_ostream &OS);

// What --help does not say because it is for packages and shells, as README.md has it:
//   relock help --man [CMD]
//   relock help --completion bash|zsh|fish
//   relock help --values KIND BEGUN LINE...    see CompletedValues.h
//   relock help --write-pages FOLDER    all of these, into the folders below this one, such as
//                                       /usr/share, where programs look for them
// Returns the exit status; none: the words ask for something else.
std::optional<int> helpForPrograms(const CommandHelp &All, llvm::ArrayRef<const char *> Words);

} // namespace relock
