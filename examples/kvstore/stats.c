/* SPDX-License-Identifier: MIT */
#include "log.h"
#include "stats.h"

pthread_mutex_t stats_lock = PTHREAD_MUTEX_INITIALIZER;
uint64_t stats[STATS];

static struct latencies latencies;
static int errors;

/* locked: the caller has the lock already, for several additions at once */
void stats_add(enum stat which, uint64_t n, int locked)
{
    if (!locked)
        STATS_LOCK();
    stats[which] += n;
    if (!locked)
        STATS_UNLOCK();
}

uint64_t stats_get(enum stat which)
{
    uint64_t n;

    STATS_LOCK();
    n = stats[which];
    STATS_UNLOCK();
    return n;
}

/* Logs the first error with its text, and counts the rest. Returns how many there were. */
int stats_first_error(const char *what)
{
    int n;

    STATS_LOCK();
    stats[STAT_WRONG]++;
    n = ++errors;
    if (n == 1) {
        STATS_UNLOCK();
        log_write(LOG_ERROR, "wrong result: %s", what);
    } else {
        STATS_UNLOCK();
        log_write(LOG_DEBUG, "wrong result %d: %s", n, what);
    }
    return n;
}

static unsigned latency_class(uint64_t ns)
{
    unsigned log2;

    if (ns < 4)
        return ns;
    log2 = 63 - __builtin_clzll(ns);
    return (log2 - 1) * 4 + ((ns >> (log2 - 2)) & 3);
}

/* The middle of a class. */
static uint64_t class_ns(unsigned class)
{
    unsigned log2 = class / 4 + 1;
    uint64_t quarter;

    if (class < 4)
        return class;
    quarter = (uint64_t)1 << (log2 - 2);
    return ((uint64_t)1 << log2) + (class % 4) * quarter + quarter / 2;
}

void latency_record(struct latencies *l, uint64_t ns)
{
    unsigned class = latency_class(ns);

    l->count[class < LATENCY_CLASSES ? class : LATENCY_CLASSES - 1]++;
    l->samples++;
    l->total_ns += ns;
    if (ns > l->max_ns)
        l->max_ns = ns;
}

void latency_merge(const struct latencies *l)
{
    int i;

    STATS_LOCK();
    for (i = 0; i < LATENCY_CLASSES; i++)
        latencies.count[i] += l->count[i];
    latencies.samples += l->samples;
    latencies.total_ns += l->total_ns;
    if (l->max_ns > latencies.max_ns)
        latencies.max_ns = l->max_ns;
    STATS_UNLOCK();
}

uint64_t latency_percentile(double share)
{
    uint64_t seen = 0;
    unsigned i;

    STATS_LOCK();
    for (i = 0; i < LATENCY_CLASSES; i++) {
        seen += latencies.count[i];
        if (seen > 0 && seen >= share * latencies.samples) {
            STATS_UNLOCK();
            return class_ns(i);
        }
    }
    STATS_UNLOCK();
    return 0;
}

double latency_mean(void)
{
    double mean = 0;

    STATS_LOCK();
    if (latencies.samples > 0)
        mean = (double)latencies.total_ns / latencies.samples;
    STATS_UNLOCK();
    return mean;
}

uint64_t latency_max(void)
{
    uint64_t ns;

    STATS_LOCK();
    ns = latencies.max_ns;
    STATS_UNLOCK();
    return ns;
}
