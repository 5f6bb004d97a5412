// SPDX-License-Identifier: MIT
// Arguments, files, functions, variables and threads may be named by any bytes; every format stays
// what it is, and the terminal gets nothing that would control it.
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %python %S/Inputs/hostile-bytes.py --source %s
// RUN: %cc -g -O0 hostile*.c -o program -pthread
// RUN: %cc -g -O0 -shared -fPIC -DLIBRARY hostile*.c -o library.so -pthread
// RUN: %python %S/Inputs/hostile-bytes.py --rename program library.so
// RUN: %relock profile -o p -- ./pro* "$(printf '\377\376arg\033]0;x\007')" ./lib* 2> messages
// RUN: %relock report --sites=9 --threads=9 --limit=0 p > table
// RUN: %relock report --diff p p > diff
// RUN: %relock report --json p > json
// RUN: %relock report --html html --folded folded --pprof pprof --trace trace p
// RUN: %python %S/Inputs/hostile-bytes.py --check
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <time.h>

/* Both names are replaced in what is built. */
static pthread_mutex_t hostile_variable = PTHREAD_MUTEX_INITIALIZER;

static void hostile_function(pthread_mutex_t *lock) {
  for (int i = 0; i < 7; i++) {
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
  }
}

#ifdef LIBRARY

__attribute__((constructor)) static void begin(void) {
  pthread_mutex_t on_stack = PTHREAD_MUTEX_INITIALIZER;
  hostile_function(&on_stack);
  hostile_function(&hostile_variable);
}

#else

int main(int count, char **words) {
  pthread_mutex_t on_stack = PTHREAD_MUTEX_INITIALIZER;
  struct timespec past = {0, 0};
  if (!dlopen(words[count - 1], RTLD_NOW))
    return 1;
  pthread_setname_np(pthread_self(), "t\377\033[2J\302\233<i>");
  hostile_function(&hostile_variable);
  hostile_function(&on_stack);
  pthread_mutex_lock(&hostile_variable);
  pthread_mutex_timedlock(&hostile_variable, &past); /* a wait, to be seen in the timeline */
  pthread_mutex_unlock(&hostile_variable);
  return 0;
}

#endif
