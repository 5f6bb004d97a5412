// SPDX-License-Identifier: MIT
//
// Finds the subcommand on the command line and returns its exit status.
#include "driver/Subcommand.h"

#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace relock;

static void printVersion(raw_ostream &OS) { OS << "relock " RELOCK_VERSION "\n"; }

int main(int Argc, char **Argv) {
  InitLLVM Init(Argc, Argv);
  cl::SetVersionPrinter(printVersion);
  const Subcommand Subcommands[] = {profileSubcommand(), reportSubcommand(), indexSubcommand(),
                                    checkSubcommand(), rewriteSubcommand()};
  for (const Subcommand &S : Subcommands)
    for (auto &[Name, Option] : S.Command.OptionsMap)
      if (Option->Categories.empty() || Option->Categories[0]->getName() != "Relock")
        Option->setHiddenFlag(cl::ReallyHidden);

  std::string Errors;
  raw_string_ostream ErrorStream(Errors);
  if (!cl::ParseCommandLineOptions(
          Argc, Argv, "moves the hot pthread locks of a C program to better lock algorithms\n",
          &ErrorStream)) {
    errs() << Errors;
    return BadUsage;
  }
  for (const Subcommand &S : Subcommands)
    if (S.Command)
      return S.Run();
  errs() << "relock: no subcommand given; `relock --help` lists them [usage]\n";
  return BadUsage;
}
