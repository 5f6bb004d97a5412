// SPDX-License-Identifier: MIT
//
// By text alone, lock classes cannot be told apart. So all of them are converted or none: one mutex
// that is shared with another process, one name that Coccinelle has not understood, or one file in
// another language that may take a lock, and nothing changes.
#include "rewrite/HoldOnly.h"

#include "rewrite/SemanticPatch.h"
#include "rewrite/Unseen.h"
#include "support/Messages.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace relock {
namespace {

// Files beside the C files that a C program's build may compile, or include.
bool inOtherLanguage(StringRef File) {
  return StringSwitch<bool>(sys::path::extension(File))
      .Cases(".cc", ".cpp", ".cxx", ".C", ".m", ".mm", true)
      .Cases(".hh", ".hpp", ".hxx", ".inc", ".def", true)
      .Cases(".l", ".y", ".ll", ".yy", ".in", true)
      .Default(false);
}

// The first lock name in each such file.
Expected<size_t> reportOtherLanguages(const std::vector<std::string> &Paths, StringRef Names) {
  Expected<std::vector<std::string>> Files = filesIn(Paths, inOtherLanguage);
  if (!Files)
    return Files.takeError();
  size_t Count = 0;
  for (const std::string &File : *Files) {
    ErrorOr<std::unique_ptr<MemoryBuffer>> Text = MemoryBuffer::getFile(File);
    if (!Text || !inOtherLanguage(File))
      continue;
    std::vector<NamedPlace> Found = namesIn((*Text)->getBuffer(), Names);
    if (Found.empty())
      continue;
    ++Count;
    messageFor(File + ":" + std::to_string(Found[0].Line) + ":" + std::to_string(Found[0].Column),
               "'" + Found[0].Name + "' is named in a file that is not C, which stays as it is",
               "not-c");
  }
  return Count;
}

size_t reportUnconvertible(ArrayRef<PatchedFile> Files) {
  size_t Count = 0;
  for (const PatchedFile &Each : Files)
    for (const PatchPlace &Place : Each.Result.Reports) {
      ++Count;
      auto [Text, Code] = StringRef(Place.Text).rsplit(" [");
      messageFor(Each.File + ":" + std::to_string(Place.Line) + ":" + std::to_string(Place.Column),
                 "cannot be converted: " + Text.str(), Code.rtrim(']'));
    }
  return Count;
}

} // namespace

HoldOnlyResult holdByText(const std::vector<std::string> &Paths, unsigned Jobs) {
  HoldOnlyResult Result;
  const SemanticPatch &Locks = *findPatch("replace/locks");
  const SemanticPatch &Unconvertible = *findPatch("find/unconvertible");
  std::optional<std::string> Spatch = findSpatch();
  if (!Spatch)
    return Result;
  Expected<std::vector<std::string>> Files = filesIn(Paths, isCFile);
  if (!Files) {
    message(toString(Files.takeError()), "cannot-read");
    return Result;
  }
  Expected<size_t> Refusals = reportOtherLanguages(Paths, Locks.head("Names"));
  if (!Refusals) {
    message(toString(Refusals.takeError()), "cannot-read");
    return Result;
  }
  std::optional<std::vector<PatchedFile>> Found = runPatch(Unconvertible, *Spatch, *Files, Jobs);
  if (!Found)
    return Result;
  *Refusals += reportUnconvertible(*Found) + reportNotUnderstood(Unconvertible, *Found);
  std::optional<std::vector<PatchedFile>> Changed = runPatch(Locks, *Spatch, *Files, Jobs);
  if (!Changed)
    return Result;
  *Refusals += reportNotUnderstood(Locks, *Changed);
  if (*Refusals) {
    errs() << "relock: nothing was changed: by text alone, all locks of a program are converted or "
              "none\n";
    Result.Refused = true;
    return Result;
  }
  RewriteResult &Rewrite = Result.Rewrite.emplace();
  for (PatchedFile &Each : *Changed) {
    if (Each.Result.Edits.empty())
      continue;
    Result.Names += namesIn(Each.Text, Locks.head("Names")).size();
    SmallString<128> File(Each.File);
    sys::fs::make_absolute(File);
    sys::path::remove_dots(File, true);
    std::string Name(File);
    Rewrite.Edits[Name] = std::move(Each.Result.Edits);
    Rewrite.Before[Name] = std::move(Each.Text);
    Rewrite.After[Name] = std::move(Each.Result.After);
  }
  return Result;
}

} // namespace relock
