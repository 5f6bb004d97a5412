/* SPDX-License-Identifier: MIT
 *
 * What happens around locks: threads end, signals arrive, threads are cancelled, processes fork,
 * libraries come and go. The conformance client runs each function with every algorithm.
 */
#define _GNU_SOURCE
#include "environment.h"
#include "check.h"
#include "semantics.h"

#include <relock/relock.h>

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

enum { THREADS = 6, ROUNDS = 1000 };

static struct {
  relock_mutex_t mutex; /* zero-filled */
  long value;
} shared;

static int add(void *amount) {
  shared.value += *(long *)amount;
  return (int)*(long *)amount;
}

#ifdef __SANITIZE_THREAD__ /* forgets a thread before the last round of its exit handlers */
enum { EXIT_ROUNDS = PTHREAD_DESTRUCTOR_ITERATIONS - 1 };
#else
enum { EXIT_ROUNDS = PTHREAD_DESTRUCTOR_ITERATIONS };
#endif
static bool is_child;

/* Adds three, in three ways. */
static void add_three(void) {
  long one = 1;
  CHECK_EQUAL(relock_execute(&shared.mutex, add, &one), 1);
  if (!is_child || check_child_starts_threads()) /* for a server */
    CHECK_EQUAL(relock_execute_any_thread(&shared.mutex, add, &one), 1);
  else
    add(&one);
  CHECK_EQUAL(relock_mutex_lock(&shared.mutex), 0);
  add(&one);
  CHECK_EQUAL(relock_mutex_unlock(&shared.mutex), 0);
}

static int stop;

static void *add_until_stopped(void *sum) {
  long sections = 0;
  for (; !__atomic_load_n(&stop, __ATOMIC_RELAXED); sections += 3)
    add_three();
  __atomic_add_fetch((long *)sum, sections, __ATOMIC_RELAXED);
  return NULL;
}

/* --- thread exit ----------------------------------------------------------------------------- */

static pthread_key_t exit_key;
static long exit_handlers_run;

/* Runs as often as a C library allows, the last times after the runtime has forgotten the
 * thread. */
static void use_at_exit(void *rounds_left) {
  add_three();
  relock_mutex_t own;
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
  CHECK_EQUAL(relock_mutex_init(&own, &attributes, NULL), 0);
  CHECK_EQUAL(relock_mutex_lock(&own), 0);
  CHECK_EQUAL(relock_mutex_lock(&own), EDEADLK);
  relock_cond_t cond = RELOCK_COND_INITIALIZER;
  struct timespec soon = check_deadline(CLOCK_MONOTONIC, 1);
  CHECK_EQUAL(relock_cond_clockwait(&cond, &own, CLOCK_MONOTONIC, &soon), ETIMEDOUT);
  CHECK_EQUAL(relock_cond_destroy(&cond), 0);
  CHECK_EQUAL(relock_mutex_unlock(&own), 0);
  CHECK_EQUAL(relock_mutex_destroy(&own), 0);
  __atomic_add_fetch(&exit_handlers_run, 1, __ATOMIC_RELAXED);
  if ((intptr_t)rounds_left > 1)
    pthread_setspecific(exit_key, (void *)((intptr_t)rounds_left - 1));
}

static void *end_using_locks(void *uses_locks_before) {
  if (uses_locks_before)
    add_three();
  pthread_setspecific(exit_key, (void *)(intptr_t)EXIT_ROUNDS);
  return NULL;
}

void thread_exit_handlers_use_locks(void) {
  enum { GENERATIONS = 20 };
  shared.value = exit_handlers_run = 0;
  CHECK_EQUAL(pthread_key_create(&exit_key, use_at_exit), 0);
  for (int i = 0; i < GENERATIONS; i++)
    run_behind_a_holder(THREADS, end_using_locks, i % 2 ? &shared : NULL, &shared.mutex);
  CHECK_EQUAL(exit_handlers_run, GENERATIONS * THREADS * EXIT_ROUNDS);
  CHECK_EQUAL(shared.value, 3 * exit_handlers_run + GENERATIONS / 2 * THREADS * 3);
  pthread_key_delete(exit_key);
}

/* --- signals --------------------------------------------------------------------------------- */

static long signals_handled;
static __thread long identity;

static void handle(int signal) {
  (void)signal;
  int saved = errno;
  errno = EDOM;
  __atomic_add_fetch(&signals_handled, 1, __ATOMIC_RELAXED);
  errno = saved;
}

struct marked {
  long identity;
  pthread_t thread;
};

static int check_identity(void *context) {
  struct marked *marked = context;
  CHECK_EQUAL(identity, marked->identity);
  CHECK(pthread_equal(pthread_self(), marked->thread));
  shared.value++;
  if (shared.value % 32 == 0)
    usleep(50); /* not running in the middle, so that others gather */
  return 0;
}

/* errno is checked except around a section that has the client's, and with it the handler of
 * whoever runs it. */
static void *work_under_signals(void *unused) {
  long one = 1;
  struct marked marked = {0, pthread_self()};
  for (int i = 0; i < ROUNDS; i++) {
    identity = marked.identity = i;
    CHECK_EQUAL(relock_execute(&shared.mutex, check_identity, &marked), 0);
    errno = 77;
    CHECK_EQUAL(relock_execute_any_thread(&shared.mutex, add, &one), 1);
    CHECK_EQUAL(errno, 77);
    if (i % 8)
      continue; /* whoever holds delegates nothing */
    CHECK_EQUAL(relock_mutex_lock(&shared.mutex), 0);
    shared.value++;
    struct timespec soon = check_deadline(CLOCK_MONOTONIC, 0);
    relock_cond_t cond = RELOCK_COND_INITIALIZER;
    CHECK_EQUAL(relock_cond_clockwait(&cond, &shared.mutex, CLOCK_MONOTONIC, &soon), ETIMEDOUT);
    CHECK_EQUAL(relock_mutex_unlock(&shared.mutex), 0);
    soon = check_deadline(CLOCK_REALTIME, 1);
    int error = relock_mutex_timedlock(&shared.mutex, &soon);
    CHECK(error == 0 || error == ETIMEDOUT);
    if (error)
      CHECK_EQUAL(relock_mutex_lock(&shared.mutex), 0);
    shared.value++;
    CHECK_EQUAL(relock_mutex_unlock(&shared.mutex), 0);
    CHECK_EQUAL(errno, 77);
  }
  __atomic_sub_fetch((long *)unused, 1, __ATOMIC_RELAXED);
  while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
    usleep(1000); /* can be sent signals until nobody sends them */
  return NULL;
}

void signals_arrive_all_the_time(void) {
  struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART}, before;
  CHECK_EQUAL(sigaction(SIGUSR1, &action, &before), 0);
  shared.value = signals_handled = 0;
  long at_work = THREADS, sent = 0;
  __atomic_store_n(&stop, 0, __ATOMIC_RELAXED);
  pthread_t thread[THREADS];
  CHECK_EQUAL(relock_mutex_lock(&shared.mutex), 0);
  for (int i = 0; i < THREADS; i++)
    thread[i] = check_start(work_under_signals, &at_work);
  for (; __atomic_load_n(&at_work, __ATOMIC_RELAXED); sent++) {
    CHECK_EQUAL(pthread_kill(thread[sent % THREADS], SIGUSR1), 0);
    if (sent % THREADS == 0)
      usleep(50);
    if (sent == 100 * THREADS) /* all wait in their first sections */
      CHECK_EQUAL(relock_mutex_unlock(&shared.mutex), 0);
  }
  __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < THREADS; i++)
    check_join(thread[i]);
  CHECK_EQUAL(shared.value, THREADS * (2 * ROUNDS + 2 * (ROUNDS / 8)));
  CHECK(__atomic_load_n(&signals_handled, __ATOMIC_RELAXED) > 0);
  CHECK_EQUAL(sigaction(SIGUSR1, &before, NULL), 0);
}

/* --- cancellation ---------------------------------------------------------------------------- */

/* No function here is a cancellation point, however long it waits. */
static void *work_when_cancelled(void *done) {
  CHECK_EQUAL(pthread_cancel(pthread_self()), 0);
  for (int i = 0; i < ROUNDS; i++) {
    add_three();
    struct timespec soon = check_deadline(CLOCK_REALTIME, 60000);
    CHECK_EQUAL(relock_mutex_timedlock(&shared.mutex, &soon), 0);
    CHECK_EQUAL(relock_mutex_unlock(&shared.mutex), 0);
  }
  __atomic_add_fetch((long *)done, 1, __ATOMIC_RELAXED);
  pthread_testcancel();
  CHECK(!"cancelled at pthread_testcancel()");
  return NULL;
}

void cancellation_waits_for_its_points(void) {
  long done = 0;
  pthread_t thread[THREADS];
  shared.value = 0;
  for (int i = 0; i < THREADS; i++)
    thread[i] = check_start(work_when_cancelled, &done);
  for (int i = 0; i < THREADS; i++) {
    void *result;
    CHECK_EQUAL(pthread_join(thread[i], &result), 0);
    CHECK(result == PTHREAD_CANCELED);
  }
  CHECK_EQUAL(done, THREADS);
  CHECK_EQUAL(shared.value, 3 * THREADS * ROUNDS);
}

static __thread bool in_section;

/* A cancellation point, if the caller runs it in its place. */
static int sleep_in_section(void *cancelled) {
  in_section = true;
  for (int i = 0; i < 20; i++)
    usleep(1000);
  in_section = false;
  return *(int *)cancelled = 0;
}

/* To AddressSanitizer the frames that the cancellation has left are still there, below this one. */
static void forget_frames_that_were_left(void) {
#ifdef __SANITIZE_ADDRESS__
  extern void __asan_unpoison_memory_region(const volatile void *, size_t);
  enum { LEFT = 32 << 10 };
  __asan_unpoison_memory_region((char *)__builtin_frame_address(0) - LEFT, LEFT);
#endif
}

static void unlock_if_in_section(void *mutex) {
  forget_frames_that_were_left();
  if (in_section)
    CHECK_EQUAL(relock_mutex_unlock(mutex), 0);
}

static void *execute_and_be_cancelled(void *mutex) {
  int cancelled = 1;
  pthread_cleanup_push(unlock_if_in_section, mutex);
  relock_execute(mutex, sleep_in_section, &cancelled);
  for (;;) /* until it is cancelled, which may come late */
    pause();
  pthread_cleanup_pop(0);
  return NULL;
}

/* Then the mutex is as after any unlock: its next holder may wait with it. */
void cleanup_handler_unlocks_behind_a_section(void) {
  for (int type = PTHREAD_MUTEX_NORMAL; type <= PTHREAD_MUTEX_ERRORCHECK; type++) {
    relock_mutex_t mutex;
    relock_cond_t cond = RELOCK_COND_INITIALIZER;
    pthread_mutexattr_t attributes;
    CHECK_EQUAL(pthread_mutexattr_init(&attributes), 0);
    CHECK_EQUAL(pthread_mutexattr_settype(&attributes, type), 0);
    CHECK_EQUAL(relock_mutex_init(&mutex, &attributes, NULL), 0);
    CHECK_EQUAL(pthread_mutexattr_destroy(&attributes), 0);
    for (int i = 0; i < 3; i++) {
      pthread_t thread = check_start(execute_and_be_cancelled, &mutex);
      void *result;
      usleep(3000);
      CHECK_EQUAL(pthread_cancel(thread), 0);
      CHECK_EQUAL(pthread_join(thread, &result), 0);
      CHECK(result == PTHREAD_CANCELED);
      CHECK_EQUAL(relock_mutex_lock(&mutex), 0);
      struct timespec soon = check_deadline(CLOCK_MONOTONIC, 1);
      CHECK_EQUAL(relock_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &soon), ETIMEDOUT);
      CHECK_EQUAL(relock_mutex_unlock(&mutex), 0);
    }
    CHECK_EQUAL(relock_mutex_destroy(&mutex), 0);
  }
}

/* --- stdio ----------------------------------------------------------------------------------- */

static int print(void *stream) {
  shared.value++;
  return fprintf(stream, "%s", "four"); /* whoever is not the client waits for ever */
}

static void *print_often(void *unused) {
  char *text;
  size_t length;
  FILE *stream = open_memstream(&text, &length);
  CHECK(stream != NULL);
  for (int i = 0; i < ROUNDS; i++) {
    flockfile(stream);
    CHECK_EQUAL(relock_execute(&shared.mutex, print, stream), 4);
    funlockfile(stream);
  }
  fclose(stream);
  CHECK_EQUAL(length, 4 * ROUNDS);
  free(text);
  return unused;
}

void streams_locked_by_the_client(void) {
  shared.value = 0;
  run_behind_a_holder(THREADS, print_often, NULL, &shared.mutex);
  CHECK_EQUAL(shared.value, THREADS * ROUNDS);
}

/* --- fork ------------------------------------------------------------------------------------ */

static void await_child(pid_t child) {
  int status;
  CHECK(child > 0);
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(status, 0);
}

static void *add_three_often(void *unused) {
  for (int i = 0; i < 100; i++)
    add_three();
  return unused;
}

/* In a child whose shared.mutex is free. */
static void use_shared_in_child(void) {
  shared.value = 0;
  add_three();
  CHECK_EQUAL(shared.value, 3);
  if (!check_child_starts_threads())
    return;
  check_run_threads(4, add_three_often, NULL);
  CHECK_EQUAL(shared.value, 3 + 4 * 300);
}

/* In a child: a mutex that only it has, and one that was contended in the parent and is either
 * free or owned by a thread that does not exist any more. */
static void use_all_in_child(void) {
  alarm(30);
  is_child = true;
  relock_mutex_t fresh = {.relock_private = {.word = 0}};
  CHECK_EQUAL(relock_mutex_lock(&fresh), 0);
  CHECK_EQUAL(relock_mutex_trylock(&fresh), EBUSY);
  CHECK_EQUAL(relock_mutex_unlock(&fresh), 0);
  int error = relock_mutex_trylock(&shared.mutex);
  if (error) {
    CHECK_EQUAL(error, EBUSY);
    struct timespec soon = check_deadline(CLOCK_MONOTONIC, 5);
    CHECK_EQUAL(relock_mutex_clocklock(&shared.mutex, CLOCK_MONOTONIC, &soon), ETIMEDOUT);
    CHECK_EQUAL(relock_mutex_destroy(&shared.mutex), EBUSY);
    memset(&shared, 0, sizeof shared);
  } else {
    CHECK_EQUAL(relock_mutex_unlock(&shared.mutex), 0);
  }
  use_shared_in_child();
}

/* A child, and a child of the child. */
static void fork_and_use(void) {
  pid_t child = fork();
  if (child == 0) {
    use_all_in_child();
    pid_t grandchild = fork();
    if (grandchild == 0) {
      use_all_in_child();
      _exit(0);
    }
    await_child(grandchild);
    _exit(0);
  }
  await_child(child);
}

static void *fork_beside_others(void *unused) {
  for (int i = 0; i < 3; i++) {
    add_three();
    fork_and_use();
  }
  return unused;
}

static int fork_in_section(void *unused) {
  shared.value++;
  pid_t child = fork();
  if (child == 0)
    _exit(0); /* all that it may do */
  await_child(child);
  return unused != NULL;
}

static void *execute_fork(void *unused) {
  for (int i = 0; i < 3; i++)
    relock_execute(&shared.mutex, fork_in_section, NULL);
  return unused;
}

static void *hold_until_stopped(void *unused) {
  CHECK_EQUAL(relock_mutex_lock(&shared.mutex), 0);
  __atomic_store_n((int *)unused, 1, __ATOMIC_RELEASE);
  while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
    usleep(1000);
  CHECK_EQUAL(relock_mutex_unlock(&shared.mutex), 0);
  return NULL;
}

void fork_in_every_phase(void) {
  /* nobody uses it; nobody waits */
  memset(&shared, 0, sizeof shared);
  fork_and_use();
  add_three();
  fork_and_use();

  /* others use it, and fork as well */
  long sum = 0;
  pthread_t thread[4], holder;
  __atomic_store_n(&stop, 0, __ATOMIC_RELAXED);
  for (int i = 0; i < 4; i++)
    thread[i] = check_start(i < 2 ? add_until_stopped : fork_beside_others, &sum);
  for (int i = 0; i < 3; i++)
    fork_and_use();
  for (int i = 2; i < 4; i++)
    check_join(thread[i]);
  __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < 2; i++)
    check_join(thread[i]);

  /* others hold it, and sleep behind a holder */
  int held = 0;
  __atomic_store_n(&stop, 0, __ATOMIC_RELAXED);
  holder = check_start(hold_until_stopped, &held);
  while (!__atomic_load_n(&held, __ATOMIC_ACQUIRE))
    usleep(100);
  for (int i = 0; i < 4; i++)
    thread[i] = check_start(add_three_often, NULL);
  usleep(20000);
  fork_and_use();
  __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
  check_join(holder);
  for (int i = 0; i < 4; i++)
    check_join(thread[i]);

  /* a section does */
  check_run_threads(4, execute_fork, NULL);
  fork_and_use();
}

/* --- libraries ------------------------------------------------------------------------------- */

/* The library beside the program. */
static void *load_plugin(void) {
  char path[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 40);
  CHECK(length > 0);
  while (path[length - 1] != '/')
    length--;
  strcpy(path + length, "conformance-plugin.so");
  void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!plugin)
    fprintf(stderr, "%s\n", dlerror());
  CHECK(plugin != NULL);
  return plugin;
}

static void (*plugin_use)(int);
static long plugin_users; /* that are done with the library, and live on */

static void *use_plugin(void *unused) {
  plugin_use(ROUNDS / 4);
  __atomic_add_fetch(&plugin_users, 1, __ATOMIC_RELEASE);
  while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE))
    usleep(1000);
  add_three(); /* with the library gone */
  return unused;
}

void libraries_come_and_go(void) {
  enum { USERS = 4 };
  for (int i = 0; i < 5; i++) {
    void *plugin = load_plugin();
    *(void **)&plugin_use = dlsym(plugin, "plugin_use");
    long (*plugin_value)(void);
    int (*plugin_end)(void);
    *(void **)&plugin_value = dlsym(plugin, "plugin_value");
    *(void **)&plugin_end = dlsym(plugin, "plugin_end");
    CHECK(plugin_use && plugin_value && plugin_end);
    pthread_t thread[USERS];
    plugin_users = shared.value = 0;
    __atomic_store_n(&stop, 0, __ATOMIC_RELAXED);
    for (int k = 0; k < USERS; k++)
      thread[k] = check_start(use_plugin, NULL);
    while (__atomic_load_n(&plugin_users, __ATOMIC_ACQUIRE) < USERS)
      usleep(1000);
    CHECK_EQUAL(plugin_value(),
                1 + USERS * (ROUNDS / 4 * 4 + 1)); /* and its constructor ran anew */
    if (i % 2)
      CHECK_EQUAL(plugin_end(), 0);
    CHECK_EQUAL(dlclose(plugin), 0);
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    for (int k = 0; k < USERS; k++)
      check_join(thread[k]);
    CHECK_EQUAL(shared.value, USERS * 3);
  }
}

/* --- many threads ---------------------------------------------------------------------------- */

static struct {
  relock_mutex_t mutex;
  relock_cond_t all_here;
  long here, gone;
  bool leave;
} crowd;

static int leave_crowd(void *unused) {
  (void)unused;
  crowd.gone++;
  return 0;
}

static void *join_crowd(void *unused) {
  add_three();
  CHECK_EQUAL(relock_mutex_lock(&crowd.mutex), 0);
  crowd.here++;
  while (!crowd.leave)
    CHECK_EQUAL(relock_cond_wait(&crowd.all_here, &crowd.mutex), 0);
  CHECK_EQUAL(relock_mutex_unlock(&crowd.mutex), 0);
  relock_execute(&crowd.mutex, leave_crowd, NULL);
  return unused;
}

/* All alive at the same time, all waiting for one condition, and then all for one mutex. */
void ten_thousand_threads(void) {
  enum { CROWD = 10000 };
  if (SANITIZED) {
    printf("ten_thousand_threads: skipped: sanitizers take too much memory for each thread\n");
    return;
  }
  static pthread_t thread[CROWD];
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  CHECK_EQUAL(pthread_attr_setstacksize(&attributes, (size_t)128 << 10), 0); /* AArch64's least */
  memset(&crowd, 0, sizeof crowd);
  shared.value = 0;
  int count = 0, error = 0;
  while (count < CROWD &&
         (error = pthread_create(&thread[count], &attributes, join_crowd, NULL)) == 0)
    count++;
  pthread_attr_destroy(&attributes);
  for (long here = 0; here < count;) {
    usleep(1000);
    CHECK_EQUAL(relock_mutex_lock(&crowd.mutex), 0);
    here = crowd.here;
    crowd.leave = here == count;
    CHECK_EQUAL(relock_mutex_unlock(&crowd.mutex), 0);
  }
  CHECK_EQUAL(relock_cond_broadcast(&crowd.all_here), 0);
  for (int i = 0; i < count; i++)
    check_join(thread[i]);
  CHECK_EQUAL(shared.value, 3 * count);
  CHECK_EQUAL(crowd.gone, count);
  if (count < CROWD)
    printf("ten_thousand_threads: skipped: this machine lets a process have %d threads (%s)\n",
           count, strerror(error));
}
