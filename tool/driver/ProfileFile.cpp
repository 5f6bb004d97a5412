// SPDX-License-Identifier: MIT
#include "driver/ProfileFile.h"

#include "support/Output.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <unistd.h>

using namespace llvm;

namespace relock {

static std::string machineModel() {
  auto Text = MemoryBuffer::getFileAsStream("/proc/cpuinfo");
  if (!Text)
    return "unknown";
  SmallVector<StringRef> Lines;
  (*Text)->getBuffer().split(Lines, '\n');
  for (StringRef Line : Lines)
    if (Line.starts_with("model name") || Line.starts_with("CPU part"))
      return Line.split(':').second.trim().str();
  return "unknown";
}

void describeMachine(Profile &P) {
  P.Machine = machineModel();
  P.Processors = int(sysconf(_SC_NPROCESSORS_ONLN));
}

Error writeProfileTo(StringRef File, const Profile &P) {
  constexpr unsigned OwnerOnly = 0600; // it has the command line, and what threads are called
  return writeAtomically(File, [&](raw_ostream &OS) { writeProfile(P, OS); }, OwnerOnly);
}

std::string unwritable(Error E) {
  return "cannot be written: " + toString(std::move(E)) +
         "; name a file that can with `relock profile -o FILE`";
}

std::string findInstalled(StringRef Name) {
  SmallString<256> Lib(sys::path::parent_path(
      sys::fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&findInstalled))));
  sys::path::append(Lib, "..", "lib");
  std::vector<std::string> Folders = {Lib.str().str(), (Lib + "64").str()};
  std::error_code Error;
  for (sys::fs::directory_iterator At(Lib, Error), End; !Error && At != End; At.increment(Error))
    Folders.push_back(At->path()); // lib/x86_64-linux-gnu and the like
  for (const std::string &Folder : Folders) {
    SmallString<256> Path(Folder);
    sys::path::append(Path, Name);
    SmallString<256> Real;
    if (!sys::fs::real_path(Path, Real))
      return Real.str().str();
  }
  return "";
}

} // namespace relock
