/* SPDX-License-Identifier: MIT
 *
 * real.c for the static library: the linker has renamed what the program calls to __wrap_NAME,
 * which is ours, and finds the C library's under __real_NAME (--wrap). There, each of these names
 * is defined as __wrap_NAME.
 */
#define _GNU_SOURCE
#include "layout.h"
#include "real.h"

#include <elf.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#define FUNCTIONS(F)                                                                               \
  F(syscall, syscall)                                                                              \
  F(lock, pthread_mutex_lock)                                                                      \
  F(trylock, pthread_mutex_trylock)                                                                \
  F(unlock, pthread_mutex_unlock)                                                                  \
  F(init, pthread_mutex_init)                                                                      \
  F(destroy, pthread_mutex_destroy)                                                                \
  F(create, pthread_create)                                                                        \
  F(setname, pthread_setname_np)                                                                   \
  F(prctl, prctl)                                                                                  \
  F(exit_now, _exit)                                                                               \
  F(exit_quickly, quick_exit)                                                                      \
  F(cond_wait, pthread_cond_wait)                                                                  \
  F(cond_timedwait, pthread_cond_timedwait)                                                        \
  F(cond_init, pthread_cond_init)                                                                  \
  F(cond_destroy, pthread_cond_destroy)                                                            \
  F(cond_signal, pthread_cond_signal)                                                              \
  F(cond_broadcast, pthread_cond_broadcast)                                                        \
  F(timedlock, pthread_mutex_timedlock)                                                            \
  F(rwlock_init, pthread_rwlock_init)                                                              \
  F(rwlock_destroy, pthread_rwlock_destroy)                                                        \
  F(rwlock_unlock, pthread_rwlock_unlock)                                                          \
  F(rdlock, pthread_rwlock_rdlock)                                                                 \
  F(tryrdlock, pthread_rwlock_tryrdlock)                                                           \
  F(timedrdlock, pthread_rwlock_timedrdlock)                                                       \
  F(wrlock, pthread_rwlock_wrlock)                                                                 \
  F(trywrlock, pthread_rwlock_trywrlock)                                                           \
  F(timedwrlock, pthread_rwlock_timedwrlock)                                                       \
  F(spin_init, pthread_spin_init)                                                                  \
  F(spin_destroy, pthread_spin_destroy)                                                            \
  F(spin_lock, pthread_spin_lock)                                                                  \
  F(spin_trylock, pthread_spin_trylock)                                                            \
  F(spin_unlock, pthread_spin_unlock)                                                              \
  F(barrier_init, pthread_barrier_init)                                                            \
  F(barrier_destroy, pthread_barrier_destroy)                                                      \
  F(barrier_wait, pthread_barrier_wait)                                                            \
  F(sem_init, sem_init)                                                                            \
  F(sem_open, sem_open)                                                                            \
  F(sem_destroy, sem_destroy)                                                                      \
  F(sem_wait, sem_wait)                                                                            \
  F(sem_trywait, sem_trywait)                                                                      \
  F(sem_timedwait, sem_timedwait)                                                                  \
  F(sem_post, sem_post)                                                                            \
  F(clocklock, pthread_mutex_clocklock)                                                            \
  F(cond_clockwait, pthread_cond_clockwait)                                                        \
  F(clockrdlock, pthread_rwlock_clockrdlock)                                                       \
  F(clockwrlock, pthread_rwlock_clockwrlock)                                                       \
  F(sem_clockwait, sem_clockwait)                                                                  \
  F(mtx_init, mtx_init)                                                                            \
  F(cnd_init, cnd_init)                                                                            \
  F(thrd_create, thrd_create)

#define DECLARE(member, name) extern __typeof__(__wrap_##name) __real_##name;
FUNCTIONS(DECLARE)

#define ENTER(member, name) .member = __real_##name,
struct real real = {FUNCTIONS(ENTER)};

void real_resolve(void) {}

/* Tells `relock profile` that the program has the profiler in it, and which one. */
__attribute__((section(".note.relock"), used, aligned(4))) static const struct {
  Elf64_Nhdr head;
  char name[sizeof RELOCK_NOTE];
  uint32_t version __attribute__((aligned(4)));
} note = {{sizeof RELOCK_NOTE, sizeof(uint32_t), RELOCK_NOTE_LINKED},
          RELOCK_NOTE,
          RELOCK_RECORDS_VERSION};
