/* SPDX-License-Identifier: MIT
 *
 * Algorithms by name.
 */
#include "algorithm.h"

#include <string.h>

#define ADDRESS(id) &relock_##id,
#define NAME(id) " " #id

static const struct relock_algorithm *const algorithms[] = {RELOCK_ALGORITHMS(ADDRESS)};

const struct relock_algorithm *relock_algorithm_find(const char *name, size_t length) {
  for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++)
    if (strlen(algorithms[i]->name) == length && memcmp(algorithms[i]->name, name, length) == 0)
      return algorithms[i];
  return NULL;
}

const struct relock_algorithm *relock_algorithm_named(const char *name) {
  return relock_algorithm_find(name, strlen(name));
}

const char *relock_algorithms(void) { return &RELOCK_ALGORITHMS(NAME)[1]; }
