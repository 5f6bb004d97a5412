/* SPDX-License-Identifier: MIT
 * closing PLUGIN: opens, uses and closes it three times. */
#include <relock/relock.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
RELOCK_LOCK_CLASS(own, "own", "mcs");
static relock_mutex_t mutex = RELOCK_MUTEX_INITIALIZER(own);

int main(int argc, char **argv) {
  for (int i = 0; i < 3; i++) {
    void *plugin = dlopen(argc == 2 ? argv[1] : "", RTLD_NOW);
    void (*use)(void);
    *(void **)&use = plugin ? dlsym(plugin, "use_plugin") : NULL;
    if (!use)
      return printf("%s\n", dlerror()), 1;
    use();
    relock_mutex_lock(&mutex);
    relock_mutex_unlock(&mutex);
    if (i < 2)
      dlclose(plugin);
    for (relock_class_t *c = relock_class_next(NULL); c; c = relock_class_next(c)) {
      relock_statistics_t statistics;
      relock_class_statistics(c, &statistics);
      if (strcmp(c->name, "default") != 0)
        printf("%d: %s %lu\n", i, c->name, (unsigned long)statistics.held);
    }
  }
  return 0;
}
