/* SPDX-License-Identifier: MIT
 *
 * Options from the environment.
 *
 *   RELOCK_LOCKS="class=algorithm,..."   the last entry that fits a class wins, and an entry that
 *                                        names it wins over "*"
 *   RELOCK_SERVERS="N=cpu:C,..."         server N, from 1 on, has processor C; N=any: none of its
 * own RELOCK_BALANCE=N                     spreads the classes of rcl over servers 1 to N
 *   RELOCK_STATS=1                       statistics at exit, as a table
 *   RELOCK_STATS=FILE                    as a profile, see stats_file.c
 *   RELOCK_STATS_EVERY=SECONDS           and every so often before
 *   RELOCK_PROFILE_DIR=FOLDER            set by `relock profile`: statistics become part of its
 * profile RELOCK_CLUSTERS=N                    see topology.h RELOCK_TUNE="name=value,..." see
 * tunables.def
 */
#ifndef RELOCK_MUTEX_OPTIONS_H
#define RELOCK_MUTEX_OPTIONS_H

#include "../base/atomic.h"

#include <stddef.h>
#include <stdint.h>

struct relock_algorithm;

struct relock_choice {
  const char *name; /* of the class; not terminated */
  size_t name_length;
  const struct relock_algorithm *algorithm;
  unsigned server; /* from 1 on */
};

/* The thresholds of tunables.def. Constant after the start. */
struct relock_tuning {
#define RELOCK_TUNABLE(name, value, least, greatest) uint32_t name;
#include "../base/tunables.def"
};
extern struct relock_tuning relock_tuning RELOCK_HIDDEN;

/* Reads the environment once; ends the program when a value is wrong. */
void relock_options_read(void);

/* The algorithm that RELOCK_LOCKS gives to a class, and its server; or null. */
const struct relock_algorithm *relock_option_algorithm(const char *class_name, unsigned *server);

/* What RELOCK_SERVERS says of a server, from 1 on: its processor, -1 (any), or NOT_GIVEN. */
enum { RELOCK_CPU_NOT_GIVEN = -2 };
int relock_option_server_cpu(unsigned server);

/* The value of RELOCK_BALANCE; 0: not given. */
unsigned relock_option_balance(void);

/* The value of RELOCK_CLUSTERS; 0: not given. */
unsigned relock_option_clusters(void);

/* Iterates over the entries of RELOCK_LOCKS: a position to go on from, or null after the last. */
const char *relock_option_first(struct relock_choice *choice);
const char *relock_option_next(const char *position, struct relock_choice *choice);

#endif
