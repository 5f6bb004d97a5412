// SPDX-License-Identifier: MIT
// The address of an object of the section's own is followed through variables, arrays, structs,
// their copies, literals and the functions of this file, to what is read behind the section.
// RUN: %check_rewrite %s --algorithms=posix,rcl
// RUN: %verdicts %s | FileCheck %s
// CHECK:      hold straight through_an_array
// CHECK-NEXT: the address of 'text' may be kept, which lives longer than the section [address-outlives]
// CHECK-NEXT: hold straight through_structs
// CHECK-NEXT: the address of 'text' may be kept, which lives longer than the section [address-outlives]
// CHECK-NEXT: hold straight through_a_literal
// CHECK-NEXT: the address of a literal is kept, which lives as long as the block [address-outlives]
// CHECK-NEXT: hold straight through_an_integer
// CHECK-NEXT: the address of 'text' may be kept, which lives longer than the section [address-outlives]
// CHECK-NEXT: hold straight through_bytes
// CHECK-NEXT: the address of 'text' may be kept, which lives longer than the section [address-outlives]
// CHECK-NEXT: hold straight through_a_result
// CHECK-NEXT: the address of 'text' may be kept, which lives longer than the section [address-outlives]
// CHECK-NEXT: hold straight through_a_struct_result
// CHECK-NEXT: the address of 'text' may be kept, which lives longer than the section [address-outlives]
// CHECK-NEXT: hold straight through_a_list
// CHECK-NEXT: the address of 'node' may be kept, which lives longer than the section [address-outlives]
// CHECK-NEXT: hold straight through_recursion
// CHECK-NEXT: the address of 'text' may be kept, which lives longer than the section [address-outlives]
// CHECK-NEXT: hold straight through_an_atomic
// CHECK-NEXT: the address of 'text' may be kept, which lives longer than the section [address-outlives]
// CHECK-NEXT: hold straight through_an_operation
// CHECK-NEXT: the address of 'text' may be kept, which lives longer than the section [address-outlives]
// CHECK-NEXT: hold early-exit before_an_early_exit
// CHECK-NEXT: the address of 'text' may be kept, which lives longer than the section [address-outlives]
// CHECK-NEXT: hold straight to_another_file
// CHECK-NEXT: the address of 'text' may be kept, which lives longer than the section [address-outlives]
// CHECK-NEXT: [unknown-callee]
// CHECK-NEXT: delegate straight declared_before
// CHECK-NEXT: delegate straight ends_in_numbers
// CHECK-NEXT: delegate straight ends_in_structs
// CHECK-NEXT: delegate straight ends_in_a_literal
// CHECK-NEXT: delegate straight ends_in_a_loop
// CHECK-NEXT: 18 lock sites: 5 delegate, 13 hold
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
struct text { const char *start; const char *ends[2]; long length; };
struct node { struct node *next; int value; };
static long total;
static struct text kept;
static struct node *list;
static _Atomic(char *) shared;
static char *exchanged;
int other_file(char *) __attribute__((weak));
static void clobber(void) {
  volatile char junk[4096];
  for (size_t i = 0; i < sizeof junk; i++)
    junk[i] = 'j';
}
static int through_an_array(void) {
  char *at[2][2];
  pthread_mutex_lock(&lock);
  char text[] = "array";
  at[1][0] = text;
  total++;
  pthread_mutex_unlock(&lock);
  clobber();
  return at[1][0][0];
}
static int through_structs(void) {
  struct text copy;
  pthread_mutex_lock(&lock);
  char text[] = "struct";
  struct text inner = {.ends = {text, text + 1}}, *pointer = &inner;
  copy = *pointer;
  total++;
  pthread_mutex_unlock(&lock);
  clobber();
  return copy.ends[1][0];
}
static int through_a_literal(void) {
  pthread_mutex_lock(&lock);
  kept = *&(struct text){.start = (char[]){"literal"}};
  pthread_mutex_unlock(&lock);
  clobber();
  return kept.start[0];
}
static int through_an_integer(void) {
  uintptr_t number;
  pthread_mutex_lock(&lock);
  char text[] = "integer";
  number = (uintptr_t)text ^ 1;
  total++;
  pthread_mutex_unlock(&lock);
  clobber();
  return *(char *)(number ^ 1);
}
static void copy_bytes(void *to, const void *from, size_t size) {
  unsigned char *t = to;
  const unsigned char *f = from;
  while (size--)
    *t++ = *f++;
}
static int through_bytes(void) {
  char *at;
  pthread_mutex_lock(&lock);
  char text[] = "bytes", *from = text;
  copy_bytes(&at, &from, sizeof at);
  total++;
  pthread_mutex_unlock(&lock);
  clobber();
  return at[0];
}
static const char *skip(const char *s) { return *s == ' ' ? s + 1 : s; }
static int through_a_result(void) {
  const char *(*function)(const char *) = skip;
  const char *at;
  pthread_mutex_lock(&lock);
  char text[] = " result";
  at = skip(text);
  total += function == skip;
  pthread_mutex_unlock(&lock);
  clobber();
  return at[0];
}
static struct text whole(const char *s) { return (struct text){.ends = {s, s + strlen(s)}}; }
static int through_a_struct_result(void) {
  const char *at;
  pthread_mutex_lock(&lock);
  char text[] = "struct";
  at = whole(text).ends[0];
  total++;
  pthread_mutex_unlock(&lock);
  clobber();
  return at[0];
}
static void push(struct node **head, struct node *node) {
  node->next = *head;
  *head = node;
}
static int through_a_list(void) {
  pthread_mutex_lock(&lock);
  struct node node = {NULL, 'n'};
  push(&list, &node);
  pthread_mutex_unlock(&lock);
  clobber();
  int value = list->value;
  list = NULL;
  return value;
}
static const char *last(const char *s) { return s[1] ? last(s + 1) : s; }
static int through_recursion(void) {
  const char *at;
  pthread_mutex_lock(&lock);
  char text[] = "recursion";
  at = last(text);
  total++;
  pthread_mutex_unlock(&lock);
  clobber();
  return at[0];
}
static int through_an_atomic(void) {
  pthread_mutex_lock(&lock);
  char text[] = "atomic";
  shared = text;
  pthread_mutex_unlock(&lock);
  clobber();
  return shared[0];
}
static int through_an_operation(void) {
  pthread_mutex_lock(&lock);
  char text[] = "exchange";
  __atomic_store_n(&exchanged, text, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&lock);
  clobber();
  return exchanged[0];
}
static int before_an_early_exit(int leave) {
  pthread_mutex_lock(&lock);
  if (leave) {
    char text[] = "early";
    kept.start = text;
    pthread_mutex_unlock(&lock);
    clobber();
    return kept.start[0];
  }
  total++;
  pthread_mutex_unlock(&lock);
  return 0;
}
static void to_another_file(void) {
  pthread_mutex_lock(&lock);
  char text[] = "unknown";
  if (other_file)
    other_file(text);
  pthread_mutex_unlock(&lock);
}
static int declared_before(int n) {
  const int *at;
  pthread_mutex_lock(&lock);
  int local = n;
  at = &local;
  total++;
  pthread_mutex_unlock(&lock);
  clobber();
  return *at;
}
static long ends_in_numbers(void) {
  long length;
  pthread_mutex_lock(&lock);
  char text[] = "number";
  const char *end = last(text);
  length = end - text + (end > text) + *skip(text);
  pthread_mutex_unlock(&lock);
  return length;
}
static long ends_in_structs(void) {
  struct text copy;
  pthread_mutex_lock(&lock);
  char text[] = "struct";
  struct text inner = {.ends = {text, text}, .length = total};
  copy.start = inner.ends[0] == inner.ends[1] ? "same" : "other";
  pthread_mutex_unlock(&lock);
  return copy.start[0];
}
static long ends_in_a_literal(void) {
  long length;
  pthread_mutex_lock(&lock);
  struct node *node = &(struct node){.value = 3};
  length = total + node->value;
  pthread_mutex_unlock(&lock);
  return length;
}
static void ends_in_a_loop(int n) {
  pthread_mutex_lock(&lock);
  for (struct node node = {list, n}, *at = &node; at; at = at->next)
    total += at->value;
  pthread_mutex_unlock(&lock);
}
int main(void) {
  printf("%c %c %c\n", through_an_array(), through_structs(), through_a_literal());
  printf("%c %c %c\n", through_an_integer(), through_bytes(), through_a_result());
  printf("%c %c %c\n", through_a_struct_result(), through_a_list(), through_recursion());
  printf("%c %c\n", through_an_atomic(), through_an_operation());
  printf("%c\n", before_an_early_exit(1));
  to_another_file();
  printf("%d\n", declared_before(5));
  printf("%ld %ld\n", ends_in_numbers(), ends_in_structs());
  ends_in_a_loop(4);
  printf("%ld %ld\n", ends_in_a_literal(), total);
  return 0;
}
