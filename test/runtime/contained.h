/* SPDX-License-Identifier: MIT
 *
 * The containers behind one interface, for tests that record what operations give, and wrong
 * versions of them, which those tests must find.
 */
#ifndef RELOCK_TEST_CONTAINED_H
#define RELOCK_TEST_CONTAINED_H

#include "linearize.h"

#include <relock/relock.h>

struct contained {
  const char *name;
  enum object object;
  bool wrong;
  void (*begin)(relock_class_t *lock_class);
  /* What the operation gives, as in struct operation. An inserted value is from 0 to
   * MAX_OPERATIONS - 1, and of a stack, queue or map no other has it; of a counter any addend. */
  int (*operate)(enum call call, int key, int value);
};

extern const struct contained contained[];
extern const int contained_count;

/* Called between the two sections of which operations of wrong versions consist; null: nothing. */
extern void (*contained_between)(void);

#endif
