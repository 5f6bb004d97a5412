/* SPDX-License-Identifier: MIT
 *
 * Reading of the environment, but for what names lock classes and algorithms.
 */
#define _GNU_SOURCE
#include "options.h"

#include "atomic.h"
#include "panic.h"
#include "topology.h"

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static uint32_t cluster_count, balanced_servers;

struct relock_tuning relock_tuning = {
#define RELOCK_TUNABLE(name, value, least, greatest) .name = value,
#include "tunables.def"
};

static const struct tunable {
  const char *name;
  uint32_t *value;
  uint32_t least, greatest;
} tunables[] = {
#define RELOCK_TUNABLE(name, value, least, greatest) {#name, &relock_tuning.name, least, greatest},
#include "tunables.def"
};
static const char tunable_names[] =
#define RELOCK_TUNABLE(name, value, least, greatest) " " #name
#include "tunables.def"
    ;

static const struct tunable *find_tunable(const char *name, size_t length) {
  for (size_t i = 0; i < sizeof tunables / sizeof *tunables; i++)
    if (strlen(tunables[i].name) == length && memcmp(tunables[i].name, name, length) == 0)
      return &tunables[i];
  return NULL;
}

static void read_tuning(const char *at) {
  while (*at) {
    size_t length = strcspn(at, ",");
    size_t name_length = strcspn(at, "=,");
    const struct tunable *tunable = find_tunable(at, name_length);
    if (!tunable || name_length == length)
      relock_usage_error("RELOCK_TUNE: '%.*s' is not of the form name=value; the names are:%s",
                         (int)length, at, tunable_names);
    char *end;
    unsigned long value = strtoul(at + name_length + 1, &end, 10);
    if (end != at + length || end == at + name_length + 1 || value < tunable->least ||
        value > tunable->greatest)
      relock_usage_error("RELOCK_TUNE: '%.*s': the value must be a number from %u to %u",
                         (int)length, at, tunable->least, tunable->greatest);
    *tunable->value = (uint32_t)value;
    at += length + (at[length] == ',');
  }
}

/* Two more than the processor, so that 0 is NOT_GIVEN and 1 is any. */
static uint32_t server_cpu[RELOCK_MAX_SERVERS];

int relock_option_server_cpu(unsigned server) {
  return (int)relock_load_relaxed(&server_cpu[server - 1]) + RELOCK_CPU_NOT_GIVEN;
}

static void read_servers(const char *at) {
  while (*at) {
    size_t length = strcspn(at, ",");
    char *end;
    unsigned long number = strtoul(at, &end, 10), cpu = 0;
    bool valid = end > at && *end == '=' && number >= 1 && number <= RELOCK_MAX_SERVERS;
    bool any = valid && (size_t)(at + length - end) == 4 && strncmp(end, "=any", 4) == 0;
    if (valid && !any) {
      valid = strncmp(end, "=cpu:", 5) == 0 && end[5] >= '0' && end[5] <= '9';
      cpu = valid ? strtoul(end + 5, &end, 10) : 0;
      valid = valid && end == at + length && cpu < RELOCK_MAX_CPUS;
    }
    if (!valid)
      relock_usage_error(
          "RELOCK_SERVERS: '%.*s' is not of the form N=cpu:C or N=any, with a server "
          "N from 1 to %d and a processor C",
          (int)length, at, RELOCK_MAX_SERVERS);
    relock_store_relaxed(&server_cpu[number - 1], any ? 1u : (uint32_t)cpu + 2);
    at += length + (at[length] == ',');
  }
}

void relock_option_number(const char *variable, uint32_t greatest, uint32_t *number) {
  const char *text = secure_getenv(variable);
  if (!text || !*text)
    return;
  char *end;
  unsigned long value = strtoul(text, &end, 10);
  if (*end || value < 1 || value > greatest)
    relock_usage_error("%s: '%s' is not a number from 1 to %u", variable, text, greatest);
  relock_store_relaxed(number, (uint32_t)value);
}

/* Not those that the system raises, or that stop and end programs. */
static const struct signal_name {
  const char *name;
  int number;
} signals[] = {{"HUP", SIGHUP}, {"USR1", SIGUSR1}, {"USR2", SIGUSR2},  {"URG", SIGURG},
               {"IO", SIGIO},   {"PWR", SIGPWR},   {"WINCH", SIGWINCH}};

/* USR2, SIGUSR2; RTMIN+1. 0: no such signal. */
static int signal_named(const char *name) {
  static const char real_time[] = "RTMIN+";
  const size_t prefix = sizeof real_time - 1;
  name += strncmp(name, "SIG", 3) == 0 ? 3 : 0;
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
    if (strcmp(name, signals[i].name) == 0)
      return signals[i].number;
  if (strncmp(name, real_time, prefix) != 0 || name[prefix] < '0' || name[prefix] > '9')
    return 0;
  char *end;
  const unsigned long above = strtoul(name + prefix, &end, 10);
  return !*end && above <= (unsigned long)(SIGRTMAX - SIGRTMIN) ? SIGRTMIN + (int)above : 0;
}

int relock_option_signal(const char *variable) {
  const char *text = secure_getenv(variable);
  if (!text || !*text)
    return 0;
  const int number = signal_named(text);
  if (number == 0)
    relock_usage_error(
        "%s: no signal '%s'; the signals are: HUP USR1 USR2 URG IO PWR WINCH RTMIN+N", variable,
        text);
  return number;
}

void relock_options_read_values(void) {
  const char *tuning = secure_getenv("RELOCK_TUNE");
  if (tuning)
    read_tuning(tuning);
  const char *servers = secure_getenv("RELOCK_SERVERS");
  if (servers)
    read_servers(servers);
  relock_option_number("RELOCK_BALANCE", RELOCK_MAX_SERVERS, &balanced_servers);
  relock_option_number("RELOCK_CLUSTERS", RELOCK_MAX_CLUSTERS, &cluster_count);
}

unsigned relock_option_balance(void) { return relock_load_relaxed(&balanced_servers); }

unsigned relock_option_clusters(void) { return relock_load_relaxed(&cluster_count); }
