// SPDX-License-Identifier: MIT
// A call through a pointer reaches the functions that are stored where the pointer is read, not all of
// its type: a member of that name and type in any struct, a variable, a table, a parameter, a result.
// Whatever way they come there counts: by another pointer's address, as an argument of a call through
// a pointer, in a struct that begins in the same way under other names. What comes from where nobody
// looks is not followed.
// RUN: %verdicts %s | FileCheck %s
// RUN: %check_rewrite %s --algorithms=ccsynch
// CHECK:      delegate straight member
// CHECK-NEXT: delegate straight table
// CHECK-NEXT: delegate straight copied
// CHECK-NEXT: delegate straight parameter
// CHECK-NEXT: delegate straight result
// CHECK-NEXT: delegate straight in_callee
// CHECK-NEXT: hold straight namesake
// CHECK-NEXT: 'pointer wait' calls 'rest' calls 'usleep', which may block [may-block]
// CHECK-NEXT: hold straight by_address
// CHECK-NEXT: 'pointer addressed' calls 'rest' calls 'usleep', which may block [may-block]
// CHECK-NEXT: hold straight by_argument
// CHECK-NEXT: 'pointer given' calls 'rest' calls 'usleep', which may block [may-block]
// CHECK-NEXT: hold straight by_result
// CHECK-NEXT: 'pointer gotten' calls 'rest' calls 'usleep', which may block [may-block]
// CHECK-NEXT: hold straight stored_atomically
// CHECK-NEXT: 'pointer hook' calls 'rest' calls 'usleep', which may block [may-block]
// CHECK-NEXT: hold straight given_away
// CHECK-NEXT: 'pointer back' calls 'slow_long' calls 'usleep', which may block [may-block]
// CHECK-NEXT: hold straight punned
// CHECK-NEXT: 'pointer first' calls 'rest' calls 'usleep', which may block [may-block]
// CHECK-NEXT: hold straight in_union
// CHECK-NEXT: calls through a pointer, which is not followed [indirect-call]
// CHECK-NEXT: hold straight from_void
// CHECK-NEXT: calls through a pointer, which is not followed [indirect-call]
// CHECK-NEXT: hold straight never_set
// CHECK-NEXT: calls through a pointer, which is not followed [indirect-call]
// CHECK:      6 delegate, 10 hold
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

typedef int step(int);
static int rest(int n) { return usleep(n); } // a pointer to it is a step's, too
static int one(int n) { return n + 1; }
static int two(int n) { return n + 2; }
static step *sleeper = rest;

struct walk {
  step *next;
  const char *name;
  step *tables[2];
};
static struct walk walk = {.name = "walk", .tables = {one, two}};
static void set_next(struct walk *w, step *next) { w->next = next; }
static int member(struct walk *w) {
  pthread_mutex_lock(&lock);
  total += w->next(total);
  pthread_mutex_unlock(&lock);
  return total;
}

static const struct { const char *name; step *run; } commands[] = {{"one", one}, {"two", &two}};
static void table(int n) {
  pthread_mutex_lock(&lock);
  total += commands[n].run(n) + walk.tables[n](n);
  pthread_mutex_unlock(&lock);
}

static void copied(void) {
  step *copy = total > 100 ? walk.next : one;
  pthread_mutex_lock(&lock);
  total += (*copy)(1);
  pthread_mutex_unlock(&lock);
}

static void parameter(step *each) {
  pthread_mutex_lock(&lock);
  total += each(1);
  pthread_mutex_unlock(&lock);
}

static step *choose(int n) { return n ? one : two; }
static void result(void) {
  pthread_mutex_lock(&lock);
  total += choose(total)(1);
  pthread_mutex_unlock(&lock);
}

static int apply(const struct walk *w) { return w->next(3); }
static void in_callee(void) {
  pthread_mutex_lock(&lock);
  total += apply(&walk);
  pthread_mutex_unlock(&lock);
}

struct slow { step *wait; };
struct fast { int first; step *wait; };
static struct slow slow = {rest};
static struct fast fast = {0, one};
static void namesake(void) {
  pthread_mutex_lock(&lock);
  total += fast.wait(1);
  pthread_mutex_unlock(&lock);
}

static struct { step *addressed; } holder = {one};
static void set(step **to, step *value) { *to = value; }
static void by_address(void) {
  pthread_mutex_lock(&lock);
  total += holder.addressed(1);
  pthread_mutex_unlock(&lock);
}

static step *given = one;
static void take_step(step *value, int n) { given = n ? value : one; }
static void (*taker)(step *, int) = take_step;
static void by_argument(void) {
  pthread_mutex_lock(&lock);
  total += given(1);
  pthread_mutex_unlock(&lock);
}

static step *get_rest(char n) { return n ? rest : one; }
static step *(*getter)(char) = get_rest;
static void by_result(void) {
  step *gotten = getter(1);
  pthread_mutex_lock(&lock);
  total += gotten(1);
  pthread_mutex_unlock(&lock);
}

static step *hook = one;
static void stored_atomically(void) {
  pthread_mutex_lock(&lock);
  total += hook(1);
  pthread_mutex_unlock(&lock);
}

struct holder { long (*back)(long); };
static long slow_long(long n) { return usleep(n); }
static long fast_long(long n) { return n; }
extern void keep_for(struct holder *holder, long (*function)(long)) __attribute__((weak));
static void given_away(struct holder *holder) {
  pthread_mutex_lock(&lock);
  total += holder->back(1);
  pthread_mutex_unlock(&lock);
}

struct base { step *first; };
struct derived { step *begin; int n; };
static void punned(struct base *b) {
  pthread_mutex_lock(&lock);
  total += b->first(1);
  pthread_mutex_unlock(&lock);
}

static union { int (*function)(long); void *object; } either;
static int long_one(long n) { return n + 1; }
static int (*other_long)(long) = long_one;
static void in_union(void) {
  pthread_mutex_lock(&lock);
  total += either.function(1);
  pthread_mutex_unlock(&lock);
}
void set_object(void *object) { either.object = object, other_long = (int (*)(long))object; }

static int (*loaded)(short);
static int short_one(short n) { return n + 1; }
static void from_void(void) {
  pthread_mutex_lock(&lock);
  total += loaded(1);
  pthread_mutex_unlock(&lock);
}
void load(void *symbol) { loaded = symbol ? (int (*)(short))symbol : short_one; }

static struct { int (*missing)(double); } unset;
static void never_set(void) {
  pthread_mutex_lock(&lock);
  if (unset.missing)
    total += unset.missing(1);
  pthread_mutex_unlock(&lock);
}

int main(void) {
  struct derived derived = {rest, 1};
  struct holder mine = {fast_long};
  if (keep_for)
    keep_for(&mine, slow_long);
  __atomic_store_n(&hook, rest, __ATOMIC_RELAXED);
  set_next(&walk, one), set_next(&walk, two);
  printf("%d\n", member(&walk));
  table(1), copied(), parameter(one), parameter(two), result(), in_callee();
  set(&holder.addressed, rest), set(&sleeper, one);
  either.function = long_one;
  load(NULL);
  taker(rest, 1);
  if (slow.wait)
    namesake(), by_address(), by_argument(), by_result(), stored_atomically(), given_away(&mine), punned((struct base *)&derived);
  in_union(), from_void(), never_set();
  printf("%d %s\n", total, commands[0].name);
  return 0;
}
