/* SPDX-License-Identifier: MIT */
#include "two-units.h"
#include <stdio.h>
relock_mutex_t alpha_lock = RELOCK_MUTEX_INITIALIZER(alpha_lock);
static relock_mutex_t nameless;

/* A class in use before its own constructor has run. */
__attribute__((constructor(101))) static void first(void) { relock_mutex_lock(&alpha_lock); }
__attribute__((constructor(102))) static void second(void) { relock_mutex_unlock(&alpha_lock); }

int main(void) {
  struct pair pair[2] = {{0}};
  relock_mutex_init(&pair[0].second, NULL, RELOCK_CLASS(pair_second));
  relock_mutex_init(&pair[1].second, NULL, RELOCK_CLASS(pair_second));
  for (int i = 0; i < 5; i++) {
    relock_mutex_lock(&nameless);
    int sum = add_in_other_unit(&pair[0]) + add_in_other_unit(&pair[1]);
    relock_mutex_unlock(&nameless);
    if (sum != 2 * i + 2)
      return 1;
  }
  puts(class_in_other_unit() == RELOCK_CLASS(alpha_lock) ? "one class" : "two classes");
  fflush(stdout); /* before the statistics */
  return 0;
}
