// `check --suggest` also names the program's own functions that call through a pointer that is not
// followed, a log function of the user's for one, and how many sections would be delegated without.
// RUN: rm -rf %t && mkdir %t && cp %s %t/main.c && cd %t
// RUN: echo '[{"directory": "%t", "file": "main.c", "command": "cc -c main.c"}]' > compile_commands.json
// RUN: %relock check -p . --suggest | FileCheck %s
// CHECK:      # holds 1 section alone, 1 with others; calls through a pointer (main.c:[[@LINE+18]]): say what that does, too
// CHECK-NEXT: - names: [report]
// CHECK-NEXT:   effect: unknown
// CHECK-NEXT: # holds 0 sections alone, 1 with others; calls through a pointer
// CHECK-NEXT: - names: [notify]
// CHECK-NOT:  names: [blocks]
// RUN: printf 'version: 1\nfunctions:\n  - names: [report, notify]\n    effect: identity\n    because: test\n' > relock.yaml
// RUN: %relock check -p . > out || test $? = 1; FileCheck %s --check-prefix=WITH < out
// WITH: 3 lock sites: 2 delegate, 1 hold
#include <pthread.h>
#include <unistd.h>
static void (*reporter)(const char *), (*notifier)(int);
void set(void (*r)(const char *), void (*n)(int));
void set(void (*r)(const char *), void (*n)(int)) {
  reporter = r;
  notifier = n;
}
static void report(const char *text) {
  reporter(text);
}
static void notify(int n) { notifier(n); }
static void blocks(int n) {
  notifier(n);
  sleep(1);
}
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int count;
void one(void);
void one(void) {
  pthread_mutex_lock(&lock);
  report("one");
  count++;
  pthread_mutex_unlock(&lock);
}
void two(void);
void two(void) {
  pthread_mutex_lock(&lock);
  report("two");
  notify(++count);
  pthread_mutex_unlock(&lock);
}
void three(void);
void three(void) {
  pthread_mutex_lock(&lock);
  blocks(++count);
  pthread_mutex_unlock(&lock);
}
