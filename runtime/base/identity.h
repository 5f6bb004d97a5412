/* SPDX-License-Identifier: MIT
 *
 * Thread identity. What C and POSIX call "this thread" (errno, __thread variables,
 * pthread_self(), thread-specific data, allocator caches) hangs off one register, the thread
 * pointer. A section that runs with its client's thread pointer therefore has its client's
 * identity, as long as the client itself only waits inside the runtime.
 *
 * The runtime's own thread-local variables follow the same switch: between the two register
 * writes they are the client's. No function but relock_run_as() runs there, and it uses none.
 */
#ifndef RELOCK_BASE_IDENTITY_H
#define RELOCK_BASE_IDENTITY_H

#include "arch.h"

#include <relock/relock.h>
#include <stdbool.h>
#include <stdint.h>

/* Whether relock_run_as() may be called with another thread's pointer. False where the processor
 * or kernel forbids it; under sanitizers, whose own state hangs off the same register; in programs
 * with -fsplit-stack; and in those that use restartable sequences, from the moment on at which
 * that is seen. */
bool relock_identity_switchable(void);

/* Runs the section with that thread pointer (0: the current one). */
int relock_run_as(uintptr_t thread_pointer, relock_section_t section, void *context);

#endif
