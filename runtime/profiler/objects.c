/* SPDX-License-Identifier: MIT */
#include "objects.h"
#include "site.h"

#include <string.h>

enum { GROUP_TABLE_SIZE = 2 * GROUPS_MAX };

_Static_assert(GROUPS_MAX == STATS_PAGE * STATS_PAGES, "a thread has a place for each");
_Static_assert(sizeof(struct relock_group) <= 256, "each mutex of a static array has one");

uint64_t object_table[OBJECT_TABLE_SIZE];
static struct relock_group **groups; /* by index */
static uint32_t *group_table;        /* index + 1, by hash */
static uint32_t group_count;
static struct relock_object *free_objects; /* linked through `address` */

bool objects_start(void) {
  groups = private_pages(GROUPS_MAX * sizeof *groups);
  group_table = private_pages(GROUP_TABLE_SIZE * sizeof *group_table);
  return groups && group_table;
}

static struct relock_object *object_of(uint64_t slot) { return object_in(slot, slot >> 32 << 32); }
static void vacate(uint64_t *slot) { __atomic_store_n(slot, *slot >> 32 << 32, __ATOMIC_RELEASE); }

static bool is_current(uint64_t slot) {
  const struct relock_object *object = object_of(slot);
  return object->live && object->group < group_count &&
         object_in(slot, object_tag(object->address)) == object;
}

/* The parent went on between the fork and the copy: records that it has given to other mutexes
 * are forgotten here, and made anew when their mutexes are used. */
void objects_forget_changed(void) {
  free_objects = NULL; /* what was free stays unused: links may be lost */
  for (size_t i = 0; i < OBJECT_TABLE_SIZE; i++)
    if (object_of(object_table[i]) && !is_current(object_table[i]))
      vacate(&object_table[i]);
}

static void clear_group(struct relock_group *group) {
  memset(&group->retired, 0, sizeof group->retired);
  memset(&group->retired_times, 0, sizeof group->retired_times);
  memset(&group->retired_rare, 0, sizeof group->retired_rare);
  memset(&group->events, 0, sizeof group->events);
  memset(&group->read_events, 0, sizeof group->read_events);
  group->objects = 0;
}

void groups_clear(void) {
  for (uint32_t i = 0; i < group_count; i++)
    clear_group(groups[i]);
}

static void clear_object(struct relock_object *object) {
  memset(&object->counts, 0, sizeof object->counts);
  memset(&object->times, 0, sizeof object->times);
  memset(&object->rare, 0, sizeof object->rare);
  object->counts.sure = RELOCK_FIRST_TIMED;
  object->waiting = 0;
}

/* Where the object is, or else one can be put; null: there is no room. */
static uint64_t *find_slot(enum relock_primitive primitive, uintptr_t address) {
  const uint64_t tag = object_tag(address);
  size_t at = object_slot(primitive, address);
  uint64_t *vacant = NULL;
  for (unsigned probe = 0; probe < OBJECT_PROBES_MAX; at += ++probe) {
    uint64_t *slot = &object_table[at & (OBJECT_TABLE_SIZE - 1)];
    const struct relock_object *object = object_in(*slot, tag);
    if (object && object_is(object, primitive, address))
      return slot;
    if (!vacant && !object_of(*slot))
      vacant = slot;
    if (!*slot)
      break;
  }
  return vacant;
}

/* No lock: it is rare, and only a hint. */
void object_mark_sure(const struct relock_object *object, bool sure) {
  const uint64_t tag = object_tag(object->address);
  size_t at = object_slot(object->primitive, object->address);
  for (unsigned probe = 0; probe < OBJECT_PROBES_MAX; at += ++probe) {
    uint64_t *slot = &object_table[at & (OBJECT_TABLE_SIZE - 1)];
    uint64_t value = __atomic_load_n(slot, __ATOMIC_RELAXED);
    if (object_in(value, tag) == object) {
      __atomic_compare_exchange_n(slot, &value, sure ? value | OBJECT_SURE : value & ~OBJECT_SURE,
                                  false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
      return;
    }
    if (!value)
      return;
  }
}

static uint64_t group_hash(uint64_t address, const uint64_t *frames, uint32_t count) {
  uint64_t value = address * 31;
  for (uint32_t i = 0; i < count && !address; i++)
    value = (value ^ frames[i]) * 0x100000001b3ull;
  return value;
}

static bool same_group(const struct relock_group *group, enum relock_primitive primitive,
                       uint64_t address, const uint64_t *frames, uint32_t count) {
  if (group->primitive != primitive)
    return false;
  if (group->address || address)
    return group->address == address;
  return group->frame_count == count && !memcmp(group->frames, frames, count * sizeof *frames);
}

static struct relock_group *find_group(enum relock_primitive primitive, uint64_t address,
                                       const uint64_t *frames, uint32_t count, bool initialised) {
  const uint64_t hash = group_hash(address, frames, count);
  size_t at = object_hash((uint32_t)(hash ^ hash >> 32));
  struct relock_group *group;
  for (;; at++) {
    uint32_t index = group_table[at & (GROUP_TABLE_SIZE - 1)];
    if (!index)
      break;
    group = groups[index - 1];
    if (same_group(group, primitive, address, frames, count))
      return group;
  }
  if (group_count == GROUPS_MAX)
    return NULL;
  group = record_allocate(RELOCK_RECORD_GROUP, sizeof *group);
  if (!group)
    return NULL;
  group->index = group_count;
  group->primitive = primitive;
  group->address = address;
  group->initialised = initialised;
  group->frame_count = count;
  memcpy(group->frames, frames, count * sizeof *frames);
  groups[group_count++] = group;
  group_table[at & (GROUP_TABLE_SIZE - 1)] = group_count;
  return group;
}

static struct relock_object *new_object(struct relock_group *group, uintptr_t address) {
  struct relock_object *object = free_objects;
  store_changes();
  if (object) {
    free_objects = (struct relock_object *)(uintptr_t)object->address;
  } else {
    object = record_allocate(RELOCK_RECORD_OBJECT, sizeof *object);
    if (!object)
      return NULL;
  }
  clear_object(object);
  object->group = group->index;
  object->primitive = group->primitive;
  __atomic_store_n(&object->address, address, __ATOMIC_RELEASE);
  object->live = 1;
  group->objects++;
  return object;
}

/* What a destroyed mutex did stays in its group; its record serves the next mutex. */
static void retire(uint64_t *slot) {
  struct relock_object *object = object_of(*slot);
  struct relock_group *group = groups[object->group];
  store_changes();
  group->retired.acquisitions += object->counts.acquisitions;
  group->retired.holds += object->counts.holds;
  group->retired_times.contended += object->times.contended;
  group->retired_times.wait += object->times.wait;
  group->retired_times.hold += object->times.hold;
  group->retired_times.weights += object->times.weights;
  group->retired.handovers += object->counts.handovers;
  group->retired_rare.trylock_failures += object->rare.trylock_failures;
  group->retired_rare.timeouts += object->rare.timeouts;
  group->retired_rare.cond_waits += object->rare.cond_waits;
  group->retired_rare.reentries += object->rare.reentries;
  vacate(slot);
  object->live = 0;
  object->address = (uintptr_t)free_objects;
  free_objects = object;
}

static struct relock_object *insert(enum relock_primitive primitive, uintptr_t address,
                                    const uint64_t *frames, uint32_t count, bool initialised) {
  uint64_t *slot = find_slot(primitive, address);
  struct relock_group *group;
  struct relock_object *object;
  if (slot && object_of(*slot)) {
    if (!initialised)
      return object_of(*slot); /* another thread was faster */
    retire(slot);              /* its memory was freed without destroying it */
  }
  if (!slot)
    return NULL;
  group = find_group(primitive, site_is_static(address) ? address : 0, frames, count, initialised);
  object = group ? new_object(group, address) : NULL;
  if (object)
    __atomic_store_n(
        slot, object_tag(address) | OBJECT_SURE | (uint64_t)((char *)object - (char *)header) / 64,
        __ATOMIC_RELEASE);
  return object;
}

struct relock_object *primitive_create(enum relock_primitive primitive, const void *address,
                                       bool initialised) {
  uint64_t frames[RELOCK_FRAMES], start = relock_ticks();
  uint32_t count = site_backtrace(0, frames);
  struct relock_object *object;
  site_refresh_modules();
  record_lock();
  object = insert(primitive, (uintptr_t)address, frames, count, initialised);
  record_unlock();
  __atomic_fetch_add(&header->making, relock_ticks() - start, __ATOMIC_RELAXED);
  return object;
}

struct relock_object *object_create(const pthread_mutex_t *mutex, bool initialised) {
  return primitive_create(RELOCK_MUTEX, mutex, initialised);
}

void primitive_retire(enum relock_primitive primitive, const void *address) {
  uint64_t *slot;
  record_lock();
  slot = find_slot(primitive, (uintptr_t)address);
  if (slot && object_of(*slot))
    retire(slot);
  record_unlock();
}

void object_retire(const pthread_mutex_t *mutex) { primitive_retire(RELOCK_MUTEX, mutex); }

struct relock_group *group_of(const struct relock_object *object) { return groups[object->group]; }

void object_hide(struct relock_object *object) { group_of(object)->hidden = 1; }

void object_clear(struct relock_object *object) {
  clear_object(object);
  if (object->live && object->group < group_count) {
    groups[object->group]->objects++;
    object_mark_sure(object, true);
  }
}
