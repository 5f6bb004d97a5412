/* SPDX-License-Identifier: MIT
 * first-thread-loads PLUGIN: a second thread loads the runtime, and the first one ends. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void at_exit(void) { puts("exit handler"); }

static void *load(void *file) {
  void *plugin = dlopen(file, RTLD_NOW);
  void (*use)(void);
  *(void **)&use = plugin ? dlsym(plugin, "use_plugin") : NULL;
  if (!use)
    puts(dlerror()), exit(1);
  use();
  puts("used");
  return NULL;
}

int main(int argc, char **argv) {
  atexit(at_exit);
  pthread_t thread;
  if (argc != 2 || pthread_create(&thread, NULL, load, argv[1]) != 0 || pthread_detach(thread) != 0)
    return 1;
  pthread_exit(NULL);
}
