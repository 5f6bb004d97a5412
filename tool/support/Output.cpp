// SPDX-License-Identifier: MIT
#include "support/Output.h"

#include "support/Messages.h"

#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace relock {

static bool isDevice(StringRef File) {
  return sys::fs::exists(File) && !sys::fs::is_regular_file(File);
}

static Error print(raw_fd_ostream &OS, function_ref<void(raw_ostream &)> Write) {
  Write(OS);
  OS.flush();
  std::error_code Error = OS.error();
  OS.clear_error();
  return errorCodeToError(Error);
}

Error writeAtomically(StringRef File, function_ref<void(raw_ostream &)> Write, unsigned Mode) {
  if (isDevice(File)) {
    std::error_code Error;
    raw_fd_ostream OS(File, Error);
    return Error ? errorCodeToError(Error) : print(OS, Write);
  }
  auto Temporary = sys::fs::TempFile::create(File + ".%%%%%%.tmp", Mode & ~sys::fs::getUmask());
  if (!Temporary)
    return Temporary.takeError();
  raw_fd_ostream OS(Temporary->FD, /*shouldClose=*/false);
  if (Error E = print(OS, Write)) {
    consumeError(Temporary->discard());
    return E;
  }
  return Temporary->keep(File);
}

Error checkWritable(StringRef File) {
  if (sys::fs::is_directory(File))
    return errorCodeToError(std::make_error_code(std::errc::is_a_directory));
  if (isDevice(File))
    return Error::success();
  auto Temporary = sys::fs::TempFile::create(File + ".%%%%%%.tmp");
  return Temporary ? Temporary->discard() : Temporary.takeError();
}

bool flushOutput() {
  outs().flush();
  if (!outs().has_error())
    return true;
  std::error_code Failed = outs().error();
  outs().clear_error();
  message("standard output cannot be written: " + Failed.message(), "output");
  return false;
}

} // namespace relock
