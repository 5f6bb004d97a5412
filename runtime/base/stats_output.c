/* SPDX-License-Identifier: MIT
 *
 * Invariant: the files of RELOCK_STATS and of `relock profile` are written by one thread at a time,
 * which has output_word, and by none after the exit report.
 */
#define _GNU_SOURCE
#include "stats_output.h"

#include "options.h"
#include "os.h"
#include "panic.h"
#include "stats.h"
#include "stats_file.h"
#include "stats_report.h"
#include "word.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[4096];   /* of RELOCK_STATS, absolute; or empty */
static char folder[4096]; /* of `relock profile`; or empty */
static bool tables;       /* at exit */
static uint32_t period_s;
static pid_t start_pid;

/* Where messages and tables go: a duplicate of the standard error of the start, since some programs
 * close theirs before they end. */
static int start_descriptor = -1;

static uint32_t output_word;
static uint32_t over; /* the thread that writes is to end; a futex */
static uint32_t complained;

/* A relative name is one of the directory at the start. */
static bool keep_path(const char *file) {
  int saved = errno;
  size_t length = 0;
  if (file[0] != '/') {
    if (!getcwd(path, sizeof path))
      return false;
    length = strlen(path);
    path[length++] = '/';
  }
  bool fits = length + strlen(file) + 32 < sizeof path;
  if (fits)
    strcpy(path + length, file);
  errno = saved;
  return fits;
}

void relock_stats_start(const char *file, uint32_t seconds) {
  if (file && !keep_path(file))
    relock_usage_error("RELOCK_STATS: the file name '%s' is too long", file);
  tables = !file;
  start_pid = getpid();
  period_s = seconds;
  start_descriptor = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 100);
  relock_store_relaxed(&relock_stats_timed, 1);
}

static void name_in_folder(char *file, size_t size) {
  snprintf(file, size, "%s/%d.librelock", folder, (int)getpid());
}

/* An empty file says that there is something to come: a process that is killed writes no more. */
static void announce(void) {
  char file[sizeof folder + 32];
  int saved = errno;
  name_in_folder(file, sizeof file);
  int made = open(file, O_CREAT | O_WRONLY | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (made >= 0)
    close(made);
  errno = saved;
}

void relock_stats_start_in(const char *in, uint32_t seconds) {
  if (strlen(in) >= sizeof folder - 32)
    return;
  strcpy(folder, in);
  period_s = seconds;
  announce();
  relock_store_relaxed(&relock_stats_timed, 1);
}

static int descriptor(void) {
  return fcntl(start_descriptor, F_GETFD) < 0 ? STDERR_FILENO : start_descriptor;
}

static void lock_output(void) {
  struct relock_wait wait;
  relock_wait_begin(&wait, NULL, NULL);
  relock_word_wait(&output_word, &wait, CLOCK_MONOTONIC, NULL);
}

static void unlock_output(void) { relock_word_release(&output_word); }

/* A forked child must not take its parent's place. */
static void write_file(const struct relock_report *report, bool running) {
  char file[sizeof path + 32];
  if (folder[0]) {
    name_in_folder(file, sizeof file);
    relock_stats_file_write(file, report, running); /* what is missing, `relock profile` says */
  }
  if (!path[0])
    return;
  snprintf(file, sizeof file, getpid() == start_pid ? "%s" : "%s.%d", path, (int)getpid());
  int error = relock_stats_file_write(file, report, running);
  if (error && !relock_exchange_seq_cst(&complained, 1))
    dprintf(descriptor(), "relock: RELOCK_STATS: cannot write %s: %s\n", file, strerror(error));
}

/* --- meanwhile ------------------------------------------------------------------------------- */

/* False: it is over. */
static bool sleep_until(uint64_t ns) {
  const struct timespec deadline = relock_time(ns);
  while (!relock_load_seq_cst(&over) && relock_os->now_ns() < ns)
    relock_os->futex_wait(&over, 0, CLOCK_MONOTONIC, &deadline);
  return !relock_load_seq_cst(&over);
}

static void *write_meanwhile(void *unused) {
  while (sleep_until(relock_os->now_ns() + (uint64_t)period_s * 1000000000)) {
    struct relock_report *report = relock_report_take();
    lock_output();
    if (report && !relock_load_seq_cst(&over))
      write_file(report, true);
    unlock_output();
    free(report);
  }
  return unused;
}

void relock_stats_thread_start(void) {
  relock_options_read();
  int error = period_s ? relock_os->start_thread(write_meanwhile, NULL, "relock-stats") : 0;
  if (error)
    relock_say("RELOCK_STATS_EVERY: no thread can be started, the file is written at exit: %s",
               strerror(error));
}

void relock_stats_first_thread_ends(void) {
  relock_exchange_seq_cst(&over, 1);
  relock_os->futex_wake(&over, 1);
}

void relock_stats_output_after_fork(void) {
  relock_store_relaxed(&output_word, 0);
  if (folder[0])
    announce();
}

/* --- at exit --------------------------------------------------------------------------------- */

__attribute__((destructor)) static void report_at_exit(void) {
  if (!relock_load_relaxed(&relock_stats_timed))
    return;
  relock_exchange_seq_cst(&over, 1);
  struct relock_report *report = relock_report_take();
  if (!report)
    return;
  lock_output();
  write_file(report, false);
  if (tables)
    relock_report_print(report, descriptor());
  unlock_output();
  free(report);
}
