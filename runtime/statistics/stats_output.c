/* SPDX-License-Identifier: MIT
 *
 * Invariant: reports and texts are made, and the files of RELOCK_STATS and of `relock profile`
 * written, by one thread at a time, which has RELOCK_GUARD_OUTPUT, and these files by none after
 * the exit report.
 *
 * On a signal, its handler writes, or if a guard is taken that it needs, by the thread that it has
 * interrupted perhaps, who has that one, when it is released. All that is called there can be
 * called in handlers: it has no state but what those guards guard, and asks the system by functions
 * that POSIX allows there, and for memory by mmap(2).
 *
 * What is written at exit has been opened, and made room for, at the start: by then the program may
 * have forbidden itself to open files, and be killed for it.
 */
#define _GNU_SOURCE
#include "stats_output.h"

#include "../base/counters.h"
#include "../base/guard.h"
#include "../base/os.h"
#include "../base/panic.h"
#include "../base/signals.h"
#include "processor.h"
#include "recorder.h"
#include "stats_file.h"
#include "stats_metrics.h"
#include "stats_report.h"
#include "stats_share.h"
#include "stats_text.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static char path[4096];            /* of RELOCK_STATS, absolute, with its %p; or empty */
static int path_descriptor = -1;   /* see relock_stats_file_open() */
static char folder[4096];          /* of `relock profile`; or empty */
static struct relock_share *share; /* in it; or null */
static size_t share_size;
static bool tables; /* at exit */
static bool metrics;
static uint32_t period_s;
static int signal_number;
static bool forked;

/* Where messages and tables go: a duplicate of the standard error of the start, since some programs
 * close theirs before they end. */
static int start_descriptor = -1;

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

static const char process_id[] = "%p"; /* in a path */

/* The name of the file in this process. A forked child must not take its parent's place. Null: it
 * is too long. */
static const char *file_name(void) {
  static char name[sizeof path + 32]; /* more than a handler's stack may have room for */
  const int pid = relock_stats_text_pid();
  const char *rest = path, *found;
  relock_text_begin();
  while ((found = strstr(rest, process_id))) {
    for (; rest < found; rest++)
      relock_put_char(*rest);
    relock_put("%d", pid);
    rest += sizeof process_id - 1;
  }
  relock_put("%s", rest);
  if (forked && rest == path)
    relock_put(".%d", pid);
  size_t length;
  const char *text = relock_text_end(&length);
  if (!text || length >= sizeof name)
    return NULL;
  memcpy(name, text, length);
  name[length] = '\0';
  return name;
}

static enum relock_stats_readers readers(void) {
  return metrics ? RELOCK_READ_BY_ALL : RELOCK_READ_BY_OWNER;
}

void relock_stats_start(const struct relock_stats_wanted *wanted) {
  if (wanted->file && !keep_path(wanted->file))
    relock_usage_error("RELOCK_STATS: the file name '%s' is too long", wanted->file);
  tables = !wanted->file;
  metrics = wanted->metrics;
  period_s = wanted->seconds;
  signal_number = wanted->signal;
  start_descriptor = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 100);
  relock_stats_text_prepare();
  relock_report_prepare();
  const char *file = wanted->file ? file_name() : NULL;
  if (file)
    path_descriptor = relock_stats_file_open(file, readers());
  relock_times_start();
}

/* --- in the folder of `relock profile` ------------------------------------------------------- */

/* Bytes that a file may have. */
static size_t share_may_have(void) {
  struct rlimit limit;
  bool limited = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < RELOCK_SHARE_SIZE;
  return limited ? (size_t)limit.rlim_cur : RELOCK_SHARE_SIZE;
}

/* The room is taken at once: on a full disk, memory that has none would be an error of the bus. */
static struct relock_share *map_share(int file) {
  share_size = share_may_have();
  if (share_size <= sizeof *share || posix_fallocate(file, 0, (off_t)share_size) != 0)
    return NULL;
  void *memory = mmap(NULL, share_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

/* The file alone says that there is something to come: a process that is killed writes no more. */
static void make_share(void) {
  char file[sizeof folder + 32];
  int saved = errno;
  snprintf(file, sizeof file, "%s/%d.librelock", folder, (int)getpid());
  unlink(file); /* of the program that ran in this process before */
  int made = open(file, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0600);
  share = made >= 0 ? map_share(made) : NULL;
  if (share)
    share->magic = RELOCK_SHARE_MAGIC;
  if (made >= 0)
    close(made);
  errno = saved;
}

void relock_stats_start_in(const char *in) {
  if (strlen(in) >= sizeof folder - 32)
    return;
  strcpy(folder, in);
  relock_stats_text_prepare();
  relock_report_prepare();
  make_share();
  relock_processors_load(folder, relock_os->reserve);
  relock_recorder_find();
  relock_times_start();
}

static void write_share(const struct relock_report *report, bool running) {
  const size_t room = share_size - sizeof *share;
  size_t length;
  const char *text = relock_stats_text(report, running, true, &length);
  if (text && length > room)
    text = relock_stats_text(report, running, false, &length);
  /* Release: what is read of the text before is known to be of no use then. Pairs with the acquire
   * of `relock profile`. */
  relock_exchange_acq_rel(&share->length, 0);
  if (!text || length > room)
    return;
  memcpy(share + 1, text, length);
  /* Release: pairs with the acquire of `relock profile`. */
  relock_store_release(&share->length, length);
}

static void *answer(void *unused) {
  uint32_t answered = 0;
  while (!relock_load_seq_cst(&over)) {
    /* Acquire: pairs with the release of `relock profile`. */
    uint32_t asked = relock_load_acquire(&share->asked);
    if (asked == answered) {
      relock_os->shared_futex_wait(&share->asked, asked);
      continue;
    }
    relock_guard_take(RELOCK_GUARD_OUTPUT);
    struct relock_report *report = relock_load_seq_cst(&over) ? NULL : relock_report_take();
    if (report)
      write_share(report, true);
    relock_guard_release(RELOCK_GUARD_OUTPUT);
    answered = asked;
    /* Release: pairs with the acquire of `relock profile`. */
    relock_store_release(&share->answered, answered);
    relock_os->shared_futex_wake(&share->answered, 1);
  }
  return unused;
}

static void end_answers(void) {
  if (!share)
    return;
  relock_store_relaxed(&share->listens, 0);
  /* Pairs with answer(), which looks whether it is over. */
  relock_add_seq_cst(&share->asked, 1);
  relock_os->shared_futex_wake(&share->asked, 1);
}

/* --- the file of RELOCK_STATS ---------------------------------------------------------------- */

static int descriptor(void) {
  return fcntl(start_descriptor, F_GETFD) < 0 ? STDERR_FILENO : start_descriptor;
}

#pragma weak strerrordesc_np /* glibc 2.32; strerror() is not for handlers */

static void complain(const char *file, int error, bool in_handler) {
  if (relock_exchange_seq_cst(&complained, 1))
    return;
  const char *why = strerrordesc_np ? strerrordesc_np(error) : NULL;
  if (!why && !in_handler)
    why = strerror(error);
  relock_text_begin();
  relock_put("relock: RELOCK_STATS: cannot write %s: ", file);
  relock_put(why ? "%s\n" : "an error\n", why);
  size_t length;
  const char *text = relock_text_end(&length);
  if (text && write(descriptor(), text, length) < 0)
    return; /* nowhere left to say it */
}

enum moment { ON_SIGNAL, MEANWHILE, AT_EXIT };

static const char *make_text(const struct relock_report *report, enum moment moment,
                             size_t *length) {
  if (metrics)
    return relock_stats_metrics(report, strstr(path, process_id) != NULL, length);
  return relock_stats_text(report, moment != AT_EXIT,
                           relock_stats_text_has_places(moment == ON_SIGNAL), length);
}

static void write_file(const struct relock_report *report, enum moment moment) {
  const char *file = file_name();
  const bool kept = moment == AT_EXIT && !forked;
  size_t length;
  int error = ENAMETOOLONG;
  const char *text = file ? make_text(report, moment, &length) : NULL;
  if (file && !text)
    error = ENOMEM;
  if (text && !(kept && relock_stats_file_write_open(path_descriptor, text, length, &error)))
    error = relock_stats_file_write(file, readers(), text, length, moment == ON_SIGNAL);
  if (error)
    complain(file ? file : path, error, moment == ON_SIGNAL);
}

int relock_stats_write(const char *file) {
  int saved = errno, state;
  size_t length;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
  relock_guard_take(RELOCK_GUARD_OUTPUT);
  relock_stats_text_prepare();
  const struct relock_report *report = relock_report_take();
  const char *text = report ? relock_stats_text(report, true, true, &length) : NULL;
  int error =
      text ? relock_stats_file_write(file, RELOCK_READ_BY_OWNER, text, length, false) : ENOMEM;
  relock_guard_release(RELOCK_GUARD_OUTPUT);
  pthread_setcancelstate(state, NULL);
  errno = saved;
  return error;
}

/* --- on a signal ----------------------------------------------------------------------------- */

/* The file is to be written. Changed by exchanges, each of which pairs with is_signalled(). */
static uint32_t signalled;

/* An atomic operation, which the guards' releases come before: pairs with itself, in the handler
 * and in who has a guard that the handler wants. */
static bool is_signalled(void) { return relock_add_seq_cst(&signalled, 0) != 0; }

/* With OUTPUT. False: the list of classes is being used. */
static bool write_signalled(void) {
  struct relock_report *report = NULL;
  if (relock_load_seq_cst(&over)) {
    relock_exchange_seq_cst(&signalled, 0);
    return true;
  }
  if (!relock_report_take_if_free(&report))
    return false;
  relock_exchange_seq_cst(&signalled, 0);
  if (report)
    write_file(report, ON_SIGNAL);
  return true;
}

/* By the handler, and behind each release of the two guards. */
static void serve_signal(void) {
  if (!is_signalled())
    return;
  const int saved = errno;
  int state;
  bool written = true;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
  while (is_signalled() && (written || !relock_guard_is_taken(RELOCK_GUARD_CLASSES)) &&
         relock_guard_try(RELOCK_GUARD_OUTPUT)) {
    written = write_signalled();
    relock_guard_release_quietly(RELOCK_GUARD_OUTPUT);
  }
  pthread_setcancelstate(state, NULL);
  errno = saved;
}

/* In the child of a vfork() the memory is its parent's. */
static void take_signal(int number, siginfo_t *info, void *context) {
  (void)number, (void)info, (void)context;
  if (relock_os->process_id() != relock_stats_text_pid())
    return;
  relock_exchange_seq_cst(&signalled, 1);
  serve_signal();
}

void relock_stats_signal_start(void) {
  if (signal_number == 0)
    return;
  relock_guards_tell(serve_signal);
  if (!relock_signals_keep(signal_number, take_signal))
    relock_say("RELOCK_STATS_SIGNAL: there is a handler of signal %d already: no statistics are "
               "written on it; name another one",
               signal_number);
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
    relock_guard_take(RELOCK_GUARD_OUTPUT);
    struct relock_report *report = relock_load_seq_cst(&over) ? NULL : relock_report_take();
    if (report)
      write_file(report, MEANWHILE);
    relock_guard_release(RELOCK_GUARD_OUTPUT);
  }
  return unused;
}

void relock_stats_thread_start(void) {
  int error = period_s ? relock_os->start_thread(write_meanwhile, NULL, "relock-stats") : 0;
  if (error)
    relock_say("RELOCK_STATS_EVERY: no thread can be started, the file is written at exit: %s",
               strerror(error));
  if (share && relock_os->start_thread(answer, NULL, RELOCK_SHARE_THREAD) == 0)
    /* Release: pairs with the acquire of `relock profile`. */
    relock_store_release(&share->listens, 1);
}

void relock_stats_first_thread_ends(void) {
  relock_exchange_seq_cst(&over, 1);
  relock_os->futex_wake(&over, 1);
  end_answers();
}

void relock_stats_output_after_fork(void) {
  forked = true;
  relock_store_relaxed(&signalled, 0);
  relock_stats_text_after_fork();
  if (share)
    munmap(share, share_size);
  share = NULL;
  if (folder[0])
    make_share();
}

/* --- at exit --------------------------------------------------------------------------------- */

__attribute__((destructor)) static void report_at_exit(void) {
  if (!relock_load_relaxed(&relock_stats_timed))
    return;
  relock_exchange_seq_cst(&over, 1);
  relock_guard_take(RELOCK_GUARD_OUTPUT);
  struct relock_report *report = relock_report_take();
  if (report && share)
    write_share(report, false);
  if (report && path[0])
    write_file(report, AT_EXIT);
  if (report && tables)
    relock_report_print(report, descriptor());
  relock_guard_release(RELOCK_GUARD_OUTPUT);
}
