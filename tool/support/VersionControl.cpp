// SPDX-License-Identifier: MIT
#include "support/VersionControl.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace llvm;

namespace relock {

// For a status of a few files; longer is not worth the wait.
static const unsigned StatusSeconds = 10;

static std::string workingCopy(StringRef File) {
  for (StringRef Up = sys::path::parent_path(File); !Up.empty(); Up = sys::path::parent_path(Up))
    if (sys::fs::exists(Up + "/.git"))
      return Up.str();
  return "";
}

namespace {

// A file for what a program prints, which goes in the end.
class Capture {
public:
  Capture() : Failed(sys::fs::createTemporaryFile("relock", "git", File)) {
    if (!Failed)
      Remover.setFile(File);
  }
  StringRef path() const { return File; }
  std::error_code failed() const { return Failed; }
  std::string text() const {
    auto Text = MemoryBuffer::getFile(File);
    return Text ? (*Text)->getBuffer().str() : "";
  }

private:
  SmallString<128> File;
  std::error_code Failed;
  FileRemover Remover;
};

} // namespace

// Seconds: 0 for as long as it takes.
static Expected<std::string> run(StringRef Folder, ArrayRef<StringRef> Command, unsigned Seconds) {
  ErrorOr<std::string> Git = sys::findProgramByName("git");
  if (!Git)
    return createStringError("git is not installed, or not in PATH");
  Capture Output, Errors;
  if (std::error_code Failed = Output.failed() ? Output.failed() : Errors.failed())
    return createStringError("there is no room for what git prints: " + Failed.message());
  SmallVector<StringRef, 64> Arguments = {*Git,
                                          "-C",
                                          Folder,
                                          "--no-optional-locks",
                                          "--literal-pathspecs",
                                          "-c",
                                          "core.fsmonitor=false",
                                          "-c",
                                          "core.quotePath=false"};
  Arguments.append(Command.begin(), Command.end());
  std::optional<StringRef> Redirects[] = {StringRef(""), Output.path(), Errors.path()};
  std::string Why;
  if (!sys::ExecuteAndWait(*Git, Arguments, std::nullopt, Redirects, Seconds, 0, &Why))
    return Output.text();
  std::string Said = StringRef(Errors.text()).split('\n').first.str();
  return createStringError("`git " + Command.front() + "` fails in " + Folder +
                           (Said.empty() && Why.empty() ? "" : ": " + Said + Why));
}

static std::string status(StringRef Top, ArrayRef<StringRef> Files) {
  SmallVector<StringRef, 64> Command = {"status", "--porcelain",           "--no-renames",
                                        "-z",     "--untracked-files=all", "--"};
  Command.append(Files.begin(), Files.end());
  Expected<std::string> Text = run(Top, Command, StatusSeconds);
  if (Text)
    return std::move(*Text);
  consumeError(Text.takeError());
  return "";
}

Expected<std::string> git(StringRef Folder, ArrayRef<StringRef> Arguments) {
  return run(Folder, Arguments, 0);
}

std::vector<std::string> uncommitted(ArrayRef<std::string> Files) {
  std::vector<std::string> Result;
  std::string Top = Files.empty() ? "" : workingCopy(Files.front());
  if (Top.empty())
    return Result;
  SmallVector<StringRef, 64> Inside;
  for (StringRef File : Files)
    if (File.starts_with(Top + "/"))
      Inside.push_back(File);
  const size_t Many = 500; // fits on a command line
  for (size_t Begin = 0; Begin < Inside.size(); Begin += Many) {
    std::string Text = status(Top, ArrayRef(Inside).slice(Begin).take_front(Many));
    for (StringRef Line : split(StringRef(Text), '\0')) // XY PATH
      if (Line.size() > 3)
        Result.push_back(Top + "/" + Line.drop_front(3).str());
  }
  return Result;
}

} // namespace relock
