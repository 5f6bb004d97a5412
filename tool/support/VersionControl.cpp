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

static const unsigned Seconds = 10; // for a status of a few files; longer is not worth the wait

static std::string workingCopy(StringRef File) {
  for (StringRef Up = sys::path::parent_path(File); !Up.empty(); Up = sys::path::parent_path(Up))
    if (sys::fs::exists(Up + "/.git"))
      return Up.str();
  return "";
}

// Neither takes git's locks nor starts what the configuration may name.
static std::string status(StringRef Git, StringRef Top, ArrayRef<StringRef> Files) {
  SmallString<128> Output;
  if (sys::fs::createTemporaryFile("relock", "status", Output))
    return "";
  FileRemover Remove(Output);
  SmallVector<StringRef, 64> Arguments = {Git,
                                          "-C",
                                          Top,
                                          "--no-optional-locks",
                                          "--literal-pathspecs",
                                          "-c",
                                          "core.fsmonitor=false",
                                          "status",
                                          "--porcelain",
                                          "--no-renames",
                                          "-z",
                                          "--untracked-files=all",
                                          "--"};
  Arguments.append(Files.begin(), Files.end());
  std::optional<StringRef> Redirects[] = {StringRef(""), Output.str(), StringRef("")};
  if (sys::ExecuteAndWait(Git, Arguments, std::nullopt, Redirects, Seconds))
    return "";
  auto Text = MemoryBuffer::getFile(Output);
  return Text ? (*Text)->getBuffer().str() : "";
}

std::vector<std::string> uncommitted(ArrayRef<std::string> Files) {
  std::vector<std::string> Result;
  ErrorOr<std::string> Git = sys::findProgramByName("git");
  std::string Top = Files.empty() ? "" : workingCopy(Files.front());
  if (!Git || Top.empty())
    return Result;
  SmallVector<StringRef, 64> Inside;
  for (StringRef File : Files)
    if (File.starts_with(Top + "/"))
      Inside.push_back(File);
  const size_t Many = 500; // fits on a command line
  for (size_t Begin = 0; Begin < Inside.size(); Begin += Many) {
    std::string Text = status(*Git, Top, ArrayRef(Inside).slice(Begin).take_front(Many));
    for (StringRef Line : split(StringRef(Text), '\0')) // XY PATH
      if (Line.size() > 3)
        Result.push_back(Top + "/" + Line.drop_front(3).str());
  }
  return Result;
}

} // namespace relock
