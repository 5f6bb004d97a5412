// SPDX-License-Identifier: MIT
#include "rewrite/Format.h"

#include "rewrite/Layout.h"

#include "clang/Format/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace clang;
using namespace llvm;

namespace relock {

static bool liesIn(StringRef Folder, StringRef Root) {
  return !Folder.empty() && Folder.consume_front(Root) &&
         (Folder.empty() || Folder.starts_with("/") || Root.ends_with("/"));
}

// The formatter's file, if that lies in the program's own folders; empty: there is none.
static std::string styleFile(StringRef File, StringRef Root) {
  for (StringRef Folder = sys::path::parent_path(File); liesIn(Folder, Root);
       Folder = sys::path::parent_path(Folder)) {
    for (StringRef Name : {".clang-format", "_clang-format"}) {
      SmallString<128> Path(Folder);
      sys::path::append(Path, Name);
      if (sys::fs::exists(Path))
        return Path.str().str();
    }
  }
  return "";
}

static std::optional<format::FormatStyle> styleOf(StringRef File, StringRef Root,
                                                  UnreadStyles &Unread) {
  const std::string Style = styleFile(File, Root);
  if (Style.empty())
    return std::nullopt;
  // Options of other versions of the formatter are passed over.
  Expected<format::FormatStyle> Found =
      format::getStyle("file", File, "none", /*Code=*/"", /*FS=*/nullptr,
                       /*AllowUnknownOptions=*/true, [](const SMDiagnostic &, void *) {});
  if (!Found) {
    consumeError(Found.takeError());
    Unread.insert(Style);
    return std::nullopt;
  }
  if (Found->DisableFormat)
    return std::nullopt;
  // The text that moves stays what it is, but for its blanks.
  Found->ReflowComments = Found->BreakStringLiterals = Found->FixNamespaceComments = false;
  Found->InsertBraces = Found->RemoveBracesLLVM = Found->RemoveSemicolon = false;
  Found->RemoveParentheses = format::FormatStyle::RPS_Leave;
  Found->QualifierAlignment = format::FormatStyle::QAS_Leave;
  Found->SeparateDefinitionBlocks = format::FormatStyle::SDS_Leave;
  return *Found;
}

static std::string withoutBlanks(StringRef Text) {
  std::string Result;
  copy_if(Text, std::back_inserter(Result), [](char C) { return !isSpace(C); });
  return Result;
}

void formatAsProject(StringRef File, StringRef Root, StringRef Text, std::vector<TextEdit> &Edits,
                     UnreadStyles &Unread) {
  std::optional<format::FormatStyle> Style = styleOf(File, Root, Unread);
  bool Collided = false;
  const std::string After =
      Style ? applyEdits(Text, {0, unsigned(Text.size())}, Edits, Collided) : "";
  if (!Style || Collided)
    return;
  std::vector<std::pair<TextEdit *, size_t>> Written; // and where it begins in After
  size_t Begin = 0, Behind = 0;                       // in After, in Text
  for (TextEdit &E : Edits) {
    Begin += E.At.Begin - Behind;
    Behind = E.At.End;
    if (E.Text.find_first_of(" \n") != std::string::npos &&
        !inDirective(After, StringRef(After).rfind('\n', Begin) + 1))
      Written.push_back({&E, Begin});
    Begin += E.Text.size();
  }
  if (Written.empty())
    return;
  // One range from the first to the last: many would cost the formatter lines times ranges.
  const size_t First = Written.front().second;
  const size_t Last = Written.back().second + Written.back().first->Text.size();
  const tooling::Replacements Found =
      format::reformat(*Style, After, {{unsigned(First), unsigned(Last - First)}}, File);
  const std::vector<tooling::Replacement> Changes(Found.begin(), Found.end()); // in order, apart
  for (auto [Edit, At] : Written) {
    const size_t End = At + Edit->Text.size(), Line = StringRef(After).rfind('\n', At) + 1;
    std::string Formatted;
    size_t Done = At;
    bool Moves = false; // its own line stands elsewhere in that style, and so would what follows
    auto Next = partition_point(Changes, [&](const tooling::Replacement &Change) {
      return Change.getOffset() + Change.getLength() <= Line;
    });
    for (; Next != Changes.end() && Next->getOffset() < End; ++Next) {
      const size_t From = Next->getOffset(), To = From + Next->getLength();
      Moves |= From < At;
      if (From < At || To > End)
        continue;
      Formatted += StringRef(After).slice(Done, From).str() + Next->getReplacementText().str();
      Done = To;
    }
    Formatted += StringRef(After).slice(Done, End);
    if (!Moves && withoutBlanks(Formatted) == withoutBlanks(Edit->Text))
      Edit->Text = std::move(Formatted);
  }
}

} // namespace relock
