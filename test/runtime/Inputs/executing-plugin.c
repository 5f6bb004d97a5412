/* SPDX-License-Identifier: MIT
 * A library that needs a server. */
#include <relock/relock.h>
RELOCK_LOCK_CLASS(plugin_lock, "plugin_lock", "rcl");
static relock_mutex_t mutex = RELOCK_MUTEX_INITIALIZER(plugin_lock);
static int section(void *unused) { return unused != NULL; }
void use_plugin(void) { relock_execute_any_thread(&mutex, section, NULL); }
