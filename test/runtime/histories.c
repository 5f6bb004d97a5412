/* SPDX-License-Identifier: MIT
 *
 * Threads use a container at the same time, call and return of each operation are noted, and the
 * history must be linearizable; so round by round, each on an empty container.
 *
 *   histories ALGORITHM [CONTAINER]... [-r ROUNDS] [-S SEED]
 *
 * Without CONTAINER: all that are right. A wrong one ends with status 1 and the first history that
 * is not linearizable. Before that the checker is tried on histories whose answers are known.
 */
#define _GNU_SOURCE
#include "check.h"
#include "contained.h"

#include <sched.h>
#include <signal.h>
#include <string.h>

const char *check_case;

enum { THREADS = 4, EACH = 8, PATIENCE_SECONDS = 200 };
_Static_assert(THREADS *EACH <= MAX_OPERATIONS, "each operation has a value of its own");

static relock_class_t lock_class = {.name = "contained"};
static const struct contained *subject; /* null: the end */
static struct operation operations[THREADS][EACH];
static pthread_barrier_t line_up;
static uint64_t seed, round_now;
static uint32_t moment; /* calls and returns */

static enum call choose(uint64_t random) {
  switch (subject->object) {
  case COUNTER:
    return random % 4 ? INSERT : LOOK;
  case STACK:
  case QUEUE:
    return random % 2 ? INSERT : TAKE;
  case MAP:
    return random % 4 == 0 ? TAKE : random % 2 ? INSERT : LOOK;
  }
  return LOOK;
}

static void operate(int thread, int number, uint64_t random) {
  struct operation *operation = &operations[thread][number];
  *operation = (struct operation){.call = choose(random), .thread = thread};
  operation->key = subject->object == MAP ? (int)(random >> 8 & 1) : 0;
  operation->value = subject->object == COUNTER ? (int)(random >> 8 & 7) : thread * EACH + number;
  /* Both are sequentially consistent: one order of all of them. */
  operation->called = __atomic_fetch_add(&moment, 1, __ATOMIC_SEQ_CST);
  operation->result = subject->operate(operation->call, operation->key, operation->value);
  operation->returned = __atomic_fetch_add(&moment, 1, __ATOMIC_SEQ_CST);
}

static void *work(void *argument) {
  const int thread = (int)(intptr_t)argument;
  for (;;) {
    pthread_barrier_wait(&line_up);
    if (!subject)
      return NULL;
    uint64_t random = seed + round_now * THREADS + (uint64_t)thread + 1;
    random *= UINT64_C(0x9e3779b97f4a7c15);
    for (int i = 0; i < EACH; i++) {
      const uint64_t chance = next_random(&random);
      operate(thread, i, chance);
      if ((chance >> 16 & 3) == 0)
        sched_yield();
    }
    pthread_barrier_wait(&line_up);
  }
}

static void between(void) { sched_yield(); }

/* False: a history was not linearizable. */
static bool try(const struct contained *container, uint64_t rounds) {
  check_case = container->name;
  subject = container;
  for (round_now = 0; round_now < rounds; round_now++) {
    moment = 0;
    container->begin(&lock_class);
    pthread_barrier_wait(&line_up);
    pthread_barrier_wait(&line_up);
    if (!linearizable(container->object, operations[0], THREADS * EACH)) {
      printf("%s: not linearizable in round %llu, seed %llu:\n", container->name,
             (unsigned long long)round_now, (unsigned long long)seed);
      print_history(stdout, container->object, operations[0], THREADS * EACH);
      return false;
    }
  }
  printf("%s: linearizable in %llu rounds\n", container->name, (unsigned long long)rounds);
  fflush(stdout);
  return true;
}

/* --- the checker ----------------------------------------------------------------------------- */

#define BY_HAND(answer, object, ...)                                                               \
  do {                                                                                             \
    static const struct operation history[] = {__VA_ARGS__};                                       \
    CHECK(linearizable(object, history, sizeof history / sizeof *history) == (answer));            \
  } while (0)
#define OP(from, to, what, of, gives)                                                              \
  {.called = (from), .returned = (to), .call = (what), .value = (of), .result = (gives)}
#define KEYED(from, to, what, at, of, gives)                                                       \
  {.called = (from),                                                                               \
   .returned = (to),                                                                               \
   .call = (what),                                                                                 \
   .key = (at),                                                                                    \
   .value = (of),                                                                                  \
   .result = (gives)}

static void check_by_hand(void) {
  check_case = "check_by_hand";
  /* Herlihy and Wing, figure 1: two queues that may be, two that may not. */
  BY_HAND(true, QUEUE, OP(0, 3, INSERT, 1, 0), OP(1, 2, INSERT, 2, 0), OP(4, 6, TAKE, 0, 2),
          OP(5, 7, TAKE, 0, 1));
  BY_HAND(true, QUEUE, OP(0, 3, INSERT, 1, 0), OP(1, 2, TAKE, 0, 1));
  BY_HAND(false, QUEUE, OP(0, 1, INSERT, 1, 0), OP(2, 3, INSERT, 2, 0), OP(4, 5, TAKE, 0, 2));
  BY_HAND(false, QUEUE, OP(0, 1, INSERT, 1, 0), OP(2, 4, TAKE, 0, 1), OP(3, 5, TAKE, 0, 1));
  /* Empty, though an element was there before the call; and what may be empty, or not yet. */
  BY_HAND(false, QUEUE, OP(0, 1, INSERT, 1, 0), OP(2, 3, TAKE, 0, NOTHING), OP(4, 5, TAKE, 0, 1));
  BY_HAND(true, QUEUE, OP(0, 2, INSERT, 1, 0), OP(1, 3, TAKE, 0, NOTHING), OP(4, 5, TAKE, 0, 1));
  BY_HAND(true, QUEUE, OP(0, 1, INSERT, 1, 0), OP(2, 5, TAKE, 0, NOTHING), OP(3, 4, TAKE, 0, 1));
  BY_HAND(false, QUEUE, OP(0, 1, TAKE, 0, 1), OP(2, 3, INSERT, 1, 0));
  /* The last pushed comes first, unless pushes overlap. */
  BY_HAND(true, STACK, OP(0, 1, INSERT, 1, 0), OP(2, 3, INSERT, 2, 0), OP(4, 5, TAKE, 0, 2));
  BY_HAND(false, STACK, OP(0, 1, INSERT, 1, 0), OP(2, 3, INSERT, 2, 0), OP(4, 5, TAKE, 0, 1));
  BY_HAND(true, STACK, OP(0, 2, INSERT, 1, 0), OP(1, 3, INSERT, 2, 0), OP(4, 5, TAKE, 0, 1));
  BY_HAND(false, STACK, OP(0, 1, INSERT, 1, 0), OP(2, 4, TAKE, 0, 1), OP(3, 5, TAKE, 0, 1));
  BY_HAND(false, COUNTER, OP(0, 2, INSERT, 3, 0), OP(1, 3, INSERT, 4, 0), OP(4, 5, LOOK, 0, 4));
  BY_HAND(true, COUNTER, OP(0, 2, INSERT, 3, 4), OP(1, 3, INSERT, 4, 0), OP(4, 5, LOOK, 0, 7));
  BY_HAND(false, COUNTER, OP(0, 5, INSERT, 3, 0), OP(1, 2, LOOK, 0, 3), OP(3, 4, LOOK, 0, 0));
  BY_HAND(true, MAP, KEYED(0, 1, INSERT, 0, 5, NOTHING), KEYED(2, 3, INSERT, 1, 6, NOTHING),
          KEYED(4, 7, INSERT, 0, 7, 5), KEYED(5, 6, LOOK, 0, 0, 5), KEYED(8, 9, TAKE, 1, 0, 6));
  BY_HAND(false, MAP, KEYED(0, 1, INSERT, 0, 5, NOTHING), KEYED(2, 5, INSERT, 0, 7, 5),
          KEYED(3, 4, LOOK, 0, 0, NOTHING));
  /* Two on which each of two keys agrees with another order of the gets: keys are apart. */
  BY_HAND(true, MAP, KEYED(0, 9, INSERT, 0, 5, NOTHING), KEYED(1, 8, INSERT, 1, 6, NOTHING),
          KEYED(2, 3, LOOK, 0, 0, 5), KEYED(4, 5, LOOK, 1, 0, NOTHING));
  BY_HAND(false, MAP, KEYED(0, 9, INSERT, 0, 5, NOTHING), KEYED(2, 3, LOOK, 0, 0, 5),
          KEYED(4, 5, LOOK, 0, 0, NOTHING));
}

/* --------------------------------------------------------------------------------------------- */

static void watchdog(int unused) {
  (void)unused;
  char text[100];
  int length = snprintf(text, sizeof text, "histories: no end in time; seed %llu\n",
                        (unsigned long long)seed);
  _exit(write(2, text, (size_t)length) < 0 ? 4 : 3);
}

static const struct contained *find(const char *name) {
  for (int i = 0; i < contained_count; i++)
    if (strcmp(contained[i].name, name) == 0)
      return &contained[i];
  fprintf(stderr, "histories: no such container: %s\n", name);
  exit(2);
}

int main(int argc, char **argv) {
  uint64_t rounds = 1000;
  seed = (uint64_t)time(NULL) * 1000003u + (uint64_t)getpid();
  for (int option; (option = getopt(argc, argv, "r:S:")) != -1;) {
    if (option == 'r')
      rounds = strtoull(optarg, NULL, 10);
    else if (option == 'S')
      seed = strtoull(optarg, NULL, 10);
    else
      optind = argc;
  }
  if (optind >= argc) {
    fprintf(stderr, "usage: histories ALGORITHM [CONTAINER]... [-r ROUNDS] [-S SEED]\n");
    return 2;
  }
  signal(SIGALRM, watchdog);
  alarm(PATIENCE_SECONDS);
  check_by_hand();
  lock_class.algorithm = argv[optind++];
  contained_between = between;
  pthread_t threads[THREADS];
  CHECK_EQUAL(pthread_barrier_init(&line_up, NULL, THREADS + 1), 0);
  for (int i = 0; i < THREADS; i++)
    threads[i] = check_start(work, (void *)(intptr_t)i);
  bool right = true;
  for (int i = 0; i < contained_count && optind == argc; i++)
    if (!contained[i].wrong)
      right = right && try(&contained[i], rounds);
  for (; optind < argc; optind++)
    right = try(find(argv[optind]), rounds) && right;
  subject = NULL;
  pthread_barrier_wait(&line_up);
  for (int i = 0; i < THREADS; i++)
    check_join(threads[i]);
  if (right)
    printf("histories %s: ok\n", lock_class.algorithm);
  return right ? 0 : 1;
}
