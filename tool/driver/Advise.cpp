// SPDX-License-Identifier: MIT
//
// relock advise: writes the plan that `relock rewrite --plan` follows, from profiles where there
// are some, and brings it up to date.
#include "advise/Advise.h"
#include "advise/Update.h"

#include "driver/BuildOption.h"
#include "driver/CompletedValues.h"
#include "driver/FindThresholds.h"
#include "driver/Options.h"
#include "driver/PlanOption.h"
#include "driver/Prediction.h"
#include "driver/ProjectOption.h"
#include "driver/ReadProgram.h"
#include "driver/Subcommand.h"
#include "profile/Profile.h"
#include "support/Messages.h"
#include "support/Output.h"
#include "support/Shell.h"
#include "support/Yaml.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace relock {

static cl::SubCommand Command("advise", "write a plan of what to convert to what, for you to edit");
static cl::list<std::string> Builds("p", cl::desc(BuildHelp), cl::value_desc("BUILD"), cl::Prefix,
                                    cl::sub(Command), cl::cat(options()));
static cl::opt<std::string>
    Output("o",
           cl::desc("the plan (tool/doc/formats.md); where it exists, your edits in it stay "
                    "(default: a new plan, to standard output)"),
           cl::value_desc("PLAN"), cl::Prefix, cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> Project("project", cl::desc(ProjectHelp), cl::value_desc("FILE"),
                                    cl::sub(Command), cl::cat(options()));
static cl::opt<bool> AcceptUncovered("accept-uncovered", cl::desc(AcceptHelp), cl::sub(Command),
                                     cl::cat(options()));
static cl::opt<unsigned> Jobs("j", cl::desc(JobsHelp), cl::value_desc("N"), cl::Prefix, cl::init(0),
                              cl::sub(Command), cl::cat(options()));
static cl::opt<std::string>
    ThresholdFile("thresholds",
                  cl::desc("from where on a lock is hot, as --find-thresholds prints it (default: "
                           "the file that the plan names, or what tool/advise/README.md says)"),
                  cl::value_desc("FILE"), cl::sub(Command), cl::cat(options()));
static cl::opt<bool> FindThresholds(
    "find-thresholds",
    cl::desc(
        "measure this machine for --thresholds instead, and print the file; takes a minute or two"),
    cl::sub(Command), cl::cat(options()));
static cl::opt<std::string>
    Machine("machine",
            cl::desc("predict what other locks would gain on this machine, and choose by that: "
                     "`here`, one that `relock simulate` lists, or a file (default: what the plan "
                     "names, or none: the thresholds decide)"),
            cl::value_desc("here|NAME|FILE"), cl::sub(Command), cl::cat(options()));
static cl::opt<unsigned>
    Threads("threads",
            cl::desc("with --machine, of the kind of threads that takes most locks (default: as "
                     "profiled); with --find-thresholds, in all (default: one for each processor "
                     "but one, and the shipped file where there are fewer than 4)"),
            cl::value_desc("N"), cl::init(0), cl::sub(Command), cl::cat(options()));
static cl::opt<Rule>
    RuleOption("rule", cl::desc("what decides, where --machine or the plan names a machine"),
               cl::values(clEnumValN(Rule::Prediction, "prediction", "what is predicted (default)"),
                          clEnumValN(Rule::Thresholds, "thresholds",
                                     "the thresholds; what is predicted stands in the plan"),
                          clEnumValN(Rule::Either, "either",
                                     "what is worth it by one of the two, and not predicted "
                                     "to be slower")),
               cl::value_desc("RULE"), cl::init(Rule::Prediction), cl::sub(Command),
               cl::cat(options()));
static NamedValuesOf Rules(RuleOption);
static cl::opt<std::string> Update(
    "update",
    cl::desc("revise this plan by what librelock counted in the converted program: the files "
             "of RELOCK_STATS, or profiles of it, in the place of PROFILE; your edits stay"),
    cl::value_desc("PLAN"), cl::sub(Command), cl::cat(options()));
static cl::list<std::string> Profiles(cl::Positional,
                                      cl::desc("[PROFILE...] of the program (default: those that "
                                               "the plan names)"),
                                      cl::sub(Command), cl::cat(options()));

static const char *const MoreHelp = R"help(
EXAMPLES:

  relock advise server.profile -o plan.yaml
  relock advise server.profile --machine icelake-2x32 --threads 48 -o plan.yaml
  relock advise --update plan.yaml stats.profile

EXIT STATUS:

  0  the plan is written
  1  the plan is written, but it says of entries that they no longer fit, or of
     hot locks that they are kept; or statistics have locks that it has not
  2  wrong usage, no compile database, a file that is unreadable, or a plan that
     cannot be written
  3  the measuring of --find-thresholds failed
)help";

namespace {

constexpr unsigned MostThreads = 2048; // runtime/sim/program_file.c

// An empty file is a plan that has yet to be written.
bool isWritten(StringRef File) {
  uint64_t Size;
  return sys::fs::is_regular_file(File) && !sys::fs::file_size(File, Size) && Size;
}

int write(const Plan &Next, const std::string &Output) {
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
    Target = Output;
  Error Failed = writeAtomically(Target, [&](raw_ostream &OS) { writePlan(OS, Next); });
  if (!Failed)
    return Done;
  messageFor(Output, "cannot be written: " + toString(std::move(Failed)), "cannot-write");
  return BadUsage;
}

// What the advice rests on; false: a message was printed. Names the files in the plan, so that the
// next run reads them again.
bool readSources(Plan &Before, std::vector<ProfileFile> &Files, Thresholds &Limits) {
  if (!Profiles.empty())
    Before.Profiles.assign(Profiles.begin(), Profiles.end());
  if (ThresholdFile.getNumOccurrences())
    Before.Thresholds = ThresholdFile;
  if (Machine.getNumOccurrences())
    Before.Machine = Machine;
  if (Threads.getNumOccurrences())
    Before.Threads = Threads;
  for (const std::string &File : Before.Profiles) {
    Expected<Profile> Read = readProfile(File);
    if (!Read) {
      handleAllErrors(Read.takeError(), [&](const ProfileError &E) {
        messageFor(File, E.Text + (Profiles.empty() ? "; the plan names it" : ""), E.Code);
      });
      return false;
    }
    Files.push_back({File, std::move(*Read)});
  }
  if (Before.Thresholds.empty())
    return true;
  Expected<Thresholds> Read = Thresholds::read(Before.Thresholds);
  if (Read) {
    Limits = std::move(*Read);
    return true;
  }
  reportYaml(Read.takeError(), "thresholds-file");
  return false;
}

// What the text of the sections says of their data, where no counter has measured it.
void addSharedLines(const Decision &Decided, Costs &Measured) {
  for (const CheckedClass &Class : Decided.Classes)
    if (auto Cost = Measured.Classes.find(Class.Class.Name);
        Cost != Measured.Classes.end() && Class.Shared)
      Cost->second.SharedLines = Class.Shared->PerSection;
}

// The profile in which locks cost most; null: none has times.
const ProfileFile *costliest(const Costs &Measured) {
  const ProfileFile *Most = nullptr;
  double MostShare = -1;
  for (const ProfileFile &File : Measured.Files) {
    double Busy = double(std::max<uint64_t>(File.Run.busyTime().Least, 1));
    double Share = double(File.Run.SectionTime) / Busy;
    if (File.timed() && Share > MostShare) {
      Most = &File;
      MostShare = Share;
    }
  }
  return Most;
}

// What the sources say of a class: one that is kept counts as if it could be delegated, since the
// question is what stands in the way of.
LoadFacts factsOf(const ProfileClasses &Classes, const Profile &P, const ProfiledClass &Profiled) {
  LoadFacts Facts;
  const CheckedClass *Class = Classes.find(P, Profiled).Class;
  if (!Class)
    return Facts;
  Facts.Name = Class->Class.Name;
  Facts.Delegated = Class->converts() ? delegatedPart(*Class, Profiled) : 1;
  if (Class->Shared && Class->Shared->Known)
    Facts.SharedLines = Class->Shared->PerSection;
  return Facts;
}

// Predicts each class on the machine that is asked for. Null: a message says why not, and whether
// that is a failure.
std::unique_ptr<Predictor> predict(const Plan &Asked, const Costs &Measured,
                                   const ProfileClasses &Classes, MachineSimulator &Simulator,
                                   bool &Failed) {
  const ProfileFile *File = costliest(Measured);
  std::optional<ProgramLoad> Load;
  if (File)
    Load = makeLoad(File->Run, Simulator.movedLine(),
                    [&](const ProfiledClass &Class) { return factsOf(Classes, File->Run, Class); });
  if (!Load) {
    message("nothing is predicted: no profile has threads with times that take a mutex",
            "prediction-failed");
    Failed = false; // there is nothing to predict
    return nullptr;
  }
  auto Made = std::make_unique<Predictor>(
      std::move(*Load), Simulator.machine(), Simulator.processors(), Asked.Threads,
      [&](StringRef Text, ArrayRef<std::string> Choices, SimulatedMachine Where) {
        return Simulator.run(Text, Choices, Where);
      });
  if (Error Broken = Made->predictClasses()) {
    message("the prediction failed: " + toString(std::move(Broken)), "prediction-failed");
    return nullptr;
  }
  return Made;
}

// The statistics of --update; false: a message was printed.
bool readStatistics(std::vector<ProfileFile> &Files) {
  if (Profiles.empty()) {
    message("--update needs what librelock counted: run the converted program with "
            "RELOCK_STATS=FILE, and name the file",
            "usage");
    return false;
  }
  for (const std::string &File : Profiles) {
    Expected<Profile> Read = readProfile(File);
    if (!Read) {
      handleAllErrors(Read.takeError(),
                      [&](const ProfileError &E) { messageFor(File, E.Text, E.Code); });
      return false;
    }
    if (!hasRuntime(*Read)) {
      messageFor(File,
                 "has no locks of librelock, so it is of no converted program; a profile of the "
                 "program as it was goes without --update",
                 "update-counts");
      return false;
    }
    Files.push_back({File, std::move(*Read)});
  }
  return true;
}

int update() {
  if (!Builds.empty() || Machine.getNumOccurrences() || Threads.getNumOccurrences() ||
      RuleOption.getNumOccurrences()) {
    message("--update goes with statistics, --thresholds and -o only: it reads no sources and "
            "predicts nothing",
            "usage");
    return BadUsage;
  }
  std::vector<ProfileFile> Files;
  std::optional<Plan> Before = loadPlan(Update);
  if (!Before || !readStatistics(Files))
    return BadUsage;
  Thresholds Limits;
  const std::string LimitFile =
      ThresholdFile.getNumOccurrences() ? ThresholdFile.getValue() : Before->Thresholds;
  if (!LimitFile.empty()) {
    Expected<Thresholds> Read = Thresholds::read(LimitFile);
    if (!Read)
      return reportYaml(Read.takeError(), "thresholds-file"), BadUsage;
    Limits = std::move(*Read);
  }
  const PlanUpdate Updated = updatePlan(*Before, Files, Limits);
  if (int Status = write(Updated.Next, Output.empty() ? Update.getValue() : Output.getValue()))
    return Status;
  for (const std::string &Text : Updated.Revised)
    errs() << "relock: " << printable(Text) << "\n";
  for (const ProfileFinding &Found : Updated.Findings)
    message(Found.Text, Found.Code);
  errs() << "relock: " << counted(Updated.Next.Classes.size(), "lock class", "lock classes")
         << " in the plan: " << Updated.Measured << " in the statistics, " << Updated.Revised.size()
         << " revised\n";
  if (!Updated.Setting.empty())
    errs() << "relock: try it with RELOCK_LOCKS=" << shellWord(Updated.Setting)
           << " and the same binary; to keep it, edit relock_locks.h\n";
  return Updated.Findings.empty() ? Done : LookAtThis;
}

int run() {
  if (Update.getNumOccurrences())
    return update();
  if (FindThresholds && Profiles.empty() && Builds.empty() && Output.empty())
    return findThresholds(Threads);
  if (FindThresholds) {
    message("--find-thresholds measures this machine, with --threads or without; it goes with "
            "nothing else",
            "usage");
    return BadUsage;
  }
  if (!completeBuilds(Builds))
    return BadUsage;
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
  std::vector<ProfileFile> Files;
  Thresholds Limits;
  if (!readSources(Before, Files, Limits))
    return BadUsage;
  if (Before.Machine.empty() && (Threads.getNumOccurrences() || RuleOption.getNumOccurrences())) {
    message("--threads and --rule are for a prediction, which needs --machine", "usage");
    return BadUsage;
  }
  if (Before.Threads > MostThreads) {
    message("--threads: at most " + std::to_string(MostThreads) + " can be simulated", "usage");
    return BadUsage;
  }
  std::unique_ptr<MachineSimulator> Simulator;
  if (!Before.Machine.empty() && !Files.empty()) {
    Simulator = MachineSimulator::open(Before.Machine, Jobs);
    if (!Simulator)
      return BadUsage;
  }
  std::optional<IndexResult> Index = readProgram(Builds, Jobs);
  if (!Index)
    return BadUsage;
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
  Wanted.SharedLines = !Files.empty();
  Decision Decided = decide(*Index, *Declared, Jobs, AcceptUncovered, Wanted);
  rememberClasses(Builds, Decided);
  reportUnmatched(Decided);
  reportCuts(*Index, Decided);
  auto IsConverted = [&](StringRef Name) { return isConverted(*Index, Name); };
  std::optional<Costs> Measured;
  Hints Besides;
  std::unique_ptr<Predictor> Foretold;
  if (!Files.empty()) {
    Program Linked(*Index, AcceptUncovered, *Declared);
    ProfileClasses Classes(Index->Units, Linked, Decided, IsConverted);
    Measured = addCosts(std::move(Files), [&](const Profile &P, const ProfiledClass &Class) {
      return Classes.find(P, Class);
    });
    addSharedLines(Decided, *Measured);
    Besides = findHints(Linked, Decided, *Measured, Classes, Limits);
    if (Simulator) {
      bool Failed = true;
      Foretold = predict(Before, *Measured, Classes, *Simulator, Failed);
      if (!Foretold && Failed)
        return BadUsage;
    }
  }
  Advice Given = advise(Decided, Before, Measured ? &*Measured : nullptr, Besides, Limits,
                        Foretold.get(), RuleOption, Index->Root, IsConverted);
  int Status = write(Given.Next, Output);
  if (Status != Done)
    return Status;
  for (const PlanChange &Change : Given.Changes)
    message(Change.At, Change.Text, Change.Code);
  for (const ProfileFinding &Found : Given.Findings)
    message(Found.Text, Found.Code);
  errs() << "relock: " << counted(Given.Next.Classes.size(), "lock class", "lock classes")
         << " in the plan: " << Given.Converted << " convert, " << Given.Kept << " keep; "
         << Given.Yours << " of the entries are yours\n";
  bool Look = any_of(Given.Findings, [](const ProfileFinding &Found) { return Found.LookAtThis; });
  return statusWith(*Index, Given.Changes.empty() && !Look ? Done : LookAtThis);
}

} // namespace

Subcommand adviseSubcommand() { return {Command, run, MoreHelp}; }

} // namespace relock
