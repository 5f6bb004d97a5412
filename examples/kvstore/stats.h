/* SPDX-License-Identifier: MIT
 *
 * Statistics of the whole program, under one global lock.
 */
#ifndef KVSTORE_STATS_H
#define KVSTORE_STATS_H

#include <pthread.h>
#include <stdint.h>

enum stat {
    STAT_OPERATIONS,
    STAT_HITS,
    STAT_MISSES,
    STAT_JOBS,
    STAT_AUDITED,
    STAT_WRONG,      /* values that are not what they should be */
    STAT_PASSES,
    STAT_REMOVED,
    STAT_LATE_TICKS,
    STATS
};

/* Latencies in classes of a quarter of a power of two. */
#define LATENCY_CLASSES 160

struct latencies {
    uint64_t count[LATENCY_CLASSES];
    uint64_t samples;
    uint64_t total_ns;
    uint64_t max_ns;
};

extern pthread_mutex_t stats_lock;
extern uint64_t stats[STATS];

#define STATS_LOCK()   pthread_mutex_lock(&stats_lock)
#define STATS_UNLOCK() pthread_mutex_unlock(&stats_lock)

void     stats_add(enum stat which, uint64_t n, int locked);
uint64_t stats_get(enum stat which);
int      stats_first_error(const char *what);

void     latency_record(struct latencies *l, uint64_t ns);
void     latency_merge(const struct latencies *l);
uint64_t latency_percentile(double share);
double   latency_mean(void);
uint64_t latency_max(void);

#endif
