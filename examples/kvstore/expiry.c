/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <time.h>

#include "expiry.h"
#include "log.h"
#include "stats.h"

#define BUCKETS_PER_PASS 256

static struct {
    pthread_mutex_t lock;
    pthread_cond_t  wake;
    pthread_t       thread;
    struct store   *store;
    unsigned        interval_ms;
    unsigned long   passes;
    int             stop;
} expiry = { .lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER };

static struct timespec in_ms(unsigned ms)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_sec += ms / 1000;
    t.tv_nsec += (long)(ms % 1000) * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}

static uint64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void *expire(void *unused)
{
    (void)unused;
    for (;;) {
        struct timespec until = in_ms(expiry.interval_ms);
        unsigned removed;

        pthread_mutex_lock(&expiry.lock);
        while (!expiry.stop) {
            if (pthread_cond_timedwait(&expiry.wake, &expiry.lock, &until) == ETIMEDOUT)
                break;
        }
        if (expiry.stop) {
            pthread_mutex_unlock(&expiry.lock);
            break;
        }
        expiry.passes++;
        pthread_mutex_unlock(&expiry.lock);

        if (store_tick(expiry.store, now_ms()) != 0)
            stats_add(STAT_LATE_TICKS, 1, 0);
        removed = store_expire(expiry.store, BUCKETS_PER_PASS);

        STATS_LOCK();
        stats_add(STAT_PASSES, 1, 1);
        stats_add(STAT_REMOVED, removed, 1);
        STATS_UNLOCK();
    }
    return NULL;
}

int expiry_start(struct store *s, unsigned interval_ms)
{
    expiry.store = s;
    expiry.interval_ms = interval_ms;
    return pthread_create(&expiry.thread, NULL, expire, NULL) == 0 ? 0 : -1;
}

void expiry_stop(void)
{
    pthread_mutex_lock(&expiry.lock);
    expiry.stop = 1;
    pthread_cond_signal(&expiry.wake);
    pthread_mutex_unlock(&expiry.lock);
    pthread_join(expiry.thread, NULL);
}

unsigned long expiry_passes(void)
{
    unsigned long n;

    pthread_mutex_lock(&expiry.lock);
    n = expiry.passes;
    pthread_mutex_unlock(&expiry.lock);
    return n;
}
