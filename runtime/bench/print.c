/* SPDX-License-Identifier: MIT
 *
 * Output: a JSON object per line, each written out at once, so that a run that is ended early
 * keeps what it has. The members are described in tool/doc/formats.md. Tables: table.c.
 */
#define _GNU_SOURCE
#include "bench.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

void print_flush(void) {
  if (fflush(stdout) != 0 || ferror(stdout))
    fail(2, "standard output cannot be written: %s", strerror(errno));
}

static void read_model(char *model, size_t size) {
  static const char *const keys[] = {"model name", "Model", "CPU part"};
  char line[300];
  snprintf(model, size, "unknown");
  FILE *file = fopen("/proc/cpuinfo", "r");
  while (file && fgets(line, sizeof line, file)) {
    const char *value = strchr(line, ':');
    for (size_t i = 0; value && i < sizeof keys / sizeof *keys; i++) {
      if (strncmp(line, keys[i], strlen(keys[i])) != 0)
        continue;
      snprintf(model, size, "%s", value + 1 + strspn(value + 1, " \t"));
      model[strcspn(model, "\n")] = '\0';
      fclose(file);
      return;
    }
  }
  if (file)
    fclose(file);
}

void print_where(void) {
  char model[200];
  cpu_set_t set;
  double loads[1] = {0};
  read_model(model, sizeof model);
  getloadavg(loads, 1);
  printf("%s, %d processors, load average %.1f\n", model,
         sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0, loads[0]);
}

static void print_member(const char *key, const char *text) {
  printf(",\"%s\":\"", key);
  for (; *text; text++) {
    if (*text == '"' || *text == '\\')
      printf("\\%c", *text);
    else if ((unsigned char)*text < 0x80 && (unsigned char)*text >= ' ')
      putchar(*text);
    else
      printf("\\u%04x", (unsigned char)*text);
  }
  putchar('"');
}

void print_machine(const struct options *options, const struct row *rows, size_t row_count,
                   size_t cells) {
  char model[200], kernel[300], libc[100] = "unknown";
  struct utsname name;
  cpu_set_t set;
  uname(&name);
  snprintf(kernel, sizeof kernel, "%s %s", name.sysname, name.release);
#ifdef __GLIBC__
  snprintf(libc, sizeof libc, "glibc %s", gnu_get_libc_version());
#endif
  read_model(model, sizeof model);
  int allowed = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  double frequency = ticks_per_second() / ticks_per_cycle();
  if (options->table) {
    printf("%s, %ld processors (%d allowed), %.2f GHz, %s, %s; threads %s\n", model, online,
           allowed, frequency / 1e9, kernel, libc, options->pin ? "pinned" : "not pinned");
  } else {
    printf("{\"type\":\"machine\",\"format\":\"relock-bench\",\"version\":2");
    print_member("model", model);
    print_member("architecture", name.machine);
    print_member("kernel", kernel);
    print_member("libc", libc);
    printf(",\"processors\":%ld,\"allowed\":%d,\"cycles_per_second\":%.0f,\"pinned\":%s,"
           "\"repetitions\":%d,\"milliseconds\":%d,\"rows\":%zu,\"cells\":%zu",
           online, allowed, frequency, options->pin ? "true" : "false", options->repetitions,
           options->milliseconds, row_count, cells);
    for (int i = 0; i < options->length_values; i++)
      printf("%s%d", i ? "," : ",\"lengths\":[", options->lengths[i]);
    if (options->length_values)
      putchar(']');
    const struct row *baseline = baseline_of(options, rows, row_count);
    if (baseline) {
      char label[LABEL];
      print_member("baseline", row_label(baseline, label));
    }
    printf("}\n");
  }
  print_flush();
}

const char *row_label(const struct row *row, char *label) {
  snprintf(label, LABEL, "%s %s", row->lock, row->mode);
  return label;
}

static void print_row(const char *type, const struct row *row) {
  printf("{\"type\":\"%s\"", type);
  print_member("lock", row->lock);
  print_member("mode", row->mode);
}

void print_result(const struct row *row, const struct point *point, int repetition,
                  const struct result *result) {
  print_row("cell", row);
  printf(",\"lines\":%d,\"delay\":%ld,\"threads\":%d,\"repetition\":%d,\"operations\":%llu,"
         "\"seconds\":%.6f,\"mean_ns\":%.1f,\"p99_ns\":%.1f,\"worst_ns\":%.1f,\"jain\":%.4f,"
         "\"switches_per_second\":%.1f,\"transfer_ns\":[%.1f,%.1f],\"cycles_per_ns\":[%.3f,%.3f],"
         "\"ticks_per_ns\":%.4f",
         point->lines, point->delay, point->threads, repetition,
         (unsigned long long)result->operations, result->seconds, result->mean_ns, result->p99_ns,
         result->worst_ns, result->jain, result->switches, result->transfer_ns[0],
         result->transfer_ns[1], result->cycles_per_ns[0], result->cycles_per_ns[1],
         result->ticks_per_ns);
  if (result->work > 0)
    printf(",\"service_jain\":%.4f,\"work\":%.0f", result->service_jain, result->work);
  puts("}");
  print_flush();
}

void print_uncontended(const struct row *row, int repetition, const struct uncontended *result) {
  print_row("uncontended", row);
  printf(",\"repetition\":%d,\"ns\":%.2f,\"ns_without_threads\":%.2f,\"cycles_per_ns\":%.3f}\n",
         repetition, result->ns, result->single_ns, result->cycles_per_ns);
  print_flush();
}

void print_end(void) {
  printf("{\"type\":\"end\"}\n");
  print_flush();
}
