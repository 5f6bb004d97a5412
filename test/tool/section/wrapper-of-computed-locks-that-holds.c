// SPDX-License-Identifier: MIT
// What a computed lock operand reads changes while the lock is held, or the operand cannot be
// computed again: the section holds.
// RUN: %check_rewrite %s --algorithms=posix,rcl
// RUN: %verdicts %s | FileCheck %s
// The mask, in the section and in a callee; the argument; a part of the argument, as a whole.
// CHECK:      hold straight by_mask
// CHECK-NEXT: 'power' in the lock operand changes in the section [lock-expression]
// CHECK:      hold straight by_callee
// CHECK-NEXT: 'power' in the lock operand may change in a callee [lock-expression]
// CHECK:      hold straight by_argument
// CHECK-NEXT: 'hv' in the lock operand changes in the section [lock-expression]
// CHECK:      hold straight by_member
// CHECK-NEXT: 'hv' in the lock operand changes in the section [lock-expression]
// CHECK:      hold straight by_bytes
// CHECK-NEXT: 'hv' in the lock operand changes in the section [lock-expression]
// CHECK:      hold straight by_effect
// CHECK-NEXT: the operand has an effect of its own [lock-expression]
// Another argument, or the same one as another number.
// CHECK:      hold cross-function other_argument
// CHECK-NEXT: is not unlocked in this function [cross-function]
// CHECK:      hold cross-function other_type
// CHECK-NEXT: is not unlocked in this function [cross-function]
// Wrappers that do more.
// CHECK:      hold {{.*}} by_changed_parameter
// CHECK:      hold {{.*}} by_operand_with_effect
// CHECK:      hold {{.*}} by_unknown_operand
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
static pthread_mutex_t locks[1024];
static unsigned power = 3;
static long n;
static void item_lock(uint32_t hv) { pthread_mutex_lock(&locks[hv & ((1u << power) - 1)]); }
static void item_unlock(uint32_t hv) { pthread_mutex_unlock(&locks[hv & ((1u << power) - 1)]); }
static void byte_unlock(uint8_t hv) { pthread_mutex_unlock(&locks[hv & ((1u << power) - 1)]); }
static void grow(void) { power = 3; }
static void by_mask(uint32_t hv) {
  item_lock(hv);
  n++;
  power = 3;
  item_unlock(hv);
}
static void by_callee(uint32_t hv) {
  item_lock(hv);
  n++;
  grow();
  item_unlock(hv);
}
static void by_argument(uint32_t hv) {
  item_lock(hv);
  n++;
  hv += 8;
  item_unlock(hv);
}
struct item { uint32_t hv; };
static void by_member(struct item *it, const struct item *other) {
  item_lock(it->hv);
  n++;
  *it = *other;
  item_unlock(it->hv);
}
static void by_bytes(struct item *it, const struct item *other) {
  item_lock(it->hv);
  n++;
  memcpy(it, other, sizeof *it);
  item_unlock(it->hv);
}
static void by_effect(uint32_t *at) {
  item_lock(8 + (*at)++ * 8);
  n++;
  item_unlock(8 + (*at)++ * 8);
}
static void other_argument(uint32_t a, uint32_t b) {
  item_lock(a);
  n++;
  item_unlock(b);
}
static void other_type(uint32_t hv) {
  item_lock(hv);
  n++;
  byte_unlock(hv);
}
static void masked_lock(uint32_t hv) {
  hv &= 7;
  pthread_mutex_lock(&locks[hv + power]);
}
static void masked_unlock(uint32_t hv) {
  hv &= 7;
  pthread_mutex_unlock(&locks[hv + power]);
}
static void by_changed_parameter(uint32_t hv) {
  masked_lock(hv);
  n++;
  masked_unlock(hv);
}
static void moving_lock(uint32_t hv) { pthread_mutex_lock(&locks[hv++ & power]); }
static void moving_unlock(uint32_t hv) { pthread_mutex_unlock(&locks[hv++ & power]); }
static void by_operand_with_effect(uint32_t hv) {
  moving_lock(hv);
  n++;
  moving_unlock(hv);
}
static void far_lock(const uint32_t *hv) { pthread_mutex_lock(&locks[hv[1] & power]); }
static void far_unlock(const uint32_t *hv) { pthread_mutex_unlock(&locks[hv[1] & power]); }
static void by_unknown_operand(const uint32_t *hv) {
  far_lock(hv);
  n++;
  far_unlock(hv);
}
int main(void) {
  uint32_t at = 0, two[2] = {1, 2};
  struct item it = {1}, other = {9};
  for (int i = 0; i < 1024; i++)
    pthread_mutex_init(&locks[i], NULL);
  by_mask(1);
  by_callee(2);
  by_argument(3);
  by_member(&it, &other);
  by_bytes(&it, &other);
  by_effect(&at);
  other_argument(1, 9);
  other_type(4);
  by_changed_parameter(5);
  by_operand_with_effect(6);
  by_unknown_operand(two);
  printf("%ld %u\n", n, at);
  return 0;
}
