// SPDX-License-Identifier: MIT
// A static wrapper of a computed lock: its companion is static, too, and takes its place where
// nothing calls it any more. It has the wrapper's prototype, its braces, and free names.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// CHECK:      static void lock_row(struct table *section, unsigned row, int why);
// CHECK-NEXT: static int execute_row(struct table *section, unsigned row, relock_section_t section2, void *context);
// CHECK:      /* Locks a row. */
// CHECK-NEXT: __attribute__((unused)) static void lock_row(
// CHECK:      static int execute_row(struct table *section, unsigned number, relock_section_t section2, void *context)
// CHECK-NEXT: {
// CHECK-NEXT:     return relock_execute_any_thread(&section->locks[number % section->rows], section2, context);
// CHECK-NEXT: }
// CHECK-NOT:  unlock_row(
// CHECK:      /* Locks a cell. */
// CHECK-NEXT: static int cell_execute(unsigned n, relock_section_t section, void *context) {
// CHECK-NEXT:   return relock_execute_any_thread(CELL(n), section, context);
// CHECK-NEXT: }
// CHECK-NOT:  cell_unlock(
// CHECK:          execute_row(table, row, put_section, &section);
// CHECK:          cell_execute(i, mark_section, &section);
#include <pthread.h>
#include <stdio.h>

struct table {
  pthread_mutex_t locks[4];
  unsigned rows;
  long cells[4];
};
static struct table grid = {{PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                             PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER},
                            4,
                            {0}};
static pthread_mutex_t cells[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int marks[2];
#define CELL(n) (&cells[(n) % (sizeof(cells) / sizeof(cells[0]))])

static void lock_row(struct table *section, unsigned row, int why);

/* Locks a row. */
static void lock_row(struct table *section, unsigned number,
                     int why __attribute__((unused)))
{
    pthread_mutex_lock(&section->locks[number % section->rows]);
}

static void unlock_row(struct table *section, unsigned number)
{
    pthread_mutex_unlock(&section->locks[number % section->rows]);
}

/* Locks a cell. */
static void cell_lock(unsigned n) { pthread_mutex_lock(CELL(n)); }

static void cell_unlock(unsigned n) { pthread_mutex_unlock(CELL(n)); }

static void put(struct table *table, unsigned row, long value) {
  lock_row(table, row, 0);
  table->cells[row] += value;
  unlock_row(table, row);
}

static void mark(unsigned i) {
  cell_lock(i);
  marks[i % 2] += 1;
  cell_unlock(i);
}

static void *work(void *unused) {
  for (unsigned i = 0; i < 10000; i++) {
    put(&grid, i % 4, i);
    mark(i % 3);
  }
  return unused;
}

int main(void) {
  pthread_t t[4];
  for (int i = 0; i < 4; i++)
    pthread_create(&t[i], NULL, work, NULL);
  for (int i = 0; i < 4; i++)
    pthread_join(t[i], NULL);
  printf("%ld %ld %d %d\n", grid.cells[0], grid.cells[3], marks[0], marks[1]);
  return 0;
}
