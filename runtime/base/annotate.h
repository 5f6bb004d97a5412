/* SPDX-License-Identifier: MIT
 *
 * What race detectors are told. They know pthread_mutex_lock(), and see nothing of this library's
 * atomic operations (ThreadSanitizer, in a program built with it), or every one of them but not
 * what it is for (Valgrind's tools Helgrind and DRD). Where one looks on, each mutex is watched:
 * whoever wants it takes its word in competition with everybody and runs his sections himself, and
 * the detector is told of it as of a lock. Elsewhere nothing of this is called: a mutex is found to
 * be watched by its `kind`, on the ways that are long already. Barriers have an algorithm of their
 * own then.
 */
#ifndef RELOCK_BASE_ANNOTATE_H
#define RELOCK_BASE_ANNOTATE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a race detector looks on; the same all the time. */
bool relock_is_watched(void);

/* All that follows: only if it does. */

/* The object is the runtime's own: how threads share it is not the detector's business. */
void relock_annotate_own(const void *object, size_t size);

/* It is not any more, and what was there has ended. */
void relock_annotate_end(const void *object, size_t size);

/* Around an attempt to take a mutex. `tries`: one that does not wait for ever, and so takes part in
 * no deadlock. What is done between the two calls is not looked at. */
void relock_annotate_locking(const void *mutex, bool tries);
void relock_annotate_locked(const void *mutex, bool tries);
void relock_annotate_not_locked(const void *mutex);

/* Around its release. Of the second only the address is used. */
void relock_annotate_unlocking(const void *mutex);
void relock_annotate_unlocked(const void *mutex);

/* What a thread has done before the first comes before what threads do after the second, where that
 * is called later with the same name, an address. */
void relock_annotate_before(const void *name);
void relock_annotate_after(const void *name);

#endif
