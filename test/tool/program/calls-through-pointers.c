// A call through a pointer may reach the functions whose address becomes a pointer of its type. It
// is followed unless such pointers also come from where nobody looks.
// RUN: %verdicts %s | FileCheck %s
// RUN: %check_rewrite %s --algorithms=ccsynch
// CHECK:      delegate straight sorted
// CHECK-NEXT: hold straight blocking
// CHECK-NEXT: 'pointer pause_for' calls 'rest' calls 'usleep', which may block [may-block]
// CHECK-NEXT: hold straight releasing
// CHECK-NEXT: calls 'pointer leave_pointer', which may take, release or wait with 'lock' on its own terms [releases-lock]
// CHECK-NEXT: hold straight from_void
// CHECK-NEXT: calls through a pointer, which is not followed [indirect-call]
// CHECK-NEXT: hold straight from_outside
// CHECK-NEXT: calls through a pointer, which is not followed [indirect-call]
// CHECK-NEXT: hold straight from_library
// CHECK-NEXT: calls through a pointer, which is not followed [indirect-call]
// CHECK-NEXT: hold straight cast
// CHECK-NEXT: 'pointer scale' calls 'rest' calls 'usleep', which may block [may-block]
// CHECK-NEXT: hold straight written
// CHECK-NEXT: calls through a pointer, which is not followed [indirect-call]
// CHECK:      1 delegate
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

struct order { int (*compare)(const int *, const int *); };
static int up(const int *a, const int *b) { return *a - *b; }
static int down(const int *a, const int *b) { return *b - *a; }
static const struct order rising = {up}, falling = {down};

static int sorted(const struct order *order, int a, int b) {
  int result;
  pthread_mutex_lock(&lock);
  result = order->compare(&a, &b);
  pthread_mutex_unlock(&lock);
  return result;
}

static void rest(long n) { usleep(n); }
static void (*pause_for)(long) = rest;
static void blocking(void) {
  pthread_mutex_lock(&lock);
  pause_for(1);
  pthread_mutex_unlock(&lock);
}

static void leave(short n) { total += n, pthread_mutex_unlock(&lock); }
static void (*leave_pointer)(short) = leave;
static void releasing(void) {
  pthread_mutex_lock(&lock);
  leave_pointer(1);
  pthread_mutex_unlock(&lock);
}

static void grow(char n) { total += n; }
static void (*growth)(char) = grow;
void set_growth(void *symbol) { growth = (void (*)(char))symbol; }
static void from_void(void) {
  pthread_mutex_lock(&lock);
  growth(1);
  pthread_mutex_unlock(&lock);
}

static void shrink(unsigned n) { total -= n; }
static void (*change)(unsigned) = shrink;
void on_change(void (*callback)(unsigned)) { change = callback; }
static void from_outside(void) {
  pthread_mutex_lock(&lock);
  change(1);
  pthread_mutex_unlock(&lock);
}

static void ignore(int n) { total += n; }
static void (*handler)(int) = ignore;
static void from_library(void) {
  pthread_mutex_lock(&lock);
  handler(1);
  pthread_mutex_unlock(&lock);
}
void install(void) { handler = signal(SIGUSR1, ignore); }

static double twice(double n) { return 2 * n; }
static double (*scale)(double) = twice;
static void set_scale(int n) { scale = n > 100 ? (double (*)(double))(void (*)(void))rest : twice; }
static void cast(void) {
  pthread_mutex_lock(&lock);
  total += scale(1);
  pthread_mutex_unlock(&lock);
}

static float third(float n) { return n / 3; }
static float (*part)(float) = third;
void load_part(void *symbol) { *(void **)&part = symbol; }
static void written(void) {
  pthread_mutex_lock(&lock);
  total += part(9);
  pthread_mutex_unlock(&lock);
}

int main(void) {
  set_scale(1);
  for (int i = 0; i < 9; i++)
    printf("%d ", sorted(i & 1 ? &rising : &falling, i, 4));
  blocking(), from_void(), from_outside(), from_library(), cast(), written();
  if (total > 1000)
    releasing();
  printf("%d\n", total);
  return 0;
}
