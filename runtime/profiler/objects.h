/* SPDX-License-Identifier: MIT
 *
 * Mutexes and objects of the other primitives, by address, and the groups that they belong to.
 */
#ifndef RELOCK_PROFILER_OBJECTS_H
#define RELOCK_PROFILER_OBJECTS_H

#include "thread.h"

/* Null when memory is at its limit. */
struct relock_object *object_create(const pthread_mutex_t *mutex, bool initialised);
void object_retire(const pthread_mutex_t *mutex);
/* The same for other primitives; an address can be known as one of each. */
struct relock_object *primitive_create(enum relock_primitive primitive, const void *address,
                                       bool initialised);
void primitive_retire(enum relock_primitive primitive, const void *address);
struct relock_group *group_of(const struct relock_object *object);
/* Marks the group of an object as the profiler's own. */
void object_hide(struct relock_object *object);

/* Objects by address, which no lock protects where it is read: in each slot a number of the object
 * and a tag of its address, so that a look at others is mostly saved. Small, because it is looked
 * at in each acquisition. 0: never used; slots are reused, never emptied. */
enum { OBJECT_TABLE_SIZE = 1 << 20, OBJECT_PROBES_MAX = 128 }; /* the size is a power of two */
extern uint64_t object_table[OBJECT_TABLE_SIZE];

static inline size_t object_hash(uint32_t value) { return value * 0x9e3779b1u >> 12; }

/* Where to look first. Neighbours in memory, as in an array of mutexes, are neighbours here, so
 * that they share lines and pages. Within 64 KiB each has a slot of its own, for all but spinlocks
 * take 32 bytes or more; steps grow from probe to probe, to get out of where others lie close. */
static inline size_t object_slot(enum relock_primitive primitive, uintptr_t address) {
  const unsigned shift = primitive == RELOCK_SPINLOCK ? 2 : 5;
  const uint32_t region = (uint32_t)(address >> 16) ^ (uint32_t)primitive << 28;
  return object_hash(region) + ((address & 0xffff) >> shift);
}

/* The high half of a slot: 31 bits of the address. The low half is the object's number, which
 * counts the 64-byte lines of the file; 0: the slot is vacant. */
static inline uint64_t object_tag(uintptr_t address) {
  return ((uint64_t)address >> 2 | (uint64_t)1 << 31) << 32;
}

/* In the low half, too: the object's next hold is timed in any case. */
#define OBJECT_SURE ((uint64_t)1 << 31)
void object_mark_sure(const struct relock_object *object, bool sure);

static inline struct relock_object *object_numbered(struct relock_header *first, uint64_t number) {
  return (struct relock_object *)((char *)first + number * 64);
}

/* Null if the slot has another tag, or is vacant. */
static inline struct relock_object *object_in(uint64_t slot, uint64_t tag) {
  uint64_t number = (slot ^ tag) & ~OBJECT_SURE;
  return LIKELY(number - 1 < UINT32_MAX) ? object_numbered(header, number) : NULL;
}

static inline bool object_is(const struct relock_object *object, enum relock_primitive primitive,
                             uintptr_t address) {
  return __atomic_load_n(&object->address, __ATOMIC_ACQUIRE) == address &&
         object->primitive == primitive;
}

static inline struct relock_object *primitive_find(enum relock_primitive primitive,
                                                   const void *where) {
  const uintptr_t address = (uintptr_t)where;
  const uint64_t tag = object_tag(address);
  size_t at = object_slot(primitive, address);
  for (unsigned probe = 0; probe < OBJECT_PROBES_MAX; at += ++probe) {
    /* Pairs with the release in insert(): the object is complete when it is seen. */
    uint64_t slot = __atomic_load_n(&object_table[at & (OBJECT_TABLE_SIZE - 1)], __ATOMIC_ACQUIRE);
    struct relock_object *object = object_in(slot, tag);
    if (LIKELY(object) && LIKELY(object_is(object, primitive, address)))
      return object;
    if (!slot)
      return NULL;
  }
  return NULL;
}

/* At the first look, if the next hold is not timed in any case; otherwise null. The tag need not be
 * looked at: whether the slot has the right object that says itself, with what is in the line that
 * is needed next. */
static inline struct relock_object *
primitive_plain(const struct thread *thread, enum relock_primitive primitive, const void *where) {
  const uintptr_t address = (uintptr_t)where;
  size_t at = object_slot(primitive, address) & (OBJECT_TABLE_SIZE - 1);
  int32_t number = (int32_t)__atomic_load_n(&object_table[at], __ATOMIC_ACQUIRE);
  struct relock_object *object;
  if (UNLIKELY(number <= 0)) /* vacant, or OBJECT_SURE */
    return NULL;
  object = object_numbered(thread->header, (uint32_t)number);
  return LIKELY(object_is(object, primitive, address)) ? object : NULL;
}

static inline struct relock_object *object_find(const pthread_mutex_t *mutex) {
  return primitive_find(RELOCK_MUTEX, mutex);
}

/* Makes room for the groups. */
bool objects_start(void);
/* In the child of a fork: forgets what the parent changed while it was copied. */
void objects_forget_changed(void);
/* Clears all groups; and then an object, which counts itself in its group. */
void groups_clear(void);
void object_clear(struct relock_object *object);

#endif
