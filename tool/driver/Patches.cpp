// SPDX-License-Identifier: MIT
//
// relock patches: lists and runs the semantic patches. What a patch has neither reported nor
// changed is a message, and nothing is written then, unless the patch stands for itself in each
// function (it has both modes).
#include "driver/Subcommand.h"

#include "driver/Options.h"
#include "driver/Undo.h"
#include "rewrite/Diff.h"
#include "rewrite/SemanticPatch.h"
#include "support/Messages.h"
#include "support/Transaction.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace relock {

static cl::SubCommand Command("patches", "list and run the semantic patches (needs spatch)");
static cl::opt<std::string> Wanted(cl::Positional, cl::desc("[PATCH"), cl::sub(Command),
                                   cl::cat(options()));
static cl::list<std::string> Paths(cl::Positional, cl::desc("FILE|FOLDER...]"), cl::sub(Command),
                                   cl::cat(options()));
static cl::opt<bool> InPlace("in-place", cl::desc("edit the files instead of printing a diff"),
                             cl::sub(Command), cl::cat(options()));
static cl::opt<bool> Report("report", cl::desc("list the places instead of what to change there"),
                            cl::sub(Command), cl::cat(options()));
static cl::opt<unsigned> Jobs("j", cl::desc("files at a time (default: one per core)"),
                              cl::value_desc("N"), cl::Prefix, cl::init(0), cl::sub(Command),
                              cl::cat(options()));

static const char *const MoreHelp = R"help(
EXAMPLES:

  relock patches                              # the list of the patches
  relock patches prepare/scoped-locks src      # prints a diff
  relock patches prepare/scoped-locks src --in-place

EXIT STATUS:

  0  nothing was found, or everything that was is in the diff or changed
  1  there are places to look at, or to change by hand
  2  wrong usage, no spatch, or a file that cannot be read or written
)help";

namespace {

int report(const SemanticPatch &P, ArrayRef<PatchedFile> Files) {
  size_t Reports = 0;
  for (const PatchedFile &Each : Files)
    for (const PatchPlace &Place : Each.Result.Reports) {
      ++Reports;
      outs() << Each.File << ":" << Place.Line << ":" << Place.Column << ": " << Place.Text << "\n";
    }
  return reportNotUnderstood(P, Files) + Reports ? LookAtThis : Done;
}

int change(const SemanticPatch &P, ArrayRef<PatchedFile> Files) {
  std::vector<FileChange> Changes;
  for (const PatchedFile &Each : Files) {
    if (!InPlace)
      printDiff(outs(), shownPath(Each.File), Each.Text, Each.Result.Edits, false);
    SmallString<128> Absolute(Each.File);
    sys::fs::make_absolute(Absolute);
    if (!Each.Result.Edits.empty())
      Changes.push_back({std::string(Absolute), Each.Text, Each.Result.After});
  }
  size_t Left = reportNotUnderstood(P, Files);
  if (!InPlace || (Left && !P.reports())) {
    if (InPlace)
      errs() << "relock: nothing was written; change these places by hand (" << Left
             << "), and run the patch again for the rest\n";
    return Left ? LookAtThis : Done;
  }
  if (Error Failed = changeFiles(Changes, transactionFolder(Paths.front()))) {
    reportError(std::move(Failed), "cannot-write");
    return BadUsage;
  }
  return Left ? LookAtThis : Done;
}

int list() {
  size_t Width = 0;
  for (const SemanticPatch &P : semanticPatches())
    Width = std::max(Width, P.Name.size());
  for (const SemanticPatch &P : semanticPatches())
    outs() << left_justify(P.Name, Width) << "  " << (P.changes() ? "patch   " : "report  ")
           << left_justify(P.head("Confidence"), 9) << P.summary() << "\n";
  return Done;
}

int run() {
  if (Wanted.empty())
    return list();
  const SemanticPatch *Found = findPatch(Wanted);
  if (!Found) {
    message("no patch '" + Wanted + "'; `relock patches` lists them", "unknown-patch");
    return BadUsage;
  }
  std::string Wrong;
  if (Paths.empty())
    Wrong = "give the files or folders to run '" + Wanted + "' on";
  else if (InPlace && (Report || !Found->changes()))
    Wrong = Report ? "--report changes nothing: leave --in-place out"
                   : "'" + Wanted + "' reports, and changes nothing";
  else if (Report && !Found->reports())
    Wrong = "'" + Wanted + "' has no mode `report`: it prints what it would change";
  if (!Wrong.empty()) {
    message(Wrong, "usage");
    return BadUsage;
  }
  std::optional<std::string> Spatch = findSpatch();
  if (!Spatch)
    return BadUsage;
  if (!checkFinished(Paths))
    return BadUsage;
  Expected<std::vector<std::string>> Files = filesIn(Paths, isCFile);
  if (!Files) {
    message(toString(Files.takeError()), "cannot-read");
    return BadUsage;
  }
  std::optional<std::vector<PatchedFile>> Patched = runPatch(*Found, *Spatch, *Files, Jobs);
  if (!Patched)
    return BadUsage;
  bool Reports = Report || !Found->changes();
  return Reports ? report(*Found, *Patched) : change(*Found, *Patched);
}

} // namespace

Subcommand patchesSubcommand() { return {Command, run, MoreHelp}; }

} // namespace relock
