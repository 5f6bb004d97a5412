// SPDX-License-Identifier: MIT
#include "support/Messages.h"

#include "support/Color.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Unicode.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>

using namespace llvm;

namespace relock {

std::string printable(StringRef Text) {
  std::string Result;
  while (!Text.empty()) {
    auto *At = reinterpret_cast<const UTF8 *>(Text.begin()), *Begin = At;
    UTF32 Character = 0;
    bool Valid = convertUTF8Sequence(&At, reinterpret_cast<const UTF8 *>(Text.end()), &Character,
                                     strictConversion) == conversionOK;
    size_t Size = Valid ? size_t(At - Begin) : 1;
    if (Valid && sys::unicode::isPrintable(int(Character)))
      Result += Text.take_front(Size);
    else
      Result += '?';
    Text = Text.drop_front(Size);
  }
  return Result;
}

std::string counted(size_t N, StringRef One, StringRef More) {
  std::string Word = N == 1 ? One.str() : More.empty() ? One.str() + "s" : More.str();
  return std::to_string(N) + " " + Word;
}

std::string shownPath(StringRef Absolute) {
  SmallString<256> Current;
  if (sys::fs::current_path(Current))
    return Absolute.str();
  StringRef Rest = Absolute;
  if (Rest.consume_front(Current) && Rest.consume_front("/"))
    return Rest.str();
  return Absolute.str();
}

std::string shownPlace(const Position &At) {
  return shownPath(At.File) + ":" + std::to_string(At.Line);
}

static std::mutex Terminal; // one line at a time: units are parsed by several threads
static bool HasProgress;    // the cursor stands behind a line of progress

static void clearProgress() {
  if (HasProgress)
    errs() << "\r\033[K";
  HasProgress = false;
}

static void print(StringRef Place, StringRef Text, StringRef Code) {
  std::lock_guard<std::mutex> Lock(Terminal);
  clearProgress();
  errs() << painted("relock: " + printable(Place), Style::Place, errs());
  ListSeparator NextLine("\n");
  for (StringRef Line : split(Text, '\n'))
    errs() << NextLine << printable(Line);
  errs() << " " << painted("[" + Code.str() + "]", Style::Code, errs()) << "\n";
}

Progress::Progress(StringRef What, size_t Total)
    : What(What), Total(Total), Shown(Total > 1 && errs().is_displayed()) {}

Progress::~Progress() {
  std::lock_guard<std::mutex> Lock(Terminal);
  clearProgress();
}

void Progress::step() {
  using namespace std::chrono;
  if (!Shown)
    return;
  std::lock_guard<std::mutex> Lock(Terminal);
  ++Finished;
  if (steady_clock::now() - Last < milliseconds(100))
    return;
  Last = steady_clock::now();
  clearProgress();
  errs() << "relock: " << What << " " << Finished << " of " << Total << " files";
  HasProgress = true;
}

void message(const Position &At, StringRef Text, StringRef Code) {
  print(shownPlace(At) + ":" + std::to_string(At.Column) + ": ", Text, Code);
}

void message(StringRef Text, StringRef Code) { print("", Text, Code); }

void messageFor(StringRef File, StringRef Text, StringRef Code) {
  print(shownPath(File) + ": ", Text, Code);
}

void showLastLines(ArrayRef<StringRef> Texts) {
  constexpr size_t Shown = 20;
  SmallVector<StringRef> Lines;
  for (StringRef Text : Texts)
    if (!Text.empty())
      Text.rtrim('\n').split(Lines, '\n');
  for (StringRef Line : ArrayRef(Lines).take_back(Shown))
    errs() << "  | " << printable(Line) << "\n";
}

} // namespace relock
