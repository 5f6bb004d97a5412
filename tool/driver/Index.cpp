// SPDX-License-Identifier: MIT
//
// relock index: collects the facts of each translation unit, or writes a build file that does.
#include "driver/Subcommand.h"

#include "driver/BuildOption.h"
#include "driver/Options.h"
#include "driver/ProjectOption.h"
#include "driver/ReadProgram.h"
#include "index/FactsFile.h"
#include "index/Index.h"
#include "index/NinjaFile.h"
#include "index/Serialize.h"
#include "support/Messages.h"
#include "support/Output.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace relock {

static cl::SubCommand Command("index", "collect the facts of each translation unit of a build");
static cl::list<std::string> Builds("p", cl::desc(BuildHelp), cl::value_desc("BUILD"), cl::Prefix,
                                    cl::sub(Command), cl::cat(options()));
static cl::opt<unsigned> Jobs("j", cl::desc(JobsHelp), cl::value_desc("N"), cl::Prefix, cl::init(0),
                              cl::sub(Command), cl::cat(options()));
static cl::opt<std::string>
    Ninja("ninja",
          cl::desc("write a build file instead, with one step per translation unit, that any "
                   "executor of Ninja's files can run"),
          cl::value_desc("FILE"), cl::sub(Command), cl::cat(options()));
static cl::opt<unsigned>
    Parts("parts",
          cl::desc("--ninja: N steps more, behind the others, that look for the sections of a part "
                   "of the units each, for `relock check` and the like to find"),
          cl::value_desc("N"), cl::init(0), cl::sub(Command), cl::cat(options()));
static cl::opt<std::string>
    Sections("sections",
             cl::desc("such a step: also look for the sections of part K of N, and keep them"),
             cl::value_desc("K/N"), cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> Project("project", cl::desc(ProjectHelp), cl::value_desc("FILE"),
                                    cl::sub(Command), cl::cat(options()));
static cl::opt<std::string>
    Unit("unit",
         cl::desc("such a step: keep the facts of one translation unit in this file, and what it "
                  "was read from in FILE.d"),
         cl::value_desc("FILE"), cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> Directory("directory", cl::desc("--unit: where the compiler runs"),
                                      cl::value_desc("DIR"), cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> Source("source", cl::desc("--unit: the C file"), cl::value_desc("FILE"),
                                   cl::sub(Command), cl::cat(options()));
static cl::opt<std::string> Show("show",
                                 cl::desc("print such a file of facts, whatever it was read from, "
                                          "as JSON (tool/index/Records.h)"),
                                 cl::value_desc("FILE"), cl::sub(Command), cl::cat(options()));
static cl::list<std::string> Compiler(cl::Positional, cl::desc("[-- COMPILER ARGUMENTS]"),
                                      cl::sub(Command));

static const char *const MoreHelp = R"help(
EXAMPLES:

  relock index                      # other subcommands do so where it is needed
  relock index --ninja facts.ninja  # then: ninja -k 0 -f facts.ninja
  relock index --ninja all.ninja --parts 8

EXIT STATUS:

  0  the facts of all translation units are kept
  1  translation units have errors; what they may use is known
  2  wrong usage, no compile database, or a translation unit of which nothing is
     known
)help";

static std::string absolutePath(StringRef Path) {
  SmallString<256> Result(Path);
  sys::fs::make_absolute(Result);
  return std::string(Result);
}

static int cannotWrite(StringRef File, StringRef Why) {
  messageFor(absolutePath(File), Why, "cannot-write");
  return BadUsage;
}

static int readUnit() {
  UnitPlace Place;
  Place.Facts = absolutePath(Unit);
  Place.Command.Directory = Directory;
  Place.Command.Filename = Source;
  Place.Command.CommandLine = Compiler;
  UnitFacts Facts;
  switch (indexUnit(Place, Facts)) {
  case UnitOutcome::Kept:
    break;
  case UnitOutcome::NotKept:
    return cannotWrite(Unit, "the facts cannot be written here");
  case UnitOutcome::Stale:
  case UnitOutcome::Broken:
  case UnitOutcome::Unparsed:
    return BadUsage;
  }
  std::string Rule = Unit + ".d";
  if (Error Failed =
          writeAtomically(Rule, [&](raw_ostream &OS) { OS << dependencyRule(Unit, Facts); }))
    return cannotWrite(Rule, toString(std::move(Failed)));
  return Done;
}

static int writeNinja() {
  std::vector<UnitPlace> NotC;
  Expected<std::vector<UnitPlace>> Units = unitsOf(Builds, NotC);
  if (!Units) {
    message(toString(Units.takeError()), "no-database");
    return BadUsage;
  }
  std::string Tool = sys::fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&writeNinja));
  std::vector<std::string> Folders;
  for (const std::string &Build : Builds)
    Folders.push_back(absolutePath(Build));
  SectionSteps Then = {Folders,
                       Project.getNumOccurrences()
                           ? std::optional(Project.empty() ? "" : absolutePath(Project))
                           : std::nullopt,
                       Parts};
  if (Error Failed =
          writeAtomically(Ninja, [&](raw_ostream &OS) { OS << ninjaFile(*Units, Tool, Then); }))
    return cannotWrite(Ninja, toString(std::move(Failed)));
  outs() << Units->size() << " translation units in " << shownPath(absolutePath(Ninja))
         << "; run `ninja -k 0 -f " << Ninja << "`\n";
  return Done;
}

// `2/8`
static std::optional<Part> partOf(StringRef Text) {
  Part Result;
  auto [Number, Count] = Text.split('/');
  if (Number.getAsInteger(10, Result.Number) || Count.getAsInteger(10, Result.Count) ||
      Result.Number == 0 || Result.Number > Result.Count)
    return std::nullopt;
  return Result;
}

static bool lookThrough(const IndexResult &Index) {
  for (const std::string &Build : Builds)
    if (Error Failed = checkWritable(cacheFolder(Build) + "/sections")) {
      cannotWrite(cacheFolder(Build), "the sections cannot be kept here (" +
                                          toString(std::move(Failed)) +
                                          "); make the folder writable");
      return false;
    }
  std::optional<ProjectFile> Declared = loadProject(Project, Builds, Index);
  if (!Declared)
    return false;
  size_t Units = keepSections(Index, *Declared, Jobs, *partOf(Sections));
  outs() << "sections of " << Units << (Units == 1 ? " translation unit" : " translation units")
         << ", part " << Sections << "\n";
  return true;
}

static int readAll() {
  std::optional<IndexResult> Index = readProgram(Builds, Jobs);
  if (!Index)
    return BadUsage;
  outs() << Index->Commands.size() << " translation units, " << Index->Refreshed
         << " of them read anew, " << Index->Unparsed.size() + Index->Broken << " with errors\n";
  if (!Index->CacheWritable)
    return cannotWrite(Builds.front() + "/.relock",
                       "the facts cannot be kept here; make the folder writable, or every command "
                       "reads all sources anew");
  if (!Sections.empty() && !lookThrough(*Index))
    return BadUsage;
  return statusWith(*Index, Done);
}

static int showFacts() {
  auto File = MemoryBuffer::getFile(Show, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!File) {
    messageFor(absolutePath(Show), File.getError().message(), "cannot-read");
    return BadUsage;
  }
  StringRef Text = (*File)->getBuffer();
  std::optional<std::string> Bytes = unpackBytes(Text, originOf(Text));
  SharedPools Shared;
  std::optional<UnitFacts> Facts = Bytes ? decodeFacts(*Bytes, Shared) : std::nullopt;
  if (!Facts) {
    messageFor(absolutePath(Show), "has no facts that this relock can read", "cannot-read");
    return BadUsage;
  }
  printFacts(outs(), *Facts);
  return flushOutput() ? Done : BadUsage;
}

static int run() {
  if (!Show.empty())
    return showFacts();
  bool ForUnit = !Directory.empty() || !Source.empty() || !Compiler.empty();
  if (!Unit.empty() ? Directory.empty() || Source.empty() || Compiler.empty() || !Builds.empty()
                    : ForUnit) {
    message("say what to index: -p BUILD, with or without --ninja FILE; or --unit FILE "
            "--directory DIR --source FILE -- COMPILER ARGUMENTS",
            "usage");
    return BadUsage;
  }
  if (!Unit.empty())
    return readUnit();
  if (!Sections.empty() && !partOf(Sections)) {
    message("--sections " + Sections + ": which part of how many, such as 2/8", "usage");
    return BadUsage;
  }
  if ((!Sections.empty() && !Ninja.empty()) || (Parts && Ninja.empty())) {
    message("--parts goes with --ninja, and --sections without", "usage");
    return BadUsage;
  }
  if (!completeBuilds(Builds))
    return BadUsage;
  return Ninja.empty() ? readAll() : writeNinja();
}

Subcommand indexSubcommand() { return {Command, run, MoreHelp}; }

} // namespace relock
