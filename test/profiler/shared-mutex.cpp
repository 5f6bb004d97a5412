// SPDX-License-Identifier: MIT
// The C++ library's shared mutex is an rwlock, and its condition variable a condition.
// RUN: %cc -std=c++17 -g -O1 %s -o %t -pthread -lstdc++
// RUN: %relock profile -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'lock("cache.lock")["primitive"] == "rwlock"' \
// RUN:   'lock("cache.lock")["acquisitions"] == 7' \
// RUN:   'lock("cache.lock")["readers"]["acquisitions"] == 13' \
// RUN:   'wait("cache.filled")["primitive"] == "condition"' \
// RUN:   'wait("cache.filled")["acquisitions"] == 5 and wait("cache.filled")["timeouts"] == 5' \
// RUN:   'wait("cache.filled")["signals"] == 3 and wait("cache.filled")["broadcasts"] == 2'
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>

static struct cache {
  int size;
  std::shared_mutex lock;
  std::mutex mutex;
  std::condition_variable filled;
} cache;

int main() {
  for (int i = 0; i < 7; i++)
    std::unique_lock writing(cache.lock);
  for (int i = 0; i < 13; i++)
    std::shared_lock reading(cache.lock);
  std::unique_lock held(cache.mutex);
  for (int i = 0; i < 5; i++)
    cache.filled.wait_for(held, std::chrono::milliseconds(1), [] { return false; });
  for (int i = 0; i < 3; i++)
    cache.filled.notify_one();
  for (int i = 0; i < 2; i++)
    cache.filled.notify_all();
}
