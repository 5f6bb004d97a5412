/* SPDX-License-Identifier: MIT
 *
 * Fibers. Each has a stack of its own and the thread pointer of a system thread that sleeps for
 * ever, so that thread-local variables, errno and pthread_self() differ between them and are as
 * valid as in that thread.
 */
#define _GNU_SOURCE
#include "engine.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { STACK = 1 << 18 };

static char *stacks;
static void *search_stack_pointer;
static uintptr_t search_thread_pointer;
/* A thread's, and of one that has never run outside of executions: whatever that writes, thread-
 * locals included, the end of the execution restores. */
static uintptr_t first_pointer[MAX_THREADS], second_pointer[MAX_THREADS];
static void (*called)(void);

static uintptr_t thread_pointer(void) {
  uintptr_t pointer;
  __asm__ __volatile__("mov %%fs:0, %0" : "=r"(pointer));
  return pointer;
}

static void set_thread_pointer(uintptr_t pointer) {
  __asm__ __volatile__("wrfsbase %0" : : "r"(pointer) : "memory");
}

/* Saves the registers that calls preserve, and the place to return to. */
void explore_switch_stacks(void **from, void *to);
__asm__(".text\n"
        ".globl explore_switch_stacks\n"
        ".type explore_switch_stacks, @function\n"
        "explore_switch_stacks:\n"
        "  push %rbp\n  push %rbx\n  push %r12\n  push %r13\n  push %r14\n  push %r15\n"
        "  mov %rsp, (%rdi)\n"
        "  mov %rsi, %rsp\n"
        "  pop %r15\n  pop %r14\n  pop %r13\n  pop %r12\n  pop %rbx\n  pop %rbp\n"
        "  ret\n"
        ".size explore_switch_stacks, . - explore_switch_stacks\n");

static void *lend_thread_pointer(void *place) {
  __atomic_store_n((uintptr_t *)place, thread_pointer(), __ATOMIC_RELEASE);
  while (place)
    pause();
  return NULL;
}

/* Of a system thread that sleeps for ever. */
static uintptr_t new_thread_pointer(void) {
  pthread_t thread;
  uintptr_t pointer = 0;
  if (pthread_create(&thread, NULL, lend_thread_pointer, &pointer) != 0) {
    fprintf(stderr, "explore: cannot create a thread\n");
    exit(2);
  }
  while (!__atomic_load_n(&pointer, __ATOMIC_ACQUIRE))
    usleep(100);
  return pointer;
}

void fibers_start(void) {
  search_thread_pointer = thread_pointer();
  stacks = mmap(NULL, (size_t)STACK * MAX_THREADS, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stacks == MAP_FAILED) {
    perror("explore: stacks");
    exit(2);
  }
  for (int i = 0; i < MAX_THREADS; i++) {
    threads[i].id = i;
    first_pointer[i] = new_thread_pointer();
    second_pointer[i] = new_thread_pointer();
  }
}

void fiber_reset(struct thread *thread, void (*entry)(void)) {
  void **top = (void **)(stacks + (size_t)STACK * (size_t)(thread->id + 1));
  *--top = NULL; /* where entry() would return to; also aligns its frame */
  *--top = (void *)entry;
  for (int saved = 0; saved < 6; saved++)
    *--top = NULL;
  thread->stack_pointer = top;
  thread->thread_pointer = first_pointer[thread->id];
  thread->renewed = false;
}

void fiber_renew(struct thread *thread) {
  if (thread->renewed) {
    fprintf(stderr, "explore: a thread can be renewed once\n");
    exit(2);
  }
  thread->renewed = true;
  thread->thread_pointer = second_pointer[thread->id];
  if (thread == current)
    set_thread_pointer(thread->thread_pointer);
}

void fiber_switch(struct thread *from, struct thread *to) {
  if (from)
    from->thread_pointer = thread_pointer();
  set_thread_pointer(to ? to->thread_pointer : search_thread_pointer);
  explore_switch_stacks(from ? &from->stack_pointer : &search_stack_pointer,
                        to ? to->stack_pointer : search_stack_pointer);
}

static struct thread *callee;
static void call_and_return(void) {
  called();
  fiber_switch(callee, NULL);
}

void fiber_call(struct thread *thread, void (*function)(void)) {
  called = function;
  callee = thread;
  fiber_reset(thread, call_and_return);
  fiber_switch(NULL, thread);
  callee = NULL;
}

const struct thread *fiber_called(void) { return callee; }

bool on_fiber_stack(const void *address) {
  return (uintptr_t)address - (uintptr_t)stacks < (size_t)STACK * MAX_THREADS;
}
