/* SPDX-License-Identifier: MIT
 *
 * Stands for relock-bench: at each delay a known share of time in sections, and known throughputs.
 * From 30 % on adaptive is better than the pthread mutex, from 60 % on rcl is better than all. */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MILLISECONDS = 500 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct timespec begin;
static int tenths;

static double elapsed(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)(now.tv_sec - begin.tv_sec) * 1e3 + (double)(now.tv_nsec - begin.tv_nsec) / 1e6;
}

static void sleep_until(double milliseconds) {
  struct timespec end = begin;
  end.tv_sec += (time_t)(milliseconds / 1e3);
  end.tv_nsec += (long)((milliseconds - floor(milliseconds / 1e3) * 1e3) * 1e6);
  end.tv_sec += end.tv_nsec / 1000000000;
  end.tv_nsec %= 1000000000;
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) != 0)
    continue;
}

/* On a busy machine a sleep can last much longer than it should. What that has changed of the share
 * is made up for, until it is right to a hundredth. */
static void *work(void *unused) {
  const double share = tenths / 10.0;
  double held = 0;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do {
    double from = elapsed(), due = share * fmax(from, MILLISECONDS) - held;
    if (due >= 0) {
      pthread_mutex_lock(&lock);
      sleep_until(from + due);
      held += elapsed() - from;
      pthread_mutex_unlock(&lock);
    }
    sleep_until(share > 0 ? held / share : MILLISECONDS);
  } while (fabs(held / elapsed() - share) > 0.01);
  return unused;
}

static void print(const char *name, long delay, int operations) {
  printf("{\"type\": \"cell\", \"lock\": \"%s\", \"mode\": \"hold\", \"lines\": 1, \"delay\": %ld, "
         "\"threads\": 1, \"repetition\": 0, \"operations\": %d, \"seconds\": 1, \"mean_ns\": 1, "
         "\"p99_ns\": 1, \"worst_ns\": 1, \"jain\": 1, \"switches_per_second\": 0, "
         "\"transfer_ns\": [0, 0], \"cycles_per_ns\": [1, 1], \"ticks_per_ns\": 1}\n",
         name, delay, operations);
}

int main(int argc, char **argv) {
  static const long delays[] = {1000000, 300000, 100000, 30000, 10000, 3000, 1000, 300, 100};
  long delay = 0;
  int all = 0;
  for (int i = 1; i < argc; i++) {
    if (strncmp(argv[i], "--delay=", 8) == 0)
      delay = atol(argv[i] + 8);
    all |= strstr(argv[i], "rcl") != NULL;
  }
  while (delays[tenths] != delay)
    tenths++;
  if (!all) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    return 0;
  }
  printf("{\"type\": \"machine\", \"format\": \"relock-bench\", \"version\": 2, \"cells\": 4}\n");
  print("pthread", delay, 1000);
  print("adaptive", delay, tenths >= 3 ? 1100 : tenths == 1 ? 1200 : 1040);
  print("ccsynch", delay, 900);
  print("rcl", delay, tenths >= 6 ? 2000 : 500);
  printf("{\"type\": \"end\"}\n");
  return 0;
}
