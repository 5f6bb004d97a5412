/* SPDX-License-Identifier: MIT */
#include "threads.h"

#include "../mutex/submit.h"
#include "../server/client.h"
#include "../statistics/stats_output.h"
#include "../statistics/times.h"

static void thread_ends(struct relock_thread *record) {
  relock_settle();
  if (record->rcl_serves)
    relock_pool_thread_ends(record);
  relock_client_ends(record);
}

static void first_thread_ends(void) {
  relock_servers_first_thread(false);
  relock_stats_first_thread_ends();
}

const struct relock_thread_life relock_process_threads = {relock_times_thread_starts, thread_ends,
                                                          first_thread_ends};

bool relock_process_first_thread_starts(void) {
  const bool known = relock_first_thread_starts();
  relock_servers_first_thread(known);
  return known;
}
