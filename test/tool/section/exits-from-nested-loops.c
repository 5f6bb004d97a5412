// SPDX-License-Identifier: MIT
// Exits out of a loop inside the section, and a break of the loop around it, with values that the
// section has set and the caller goes on with.
// RUN: %check_rewrite %s
// RUN: %rewritten %s | FileCheck %s
// CHECK:          int taken = relock_execute_any_thread(&lock, find_section, &section);
// CHECK-NEXT:     if (taken == 1) {
// CHECK-NEXT:       snprintf(name, size, "node %d after %d", n->v, steps);
// CHECK-NEXT:       *out = n;
// CHECK-NEXT:       return round;
// CHECK-NEXT:     }
// CHECK-NEXT:     if (taken == 2) {
// CHECK-NEXT:       goto out;
// CHECK-NEXT:     }
// CHECK-NEXT:     if (taken == 3) {
// CHECK-NEXT:       break;
// CHECK-NEXT:     }
// CHECK-NEXT:     steps += 5;
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct node { int v; struct node *next; };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct node *head;
static int len;
static int find(int v, struct node **out, char *name, size_t size) {
  struct node *n = NULL, **at;
  int steps = 0;
  for (int round = 0; round < 2; round++) {
    pthread_mutex_lock(&lock);
    for (at = &head; (n = *at) != NULL; at = &n->next) {
      steps++;
      if (n->v == v) {
        *at = n->next;
        len--;
        pthread_mutex_unlock(&lock);
        snprintf(name, size, "node %d after %d", n->v, steps);
        *out = n;
        return round;
      }
      if (steps > 10) {
        pthread_mutex_unlock(&lock);
        goto out;
      }
    }
    if (round == 1) {
      pthread_mutex_unlock(&lock);
      break;
    }
    pthread_mutex_unlock(&lock);
    steps += 5;
  }
out:
  snprintf(name, size, "none after %d", steps);
  return -1;
}
int main(void) {
  struct node *got = NULL;
  char name[40];
  for (int i = 0; i < 8; i++) {
    struct node *n = malloc(sizeof *n);
    n->v = i; n->next = head; head = n; len++;
  }
  printf("%d ", find(3, &got, name, sizeof name)); puts(name);
  printf("%d ", find(99, &got, name, sizeof name)); puts(name);
  printf("%d %d\n", len, got->v);
  free(got);
  return 0;
}
