// SPDX-License-Identifier: MIT
//
// https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions
#include "driver/Annotations.h"

#include "support/Messages.h"
#include "support/Path.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

using namespace llvm;

namespace relock {
namespace {

constexpr size_t ShownOfOneStep = 10; // GitHub's limit for errors, and for warnings

// Properties: a value between commas.
std::string escaped(StringRef Text, bool Property) {
  std::string Result;
  for (char C : Text)
    switch (C) {
    case '%':
      Result += "%25";
      break;
    case '\r':
      Result += "%0D";
      break;
    case '\n':
      Result += "%0A";
      break;
    case ':':
      Result += Property ? "%3A" : ":";
      break;
    case ',':
      Result += Property ? "%2C" : ",";
      break;
    default:
      Result += C;
    }
  return Result;
}

std::string pathFor(StringRef File, StringRef Root) {
  const char *Workspace = std::getenv("GITHUB_WORKSPACE");
  for (StringRef Folder : {StringRef(Workspace ? Workspace : ""), Root})
    if (!Folder.empty() && isBelow(File, Folder))
      return File.drop_front(Folder.size() + 1).str();
  return File.str();
}

void print(raw_ostream &OS, const Finding &F, StringRef Level, StringRef Root) {
  std::string Text = printable(F.Message);
  if (F.Kind == FindingKind::LockOrder)
    for (const Step &Next : F.Why.Way)
      Text += "\n" + printable(pathFor(Next.At.File, Root) + ":" + std::to_string(Next.At.Line) +
                               ": " + Next.Text);
  const Position &At = F.at();
  OS << "::" << Level << " file=" << escaped(pathFor(At.File, Root), true) << ",line=" << At.Line;
  if (At.Column)
    OS << ",col=" << At.Column;
  OS << ",title=" << escaped(F.Why.Code, true) << "::" << escaped(Text, false) << "\n";
}

} // namespace

void printAnnotations(raw_ostream &OS, ArrayRef<JudgedFinding> Findings, StringRef Root) {
  for (bool Fails : {true, false}) {
    size_t Shown = 0;
    for (const JudgedFinding &Each : Findings)
      if (Each.State == FindingState::Open && Each.Fails == Fails && Shown++ < ShownOfOneStep)
        print(OS, Each.Found, Fails ? "error" : "warning", Root);
  }
}

} // namespace relock
