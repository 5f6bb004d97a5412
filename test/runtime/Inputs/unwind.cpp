/* SPDX-License-Identifier: MIT
 *
 * Stacks that are unwound from a signal handler, behind which the trampoline stands: a backtrace,
 * and an exception that the handler throws.
 */
#include <relock/relock.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <execinfo.h>
#include <pthread.h>
#include <unistd.h>

RELOCK_LOCK_CLASS(busy, "busy", "ccsynch");
static relock_mutex_t mutex = RELOCK_MUTEX_INITIALIZER(busy);

static int nothing(void *) { return 0; }

static void *ask(void *context) {
  relock_execute(&mutex, nothing, context);
  return nullptr;
}

static bool switchOnce() {
  relock_statistics_t statistics = {};
  for (int trial = 0; statistics.delegated == 0 && trial < 100; trial++) {
    pthread_t thread[2];
    relock_mutex_lock(&mutex);
    for (pthread_t &each : thread) {
      pthread_create(&each, nullptr, ask, nullptr);
      usleep(20000);
    }
    relock_mutex_unlock(&mutex);
    for (pthread_t each : thread)
      pthread_join(each, nullptr);
    relock_class_statistics(RELOCK_CLASS(busy), &statistics);
  }
  return statistics.delegated > 0;
}

static void *frames[64];
static int frameCount;

extern "C" __attribute__((noinline)) int interrupted(volatile int *at) {
  const int read = *at;
  return read + 1;
}

static void handle(int number) {
  frameCount = backtrace(frames, 64);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
  throw number;
}

static bool hasFrame(const char *name) {
  char **symbols = backtrace_symbols(frames, frameCount);
  bool found = false;
  for (int i = 0; i < frameCount; i++)
    found |= strstr(symbols[i], name) != nullptr;
  return found;
}

int main() {
  signal(SIGSEGV, handle);
  std::printf("delegated: %s\n", switchOnce() ? "yes" : "no");
  for (int i = 0; i < 3; i++) {
    try {
      interrupted(nullptr);
    } catch (int number) {
      std::printf("caught %d, the interrupted function is in the backtrace: %s\n", number,
                  hasFrame("interrupted") ? "yes" : "no");
    }
  }
  return 0;
}
