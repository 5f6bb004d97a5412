// SPDX-License-Identifier: MIT
//
// A preload library that makes one call go wrong among those by which a process changes files. It
// numbers them from 1. FAULT says what happens to call N:
//
//   kill N      the process dies before it
//   half N      likewise, but of a write half is done
//   fail N E    it fails with the error number E
//   full N      from it on, no call finds room on the disk: nothing is made, nothing written
//   signal N S  the process gets signal S before it
//   edit N FILE somebody else appends a line to FILE before it
//   count       nothing
//
// FAULT_LOG names a file that gets a line for each call: its number, name and path.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static char kind[16], *file;
static unsigned at, number, calls;
static int log_to = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// Programs that the process starts run without faults.
__attribute__((constructor)) static void start(void) {
  const char *fault = getenv("FAULT"), *log = getenv("FAULT_LOG");
  char word[512] = "";
  if (fault && sscanf(fault, "%15s %u %511s", kind, &at, word) == 3) {
    number = atoi(word);
    file = strdup(word);
  }
  if (log)
    log_to = REAL(open64)(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  unsetenv("LD_PRELOAD");
}

static void append_line(void) {
  int edited = REAL(open64)(file, O_WRONLY | O_APPEND | O_CLOEXEC);
  (void)!REAL(write)(edited, "/* edited */\n", 13);
  close(edited);
}

// True: the call fails. Half: of a write, true if half of it is to be done before the process dies.
static int goes_wrong(const char *name, const char *path, int needs_room, int *half) {
  int saved = errno, wrong = 0;
  pthread_mutex_lock(&lock);
  unsigned call = ++calls;
  if (log_to >= 0)
    dprintf(log_to, "%u %s %s\n", call, name, path);
  pthread_mutex_unlock(&lock);
  if (call == at && (!strcmp(kind, "kill") || (!strcmp(kind, "half") && !half)))
    raise(SIGKILL);
  if (call == at && !strcmp(kind, "half"))
    *half = 1;
  if (call == at && !strcmp(kind, "signal"))
    kill(getpid(), number);
  if (call == at && !strcmp(kind, "edit"))
    append_line();
  errno = saved;
  if (call == at && !strcmp(kind, "fail"))
    errno = number, wrong = 1;
  if (call >= at && !strcmp(kind, "full") && needs_room)
    errno = ENOSPC, wrong = 1;
  return wrong;
}

static const char *path_of(int fd) {
  static __thread char path[4096];
  char link[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  path[length > 0 ? length : 0] = 0;
  return path;
}

static int open_anyhow(__typeof__(&open64) real, const char *path, int flags, int mode) {
  int makes = flags & (O_CREAT | O_TRUNC);
  if (makes && goes_wrong("open", path, 1, 0))
    return -1;
  return real(path, flags, mode);
}

int open(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  int mode = va_arg(more, int);
  va_end(more);
  return open_anyhow(REAL(open), path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  int mode = va_arg(more, int);
  va_end(more);
  return open_anyhow(REAL(open64), path, flags, mode);
}

ssize_t write(int fd, const void *text, size_t size) {
  int half = 0;
  if (fd > 2 && goes_wrong("write", path_of(fd), 1, &half))
    return -1;
  if (!half)
    return REAL(write)(fd, text, size);
  (void)!REAL(write)(fd, text, size / 2);
  raise(SIGKILL);
  return -1;
}

#define CALL(name, parameters, arguments, path, needs_room)                                        \
  int name parameters {                                                                            \
    return goes_wrong(#name, path, needs_room, 0) ? -1 : REAL(name) arguments;                     \
  }

CALL(rename, (const char *from, const char *to), (from, to), to, 0)
CALL(unlink, (const char *path), (path), path, 0)
CALL(remove, (const char *path), (path), path, 0)
CALL(rmdir, (const char *path), (path), path, 0)
CALL(mkdir, (const char *path, mode_t mode), (path, mode), path, 1)
CALL(fchmod, (int fd, mode_t mode), (fd, mode), path_of(fd), 0)
CALL(fchown, (int fd, uid_t user, gid_t group), (fd, user, group), path_of(fd), 0)
CALL(utimensat, (int folder, const char *path, const struct timespec times[2], int flags),
     (folder, path, times, flags), path, 0)
CALL(fsync, (int fd), (fd), path_of(fd), 0)
CALL(syncfs, (int fd), (fd), path_of(fd), 0)
