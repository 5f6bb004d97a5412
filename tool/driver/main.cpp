// SPDX-License-Identifier: MIT
//
// Finds the subcommand on the command line and returns its exit status.
#include "driver/CommandLine.h"
#include "driver/NextStep.h"
#include "driver/Subcommand.h"
#include "support/Messages.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace relock;

// Empty: not known.
static constexpr StringLiteral Commit =
#include "Commit.inc"
    ;

static void printVersion(raw_ostream &OS) {
  OS << "relock " RELOCK_VERSION;
  if (!Commit.empty())
    OS << ", commit " << Commit;
  OS << ", LLVM " LLVM_VERSION_STRING "\n";
}

static void hideForeign(cl::SubCommand &Command) {
  for (auto &[Name, Option] : Command.OptionsMap)
    if (!isOwn(*Option) && Name != "help" && Name != "version")
      Option->setHiddenFlag(cl::ReallyHidden);
}

static const char *const MoreHelp = R"help(
EXAMPLES:

  relock help check          # the options of a subcommand, examples and exit statuses
  relock profile -o server.profile ./server --port 8080
  relock check

EXIT STATUS:

  0  done
  1  done, but there is something to look at
  2  wrong usage or unreadable input
  3  a bug in relock, or a part of it that is not installed
)help";

int main(int Argc, char **Argv) {
  InitLLVM Init(Argc, Argv);
  cl::SetVersionPrinter(printVersion);
  const Subcommand Subcommands[] = {
      profileSubcommand(), reportSubcommand(),    indexSubcommand(),    checkSubcommand(),
      adviseSubcommand(),  rewriteSubcommand(),   explainSubcommand(),  patchesSubcommand(),
      benchSubcommand(),   calibrateSubcommand(), simulateSubcommand(), compareSubcommand(),
      trialSubcommand(),   doctorSubcommand()};
  hideForeign(cl::SubCommand::getTopLevel());
  hideForeign(cl::SubCommand::getAll());
  for (const Subcommand &S : Subcommands)
    hideForeign(S.Command);

  std::vector<const char *> Words = helpAsOption({Argv, Argv + Argc});
  if (!knowsWords(Words, Subcommands))
    return BadUsage;
  const Subcommand *Named = namedSubcommand(Words, Subcommands);
  cl::extrahelp Behind(Named ? Named->MoreHelp : MoreHelp);
  std::string Errors;
  raw_string_ostream ErrorStream(Errors);
  if (!cl::ParseCommandLineOptions(
          int(Words.size()), Words.data(),
          "moves the hot pthread locks of a C program to better lock algorithms\n", &ErrorStream)) {
    if (!Errors.empty()) // else it is said already
      errs() << StringRef(Errors).rtrim() << " [usage]\n";
    return BadUsage;
  }
  SmallString<256> Current;
  if (sys::fs::current_path(Current)) {
    message("the current folder does not exist any more; change to one that does", "usage");
    return BadUsage;
  }
  for (const Subcommand &S : Subcommands)
    if (S.Command)
      return S.Run();
  message("no subcommand given; `relock help` lists them", "usage");
  reportNextStep();
  return BadUsage;
}
