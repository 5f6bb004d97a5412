// SPDX-License-Identifier: MIT
// C++'s mutexes and exceptions in a static program with the profiler linked in: its own unwinder
// is not the program's.
// RUN: %cc -std=c++17 -g -O1 -static %s -o %t -lstdc++ -pthread $(%relock profile --link-flags)
// RUN: %relock profile -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile 'lock("guard")["acquisitions"] == 1009' \
// RUN:   'not any(profile["dropped"].values())'
#include <mutex>
#include <stdexcept>
#include <thread>

static std::mutex guard;

static int visit(int times) {
  int caught = 0;
  for (int i = 0; i < times; i++)
    try {
      std::lock_guard<std::mutex> lock(guard);
      throw std::runtime_error("inside");
    } catch (const std::exception &) {
      caught++;
    }
  return caught;
}

int main() {
  int there = 0;
  std::thread thread([&] { there = visit(500); });
  thread.join();
  return visit(509) + there != 1009;
}
