/* SPDX-License-Identifier: MIT
 * Statistics that are written on SIGUSR2. Modes:
 *   once             asks for them and ends without an exit handler
 *   idle FILE        says who it is in the file, and reads from its standard input, to its end
 *   runs COMMAND     asks for nothing
 *   twice COMMAND    asks, runs the command, asks again
 *   fork             a child asks, and ends
 *   exec             becomes `once`
 *   vfork FILE       a child asks and resets the signal
 *   grow FILE        asks a hundred times while threads use locks, keeps each file as FILE.N
 *   flood FILE       all threads are asked all the time, and use what the handler uses
 *   inside FILE      asks while the thread itself walks the list of classes
 *   behind FIFO      asks while another thread is in the midst of writing there
 *   takes            has a handler of its own for the signal
 *   chains           that calls the one that was there
 *   resets           to the default
 *   had              before the library looks
 *   cancel           the thread that is asked is being cancelled */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <relock/relock.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

RELOCK_LOCK_CLASS(counted, "counted", "ccsynch");
RELOCK_LOCK_CLASS(hostile, "a\"b\\c\nd \303\251 \343\202\255", "ticket");
RELOCK_LOCK_CLASS(latin, "caf\351", "mcs");
RELOCK_LOCK_CLASS(same_one, "same", "posix");
RELOCK_LOCK_CLASS(same_two, "same", "posix");
RELOCK_LOCK_CLASS(last, "last", "mcs");
RELOCK_LOCK_CLASS(served, "served", "rcl");
static relock_mutex_t mutex = RELOCK_MUTEX_INITIALIZER(counted);
static relock_mutex_t same_one = RELOCK_MUTEX_INITIALIZER(same_one);
static relock_mutex_t same_two = RELOCK_MUTEX_INITIALIZER(same_two);
static relock_mutex_t last = RELOCK_MUTEX_INITIALIZER(last);
static relock_mutex_t served = RELOCK_MUTEX_INITIALIZER(served);
static relock_class_t more[400];
static char names[400][16];
static uint32_t ends;
static long sum;

static int add(void *amount) {
  sum += *(long *)amount;
  return 0;
}

static void use(relock_mutex_t *lock) {
  long one = 1;
  relock_mutex_lock(lock);
  relock_mutex_unlock(lock);
  relock_execute(lock, add, &one);
}

static void ask(void) {
  errno = 77;
  if (kill(getpid(), SIGUSR2) != 0 || errno != 77)
    abort();
}

static void *use_often(void *unused) {
  while (!__atomic_load_n(&ends, __ATOMIC_RELAXED)) {
    use(&mutex);
    use(&served);
  }
  return unused;
}

static void grow(const char *file) {
  pthread_t thread[3];
  for (int i = 0; i < 3; i++)
    pthread_create(&thread[i], NULL, use_often, NULL);
  for (int i = 0; i < 100; i++) {
    char name[4096];
    struct timespec pause = {0, 3000000};
    nanosleep(&pause, NULL);
    pthread_kill(thread[i % 3], SIGUSR2);
    ask();
    snprintf(name, sizeof name, "%s.%03d", file, i);
    while (link(file, name) != 0)
      if (errno != ENOENT) /* it was just being replaced */
        abort();
  }
  __atomic_store_n(&ends, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < 3; i++)
    pthread_join(thread[i], NULL);
}

/* The list of classes, and the output. */
static void *register_often(void *unused) {
  for (int i = 0; i < 400; i++) {
    snprintf(names[i], sizeof names[i], "more %d", i);
    more[i] = (relock_class_t){names[i], "mcs", 0, 0, 0, 0, 0, 0, {0}};
    relock_class_register(&more[i]);
    usleep(100);
  }
  __atomic_store_n(&ends, 1, __ATOMIC_RELAXED);
  return unused;
}

static void *write_often(void *file) {
  while (!__atomic_load_n(&ends, __ATOMIC_RELAXED))
    if (relock_statistics_write(file) != 0)
      abort();
  return NULL;
}

static void *fork_often(void *unused) {
  while (!__atomic_load_n(&ends, __ATOMIC_RELAXED)) {
    const pid_t child = fork();
    if (child == 0)
      _exit(0);
    waitpid(child, NULL, 0);
  }
  return unused;
}

static void flood(char *file) {
  void *(*const run[])(void *) = {register_often, write_often, fork_often, use_often};
  pthread_t thread[4];
  for (int i = 0; i < 4; i++)
    pthread_create(&thread[i], NULL, run[i], file);
  while (!__atomic_load_n(&ends, __ATOMIC_RELAXED)) {
    for (int i = 0; i < 4; i++)
      pthread_kill(thread[i], SIGUSR2);
    usleep(200);
  }
  for (int i = 0; i < 4; i++)
    pthread_join(thread[i], NULL);
  use(&last);
  ask(); /* this is in the file, whoever wrote before */
}

static void *write_slowly(void *fifo) {
  if (relock_statistics_write(fifo) != 0)
    abort();
  __atomic_store_n(&ends, 1, __ATOMIC_RELAXED);
  return NULL;
}

static void ask_behind(char *fifo) {
  char bytes[4096];
  pthread_t thread;
  int waiting = 0;
  const int reader = mkfifo(fifo, 0600) == 0 ? open(fifo, O_RDWR | O_NONBLOCK) : -1;
  if (fcntl(reader, F_SETPIPE_SZ, (int)sizeof bytes) < 0)
    abort();
  pthread_create(&thread, NULL, write_slowly, fifo);
  while (waiting < (int)sizeof bytes)
    if (ioctl(reader, FIONREAD, &waiting) != 0)
      abort();
  ask();
  puts("asked");
  while (!__atomic_load_n(&ends, __ATOMIC_RELAXED))
    if (read(reader, bytes, sizeof bytes) < 0 && errno != EAGAIN)
      abort();
  pthread_join(thread, NULL);
}

/* Of base/class.h. */
void relock_class_visit(void (*visit)(relock_class_t *lock_class, void *context), void *context)
    __attribute__((weak));

static bool is_written(const char *file) {
  struct stat status;
  return stat(file, &status) == 0 && status.st_size > 0;
}

static void ask_inside(relock_class_t *lock_class, void *file) {
  if (strcmp(lock_class->name, "counted") != 0)
    return;
  ask();
  printf("inside: %s\n", is_written(file) ? "written" : "not yet");
}

static struct sigaction before;

static void own(int number, siginfo_t *info, void *context) {
  static const char text[] = "own handler\n";
  if (write(1, text, sizeof text - 1) < 0)
    abort();
  if (before.sa_flags & SA_SIGINFO)
    before.sa_sigaction(number, info, context);
}

static void take(bool chains) {
  struct sigaction action = {.sa_sigaction = own, .sa_flags = SA_SIGINFO};
  if (sigaction(SIGUSR2, &action, chains ? &before : NULL) != 0)
    abort();
  ask();
  ask();
}

static void *be_cancelled(void *unused) {
  pthread_cancel(pthread_self());
  pthread_kill(pthread_self(), SIGUSR2);
  pthread_testcancel();
  return unused;
}

/* Before all constructors. */
static void handle_early(int number) { (void)number; }
static void install_early(int argc, char **argv, char **environment) {
  (void)environment;
  if (argc > 1 && strcmp(argv[1], "had") == 0)
    signal(SIGUSR2, handle_early);
}
__attribute__((section(".preinit_array"),
               used)) static void (*const preinit)(int, char **, char **) = install_early;

int main(int argc, char **argv) {
  const char *mode = argv[1];
  char *rest = argc > 2 ? argv[2] : NULL;
  char byte;
  use(&mutex);
  use(&same_one);
  use(&same_two);
  if (strcmp(mode, "once") == 0 || strcmp(mode, "had") == 0) {
    ask();
  } else if (strcmp(mode, "idle") == 0) {
    FILE *file = fopen(rest, "w");
    fprintf(file, "%d\n", getpid());
    fclose(file);
    printf("reads %d\n", (int)read(0, &byte, 1));
  } else if (strcmp(mode, "runs") == 0) {
    if (system(rest) != 0)
      return 1;
  } else if (strcmp(mode, "twice") == 0) {
    ask();
    if (system(rest) != 0)
      return 1;
    use(&mutex);
    ask();
  } else if (strcmp(mode, "fork") == 0) {
    const pid_t child = fork();
    if (child == 0) {
      use(&mutex);
      ask();
      _exit(0);
    }
    waitpid(child, NULL, 0);
    use(&mutex);
    ask();
  } else if (strcmp(mode, "exec") == 0) {
    use(&mutex);
    ask();
    execl("/proc/self/exe", argv[0], "once", NULL);
  } else if (strcmp(mode, "vfork") == 0) {
    const pid_t child = vfork();
    if (child == 0) {
      kill(getpid(), SIGUSR2);
      signal(SIGUSR2, SIG_DFL);
      _exit(0);
    }
    waitpid(child, NULL, 0);
    printf("the child %s\n", is_written(rest) ? "wrote" : "is silent");
    ask();
  } else if (strcmp(mode, "grow") == 0) {
    grow(rest);
  } else if (strcmp(mode, "flood") == 0) {
    flood(rest);
  } else if (strcmp(mode, "inside") == 0) {
    relock_class_visit(ask_inside, rest);
    printf("behind: %s\n", is_written(rest) ? "written" : "not yet");
  } else if (strcmp(mode, "behind") == 0) {
    ask_behind(rest);
  } else if (strcmp(mode, "takes") == 0) {
    take(false);
  } else if (strcmp(mode, "chains") == 0) {
    take(true);
  } else if (strcmp(mode, "resets") == 0) {
    signal(SIGUSR2, SIG_DFL);
    signal(SIGUSR2, SIG_IGN);
  } else if (strcmp(mode, "cancel") == 0) {
    pthread_t thread;
    void *result;
    pthread_create(&thread, NULL, be_cancelled, NULL);
    pthread_join(thread, &result);
    puts(result == PTHREAD_CANCELED ? "cancelled" : "not cancelled");
    ask();
  }
  fflush(stdout);
  _exit(0); /* so that nothing is written at exit */
}
