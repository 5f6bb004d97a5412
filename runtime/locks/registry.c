/* SPDX-License-Identifier: MIT
 *
 * Algorithms by name.
 */
#include "algorithm.h"

#include <string.h>

static const struct relock_algorithm *const algorithms[] = {
#define RELOCK_ALGORITHM(name) &relock_##name,
#include "algorithms.def"
};

static const char names[] =
#define RELOCK_ALGORITHM(name) " " #name
#include "algorithms.def"
    ;

const struct relock_algorithm *relock_algorithm_find(const char *name, size_t length) {
  for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++)
    if (strlen(algorithms[i]->name) == length && memcmp(algorithms[i]->name, name, length) == 0)
      return algorithms[i];
  return NULL;
}

const struct relock_algorithm *relock_algorithm_named(const char *name) {
  return relock_algorithm_find(name, strlen(name));
}

const char *relock_algorithms(void) { return &names[1]; }
