/* SPDX-License-Identifier: MIT
 *
 * hazards CASE: a section that another thread runs, and what could go wrong. Threads queue behind a
 * holder, so that the first of them runs the others' sections (ccsynch), or the server does (rcl).
 */
#define _GNU_SOURCE
#include <relock/relock.h>

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

RELOCK_LOCK_CLASS(busy, "busy", "ccsynch");
static relock_mutex_t mutex = RELOCK_MUTEX_INITIALIZER(busy);

#ifdef SPLIT_STACK
void __morestack(void) {}
#endif
#ifdef PER_CPU_ALLOCATOR
void TCMallocInternalMalloc(void) {}
#endif

enum { CLIENTS = 4 };
static relock_section_t section_of[CLIENTS];
static int (*execute)(relock_mutex_t *, relock_section_t, void *) = relock_execute;
static int errno_after[CLIENTS];

static int nothing(void *context) { return context == NULL; }

static int fails(void *context) {
  errno = ENOENT;
  return context == NULL;
}

static int recurse(void *context) {
  volatile char room[4096];
  memset((char *)room, 1, sizeof room);
  return recurse(context) + room[0];
}

/* Overflows the stack of a thread that runs it for another one; tells whoever runs its own. */
static int overflow(void *client) {
  return syscall(SYS_gettid) == *(long *)client ? 1 : recurse(client);
}

static int notice(void *context) {
  (void)context;
  const char text[] = "the program's own handler\n";
  if (write(STDERR_FILENO, text, sizeof text - 1) > 0)
    _exit(3);
  return 0;
}
static void own_handler(int number) { notice(&number); }

#if defined(__x86_64__) && defined(__GLIBC__)
extern const ptrdiff_t __rseq_offset __attribute__((weak));
/* The kernel demands a signature before the address to which it would go on an abort. */
__asm__(".pushsection .text\n .long 0x53053053\nabort_sequence: ud2\n .popsection");
extern char abort_sequence[];
static struct {
  unsigned version, flags;
  unsigned long start, length, abort;
} sequence __attribute__((aligned(32)));
static void use_sequence(void) {
  sequence.start = (unsigned long)(void *)&nothing;
  sequence.length = 1;
  sequence.abort = (unsigned long)abort_sequence;
  if (&__rseq_offset)
    *(void *volatile *)((char *)__builtin_thread_pointer() + __rseq_offset + 8) = &sequence;
}
#else
static void use_sequence(void) {}
#endif
static int uses_sequences;

static bool alone;     /* no holder: the server runs each section at once */
static bool overflows; /* all go on until one has: a busy machine orders threads as it likes */

static unsigned long delegated(void) {
  relock_statistics_t statistics;
  relock_class_statistics(RELOCK_CLASS(busy), &statistics);
  return statistics.delegated;
}

static void *client(void *number) {
  long i = (long)number;
  for (unsigned long before = delegated(); alone && delegated() == before;)
    execute(&mutex, nothing, NULL); /* until the server is up */
  errno = 1000 + (int)i;
  if (uses_sequences)
    use_sequence();
  long self = syscall(SYS_gettid);
  do
    execute(&mutex, section_of[i], &self);
  while (overflows);
  errno_after[i] = errno;
  return NULL;
}

static void run_behind_holder(void) {
  pthread_t thread[CLIENTS];
  if (!alone)
    relock_mutex_lock(&mutex);
  for (long i = 0; i < CLIENTS; i++) {
    pthread_create(&thread[i], NULL, client, (void *)i);
    usleep(50000); /* in this order */
  }
  if (!alone)
    relock_mutex_unlock(&mutex);
  for (int i = 0; i < CLIENTS; i++)
    pthread_join(thread[i], NULL);
}

int main(int argc, char **argv) {
  const char *name = argc == 2 ? argv[1] : "";
  alarm(100); /* should no section ever be delegated */
  for (int i = 0; i < CLIENTS; i++)
    section_of[i] = nothing;
  if (strcmp(name, "errno") == 0) {
    execute = relock_execute_any_thread;
    section_of[1] = section_of[3] = fails;
  } else if (strncmp(name, "overflow", 8) == 0 || strcmp(name, "own-handler") == 0) {
    section_of[2] = overflow;
    overflows = true;
    alone = strcmp(name, "overflow-alone") == 0;
    if (name[1] == 'w') {
      static char stack[65536];
      stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
      struct sigaction action = {.sa_handler = own_handler, .sa_flags = SA_ONSTACK};
      sigaltstack(&own, NULL);
      sigaction(SIGSEGV, &action, NULL);
    }
  } else if (strcmp(name, "sequence") == 0) {
    uses_sequences = 1;
    for (int trial = 0; trial < 50; trial++) { /* the kernel may clear it at any moment */
      run_behind_holder();
      unsigned long before = delegated();
      uses_sequences = 0;
      run_behind_holder();
      if (delegated() == before) {
        puts("sections stay with their callers");
        return 0;
      }
      uses_sequences = 1;
    }
    puts("sections are delegated");
    return 0;
  }
  run_behind_holder();
  if (strcmp(name, "errno") == 0)
    for (int i = 0; i < CLIENTS; i++)
      printf("client %d: %d\n", i, errno_after[i]);
  printf("delegated: %s\n", delegated() ? "yes" : "no");
  return 0;
}
