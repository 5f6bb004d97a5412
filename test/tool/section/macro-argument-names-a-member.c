// SPDX-License-Identifier: MIT
// An argument of a macro that names a member is no variable of that name: it stays.
// RUN: %check_rewrite %s
// RUN: %rewritten %s | FileCheck %s
// CHECK:      static int find_section(void *context) {
// CHECK:        for_each((*section->entry), section->list, entry) {
// CHECK-NEXT:     if ((*section->entry)->number == section->number)
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

struct link {
  struct link *next;
};
struct entry {
  int number;
  struct link entry;
};
struct list {
  pthread_mutex_t lock;
  struct link head;
};

#define container(p, type, member) ((type *)((char *)(p) - offsetof(type, member)))
#define for_each(pos, list, member)                                                                \
  for (pos = container((list)->head.next, __typeof__(*pos), member);                               \
       &pos->member != &(list)->head; pos = container(pos->member.next, __typeof__(*pos), member))

static int find(struct list *list, int number) {
  struct entry *entry = NULL;
  pthread_mutex_lock(&list->lock);
  for_each(entry, list, entry) {
    if (entry->number == number)
      break;
  }
  pthread_mutex_unlock(&list->lock);
  return &entry->entry != &list->head ? entry->number : -1;
}

int main(void) {
  static struct list list = {PTHREAD_MUTEX_INITIALIZER, {NULL}};
  struct entry first = {1, {NULL}}, second = {2, {NULL}};
  list.head.next = &first.entry;
  first.entry.next = &second.entry;
  second.entry.next = &list.head;
  printf("%d %d %d\n", find(&list, 1), find(&list, 2), find(&list, 3));
  return 0;
}
