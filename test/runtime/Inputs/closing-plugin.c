/* SPDX-License-Identifier: MIT
 * A library with a lock class of its own. */
#include <relock/relock.h>
RELOCK_LOCK_CLASS(plugin_lock, "plugin_lock", "ccsynch");
static relock_mutex_t mutex = RELOCK_MUTEX_INITIALIZER(plugin_lock);
void use_plugin(void) {
  relock_mutex_lock(&mutex);
  relock_mutex_unlock(&mutex);
}
