/* SPDX-License-Identifier: MIT
 *
 * Fibers: threads of a simulated machine, on one system thread. Each has a stack of its own and the
 * thread pointer of a system thread that sleeps for ever, so that thread-local variables, errno and
 * pthread_self() differ between them and are as valid as in that thread.
 */
#ifndef RELOCK_SIM_FIBER_H
#define RELOCK_SIM_FIBER_H

#include <stdint.h>

enum { SIM_STACK_SIZE = 1 << 17 };

struct sim_fiber {
  void *stack, *stack_pointer;
  uintptr_t thread_pointer;
};

/* Which begins in entry(), that must not return. */
void sim_fiber_make(struct sim_fiber *fiber, void (*entry)(void));
void sim_fiber_switch(struct sim_fiber *from, struct sim_fiber *to);

#endif
