// SPDX-License-Identifier: MIT
// A variable's cleanup function has what the section stores in the variable, although nothing else reads it.
// RUN: %check_rewrite %s --flags='-Wall -Wextra'
// RUN: %rewritten %s | FileCheck %s
// CHECK: struct store_section section = {{[{]}}.n = n, .text = &text};
// CHECK: struct scoped_section section = {{[{]}}.n = n, .text = &text};
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t length, freed;

static void unlock(pthread_mutex_t **mutex) { pthread_mutex_unlock(*mutex); }
static void release(char **text) {
  freed += *text ? strlen(*text) : 0;
  free(*text);
}

static void store(int n) {
  __attribute__((cleanup(release))) char *text = NULL;
  pthread_mutex_lock(&lock);
  if (n)
    text = strdup("four");
  if (text)
    length += strlen(text);
  pthread_mutex_unlock(&lock);
}

static void scoped(int n) {
  __attribute__((cleanup(release))) char *text = NULL;
  __attribute__((cleanup(unlock))) pthread_mutex_t *guard = &lock;
  pthread_mutex_lock(guard);
  if (n)
    text = strdup("four");
  if (text)
    length += strlen(text);
}

int main(void) {
  store(0);
  store(1);
  scoped(0);
  scoped(1);
  printf("%zu %zu\n", length, freed);
  return 0;
}
