/* SPDX-License-Identifier: MIT
 *
 * Plays a kernel that extends time slices (Linux 7.0): says in each thread's area that it does,
 * grants some to whoever asks, and is told by rseq_slice_yield() when it is not needed any more.
 * Prints what combiners make of it.
 */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <relock/relock.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { AVAILABLE = 1 << 4, ENABLED = 1 << 5, YIELD = 471, THREADS = 4, ROUNDS = 300, STACK = 1 << 20 };

struct area {
  uint32_t processors[2];
  uint64_t sequence;
  uint32_t flags, node, memory;
  uint8_t asks, granted;
};

RELOCK_LOCK_CLASS(lock_class, "lock", "ccsynch");
RELOCK_LOCK_CLASS(inner_class, "inner", "ccsynch");
static relock_mutex_t mutex = RELOCK_MUTEX_INITIALIZER(lock_class);
static relock_mutex_t inner = RELOCK_MUTEX_INITIALIZER(inner_class);

static struct area *areas[THREADS];
static uintptr_t stacks[THREADS];
static __thread struct area *own;
static __thread int number;

static bool nested;

/* Those of `inner` when sections nest: one at a time. */
static long sum, asked, after_grant, inconsistent;
static long granted;
static long in_anothers_name;
static int runs_outer = -1;
static long yields, yields_without;

static void yield_called(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)info, (void)context;
  if (!own->granted)
    __atomic_fetch_add(&yields_without, 1, __ATOMIC_RELAXED);
  own->granted = 0;
  __atomic_fetch_add(&yields, 1, __ATOMIC_RELAXED);
}

static void watch_yields(void) {
  const struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, YIELD, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {sizeof filter / sizeof *filter,
                                     (struct sock_filter *)(uintptr_t)filter};
  struct sigaction action = {.sa_sigaction = yield_called, .sa_flags = SA_SIGINFO};
  if (sigaction(SIGSYS, &action, NULL) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
    perror("seccomp");
    exit(1);
  }
}

/* The thread on whose stack a section runs. */
static int combiner(void) {
  const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  for (int i = 0; i < THREADS; i++)
    if (here < stacks[i] && stacks[i] - here < STACK / 2)
      return i;
  abort();
}

/* As when the kernel would have taken the processor. */
static void grant(struct area *area) {
  area->asks = 0;
  area->granted = 1;
  __atomic_fetch_add(&granted, 1, __ATOMIC_RELAXED);
}

static int add(void *context) {
  const int client = *(int *)context;
  sum++;
  usleep(50); /* others arrive behind it */
  const int runs = combiner();
  struct area *area = areas[runs];
  inconsistent += area->asks && area->granted;
  if (client != runs && client != runs_outer)
    in_anothers_name += areas[client]->asks;
  if (runs != client) {
    asked += area->asks;
    after_grant += area->granted && !nested;
    if (area->asks && sum % 3 == 0)
      grant(area);
  }
  return 0;
}

static int add_inside(void *context) {
  static unsigned turns;
  runs_outer = combiner();
  if (areas[runs_outer]->asks && turns++ % 5 == 0)
    grant(areas[runs_outer]);
  return relock_execute(&inner, add, context);
}

static pthread_barrier_t together;
static long asks_left;

static void *run(void *context) {
  number = *(int *)context;
  own = (struct area *)((char *)__builtin_thread_pointer() + __rseq_offset);
  own->flags |= AVAILABLE | ENABLED;
  areas[number] = own;
  stacks[number] = (uintptr_t)__builtin_frame_address(0);
  pthread_barrier_wait(&together);
  for (int i = 0; i < ROUNDS; i++) {
    if (nested && number % 2)
      relock_execute(&inner, add, &number);
    else
      relock_execute(&mutex, nested ? add_inside : add, &number);
    if (own->asks || own->granted)
      __atomic_fetch_add(&asks_left, 1, __ATOMIC_RELAXED);
  }
  pthread_barrier_wait(&together);
  own->flags &= ~(uint32_t)(AVAILABLE | ENABLED);
  return NULL;
}

int main(int argc, char **argv) {
  if (__rseq_size == 0) {
    puts("no restartable sequences");
    return 0;
  }
  nested = argc > 1;
  (void)argv;
  watch_yields();
  pthread_barrier_init(&together, NULL, THREADS);
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, STACK);
  pthread_t threads[THREADS];
  int numbers[THREADS];
  for (int i = 0; i < THREADS; i++) {
    numbers[i] = i;
    pthread_create(&threads[i], &small, run, &numbers[i]);
  }
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  printf("sections %ld, asked %s, granted %s, sections after a grant %ld, yields %s grants, "
         "without one %ld, both asked and granted %ld, in another's name %ld, left over %ld\n",
         sum, asked ? "some" : "none", granted ? "some" : "none", after_grant,
         yields == granted ? "as" : "unlike", yields_without, inconsistent, in_anothers_name, asks_left);
  return 0;
}
