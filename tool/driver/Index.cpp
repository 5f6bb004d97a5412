// SPDX-License-Identifier: MIT
//
// relock index: collects the facts of each translation unit.
#include "driver/Subcommand.h"

#include "driver/Options.h"
#include "index/Index.h"
#include "support/Messages.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace relock {

static cl::SubCommand Command("index", "collect the facts of each translation unit of a build");
static cl::opt<std::string> Build("p", cl::desc("folder with compile_commands.json"),
                                  cl::value_desc("BUILD"), cl::Required, cl::sub(Command),
                                  cl::cat(options()));
static cl::opt<unsigned> Jobs("j", cl::desc("translation units at a time (default: one per core)"),
                              cl::value_desc("N"), cl::Prefix, cl::init(0), cl::sub(Command),
                              cl::cat(options()));

static int run() {
  Expected<IndexResult> Index = indexBuild(Build, Jobs);
  if (!Index) {
    message(toString(Index.takeError()), "no-database");
    return BadUsage;
  }
  outs() << Index->Commands.size() << " translation units, " << Index->Refreshed
         << " of them read anew, " << Index->Unparsed.size() << " with errors\n";
  if (!Index->CacheWritable) {
    messageFor(Build + "/.relock",
               "the facts cannot be kept here; make the folder writable, or "
               "every command reads all sources anew",
               "cannot-write");
    return BadUsage;
  }
  return Index->Unparsed.empty() ? Done : BadUsage;
}

Subcommand indexSubcommand() { return {Command, run}; }

} // namespace relock
