// SPDX-License-Identifier: MIT
//
// Finds the subcommand on the command line and returns its exit status.
#include "driver/Subcommand.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace relock;

static void printVersion(raw_ostream &OS) { OS << "relock " RELOCK_VERSION "\n"; }

// LLVM's shared library registers options of its own.
static void hideForeign(cl::SubCommand &Command) {
  for (auto &[Name, Option] : Command.OptionsMap) {
    bool Ours = !Option->Categories.empty() && Option->Categories[0]->getName() == "Relock";
    if (!Ours && Name != "help" && Name != "version")
      Option->setHiddenFlag(cl::ReallyHidden);
  }
}

int main(int Argc, char **Argv) {
  InitLLVM Init(Argc, Argv);
  cl::SetVersionPrinter(printVersion);
  const Subcommand Subcommands[] = {profileSubcommand(),  reportSubcommand(),  indexSubcommand(),
                                    checkSubcommand(),    adviseSubcommand(),  rewriteSubcommand(),
                                    explainSubcommand(),  patchesSubcommand(), benchSubcommand(),
                                    simulateSubcommand(), compareSubcommand(), trialSubcommand(),
                                    doctorSubcommand()};
  hideForeign(cl::SubCommand::getTopLevel());
  hideForeign(cl::SubCommand::getAll());
  for (const Subcommand &S : Subcommands)
    hideForeign(S.Command);

  std::string Errors;
  raw_string_ostream ErrorStream(Errors);
  if (!cl::ParseCommandLineOptions(
          Argc, Argv, "moves the hot pthread locks of a C program to better lock algorithms\n",
          &ErrorStream)) {
    errs() << Errors;
    return BadUsage;
  }
  SmallString<256> Current;
  if (sys::fs::current_path(Current)) {
    errs() << "relock: the current folder does not exist any more; change to one that does "
              "[usage]\n";
    return BadUsage;
  }
  for (const Subcommand &S : Subcommands)
    if (S.Command)
      return S.Run();
  errs() << "relock: no subcommand given; `relock --help` lists them [usage]\n";
  return BadUsage;
}
