/* SPDX-License-Identifier: MIT
 *
 * submit: sections that nobody waits for, and clients that go first or hold back.
 *
 *   submit ALGORITHM [SERVERS]
 *
 * The classes of the mutexes are spread over the servers, 1 unless said otherwise.
 */
#include "check.h"

#include <relock/relock.h>

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

const char *check_case = "start";

enum { THREADS = 6, ROUNDS = 3000, MUTEXES = 4, SECONDS = 60 };

RELOCK_LOCK_CLASS(first, "first", "rcl");
RELOCK_LOCK_CLASS(second, "second", "rcl");
RELOCK_LOCK_CLASS(third, "third", "rcl");
RELOCK_LOCK_CLASS(fourth, "fourth", "rcl");
static relock_class_t *const classes[MUTEXES] = {RELOCK_CLASS(first), RELOCK_CLASS(second),
                                                 RELOCK_CLASS(third), RELOCK_CLASS(fourth)};

static struct cell {
  relock_mutex_t mutex;
  long last[THREADS]; /* round of each thread's last section */
  long sections;
  int inside;
} cells[MUTEXES];

struct job {
  struct cell *cell;
  long thread, round;
};

static int step(void *context) {
  const struct job *job = context;
  struct cell *cell = job->cell;
  CHECK_EQUAL(cell->inside++, 0);
  CHECK(cell->last[job->thread] < job->round); /* a thread's sections keep their order */
  cell->last[job->thread] = job->round;
  cell->sections++;
  cell->inside--;
  errno = ERANGE; /* is nobody's */
  return 1;
}

static void submit(struct cell *cell, long thread, long round) {
  const struct job job = {cell, thread, round};
  errno = 0;
  CHECK_EQUAL(relock_submit(&cell->mutex, step, &job, sizeof job), 0);
  CHECK_EQUAL(errno, 0);
}

static void hold(struct cell *cell, long thread, long round) {
  struct job job = {cell, thread, round};
  CHECK_EQUAL(relock_mutex_lock(&cell->mutex), 0);
  CHECK(cell->last[thread] < round);
  step(&job);
  CHECK_EQUAL(relock_mutex_unlock(&cell->mutex), 0);
}

/* Every other round is submitted, to mutexes in turn; the others hold, execute or wait. Threads end
 * with a section under way. */
static void *work(void *argument) {
  long thread = (long)argument;
  if (thread == 0)
    CHECK_EQUAL(relock_thread_set_urgent(1), 0);
  if (thread == 1)
    CHECK_EQUAL(relock_thread_limit_share(50), 0);
  for (long round = 1; round <= ROUNDS; round++) {
    struct cell *cell = &cells[(round + thread) / 3 % MUTEXES];
    struct job job = {cell, thread, round};
    if (round % 5 == 1)
      hold(cell, thread, round);
    else if (round % 5 == 2)
      CHECK_EQUAL(relock_execute_any_thread(&cell->mutex, step, &job), 1);
    else
      submit(cell, thread, round);
    if (round % 7 == 0) {
      relock_submitted_wait();
      CHECK_EQUAL(relock_submitted_is_done(), 1);
    }
    if (round % 11 == 0 && relock_mutex_trylock(&cell->mutex) == 0) {
      CHECK_EQUAL(cell->inside, 0);
      CHECK_EQUAL(relock_mutex_unlock(&cell->mutex), 0);
    }
  }
  submit(&cells[0], thread, ROUNDS + 1);
  return NULL;
}

static long all_sections(void) {
  long sections = 0;
  for (int i = 0; i < MUTEXES; i++)
    sections += cells[i].sections;
  return sections;
}

static void sections_run_once_and_in_order(void) {
  pthread_t thread[THREADS];
  for (long i = 0; i < THREADS; i++)
    thread[i] = check_start(work, (void *)i);
  for (int i = 0; i < THREADS; i++)
    check_join(thread[i]); /* the ends of the threads have waited for the sections */
  CHECK_EQUAL(all_sections(), THREADS * (ROUNDS + 1));
}

/* Submissions, several of them under way and waited for in another order, between other calls. The
 * mutexes may change their servers meanwhile. */
enum { WINDOW = 8 };

static void *work_ahead(void *argument) {
  const long thread = (long)argument;
  static struct window {
    relock_submission_t submission[WINDOW];
    struct job job[WINDOW];
  } windows[THREADS];
  struct window *window = &windows[thread];
  for (long round = ROUNDS + 2; round <= 2 * ROUNDS + 1; round += WINDOW + 1) {
    for (long i = 0; i < WINDOW; i++) {
      struct cell *cell = &cells[(round / (WINDOW + 1) + i / 3) % MUTEXES];
      window->job[i] = (struct job){cell, thread, round + i};
      relock_submission_start(&window->submission[i], &cell->mutex, step, &window->job[i]);
    }
    if (round % 5 == 0)
      hold(&cells[round % MUTEXES], thread, round + WINDOW);
    else if (round % 5 == 1)
      submit(&cells[round % MUTEXES], thread, round + WINDOW);
    if (round % 3 == 0)
      relock_mutex_set_server(&cells[round % MUTEXES].mutex, (unsigned)(round / 3 % 3));
    for (long i = 0; i < WINDOW; i++) {
      relock_submission_t *submission = &window->submission[(i * 5 + round) % WINDOW];
      CHECK_EQUAL(relock_submission_wait(submission), 1);
      CHECK_EQUAL(relock_submission_is_done(submission), 1);
      memset(submission, 0xff, sizeof *submission); /* nobody looks at it any more */
    }
  }
  return NULL;
}

static void submissions_have_results_and_keep_their_order(void) {
  pthread_t thread[THREADS];
  const long before = all_sections();
  for (long i = 0; i < THREADS; i++)
    thread[i] = check_start(work_ahead, (void *)i);
  for (int i = 0; i < THREADS; i++)
    check_join(thread[i]);
  long expected = 0;
  for (long round = ROUNDS + 2; round <= 2 * ROUNDS + 1; round += WINDOW + 1)
    expected += WINDOW + (round % 5 < 2);
  CHECK_EQUAL(all_sections() - before, THREADS * expected);
  for (int i = 0; i < MUTEXES; i++)
    CHECK_EQUAL(relock_mutex_set_server(&cells[i].mutex, 0), 0);
}

/* What a thread has submitted is seen by whoever sees, through another mutex, what it did next. */
static long published, seen;
static relock_mutex_t gate;

static int publish(void *context) {
  published = *(long *)context;
  return 0;
}

static int read_published(void *context) {
  *(long *)context = published;
  return 0;
}

static void *tell(void *unused) {
  for (long i = 1; i <= ROUNDS; i++) {
    CHECK_EQUAL(relock_submit(&cells[1].mutex, publish, &i, sizeof i), 0);
    CHECK_EQUAL(relock_mutex_lock(&gate), 0);
    seen = i;
    CHECK_EQUAL(relock_mutex_unlock(&gate), 0);
  }
  return unused;
}

static void submissions_precede_later_operations(void) {
  pthread_t teller = check_start(tell, NULL);
  for (long told = 0; told < ROUNDS;) {
    CHECK_EQUAL(relock_mutex_lock(&gate), 0);
    told = seen;
    CHECK_EQUAL(relock_mutex_unlock(&gate), 0);
    long value;
    relock_execute_any_thread(&cells[1].mutex, read_published, &value);
    CHECK(value >= told);
  }
  check_join(teller);
}

/* A submitted section that its own client runs in the end, as the mutex is held meanwhile, has its
 * context for itself, also when it makes requests of its own. */
static int held;

static void *hold_for_a_while(void *mutex) {
  CHECK_EQUAL(relock_mutex_lock(mutex), 0);
  __atomic_store_n(&held, 1, __ATOMIC_RELEASE);
  usleep(100000);
  CHECK_EQUAL(relock_mutex_unlock(mutex), 0);
  return NULL;
}

static int add_one(void *context) {
  ++*(long *)context;
  return 0;
}

static int make_requests(void *context) {
  const long *value = context;
  long before[2] = {value[0], value[4]}, other = 7777;
  for (int i = 0; i < 8; i++)
    relock_execute_copy_any_thread(&cells[3].mutex, add_one, &other, sizeof other);
  CHECK_EQUAL(other, 7785);
  CHECK_EQUAL(value[0], before[0]);
  CHECK_EQUAL(value[4], before[1]);
  published = value[0];
  return 0;
}

static void nested_requests_leave_the_context_alone(void) {
  pthread_t holder = check_start(hold_for_a_while, &cells[2].mutex);
  while (!__atomic_load_n(&held, __ATOMIC_ACQUIRE))
    usleep(1000);
  const long value[5] = {42, 2, 3, 4, 5};
  CHECK_EQUAL(relock_submit(&cells[2].mutex, make_requests, value, sizeof value), 0);
  relock_submitted_wait();
  CHECK_EQUAL(published, 42);
  check_join(holder);
}

/* A mutex that the forking thread holds, and others of the parent wait for, serves the child. */
static void *lock_and_unlock(void *mutex) {
  CHECK_EQUAL(relock_mutex_lock(mutex), 0);
  CHECK_EQUAL(relock_mutex_unlock(mutex), 0);
  return NULL;
}

static void a_child_forgets_the_waiters(void) {
  relock_mutex_t *mutex = &cells[0].mutex;
  CHECK_EQUAL(relock_mutex_lock(mutex), 0);
  pthread_t waiters[2];
  for (int i = 0; i < 2; i++)
    waiters[i] = check_start(lock_and_unlock, mutex);
  usleep(50000);
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    alarm(10);
    CHECK_EQUAL(relock_mutex_unlock(mutex), 0);
    for (long i = 1; i <= 100; i++) {
      CHECK_EQUAL(relock_submit(mutex, publish, &i, sizeof i), 0);
      relock_submitted_wait();
      CHECK_EQUAL(published, i);
    }
    _exit(0);
  }
  int status;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(status, 0);
  CHECK_EQUAL(relock_mutex_unlock(mutex), 0);
  for (int i = 0; i < 2; i++)
    check_join(waiters[i]);
}

/* While a section keeps the server busy, threads submit in the order of their slots, an urgent one
 * last. If the server meanwhile takes that section for blocked, another of its threads may have
 * been on its way to a request of an ordinary thread: the order tells only if one thread served
 * them all. */
enum { ORDINARY = 4, URGENT = ORDINARY, LEAST_QUEUES = 3, MOST_QUEUES = 500 };

static struct {
  _Atomic int busy, free, ended; /* the busy section runs; may end; has ended */
  _Atomic int submitted, served;
  _Atomic pid_t server; /* ran the busy section; 0 if another thread ran one of the others */
  int order[ORDINARY + 1];
} queue;

static int keep_busy(void *context) {
  double end = check_seconds() + 0.05; /* relock_submit() may have to wait for it */
  pid_t self = (pid_t)syscall(SYS_gettid);
  if (self != *(pid_t *)context) {
    queue.server = self;
    queue.busy = 1;
    while (!queue.free && check_seconds() < end)
      sched_yield();
  }
  queue.ended = 1;
  return 0;
}

static void *occupy(void *unused) {
  pid_t self = (pid_t)syscall(SYS_gettid);
  CHECK_EQUAL(relock_submit(&cells[0].mutex, keep_busy, &self, sizeof self), 0);
  while (!queue.ended) /* the thread's end would want the request back */
    usleep(100);
  return unused;
}

static int stand_in_order(void *context) {
  if (queue.server != (pid_t)syscall(SYS_gettid))
    queue.server = 0;
  queue.order[queue.served] = *(int *)context;
  queue.served++;
  return 0;
}

static void *queue_up(void *argument) {
  int number = (int)(long)argument;
  CHECK_EQUAL(relock_thread_set_urgent(number == URGENT), 0);
  CHECK_EQUAL(relock_submit(&cells[1].mutex, stand_in_order, &number, sizeof number), 0);
  queue.submitted++;
  while (queue.served <= ORDINARY)
    usleep(100);
  return NULL;
}

/* True: all stood in the queue at the same time, and one thread served them. */
static bool urgent_comes_first_once(void) {
  pthread_t thread[ORDINARY + 1];
  queue.busy = queue.free = queue.ended = queue.submitted = queue.served = 0;
  pthread_t occupant = check_start(occupy, NULL);
  for (int wait = 0; !queue.busy && !queue.ended && wait < 1000; wait++)
    usleep(100);
  for (long i = 0; i <= ORDINARY; i++) {
    thread[i] = check_start(queue_up, (void *)i);
    while (queue.submitted <= i)
      usleep(10);
  }
  bool all = queue.busy && !queue.ended && queue.served == 0;
  queue.free = 1;
  for (int i = 0; i <= ORDINARY; i++)
    check_join(thread[i]);
  check_join(occupant);
  bool judged = all && queue.server != 0;
  CHECK(!judged || queue.order[0] == URGENT);
  return judged;
}

static void urgent_submissions_come_first(void) {
  int queues = 0;
  for (int i = 0; i < MOST_QUEUES && queues < LEAST_QUEUES; i++)
    queues += urgent_comes_first_once();
  CHECK_EQUAL(queues, LEAST_QUEUES);
}

static void wrong_values_are_refused(void) {
  char large[RELOCK_COPY_MAX + 1] = "";
  CHECK_EQUAL(relock_submit(&cells[0].mutex, publish, large, sizeof large), EINVAL);
  CHECK_EQUAL(relock_thread_limit_share(0), EINVAL);
  CHECK_EQUAL(relock_thread_limit_share(101), EINVAL);
  CHECK_EQUAL(relock_submitted_is_done(), 1);
  relock_submitted_wait();
}

static int take_limit_away(void *unused) {
  (void)unused;
  return relock_thread_limit_share(100);
}

/* With its client's identity, on a server or where its client is. */
static void sections_take_the_limit_of_their_thread_away(void) {
  for (int round = 0; round < 200; round++) {
    CHECK_EQUAL(relock_thread_limit_share(50), 0);
    CHECK_EQUAL(relock_execute(&cells[0].mutex, take_limit_away, NULL), 0);
  }
}

int main(int argc, char **argv) {
  CHECK(argc >= 2);
  int servers = argc > 2 ? atoi(argv[2]) : 1;
  alarm(SECONDS);
  for (int i = 0; i < MUTEXES; i++) {
    char algorithm[64];
    snprintf(algorithm, sizeof algorithm, servers > 1 ? "%s:%d" : "%s", argv[1], i % servers + 1);
    relock_class_t *lock_class = classes[i];
    if (servers > 1)
      CHECK_EQUAL(relock_class_move(lock_class, algorithm), 0);
    CHECK_EQUAL(relock_mutex_init(&cells[i].mutex, NULL, lock_class), 0);
  }
  check_case = "sections_run_once_and_in_order";
  sections_run_once_and_in_order();
  check_case = "submissions_have_results_and_keep_their_order";
  submissions_have_results_and_keep_their_order();
  check_case = "submissions_precede_later_operations";
  submissions_precede_later_operations();
  if (servers == 1 && strcmp(argv[1], "rcl") == 0) {
    check_case = "urgent_submissions_come_first";
    urgent_submissions_come_first();
  }
  check_case = "nested_requests_leave_the_context_alone";
  nested_requests_leave_the_context_alone();
  check_case = "a_child_forgets_the_waiters";
  if (check_child_starts_threads())
    a_child_forgets_the_waiters();
  check_case = "sections_take_the_limit_of_their_thread_away";
  sections_take_the_limit_of_their_thread_away();
  check_case = "wrong_values_are_refused";
  wrong_values_are_refused();
  printf("submit: all hold\n");
  return 0;
}
