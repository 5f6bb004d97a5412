// SPDX-License-Identifier: MIT
#include "rewrite/Files.h"

#include "support/Messages.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <unistd.h>
#include <vector>

using namespace llvm;

namespace relock {
namespace {

struct Pending {
  std::string Target, Temporary;
  std::string Before; // to put back; meaningful if Existed
  bool Existed = false;
};

Error cannotWrite(StringRef Path, std::error_code Code) {
  return createStringError(shownPath(Path) + ": cannot be written (" + Code.message() +
                           "); nothing was changed");
}

Error writeWhole(int Descriptor, StringRef Text, StringRef Path) {
  while (!Text.empty()) {
    ssize_t Written = ::write(Descriptor, Text.data(), Text.size());
    if (Written < 0 && errno != EINTR)
      return cannotWrite(Path, std::error_code(errno, std::generic_category()));
    Text = Text.drop_front(Written < 0 ? 0 : Written);
  }
  if (::fsync(Descriptor))
    return cannotWrite(Path, std::error_code(errno, std::generic_category()));
  return Error::success();
}

Error prepare(const std::string &Target, StringRef Text, std::vector<Pending> &Done) {
  Pending P;
  P.Target = Target;
  sys::fs::perms Mode = sys::fs::perms::owner_read | sys::fs::perms::owner_write |
                        sys::fs::perms::group_read | sys::fs::perms::others_read;
  if (auto Old = MemoryBuffer::getFile(Target)) {
    P.Existed = true;
    P.Before = (*Old)->getBuffer().str();
    if (auto Permissions = sys::fs::getPermissions(Target))
      Mode = *Permissions;
    // A file that its owner made read-only stays as it is, even if its folder is writable.
    if (::access(Target.c_str(), W_OK))
      return cannotWrite(Target, std::error_code(errno, std::generic_category()));
  }
  SmallString<256> Temporary;
  int Descriptor;
  if (std::error_code Code = sys::fs::createUniqueFile(Target + ".relock-%%%%%%", Descriptor,
                                                       Temporary, sys::fs::OF_None, Mode))
    return cannotWrite(Target, Code);
  P.Temporary = std::string(Temporary);
  Done.push_back(P);
  Error Failed = writeWhole(Descriptor, Text, Target);
  ::close(Descriptor);
  if (!Failed)
    sys::fs::setPermissions(P.Temporary, Mode);
  return Failed;
}

void restore(const Pending &P) {
  if (!P.Existed) {
    sys::fs::remove(P.Target);
    return;
  }
  consumeError(writeToOutput(P.Target, [&](raw_ostream &OS) {
    OS << P.Before;
    return Error::success();
  }));
}

} // namespace

Error writeAll(const FileTexts &Texts) {
  std::vector<Pending> Files;
  Error Failed = Error::success();
  for (const auto &[Target, Text] : Texts) {
    Failed = prepare(Target, Text, Files);
    if (Failed)
      break;
  }
  size_t Moved = 0;
  if (!Failed)
    for (const Pending &P : Files) {
      if (std::error_code Code = sys::fs::rename(P.Temporary, P.Target)) {
        Failed = cannotWrite(P.Target, Code);
        break;
      }
      ++Moved;
    }
  if (!Failed)
    return Error::success();
  for (size_t I = 0; I < Files.size(); ++I)
    if (I < Moved)
      restore(Files[I]);
    else
      sys::fs::remove(Files[I].Temporary);
  return Failed;
}

} // namespace relock
