// SPDX-License-Identifier: MIT
//
// A mount namespace of its own, in which the copy is mounted over the folder: nobody else sees
// that, and it ends with the processes in it. Who may not mount gets a user namespace as well, in
// which he has his own numbers, and no rights outside that he did not have.
#include "driver/Scratch.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace relock {

Expected<Scratch> Scratch::make(StringRef Folder, StringRef From, StringRef Copy) {
  SmallString<256> Current;
  if (std::error_code Code = sys::fs::current_path(Current))
    return createStringError(Code, "the current folder has no path: " + Code.message());
  if (std::error_code Code = sys::fs::create_directories(Copy))
    return createStringError(Code, "'" + Copy + "' cannot be made: " + Code.message());
  // With the times of the files: what was built counts as built.
  ErrorOr<std::string> Program = sys::findProgramByName("cp");
  if (!Program)
    return createStringError("there is no 'cp'");
  std::string Wrong, All = (From + "/.").str(), To = Copy.str();
  int Status = sys::ExecuteAndWait(*Program, {"cp", "-a", "--reflink=auto", "--", All, To},
                                   std::nullopt, {}, 0, 0, &Wrong);
  if (Status)
    return createStringError("'" + From + "' could not be copied to '" + Copy + "'" +
                             (Wrong.empty() ? "; is the disk full?" : ": " + Wrong));
  return Scratch(Folder.str(), Copy.str(), Current.str().str());
}

bool Scratch::rootIsMount() {
  struct statx Root;
  if (statx(AT_FDCWD, "/", 0, 0, &Root) || !(Root.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT))
    return true; // an older kernel does not say; then entering fails
  return Root.stx_attributes & STATX_ATTR_MOUNT_ROOT;
}

static bool write(const char *File, const std::string &Text) {
  int Descriptor = open(File, O_WRONLY | O_CLOEXEC);
  bool Written =
      Descriptor >= 0 && ::write(Descriptor, Text.data(), Text.size()) == ssize_t(Text.size());
  close(Descriptor);
  return Written;
}

const char *Scratch::enter() const {
  const std::string User = std::to_string(getuid()), Group = std::to_string(getgid());
  if (unshare(CLONE_NEWNS)) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS))
      return "unshare";
    // Without this, the kernel lets nobody name his group.
    write("/proc/self/setgroups", "deny");
    if (!write("/proc/self/uid_map", User + " " + User + " 1") ||
        !write("/proc/self/gid_map", Group + " " + Group + " 1"))
      return "uid_map";
  }
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) ||
      mount(Copy.c_str(), Folder.c_str(), nullptr, MS_BIND | MS_REC, nullptr))
    return "mount";
  return chdir(Current.c_str()) ? "chdir" : nullptr;
}

int Scratch::run(const std::vector<std::string> &Words, const std::vector<std::string> &Variables,
                 const std::string &Log) const {
  std::vector<char *> Pointers;
  for (const std::string &Word : Words)
    Pointers.push_back(const_cast<char *>(Word.c_str()));
  Pointers.push_back(nullptr);
  int File = open(Log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (File < 0)
    return -1;
  pid_t Pid = fork();
  if (Pid == 0) {
    dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
    dup2(File, STDOUT_FILENO);
    dup2(File, STDERR_FILENO);
    const char *Failed = enter();
    for (const std::string &Variable : Variables)
      putenv(const_cast<char *>(Variable.c_str()));
    if (!Failed) {
      execvp(Pointers[0], Pointers.data());
      Failed = Pointers[0];
    }
    dprintf(STDERR_FILENO, "relock: %s: %s\n", Failed, strerror(errno));
    _exit(127);
  }
  close(File);
  int Status = -1;
  while (Pid > 0 && waitpid(Pid, &Status, 0) < 0 && errno == EINTR)
    ;
  return Pid > 0 ? Status : -1;
}

} // namespace relock
