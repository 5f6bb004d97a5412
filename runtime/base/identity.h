/* SPDX-License-Identifier: MIT
 *
 * Thread identity. What C and POSIX call "this thread" (errno, __thread variables,
 * pthread_self(), thread-specific data, allocator caches) hangs off one register, the thread
 * pointer. A section that runs with its client's thread pointer therefore has its client's
 * identity, as long as the client itself only waits inside the runtime.
 *
 * The runtime's own thread-local variables follow the same switch: between the two register
 * writes they are the client's. No function but relock_run_as() runs there, and it uses none.
 *
 * Signal handlers have the identity of the thread on whose stack they run, see signals.h. What that
 * takes is an identity's states, identity.c.
 */
#ifndef RELOCK_BASE_IDENTITY_H
#define RELOCK_BASE_IDENTITY_H

#include "arch.h"

#include <relock/relock.h>
#include <stdbool.h>
#include <stdint.h>

/* Whether relock_run_as() may be called with another thread's pointer. False where the processor
 * or kernel forbids it; under sanitizers, whose own state hangs off the same register; in programs
 * with -fsplit-stack; where handlers are installed past this library (signals.h); and in those that
 * use restartable sequences, from the moment on at which that is seen. */
bool relock_identity_switchable(void);

struct relock_thread;

/* Whether sections of the calling thread, whose record may be null, may run with its identity
 * elsewhere now. Not within a handler that has interrupted it while it waited for one that does. */
bool relock_identity_movable(struct relock_thread *self);

/* Runs the section on the calling thread, whose record that is, with the client's identity. */
int relock_run_as(struct relock_thread *self, struct relock_thread *client,
                  relock_section_t section, void *context);

/* The parts of it that signals.c needs: the calling thread, or what it interrupts, uses the
 * client's identity from now on, or does not any more. The first waits while a handler uses it. */
void relock_identity_take(struct relock_thread *self, struct relock_thread *client);
void relock_identity_give(struct relock_thread *self, const struct relock_thread *client);

#endif
