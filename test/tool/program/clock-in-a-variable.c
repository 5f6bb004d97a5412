// SPDX-License-Identifier: MIT
// A clock in a variable is none of a thread where all that the variable is ever set to is known.
// RUN: %verdicts %s | FileCheck %s
// CHECK:      delegate straight constants (
// CHECK-NEXT: delegate straight local (
// CHECK-NEXT: hold straight of_a_thread (
// CHECK-NEXT: clock_gettime', which is about the thread that runs it [kernel-thread]
// CHECK-NEXT: hold straight counted (
// CHECK-NEXT: clock_gettime', which is about the thread that runs it [kernel-thread]
// CHECK-NEXT: hold straight given_away (
// CHECK-NEXT: clock_gettime', which is about the thread that runs it [kernel-thread]
// CHECK-NEXT: hold straight of_others (
// CHECK-NEXT: clock_gettime', which is about the thread that runs it [kernel-thread]
// CHECK-NEXT: hold straight parameter (
// CHECK-NEXT: clock_gettime', which is about the thread that runs it [kernel-thread]
#include <pthread.h>
#include <stdbool.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct timespec now;
static clockid_t monotonic = CLOCK_MONOTONIC, thread, counter, given;
clockid_t exported;
void choose_clock(clockid_t *clock);

void set_up(bool coarse) {
  monotonic = coarse ? CLOCK_MONOTONIC_COARSE : CLOCK_REALTIME;
  thread = CLOCK_THREAD_CPUTIME_ID;
  counter++;
  choose_clock(&given);
}

void constants(void) {
  pthread_mutex_lock(&lock);
  clock_gettime(monotonic, &now);
  pthread_mutex_unlock(&lock);
}

void local(bool coarse) {
  clockid_t clock = coarse ? CLOCK_MONOTONIC_COARSE : monotonic;
  pthread_mutex_lock(&lock);
  clock_gettime(clock, &now);
  pthread_mutex_unlock(&lock);
}

void of_a_thread(void) {
  pthread_mutex_lock(&lock);
  clock_gettime(thread, &now);
  pthread_mutex_unlock(&lock);
}

void counted(void) {
  pthread_mutex_lock(&lock);
  clock_gettime(counter, &now);
  pthread_mutex_unlock(&lock);
}

void given_away(void) {
  pthread_mutex_lock(&lock);
  clock_gettime(given, &now);
  pthread_mutex_unlock(&lock);
}

void of_others(void) {
  pthread_mutex_lock(&lock);
  clock_gettime(exported, &now);
  pthread_mutex_unlock(&lock);
}

void parameter(clockid_t clock) {
  pthread_mutex_lock(&lock);
  clock_gettime(clock, &now);
  pthread_mutex_unlock(&lock);
}
