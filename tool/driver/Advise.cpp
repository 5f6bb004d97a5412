// SPDX-License-Identifier: MIT
//
// relock advise: writes the plan that `relock rewrite --plan` follows, and brings it up to date.
#include "advise/Advise.h"

#include "driver/Options.h"
#include "driver/PlanOption.h"
#include "driver/ProjectOption.h"
#include "driver/Subcommand.h"
#include "support/Messages.h"
#include "support/Output.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace relock {

static cl::SubCommand Command("advise", "write a plan of what to convert to what, for you to edit");
static cl::list<std::string> Builds("p", cl::desc(BuildHelp), cl::value_desc("BUILD"),
                                    cl::OneOrMore, cl::sub(Command), cl::cat(options()));
static cl::opt<std::string>
    Output("o",
           cl::desc("the plan (tool/doc/formats.md); where it exists, your edits in it stay "
                    "(default: a new plan, to standard output)"),
           cl::value_desc("PLAN"), cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> Project("project", cl::desc(ProjectHelp), cl::value_desc("FILE"),
                                    cl::sub(Command), cl::cat(options()));
static cl::opt<bool> AcceptUncovered("accept-uncovered", cl::desc(AcceptHelp), cl::sub(Command),
                                     cl::cat(options()));
static cl::opt<unsigned> Jobs("j", cl::desc(JobsHelp), cl::value_desc("N"), cl::Prefix, cl::init(0),
                              cl::sub(Command), cl::cat(options()));
static cl::list<std::string> Profiles(cl::Positional, cl::desc("[PROFILE]"), cl::sub(Command),
                                      cl::cat(options()));

namespace {

// An empty file is a plan that has yet to be written.
bool isWritten(StringRef File) {
  uint64_t Size;
  return sys::fs::is_regular_file(File) && !sys::fs::file_size(File, Size) && Size;
}

int write(const Plan &Next) {
  if (Output.empty()) {
    writePlan(outs(), Next);
    outs().flush();
    if (!outs().has_error())
      return Done;
    outs().clear_error();
    message("the plan could not be written to standard output; is the disk full?", "cannot-write");
    return BadUsage;
  }
  SmallString<256> Target(Output); // behind links
  if (std::error_code Absent = sys::fs::real_path(Output, Target))
    Target = Output.getValue();
  Error Failed = writeAtomically(Target, [&](raw_ostream &OS) { writePlan(OS, Next); });
  if (!Failed)
    return Done;
  messageFor(Output, "cannot be written: " + toString(std::move(Failed)), "cannot-write");
  return BadUsage;
}

int run() {
  if (!Profiles.empty()) {
    message("'" + Profiles.front() +
                "': advice does not read profiles yet; leave it out, and see with `relock report` "
                "which locks hurt",
            "usage");
    return BadUsage;
  }
  if (Error Failed = Output.empty() ? Error::success() : checkWritable(Output)) {
    messageFor(Output, "cannot be written: " + toString(std::move(Failed)), "cannot-write");
    return BadUsage;
  }
  Plan Before;
  if (isWritten(Output)) {
    std::optional<Plan> Read = loadPlan(Output);
    if (!Read)
      return BadUsage;
    Before = std::move(*Read);
  }
  Expected<IndexResult> Index = indexBuild(Builds, Jobs);
  if (!Index) {
    message(toString(Index.takeError()), "no-database");
    return BadUsage;
  }
  if (!Index->Unparsed.empty()) {
    message("which lock classes convert is only known when every file is; no plan was written",
            "unparsed");
    return BadUsage;
  }
  if (!applyCuts(*Index, Before))
    return BadUsage;
  std::optional<ProjectFile> Declared = loadProject(Project, Builds, *Index);
  if (!Declared)
    return BadUsage;
  Extras Wanted;
  Wanted.Merges = true;
  Decision Decided = decide(*Index, *Declared, Jobs, AcceptUncovered, Wanted);
  reportUnmatched(Decided);
  reportCuts(*Index, Decided);
  Advice Given = advise(Decided, Before, sourceRoot(*Index),
                        [&](StringRef Name) { return isConverted(*Index, Name); });
  int Status = write(Given.Next);
  if (Status != Done)
    return Status;
  for (const PlanChange &Change : Given.Changes)
    message(Change.At, Change.Text, Change.Code);
  errs() << "relock: " << Given.Next.Classes.size()
         << " lock classes in the plan: " << Given.Converted << " convert, " << Given.Kept
         << " keep; " << Given.Yours << " of the entries are yours\n";
  return Given.Changes.empty() ? Done : LookAtThis;
}

} // namespace

Subcommand adviseSubcommand() { return {Command, run}; }

} // namespace relock
