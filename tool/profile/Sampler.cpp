// SPDX-License-Identifier: MIT
#include "profile/Sampler.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

using namespace llvm;

namespace relock {

namespace {

// The beginning of glibc's pthread_mutex_t on 64-bit machines (sysdeps/nptl/bits/struct_mutex.h).
struct MutexWords {
  int32_t Lock;
  uint32_t Count;
  int32_t Owner;
  uint32_t Users;
  int32_t Kind;
};
constexpr uint32_t Contended = 2; // the Lock of a plain mutex for which somebody sleeps

StringRef readSmall(const std::string &File, SmallVectorImpl<char> &Buffer) {
  int Descriptor = open(File.c_str(), O_RDONLY | O_CLOEXEC);
  if (Descriptor < 0)
    return "";
  Buffer.resize(512);
  ssize_t Size = read(Descriptor, Buffer.data(), Buffer.size());
  close(Descriptor);
  return StringRef(Buffer.data(), Size > 0 ? size_t(Size) : 0).rtrim('\n');
}

bool isLibraryPath(StringRef Path) {
  StringRef Name = sys::path::filename(Path);
  return Name.starts_with("libc.") || Name.starts_with("libc-") || Name.starts_with("libpthread") ||
         Name.starts_with("ld-");
}

// Where the file of a mapping at Start with this offset would have its address 0.
std::optional<uint64_t> biasOf(const std::string &Path, uint64_t Start, uint64_t Offset) {
  int File = open(Path.c_str(), O_RDONLY | O_CLOEXEC);
  if (File < 0)
    return std::nullopt;
  auto Close = make_scope_exit([&] { close(File); });
  ELF::Elf64_Ehdr Header;
  if (pread(File, &Header, sizeof Header, 0) != sizeof Header || !Header.checkMagic() ||
      Header.getFileClass() != ELF::ELFCLASS64)
    return std::nullopt;
  for (unsigned I = 0; I < Header.e_phnum; ++I) {
    ELF::Elf64_Phdr Part;
    off_t At = off_t(Header.e_phoff + I * sizeof Part);
    if (pread(File, &Part, sizeof Part, At) == sizeof Part && Part.p_type == ELF::PT_LOAD &&
        Offset <= Part.p_offset && Part.p_offset < Offset + (Part.p_align ? Part.p_align : 1))
      return Start - (Part.p_vaddr - (Part.p_offset - Offset));
  }
  return std::nullopt;
}

} // namespace

std::string Sampler::file(const std::string &Name) const {
  return "/proc/" + std::to_string(Pid) + "/" + Name;
}

bool Sampler::readMemory(uint64_t Address, void *To, size_t Size) const {
  iovec Here = {To, Size}, There = {reinterpret_cast<void *>(Address), Size};
  return process_vm_readv(Pid, &Here, 1, &There, 1, 0) == ssize_t(Size);
}

std::string Sampler::threadName(pid_t Thread) const {
  SmallVector<char> Buffer;
  return readSmall(file("task/" + std::to_string(Thread) + "/comm"), Buffer).str();
}

std::optional<Look> Sampler::look() {
  DIR *Tasks = opendir(file("task").c_str());
  if (!Tasks)
    return std::nullopt;
  auto Close = make_scope_exit([&] { closedir(Tasks); });
  Look Seen;
  std::vector<std::pair<pid_t, Sleep>> InFutex;
  SmallVector<char> Buffer;
  while (const dirent *Task = readdir(Tasks)) {
    pid_t Thread;
    if (StringRef(Task->d_name).getAsInteger(10, Thread))
      continue;
    std::string Name = file(std::string("task/") + Task->d_name + "/syscall");
    StringRef Text = readSmall(Name, Buffer);
    if (Text.empty()) {
      if (errno == EPERM || errno == EACCES)
        return std::nullopt;
      continue; // it has ended
    }
    auto [First, Rest] = Text.split(' ');
    long Call;
    Sleep At;
    if (First.getAsInteger(10, Call) || Call < 0) {
      Seen.Threads[Thread] = std::nullopt;
      continue;
    }
    Seen.Threads[Thread] = At.Call = Call;
    SmallVector<StringRef, 8> Words;
    Rest.split(Words, ' ');
    if (Call != SYS_futex || Words.size() < 7)
      continue;
    for (size_t I = 0; I < 6; ++I)
      if (Words[I].getAsInteger(0, At.Arguments[I]))
        At.Arguments[I] = 0;
    if (!Words[6].getAsInteger(0, At.Stack))
      InFutex.push_back({Thread, At});
  }
  if (Seen.Threads.empty()) {
    errno = ESRCH;
    return std::nullopt;
  }
  for (const auto &[Thread, At] : InFutex)
    addWait(Thread, At, Seen);
  return Seen;
}

void Sampler::addWait(pid_t Thread, const Sleep &At, Look &Seen) {
  const uint64_t Address = At.Arguments[0];
  const int Operation = int(At.Arguments[1]) & FUTEX_CMD_MASK;
  MutexWords Mutex;
  if ((Operation != FUTEX_WAIT && Operation != FUTEX_WAIT_BITSET && Operation != FUTEX_LOCK_PI &&
       Operation != FUTEX_LOCK_PI2) ||
      !readMemory(Address, &Mutex, sizeof Mutex))
    return;
  // What is no mutex has no thread's number behind it. One that has just been released has none
  // either; its waiter is about to run.
  if (Mutex.Owner == Thread || !Seen.Threads.count(Mutex.Owner))
    return;
  const bool Numbered = uint32_t(Mutex.Lock & FUTEX_TID_MASK) == uint32_t(Mutex.Owner);
  if (uint32_t(Mutex.Lock) != Contended && !Numbered) // robust and PI mutexes have it in Lock
    return;
  const bool Limited = At.Arguments[3] != 0;
  Seen.Waits.push_back({Thread, Address, programsCall(At.Stack), Mutex.Owner, Limited});
}

// The C library's functions between the call and the stack pointer have small frames, in which
// the first return address into other code is that of the call.
uint64_t Sampler::programsCall(uint64_t Stack) {
  uint64_t Words[128];
  if (!readMemory(Stack, Words, sizeof Words))
    return 0;
  for (uint64_t Word : Words) {
    auto [Known, New] = Calls.try_emplace(Word, false);
    if (New) {
      const Mapped *Module = mappingOf(Word);
      Known->second = Module && Module->Code && !Module->Library && isBehindCall(Word);
    }
    if (Known->second)
      return Word;
    if (Calls.size() > 100000)
      Calls.clear();
  }
  return 0;
}

bool Sampler::isBehindCall(uint64_t Address) const {
  uint8_t Code[8];
  if (!readMemory(Address - sizeof Code, Code, sizeof Code))
    return false;
#if defined(__aarch64__)
  uint32_t Word;
  memcpy(&Word, Code + 4, sizeof Word);
  return (Word & 0xfc000000) == 0x94000000 /* BL */ || (Word & 0xfffffc1f) == 0xd63f0000 /* BLR */;
#else
  if (Code[3] == 0xe8) // CALL rel32
    return true;
  for (int Length : {2, 3, 4, 6, 7}) // CALL r/m64
    if (Code[8 - Length] == 0xff && (Code[9 - Length] & 0x38) == 0x10)
      return true;
  return false;
#endif
}

void Sampler::readModules() {
  Mappings.clear();
  auto Maps = MemoryBuffer::getFileAsStream(file("maps"));
  if (!Maps)
    return;
  std::map<std::string, uint64_t> Biases;
  SmallVector<StringRef> Lines;
  (*Maps)->getBuffer().split(Lines, '\n', -1, /*KeepEmpty=*/false);
  uint64_t Behind = 0; // the end of the last module's mapping, behind which its .bss may follow
  for (StringRef Line : Lines) {
    SmallVector<StringRef, 6> Words;
    Line.split(Words, ' ', 5);
    uint64_t Low, High, Offset;
    auto [From, To] = Words[0].split('-');
    if (Words.size() < 5 || From.getAsInteger(16, Low) || To.getAsInteger(16, High) ||
        Words[2].getAsInteger(16, Offset))
      continue;
    std::string Path = Words.size() == 6 ? Words[5].ltrim().str() : "";
    if (Path.empty() && Low == Behind && !Mappings.empty()) {
      Mappings.back().High = Behind = High;
      continue;
    }
    if (Path.empty() || Path[0] != '/')
      continue;
    std::string Seen = access(Path.c_str(), R_OK) == 0 ? Path : file("root") + Path;
    if (!Biases.count(Path))
      if (std::optional<uint64_t> Bias = biasOf(Seen, Low, Offset))
        Biases[Path] = *Bias;
    if (auto Bias = Biases.find(Path); Bias != Biases.end()) {
      Mappings.push_back(
          {{Seen, Bias->second, Low, High}, Words[1].contains('x'), isLibraryPath(Path)});
      Behind = High;
    }
  }
}

const Sampler::Mapped *Sampler::mappingOf(uint64_t Address) {
  if (Mappings.empty())
    readModules();
  auto At =
      find_if(Mappings, [&](const Mapped &M) { return M.Low <= Address && Address < M.High; });
  return At == Mappings.end() ? nullptr : &*At;
}

const RawModule *Sampler::moduleOf(uint64_t Address) { return mappingOf(Address); }

} // namespace relock
