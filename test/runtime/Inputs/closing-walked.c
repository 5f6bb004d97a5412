/* SPDX-License-Identifier: MIT
 * closing-walked PLUGIN: opens, uses and closes it 3,000 times while others go through the classes. */
#include <relock/relock.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

RELOCK_LOCK_CLASS(own, "own", "mcs");
static relock_mutex_t mutex = RELOCK_MUTEX_INITIALIZER(own);
static int over;

/* Looks at no class: it may be gone. */
static void *walk(void *unused) {
  while (!__atomic_load_n(&over, __ATOMIC_RELAXED))
    for (relock_class_t *c = relock_class_next(NULL); c; c = relock_class_next(c))
      ;
  return unused;
}

static void add(relock_class_t *lock_class, void *sum) {
  relock_statistics_t statistics;
  relock_class_statistics(lock_class, &statistics);
  if (strcmp(lock_class->name, "plugin_lock") == 0)
    *(unsigned long *)sum += statistics.held;
}

static void *visit(void *unused) {
  unsigned long before = 0;
  while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
    unsigned long sum = 0;
    relock_class_visit(add, &sum);
    if (sum < before)
      printf("lost\n");
    before = sum;
  }
  return unused;
}

int main(int argc, char **argv) {
  pthread_t walker, visitor;
  pthread_create(&walker, NULL, walk, NULL);
  pthread_create(&visitor, NULL, visit, NULL);
  for (int i = 0; i < 3000; i++) {
    void *plugin = dlopen(argc == 2 ? argv[1] : "", RTLD_NOW);
    void (*use)(void);
    *(void **)&use = plugin ? dlsym(plugin, "use_plugin") : NULL;
    if (!use)
      return printf("%s\n", dlerror()), 1;
    use();
    relock_mutex_lock(&mutex);
    relock_mutex_unlock(&mutex);
    dlclose(plugin);
  }
  __atomic_store_n(&over, 1, __ATOMIC_RELAXED);
  pthread_join(walker, NULL);
  pthread_join(visitor, NULL);
  unsigned long sum = 0;
  relock_class_visit(add, &sum);
  printf("%lu\n", sum);
  return 0;
}
