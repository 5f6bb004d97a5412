// SPDX-License-Identifier: MIT
// The processor's own counters, which few test machines let a program read: the same code on a page
// that is made up.
// RUN: %cc -O2 -Wall -Wextra -I %S/../../runtime/profiler %s -o %t
// RUN: %t
#include "counter_page.h"

#include <stdio.h>
#include <stdlib.h>

static struct perf_event_mmap_page page;
static uint64_t hardware;
static int switches;

// The thread is moved while it reads: the counter starts anew in another register.
static uint64_t reg(uint32_t index) {
  if (index + 1 != page.index)
    abort();
  if (switches && switches--) {
    page.lock++;
    page.offset += 500;
    page.index = 3;
    hardware = 10;
    return 77777;
  }
  return hardware;
}

static void expect(int line, uint64_t wanted) {
  uint64_t value = 0;
  if (!counter_page_read(&page, reg, &value) || value != wanted) {
    printf("line %d: %lld, not %lld\n", line, (long long)value, (long long)wanted);
    exit(1);
  }
}

int main(void) {
  uint64_t value;
  page.cap_user_rdpmc = 1;
  page.pmc_width = 48;
  page.index = 1;
  page.offset = 1000;
  hardware = 234;
  expect(__LINE__, 1234);
  // A register that counts up to its overflow holds a negative number of so many bits.
  page.offset = (int64_t)1 << 47;
  hardware = ((uint64_t)1 << 47) + 5;
  expect(__LINE__, 5);
  hardware = ((uint64_t)1 << 48) - 1;
  expect(__LINE__, ((uint64_t)1 << 47) - 1);
  page.offset = 1000;
  switches = 1;
  expect(__LINE__, 1510);
  page.pmc_width = 64;
  hardware = 1;
  expect(__LINE__, 1501);
  page.index = 0; // others have taken its turn
  if (counter_page_read(&page, reg, &value))
    return 1;
  page.index = 1;
  page.cap_user_rdpmc = 0;
  return counter_page_read(&page, reg, &value);
}
