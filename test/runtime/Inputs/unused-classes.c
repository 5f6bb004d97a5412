/* SPDX-License-Identifier: MIT
 * Acquires a lock of one class of four; of another one it has a mutex. */
#include <relock/relock.h>
#include <stddef.h>

RELOCK_LOCK_CLASS(used, "used", "mcs");
RELOCK_LOCK_CLASS(unused_one, "unused_one", "mcs");
RELOCK_LOCK_CLASS(unused_two, "unused_two", "ticket");
RELOCK_LOCK_CLASS(unused_with_a_mutex, "unused_with_a_mutex", "ticket");

static relock_mutex_t lock = RELOCK_MUTEX_INITIALIZER(used);

int main(void) {
  relock_mutex_t other;
  if (relock_mutex_init(&other, NULL, RELOCK_CLASS(unused_with_a_mutex)))
    return 1;
  relock_mutex_lock(&lock);
  relock_mutex_unlock(&lock);
  return relock_mutex_destroy(&other);
}
