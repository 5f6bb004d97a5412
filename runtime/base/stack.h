/* SPDX-License-Identifier: MIT
 *
 * A section that another thread runs takes that thread's stack. It may need as much as its own
 * thread has, so it runs only where there is at least as much.
 */
#ifndef RELOCK_BASE_STACK_H
#define RELOCK_BASE_STACK_H

#include <stddef.h>
#include <stdint.h>

/* The calling thread's stack: its size in bytes, from 1 MiB on rounded up to MiB, so that the main
 * thread and threads of the default size compare equal, and its lowest usable address. Costs some
 * microseconds. */
void relock_stack_of_thread(size_t *size, uintptr_t *end);

/* The same for a thread that is started with default attributes. */
size_t relock_default_stack_size(void);

#endif
