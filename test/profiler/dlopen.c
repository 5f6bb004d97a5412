// SPDX-License-Identifier: MIT
// A library that is loaded later, and unloaded before the end, has its locks named all the same.
// RUN: %cc -g -O1 -DPLUGIN -shared -fPIC %s -o %t.so -pthread
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile -o %t.profile -- %t %t.so
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'lock("plugged")["acquisitions"] == 23' \
// RUN:   'lock("plugged")["module"] == "dlopen.c.tmp.so"'
#include <dlfcn.h>
#include <pthread.h>

#ifdef PLUGIN
pthread_mutex_t plugged = PTHREAD_MUTEX_INITIALIZER;
void visit(void) {
  for (int i = 0; i < 23; i++) {
    pthread_mutex_lock(&plugged);
    pthread_mutex_unlock(&plugged);
  }
}
#else
int main(int count, char **words) {
  void *library = count > 1 ? dlopen(words[1], RTLD_NOW) : NULL;
  void (*visit)(void) = library ? (void (*)(void))dlsym(library, "visit") : NULL;
  if (!visit)
    return 1;
  visit();
  return dlclose(library);
}
#endif
