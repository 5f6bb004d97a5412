// SPDX-License-Identifier: MIT
// A function that asks for the time of a clock which its callers give it is about the thread where
// they give it the thread's.
// RUN: %verdicts %s | FileCheck %s
// CHECK:      delegate straight monotonic (
// CHECK-NEXT: delegate straight relayed (
// CHECK-NEXT: delegate straight forgotten (
// CHECK-NEXT: hold straight of_a_thread (
// CHECK-NEXT: clock_gettime', which is about the thread that runs it [kernel-thread]
// CHECK-NEXT: hold straight relayed_of_a_thread (
// CHECK-NEXT: clock_gettime', which is about the thread that runs it [kernel-thread]
// CHECK-NEXT: hold straight unknown (
// CHECK-NEXT: clock_gettime', which is about the thread that runs it [kernel-thread]
// CHECK-NEXT: hold straight unknown_to_a_callee (
// CHECK-NEXT: clock_gettime', which is about the thread that runs it [kernel-thread]
// CHECK-NEXT: hold straight changed (
// CHECK-NEXT: clock_gettime', which is about the thread that runs it [kernel-thread]
// CHECK-NEXT: hold straight by_address (
// CHECK-NEXT: clock_gettime', which is about the thread that runs it [kernel-thread]
#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct timespec now;
clockid_t exported;

static void ask(clockid_t clock) { clock_gettime(clock, &now); }
static void relay(clockid_t clock) { ask(clock); }
static void forget(clockid_t clock) { now.tv_sec = clock == CLOCK_REALTIME; }
static void change(clockid_t clock) {
  if (clock == CLOCK_REALTIME)
    clock = CLOCK_THREAD_CPUTIME_ID;
  clock_gettime(clock, &now);
}
static void pointed(clockid_t clock) { clock_gettime(clock, &now); }
void (*pointer)(clockid_t) = pointed;
static void ask_for_exported(void) { ask(exported); }

void monotonic(void) {
  pthread_mutex_lock(&lock);
  ask(CLOCK_MONOTONIC);
  pthread_mutex_unlock(&lock);
}

void relayed(void) {
  pthread_mutex_lock(&lock);
  relay(CLOCK_MONOTONIC);
  pthread_mutex_unlock(&lock);
}

void forgotten(void) {
  pthread_mutex_lock(&lock);
  forget(CLOCK_THREAD_CPUTIME_ID);
  pthread_mutex_unlock(&lock);
}

void of_a_thread(void) {
  pthread_mutex_lock(&lock);
  ask(CLOCK_THREAD_CPUTIME_ID);
  pthread_mutex_unlock(&lock);
}

void relayed_of_a_thread(void) {
  pthread_mutex_lock(&lock);
  relay(CLOCK_THREAD_CPUTIME_ID);
  pthread_mutex_unlock(&lock);
}

void unknown(void) {
  pthread_mutex_lock(&lock);
  ask(exported);
  pthread_mutex_unlock(&lock);
}

void unknown_to_a_callee(void) {
  pthread_mutex_lock(&lock);
  ask_for_exported();
  pthread_mutex_unlock(&lock);
}

void changed(void) {
  pthread_mutex_lock(&lock);
  change(CLOCK_MONOTONIC);
  pthread_mutex_unlock(&lock);
}

void by_address(void) {
  pthread_mutex_lock(&lock);
  pointed(CLOCK_MONOTONIC);
  pthread_mutex_unlock(&lock);
}
