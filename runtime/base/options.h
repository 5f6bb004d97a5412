/* SPDX-License-Identifier: MIT
 *
 * Options from the environment.
 *
 *   RELOCK_SERVERS="N=cpu:C,..."         server N, from 1 on, has processor C; N=any: none of its
 * own RELOCK_BALANCE=N                     spreads the classes of rcl over servers 1 to N
 *   RELOCK_CLUSTERS=N                    see topology.h
 *   RELOCK_TUNE="name=value,..."         see tunables.def
 */
#ifndef RELOCK_BASE_OPTIONS_H
#define RELOCK_BASE_OPTIONS_H

#include "atomic.h"

#include <stdint.h>

/* The thresholds of tunables.def. Constant after the start. */
struct relock_tuning {
#define RELOCK_TUNABLE(name, value, least, greatest) uint32_t name;
#include "tunables.def"
};
extern struct relock_tuning relock_tuning RELOCK_HIDDEN;

/* Reads them and the values below; ends the program when one is wrong. */
void relock_options_read_values(void);

/* Reads a variable into *number, if it is set: from 1 on. */
void relock_option_number(const char *variable, uint32_t greatest, uint32_t *number);

/* Reads a variable that names a signal on which the process may be asked for something: 0 if it is
 * not set. */
int relock_option_signal(const char *variable);

/* What RELOCK_SERVERS says of a server, from 1 on: its processor, -1 (any), or NOT_GIVEN. */
enum { RELOCK_CPU_NOT_GIVEN = -2 };
int relock_option_server_cpu(unsigned server);

/* The value of RELOCK_BALANCE; 0: not given. */
unsigned relock_option_balance(void);

/* The value of RELOCK_CLUSTERS; 0: not given. */
unsigned relock_option_clusters(void);

#endif
