// What the lock operand reads may change up to the unlock where a thread has one lock of the class at
// a time: whatever the operand names then, it is the one that the thread has. Not where the class is
// taken under itself, by the same operand in a loop, or by a callee that is not known, where it is
// tried, where its mutexes may be recursive, and where the section takes it again; nor of what the
// condition reads under which it is taken.
// RUN: %verdicts %s | FileCheck %s
// CHECK:      again.lock ({{.*}}): convert
// CHECK:         {{hold.*}} in_again
// CHECK:         [lock-expression]
// CHECK: conditional.lock ({{.*}}): convert
// CHECK:         {{hold.*}} in_conditional
// CHECK:         [lock-expression]
// CHECK: looped.lock ({{.*}}): convert
// CHECK:         {{hold.*}} in_looped
// CHECK:         [lock-expression]
// CHECK:      nested.lock ({{.*}}): convert
// CHECK:         {{hold.*}} in_nested
// CHECK:         [lock-expression]
// CHECK:      only.lock ({{.*}}): convert
// CHECK-NEXT:  delegate straight in_only
// CHECK-NOT:   lock-expression
// CHECK:      recursive.lock ({{.*}}): convert
// CHECK:         {{hold.*}} in_recursive
// CHECK:         [lock-expression]
// CHECK:      strange.lock ({{.*}}): convert
// CHECK:         {{hold.*}} in_strange
// CHECK:         [lock-expression]
// CHECK:      tried.lock ({{.*}}): convert
// CHECK:         {{hold.*}} in_tried
// CHECK:         [lock-expression]
#include <pthread.h>
struct again {
  pthread_mutex_t lock;
  struct again *next;
  int n;
};
static struct again again_objects[4];
int find_again(int i, struct again **found) {
  *found = &again_objects[i];
  return i > 3;
}
struct looped {
  pthread_mutex_t lock;
  struct looped *next;
  int n;
};
static struct looped looped_objects[4];
int find_looped(int i, struct looped **found) {
  *found = &looped_objects[i];
  return i > 3;
}
struct nested {
  pthread_mutex_t lock;
  struct nested *next;
  int n;
};
static struct nested nested_objects[4];
int find_nested(int i, struct nested **found) {
  *found = &nested_objects[i];
  return i > 3;
}
struct only {
  pthread_mutex_t lock;
  struct only *next;
  int n;
};
static struct only only_objects[4];
int find_only(int i, struct only **found) {
  *found = &only_objects[i];
  return i > 3;
}
struct recursive {
  pthread_mutex_t lock;
  struct recursive *next;
  int n;
};
static struct recursive recursive_objects[4];
int find_recursive(int i, struct recursive **found) {
  *found = &recursive_objects[i];
  return i > 3;
}
struct strange {
  pthread_mutex_t lock;
  struct strange *next;
  int n;
};
static struct strange strange_objects[4];
int find_strange(int i, struct strange **found) {
  *found = &strange_objects[i];
  return i > 3;
}
struct tried {
  pthread_mutex_t lock;
  struct tried *next;
  int n;
};
static struct tried tried_objects[4];
int find_tried(int i, struct tried **found) {
  *found = &tried_objects[i];
  return i > 3;
}
static void step(int *n) { ++*n; }
extern void strange_call(void);
void in_again(int i) {
  struct again *o = NULL;
  if (find_again(i, &o))
    return;
  pthread_mutex_lock(&o->lock);
  step(&o->n);
  if (o->n > 100) {
    pthread_mutex_unlock(&o->lock);
    find_again(i, &o);
    pthread_mutex_lock(&o->lock);
  }
  o->n++;
  pthread_mutex_unlock(&o->lock);
}
void in_looped(int i) {
  struct looped *o = NULL;
  if (find_looped(i, &o))
    return;
  pthread_mutex_lock(&o->lock);
  step(&o->n);
  pthread_mutex_unlock(&o->lock);
}
void in_nested(int i) {
  struct nested *o = NULL;
  if (find_nested(i, &o))
    return;
  pthread_mutex_lock(&o->lock);
  step(&o->n);
  pthread_mutex_unlock(&o->lock);
}
void in_only(int i) {
  struct only *o = NULL;
  if (find_only(i, &o))
    return;
  pthread_mutex_lock(&o->lock);
  step(&o->n);
  pthread_mutex_unlock(&o->lock);
}
void in_recursive(int i) {
  struct recursive *o = NULL;
  if (find_recursive(i, &o))
    return;
  pthread_mutex_lock(&o->lock);
  step(&o->n);
  pthread_mutex_unlock(&o->lock);
}
void in_strange(int i) {
  struct strange *o = NULL;
  if (find_strange(i, &o))
    return;
  pthread_mutex_lock(&o->lock);
  step(&o->n);
  pthread_mutex_unlock(&o->lock);
}
void in_tried(int i) {
  struct tried *o = NULL;
  if (find_tried(i, &o))
    return;
  pthread_mutex_lock(&o->lock);
  step(&o->n);
  pthread_mutex_unlock(&o->lock);
}
void all_looped(struct looped *first) {
  struct looped *o;
  for (o = first; o; o = o->next)
    pthread_mutex_lock(&o->lock);
  for (o = first; o; o = o->next)
    pthread_mutex_unlock(&o->lock);
}
void both_nested(struct nested *a, struct nested *b) {
  pthread_mutex_lock(&a->lock);
  pthread_mutex_lock(&b->lock);
  b->n = a->n;
  pthread_mutex_unlock(&b->lock);
  pthread_mutex_unlock(&a->lock);
}
void call_strange(struct strange *o) {
  pthread_mutex_lock(&o->lock);
  strange_call();
  pthread_mutex_unlock(&o->lock);
}
void try_tried(struct tried *a, struct tried *b) {
  pthread_mutex_lock(&a->lock);
  if (pthread_mutex_trylock(&b->lock) == 0) {
    b->n = a->n;
    pthread_mutex_unlock(&b->lock);
  }
  pthread_mutex_unlock(&a->lock);
}
int init_recursive(struct recursive *o) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  return pthread_mutex_init(&o->lock, &attributes);
}
struct conditional {
  pthread_mutex_t lock;
  int n;
};
int threaded;
static void begin_threads(void) { threaded = 1; }
void in_conditional(struct conditional *o) {
  if (threaded)
    pthread_mutex_lock(&o->lock);
  begin_threads();
  o->n++;
  if (threaded)
    pthread_mutex_unlock(&o->lock);
}
