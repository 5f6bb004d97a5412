// SPDX-License-Identifier: MIT
//
// Finds the subcommand on the command line and returns its exit status.
#include "driver/CommandLine.h"
#include "driver/Help.h"
#include "driver/NextStep.h"
#include "driver/Options.h"
#include "driver/Subcommand.h"
#include "support/Color.h"
#include "support/Messages.h"
#include "support/Output.h"

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

// LLVM's shared library has an option of this name, with other values.
static void addColorOption() {
  StringMap<cl::Option *> &Registered = cl::getRegisteredOptions();
  if (cl::Option *Foreign = Registered.lookup("color"))
    Foreign->removeArgument();
  static cl::opt<ColorMode> Color(
      "color", cl::desc("colors in messages and tables"), cl::value_desc("WHEN"),
      cl::values(
          clEnumValN(ColorMode::Auto, "auto", "on a terminal, unless NO_COLOR is set (default)"),
          clEnumValN(ColorMode::Always, "always", "also in files and pipes"),
          clEnumValN(ColorMode::Never, "never", "not at all")),
      cl::callback([](const ColorMode &Mode) { setColorMode(Mode); }),
      cl::sub(cl::SubCommand::getAll()), cl::cat(options()));
  static NamedValuesOf Modes(Color);
}

static const char *const Overview =
    "moves the hot pthread locks of a C program to better lock algorithms";

static const char *const MoreHelp = R"help(
EXAMPLES:

  relock help check    # the options of a subcommand, examples, exit statuses
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
  addColorOption();
  hideForeign(cl::SubCommand::getTopLevel());
  hideForeign(cl::SubCommand::getAll());
  for (const Subcommand &S : Subcommands)
    hideForeign(S.Command);

  const CommandHelp Help = {Subcommands, Overview, MoreHelp, RELOCK_VERSION};
  if (std::optional<int> Status = helpForPrograms(Help, {Argv, Argv + Argc}))
    return *Status;
  std::vector<const char *> Given = helpAsOption({Argv, Argv + Argc});
  switch (readWords(Given, Subcommands)) {
  case Words::Wrong:
    return BadUsage;
  case Words::Help:
    printHelp(Help, namedSubcommand(Given, Subcommands), outs(), helpWidth());
    return flushOutput() ? Done : BadUsage;
  case Words::Right:
    break;
  }
  std::string Errors;
  raw_string_ostream ErrorStream(Errors);
  if (!cl::ParseCommandLineOptions(int(Given.size()), Given.data(), Overview, &ErrorStream)) {
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
