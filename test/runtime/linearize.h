/* SPDX-License-Identifier: MIT
 *
 * Whether a history of operations is linearizable (M. P. Herlihy, J. M. Wing, "Linearizability: a
 * correctness condition for concurrent objects", 1990): whether each operation can have taken
 * effect at one moment between its call and its return, so that all of them together give what
 * they gave.
 */
#ifndef RELOCK_TEST_LINEARIZE_H
#define RELOCK_TEST_LINEARIZE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum object { COUNTER, STACK, QUEUE, MAP };
/* insert: add, push, enqueue, put; take: pop, dequeue, remove; look: read, get */
enum call { INSERT, TAKE, LOOK };
enum { NOTHING = -1, MAX_OPERATIONS = 128, MAX_KEYS = 4 };

struct operation {
  uint32_t called, returned; /* in an order of all calls and returns */
  enum call call;
  int thread, key; /* of a map: 0 to MAX_KEYS - 1 */
  int value;       /* inserted: from 0 on, and for a counter the addend */
  int result;      /* an add's value before; a put's replaced value; what was taken or looked at */
};

/* The object is empty at first, or 0. */
bool linearizable(enum object object, const struct operation *operations, unsigned count);

/* One line for each operation, in the order of the calls. */
void print_history(FILE *file, enum object object, const struct operation *operations,
                   unsigned count);

#endif
