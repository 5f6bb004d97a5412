// SPDX-License-Identifier: MIT
//
// relock report: shows a profile, several added up, or two side by side.
#include "driver/Subcommand.h"
#include "profile/Compare.h"
#include "profile/Merge.h"
#include "profile/Profile.h"
#include "profile/Table.h"
#include "support/Messages.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace relock {

namespace {

cl::OptionCategory Category("Relock");
cl::SubCommand Command("report", "Show which locks of a profile hurt");
cl::list<std::string> Files(cl::Positional, cl::OneOrMore,
                            cl::desc("FILE... (several: runs of one program, which are added up)"),
                            cl::sub(Command), cl::cat(Category));
cl::opt<bool> Diff("diff", cl::desc("Compare two profiles, FILE before and FILE after a change"),
                   cl::sub(Command), cl::cat(Category));
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

cl::opt<unsigned> Sites("sites", cl::init(3), cl::value_desc("N"),
                        cl::desc("Show the N costliest call sites of the N costliest lock classes "
                                 "(default 3; 0: none)"),
                        cl::sub(Command), cl::cat(Category));

// None: a message was printed.
std::optional<std::vector<Profile>> readAll() {
  std::vector<Profile> Read;
  for (const std::string &File : Files) {
    Expected<Profile> P = readProfile(File);
    if (!P) {
      handleAllErrors(P.takeError(),
                      [&](const ProfileError &E) { messageFor(File, E.Text, E.Code); });
      return std::nullopt;
    }
    Read.push_back(std::move(*P));
  }
  return Read;
}

bool canMerge(const std::vector<Profile> &Read) {
  for (size_t I = 1; I < Read.size(); ++I)
    if (std::string Why = whyNotMerged(Read[0], Read[I]); !Why.empty()) {
      messageFor(Files[I], Why, "report-different");
      return false;
    }
  return true;
}

bool rightUsage() {
  if (Diff && Files.size() != 2)
    message("--diff takes two profiles, one from before and one from after the change", "usage");
  else if (Diff && Json)
    message("--diff prints a table; for scripts, --json prints each of the profiles", "usage");
  else
    return true;
  return false;
}

int finishOutput() {
  outs().flush();
  if (!outs().has_error())
    return Done;
  std::error_code Error = outs().error();
  outs().clear_error();
  messageFor("standard output", "cannot be written: " + Error.message(), "output");
  return BadUsage;
}

int run() {
  if (!rightUsage())
    return BadUsage;
  std::optional<std::vector<Profile>> Read = readAll();
  if (!Read)
    return BadUsage;
  if (Diff) {
    printComparison((*Read)[0], (*Read)[1], {Explain, Limit}, outs());
    return finishOutput();
  }
  if (!canMerge(*Read))
    return BadUsage;
  Profile P = mergeProfiles(std::move(*Read));
  if (Json)
    writeProfile(P, outs(), /*Details=*/false);
  else
    printTable(P, {Explain, Limit, Threads, Sites}, outs());
  return finishOutput();
}

} // namespace

Subcommand reportSubcommand() { return {Command, run}; }

} // namespace relock
