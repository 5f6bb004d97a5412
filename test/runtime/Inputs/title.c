/* SPDX-License-Identifier: MIT
 * title PLUGIN: writes over its environment, as programs do that give their process a title, and
 * opens a library with a lock class then. */
#include <relock/relock.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

RELOCK_LOCK_CLASS(own, "own", "mcs");
static relock_mutex_t mutex = RELOCK_MUTEX_INITIALIZER(own);
extern char **environ;

static void print(relock_class_t *lock_class, void *unused) {
  relock_statistics_t statistics;
  (void)unused;
  relock_class_statistics(lock_class, &statistics);
  printf("%s: %s\n", lock_class->name, statistics.algorithm);
}

int main(int argc, char **argv) {
  relock_mutex_lock(&mutex);
  relock_mutex_unlock(&mutex);
  for (char **variable = environ; *variable; variable++)
    memset(*variable, 'x', strlen(*variable));
  if (argc != 2 || !dlopen(argv[1], RTLD_NOW))
    return printf("%s\n", dlerror()), 1;
  relock_class_visit(print, NULL);
  return 0;
}
