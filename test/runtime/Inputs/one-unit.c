/* SPDX-License-Identifier: MIT */
#include "two-units.h"
static relock_mutex_t lock = RELOCK_MUTEX_INITIALIZER(beta_c_lock);

static int add(void *context) { return ++((struct pair *)context)->first; }

int add_in_other_unit(struct pair *pair) {
  relock_mutex_lock(&lock);
  relock_mutex_lock(&alpha_lock);
  relock_mutex_unlock(&alpha_lock);
  relock_mutex_unlock(&lock);
  return relock_execute(&pair->second, add, pair);
}

relock_class_t *class_in_other_unit(void) { return RELOCK_CLASS(alpha_lock); }
