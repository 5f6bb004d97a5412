// SPDX-License-Identifier: MIT
//
// relock report: shows a profile, several added up, or two side by side.
#include "driver/BuildOption.h"
#include "driver/Options.h"
#include "driver/ProjectOption.h"
#include "driver/ReportVerdicts.h"
#include "driver/Subcommand.h"
#include "profile/Compare.h"
#include "profile/Export.h"
#include "profile/Headline.h"
#include "profile/Html.h"
#include "profile/Merge.h"
#include "profile/Profile.h"
#include "profile/Table.h"
#include "profile/Text.h"
#include "support/Messages.h"
#include "support/Output.h"

#include "llvm/Support/raw_ostream.h"

#include <functional>

using namespace llvm;

namespace relock {

namespace {

cl::OptionCategory Category("Relock");
cl::SubCommand Command("report", "show which locks of a profile hurt");
cl::list<std::string> Files(cl::Positional, cl::OneOrMore,
                            cl::desc("FILE... (several: runs of one program, which are added up)"),
                            cl::sub(Command), cl::cat(Category));
cl::opt<bool> Diff("diff", cl::desc("compare two profiles, FILE before and FILE after a change"),
                   cl::sub(Command), cl::cat(Category));
cl::opt<bool> Explain("explain", cl::desc("explain the columns"), cl::sub(Command),
                      cl::cat(Category));
cl::opt<bool> Json("json", cl::desc("print the profile, the sum, or the comparison, as JSON"),
                   cl::sub(Command), cl::cat(Category));
cl::opt<unsigned> Limit("limit", cl::init(20), cl::value_desc("N"),
                        cl::desc("show the N costliest lock classes (default 20; 0: all)"),
                        cl::sub(Command), cl::cat(Category));

cl::opt<unsigned> Threads("threads", cl::init(0), cl::value_desc("N"),
                          cl::desc("show N threads that waited longest, and for whom (default 0)"),
                          cl::sub(Command), cl::cat(Category));

cl::opt<unsigned> Sites("sites", cl::init(3), cl::value_desc("N"),
                        cl::desc("show the N costliest call sites of the N costliest lock classes "
                                 "(default 3; 0: none)"),
                        cl::sub(Command), cl::cat(Category));

cl::opt<std::string>
    HtmlFile("html", cl::value_desc("FILE"),
             cl::desc("write the report, or the comparison, as one HTML file, for a browser"),
             cl::sub(Command), cl::cat(Category));
cl::opt<std::string> FoldedFile("folded", cl::value_desc("FILE"),
                                cl::desc("write the waiting as folded stacks, for flame graphs"),
                                cl::sub(Command), cl::cat(Category));
cl::opt<std::string> PprofFile("pprof", cl::value_desc("FILE"),
                               cl::desc("write a profile for pprof, like Go's mutex profiles"),
                               cl::sub(Command), cl::cat(Category));
cl::opt<std::string> TraceFile("trace", cl::value_desc("FILE"),
                               cl::desc("write each wait with its time, for Perfetto and "
                                        "about:tracing"),
                               cl::sub(Command), cl::cat(Category));
cl::list<std::string>
    Builds("p", cl::value_desc("BUILD"),
           cl::desc("show for each lock class which one of the sources it is, and "
                    "how many cache lines its sections share, estimated from the "
                    "source; in --html also whether it can be converted, as "
                    "`relock check -p BUILD` says it"),
           cl::Prefix, cl::sub(Command), cl::cat(Category));
cl::opt<std::string> Project("project", cl::desc(ProjectHelp), cl::value_desc("FILE"),
                             cl::sub(Command), cl::cat(Category));
cl::opt<unsigned> Jobs("j", cl::desc(JobsHelp), cl::value_desc("N"), cl::Prefix, cl::init(0),
                       cl::sub(Command), cl::cat(Category));

const char *const MoreHelp = R"help(
EXAMPLES:

  relock report server.profile
  relock report --diff before.profile after.profile
  relock report server.profile --html server.html -p build

EXIT STATUS:

  0  the report is written
  2  wrong usage, a file that is no profile, or output that cannot be written
)help";

// None: a message was printed. Document: of the last one.
std::optional<std::vector<Profile>> readAll(json::Value &Document) {
  std::vector<Profile> Read;
  for (const std::string &File : Files) {
    Expected<Profile> P = readProfile(File, &Document);
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

bool writesFilesForViewers() {
  return !FoldedFile.empty() || !PprofFile.empty() || !TraceFile.empty();
}

bool writesFiles() { return !HtmlFile.empty() || writesFilesForViewers(); }

bool rightUsage() {
  if (Diff && Files.size() != 2)
    message("--diff takes two profiles, one from before and one from after the change", "usage");
  else if (Diff && writesFilesForViewers())
    message("--folded, --pprof and --trace show one profile, or several added up; they do not go "
            "with --diff",
            "usage");
  else if (Diff && !Builds.empty())
    message("-p shows one profile, or several added up; it does not go with --diff", "usage");
  else
    return true;
  return false;
}

// The file as it was, since it may have more than Profile knows; or the sum of several.
json::Value documentOf(const Profile &P, json::Value Document) {
  if (Files.size() == 1)
    return Document;
  std::string Text;
  raw_string_ostream OS(Text);
  writeProfile(P, OS);
  return cantFail(json::parse(Text));
}

struct ReportFile {
  std::string Name;
  std::function<void(raw_ostream &)> Write;
};

void failedToWrite(StringRef File, Error Failed) {
  messageFor(File, "cannot be written: " + toString(std::move(Failed)), "cannot-write");
}

// What would fail comes before any of them is written.
std::optional<std::vector<ReportFile>> reportFiles(const json::Value &Document, const Profile &P,
                                                   const HeadlineSources &Sources) {
  const json::Object &Root = *Document.getAsObject();
  std::vector<ReportFile> Result;
  if (!HtmlFile.empty())
    Result.push_back({HtmlFile, [&](raw_ostream &OS) { writeHtml(Document, P, Sources, OS); }});
  if (!FoldedFile.empty())
    Result.push_back({FoldedFile, [&](raw_ostream &OS) { writeFolded(Root, OS); }});
  if (!PprofFile.empty())
    Result.push_back({PprofFile, [&](raw_ostream &OS) { writePprof(Root, OS); }});
  if (!TraceFile.empty() && !hasTimeline(Root)) {
    messageFor(Files.front(),
               Files.size() > 1 ? "has, like the others, only the sums of its waits, not each with "
                                  "its time"
                                : "has only the sums of its waits, not each with its time",
               "report-no-timeline");
    return std::nullopt;
  }
  if (!TraceFile.empty())
    Result.push_back({TraceFile, [&](raw_ostream &OS) { writeTrace(Root, OS); }});
  return Result;
}

bool canWriteFiles() {
  for (StringRef File :
       {StringRef(HtmlFile), StringRef(FoldedFile), StringRef(PprofFile), StringRef(TraceFile)})
    if (Error Failed = File.empty() ? Error::success() : checkWritable(File)) {
      failedToWrite(File, std::move(Failed));
      return false;
    }
  return true;
}

int writeReports(const json::Value &Document, const Profile &P, const HeadlineSources &Sources) {
  std::optional<std::vector<ReportFile>> Reports = reportFiles(Document, P, Sources);
  if (!Reports)
    return BadUsage;
  for (const ReportFile &Report : *Reports)
    if (Error Failed = writeAtomically(Report.Name, Report.Write)) {
      failedToWrite(Report.Name, std::move(Failed));
      return BadUsage;
    }
  return Done;
}

// Without -p the command that comes next names the sources that another subcommand would find.
HeadlineSources headlineSources(const json::Value &Verdicts) {
  HeadlineSources Sources;
  Sources.Files.assign(Files.begin(), Files.end());
  Sources.Builds.assign(Builds.begin(), Builds.end());
  if (!Builds.empty())
    Sources.Verdicts = &Verdicts;
  else if (std::optional<std::string> Found = findBuild())
    Sources.Builds.push_back(shownPath(*Found));
  Sources.Project = Project;
  return Sources;
}

int finishOutput() { return flushOutput() ? Done : BadUsage; }

int compare(Profile &Before, Profile &After) {
  if (!canWriteFiles())
    return BadUsage;
  if (!HtmlFile.empty()) {
    auto Write = [&](raw_ostream &OS) { writeComparisonHtml(Before, After, OS); };
    if (Error Failed = writeAtomically(HtmlFile, Write)) {
      failedToWrite(HtmlFile, std::move(Failed));
      return BadUsage;
    }
    if (!Json)
      return Done;
  }
  if (Json) {
    writeComparison(Before, After, outs());
    return finishOutput();
  }
  makePrintable(Before);
  makePrintable(After);
  printComparison(Before, After, {Explain, Limit}, outs());
  return finishOutput();
}

int run() {
  if (!rightUsage() || (!Builds.empty() && !completeBuilds(Builds)))
    return BadUsage;
  json::Value Document = nullptr;
  std::optional<std::vector<Profile>> Read = readAll(Document);
  if (!Read)
    return BadUsage;
  if (Diff)
    return compare((*Read)[0], (*Read)[1]);
  if (!canMerge(*Read))
    return BadUsage;
  Profile P = mergeProfiles(std::move(*Read));
  if (!canWriteFiles())
    return BadUsage;
  std::optional<json::Value> Verdicts(nullptr);
  if (!Builds.empty() && !(Verdicts = checkProfile(P, Builds, Project, Jobs)))
    return BadUsage;
  HeadlineSources Sources = headlineSources(*Verdicts);
  if (writesFiles()) {
    Document = documentOf(P, std::move(Document));
    int Status = writeReports(Document, P, Sources);
    if (Status != Done || !Json)
      return Status;
  }
  if (Json) {
    writeProfile(P, outs(), Builds.empty() ? nullptr : &Sources);
  } else {
    makePrintable(P);
    printHeadline(headlineOf(P, &Sources), outs());
    printTable(P, {Explain, Limit, Threads, Sites}, outs());
  }
  return finishOutput();
}

} // namespace

Subcommand reportSubcommand() { return {Command, run, MoreHelp}; }

} // namespace relock
