/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "overflow.h"

#include "os.h"
#include "request.h"
#include "thread.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What the handler needs, and a section cannot name by a thread-local variable, since it may run
 * with another thread's: it is found by the stack. */
enum { SIGNAL_STACK = 32768, NEAR = 65536 };

/* Whose stack ends near the address that could not be accessed, and runs a section for another
 * thread; null if none. */
static const struct relock_thread *overflown(uintptr_t address) {
  uint32_t end = relock_threads_end();
  for (uint32_t i = 0; i < end; i++) {
    const struct relock_thread *record = relock_thread_numbered(i);
    if (record->running && record->running->request &&
        address - (record->stack_end - NEAR) < 2 * (uintptr_t)NEAR)
      return record;
  }
  return NULL;
}

/* Where addr2line(1) finds a function: addresses differ from run to run. Not dladdr(), which takes
 * a lock. */
static void describe(char *text, size_t size, relock_section_t section) {
  snprintf(text, size, "%p", (void *)(uintptr_t)section);
#ifdef DLFO_STRUCT_HAS_EH_DBASE /* the C library has _dl_find_object(), from 2.35 on */
  struct dl_find_object object;
  if (_dl_find_object((void *)(uintptr_t)section, &object) != 0)
    return;
  const struct link_map *map = object.dlfo_link_map;
  snprintf(text, size, "%s+0x%" PRIxPTR, *map->l_name ? map->l_name : program_invocation_name,
           (uintptr_t)section - map->l_addr);
#endif
}

static void handle(int number, siginfo_t *info, void *context) {
  (void)context;
  int saved = errno;
  bool sent = info->si_code <= 0; /* by kill(2) or the like, not by an access to memory */
  const struct relock_thread *runner = sent ? NULL : overflown((uintptr_t)info->si_addr);
  if (runner) {
    const struct relock_request *request = runner->running->request;
    char text[700], where[300];
    describe(where, sizeof where, relock_section_asked_for(request));
    int length = snprintf(text, sizeof text,
                          "relock: stack overflow in the section at %s, which thread %d ran for "
                          "thread %d by relock_execute; give the threads that use this lock larger "
                          "stacks, or hold the lock with relock_mutex_lock around this section\n",
                          where, runner->tid, relock_request_client(request)->tid);
    if (write(STDERR_FILENO, text, (size_t)length) < 0)
      errno = saved; /* nowhere left to say it */
  }
  /* The instruction is tried again, and ends the process as it would have without this handler. If
   * a handler of the program has called this one, the signal stays the program's. */
  struct sigaction current;
  if (sigaction(number, NULL, &current) == 0 && current.sa_sigaction == handle)
    signal(number, SIG_DFL);
  if (sent)
    raise(number); /* pending until this handler returns */
  errno = saved;
}

static void install(void) {
  static uint32_t installed;
  if (relock_load_relaxed(&installed) || !relock_cas_relaxed(&installed, 0, 1))
    return;
  struct sigaction current, ours = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigemptyset(&ours.sa_mask);
  if (sigaction(SIGSEGV, NULL, &current) == 0 && !(current.sa_flags & SA_SIGINFO) &&
      current.sa_handler == SIG_DFL)
    sigaction(SIGSEGV, &ours, NULL);
}

/* Not inside a section with a client's identity, where the record is another's than the stack. */
void relock_overflow_watch(struct relock_thread *self) {
  int saved = errno;
  if ((uintptr_t)&saved - self->stack_end > self->stack)
    return;
  self->watched = true;
  install();
  stack_t current;
  if (sigaltstack(NULL, &current) == 0 && (current.ss_flags & SS_DISABLE)) {
    if (!self->signal_stack)
      self->signal_stack = relock_os->reserve(SIGNAL_STACK);
    stack_t ours = {.ss_sp = self->signal_stack, .ss_size = SIGNAL_STACK};
    if (self->signal_stack)
      sigaltstack(&ours, NULL);
  }
  errno = saved;
}
