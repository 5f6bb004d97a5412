/* SPDX-License-Identifier: MIT
 *
 * refused record      no memory for thread records, and then there is some
 * refused counters    a thread that uses many lock classes, and there is no memory for the last
 * ones refused limit       little room for addresses
 *
 * The runtime's requests for memory come by here.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <relock/relock.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CLASSES = 300, OPERATIONS = 100000, OFTEN = OPERATIONS / 100 };

static int refuse = 1;
static unsigned long asked, reserved;

void *mmap(void *address, size_t size, int protection, int flags, int file, off_t offset) {
  if (flags & MAP_NORESERVE) {
    asked++;
    if (refuse) {
      errno = ENOMEM;
      return MAP_FAILED;
    }
    reserved += size;
  }
  return (void *)syscall(SYS_mmap, address, size, protection, flags, file, offset);
}

static char names[CLASSES][16];
static relock_class_t classes[CLASSES];
static relock_mutex_t mutex[CLASSES];

static int section(void *unused) {
  (void)unused;
  return 0;
}

static void use(int number, int operations) {
  for (int i = 0; i < operations; i++) {
    relock_mutex_lock(&mutex[number]);
    relock_mutex_unlock(&mutex[number]);
    relock_execute(&mutex[number], section, NULL);
  }
}

static void print_counts(int number) {
  relock_statistics_t statistics;
  relock_class_statistics(&classes[number], &statistics);
  printf("held %llu, executed %llu, asked for memory %s\n", (unsigned long long)statistics.held,
         (unsigned long long)statistics.executed, asked > OFTEN ? "often" : "seldom");
}

static const char *has_record(void) { return relock_thread_set_urgent(0) == 0 ? "yes" : "no"; }

static void record(void) {
  use(0, OPERATIONS);
  print_counts(0);
  printf("has a record: %s\n", has_record());
  refuse = 0;
  use(0, OPERATIONS);
  print_counts(0);
  printf("has a record: %s\n", has_record());
}

static void counters(void) {
  refuse = 0;
  use(0, 1);
  reserved = 0;
  for (int i = 1; i < 80; i++)
    use(i, 1);
  printf("reserved for the counters of 80 classes: %lu\n", reserved);
  refuse = 1;
  asked = 0;
  for (int i = 80; i < CLASSES; i++)
    use(i, i < CLASSES - 1 ? 1 : OPERATIONS);
  print_counts(CLASSES - 1);
}

static void limit(void) {
  unsigned long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%lu", &pages) != 1)
    abort();
  fclose(file);
  const rlim_t room = pages * (rlim_t)sysconf(_SC_PAGESIZE) + (8 << 20);
  setrlimit(RLIMIT_AS, &(struct rlimit){room, room});
  refuse = 0;
  use(0, 1);
  printf("has a record: %s\n", has_record());
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "";
  for (int i = 0; i < CLASSES; i++) {
    snprintf(names[i], sizeof names[i], "class %d", i);
    classes[i] = (relock_class_t){.name = names[i]};
    relock_mutex_init(&mutex[i], NULL, &classes[i]);
  }
  strcmp(mode, "record") == 0 ? record() : strcmp(mode, "counters") == 0 ? counters() : limit();
  return 0;
}
