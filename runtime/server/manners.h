/* SPDX-License-Identifier: MIT
 *
 * Who goes first, and who holds back: relock_thread_set_urgent() and relock_thread_limit_share().
 */
#ifndef RELOCK_SERVER_MANNERS_H
#define RELOCK_SERVER_MANNERS_H

#include <stdint.h>

struct relock_thread;
struct relock_server;

/* A thread has got its number, or is about to give it up. */
void relock_manners_start(const struct relock_thread *self);
void relock_manners_end(const struct relock_thread *record);

/* In a forked child: the threads that had numbers are gone. */
void relock_manners_after_fork(void);

/* A thread with a share is about to ask this server; a section of it has taken so long. */
void relock_manners_wait(struct relock_thread *self, const struct relock_server *server);
void relock_manners_spent(struct relock_thread *self, uint64_t ns);

#endif
