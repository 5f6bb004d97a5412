// SPDX-License-Identifier: MIT
// Variables that only the section uses go there, out of declarations whose other values divide, or are
// literals; a comment between them may speak of one, and such a declaration stays.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch
// RUN: %rewritten %s | FileCheck %s
// CHECK:      static int divided_section(void *context) {
// CHECK:        int low;
// CHECK:        low = total - section->half;
// CHECK:      static void divided(int n) {
// CHECK-NEXT:   int half = n / 2;
// CHECK:      static int literal_section(void *context) {
// CHECK:        char last;
// CHECK:        last = name[0];
// CHECK:      static void literal(int n) {
// CHECK-NEXT:   char comma = ',', quote = '\'';
// CHECK:      static int text_section(void *context) {
// CHECK:        char end;
// CHECK:      static void text(int n) {
// CHECK-NEXT:   char key[] = "a, \"b";
// CHECK:      static int commented_section(void *context) {
// CHECK:        *section->low = total;
// CHECK:      static void commented(int n) {
// CHECK-NEXT:   int half = n / 2, /* of n */ low;
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;
static char name[4] = "ab";

static void divided(int n) {
  int low, half = n / 2;
  pthread_mutex_lock(&lock);
  low = total - half;
  total += low / 2 + n;
  pthread_mutex_unlock(&lock);
}

static void literal(int n) {
  char last, comma = ',', quote = '\'';
  pthread_mutex_lock(&lock);
  last = name[0];
  name[0] = name[1];
  name[1] = last;
  total += n + comma + quote;
  pthread_mutex_unlock(&lock);
}

static void text(int n) {
  char key[] = "a, \"b", end;
  pthread_mutex_lock(&lock);
  end = key[n];
  total += end;
  pthread_mutex_unlock(&lock);
}

static void commented(int n) {
  int half = n / 2, /* of n */ low;
  pthread_mutex_lock(&lock);
  low = total;
  total += low + half;
  pthread_mutex_unlock(&lock);
}

int main(void) {
  divided(4);
  literal(3);
  text(2);
  commented(5);
  printf("%d %s\n", total, name);
  return 0;
}
