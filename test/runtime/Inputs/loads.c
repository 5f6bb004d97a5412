/* SPDX-License-Identifier: MIT
 *
 * loads FILE.so ARGUMENT...: a program without locks of its own that loads run() and calls it.
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
  if (argc < 2)
    return 2;
  void *library = dlopen(argv[1], RTLD_NOW);
  int (*run)(int, char **) = library ? (int (*)(int, char **))dlsym(library, "run") : NULL;
  if (!run) {
    fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  return run(argc - 1, argv + 1);
}
