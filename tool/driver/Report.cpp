// SPDX-License-Identifier: MIT
//
// relock report: shows a profile.
#include "driver/Subcommand.h"
#include "profile/Profile.h"
#include "profile/Table.h"
#include "support/Messages.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace relock {

namespace {

cl::OptionCategory Category("Relock");
cl::SubCommand Command("report", "Show which locks of a profile hurt");
cl::opt<std::string> File(cl::Positional, cl::Required, cl::desc("FILE"), cl::sub(Command),
                          cl::cat(Category));
cl::opt<bool> Explain("explain", cl::desc("Explain the columns"), cl::sub(Command),
                      cl::cat(Category));
cl::opt<bool> Json("json", cl::desc("Print the classes of the profile as JSON"), cl::sub(Command),
                   cl::cat(Category));
cl::opt<unsigned> Limit("limit", cl::init(20), cl::value_desc("N"),
                        cl::desc("Show the N costliest lock classes (default 20; 0: all)"),
                        cl::sub(Command), cl::cat(Category));

cl::opt<unsigned> Threads("threads", cl::init(0), cl::value_desc("N"),
                          cl::desc("Show the N threads that waited longest (default none)"),
                          cl::sub(Command), cl::cat(Category));

int run() {
  Expected<Profile> P = readProfile(File);
  if (!P) {
    handleAllErrors(P.takeError(), [](const ProfileError &E) { messageFor(File, E.Text, E.Code); });
    return BadUsage;
  }
  if (Json)
    writeProfile(*P, outs(), /*Details=*/false);
  else
    printTable(*P, {Explain, Limit, Threads}, outs());
  outs().flush();
  if (outs().has_error()) {
    std::error_code Error = outs().error();
    outs().clear_error();
    messageFor("standard output", "cannot be written: " + Error.message(), "output");
    return BadUsage;
  }
  return Done;
}

} // namespace

Subcommand reportSubcommand() { return {Command, run}; }

} // namespace relock
