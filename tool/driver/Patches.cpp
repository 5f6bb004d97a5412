// SPDX-License-Identifier: MIT
//
// relock patches: lists and runs the semantic patches, which are embedded when the command is
// built. Coccinelle passes over what it cannot parse. So the names that a patch is about (the line
// `// Names:` of its head) are looked up in the text afterwards, token by token: what the patch has
// neither reported nor changed is a message, and nothing is written then.
#include "driver/Subcommand.h"

#include "driver/Options.h"
#include "rewrite/Files.h"
#include "support/Messages.h"

#include "clang/Lex/Lexer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"

#include <map>
#include <set>

using namespace llvm;

namespace relock {

static cl::SubCommand Command("patches", "list and run the semantic patches (needs spatch)");
static cl::opt<std::string> Wanted(cl::Positional, cl::desc("[PATCH"), cl::sub(Command),
                                   cl::cat(options()));
static cl::list<std::string> Paths(cl::Positional, cl::desc("FILE|FOLDER...]"), cl::sub(Command),
                                   cl::cat(options()));
static cl::opt<bool> InPlace("in-place", cl::desc("edit the files instead of printing a diff"),
                             cl::sub(Command), cl::cat(options()));

namespace {

struct Patch {
  StringRef Name, Text;

  // The value of a line of the head, `// Confidence: High`.
  StringRef head(StringRef Key) const {
    for (StringRef Line : split(Text, '\n'))
      if (Line.consume_front("// ") && Line.consume_front(Key) && Line.consume_front(":"))
        return Line.trim();
    return "";
  }
  bool reports() const { return Text.contains("\nvirtual report\n"); }
  // The first sentence of what stands behind `///`.
  std::string summary() const {
    std::string All;
    for (StringRef Line : split(Text, '\n'))
      if (Line.consume_front("///"))
        All += (Line.trim() + " ").str();
    return StringRef(All).split(". ").first.split(": ").first.rtrim(" .").str();
  }
};

const Patch Patches[] = {
#include "Patches.inc"
};

struct Place {
  unsigned Line, Column;
  std::string Name;
};

// The identifiers of a text that match, wherever a compiler would see a token, in all branches of
// #if.
std::vector<Place> namesIn(const std::string &Text, const Regex &Names) {
  std::vector<Place> Result;
  clang::LangOptions C;
  const char *Begin = Text.c_str();
  clang::Lexer Tokens(clang::SourceLocation(), C, Begin, Begin, Begin + Text.size());
  clang::Token Next;
  do {
    Tokens.LexFromRawLexer(Next);
    if (!Next.is(clang::tok::raw_identifier) || !Names.match(Next.getRawIdentifier()))
      continue;
    StringRef Before(Begin, Next.getRawIdentifier().data() - Begin);
    unsigned Column = Before.size() - (Before.rfind('\n') + 1) + 1;
    Result.push_back({unsigned(Before.count('\n')) + 1, Column, Next.getRawIdentifier().str()});
  } while (Next.isNot(clang::tok::eof));
  return Result;
}

StringRef lineOf(StringRef Text, unsigned Line) {
  while (--Line)
    Text = Text.split('\n').second;
  return Text.split('\n').first;
}

// A file that goes with the run. Where there is no room for it, that is told, and read() and
// write() fail.
class Temporary {
public:
  explicit Temporary(StringRef Suffix) {
    Failed = sys::fs::createTemporaryFile("relock", Suffix, Path);
    tell();
  }
  ~Temporary() { sys::fs::remove(Path); }
  Temporary(const Temporary &) = delete;
  Temporary &operator=(const Temporary &) = delete;

  StringRef path() const { return Path; }
  std::optional<std::string> read() {
    ErrorOr<std::unique_ptr<MemoryBuffer>> Buffer = MemoryBuffer::getFile(Path);
    if (Buffer)
      return (*Buffer)->getBuffer().str();
    Failed = Buffer.getError();
    tell();
    return std::nullopt;
  }
  bool write(StringRef Text) {
    if (Failed)
      return false;
    raw_fd_ostream OS(Path, Failed);
    OS << Text;
    OS.flush();
    Failed = Failed ? Failed : OS.error();
    OS.clear_error();
    tell();
    return !Failed;
  }

private:
  SmallString<128> Path;
  std::error_code Failed;

  void tell() const {
    if (Failed)
      messageFor(Path, "a temporary file: " + Failed.message(), "cannot-write");
  }
};

class PatchRun {
public:
  PatchRun(const Patch &P, std::string Spatch) : P(P), Spatch(std::move(Spatch)), Rules("cocci") {}

  int run(const std::vector<std::string> &Files) {
    if (!Rules.write(P.Text))
      return BadUsage;
    Progress Shown("matching,", Files.size());
    for (const std::string &File : Files) {
      if (!runOn(File))
        return BadUsage;
      Shown.step();
    }
    if (P.reports())
      return Reports || Unparsed ? LookAtThis : Done;
    if (!InPlace)
      return Unparsed ? LookAtThis : Done;
    if (Unparsed) {
      errs() << "relock: nothing was written; change these places by hand (" << Unparsed
             << "), and run the patch again for the rest\n";
      return LookAtThis;
    }
    if (Error E = writeAll(After)) {
      message(toString(std::move(E)), "cannot-write");
      return BadUsage;
    }
    return Done;
  }

private:
  const Patch &P;
  std::string Spatch;
  Temporary Rules;
  FileTexts After;
  unsigned Unparsed = 0, Reports = 0;

  bool runOn(const std::string &File) {
    ErrorOr<std::unique_ptr<MemoryBuffer>> Source = MemoryBuffer::getFile(File);
    if (!Source) {
      messageFor(File, Source.getError().message(), "cannot-read");
      return false;
    }
    std::string Text = (*Source)->getBuffer().str();
    Temporary Output("out"), Errors("err"), Result("c");
    if (!Result.write(Text))
      return false;
    StringRef Target = P.reports() ? StringRef(File) : Result.path();
    SmallVector<StringRef, 16> Arguments = {Spatch,
                                            "--very-quiet",
                                            "--no-includes",
                                            "--sp-file",
                                            Rules.path(),
                                            "-D",
                                            P.reports() ? "report" : "patch",
                                            Target};
    if (!P.reports())
      Arguments.push_back("--in-place");
    std::string Message;
    std::optional<StringRef> Redirects[] = {StringRef(""), Output.path(), Errors.path()};
    // Coccinelle ends with an exception where HOME is not set.
    if (!getenv("HOME"))
      setenv("HOME", "/", 0);
    int Status = sys::ExecuteAndWait(Spatch, Arguments, std::nullopt, Redirects, 0, 0, &Message);
    if (Status != 0) {
      messageFor(File, "spatch failed: " + (Message.empty() ? Errors.read().value_or("") : Message),
                 "spatch");
      return false;
    }
    std::optional<std::string> Printed = Output.read(), Changed = Result.read();
    if (!Printed || !Changed)
      return false;
    if (P.reports()) {
      report(Text, *Printed, File);
      return true;
    }
    const std::string &New = *Changed;
    if (New.empty() && !Text.empty()) {
      messageFor(File, "spatch failed: its result is empty", "spatch");
      return false;
    }
    if (!InPlace && New != Text)
      printDiff(*Printed, File);
    // A line on which a name is left is as it was; the number of lines before it may not be.
    std::map<StringRef, unsigned> Last; // by its text
    Place Before = {0, 0, ""};          // in the new text
    for (const Place &Left : namesIn(New, Regex(P.head("Names")))) {
      StringRef Line = lineOf(New, Left.Line);
      if (Left.Line != Before.Line)
        while (lineOf(Text, ++Last[Line]) != Line && Last[Line] < Text.size())
          ;
      unparsed(File, {Last[Line], Left.Column, Left.Name}, "is left");
      Before = Left;
    }
    if (New != Text) {
      SmallString<128> Absolute(File);
      sys::fs::make_absolute(Absolute);
      After[std::string(Absolute)] = New;
    }
    return true;
  }

  void report(const std::string &Text, const std::string &Output, const std::string &File) {
    std::set<std::pair<unsigned, unsigned>> Seen;
    std::vector<std::tuple<unsigned, unsigned, StringRef>> Lines;
    for (StringRef Line : split(Output, '\n')) {
      bool Harmless = Line.consume_front("seen ");
      StringRef Rest = Line;
      unsigned Row, Column;
      if (!Rest.consume_front(File) || !Rest.consume_front(":") || Rest.consumeInteger(10, Row) ||
          !Rest.consume_front(":") || Rest.consumeInteger(10, Column))
        continue;
      Seen.insert({Row, Column});
      if (!Harmless)
        Lines.push_back({Row, Column, Line});
    }
    sort(Lines);
    for (const auto &[Row, Column, Line] : Lines)
      outs() << Line << "\n";
    Reports += Lines.size();
    for (const Place &Name : namesIn(Text, Regex(P.head("Names"))))
      if (!Seen.count({Name.Line, Name.Column}))
        unparsed(File, Name, "was not looked at");
  }

  void unparsed(const std::string &File, const Place &At, StringRef What) {
    ++Unparsed;
    messageFor(File + ":" + std::to_string(At.Line) + ":" + std::to_string(At.Column),
               "'" + At.Name + "' " + What.str() + ": Coccinelle does not understand the text here",
               "not-understood");
  }

  // With names that `git apply` takes.
  static void printDiff(StringRef Diff, StringRef File) {
    std::string Name = shownPath(File);
    for (StringRef Line : split(Diff.rtrim("\n"), '\n'))
      if (Line.starts_with("--- "))
        outs() << "--- a/" << Name << "\n";
      else if (Line.starts_with("+++ "))
        outs() << "+++ b/" << Name << "\n";
      else
        outs() << Line << "\n";
  }
};

// The C files of the folders, and the files that are named, in the order of their names.
Expected<std::vector<std::string>> filesOf(const std::vector<std::string> &All) {
  std::set<std::string> Result;
  for (const std::string &Path : All) {
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
      else if (Name.ends_with(".c") || Name.ends_with(".h"))
        Result.insert(I->path());
    }
    if (Failed)
      return createStringError(Failed, Path + ": " + Failed.message());
  }
  return std::vector<std::string>(Result.begin(), Result.end());
}

int list() {
  size_t Width = 0;
  for (const Patch &P : Patches)
    Width = std::max(Width, P.Name.size());
  for (const Patch &P : Patches)
    outs() << left_justify(P.Name, Width) << "  " << (P.reports() ? "report  " : "patch   ")
           << left_justify(P.head("Confidence"), 9) << P.summary() << "\n";
  return Done;
}

int run() {
  if (Wanted.empty())
    return list();
  const Patch *Found = find_if(Patches, [](const Patch &P) { return P.Name == Wanted; });
  if (Found == std::end(Patches)) {
    message("no patch '" + Wanted + "'; `relock patches` lists them", "unknown-patch");
    return BadUsage;
  }
  if (Paths.empty() || (InPlace && Found->reports())) {
    message(Paths.empty() ? "give the files or folders to run '" + Wanted + "' on"
                          : "'" + Wanted + "' reports, and changes nothing",
            "usage");
    return BadUsage;
  }
  ErrorOr<std::string> Spatch = sys::findProgramByName("spatch");
  if (!Spatch) {
    message("spatch was not found: install Coccinelle (Debian: apt-get install coccinelle)",
            "spatch");
    return BadUsage;
  }
  Expected<std::vector<std::string>> Files = filesOf(Paths);
  if (!Files) {
    message(toString(Files.takeError()), "cannot-read");
    return BadUsage;
  }
  return PatchRun(*Found, *Spatch).run(*Files);
}

} // namespace

Subcommand patchesSubcommand() { return {Command, run}; }

} // namespace relock
