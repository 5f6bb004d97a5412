// A function may hand out a mutex as `void *`, where every call of it gives the type back.
// RUN: %program %s %t && cd %t && (%relock check -p build; echo "status $?") | FileCheck %s
// RUN: %relock rewrite -p build --lock journal_lock=adaptive | FileCheck %s --check-prefix=DIFF
// CHECK:      journal_lock ({{.*}}): convert
// CHECK-NEXT:   delegate straight write_journal
// CHECK:      kept_lock ({{.*}}): keep
// CHECK-NEXT:   mutexes-as-void-pointers.c:[[# @LINE + 33]]: is used in a way that is not followed [unknown-use]
// CHECK:      mixed_lock ({{.*}}): keep
// CHECK-NEXT:   mutexes-as-void-pointers.c:[[# @LINE + 24]]: mixes with a pointer that is not followed [pointer-cast]
// DIFF:       relock_mutex_destroy((relock_mutex_t *)get_journal_lock());
#include <pthread.h>
#include <stddef.h>
static pthread_mutex_t journal_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t mixed_lock = PTHREAD_MUTEX_INITIALIZER;
int lines, created;
void write_journal(void) {
  pthread_mutex_lock(&journal_lock);
  lines++;
  pthread_mutex_unlock(&journal_lock);
}
void *get_journal_lock(void) {
  if (!created)
    return NULL;
  return (void *)&journal_lock;
}
void close_journal(void) {
  if (get_journal_lock())
    pthread_mutex_destroy((pthread_mutex_t *)get_journal_lock());
}
void *get_mixed(int n) {
  if (n)
    return (void *)&lines;
  return (void *)&mixed_lock;
}
void take_mixed(void) { pthread_mutex_lock((pthread_mutex_t *)get_mixed(0)); }
void *get_kept(void) { return &kept_lock; }
void *somewhere;
void keep(void) {
  somewhere = get_kept();
}
void take_kept(void) {
  pthread_mutex_lock((pthread_mutex_t *)get_kept());
  lines = 0;
  pthread_mutex_unlock((pthread_mutex_t *)get_kept());
}
