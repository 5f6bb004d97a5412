/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "stats_file.h"

#include "../base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* How long a reader is waited for where that is not for ever. */
enum { PATIENCE_MS = 500 };

/* True: the descriptor, which does not block, may be written to again. */
static bool await_reader(int descriptor) {
  struct pollfd wanted = {.fd = descriptor, .events = POLLOUT};
  return poll(&wanted, 1, PATIENCE_MS) == 1;
}

static int write_all(int descriptor, const char *text, size_t length) {
  while (length > 0) {
    ssize_t written = write(descriptor, text, length);
    if (written < 0 && errno == EAGAIN && !await_reader(descriptor))
      return ETIMEDOUT;
    if (written < 0 && errno != EINTR && errno != EAGAIN)
      return errno;
    text += written > 0 ? written : 0;
    length -= written > 0 ? (size_t)written : 0;
  }
  return 0;
}

/* Closes the descriptor. */
static int write_to(int descriptor, const char *text, size_t length) {
  int error = write_all(descriptor, text, length);
  if (close(descriptor) != 0 && !error)
    error = errno;
  return error;
}

/* The same. A reader that has gone is an error, and not the end of the program. */
static int write_to_reader(int descriptor, const char *text, size_t length) {
  const struct timespec now = {0};
  sigset_t pipe, before, pending;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  sigpending(&pending);
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  const int error = write_to(descriptor, text, length);
  if (error == EPIPE && !sigismember(&pending, SIGPIPE))
    sigtimedwait(&pipe, NULL, &now);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return error;
}

static int fail_with(int descriptor, int error) {
  close(descriptor);
  errno = error;
  return -1;
}

static int connect_to(const char *file) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0)
    return -1;
  if (strlen(file) >= sizeof address.sun_path)
    return fail_with(descriptor, ENAMETOOLONG);
  strcpy(address.sun_path, file);
  if (connect(descriptor, (const struct sockaddr *)&address, sizeof address) != 0)
    return fail_with(descriptor, errno);
  return descriptor;
}

/* A pipe or a device is written to, not replaced. One that nobody reads is an error: the process is
 * about to end, or the next time comes. */
static int write_special(const char *file, mode_t mode, const char *text, size_t length,
                         bool in_handler) {
  const int descriptor =
      S_ISSOCK(mode) ? connect_to(file) : open(file, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (descriptor < 0)
    return errno;
  if (!in_handler)
    fcntl(descriptor, F_SETFL, O_WRONLY); /* a reader that is slow is waited for */
  return write_to_reader(descriptor, text, length);
}

/* FILE.THREAD.part: handlers have no snprintf(). False: it does not fit. */
static bool name_beside(char *name, size_t size, const char *file) {
  static const char part[] = ".part";
  char digits[12];
  size_t count = 0, length = strlen(file);
  for (unsigned id = (unsigned)relock_os->thread_id(); id > 0; id /= 10)
    digits[count++] = (char)('0' + id % 10);
  if (length + 1 + count + sizeof part > size)
    return false;
  memcpy(name, file, length);
  name[length++] = '.';
  while (count > 0)
    name[length++] = digits[--count];
  memcpy(name + length, part, sizeof part);
  return true;
}

int relock_stats_file_write(const char *file, enum relock_stats_readers readers, const char *text,
                            size_t length, bool in_handler) {
  static char beside[4096 + 64]; /* more than a handler's stack may have room for */
  struct stat found;
  if (stat(file, &found) == 0 && !S_ISREG(found.st_mode))
    return write_special(file, found.st_mode, text, length, in_handler);
  if (!name_beside(beside, sizeof beside, file))
    return ENAMETOOLONG;
  int descriptor = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, readers);
  if (descriptor < 0 && errno == EEXIST && unlink(beside) == 0) /* of one that was killed */
    descriptor = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, readers);
  if (descriptor < 0)
    return errno;
  int error = write_to(descriptor, text, length);
  if (!error && rename(beside, file) != 0)
    error = errno;
  if (error)
    unlink(beside);
  return error;
}

/* --- a file that is kept open ---------------------------------------------------------------- */

static struct stat opened;

int relock_stats_file_open(const char *file, enum relock_stats_readers readers) {
  struct stat found;
  int saved = errno, descriptor = -1, high = -1;
  if (stat(file, &found) != 0 || S_ISREG(found.st_mode))
    descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY | O_CLOEXEC, readers);
  if (descriptor >= 0) {
    /* Out of the way of programs that count on the numbers of theirs. */
    high = fcntl(descriptor, F_DUPFD_CLOEXEC, 100);
    close(descriptor);
  }
  if (high >= 0 && fstat(high, &opened) != 0) {
    close(high);
    high = -1;
  }
  errno = saved;
  return high;
}

/* Programs that close all descriptors close this one, too, and get its number for their own; and
 * the file may have been replaced. */
bool relock_stats_file_write_open(int descriptor, const char *text, size_t length, int *error) {
  struct stat now;
  if (descriptor < 0 || fstat(descriptor, &now) != 0 || now.st_dev != opened.st_dev ||
      now.st_ino != opened.st_ino || now.st_nlink == 0)
    return false;
  if (now.st_size > 0 && ftruncate(descriptor, 0) != 0) {
    *error = errno;
    return true;
  }
  *error = write_all(descriptor, text, length);
  return true;
}
