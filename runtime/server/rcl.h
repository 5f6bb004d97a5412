/* SPDX-License-Identifier: MIT */
#ifndef RELOCK_SERVER_RCL_H
#define RELOCK_SERVER_RCL_H

#include <stdbool.h>

struct relock_thread;

/* Gives up the slot of a thread that ends. */
void relock_rcl_thread_ends(struct relock_thread *record);

/* Whether the process's first thread is there and will tell when it ends. */
void relock_rcl_first_thread(bool lives);

/* In a forked child: there is no server and no client but this thread. */
void relock_rcl_after_fork(void);

#endif
