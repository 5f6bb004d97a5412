/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "stats_file.h"

#include "../base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_all(int descriptor, const char *text, size_t length) {
  while (length > 0) {
    ssize_t written = write(descriptor, text, length);
    if (written < 0 && errno != EINTR)
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

/* A pipe or a device is written to, not replaced. One that nobody reads is an error: the process is
 * about to end. */
static int write_special(const char *file, const char *text, size_t length) {
  int descriptor = open(file, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (descriptor < 0)
    return errno;
  fcntl(descriptor, F_SETFL, O_WRONLY); /* a reader that is slow is waited for */
  return write_to(descriptor, text, length);
}

int relock_stats_file_write(const char *file, const char *text, size_t length) {
  char beside[4096 + 64];
  struct stat found;
  if (stat(file, &found) == 0 && !S_ISREG(found.st_mode))
    return write_special(file, text, length);
  int needed = snprintf(beside, sizeof beside, "%s.%d.part", file, relock_os->thread_id());
  if (needed < 0 || (size_t)needed >= sizeof beside)
    return ENAMETOOLONG;
  int descriptor = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
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

int relock_stats_file_open(const char *file) {
  struct stat found;
  int saved = errno, descriptor = -1, high = -1;
  if (stat(file, &found) != 0 || S_ISREG(found.st_mode))
    descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY | O_CLOEXEC, 0600);
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
