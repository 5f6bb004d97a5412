/* SPDX-License-Identifier: MIT
 *
 * Log lines on standard error, and the short names for mutex calls.
 */
#ifndef KVSTORE_LOG_H
#define KVSTORE_LOG_H

#include <pthread.h>

#define MUTEX_LOCK(m)   pthread_mutex_lock(m)
#define MUTEX_UNLOCK(m) pthread_mutex_unlock(m)

enum log_level { LOG_ERROR, LOG_INFO, LOG_DEBUG };

void log_set_level(enum log_level level);
void log_write(enum log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
unsigned long log_lines(void);

#endif
