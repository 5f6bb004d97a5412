/* SPDX-License-Identifier: MIT
 *
 * The entry points that compilers call from code built with -fsanitize=thread, in the place of
 * ThreadSanitizer's own.
 */
#include "engine.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLER ((uintptr_t)__builtin_return_address(0))

void __tsan_init(void);
void __tsan_init(void) {}

#define PLAIN(name, size, write)                                                                   \
  void __tsan_##name(void *address);                                                               \
  void __tsan_##name(void *address) { plain_access(address, size, write, CALLER); }
#define BOTH(name, size)                                                                           \
  void __tsan_##name(void *address);                                                               \
  void __tsan_##name(void *address) {                                                              \
    plain_access(address, size, false, CALLER);                                                    \
    plain_access(address, size, true, CALLER);                                                     \
  }
#include "../../../runtime/sim/tsan_accesses.def"

void __tsan_read_range(void *address, size_t size);
void __tsan_read_range(void *address, size_t size) { plain_access(address, size, false, CALLER); }
void __tsan_write_range(void *address, size_t size);
void __tsan_write_range(void *address, size_t size) { plain_access(address, size, true, CALLER); }

void *__tsan_memset(void *address, int value, size_t size);
void *__tsan_memset(void *address, int value, size_t size) {
  plain_access(address, size, true, CALLER);
  return memset(address, value, size);
}
void *__tsan_memcpy(void *to, const void *from, size_t size);
void *__tsan_memcpy(void *to, const void *from, size_t size) {
  plain_access(from, size, false, CALLER);
  plain_access(to, size, true, CALLER);
  return memcpy(to, from, size);
}
void *__tsan_memmove(void *to, const void *from, size_t size);
void *__tsan_memmove(void *to, const void *from, size_t size) {
  plain_access(from, size, false, CALLER);
  plain_access(to, size, true, CALLER);
  return memmove(to, from, size);
}

void __tsan_func_entry(void *caller);
void __tsan_func_entry(void *caller) {
  struct thread *self = current;
  if (!self)
    return;
  if (self->calls < MAX_CALLS)
    self->call[self->calls] = (uintptr_t)caller;
  self->calls++;
}
void __tsan_func_exit(void);
void __tsan_func_exit(void) {
  if (current && current->calls > 0)
    current->calls--;
}

#define ATOMICS(bits)                                                                              \
  uint##bits##_t __tsan_atomic##bits##_load(void *address, int order);                             \
  uint##bits##_t __tsan_atomic##bits##_load(void *address, int order) {                            \
    return (uint##bits##_t)atomic_load(address, bits / 8, order, CALLER);                          \
  }                                                                                                \
  void __tsan_atomic##bits##_store(void *address, uint##bits##_t value, int order);                \
  void __tsan_atomic##bits##_store(void *address, uint##bits##_t value, int order) {               \
    atomic_store(address, bits / 8, value, order, CALLER);                                         \
  }                                                                                                \
  RMW(bits, exchange, EXCHANGE)                                                                    \
  RMW(bits, fetch_add, ADD)                                                                        \
  RMW(bits, fetch_sub, SUB)                                                                        \
  RMW(bits, fetch_and, AND)                                                                        \
  RMW(bits, fetch_or, OR)                                                                          \
  RMW(bits, fetch_xor, XOR)                                                                        \
  RMW(bits, fetch_nand, NAND)                                                                      \
  uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(                                       \
      void *address, uint##bits##_t expected, uint##bits##_t value, int order, int failure);       \
  uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(                                       \
      void *address, uint##bits##_t expected, uint##bits##_t value, int order, int failure) {      \
    return (uint##bits##_t)atomic_cas(address, bits / 8, expected, value, order, failure, CALLER); \
  }                                                                                                \
  COMPARE(bits, strong)                                                                            \
  COMPARE(bits, weak)

#define RMW(bits, name, operation)                                                                 \
  uint##bits##_t __tsan_atomic##bits##_##name(void *address, uint##bits##_t value, int order);     \
  uint##bits##_t __tsan_atomic##bits##_##name(void *address, uint##bits##_t value, int order) {    \
    return (uint##bits##_t)atomic_rmw(address, bits / 8, operation, value, order, CALLER);         \
  }

/* A weak one never fails for no reason here. */
#define COMPARE(bits, kind)                                                                        \
  int __tsan_atomic##bits##_compare_exchange_##kind(void *address, uint##bits##_t *expected,       \
                                                    uint##bits##_t value, int order, int failure); \
  int __tsan_atomic##bits##_compare_exchange_##kind(                                               \
      void *address, uint##bits##_t *expected, uint##bits##_t value, int order, int failure) {     \
    uint##bits##_t found =                                                                         \
        (uint##bits##_t)atomic_cas(address, bits / 8, *expected, value, order, failure, CALLER);   \
    bool equal = found == *expected;                                                               \
    *expected = found;                                                                             \
    return equal;                                                                                  \
  }

ATOMICS(8)
ATOMICS(16)
ATOMICS(32)
ATOMICS(64)

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order) {
  (void)order;
  fprintf(stderr, "explore: fences are not modelled; use an order of an operation\n");
  abort();
}
void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_signal_fence(int order) { (void)order; }
