// SPDX-License-Identifier: MIT
#include "driver/ProfileTarget.h"

#include "../../runtime/profiler/layout.h"

#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

using namespace llvm;

namespace relock {

namespace {

// The system gives such a program the rights of another user, and the loader then takes no
// library from its caller.
bool gainsRights(const std::string &Program) {
  struct stat Status;
  struct statvfs System;
  if (stat(Program.c_str(), &Status) || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ||
      (statvfs(Program.c_str(), &System) == 0 && (System.f_flag & ST_NOSUID)))
    return false;
  bool User = (Status.st_mode & S_ISUID) && Status.st_uid != getuid();
  bool Group =
      (Status.st_mode & S_ISGID) && (Status.st_mode & S_IXGRP) && Status.st_gid != getgid();
  bool Capabilities =
      getuid() != 0 && getxattr(Program.c_str(), "security.capability", nullptr, 0) > 0;
  return User || Group || Capabilities;
}

// Class, byte order and machine in the head of an ELF file.
bool sameArchitecture(StringRef A, StringRef B) {
  constexpr size_t Class = 4, Machine = 18;
  return A.size() > Machine + 2 && B.size() > Machine + 2 &&
         A.substr(Class, 2) == B.substr(Class, 2) && A.substr(Machine, 2) == B.substr(Machine, 2);
}

// The loader that the program asks for; empty: it is static.
std::string interpreterOf(const object::ELF64LEFile &File) {
  auto Headers = File.program_headers();
  if (!Headers) {
    consumeError(Headers.takeError());
    return "unknown";
  }
  for (const auto &Header : *Headers)
    if (Header.p_type == ELF::PT_INTERP)
      return StringRef(reinterpret_cast<const char *>(File.base()), File.getBufSize())
          .substr(Header.p_offset, Header.p_filesz)
          .take_until([](char C) { return C == 0; })
          .str();
  return "";
}

ProfileRefusal refuse(const Twine &Text, StringRef Code) { return {Text.str(), Code.str()}; }

// The version of the records that a program with the profiler in it writes.
std::optional<uint32_t> linkedVersion(const object::ELF64LEFile &File) {
  std::optional<uint32_t> Version;
  auto Headers = File.program_headers();
  if (!Headers) {
    consumeError(Headers.takeError());
    return std::nullopt;
  }
  for (const auto &Header : *Headers) {
    if (Header.p_type != ELF::PT_NOTE)
      continue;
    Error Damaged = Error::success();
    for (const auto &Note : File.notes(Header, Damaged))
      if (Note.getName() == RELOCK_NOTE && Note.getType() == RELOCK_NOTE_LINKED &&
          Note.getDesc(Header.p_align).size() >= sizeof(uint32_t))
        Version = support::endian::read32le(Note.getDesc(Header.p_align).data());
    consumeError(std::move(Damaged));
  }
  return Version;
}

std::optional<ProfileRefusal> whyNotLinked(const object::ELF64LEFile &File) {
  std::optional<uint32_t> Version = linkedVersion(File);
  if (!Version)
    return refuse("is statically linked, so the profiler cannot stand between it and its locks; "
                  "link it dynamically (without -static), or link the profiler in, by adding "
                  "$(relock profile --link-flags) where it is linked",
                  "profile-static");
  if (*Version != RELOCK_RECORDS_VERSION)
    return refuse("was linked with the profiler of another version of relock; link it again",
                  "profile-static");
  return std::nullopt;
}

} // namespace

std::optional<ProfileRefusal> whyNotProfiled(StringRef Program) {
  if (gainsRights(Program.str()))
    return refuse("gains the rights of another user when it starts (set-user-id, set-group-id or "
                  "capabilities), so the system loads no profiler into it; run relock profile as "
                  "that user, or profile a copy of the program, which has no such rights",
                  "profile-set-user-id");
  auto Buffer = MemoryBuffer::getFile(Program, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  auto Own = MemoryBuffer::getFile("/proc/self/exe", false, false);
  if (!Buffer || !Own || !(*Buffer)->getBuffer().starts_with(ELF::ElfMagic))
    return std::nullopt; // a script, which its interpreter runs
  if (!sameArchitecture((*Buffer)->getBuffer(), (*Own)->getBuffer()))
    return refuse("is built for another architecture than relock, whose profiler cannot be loaded "
                  "into it; profile a build for this one",
                  "profile-architecture");
  auto File = object::ELF64LEFile::create((*Buffer)->getBuffer());
  if (!File) {
    consumeError(File.takeError());
    return std::nullopt;
  }
  std::string Loader = interpreterOf(*File);
  if (Loader.empty())
    return whyNotLinked(*File);
  if (sys::path::filename(Loader).contains("musl"))
    return refuse("uses the C library musl, into which the profiler, which was built with glibc, "
                  "cannot be loaded; profile a build with glibc",
                  "profile-c-library");
  return std::nullopt;
}

std::optional<ProfileRefusal> whyNoRecords() {
  constexpr rlim_t Enough = 1 << 20;
  struct rlimit Limit;
  if (getrlimit(RLIMIT_FSIZE, &Limit) == 0 && Limit.rlim_cur < Enough)
    return refuse("files are limited to " + Twine(Limit.rlim_cur >> 10) +
                      " KiB (ulimit -f), which has no room for the records; allow at least "
                      "1024 KiB",
                  "profile-file-size");
  return std::nullopt;
}

} // namespace relock
