/* SPDX-License-Identifier: MIT
 *
 * The mapped file that holds the records of this process, and memory beside it.
 */
#ifndef RELOCK_PROFILER_STORE_H
#define RELOCK_PROFILER_STORE_H

#include "layout.h"

#include <stdbool.h>
#include <stddef.h>

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define ALWAYS_INLINE inline __attribute__((always_inline))
#define NOINLINE __attribute__((noinline)) /* what is off the way that nearly all calls go */

extern struct relock_header *header;

/* Maps a new file in the directory that the environment names, and begins its header. */
bool store_start(void);
/* Its directory. */
const char *store_directory(void);
/* In the child of a fork: maps a copy in the place of the parent's file, and begins its header. */
bool store_restart(void);
/* From here on the file is a profile. */
void store_complete(void);
void record_end(enum relock_end end, int status);
/* The table of objects changes: a child that copies it meanwhile finds out. */
void store_changes(void);
/* Whether it did while this child copied. */
bool store_is_torn(void);
/* The records one after the other: the one behind, or the first; null: it was the last. */
struct relock_record *store_next(const struct relock_record *record);
/* Before the program installs a filter of system calls: reserves memory, and from then on none is
 * asked for. `on` false: the filter was refused. */
void record_seal(bool on);

/* Nanoseconds of processor time that the calling thread has taken; 0: it may not be asked for. */
uint64_t record_processor_time(void);

/* Held over fork, so that the child finds the tables whole. */
void record_lock(void);
void record_unlock(void);

static inline void count_drop(uint64_t *counter) {
  __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

/* With the lock held. Private memory that is never given back, for what the reader of the file need
 * not see. */
void *private_allocate(size_t size);
/* With the lock held. */
void *record_allocate(enum relock_record_kind kind, size_t size);

/* The same in whole pages, without the lock. */
void *private_pages(size_t size);

#endif
