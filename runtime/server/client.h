/* SPDX-License-Identifier: MIT
 *
 * What the rest of the runtime tells the servers.
 */
#ifndef RELOCK_SERVER_CLIENT_H
#define RELOCK_SERVER_CLIENT_H

#include <relock/relock.h>
#include <stdbool.h>

struct relock_call;
struct relock_server;
struct relock_thread;

/* A section of the algorithm rcl without detours: false, and nothing was done, unless the calling
 * thread is a client already and can post a request now. The caller then takes the long way, by the
 * algorithm's `execute`. The context's first `copied` bytes travel in the request if that is not 0.
 */
bool relock_client_execute(relock_mutex_t *mutex, const relock_class_t *lock_class,
                           struct relock_thread *self, const struct relock_call *call, int *result);

/* Posts the call, whose context is copied, in the thread's slot at the server, which is busy from
 * then on. Chained: the section is run again, in the server's next turn, while it does not return
 * 0. False: it cannot now. */
bool relock_client_post(struct relock_server *server, relock_mutex_t *mutex,
                        struct relock_thread *self, const struct relock_call *call, bool chained);

/* 1: what the thread has posted so at the server has been run. */
bool relock_client_is_served(const struct relock_server *server, const struct relock_thread *self);

/* Waits for it. True: it had to, until the server had run it; parked: and slept. */
bool relock_client_settle(struct relock_server *server, struct relock_thread *self, bool *parked);

/* Gives up the number of a thread that ends. */
void relock_client_ends(struct relock_thread *record);

/* A server's own thread ends, in the middle of a section. */
void relock_pool_thread_ends(struct relock_thread *record);

/* Whether the process's first thread is there and will tell when it ends. */
void relock_servers_first_thread(bool lives);

/* Around a fork, in the parent. */
void relock_servers_before_fork(void);
void relock_servers_after_fork_in_parent(void);

/* In a forked child: there is no server and no client but this thread. */
void relock_servers_after_fork(void);

/* The clients' part of that. */
void relock_clients_after_fork(void);

/* A section is about to wait on a condition variable with the mutex under which it runs, and has
 * waited. True: it may, and begin() has released the mutex as an unlock does; the section holds it
 * afterwards. False: not a section that a server, or on a server's mutex its own client, runs. */
bool relock_server_begin_wait(relock_mutex_t *mutex);

/* Whether a thread of a server runs a section under the mutex. For the caller that is in such a
 * section, or holds the mutex, the answer is about itself. */
bool relock_server_executes(const relock_mutex_t *mutex);

#endif
