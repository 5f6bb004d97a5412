/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "fiber.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { GUARD = 1 << 12, LENDER_STACK = 1 << 16 };

/* The current thread pointer; code of the runtime may set another one and go on. */
static uintptr_t thread_pointer(void) {
  uintptr_t pointer;
  __asm__ __volatile__("rdfsbase %0" : "=r"(pointer));
  return pointer;
}

static void set_thread_pointer(uintptr_t pointer) {
  __asm__ __volatile__("wrfsbase %0" : : "r"(pointer) : "memory");
}

/* Saves the registers that calls preserve, and the place to return to. */
void sim_switch_stacks(void **from, void *to);
__asm__(".text\n"
        ".globl sim_switch_stacks\n"
        ".type sim_switch_stacks, @function\n"
        "sim_switch_stacks:\n"
        "  push %rbp\n  push %rbx\n  push %r12\n  push %r13\n  push %r14\n  push %r15\n"
        "  mov %rsp, (%rdi)\n"
        "  mov %rsi, %rsp\n"
        "  pop %r15\n  pop %r14\n  pop %r13\n  pop %r12\n  pop %rbx\n  pop %rbp\n"
        "  ret\n"
        ".size sim_switch_stacks, . - sim_switch_stacks\n");

static __attribute__((noreturn)) void no_room(const char *what) {
  fprintf(stderr, "relock-simulator: no %s for another simulated thread\n", what);
  exit(2);
}

static void *lend_thread_pointer(void *place) {
  __atomic_store_n((uintptr_t *)place, thread_pointer(), __ATOMIC_RELEASE);
  while (place)
    pause();
  return NULL;
}

static uintptr_t new_thread_pointer(void) {
  pthread_attr_t attributes;
  pthread_t thread;
  uintptr_t pointer = 0;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, LENDER_STACK);
  if (pthread_create(&thread, &attributes, lend_thread_pointer, &pointer) != 0)
    no_room("system thread");
  pthread_attr_destroy(&attributes);
  while (!__atomic_load_n(&pointer, __ATOMIC_ACQUIRE))
    sched_yield();
  return pointer;
}

void sim_fiber_make(struct sim_fiber *fiber, void (*entry)(void)) {
  char *stack = mmap(NULL, SIM_STACK_SIZE, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED || mprotect(stack, GUARD, PROT_NONE) != 0)
    no_room("stack");
  void **top = (void **)(stack + SIM_STACK_SIZE);
  *--top = NULL; /* where entry() would return to; also aligns its frame */
  *--top = (void *)entry;
  for (int saved = 0; saved < 6; saved++)
    *--top = NULL;
  fiber->stack = stack;
  fiber->stack_pointer = top;
  fiber->thread_pointer = new_thread_pointer();
}

void sim_fiber_switch(struct sim_fiber *from, struct sim_fiber *to) {
  from->thread_pointer = thread_pointer();
  set_thread_pointer(to->thread_pointer);
  sim_switch_stacks(&from->stack_pointer, to->stack_pointer);
}
