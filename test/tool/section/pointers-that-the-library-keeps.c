// SPDX-License-Identifier: MIT
// What the C library remembers of the pointers that it is given lives as long as in the original:
// such a variable is declared before the lock, or, where its initialiser has to run in the section,
// the section holds.
// RUN: %check_rewrite %s --algorithms=posix,rcl
// RUN: %verdicts %s | FileCheck %s
// CHECK:      delegate straight buffered
// CHECK-NEXT: hold straight unsized
// CHECK-NEXT: the address of 'buffer' may be kept, which lives longer than the section [address-outlives]
// CHECK-NEXT: hold straight logs
// CHECK-NEXT: the address of 'name' may be kept, which lives longer than the section [address-outlives]
// CHECK-NEXT: hold straight environment
// CHECK-NEXT: the address of 'name' may be kept, which lives longer than the section [address-outlives]
// CHECK-NEXT: delegate straight words
// CHECK-NEXT: hold straight word_of_constant
// CHECK-NEXT: the address of 'text' may be kept, which lives longer than the section [address-outlives]
// CHECK-NEXT: hold straight sorts
// CHECK-NEXT: the address of 'numbers' may be kept, which lives longer than the section [address-outlives]
// CHECK-NEXT: delegate straight closed
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;
static const int *smallest;
static void clobber(void) {
  volatile char junk[4096];
  for (size_t i = 0; i < sizeof junk; i++)
    junk[i] = 'j';
}
static char *written(FILE *f, char *line, int size) {
  fputs("text", f);
  clobber();
  rewind(f);
  line = fgets(line, size, f);
  fclose(f);
  return line;
}
static void buffered(FILE *f) {
  char line[16];
  pthread_mutex_lock(&lock);
  char buffer[BUFSIZ / 4];
  setvbuf(f, buffer, _IOFBF, sizeof buffer);
  total++;
  pthread_mutex_unlock(&lock);
  printf("%s\n", written(f, line, sizeof line));
}
// Run without a large buffer: a section with one holds for its size.
static void unsized(FILE *f, int large) {
  pthread_mutex_lock(&lock);
  char buffer[BUFSIZ / 4] = "";
  if (large)
    setbuf(f, buffer);
  pthread_mutex_unlock(&lock);
  fclose(f);
}
static void logs(void) {
  pthread_mutex_lock(&lock);
  char name[16] = "identity";
  openlog(name, LOG_PID, LOG_USER);
  total++;
  pthread_mutex_unlock(&lock);
  clobber();
  syslog(LOG_DEBUG, "%ld", total);
  closelog();
}
static void environment(void) {
  pthread_mutex_lock(&lock);
  char name[32] = "RELOCK_TEST_VARIABLE=1";
  putenv(name);
  total++;
  pthread_mutex_unlock(&lock);
  clobber();
  printf("%s\n", getenv("RELOCK_TEST_VARIABLE"));
  unsetenv("RELOCK_TEST_VARIABLE");
}
static void words(const char *input) {
  pthread_mutex_lock(&lock);
  char text[32];
  strcpy(text, input);
  total += strlen(strtok(text, " "));
  pthread_mutex_unlock(&lock);
  clobber();
  printf("%s\n", strtok(NULL, " "));
}
static void word_of_constant(void) {
  pthread_mutex_lock(&lock);
  char text[] = "one two";
  total += strlen(strtok(text, " "));
  pthread_mutex_unlock(&lock);
  clobber();
  printf("%s\n", strtok(NULL, " "));
}
static int compare(const void *a, const void *b) {
  const int *x = a, *y = b;
  smallest = *x < *y ? x : y;
  return *x - *y;
}
static void sorts(void) {
  pthread_mutex_lock(&lock);
  int numbers[] = {2, 1};
  qsort(numbers, 2, sizeof *numbers, compare);
  total++;
  pthread_mutex_unlock(&lock);
  clobber();
  printf("%d\n", smallest != NULL && *smallest > 0 && *smallest < 3);
}
// The library is done with it before the unlock, and the block with it.
static void closed(const char *input) {
  pthread_mutex_lock(&lock);
  {
    char text[16] = "";
    strncat(text, input, sizeof text - 1);
    total += strlen(text);
  }
  pthread_mutex_unlock(&lock);
}
int main(void) {
  buffered(tmpfile());
  unsized(tmpfile(), 0);
  logs();
  environment();
  words("three four");
  word_of_constant();
  sorts();
  closed("five");
  printf("%ld\n", total);
  return 0;
}
