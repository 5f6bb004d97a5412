// Waiters on a condition variable in tagged memory: their addresses keep the tag, which the machine
// checks at each access if it can.
#include "mutex/cond.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#ifndef PR_SET_TAGGED_ADDR_CTRL
#define PR_SET_TAGGED_ADDR_CTRL 55
#define PR_TAGGED_ADDR_ENABLE 1
#endif
enum { CHECK_AT_ONCE = 1 << 1, ALL_TAGS_BUT_0 = 0xfffe << 3, TAGGED_MEMORY = 0x20, GRANULE = 16 };
enum { WAITERS = 3 };

static bool checked;
static relock_mutex_t lock = RELOCK_DEFAULT_MUTEX_INITIALIZER;
static relock_cond_t changed = RELOCK_COND_INITIALIZER;

static void tag_granule(char *address) {
  __asm__ __volatile__(".arch armv8.5-a+memtag\n\tstg %0, [%0]" : : "r"(address) : "memory");
}

static struct relock_cond_waiter *tagged(char *memory, unsigned long tag) {
  char *address = (char *)((unsigned long)memory | tag << 56);
  if (checked)
    for (size_t i = 0; i < sizeof(struct relock_cond_waiter); i += GRANULE)
      tag_granule(address + i);
  return (struct relock_cond_waiter *)address;
}

static void *waker(void *arg) {
  relock_mutex_lock(&lock);
  relock_cond_broadcast(&changed);
  relock_mutex_unlock(&lock);
  return arg;
}

int main(void) {
  unsigned long how = PR_TAGGED_ADDR_ENABLE | CHECK_AT_ONCE | ALL_TAGS_BUT_0;
  checked = prctl(PR_SET_TAGGED_ADDR_CTRL, how, 0, 0, 0) == 0;
  if (!checked)
    prctl(PR_SET_TAGGED_ADDR_CTRL, PR_TAGGED_ADDR_ENABLE, 0, 0, 0);
  int protection = PROT_READ | PROT_WRITE | (checked ? TAGGED_MEMORY : 0);
  char *memory = mmap(NULL, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return 1;
  printf("tags are %s\n", checked ? "checked" : "ignored");

  struct relock_cond_waiter *waiters[WAITERS];
  relock_mutex_lock(&lock);
  for (int i = 0; i < WAITERS; i++) {
    waiters[i] = tagged(memory + 64 * i, 3 + 4ul * i);
    relock_cond_enlist(&changed, &lock, waiters[i]);
    printf("waiter %d: %s\n", i,
           waiters[i]->next == (i ? waiters[i - 1] : NULL) ? "kept" : "another address");
  }
  relock_mutex_unlock(&lock);
  pthread_t thread;
  pthread_create(&thread, NULL, waker, NULL);
  for (int i = 0; i < WAITERS; i++)
    printf("waiter %d: %d\n", i, relock_cond_sleep(&changed, &lock, waiters[i], 0, NULL));
  pthread_join(thread, NULL);
  return 0;
}
