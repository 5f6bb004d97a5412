// SPDX-License-Identifier: MIT
#include "support/Messages.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>

using namespace llvm;

namespace relock {

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

static void print(const Twine &Line) {
  static std::mutex Mutex; // one line at a time: units are parsed by several threads
  std::lock_guard<std::mutex> Lock(Mutex);
  errs() << Line << "\n";
}

void message(const Position &At, StringRef Text, StringRef Code) {
  print("relock: " + shownPlace(At) + ":" + Twine(At.Column) + ": " + Text + " [" + Code + "]");
}

void message(StringRef Text, StringRef Code) { print("relock: " + Text + " [" + Code + "]"); }

void messageFor(StringRef File, StringRef Text, StringRef Code) {
  print("relock: " + shownPath(File) + ": " + Text + " [" + Code + "]");
}

} // namespace relock
