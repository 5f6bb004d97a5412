// SPDX-License-Identifier: MIT
// What processor time a program took is known however it ends, and while it runs, and how long its
// processors ran nothing: then the share of sections in what its threads worked is stated, who sleep
// most of the time. (Where tests run, others may have had the processors.)
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile -o %t.ends -- %t
// RUN: (%relock profile -o %t.killed -- %t kill; test $? = 1)
// RUN: rm -f %t.runs && (taskset -c 0 %relock profile --every=1 -o %t.runs -- %t kill copy %t.runs %t.running; test $? = 1)
// RUN: %python %S/Inputs/expect.py %t.ends \
// RUN:   'profile["overhead"]["processor_ns"] > 0' \
// RUN:   '0 <= spare_share() < 1.1 and ("worked_ns" in profile) == (spare_share() > 0.5)' \
// RUN:   '"worked_ns" not in profile or profile["section_share"] < profile["section_share_of_work"] <= 1' \
// RUN:   '(4 * 24 + 30) * MS <= profile["overhead"]["processor_ns"] < (4 * 24 + 30 + 60) * MS'
// RUN: %python %S/Inputs/expect.py %t.killed \
// RUN:   'profile["overhead"]["processor_ns"] > 0' \
// RUN:   '0 <= spare_share() < 1.1 and ("worked_ns" in profile) == (spare_share() > 0.5)' \
// RUN:   '"worked_ns" not in profile or profile["section_share"] < profile["section_share_of_work"] <= 1' \
// RUN:   '(4 * 24 + 30) * MS <= profile["overhead"]["processor_ns"] < (4 * 24 + 30 + 60) * MS' \
// RUN:   'profile["program"]["ended"] == "signal"'
// RUN: %python %S/Inputs/expect.py %t.running \
// RUN:   'profile["overhead"]["processor_ns"] > 0' \
// RUN:   '0 <= spare_share() < 1.1 and ("worked_ns" in profile) == (spare_share() > 0.5)' \
// RUN:   '"worked_ns" not in profile or profile["section_share"] < profile["section_share_of_work"] <= 1' \
// RUN:   'profile["program"]["ended"] == "running"' \
// RUN:   'profile["machine"]["usable_processors"] == 1'
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, WORK = 24, SLEEP = 1500 }; /* milliseconds */

static pthread_mutex_t own[THREADS];

static void compute(int milliseconds) {
  struct timespec begin, now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  do
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 <
         milliseconds);
}

static void *serve(void *mutex) {
  poll(NULL, 0, SLEEP);
  pthread_mutex_lock(mutex);
  compute(WORK);
  pthread_mutex_unlock(mutex);
  return NULL;
}

static bool is_later(struct timespec a, struct timespec b) {
  return a.tv_sec > b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec > b.tv_nsec);
}

/* The profile so far, which has the sections that are over: begun half a second later. */
static void copy(const char *from, const char *to) {
  char data[4096];
  size_t size;
  FILE *in, *out;
  struct timespec over;
  struct stat status;
  poll(NULL, 0, 500);
  clock_gettime(CLOCK_REALTIME, &over);
  while (stat(from, &status) || !is_later(status.st_mtim, over))
    poll(NULL, 0, 20);
  in = fopen(from, "r");
  out = fopen(to, "w");
  while ((size = fread(data, 1, sizeof data, in)) > 0)
    fwrite(data, 1, size, out);
  fclose(out);
  fclose(in);
}

int main(int argc, char **argv) {
  pthread_t threads[THREADS];
  compute(30);
  for (int i = 0; i < THREADS; i++) {
    pthread_mutex_init(&own[i], NULL);
    pthread_create(&threads[i], NULL, serve, &own[i]);
  }
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  if (argc > 4)
    copy(argv[3], argv[4]);
  if (argc > 1)
    raise(SIGKILL);
  return 0;
}
