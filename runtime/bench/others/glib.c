/* SPDX-License-Identifier: MIT
 *
 * GLib's queue between threads (libglib2.0-dev) for `relock-bench --containers`:
 *
 *   cc -O2 -shared -fPIC -I runtime runtime/bench/others/glib.c -o glib.so \
 *      $(pkg-config --cflags --libs glib-2.0)
 *
 * It has a mutex, and allocates what holds an element.
 */
#include "bench/other.h"

#include <glib.h>

static void *create(int threads) {
  (void)threads;
  return g_async_queue_new();
}

static void destroy(void *queue) { g_async_queue_unref(queue); }

static int use(void *queue, int thread, int take) {
  static char value;
  (void)thread;
  if (take)
    return g_async_queue_try_pop(queue) != NULL;
  g_async_queue_push(queue, &value);
  return 1;
}

static unsigned long inside(void *queue) { return (unsigned long)g_async_queue_length(queue); }

const struct relock_bench_container relock_bench_containers[] = {
    {"glib", "queue", create, destroy, use, inside}, {0}};
