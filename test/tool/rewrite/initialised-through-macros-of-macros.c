// SPDX-License-Identifier: MIT
// A macro that initialises is used for one class directly, and for another one by macros of macros,
// where its use cannot be written out: its body names that class, and the direct use names its own.
// A macro that is given what to call, and its arguments, names no class: the argument does.
// RUN: %check_rewrite %s
// RUN: %rewritten %s | FileCheck %s
// CHECK:      #define LOCK_INIT(x) relock_mutex_init(x, 0, RELOCK_CLASS(frame_lock))
// CHECK:      relock_mutex_init(&s->lock, NULL, RELOCK_CLASS(stack_lock));
// CHECK:      SEQUENCE(f);
// CHECK:      return call(relock_mutex_init, &g->gate_lock, NULL, RELOCK_CLASS(gate_gate_lock));
#include <pthread.h>
#include <stdio.h>

#define LOCK_INIT(x) pthread_mutex_init(x, 0)
#define WIND(f)                                                                                    \
  do {                                                                                             \
    LOCK_INIT(&(f)->lock);                                                                         \
    (f)->count++;                                                                                  \
  } while (0)
#define SEQUENCE(f)                                                                                \
  do {                                                                                             \
    WIND(f);                                                                                       \
  } while (0)
#define call(func, args...)                                                                        \
  ({                                                                                               \
    int result = -func(args);                                                                      \
    result;                                                                                        \
  })

struct frame {
  pthread_mutex_t lock;
  int count;
};
struct stack {
  pthread_mutex_t lock;
  int count;
};
struct gate {
  pthread_mutex_t gate_lock;
  int count;
};

static void new_stack(struct stack *s) {
  LOCK_INIT(&s->lock);
  s->count = 0;
}

static void new_frame(struct frame *f) {
  f->count = 0;
  SEQUENCE(f);
}

static int new_gate(struct gate *g) {
  g->count = 0;
  return call(pthread_mutex_init, &g->gate_lock, NULL);
}

static struct stack stack;
static struct frame frame;
static struct gate gate;

static void *work(void *unused) {
  for (int i = 0; i < 1000; i++) {
    pthread_mutex_lock(&stack.lock);
    stack.count++;
    pthread_mutex_unlock(&stack.lock);
    pthread_mutex_lock(&frame.lock);
    frame.count++;
    pthread_mutex_unlock(&frame.lock);
    pthread_mutex_lock(&gate.gate_lock);
    gate.count++;
    pthread_mutex_unlock(&gate.gate_lock);
  }
  return unused;
}

int main(void) {
  pthread_t threads[3];
  new_stack(&stack);
  new_frame(&frame);
  if (new_gate(&gate) != 0)
    return 1;
  for (int i = 0; i < 3; i++)
    pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], NULL);
  printf("%d %d %d\n", stack.count, frame.count, gate.count);
  return 0;
}
