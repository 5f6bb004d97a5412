// SPDX-License-Identifier: MIT
// What a function of the C library returns or stores may point into what it was given. Where that is
// read behind the section, the object lives as long as in the original; where it is not, the
// object moves with the section.
// RUN: %check_rewrite %s --algorithms=posix,rcl
// RUN: %verdicts %s | FileCheck %s
// CHECK:      hold straight integer
// CHECK-NEXT: the address of 'text' may be kept, which lives longer than the section [address-outlives]
// CHECK-NEXT: hold straight real
// CHECK-NEXT: the address of 'text' may be kept, which lives longer than the section [address-outlives]
// CHECK-NEXT: hold straight first_word
// CHECK-NEXT: the address of 'text' may be kept, which lives longer than the section [address-outlives]
// CHECK-NEXT: hold straight found
// CHECK-NEXT: the address of 'text' may be kept, which lives longer than the section [address-outlives]
// CHECK-NEXT: hold straight copied
// CHECK-NEXT: the address of 'text' may be kept, which lives longer than the section [address-outlives]
// CHECK-NEXT: hold straight filled
// CHECK-NEXT: the address of 'text' may be kept, which lives longer than the section [address-outlives]
// CHECK-NEXT: delegate straight declared_before
// CHECK-NEXT: delegate straight two_integers
// CHECK-NEXT: delegate straight all_words
// CHECK-NEXT: delegate straight position
// CHECK-NEXT: delegate straight duplicated
// CHECK-NEXT: hold straight line
// CHECK-NEXT: [may-block]
// CHECK-NEXT: 12 lock sites: 5 delegate, 7 hold
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;
static char *kept;
static void clobber(void) {
  volatile char junk[4096];
  for (size_t i = 0; i < sizeof junk; i++)
    junk[i] = '9';
}
static long integer(void) {
  char *end;
  pthread_mutex_lock(&lock);
  char text[] = "12 345 6789";
  total += strtol(text, &end, 10);
  pthread_mutex_unlock(&lock);
  clobber();
  return strtol(end, NULL, 10);
}
static double real(void) {
  char *end;
  pthread_mutex_lock(&lock);
  char text[] = "1.5 2.5 3.5";
  total += strtod(text, &end);
  pthread_mutex_unlock(&lock);
  clobber();
  return strtod(end, NULL);
}
static const char *first_word(char *copy) {
  char *rest;
  pthread_mutex_lock(&lock);
  char text[] = "first second third";
  total += strlen(strtok_r(text, " ", &rest));
  pthread_mutex_unlock(&lock);
  clobber();
  return strcpy(copy, strtok_r(NULL, " ", &rest));
}
static int found(void) {
  const char *at;
  pthread_mutex_lock(&lock);
  char text[] = "key=value";
  at = strchr(text, '=');
  total++;
  pthread_mutex_unlock(&lock);
  clobber();
  return at[1];
}
static int copied(void) {
  char *at[2];
  pthread_mutex_lock(&lock);
  char text[] = "copied", *from[] = {NULL, text};
  memcpy(at, from, sizeof at);
  total++;
  pthread_mutex_unlock(&lock);
  clobber();
  return at[1][1];
}
static int filled(void) {
  const char *at;
  pthread_mutex_lock(&lock);
  char text[8] = "";
  at = memset(text, 'm', 4);
  total++;
  pthread_mutex_unlock(&lock);
  clobber();
  return at[3];
}
static long declared_before(const char *input) {
  char *end;
  pthread_mutex_lock(&lock);
  char text[32];
  strcpy(text, input);
  total += strtol(text, &end, 10);
  pthread_mutex_unlock(&lock);
  clobber();
  return strtol(end, NULL, 10);
}
static void two_integers(void) {
  pthread_mutex_lock(&lock);
  char text[] = "12 345", *end;
  total += strtol(text, &end, 10);
  total += strtol(end, &end, 10);
  pthread_mutex_unlock(&lock);
}
static void all_words(void) {
  pthread_mutex_lock(&lock);
  char text[] = "four five six", *rest;
  for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
    total += strlen(word);
  pthread_mutex_unlock(&lock);
}
static long position(void) {
  long at;
  pthread_mutex_lock(&lock);
  char text[] = "key=value";
  at = strchr(text, '=') - text;
  pthread_mutex_unlock(&lock);
  return at;
}
static void duplicated(void) {
  pthread_mutex_lock(&lock);
  char text[] = "duplicate";
  free(kept);
  kept = strdup(text);
  pthread_mutex_unlock(&lock);
}
static size_t line(FILE *f) {
  size_t length;
  pthread_mutex_lock(&lock);
  char *text = NULL;
  size_t size = 0;
  getline(&text, &size, f);
  free(kept);
  kept = text;
  pthread_mutex_unlock(&lock);
  length = strlen(kept);
  free(kept);
  return length;
}
int main(void) {
  char copy[32];
  FILE *f = tmpfile();
  printf("%ld %g %s\n", integer(), real(), first_word(copy));
  printf("%c %c %c\n", found(), copied(), filled());
  printf("%ld\n", declared_before("1 2 3"));
  two_integers();
  all_words();
  printf("%ld\n", position());
  duplicated();
  fputs("line\n", f);
  rewind(f);
  printf("%zu %ld\n", line(f), total);
  fclose(f);
  return 0;
}
