/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "real.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>

struct real real;
static atomic_int resolved;

/* Condition variables changed their layout in glibc 2.3.2, and the old functions live on beside
 * the new ones: ask for the new ones by version. Architectures that are younger have one version
 * only, which the plain look-up finds. */
static void *find(const char *name) {
#if defined(__x86_64__) && defined(__GLIBC__)
  void *function = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
  if (function)
    return function;
#endif
  return dlsym(RTLD_NEXT, name);
}

#define RESOLVE(member, name) real.member = (__typeof__(real.member))find(name)

void real_resolve(void) {
  if (atomic_load_explicit(&resolved, memory_order_acquire))
    return;
  RESOLVE(lock, "pthread_mutex_lock");
  RESOLVE(trylock, "pthread_mutex_trylock");
  RESOLVE(timedlock, "pthread_mutex_timedlock");
  RESOLVE(clocklock, "pthread_mutex_clocklock");
  RESOLVE(unlock, "pthread_mutex_unlock");
  RESOLVE(init, "pthread_mutex_init");
  RESOLVE(destroy, "pthread_mutex_destroy");
  RESOLVE(cond_wait, "pthread_cond_wait");
  RESOLVE(cond_timedwait, "pthread_cond_timedwait");
  RESOLVE(cond_clockwait, "pthread_cond_clockwait");
  RESOLVE(create, "pthread_create");
  RESOLVE(setname, "pthread_setname_np");
  RESOLVE(exit_now, "_exit");
  RESOLVE(exit_quickly, "quick_exit");
  atomic_store_explicit(&resolved, 1, memory_order_release);
}
