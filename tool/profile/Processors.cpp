// SPDX-License-Identifier: MIT
#include "profile/Processors.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>

using namespace llvm;

namespace relock {

namespace {

std::string textOf(const Twine &File) {
  auto Buffer = MemoryBuffer::getFileAsStream(File); // the sizes of these files are not true
  return Buffer ? (*Buffer)->getBuffer().trim().str() : "";
}

// The first number of a list such as `0-3,8` stands for all that share.
std::optional<uint16_t> firstOf(StringRef List) {
  uint16_t Number;
  return List.consumeInteger(10, Number) ? std::nullopt : std::optional(Number);
}

// Of the cache of the highest level that holds data.
std::optional<uint16_t> cacheOf(const Twine &Processor) {
  std::optional<uint16_t> Cache;
  unsigned Highest = 0;
  for (unsigned I = 0;; ++I) {
    std::string Folder = (Processor + "/cache/index" + Twine(I)).str();
    unsigned Level;
    if (StringRef(textOf(Folder + "/level")).getAsInteger(10, Level))
      return Cache;
    if (Level > Highest && textOf(Folder + "/type") != "Instruction") {
      Highest = Level;
      Cache = firstOf(textOf(Folder + "/shared_cpu_list"));
    }
  }
}

// `0-3,8`, as numbers.
std::vector<unsigned> numbersOf(StringRef List) {
  std::vector<unsigned> Numbers;
  SmallVector<StringRef> Ranges;
  List.split(Ranges, ',', -1, /*KeepEmpty=*/false);
  for (StringRef Range : Ranges) {
    unsigned First, Last;
    if (Range.consumeInteger(10, First))
      break;
    Last = First;
    if (Range.consume_front("-") && Range.consumeInteger(10, Last))
      break;
    for (unsigned I = First; I <= Last && I < UINT16_MAX; ++I)
      Numbers.push_back(I);
  }
  return Numbers;
}

} // namespace

std::vector<relock_processor> readProcessors(StringRef System) {
  std::vector<relock_processor> All;
  for (unsigned I : numbersOf(textOf(System + "/devices/system/cpu/possible"))) {
    std::string Folder = (System + "/devices/system/cpu/cpu" + Twine(I)).str();
    uint16_t Core = firstOf(textOf(Folder + "/topology/thread_siblings_list")).value_or(I);
    // Without a word about caches nobody is said to share one, except within a core.
    uint16_t Cache = cacheOf(Folder).value_or(Core);
    All.resize(std::max<size_t>(All.size(), I + 1));
    All[I] = {Core, Cache, 0};
  }
  for (unsigned Node : numbersOf(textOf(System + "/devices/system/node/online")))
    for (unsigned I :
         numbersOf(textOf(System + "/devices/system/node/node" + Twine(Node) + "/cpulist")))
      if (I < All.size())
        All[I].node = uint16_t(Node);
  return All;
}

void writeProcessors(StringRef Folder, StringRef System) {
  std::vector<relock_processor> All = readProcessors(System);
  std::error_code Error;
  raw_fd_ostream OS((Folder + "/" + RELOCK_PROCESSORS_FILE).str(), Error, sys::fs::CD_CreateNew);
  if (!Error)
    OS.write(reinterpret_cast<const char *>(All.data()), All.size() * sizeof All[0]);
  OS.close();
  OS.clear_error();
  // For a program that goes on as another user, too; there is nothing secret in it.
  sys::fs::setPermissions(Folder + "/" + RELOCK_PROCESSORS_FILE,
                          sys::fs::owner_read | sys::fs::group_read | sys::fs::others_read);
}

} // namespace relock
