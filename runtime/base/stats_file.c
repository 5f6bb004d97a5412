/* SPDX-License-Identifier: MIT
 *
 * Statistics as a profile, which `relock report` reads: RELOCK_STATS=FILE. What librelock does not
 * measure (holds, percentiles, places) is 0 or empty, and "source" says who wrote it; what only
 * librelock knows stands in each class's "librelock". Format: tool/profile/README.md.
 *
 * The file appears whole or not at all: it is written beside its place and then renamed.
 */
#define _GNU_SOURCE
#include "stats_file.h"

#include "class.h"
#include "os.h"
#include "thread.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[4096]; /* absolute */
static uint64_t start_ns;
static pid_t start_pid;

bool relock_stats_file_start(const char *file) {
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
  start_ns = relock_os->now_ns();
  start_pid = getpid();
  errno = saved;
  return fits;
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

#define NO_TIMES "\"p50_ns\": 0, \"p99_ns\": 0, \"max_ns\": 0, \"histogram\": []}"

static void put_class(FILE *out, relock_class_t *lock_class) {
  relock_statistics_t s;
  relock_class_statistics(lock_class, &s);
  fputs("  {\"name\": ", out);
  put_string(out, lock_class->name, strlen(lock_class->name));
  fputs(", \"key\": ", out);
  put_string(out, lock_class->name, strlen(lock_class->name));
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
          ", \"switches\": %" PRIu64 "}}",
          s.algorithm, s.held, s.executed, s.delegated, s.batches, s.parked, s.switches);
}

static void put_profile(FILE *out, relock_class_t *const *classes, size_t count) {
  fputs("{\n \"format\": \"relock-profile\", \"version\": 1, \"source\": \"librelock\",\n"
        " \"program\": {\"command\": [",
        out);
  put_command(out);
  fputs("], \"executable\": ", out);
  put_executable(out);
  fprintf(out, ", \"pid\": %d, \"forked\": %s, \"ended\": \"exit\", \"status\": 0},\n",
          (int)getpid(), getpid() == start_pid ? "false" : "true");
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
          relock_os->now_ns() - start_ns, threads, threads);
  for (size_t i = 0; i < count; i++) {
    fputs(i ? ",\n" : "", out);
    put_class(out, classes[i]);
  }
  fputs("\n ]\n}\n", out);
}

void relock_stats_file_write(relock_class_t *const *classes, size_t count, int messages) {
  if (getpid() != start_pid) /* a forked child must not take its parent's place */
    sprintf(path + strlen(path), ".%d", (int)getpid());
  char beside[sizeof path + 16];
  snprintf(beside, sizeof beside, "%s.%d.part", path, (int)getpid());
  FILE *out = fopen(beside, "wxe");
  bool written = false;
  if (out) {
    put_profile(out, classes, count);
    written = !ferror(out);
    written = fclose(out) == 0 && written && rename(beside, path) == 0;
  }
  if (written)
    return;
  dprintf(messages, "relock: RELOCK_STATS: cannot write %s: %s\n", path, strerror(errno));
  if (out)
    unlink(beside);
}
