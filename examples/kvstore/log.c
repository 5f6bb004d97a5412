/* SPDX-License-Identifier: MIT
 *
 * Log lines on standard error. One lock keeps lines whole.
 */
#include <stdarg.h>
#include <stdio.h>

#include "log.h"

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static enum log_level log_level = LOG_ERROR;
static unsigned long lines;

void log_set_level(enum log_level level)
{
    MUTEX_LOCK(&log_lock);
    log_level = level;
    MUTEX_UNLOCK(&log_lock);
}

void log_write(enum log_level level, const char *format, ...)
{
    char text[256];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);

    MUTEX_LOCK(&log_lock);
    if (level > log_level) {
        MUTEX_UNLOCK(&log_lock);
        return;
    }
    lines++;
    fprintf(stderr, "kvstore: %s\n", text);
    MUTEX_UNLOCK(&log_lock);
}

unsigned long log_lines(void)
{
    unsigned long n;

    MUTEX_LOCK(&log_lock);
    n = lines;
    MUTEX_UNLOCK(&log_lock);
    return n;
}
