// SPDX-License-Identifier: MIT
// A section whose lock stands behind a label or a case: the label stays, and what the call declares
// gets a block of its own. A variable that is used behind the section is declared before the label.
// RUN: %check_rewrite %s
// RUN: %rewritten %s | FileCheck %s
// CHECK:      static int pick(int kind) {
// CHECK-NEXT:   int tries = 0;
// CHECK-NEXT:   int found;
// CHECK-NEXT: again:
// CHECK-NEXT:   {
// CHECK-NEXT:     struct pick_section section = {.found = &found, .kind = kind,
// CHECK-NEXT:             .tries = tries};
// CHECK-NEXT:     relock_execute_any_thread(&lock, pick_section, &section);
// CHECK-NEXT:   }
// CHECK-NEXT:   if (found < 0 && ++tries < 3)
// CHECK-NEXT:     goto again;
// CHECK:        switch (kind) {
// CHECK-NEXT:   case 0:
// CHECK-NEXT:     if (relock_execute_any_thread(&lock, count_section, NULL)) {
// CHECK-NEXT:       return -1;
// CHECK-NEXT:     }
// CHECK-NEXT:     break;
// CHECK-NEXT:   case 1:
// CHECK-NEXT:   case 2:
// CHECK-NEXT:     {
// CHECK-NEXT:       struct count_section2 section2 = {.value = &value, .kind = kind};
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total, calls;

static int pick(int kind) {
  int tries = 0;
again:
  pthread_mutex_lock(&lock);
  int found = total - kind - 2 + tries;
  calls++;
  pthread_mutex_unlock(&lock);
  if (found < 0 && ++tries < 3)
    goto again;
  return found;
}

static int count(int kind) {
  int value = 0;
  switch (kind) {
  case 0:
    pthread_mutex_lock(&lock);
    if (total > 5) {
      pthread_mutex_unlock(&lock);
      return -1;
    }
    total++;
    pthread_mutex_unlock(&lock);
    break;
  case 1:
  case 2:
    pthread_mutex_lock(&lock);
    value = total + kind;
    total = value + 1;
    pthread_mutex_unlock(&lock);
    break;
  default:
    value = 7;
  }
  return value;
}

int main(void) {
  for (int i = 0; i < 4; i++) {
    printf("%d\n", pick(i));
    printf("%d\n", count(i));
  }
  printf("%d\n", count(0));
  printf("%d %d\n", total, calls);
  return 0;
}
