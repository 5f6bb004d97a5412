// SPDX-License-Identifier: MIT
#include "rewrite/SemanticPatch.h"

#include "rewrite/Diff.h"
#include "rewrite/Unseen.h"
#include "support/Messages.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/ThreadPool.h"

#include <map>
#include <set>

using namespace llvm;

namespace relock {

static const SemanticPatch Patches[] = {
#include "Patches.inc"
};

ArrayRef<SemanticPatch> semanticPatches() { return Patches; }

const SemanticPatch *findPatch(StringRef Name) {
  const SemanticPatch *Found = find_if(Patches, [&](const auto &P) { return P.Name == Name; });
  return Found == std::end(Patches) ? nullptr : Found;
}

StringRef SemanticPatch::head(StringRef Key) const {
  for (StringRef Line : split(Text, '\n'))
    if (Line.consume_front("// ") && Line.consume_front(Key) && Line.consume_front(":"))
      return Line.trim();
  return "";
}

bool SemanticPatch::reports() const { return Text.contains("\nvirtual report\n"); }
bool SemanticPatch::changes() const { return Text.contains("\nvirtual patch\n"); }

std::string SemanticPatch::summary() const {
  std::string All;
  for (StringRef Line : split(Text, '\n'))
    if (Line.consume_front("///"))
      All += (Line.trim() + " ").str();
  return StringRef(All).split(". ").first.split(": ").first.rtrim(" .").str();
}

namespace {

// A file that goes with the run.
class Temporary {
public:
  explicit Temporary(StringRef Suffix) {
    Failed = sys::fs::createTemporaryFile("relock", Suffix, Path);
  }
  ~Temporary() { sys::fs::remove(Path); }
  Temporary(const Temporary &) = delete;
  Temporary &operator=(const Temporary &) = delete;

  StringRef path() const { return Path; }
  std::string read() {
    ErrorOr<std::unique_ptr<MemoryBuffer>> Buffer = MemoryBuffer::getFile(Path);
    if (Buffer)
      return (*Buffer)->getBuffer().str();
    Failed = Buffer.getError();
    return "";
  }
  void write(StringRef Text) {
    if (Failed)
      return;
    raw_fd_ostream OS(Path, Failed);
    OS << Text;
    OS.flush();
    Failed = Failed ? Failed : OS.error();
    OS.clear_error();
  }
  std::optional<PatchFailure> failure() const {
    if (!Failed)
      return std::nullopt;
    return PatchFailure{std::string(Path), "a temporary file: " + Failed.message(), "cannot-write"};
  }

private:
  SmallString<128> Path;
  std::error_code Failed;
};

// What one run of spatch gives.
struct Round {
  std::optional<PatchFailure> Failure;
  std::string After;
  std::vector<PatchPlace> Reports;
  std::set<std::pair<unsigned, unsigned>> Seen; // reported, or harmless
};

void readReports(StringRef Output, StringRef Path, Round &Result) {
  for (StringRef Line : split(Output, '\n')) {
    bool Harmless = Line.consume_front("seen ");
    unsigned Row, Column;
    if (!Line.consume_front(Path) || !Line.consume_front(":") || Line.consumeInteger(10, Row) ||
        !Line.consume_front(":") || Line.consumeInteger(10, Column))
      continue;
    if (Result.Seen.insert({Row, Column}).second && !Harmless)
      Result.Reports.push_back({Row, Column, Line.ltrim(": ").str()});
  }
}

// The interpreter that a distribution installs beside spatch, which loads its library and modules.
// By itself it asks the first python3 of PATH where these are, and ends with a failed assertion
// where they are another Python's than the library that it was built for.
std::string pythonOf(StringRef Spatch) {
  SmallString<128> Python = sys::path::parent_path(Spatch);
  sys::path::append(Python, "python3");
  return Python.str().str();
}

Round spatch(const SemanticPatch &P, bool Report, StringRef Spatch, StringRef File,
             StringRef Text) {
  Round Result;
  Temporary Rules("cocci"), Source("c"), Output("out"), Errors("err");
  Rules.write(P.Text);
  Source.write(Text);
  for (const Temporary *Made : {&Rules, &Source, &Output, &Errors})
    if ((Result.Failure = Made->failure()))
      return Result;
  SmallVector<StringRef, 16> Arguments = {
      Spatch,           "--very-quiet", "--no-includes", "--max-width", "200",
      "--smpl-spacing", "--sp-file",    Rules.path(),    "-D",          Report ? "report" : "patch",
      Source.path()};
  const std::string Python = pythonOf(Spatch);
  if (sys::fs::can_execute(Python))
    Arguments.append({"--python", Python});
  if (!Report)
    Arguments.push_back("--in-place");
  std::string Message;
  std::optional<StringRef> Redirects[] = {StringRef(""), Output.path(), Errors.path()};
  if (sys::ExecuteAndWait(Spatch, Arguments, std::nullopt, Redirects, 0, 0, &Message) != 0) {
    Result.Failure = {File.str(), "spatch failed: " + (Message.empty() ? Errors.read() : Message),
                      "spatch"};
    return Result;
  }
  Result.After = Source.read();
  readReports(Output.read(), Source.path(), Result);
  for (const Temporary *Read : {&Source, &Output})
    if ((Result.Failure = Read->failure()))
      return Result;
  if (Result.After.empty() && !Text.empty())
    Result.Failure = {File.str(), "spatch failed: its result is empty", "spatch"};
  return Result;
}

// The line of the old text in which a line of the new one stands. Lines that an edit has changed
// are counted from its first one.
unsigned oldLine(StringRef Before, ArrayRef<TextEdit> Edits, unsigned New) {
  int Added = 0; // new lines minus old ones, before New
  for (const TextEdit &E : Edits) {
    int First = Before.take_front(E.At.Begin).count('\n') + 1;
    int Old = Before.slice(E.At.Begin, E.At.End).count('\n'), Lines = StringRef(E.Text).count('\n');
    int At = int(New) - Added - First; // in the edit
    if (At < 0)
      break;
    if (At < Lines)
      return First + std::min(At, std::max(Old - 1, 0));
    Added += Lines - Old;
  }
  return int(New) - Added;
}

} // namespace

std::optional<std::string> findSpatch() {
  ErrorOr<std::string> Found = sys::findProgramByName("spatch");
  if (!Found) {
    message("spatch was not found: install Coccinelle (Debian: apt-get install coccinelle)",
            "spatch");
    return std::nullopt;
  }
  // Coccinelle ends with an exception where HOME is not set.
  if (!getenv("HOME"))
    setenv("HOME", "/", 0);
  return *Found;
}

// Coccinelle ends the lines that it writes with a newline alone.
static std::string replaceAll(StringRef Text, StringRef From, StringRef To) {
  std::string Result;
  for (size_t At; (At = Text.find(From)) != StringRef::npos;) {
    Result += Text.take_front(At);
    Result += To;
    Text = Text.drop_front(At + From.size());
  }
  return Result + Text.str();
}

PatchResult runPatch(const SemanticPatch &P, StringRef Spatch, StringRef File,
                     const std::string &Text) {
  PatchResult Result;
  if (size_t Lines = StringRef(Text).count("\r\n"); Lines && Lines == StringRef(Text).count('\n')) {
    Result = runPatch(P, Spatch, File, replaceAll(Text, "\r\n", "\n"));
    Result.After = replaceAll(Result.After, "\n", "\r\n");
    Result.Edits = lineEdits(Text, Result.After);
    return Result;
  }
  Result.After = Text;
  StringRef Names = P.head("Names");
  // A header may include pthread.h for others.
  bool ForOthers = File.ends_with(".h") && StringRef(Text).contains("pthread.h");
  if (!Names.empty() && !ForOthers && namesIn(Text, Names).empty())
    return Result;
  Round First = spatch(P, P.reports(), Spatch, File, Text);
  auto IsSeen = [&](const NamedPlace &N) { return First.Seen.count({N.Line, N.Column}) != 0; };
  bool Both = P.reports() && P.changes();
  bool Left =
      !First.Failure && !Names.empty() && !Both && !all_of(namesIn(First.After, Names), IsSeen);
  HiddenText Hidden(First.After, Names, P.reports());
  if (Left && Hidden.any()) {
    Round Second = spatch(P, P.reports(), Spatch, File, Hidden.text());
    if (std::optional<std::string> Shown = Hidden.restore(Second.After); Shown && !Second.Failure) {
      First.After = P.reports() ? Text : *Shown;
      for (PatchPlace &Report : Second.Reports)
        if (!First.Seen.count({Report.Line, Report.Column}))
          First.Reports.push_back(std::move(Report));
      First.Seen.insert(Second.Seen.begin(), Second.Seen.end());
    }
  }
  if (!First.Failure && Both) {
    Round Changed = spatch(P, false, Spatch, File, Text);
    First.Failure = Changed.Failure;
    First.After = Changed.After;
  }
  Result.Failure = First.Failure;
  if (Result.Failure)
    return Result;
  Result.After = First.After;
  Result.Edits = lineEdits(Text, Result.After);
  Result.Reports = First.Reports;
  sort(Result.Reports, [](const PatchPlace &A, const PatchPlace &B) {
    return std::tie(A.Line, A.Column, A.Text) < std::tie(B.Line, B.Column, B.Text);
  });
  if (!Names.empty())
    for (const NamedPlace &N : namesIn(Both ? Text : Result.After, Names))
      if (!IsSeen(N))
        Result.NotUnderstood.push_back(
            {Both ? N.Line : oldLine(Text, Result.Edits, N.Line), N.Column, N.Name});
  return Result;
}

std::optional<std::vector<PatchedFile>> runPatch(const SemanticPatch &P, StringRef Spatch,
                                                 ArrayRef<std::string> Files, unsigned Jobs) {
  std::vector<PatchedFile> Result;
  for (const std::string &File : Files) {
    ErrorOr<std::unique_ptr<MemoryBuffer>> Source = MemoryBuffer::getFile(File);
    if (!Source) {
      messageFor(File, Source.getError().message(), "cannot-read");
      return std::nullopt;
    }
    Result.push_back({File, (*Source)->getBuffer().str(), {}});
  }
  {
    Progress Shown("matching,", Result.size());
    DefaultThreadPool Pool(hardware_concurrency(Jobs));
    for (PatchedFile &Each : Result)
      Pool.async([&] {
        Each.Result = runPatch(P, Spatch, Each.File, Each.Text);
        Shown.step();
      });
    Pool.wait();
  }
  for (const PatchedFile &Each : Result)
    if (const std::optional<PatchFailure> &Failed = Each.Result.Failure) {
      messageFor(Failed->File, Failed->Text, Failed->Code);
      return std::nullopt;
    }
  return Result;
}

size_t reportNotUnderstood(const SemanticPatch &P, ArrayRef<PatchedFile> Files) {
  size_t Count = 0;
  for (const PatchedFile &Each : Files)
    for (const PatchPlace &Place : Each.Result.NotUnderstood) {
      ++Count;
      messageFor(Each.File + ":" + std::to_string(Place.Line) + ":" + std::to_string(Place.Column),
                 "'" + Place.Text + "' " + (P.reports() ? "was not looked at" : "is left") +
                     ": Coccinelle does not understand the text here",
                 "not-understood");
    }
  return Count;
}

bool isCFile(StringRef File) { return File.ends_with(".c") || File.ends_with(".h"); }

Expected<std::vector<std::string>> filesIn(const std::vector<std::string> &Paths,
                                           bool (*Wanted)(StringRef)) {
  std::set<std::string> Result;
  for (const std::string &Path : Paths) {
    if (!sys::fs::is_directory(Path)) {
      Result.insert(Path);
      continue;
    }
    std::error_code Failed;
    for (sys::fs::recursive_directory_iterator I(Path, Failed), End; I != End && !Failed;
         I.increment(Failed)) {
      StringRef Name = sys::path::filename(I->path());
      if (Name.starts_with("."))
        I.no_push();
      else if (Wanted(Name))
        Result.insert(I->path());
    }
    if (Failed)
      return createStringError(Failed, Path + ": " + Failed.message());
  }
  return std::vector<std::string>(Result.begin(), Result.end());
}

} // namespace relock
