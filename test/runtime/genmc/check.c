/* SPDX-License-Identifier: MIT
 *
 * A check of one lock algorithm: threads that do one or two operations each, and what must be true
 * afterwards. The runtime's sources are included as they are. Given on the command line (check.sh):
 * ALGORITHM and its SOURCE, THREADS, their OPERATIONS in all, HELD, FAST, and what each of them
 * does, DOES_0 and so on.
 */
#include "seams.h"

#include "records.h"

#include "locks/algorithm.h"
#include "locks/queue.h"
#include "locks/section.h"

#define JOINED(left, right) left##right
#define EXPANDED_JOINED(left, right) JOINED(left, right)

#include "base/wait.c"
#include "base/word.c"
#include "locks/batch.c"
#include "locks/ccqueue.c"
#include "locks/queue.c"
#include SOURCE

static const struct relock_algorithm *const algorithm = &EXPANDED_JOINED(relock_, ALGORITHM);

static relock_mutex_t mutex;

/* Plain: two sections at once, and one that does not see what those before it did, are data races,
 * which GenMC reports. */
static unsigned sections_run;

/* What a client wants done, and whether it was: plain as well, and looked at by the client after
 * relock_execute_any_thread() or the unlock. */
static struct job {
  unsigned number, runs;
} jobs[THREADS];
static unsigned tries_failed;

static int section(void *context) {
  struct job *job = context;
  sections_run++;
  job->runs++;
  return (int)job->number + 7;
}

/* --- what mutex/mutex.c does for a normal mutex ---------------------------------------------- */

#if defined(HELD) /* the first try has failed: to look again would only multiply the executions */
static bool try_first(void) { return false; }
#else
static bool try_first(void) { return relock_queue_try(&mutex); }
#endif

static void hold(struct job *job) {
  if (!try_first())
    algorithm->lock(&mutex, relock_thread_self());
  section(job);
  relock_word_release(&mutex.relock_private.word);
}

static bool try(struct job *job) {
  if (!relock_word_try(&mutex.relock_private.word))
    return false;
  section(job);
  relock_word_release(&mutex.relock_private.word);
  return true;
}

static int execute_by_algorithm(const struct relock_call *call) {
  struct relock_thread *self = relock_thread_self();
  if (!try_first()) {
    if (algorithm->execute)
      return algorithm->execute(&mutex, self, call);
    algorithm->lock(&mutex, self);
  }
  return relock_run_and_release(&mutex, self, call->section, call->context);
}

/* --- what threads do ------------------------------------------------------------------------- */

static void does_h(struct job *job) {
  const unsigned before = job->runs;
  hold(job);
  assert(job->runs == before + 1);
}

static void does_e(struct job *job) {
  const unsigned before = job->runs;
  const struct relock_call call = {.section = section, .context = job};
  const int result = execute_by_algorithm(&call);
  assert(result == (int)job->number + 7);
  assert(job->runs == before + 1);
}

static void does_t(struct job *job) {
  if (!try(job))
    __atomic_fetch_add(&tries_failed, 1, __ATOMIC_RELAXED);
}

/* Limits a check to executions in which somebody has queued up. */
static void assume_a_queue(void) {
  __VERIFIER_assume(relock_load_relaxed(&mutex.relock_private.tail) != 0);
}

/* It has the mutex when the threads begin. */
static void does_r(struct job *job) {
#if THREADS == 3
  assume_a_queue();
#endif
  section(job);
  relock_word_release(&mutex.relock_private.word);
}

/* Behind another one. */
static void does_bh(struct job *job) {
  assume_a_queue();
  does_h(job);
}

static void does_be(struct job *job) {
  assume_a_queue();
  does_e(job);
}

static void does_hh(struct job *job) {
  does_h(job);
  does_h(job);
}

static void does_ee(struct job *job) {
  does_e(job);
  does_e(job);
}

static void does_he(struct job *job) {
  does_h(job);
  does_e(job);
}

static void does_th(struct job *job) {
  does_t(job);
  does_h(job);
}

/* --- the check ------------------------------------------------------------------------------- */

#define DOES(which)                                                                                \
  static void *thread_##which(void *unused) {                                                      \
    (void)unused;                                                                                  \
    self_number = which;                                                                           \
    relock_own_record = &records[which];                                                           \
    jobs[which].number = which;                                                                    \
    EXPANDED_JOINED(does_, DOES_##which)(&jobs[which]);                                            \
    return NULL;                                                                                   \
  }
DOES(0)
DOES(1)
#if THREADS == 3
DOES(2)
#endif

static void *(*const threads[THREADS])(void *) = {thread_0, thread_1,
#if THREADS == 3
                                                  thread_2
#endif
};

int main(void) {
  prepare_records(THREADS);
  relock_calibrated_spins = 0; /* who waits sleeps at once: to look again adds nothing */
#if defined(FAST)              /* else they are HELD: what words begin as */
  relock_word_taken = RELOCK_WORD_HELD_FAST;
  relock_word_has_barrier = 1;
#endif
#if defined(HELD)
  mutex.relock_private.word = relock_word_taken;
#endif
  pthread_t started[THREADS];
  for (unsigned i = 0; i < THREADS; i++)
    pthread_create(&started[i], NULL, threads[i], NULL);
  for (unsigned i = 0; i < THREADS; i++)
    pthread_join(started[i], NULL);
  unsigned runs = 0;
  for (unsigned i = 0; i < THREADS; i++)
    runs += jobs[i].runs;
  assert(runs == sections_run);
  assert(runs == OPERATIONS - tries_failed);
  assert(mutex.relock_private.word == RELOCK_WORD_FREE && mutex.relock_private.tail == 0);
  return 0;
}
