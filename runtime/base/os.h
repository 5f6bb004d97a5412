/* SPDX-License-Identifier: MIT
 *
 * The services that the runtime needs from the operating system, as a table, so that the same
 * algorithm sources can run on another implementation (a simulator, a schedule explorer).
 * No function changes errno; futex_wait, futex_wake, yield and now_ns do not even write it.
 */
#ifndef RELOCK_BASE_OS_H
#define RELOCK_BASE_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct relock_os {
  /* Sleeps while *word == expected until woken, until the deadline on that clock (null: for
   * ever), or for no reason. ETIMEDOUT when the deadline has passed, else 0: look again. */
  int (*futex_wait)(uint32_t *word, uint32_t expected, clockid_t clock,
                    const struct timespec *deadline);
  /* Wakes up to count sleepers. Uses the address only: the memory may be gone or reused, in which
   * case the wake-up is one for no reason. */
  void (*futex_wake)(const uint32_t *word, int count);
  void (*yield)(void);
  /* Every thread of the process has passed a full barrier between two of its instructions when
   * barrier() returns. Only if prepare_barrier() was called before in this process and returned
   * true: false where the kernel cannot or may not do it. */
  bool (*prepare_barrier)(void);
  void (*barrier)(void);
  uint64_t (*now_ns)(void); /* monotonic */
  unsigned (*cpus)(void);   /* that this process may use; at least 1 */
  unsigned (*cpu)(void);    /* the processor that runs the caller */
  unsigned (*node)(void);   /* and its NUMA node, counted from 0 without gaps */
  /* Zero-filled memory that is never given back and takes no room until it is touched; null if
   * there is none. */
  void *(*reserve)(size_t size);
  /* Starts a detached thread with all signals blocked but those that it causes itself. 0 or an
   * error number. */
  int (*start_thread)(void *(*run)(void *), void *argument, const char *name);
  bool (*is_first_thread)(void); /* the caller is the thread that the process began with */
};

extern const struct relock_os *const relock_os __attribute__((visibility("hidden")));

#endif
