/* SPDX-License-Identifier: MIT
 *
 * A section's way through a request line: the client fills the line, another thread runs the
 * section, the client reads what it returned. Inline: in combiners and servers this stands between
 * the look at a request and the reply to it.
 */
#ifndef RELOCK_BASE_REQUEST_H
#define RELOCK_BASE_REQUEST_H

#include "atomic.h"
#include "identity.h"
#include "overflow.h"
#include "thread.h"

#include <errno.h>
#include <relock/relock.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* A critical section on its way to whoever runs it. */
struct relock_call {
  relock_section_t section;
  void *context;
  uint32_t copied; /* bytes of the context that travel in the request line; 0: by pointer */
  bool as_client;  /* with the client's thread identity */
};

/* How a filled line says how to run: `result` holds the client's number in its upper bits, then
 * one bit for an urgent client, one for a client that may take a share of its server only
 * (server/manners.h), one for a chain of sections and one for a client that does not wait
 * (mutex/submit.h), one for the client's identity, then the size of a copied context. */
enum {
  RELOCK_COPIED_BITS = 6,
  RELOCK_AS_CLIENT = 1 << RELOCK_COPIED_BITS,
  RELOCK_SUBMITTED = 2 * RELOCK_AS_CLIENT,
  RELOCK_CHAINED = 2 * RELOCK_SUBMITTED,
  RELOCK_LIMITED = 2 * RELOCK_CHAINED,
  RELOCK_URGENT = 2 * RELOCK_LIMITED,
  RELOCK_NUMBER_SHIFT = RELOCK_COPIED_BITS + 5
};
_Static_assert((int)RELOCK_COPY_MAX < (int)RELOCK_AS_CLIENT, "the size fits its bits");
_Static_assert(RELOCK_MAX_THREADS - 1 <= INT32_MAX >> RELOCK_NUMBER_SHIFT, "so do numbers");

/* What all lines of a thread have in common. */
static inline void relock_mark(struct relock_thread *self, bool urgent) {
  self->marks = self->number << RELOCK_NUMBER_SHIFT | (urgent ? RELOCK_URGENT : 0);
}
static inline bool relock_is_urgent(const struct relock_thread *self) {
  return self->marks & RELOCK_URGENT;
}

/* Writes the call, or null for a holder, into a request line for this client. */
static inline void relock_request_fill(struct relock_request *request,
                                       const struct relock_thread *client,
                                       const struct relock_call *call) {
  uint32_t how = client->marks;
  request->section = call ? call->section : NULL;
  if (call) {
    how |= call->copied | (call->as_client ? RELOCK_AS_CLIENT : 0);
    if (call->copied)
      memcpy(request->context.copy, call->context, call->copied);
    else
      request->context.pointer = call->context;
  }
  request->result = (int32_t)how;
}

/* The client of a filled line. */
static inline struct relock_thread *relock_request_client(const struct relock_request *request) {
  return relock_thread_numbered((uint32_t)request->result >> RELOCK_NUMBER_SHIFT);
}

/* What a section returned, and the errno that it set if it ran for any thread, else 0. */
struct relock_reply {
  int result, error;
};

/* With the runner's identity: what the section does to errno, which is at `here` for the runner, is
 * its client's. Nothing is stored where errno is 0 and stays it: the client waits. */
static inline struct relock_reply relock_run_for_any_thread(relock_section_t section, void *context,
                                                            int *here) {
  const int own = *here;
  if (RELOCK_UNLIKELY(own))
    *here = 0;
  int result = section(context);
  const int error = *here;
  if (RELOCK_UNLIKELY(error != own))
    *here = own;
  return (struct relock_reply){result, error};
}

static inline void *relock_request_context(const struct relock_request *request) {
  return request->result & (RELOCK_AS_CLIENT - 1) ? (void *)request->context.copy
                                                  : request->context.pointer;
}

/* Runs the section of a filled line, by any other thread that owns the word of its mutex, and whose
 * errno is at `here`: neither that nor the client's is disturbed by somebody else's section. Writes
 * nothing to the line. The thread's record is null only for a section for any thread. */
static inline struct relock_reply relock_request_section(const struct relock_request *request,
                                                         struct relock_thread *self, int *here) {
  void *context = relock_request_context(request);
  if (RELOCK_LIKELY(!(request->result & RELOCK_AS_CLIENT)))
    return relock_run_for_any_thread(request->section, context, here);
  struct relock_thread *client = relock_request_client(request);
  return (struct relock_reply){relock_run_as(self, client, request->section, context), 0};
}

/* Last of all: the client looks at the line, and whatever is stored later has to fetch it back.
 * Relaxed stores: compilers would put two plain ones together by way of a vector register. */
static inline void relock_request_reply(struct relock_request *request, struct relock_reply reply) {
  relock_store_relaxed(&request->result, reply.result);
  relock_store_relaxed(&request->error, reply.error);
}

static inline void relock_request_run(struct relock_request *request) {
  struct relock_thread *self = relock_thread_self();
  struct relock_run run;
  relock_overflow_begin(self, &run, request);
  const struct relock_reply reply = relock_request_section(request, self, &errno);
  relock_overflow_end(self, &run);
  relock_request_reply(request, reply);
}

/* The section of a line whose section runs, as the program knows it: without what higher rooms have
 * wrapped around it, who say how to look for it there. The line itself says it, however often it is
 * wrapped: the client's stack may be gone. */
relock_section_t relock_section_asked_for(const struct relock_request *request);
typedef relock_section_t relock_unwrap_t(const struct relock_request *request);
void relock_sections_wrapped_by(relock_unwrap_t *unwrap);

/* What the section returned; copies a copied context back, and sets errno if a section for any
 * thread has set it. By the client, when it was run. */
static inline int relock_request_result(const struct relock_request *request,
                                        const struct relock_call *call) {
  if (call->copied)
    memcpy(call->context, request->context.copy, call->copied);
  if (RELOCK_UNLIKELY(request->error != 0))
    errno = request->error;
  return request->result;
}

#endif
