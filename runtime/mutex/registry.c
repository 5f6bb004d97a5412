/* SPDX-License-Identifier: MIT
 *
 * Algorithms by name.
 */
#include "../locks/algorithm.h"

#include <string.h>

static const struct relock_algorithm *const algorithms[] = {
#define RELOCK_ALGORITHM(name) &relock_##name,
#include "../locks/algorithms.def"
};

static const char names[] =
#define RELOCK_ALGORITHM(name) " " #name
#include "../locks/algorithms.def"
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

const struct relock_algorithm *relock_algorithm_parse(const char *text, size_t length,
                                                      unsigned *server) {
  const char *colon = memchr(text, ':', length);
  *server = 1;
  if (!colon)
    return relock_algorithm_find(text, length);
  const struct relock_algorithm *algorithm = relock_algorithm_find(text, (size_t)(colon - text));
  unsigned number = 0;
  for (const char *at = colon + 1; at < text + length; at++) {
    if (*at < '0' || *at > '9' || number > RELOCK_MAX_SERVERS)
      return NULL;
    number = 10 * number + (unsigned)(*at - '0');
  }
  *server = number;
  bool valid = algorithm && algorithm->has_server && number >= 1 && number <= RELOCK_MAX_SERVERS;
  return valid ? algorithm : NULL;
}

const char *relock_algorithms(void) { return &names[1]; }
