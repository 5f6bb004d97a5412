/* SPDX-License-Identifier: MIT */
#include <relock/containers.h>

struct counter_section {
  relock_counter_t *counter;
  uint64_t amount; /* and then what the value was */
};
_Static_assert(sizeof(struct counter_section) <= RELOCK_COPY_MAX, "travels with the request");

static int add_section(void *context) {
  struct counter_section *section = context;
  uint64_t *value = &section->counter->relock_private.value;
  const uint64_t before = *value;
  *value = before + section->amount;
  section->amount = before;
  return 0;
}

static int read_section(void *context) {
  struct counter_section *section = context;
  section->amount = section->counter->relock_private.value;
  return 0;
}

int relock_counter_init(relock_counter_t *counter, relock_class_t *lock_class, uint64_t start) {
  counter->relock_private.value = start;
  return relock_mutex_init(&counter->relock_private.mutex, NULL, lock_class);
}

static uint64_t run(relock_counter_t *counter, relock_section_t function, uint64_t amount) {
  struct counter_section section = {counter, amount};
  relock_execute_copy_any_thread(&counter->relock_private.mutex, function, &section,
                                 sizeof section);
  return section.amount;
}

uint64_t relock_counter_add(relock_counter_t *counter, uint64_t amount) {
  return run(counter, add_section, amount);
}

uint64_t relock_counter_read(relock_counter_t *counter) { return run(counter, read_section, 0); }

int relock_counter_destroy(relock_counter_t *counter) {
  return relock_mutex_destroy(&counter->relock_private.mutex);
}
