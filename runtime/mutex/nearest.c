/* SPDX-License-Identifier: MIT */
#include "nearest.h"

#include <string.h>

enum { LONGEST = 255, FAR = -1 };

/* One row of the table of Levenshtein's distance after the other. */
static int edits(const char *a, size_t a_length, const char *b, size_t b_length) {
  int row[LONGEST + 1];
  for (size_t j = 0; j <= b_length; j++)
    row[j] = (int)j;
  for (size_t i = 1; i <= a_length; i++) {
    int diagonal = row[0];
    row[0] = (int)i;
    for (size_t j = 1; j <= b_length; j++) {
      const int replaced = diagonal + (a[i - 1] != b[j - 1]);
      const int added = row[j - 1] + 1, removed = row[j] + 1;
      diagonal = row[j];
      row[j] = replaced < added ? replaced : added;
      row[j] = removed < row[j] ? removed : row[j];
    }
  }
  return row[b_length];
}

static bool is_last_part(const char *part, size_t length, const char *name, size_t name_length) {
  if (name_length < length + 2 || memcmp(name + name_length - length, part, length) != 0)
    return false;
  const char before = name[name_length - length - 1];
  return before == '.' || before == ':';
}

int relock_name_distance(const char *mistyped, size_t length, const char *name) {
  const size_t name_length = strlen(name);
  if (is_last_part(mistyped, length, name, name_length))
    return 1;
  if (length > LONGEST || name_length > LONGEST)
    return FAR;
  const int distance = edits(mistyped, length, name, name_length);
  /* A third of a name that is another one has not been mistyped, it is another name. */
  return 3 * (size_t)distance <= name_length ? distance : FAR;
}
