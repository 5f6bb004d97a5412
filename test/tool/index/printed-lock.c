// The address of a lock that a function like printf() gets is only printed, by a function of the
// program as well if it is declared so. Others may keep it.
// RUN: %verdicts %s > %t || test $? = 1; FileCheck %s < %t
// CHECK:      kept_by_log (printed-lock.c:{{[0-9]+}}): keep
// CHECK-NEXT: printed-lock.c:[[#@LINE+17]]: is passed as a variable argument [unknown-use]
// CHECK:      printed (printed-lock.c:{{[0-9]+}}): convert
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t printed = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t kept_by_log = PTHREAD_MUTEX_INITIALIZER;
int total;
void message(int level, const char *format, ...) __attribute__((format(printf, 2, 3)));
void log_later(const char *format, ...);
void count(void);
void count(void) {
  printf("%p\n", (void *)&printed);
  printf("%p\n", &printed);
  message(1, "%d %p", 2, &printed);
  pthread_mutex_lock(&printed);
  total++;
  pthread_mutex_unlock(&printed);
  log_later("%p", &kept_by_log);
  pthread_mutex_lock(&kept_by_log);
  total++;
  pthread_mutex_unlock(&kept_by_log);
}
