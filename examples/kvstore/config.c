/* SPDX-License-Identifier: MIT
 *
 * Settings. The lock is recursive: a setting's check may read other settings.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "config.h"
#include "log.h"

static struct {
    char        letter;
    const char *name;
    long        value;
    long        lowest;
    long        highest;
} settings[SETTINGS] = {
    [SET_THREADS]    = { 't', "threads",    8,    1, 256 },
    [SET_WORKERS]    = { 'w', "workers",    2,    1, 64 },
    [SET_SECONDS]    = { 's', "seconds",    0,    0, 3600 },
    [SET_OPERATIONS] = { 'n', "operations", 0,    0, 1000000000 },
    [SET_CAPACITY]   = { 'c', "capacity",   4096, 64, 1 << 22 },
    [SET_KEYS]       = { 'k', "keys",       8192, 16, 1 << 22 },
    [SET_TTL]        = { 'e', "ttl",        500,  1, 3600000 },
    [SET_EXPIRY]     = { 'x', "expiry",     10,   1, 60000 },
    [SET_QUOTA]      = { 'q', "quota",      0,    0, 1 << 30 },
    [SET_SEED]       = { 'r', "seed",       2012, 1, 1 << 30 },
    [SET_VERBOSE]    = { 'v', "verbose",    0,    0, 9 },
};

static pthread_mutex_t config_lock;
static long changes;

void config_init(void)
{
    pthread_mutexattr_t attr;

    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&config_lock, &attr);
    pthread_mutexattr_destroy(&attr);
}

long config_get(enum setting name)
{
    long value;

    MUTEX_LOCK(&config_lock);
    value = settings[name].value;
    MUTEX_UNLOCK(&config_lock);
    return value;
}

/* The pinned items must leave room for the cache. */
static int capacity_allows(long capacity, long threads)
{
    return capacity >= threads * 64 + 64;
}

int config_set(enum setting name, long value)
{
    MUTEX_LOCK(&config_lock);
    if (value < settings[name].lowest || value > settings[name].highest) {
        MUTEX_UNLOCK(&config_lock);
        log_write(LOG_ERROR, "%s must be from %ld to %ld, not %ld", settings[name].name,
                  settings[name].lowest, settings[name].highest, value);
        return -1;
    }

    /* config_get() takes the lock once more */
    if (name == SET_CAPACITY && !capacity_allows(value, config_get(SET_THREADS))) {
        MUTEX_UNLOCK(&config_lock);
        log_write(LOG_ERROR, "a capacity of %ld is too small for the threads", value);
        return -1;
    }

    settings[name].value = value;
    changes++;
    MUTEX_UNLOCK(&config_lock);
    return 0;
}

int config_set_by_letter(int letter, long value)
{
    int i;

    for (i = 0; i < SETTINGS; i++) {
        if (settings[i].letter == letter)
            return config_set(i, value);
    }
    return -1;
}

long config_changes(void)
{
    long n;

    MUTEX_LOCK(&config_lock);
    n = changes;
    MUTEX_UNLOCK(&config_lock);
    return n;
}

int config_parse(int argc, char **argv)
{
    int letter;

    while ((letter = getopt(argc, argv, "t:w:s:n:c:k:e:x:q:r:v:")) != -1) {
        char *end;
        long value;

        if (letter == '?')
            return -1;
        errno = 0;
        value = strtol(optarg, &end, 10);
        if (errno != 0 || end == optarg || *end != '\0') {
            log_write(LOG_ERROR, "-%c needs a number, not '%s'", letter, optarg);
            return -1;
        }
        if (config_set_by_letter(letter, value) != 0)
            return -1;
    }
    if (optind != argc) {
        log_write(LOG_ERROR, "unexpected argument '%s'", argv[optind]);
        return -1;
    }
    if (!capacity_allows(config_get(SET_CAPACITY), config_get(SET_THREADS))) {
        log_write(LOG_ERROR, "the capacity is too small for the threads");
        return -1;
    }
    if (config_get(SET_SECONDS) == 0 && config_get(SET_OPERATIONS) == 0)
        return config_set(SET_SECONDS, 1);
    return 0;
}
