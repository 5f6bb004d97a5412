/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "real.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct real real;
static atomic_int resolved;
static __thread bool resolving;

/* Condition variables changed their layout in glibc 2.3.2, and the old functions live on beside
 * the new ones: ask for the new ones by version. Architectures that are younger have one version
 * only, which the plain look-up finds. */
static void *find_new(const char *name) {
#if defined(__x86_64__) && defined(__GLIBC__)
  void *function = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
  if (function)
    return function;
#endif
  return dlsym(RTLD_NEXT, name);
}

#define RESOLVE(member, name) real.member = (__typeof__(real.member))dlsym(RTLD_NEXT, name)
#define RESOLVE_NEW(member, name) real.member = (__typeof__(real.member))find_new(name)

/* A look-up that fails allocates memory, and the program's allocator may lock: what allocators use
 * comes first, and what old libraries lack comes last. */
void real_resolve(void) {
  if (atomic_load_explicit(&resolved, memory_order_acquire) || resolving)
    return;
  resolving = true;
  RESOLVE(syscall, "syscall");
  RESOLVE(lock, "pthread_mutex_lock");
  RESOLVE(trylock, "pthread_mutex_trylock");
  RESOLVE(unlock, "pthread_mutex_unlock");
  RESOLVE(init, "pthread_mutex_init");
  RESOLVE(destroy, "pthread_mutex_destroy");
  RESOLVE(create, "pthread_create");
  RESOLVE(setname, "pthread_setname_np");
  RESOLVE(prctl, "prctl");
  RESOLVE(exit_now, "_exit");
  RESOLVE(exit_quickly, "quick_exit");
  RESOLVE_NEW(cond_wait, "pthread_cond_wait");
  RESOLVE_NEW(cond_timedwait, "pthread_cond_timedwait");
  RESOLVE_NEW(cond_init, "pthread_cond_init");
  RESOLVE_NEW(cond_destroy, "pthread_cond_destroy");
  RESOLVE_NEW(cond_signal, "pthread_cond_signal");
  RESOLVE_NEW(cond_broadcast, "pthread_cond_broadcast");
  RESOLVE(prctl, "prctl");
  RESOLVE(timedlock, "pthread_mutex_timedlock");
  RESOLVE(rwlock_init, "pthread_rwlock_init");
  RESOLVE(rwlock_destroy, "pthread_rwlock_destroy");
  RESOLVE(rwlock_unlock, "pthread_rwlock_unlock");
  RESOLVE(rdlock, "pthread_rwlock_rdlock");
  RESOLVE(tryrdlock, "pthread_rwlock_tryrdlock");
  RESOLVE(timedrdlock, "pthread_rwlock_timedrdlock");
  RESOLVE(wrlock, "pthread_rwlock_wrlock");
  RESOLVE(trywrlock, "pthread_rwlock_trywrlock");
  RESOLVE(timedwrlock, "pthread_rwlock_timedwrlock");
  RESOLVE(spin_init, "pthread_spin_init");
  RESOLVE(spin_destroy, "pthread_spin_destroy");
  RESOLVE(spin_lock, "pthread_spin_lock");
  RESOLVE(spin_trylock, "pthread_spin_trylock");
  RESOLVE(spin_unlock, "pthread_spin_unlock");
  RESOLVE(barrier_init, "pthread_barrier_init");
  RESOLVE(barrier_destroy, "pthread_barrier_destroy");
  RESOLVE(barrier_wait, "pthread_barrier_wait");
  RESOLVE(sem_init, "sem_init");
  RESOLVE(sem_open, "sem_open");
  RESOLVE(sem_destroy, "sem_destroy");
  RESOLVE(sem_wait, "sem_wait");
  RESOLVE(sem_trywait, "sem_trywait");
  RESOLVE(sem_timedwait, "sem_timedwait");
  RESOLVE(sem_post, "sem_post");
  RESOLVE(clocklock, "pthread_mutex_clocklock");
  RESOLVE(cond_clockwait, "pthread_cond_clockwait");
  RESOLVE(clockrdlock, "pthread_rwlock_clockrdlock");
  RESOLVE(clockwrlock, "pthread_rwlock_clockwrlock");
  RESOLVE(sem_clockwait, "sem_clockwait");
  RESOLVE(mtx_init, "mtx_init");
  RESOLVE(cnd_init, "cnd_init");
  RESOLVE(thrd_create, "thrd_create");
  resolving = false;
  atomic_store_explicit(&resolved, 1, memory_order_release);
}
