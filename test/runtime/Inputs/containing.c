/* SPDX-License-Identifier: MIT
 *
 * Loads a library with a container, uses and closes it, twice.
 */
#include <relock/containers.h>

#include <dlfcn.h>
#include <stdio.h>

static relock_counter_t counter;

int main(int argc, char **argv) {
  for (int i = 0; i < 2 && argc == 2; i++) {
    void *plugin = dlopen(argv[1], RTLD_NOW);
    int (*use)(void) = plugin ? (int (*)(void))dlsym(plugin, "use_stack") : NULL;
    if (!use || use() != 0 || dlclose(plugin) != 0)
      return 1;
    relock_counter_add(&counter, 1); /* of the default class, zero-filled */
  }
  printf("used %d times\n", (int)relock_counter_read(&counter));
  return 0;
}
