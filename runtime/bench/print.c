/* SPDX-License-Identifier: MIT
 *
 * Output: a JSON object per line, each written out at once, so that a run that is ended early
 * keeps what it has; or plain tables of medians. The members are described in
 * tool/doc/formats.md.
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

void print_machine(const struct options *options, size_t rows, size_t cells) {
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
    printf("{\"type\":\"machine\",\"format\":\"relock-bench\",\"version\":1");
    print_member("model", model);
    print_member("architecture", name.machine);
    print_member("kernel", kernel);
    print_member("libc", libc);
    printf(",\"processors\":%ld,\"allowed\":%d,\"cycles_per_second\":%.0f,\"pinned\":%s,"
           "\"repetitions\":%d,\"milliseconds\":%d,\"rows\":%zu,\"cells\":%zu}\n",
           online, allowed, frequency, options->pin ? "true" : "false", options->repetitions,
           options->milliseconds, rows, cells);
  }
  print_flush();
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
         "\"switches_per_second\":%.1f}\n",
         point->lines, point->delay, point->threads, repetition,
         (unsigned long long)result->operations, result->seconds, result->mean_ns, result->p99_ns,
         result->worst_ns, result->jain, result->switches);
  print_flush();
}

void print_uncontended(const struct row *row, int repetition, const struct uncontended *result) {
  print_row("uncontended", row);
  printf(",\"repetition\":%d,\"ns\":%.2f,\"ns_without_threads\":%.2f}\n", repetition, result->ns,
         result->single_ns);
  print_flush();
}

void print_end(void) {
  printf("{\"type\":\"end\"}\n");
  print_flush();
}

static int ascending(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

/* Three digits, without an exponent where they can do without. */
static void print_short(char *text, size_t size, double value) {
  int decimals = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  if (value > 0 && value < 1)
    snprintf(text, size, "%.3g", value);
  else
    snprintf(text, size, "%.*f", decimals, value);
}

/* "median [least-most]" */
static void print_cell(double *sample, int count, int width) {
  char median[20], least[20], most[20], cell[70];
  qsort(sample, (size_t)count, sizeof *sample, ascending);
  print_short(median, sizeof median, (sample[(count - 1) / 2] + sample[count / 2]) / 2);
  print_short(least, sizeof least, sample[0]);
  print_short(most, sizeof most, sample[count - 1]);
  snprintf(cell, sizeof cell, "%s [%s-%s]", median, least, most);
  printf(" %*s", width, cell);
}

static void print_label(const struct row *row) {
  char label[120];
  snprintf(label, sizeof label, "%s %s", row->lock, row->mode);
  printf("%-26s", label);
}

enum { COLUMN = 22 };

static int digits(int value) { return snprintf(NULL, 0, "%d", value); }

static void print_head(const struct options *options, const char *what) {
  printf("%-26s", what);
  for (int t = 0; t < options->thread_values; t++)
    printf(" %*s%d", COLUMN - digits(options->threads[t]), "T=", options->threads[t]);
  putchar('\n');
}

/* One quantity: a line for each row, a column for each number of threads. */
static void print_quantity(const struct options *options, const struct row *rows, size_t row_count,
                           struct result *results, const char *what,
                           double (*value)(const struct result *)) {
  double *sample = calloc((size_t)options->repetitions, sizeof *sample);
  if (!sample)
    fail(2, "no memory");
  putchar('\n');
  print_head(options, what);
  for (size_t r = 0; r < row_count; r++) {
    print_label(&rows[r]);
    for (int t = 0; t < options->thread_values; t++) {
      for (int i = 0; i < options->repetitions; i++)
        sample[i] =
            value(&results[((size_t)t * row_count + r) * (size_t)options->repetitions + (size_t)i]);
      print_cell(sample, options->repetitions, COLUMN);
    }
    putchar('\n');
  }
  free(sample);
}

static double thousands(const struct result *r) {
  return (double)r->operations / r->seconds / 1000;
}
static double mean_us(const struct result *r) { return r->mean_ns / 1000; }
static double p99_us(const struct result *r) { return r->p99_ns / 1000; }
static double worst_ms(const struct result *r) { return r->worst_ns / 1e6; }
static double fairness(const struct result *r) { return r->jain; }
static double switches(const struct result *r) { return r->switches; }

void print_table(const struct options *options, const struct row *rows, size_t row_count, int lines,
                 int delay, struct result *results) {
  static const struct {
    const char *what;
    double (*value)(const struct result *);
  } quantities[] = {
      {"thousand sections/s", thousands}, {"mean latency, us", mean_us},
      {"p99 latency, us", p99_us},        {"worst latency, ms", worst_ms},
      {"fairness (Jain)", fairness},      {"context switches/s", switches},
  };
  printf("\n%d cache line%s per section, %d cycles between sections; median [least-most] of %d\n",
         lines, lines == 1 ? "" : "s", delay, options->repetitions);
  for (size_t i = 0; i < sizeof quantities / sizeof *quantities; i++)
    print_quantity(options, rows, row_count, results, quantities[i].what, quantities[i].value);
  print_flush();
}

void print_uncontended_table(const struct row *rows, size_t row_count, int repetitions,
                             struct uncontended *results) {
  double *sample = calloc((size_t)repetitions, sizeof *sample);
  if (!sample)
    fail(2, "no memory");
  printf("\nns per empty section, one thread; median [least-most] of %d\n", repetitions);
  printf("%-26s %*s %*s\n", "", COLUMN, "process with threads", COLUMN, "without");
  for (size_t r = 0; r < row_count; r++) {
    const struct uncontended *of_row = &results[r * (size_t)repetitions];
    print_label(&rows[r]);
    for (int i = 0; i < repetitions; i++)
      sample[i] = of_row[i].ns;
    print_cell(sample, repetitions, COLUMN);
    for (int i = 0; i < repetitions; i++)
      sample[i] = of_row[i].single_ns;
    print_cell(sample, repetitions, COLUMN);
    putchar('\n');
  }
  free(sample);
  print_flush();
}
