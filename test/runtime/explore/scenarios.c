/* SPDX-License-Identifier: MIT
 *
 * What the modelled threads do. Scenarios are small: each operation more makes the space several
 * times larger. Sections write plain variables, so that any two that are not ordered by the mutex
 * are a data race, whenever they run.
 */
#include "scenarios.h"

#include "../../../runtime/base/options.h"
#include "../../../runtime/base/os.h"
#include "../../../runtime/base/signals.h"
#include "../../../runtime/base/thread.h"
#include "../../../runtime/base/wait.h"
#include "../../../runtime/locks/algorithm.h"
#include "../../../runtime/locks/owed.h"
#include "../../../runtime/locks/queue.h"
#include "../../../runtime/server/client.h"

#include <relock/relock.h>

#include <errno.h>
#include <string.h>

static relock_class_t explored = {.name = "explored"};
static relock_mutex_t mutex, other, doomed;
static relock_cond_t cond;
static int counter; /* sections run */
static int other_counter;
static int flag;
static int users;
static uint32_t baton;

struct job {
  int id, times, other;
};
static struct job jobs[MAX_THREADS];

void scenarios_start(const char *algorithm) {
  explored.algorithm = algorithm;
  relock_class_register(&explored);
}

relock_class_t *scenarios_class(void) { return &explored; }

static struct relock_thread *record_of[MAX_THREADS];

void scenarios_warm_up(void) {
  static relock_mutex_t warm;
  static int warmed;
  record_of[warmed++] = relock_thread_self();
  relock_mutex_lock(&warm);
  relock_mutex_unlock(&warm);
}

void set_processors(unsigned number) {
  static uint32_t usual, usually_open;
  if (usual == 0) {
    usual = relock_tuning.spin_ns;
    usually_open = relock_tuning.open_us;
  }
  processors = number;
  relock_tuning.spin_ns = number >= CROWD ? 0 : usual; /* once for each thread is enough there */
  relock_tuning.open_us = usually_open;
  relock_wait_calibrate();
}

static void set_up(void) {
  relock_mutex_init(&mutex, NULL, &explored);
  relock_mutex_init(&other, NULL, &explored);
  relock_mutex_init(&doomed, NULL, &explored);
  relock_cond_init(&cond, NULL);
  counter = other_counter = flag = users = 0;
  baton = 0;
  for (int i = 0; i < MAX_THREADS; i++)
    jobs[i] = (struct job){.id = i};
  name_memory("mutex", &mutex, sizeof mutex);
  name_memory("other", &other, sizeof other);
  name_memory("doomed", &doomed, sizeof doomed);
  name_memory("cond", &cond, sizeof cond);
  name_memory("jobs", jobs, sizeof jobs);
}

static void require(bool condition, const char *otherwise) {
  if (!condition)
    wrong(otherwise);
}

/* --- what threads do ------------------------------------------------------------------------- */

static int section(void *context) {
  struct job *job = context;
  section_begins(job->id);
  counter++;
  job->times++;
  section_ends();
  return job->id + 7;
}

static void execute(int id) {
  int result = relock_execute_any_thread(&mutex, section, &jobs[id]);
  require(result == id + 7, "relock_execute returned another section's result");
}

static void hold(int id) {
  require(relock_mutex_lock(&mutex) == 0, "relock_mutex_lock failed");
  section(&jobs[id]);
  require(relock_mutex_unlock(&mutex) == 0, "relock_mutex_unlock failed");
}

/* Lines and nodes are as others have left them that used them before: granted, and linked. */
static void set_up_used(void) {
  set_up();
  for (int i = 0; i < MAX_THREADS; i++) {
    struct relock_request *line = relock_request_take(record_of[i]);
    struct relock_request *node = relock_node_take(record_of[i]);
    line->next = line;
    line->state = node->state = RELOCK_HEAD;
    relock_request_give(record_of[i]);
    relock_node_give(record_of[i], node);
  }
}

/* Straight to the algorithm, as if the word could not be had at once: through its queue, whoever
 * waits there. */
static void queue_and_hold(int id) {
  const struct relock_algorithm *algorithm = relock_load_relaxed(&explored.relock_ops);
  if (!algorithm->lock) {
    hold(id);
    return;
  }
  algorithm->lock(&mutex, relock_thread_self());
  section(&jobs[id]);
  require(relock_mutex_unlock(&mutex) == 0, "relock_mutex_unlock failed");
}

static void queue_and_execute(int id) {
  const struct relock_call call = {section, &jobs[id], 0, false};
  const struct relock_algorithm *algorithm = relock_load_relaxed(&explored.relock_ops);
  if (!algorithm->execute) {
    queue_and_hold(id);
    return;
  }
  int result = algorithm->execute(&mutex, relock_thread_self(), &call);
  require(result == id + 7, "a section has another one's result");
}

static void try(int id) {
  int error = relock_mutex_trylock(&mutex);
  require(error == 0 || error == EBUSY, "relock_mutex_trylock failed");
  if (error)
    return;
  section(&jobs[id]);
  relock_mutex_unlock(&mutex);
}

static void lock_until(int id, time_t seconds) {
  const struct timespec deadline = {.tv_sec = seconds};
  int error = relock_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &deadline);
  require(error == 0 || error == ETIMEDOUT, "relock_mutex_clocklock failed");
  if (error)
    return;
  section(&jobs[id]);
  relock_mutex_unlock(&mutex);
}

static void timed(int id) { lock_until(id, 1); }
static void patient(int id) { lock_until(id, NEVER); }

static const char *check_jobs(int first, int last) {
  int sum = 0;
  for (int i = first; i <= last; i++)
    sum += jobs[i].times;
  return sum == counter ? NULL : "a section ran with another's context";
}

/* Every job that is listed in `must`, a digit for each thread, ran exactly that often. */
static const char *ran(const char *must) {
  for (int i = 0; must[i]; i++)
    if (must[i] != '?' && jobs[i].times != must[i] - '0')
      return jobs[i].times < must[i] - '0' ? "a section was not run" : "a section was run twice";
  return check_jobs(0, (int)strlen(must) - 1);
}

#define RAN(digits)                                                                                \
  static const char *ran_##digits(void) { return ran(#digits); }
RAN(11)
RAN(12)
RAN(21)
RAN(22)
RAN(31)
RAN(33)
RAN(41)
RAN(111)
RAN(1111)
static const char *ran_11x(void) { return ran("11?"); }
static const char *ran_111x(void) { return ran("111?"); }

static void hold_all(int id) { hold(id); }
static void execute_all(int id) { execute(id); }

static void execute_twice(int id) {
  execute(id);
  if (id == 0)
    execute(id);
}
static void execute_thrice(int id) {
  for (int i = 0; i < 3; i++)
    execute(id);
}
/* The first section starts a server, the second one makes it keep the word, and from the third the
 * holder may have to take it back. */
static void keep_and_hold(int id) { id == 0 ? execute_thrice(id) : hold(id); }
static void twice(int id) {
  if (id == 0)
    execute(id), execute(id);
  else
    hold(id), hold(id);
}
static void hold_and_execute(int id) { id == 0 ? hold(id) : execute(id); }
static void execute_hold_execute(int id) { id == 1 ? hold(id) : execute(id); }
static void execute_hold_try(int id) { id == 0 ? execute(id) : id == 1 ? hold(id) : try(id); }
static void execute_timed(int id) { id == 0 ? execute(id) : timed(id); }
static void hold_timed_execute(int id) { id == 0 ? hold(id) : id == 1 ? timed(id) : execute(id); }
static void patient_hold(int id) { id == 1 ? patient(id) : hold(id); }
static void patient_execute(int id) { id == 1 ? patient(id) : execute(id); }
static const char *ran_1x1(void) { return ran("1?1"); }
static const char *ran_1x(void) { return ran("1?"); }

/* Contexts that travel in the request line. */
static void execute_copied(int id) {
  struct job job = {.id = id};
  int result = relock_execute_copy_any_thread(&mutex, section, &job, sizeof job);
  require(result == id + 7, "relock_execute_copy returned another section's result");
  require(job.times == 1 && job.id == id, "relock_execute_copy brought another context back");
}
static const char *counted_3(void) { return counter == 3 ? NULL : "a section was lost"; }

/* Nobody waits for it. */
static int section_of(void *context) { return section(*(struct job **)context); }

static void submit(int id) {
  struct job *job = &jobs[id];
  require(relock_submit(&mutex, section_of, &job, sizeof(void *)) == 0, "relock_submit failed");
  if (id == 0)
    hold(id);
  else
    relock_submitted_wait();
  require(job->times == (id == 0 ? 2 : 1), "a submitted section is not seen by its thread");
}

/* Several under way at once, waited for in another order. The first starts the server. */
static void submit_several(int id) {
  enum { SEVERAL = 4 };
  static const int order[SEVERAL] = {1, 3, 2, 0};
  relock_submission_t submission[SEVERAL];
  for (int i = 0; i < SEVERAL; i++)
    relock_submission_start(&submission[i], &mutex, section, &jobs[id]);
  for (int i = 0; i < SEVERAL; i++)
    require(relock_submission_wait(&submission[order[i]]) == id + 7,
            "relock_submission_wait returned another section's result");
  require(jobs[id].times == SEVERAL, "a submitted section is not seen by its thread");
}
static void submit_several_and_hold(int id) { id == 0 ? submit_several(id) : hold(id); }
static void submit_several_and_execute(int id) { id == 0 ? submit_several(id) : execute(id); }

/* --- condition variables --------------------------------------------------------------------- */

/* Writes where a call that has returned had its frame: nobody may still use it. */
static __attribute__((noinline)) void reuse_stack(void) {
  long frame[64];
  memset(frame, 0, sizeof frame);
  __asm__ __volatile__("" : : "r"(frame) : "memory");
}

static void await_flag(int id) {
  relock_mutex_lock(&mutex);
  while (!flag) {
    relock_cond_wait(&cond, &mutex);
    reuse_stack();
  }
  section(&jobs[id]);
  relock_mutex_unlock(&mutex);
}

static void signal_flag(int id) {
  relock_mutex_lock(&mutex);
  flag = 1;
  section(&jobs[id]);
  relock_cond_signal(&cond);
  relock_mutex_unlock(&mutex);
}

static int section_signals(void *context) {
  flag = 1;
  relock_cond_signal(&cond);
  return section(context);
}

/* A section that waits on a condition variable, which only a server's may: another thread of the
 * server runs the one that signals. */
static int section_waits(void *context) {
  while (!flag)
    relock_cond_wait(&cond, &mutex);
  return section(context);
}

static void sections_wait(int id) {
  bool may_wait = strcmp(explored.algorithm, "rcl") == 0;
  relock_section_t function = id == 1 ? section_signals : may_wait ? section_waits : section;
  int result = relock_execute_any_thread(&mutex, function, &jobs[id]);
  require(result == id + 7, "relock_execute returned another section's result");
  if (id == 1)
    execute(id);
}

static void wait_signal(int id) { id == 0 ? await_flag(id) : signal_flag(id); }

static void wait_executed_signal(int id) {
  if (id == 0)
    await_flag(id);
  else
    relock_execute_any_thread(&mutex, section_signals, &jobs[id]);
}

static void broadcast(int id) {
  if (id < 2) {
    await_flag(id);
    return;
  }
  relock_mutex_lock(&mutex);
  flag = 1;
  section(&jobs[id]);
  relock_mutex_unlock(&mutex);
  relock_cond_broadcast(&cond);
}

static void await_flag_timed(int id) {
  const struct timespec deadline = {.tv_sec = 1};
  relock_mutex_lock(&mutex);
  while (!flag && relock_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &deadline) == 0)
    continue;
  reuse_stack();
  section(&jobs[id]);
  relock_mutex_unlock(&mutex);
}

/* A wait that times out must not eat the signal of another. */
static void timed_wait(int id) { id == 1 ? signal_flag(id) : await_flag_timed(id); }

/* The condition variable is gone as soon as all have been signalled. */
static void free_cond(int id) {
  if (id != 1) {
    id == 0 ? await_flag(id) : await_flag_timed(id);
    return;
  }
  relock_mutex_lock(&mutex);
  flag = 1;
  section(&jobs[id]);
  relock_cond_broadcast(&cond);
  relock_mutex_unlock(&mutex);
  require(relock_cond_destroy(&cond) == 0, "relock_cond_destroy: busy after a broadcast");
  free_memory(&cond, sizeof cond);
}

/* Another thread unlocks the mutex, which a normal one allows. */
static void take_over(int id) {
  while (!relock_load_acquire(&baton))
    relock_os->futex_wait(&baton, 0, CLOCK_MONOTONIC, NULL);
  section(&jobs[id]);
  relock_mutex_unlock(&mutex);
}

static void hand_over(void) {
  relock_store_release(&baton, 1);
  relock_os->futex_wake(&baton, 1);
}

/* The signal comes when another thread unlocks the mutex, or has done so. */
static void signal_late(int id) {
  relock_mutex_lock(&mutex);
  flag = 1;
  section(&jobs[id]);
  hand_over();
  relock_cond_signal(&cond);
}

static void unlock_other(int id) {
  id == 0 ? await_flag(id) : id == 1 ? signal_late(id) : take_over(id);
}

/* The signal is owed by a thread that ends, and the next thread has its record. */
static void owe_and_end(int id) {
  relock_mutex_lock(&mutex);
  flag = 1;
  section(&jobs[id]);
  relock_cond_signal(&cond);
  hand_over();
  end_thread();
  begin_thread();
  relock_cond_broadcast(&cond);
}

static void unlock_ended(int id) {
  id == 0 ? await_flag(id) : id == 1 ? owe_and_end(id) : take_over(id);
}

/* Resumable sections. */
struct waiting_job {
  relock_resume_t resume;
  int id;
};

static int waiting_section(void *context) {
  struct waiting_job *job = context;
  switch (job->resume.at) {
  case 0:
    while (!flag)
      RELOCK_COND_WAIT(&job->resume, &cond, 1);
  }
  return section(&jobs[job->id]);
}

static int timed_waiting_section(void *context) {
  static const struct timespec deadline = {.tv_sec = 1};
  struct waiting_job *job = context;
  switch (job->resume.at) {
  case 0:
    while (!flag && job->resume.error == 0)
      RELOCK_COND_CLOCKWAIT(&job->resume, &cond, CLOCK_MONOTONIC, &deadline, 1);
  }
  return section(&jobs[job->id]);
}

static void await_resumable(int id, relock_section_t waiting) {
  struct waiting_job job = {.id = id};
  int result = relock_execute_resumable_any_thread(&mutex, waiting, &job, &job.resume);
  require(result == id + 7, "relock_execute_resumable returned another section's result");
  reuse_stack();
}

static void resumable(int id) {
  if (id == 0)
    await_resumable(id, waiting_section);
  else
    relock_execute_any_thread(&mutex, section_signals, &jobs[id]);
}

static int section_broadcasts(void *context) {
  flag = 1;
  relock_cond_broadcast(&cond);
  return section(context);
}

static void resumable_mixed(int id) {
  if (id == 0)
    await_resumable(id, timed_waiting_section);
  else if (id == 1)
    await_flag(id);
  else
    relock_execute_any_thread(&mutex, section_broadcasts, &jobs[id]);
}

/* One deadline passes while the condition is signalled for all, destroyed and freed. */
static int section_waits_once(void *context) {
  static const struct timespec deadline = {.tv_sec = 1};
  struct waiting_job *job = context;
  switch (job->resume.at) {
  case 0:
    flag = 1;
    RELOCK_COND_CLOCKWAIT(&job->resume, &cond, CLOCK_MONOTONIC, &deadline, 1);
  }
  int error = job->resume.error;
  section(&jobs[job->id]);
  return error;
}

static int look_at_flag(void *context) {
  section(context);
  return flag;
}

static void destroy_condition(int id) {
  if (id == 0) {
    struct waiting_job job = {.id = id};
    int error = relock_execute_resumable_any_thread(&mutex, section_waits_once, &job, &job.resume);
    require(error == 0 || error == ETIMEDOUT, "a wait ended with another error");
    return;
  }
  if (!relock_execute_any_thread(&mutex, look_at_flag, &jobs[id]))
    return;
  relock_cond_broadcast(&cond);
  require(relock_cond_destroy(&cond) == 0, "relock_cond_destroy: busy after a broadcast");
  free_memory(&cond, sizeof cond);
}

/* --- cancellation ---------------------------------------------------------------------------- */

/* The mutex is held in a cleanup handler. */
static void give_up(void *job) {
  section(job);
  relock_mutex_unlock(&mutex);
}

/* A wait that was not cancelled passes the signal on, as one that was must do. */
static void await_cancellably(int id) {
  relock_mutex_lock(&mutex);
  pthread_cleanup_push(give_up, &jobs[id]);
  while (!flag)
    relock_cond_wait(&cond, &mutex);
  pthread_cleanup_pop(0);
  relock_cond_signal(&cond);
  section(&jobs[id]);
  relock_mutex_unlock(&mutex);
}

static void cancel_wait(int id) {
  if (id == 0)
    await_cancellably(id);
  else if (id == 1)
    await_flag(id);
  else if (id == 2)
    signal_flag(id);
  else
    cancel_thread(0);
}

static void cancel_lonely_wait(int id) {
  if (id == 0)
    await_cancellably(id);
  else if (id == 1)
    signal_flag(id);
  else
    cancel_thread(0);
}

/* The canceller is the one that signals, at another place each time. */
static void cancel_and_signal(int id) {
  if (id < 2) {
    id == 0 ? await_cancellably(id) : await_flag(id);
    return;
  }
  relock_mutex_lock(&mutex);
  flag = 1;
  section(&jobs[id]);
  relock_cond_signal(&cond);
  cancel_thread(0);
  relock_mutex_unlock(&mutex);
}

static void cancel_and_broadcast(int id) {
  if (id < 2) {
    id == 0 ? await_cancellably(id) : await_flag_timed(id);
    return;
  }
  relock_mutex_lock(&mutex);
  flag = 1;
  section(&jobs[id]);
  relock_mutex_unlock(&mutex);
  cancel_thread(0);
  relock_cond_broadcast(&cond);
}

/* A section that waits: its client is cancelled. */
static void await_resumable_cancellably(int id) {
  struct waiting_job job = {.id = id};
  pthread_cleanup_push(give_up, &jobs[id]);
  relock_execute_resumable_any_thread(&mutex, waiting_section, &job, &job.resume);
  pthread_cleanup_pop(0);
  relock_cond_signal(&cond);
}

static void cancel_resumable(int id) {
  if (id == 0)
    await_resumable_cancellably(id);
  else if (id == 1)
    await_flag(id);
  else
    cancel_and_signal(id);
}

/* --- fork ------------------------------------------------------------------------------------ */

/* What the only thread of a child may do with a mutex that nobody else held. */
static void use_all(int id) {
  const struct timespec deadline = {.tv_sec = 1};
  hold(id);
  execute(id);
  try(id);
  relock_mutex_lock(&mutex);
  relock_cond_signal(&cond);
  int error = relock_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &deadline);
  require(error == ETIMEDOUT, "a wait in a child was signalled");
  relock_mutex_unlock(&mutex);
  require(relock_cond_destroy(&cond) == 0, "relock_cond_destroy: busy in a child");
}

/* The one that forks holds the mutex, while others wait for it in some way. */
static void fork_and_hold(int id) {
  require(relock_mutex_lock(&mutex) == 0, "relock_mutex_lock failed");
  flag = 1;
  bool child = fork_process();
  section(&jobs[id]);
  if (!child)
    relock_cond_broadcast(&cond);
  require(relock_mutex_unlock(&mutex) == 0, "relock_mutex_unlock failed");
  if (child)
    use_all(id);
}

static void fork_hold_execute(int id) {
  if (id == 0)
    fork_and_hold(id);
  else
    id == 1 ? hold(id) : execute(id);
}

static void fork_wait(int id) { id == 0 ? fork_and_hold(id) : await_flag(id); }

/* Nothing is known of the mutex: it may be left taken, but not be taken twice. */
static void fork_beside(int id) {
  if (id != 0) {
    id == 1 ? hold(id) : execute(id);
    end_thread();
    return;
  }
  bool child = fork_process();
  if (!child)
    hold(id);
  else if (relock_mutex_trylock(&mutex) == 0) {
    section(&jobs[id]);
    relock_mutex_unlock(&mutex);
    use_all(id);
  }
  relock_mutex_lock(&other);
  relock_mutex_unlock(&other);
  end_thread();
}

/* In a child with several threads: mutex and condition as its parent's waiters have left them. */
static void set_up_left(void) {
  static struct relock_request gone;
  static struct relock_cond_waiter waiter;
  set_up();
  mutex.relock_private.generation = UINT16_MAX;
  mutex.relock_private.tail = (uintptr_t)&gone;
  cond.relock_private.generation = UINT32_MAX;
  cond.relock_private.incoming = (uintptr_t)&waiter;
}

/* A processor for each thread. */
static void set_up_room(void) {
  set_up();
  set_processors(ROOM);
}

/* Who waits sleeps for the word beside the queue. */
static void set_up_crowd(void) {
  set_up();
  set_processors(CROWD);
  require(!relock_wait_has_room(), "there is room in a crowd");
}

/* And enters the queue when it was woken in vain. */
static void set_up_impatient_crowd(void) {
  set_up_crowd();
  relock_tuning.open_us = 0;
}

/* One that broadcasts does not hold the mutex, nor has it before. */
static void broadcast_beside(int id) {
  if (id < 2)
    wait_signal(id);
  else
    relock_cond_broadcast(&cond);
}

static const char *forked_ran(void) { return is_child() ? NULL : ran("111"); }

/* --- several mutexes ------------------------------------------------------------------------- */

static int other_section(void *context) {
  struct job *job = context;
  other_counter++;
  job->other++;
  return 0;
}

static int nesting_section(void *context) {
  relock_execute_any_thread(&other, other_section, context);
  return section(context);
}

static void nested(int id) {
  if (id == 0) {
    relock_execute_any_thread(&mutex, nesting_section, &jobs[id]);
    return;
  }
  relock_mutex_lock(&mutex);
  relock_mutex_lock(&other);
  other_section(&jobs[id]);
  relock_mutex_unlock(&mutex);
  relock_mutex_unlock(&other);
  jobs[id].times++; /* no section under `mutex` */
}
static const char *nested_ran(void) {
  return other_counter == 2 && counter == 1 ? NULL : "a nested section was lost";
}

static void set_up_recursive(void) {
  set_up();
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  relock_mutex_init(&mutex, &attributes, &explored);
}

static void recursive(int id) {
  if (id == 1) {
    relock_execute(&mutex, section, &jobs[id]);
    return;
  }
  require(relock_mutex_lock(&mutex) == 0, "relock_mutex_lock failed");
  require(relock_mutex_lock(&mutex) == 0, "a recursive mutex does not know its owner");
  require(relock_mutex_unlock(&mutex) == 0, "a recursive mutex does not know its owner");
  section(&jobs[id]);
  require(relock_mutex_unlock(&mutex) == 0, "a recursive mutex does not know its owner");
}

/* --- the last user frees the mutex ----------------------------------------------------------- */

static void set_up_doomed(void) {
  set_up();
  users = 2;
}
static void set_up_doomed_3(void) {
  set_up();
  users = 3;
}

static int leave_section(void *context) {
  section(context);
  return --users == 0;
}

static void destroy(void) {
  require(relock_mutex_destroy(&doomed) == 0, "relock_mutex_destroy: busy after the last user");
  free_memory(&doomed, sizeof doomed);
}

static void leave_by_hold(int id) {
  relock_mutex_lock(&doomed);
  int last = leave_section(&jobs[id]);
  relock_mutex_unlock(&doomed);
  if (last)
    destroy();
}

static void leave_by_execute(int id) {
  if (relock_execute_any_thread(&doomed, leave_section, &jobs[id]))
    destroy();
}

static void leave_mixed(int id) { id == 0 ? leave_by_hold(id) : leave_by_execute(id); }

/* --- identities ------------------------------------------------------------------------------ */

/* A thread uses the second one's identity, for two sections or for one that a handler on the thread
 * interrupts, and a handler has interrupted the second thread in its wait. */
static void run_as(int id) {
  for (int i = 0; i < 2; i++) {
    relock_identity_take(record_of[id], record_of[1]);
    section(&jobs[id]);
    relock_identity_give(record_of[id], record_of[1]);
  }
}

static void handle(int id) {
  relock_handler_begins(record_of[id]);
  section(&jobs[id]);
  relock_handler_ends(record_of[id]);
}

static void run_and_handle(int id) { id == 1 ? handle(id) : run_as(id); }

/* --- threads end and begin ------------------------------------------------------------------- */

/* Another thread has the record, and the stack, of one that ended as soon as its section was run;
 * the combiner may not be done with that one's. */
static void execute_and_end(int id) {
  execute(id);
  end_thread();
  begin_thread();
  execute(id);
}

static void hold_and_end(int id) {
  hold(id);
  end_thread();
  begin_thread();
  hold(id);
}

static void end_mixed(int id) { id == 0 ? execute_and_end(id) : hold_and_end(id); }

/* The third is new: it takes over the record of the first, or of the second, or has one of its
 * own. */
static void end_or_begin(int id) {
  if (id == 2)
    begin_thread();
  execute(id);
  if (id < 2)
    end_thread();
}

static void hold_end_or_begin(int id) {
  if (id == 2)
    begin_thread();
  hold(id);
  if (id < 2)
    end_thread();
}

static void submit_and_end(int id) {
  struct job *job = &jobs[id];
  require(relock_submit(&mutex, section_of, &job, sizeof(void *)) == 0, "relock_submit failed");
  end_thread();
  require(job->times == 1, "a thread ended before the section that it had submitted");
  begin_thread();
  execute(id);
}

static void end_submitted(int id) { id == 0 ? submit_and_end(id) : execute_and_end(id); }

/* --- the first thread ends ---------------------------------------------------------------------
 */

static void first_thread_ends(int id) {
  execute(id);
  if (id == 0)
    relock_servers_first_thread(false);
  else
    execute(id);
}

static void both_go_on(int id) {
  execute(id);
  if (id == 0)
    relock_servers_first_thread(false);
  execute(id);
}

const struct scenario scenarios[] = {
    {"hold", "two holders", 2, 0, set_up, hold_all, ran_11},
    {"execute", "two sections", 2, 0, set_up, execute_all, ran_11},
    {"hold-execute", "a holder and a section", 2, 0, set_up, hold_and_execute, ran_11},
    {"execute-twice", "two sections in a row and another", 2, 0, set_up, execute_twice, ran_21},
    {"execute-thrice", "three sections in a row, by both", 2, 1, set_up, execute_thrice, ran_33},
    {"keep-hold", "three sections in a row, and a holder", 2, 1, set_up, keep_and_hold, ran_31},
    {"submit", "a section is submitted, before a holder and before another", 2, 0, set_up, submit,
     ran_21},
    {"submit-several", "four sections are submitted, beside a holder", 2, 1, set_up,
     submit_several_and_hold, ran_41},
    {"submit-several-execute", "four sections are submitted, beside another", 2, 1, set_up,
     submit_several_and_execute, ran_41},
    {"room-twice", "two sections in a row and another, with a processor for each thread", 2, 1,
     set_up_room, execute_twice, ran_21},
    {"first-ends", "the first thread ends, and another goes on", 2, 1, set_up, first_thread_ends,
     ran_12},
    {"first-ends-both", "the first thread ends, and two go on", 2, 1, set_up, both_go_on, ran_22},
    {"twice", "two sections and two holders", 2, 1, set_up, twice, ran_22},
    {"queue-hold", "two holders that queue", 2, 2, set_up_used, queue_and_hold, ran_11},
    {"queue-execute", "two sections in the way of those that wait", 2, 2, set_up_used,
     queue_and_execute, ran_11},
    {"queue-hold-3", "three holders that queue", 3, 3, set_up_used, queue_and_hold, ran_111},
    {"end-execute", "threads end whose sections were run, and others take over their records", 2, 2,
     set_up, execute_and_end, ran_22},
    {"end-hold", "the same with holders", 2, 2, set_up, hold_and_end, ran_22},
    {"end-mixed", "the same with a holder and a section", 2, 2, set_up, end_mixed, ran_22},
    {"end-submit", "a thread ends that has submitted a section", 2, 2, set_up, end_submitted,
     ran_22},
    {"handler", "sections with the identity of a thread that handles a signal", 2, 0, set_up,
     run_and_handle, ran_21},
    {"timed", "a section and a timed lock", 2, 0, set_up, execute_timed, ran_1x},
    {"recursive", "a recursive mutex: a holder twice, and a section", 2, 1, set_up_recursive,
     recursive, ran_11},
    {"nested", "a section in a section, and holders hand over hand", 2, 1, set_up, nested,
     nested_ran},
    {"wait-signal", "a wait and a signal by a holder", 2, 1, set_up, wait_signal, ran_11},
    {"wait-execute", "a wait and a signal by a section", 2, 1, set_up, wait_executed_signal,
     ran_11},
    {"section-waits", "a section that waits as it is, and sections that signal and follow", 2, 1,
     set_up, sections_wait, ran_12},
    {"resumable", "a section that waits and one that signals", 2, 1, set_up, resumable, ran_11},
    {"free-condition", "a deadline passes while the condition is broadcast and freed", 2, 1, set_up,
     destroy_condition, ran_11},
    {"free-hold", "the last of two holders frees the mutex", 2, 0, set_up_doomed, leave_by_hold,
     ran_11},
    {"free-execute", "the client of the last of two sections frees the mutex", 2, 0, set_up_doomed,
     leave_by_execute, ran_11},
    {"free-mixed", "a holder and a section; the last frees the mutex", 2, 0, set_up_doomed,
     leave_mixed, ran_11},
    {"hold-3", "three holders", 3, 2, set_up, hold_all, ran_111},
    {"execute-3", "three sections", 3, 2, set_up, execute_all, ran_111},
    {"room-3", "three sections in the same way", 3, 2, set_up_room, execute_all, ran_111},
    {"copy-3", "three sections with copied contexts", 3, 2, set_up, execute_copied, counted_3},
    {"mixed-3", "a holder between two sections", 3, 2, set_up, execute_hold_execute, ran_111},
    {"try-3", "a section, a holder and a trylock", 3, 2, set_up, execute_hold_try, ran_11x},
    {"timed-3", "a holder, a timed lock and a section", 3, 2, set_up, hold_timed_execute, ran_1x1},
    {"patient-3", "a timed lock that is not late among two holders", 3, 2, set_up, patient_hold,
     ran_111},
    {"patient-execute-3", "a timed lock that is not late among two sections", 3, 2, set_up,
     patient_execute, ran_111},
    {"broadcast-3", "two waits and a broadcast", 3, 3, set_up, broadcast, ran_111},
    {"timed-wait-3", "two timed waits and a signal", 3, 3, set_up, timed_wait, ran_111},
    {"free-cond-3", "a wait, a timed wait, and a broadcast that frees the condition variable", 3, 3,
     set_up, free_cond, ran_111},
    {"resumable-3", "a timed wait of a section, a holder's wait, and a broadcast", 3, 3, set_up,
     resumable_mixed, ran_111},
    {"unlock-other-3", "a wait, a signal, and an unlock by another thread meanwhile", 3, 3, set_up,
     unlock_other, ran_111},
    {"unlock-ended-3", "a wait, a signal, whose thread ends, and an unlock by another thread", 3, 3,
     set_up, unlock_ended, ran_111},
    {"left-hold-3", "holders of a mutex whose waiters a fork has left", 3, 3, set_up_left, hold_all,
     ran_111},
    {"left-wait-3", "a wait, a signal and a broadcast, and waiters that a fork has left", 3, 3,
     set_up_left, broadcast_beside, ran_11x},
    {"cancel-3", "a wait that is cancelled, and a signal", 3, 3, set_up, cancel_lonely_wait,
     ran_11x},
    {"cancel-signal-3", "one of two waits is signalled and cancelled", 3, 3, set_up,
     cancel_and_signal, ran_111},
    {"cancel-broadcast-3", "a broadcast to a wait that is cancelled and a timed one", 3, 3, set_up,
     cancel_and_broadcast, ran_111},
    {"cancel-4", "one of two waits is cancelled while a signal is sent", 4, 3, set_up, cancel_wait,
     ran_111x},
    {"cancel-resumable-3", "the client of a section that waits is cancelled", 3, 3, set_up,
     cancel_resumable, ran_111},
    {"fork-hold-3", "a holder forks while a holder and a section wait", 3, 3, set_up,
     fork_hold_execute, forked_ran},
    {"fork-wait-3", "a holder forks while others wait for a condition", 3, 3, set_up, fork_wait,
     forked_ran},
    {"fork-beside-3", "a fork beside a holder and a section", 3, 3, set_up, fork_beside,
     forked_ran},
    {"end-execute-3", "two threads end, and a third takes a record over: sections", 3, 3, set_up,
     end_or_begin, ran_111},
    {"end-hold-3", "the same with holders", 3, 3, set_up, hold_end_or_begin, ran_111},
    {"free-execute-3", "the client of the last of three sections frees the mutex", 3, 2,
     set_up_doomed_3, leave_by_execute, ran_111},
    {"crowd-3", "three holders, where threads outnumber processors", 3, 3, set_up_crowd, hold_all,
     ran_111},
    {"crowd-queue-3", "the same, and who was woken in vain queues", 3, 3, set_up_impatient_crowd,
     hold_all, ran_111},
    {"crowd-execute-3", "the same, and one executes", 3, 3, set_up_impatient_crowd,
     hold_and_execute, ran_111},
    {"hold-execute-4", "a holder and three sections", 4, 3, set_up, hold_and_execute, ran_1111},
};
const int scenario_count = sizeof scenarios / sizeof *scenarios;
