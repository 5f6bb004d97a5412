/* SPDX-License-Identifier: MIT
 *
 * Statistics as a profile, which `relock report` reads: RELOCK_STATS=FILE. What librelock does not
 * measure (holds, percentiles, places) is 0 or empty, and "source" says who wrote it; what only
 * librelock knows stands in each class's "librelock". Format: tool/profile/README.md.
 *
 * The file appears whole or not at all: it is written beside its place and then renamed. What is no
 * file, such as a pipe or /dev/null, is written to.
 */
#define _GNU_SOURCE
#include "stats_file.h"

#include "atomic.h"
#include "options.h"
#include "os.h"
#include "stats_report.h"
#include "thread.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t start_ns;
static pid_t start_pid;

void relock_stats_file_start(void) {
  relock_store_relaxed(&start_ns, relock_os->now_ns());
  relock_store_relaxed(&start_pid, getpid());
}

static void put_string(FILE *out, const char *text, size_t length) {
  putc('"', out);
  for (size_t i = 0; i < length; i++) {
    unsigned char c = (unsigned char)text[i];
    if (c == '"' || c == '\\')
      fprintf(out, "\\%c", c);
    else if (c < ' ' || c >= 0x7f)
      fprintf(out, "\\u%04x", c); /* bytes above are taken for Latin-1 */
    else
      putc(c, out);
  }
  putc('"', out);
}

static void put_command(FILE *out) {
  char text[4096];
  FILE *in = fopen("/proc/self/cmdline", "re");
  size_t length = in ? fread(text, 1, sizeof text, in) : 0;
  if (in)
    fclose(in);
  for (size_t at = 0; at < length;) {
    size_t word = strnlen(text + at, length - at);
    fputs(at ? ", " : "", out);
    put_string(out, text + at, word);
    at += word + 1;
  }
}

static void put_executable(FILE *out) {
  char text[4096];
  ssize_t length = readlink("/proc/self/exe", text, sizeof text);
  put_string(out, text, length > 0 ? (size_t)length : 0);
}

static void put_model(FILE *out) {
  char line[512];
  const char *model = "unknown";
  FILE *in = fopen("/proc/cpuinfo", "re");
  while (in && fgets(line, sizeof line, in))
    if (strncmp(line, "model name", 10) == 0 && strchr(line, ':')) {
      line[strcspn(line, "\n")] = '\0';
      model = strchr(line, ':') + 2;
      break;
    }
  if (in)
    fclose(in);
  put_string(out, model, strlen(model));
}

#define NO_TIMES "\"p50_ns\": 0, \"p90_ns\": 0, \"p99_ns\": 0, \"max_ns\": 0, \"histogram\": []}"

static void put_class(FILE *out, const struct relock_report_class *entry) {
  const relock_statistics_t s = entry->counts;
  fputs("  {\"name\": ", out);
  put_string(out, entry->name, strlen(entry->name));
  fputs(", \"key\": ", out);
  put_string(out, entry->name, strlen(entry->name));
  fprintf(out,
          ", \"kind\": \"class\", \"module\": \"\", \"file\": \"\", \"line\": 0,\n"
          "   \"objects\": %" PRIu64 ", \"held_at_end\": 0, \"acquisitions\": %" PRIu64
          ", \"contended\": %" PRIu64 ", \"handovers\": 0,\n"
          "   \"trylock_failures\": 0, \"timeouts\": 0, \"condition_waits\": 0, "
          "\"reentries\": 0,\n",
          s.mutexes, s.held + s.executed, s.contended);
  fprintf(out,
          "   \"wait\": {\"count\": %" PRIu64 ", \"total_ns\": %" PRIu64 ", \"mean_ns\": %" PRIu64
          ", " NO_TIMES ",\n   \"hold\": {\"count\": 0, \"total_ns\": 0, \"mean_ns\": 0, " NO_TIMES
          ",\n",
          s.contended, s.wait_ns, s.contended ? s.wait_ns / s.contended : 0);
  fprintf(out,
          "   \"librelock\": {\"algorithm\": \"%s\", \"held\": %" PRIu64 ", \"executed\": %" PRIu64
          ", \"delegated\": %" PRIu64 ", \"batches\": %" PRIu64 ", \"parked\": %" PRIu64
          ", \"switches\": %" PRIu64,
          s.algorithm, s.held, s.executed, s.delegated, s.batches, s.parked, s.switches);
  if (s.server)
    fprintf(out, ", \"server\": %u", s.server);
  fputs("}}", out);
}

/* Without the decimal point of the program's locale. */
static void put_rate(FILE *out, const char *name, double rate) {
  uint64_t millionths = (uint64_t)(rate * 1e6 + 0.5);
  fprintf(out, ", \"%s\": %" PRIu64 ".%06" PRIu64, name, millionths / 1000000,
          millionths % 1000000);
}

static void put_server(FILE *out, const struct relock_report_server *entry) {
  const relock_server_statistics_t *s = &entry->counts;
  fprintf(out,
          "  {\"number\": %u, \"sections\": %" PRIu64 ", \"passes\": %" PRIu64
          ", \"active_passes\": %" PRIu64,
          entry->number, s->sections, s->passes, s->active_passes);
  put_rate(out, "use_rate", s->use_rate);
  put_rate(out, "false_serialization", s->false_serialization);
  put_rate(out, "slow_rate", s->slow_rate);
  fprintf(out,
          ",\n   \"manager_wakes\": %" PRIu64 ", \"activations\": %" PRIu64 ", \"sleeps\": %" PRIu64
          ", \"cache_misses\": ",
          s->manager_wakes, s->activations, s->sleeps);
  if (s->cache_misses)
    fprintf(out, "%" PRIu64, s->cache_misses);
  else
    fputs("null", out);
  fprintf(out, ", \"threads\": %u, \"cpu\": ", s->threads);
  if (s->cpu >= 0)
    fprintf(out, "%d", s->cpu);
  else
    fputs("null", out);
  fprintf(out, ", \"fifo\": %s}", s->realtime ? "true" : "false");
}

static void put_profile(FILE *out, const struct relock_report *report, bool running) {
  fputs("{\n \"format\": \"relock-profile\", \"version\": 1, \"source\": \"librelock\",\n"
        " \"program\": {\"command\": [",
        out);
  put_command(out);
  fputs("], \"executable\": ", out);
  put_executable(out);
  fprintf(out, ", \"pid\": %d, \"forked\": %s, \"ended\": \"%s\", \"status\": 0},\n", (int)getpid(),
          getpid() == relock_load_relaxed(&start_pid) ? "false" : "true",
          running ? "running" : "exit");
  fputs(" \"machine\": {\"model\": ", out);
  put_model(out);
  uint32_t threads = relock_threads_end();
  fprintf(out, ", \"processors\": %u, \"ticks_per_second\": 1000000000},\n", relock_os->cpus());
  fprintf(out,
          " \"duration_ns\": %" PRIu64 ", \"threads\": %u, \"threads_at_once\": %u,\n"
          " \"thread_ns\": 0, \"section_ns\": 0, \"sections\": 0, \"section_share\": 0,\n"
          " \"foreign_releases\": 0,\n"
          " \"overhead\": {\"per_acquisition_ns\": 0, \"plain_pair_ns\": 0, \"hold_bias_ns\": 0, "
          "\"total_ns\": 0},\n"
          " \"dropped\": {\"mutex_operations\": 0, \"times\": 0, \"threads\": 0, "
          "\"nested_operations\": 0, \"modules\": 0, \"processes\": 0},\n"
          " \"classes\": [\n",
          relock_os->now_ns() - relock_load_relaxed(&start_ns), threads, threads);
  for (size_t i = 0; i < report->class_count; i++) {
    fputs(i ? ",\n" : "", out);
    put_class(out, &report->classes[i]);
  }
  fputs("\n ]", out);
  for (size_t i = 0; i < report->server_count; i++) {
    fputs(i ? ",\n" : ",\n \"servers\": [\n", out);
    put_server(out, &report->servers[i]);
  }
  fputs(report->server_count ? "\n ]\n}\n" : "\n}\n", out);
}

/* Closes the descriptor. */
static int write_to(int descriptor, const struct relock_report *report, bool running) {
  FILE *out = fdopen(descriptor, "w");
  int error = out ? 0 : errno;
  if (!out) {
    close(descriptor);
    return error;
  }
  put_profile(out, report, running);
  if (fflush(out) != 0)
    error = errno;
  if (fclose(out) != 0 && !error)
    error = errno;
  return error;
}

/* A pipe or a device is written to, not replaced. One that nobody reads is an error: the process is
 * about to end. */
static int write_special(const char *file, const struct relock_report *report, bool running) {
  int descriptor = open(file, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (descriptor < 0)
    return errno;
  fcntl(descriptor, F_SETFL, O_WRONLY); /* a reader that is slow is waited for */
  return write_to(descriptor, report, running);
}

int relock_stats_file_write(const char *file, const struct relock_report *report, bool running) {
  char beside[4096 + 64];
  struct stat found;
  if (stat(file, &found) == 0 && !S_ISREG(found.st_mode))
    return write_special(file, report, running);
  int length = snprintf(beside, sizeof beside, "%s.%d.part", file, relock_os->thread_id());
  if (length < 0 || (size_t)length >= sizeof beside)
    return ENAMETOOLONG;
  int descriptor = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0)
    return errno;
  int error = write_to(descriptor, report, running);
  if (!error && rename(beside, file) != 0)
    error = errno;
  if (error)
    unlink(beside);
  return error;
}

int relock_statistics_write(const char *file) {
  int saved = errno, state;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
  relock_options_read();
  struct relock_report *report = relock_report_take();
  int error = report ? relock_stats_file_write(file, report, true) : ENOMEM;
  free(report);
  pthread_setcancelstate(state, NULL);
  errno = saved;
  return error;
}
