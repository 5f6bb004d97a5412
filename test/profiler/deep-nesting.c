// SPDX-License-Identifier: MIT
// Pairs of mutexes by the thousand are all counted; holds beyond the 32 that are remembered of a
// thread are said to be missing from the nesting.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile -o %t.profile -- %t pairs
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'inside("inner", "outer") == 3 * 61 * 67 and not any(profile["dropped"].values())'
// RUN: %relock profile -o %t.profile -- %t deep
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'lock("inner")["acquisitions"] == 37' \
// RUN:   'inside("inner", "inner") == 31 * 32 // 2 + 5 * 32' \
// RUN:   'profile["dropped"]["nestings"] == 37 - 32'
#include <pthread.h>
#include <string.h>

static pthread_mutex_t inner[67], outer[61];

int main(int argc, char **argv) {
  int pairs = argc > 1 && !strcmp(argv[1], "pairs");
  for (int i = 0; pairs && i < 3 * 61; i++) {
    pthread_mutex_lock(&outer[i % 61]);
    for (int j = 0; j < 67; j++) {
      pthread_mutex_lock(&inner[j]);
      pthread_mutex_unlock(&inner[j]);
    }
    pthread_mutex_unlock(&outer[i % 61]);
  }
  for (int i = 0; !pairs && i < 37; i++)
    pthread_mutex_lock(&inner[i]);
  for (int i = 36; !pairs && i >= 0; i--)
    pthread_mutex_unlock(&inner[i]);
  return 0;
}
