/* SPDX-License-Identifier: MIT
 *
 * What a program asks of the statistics.
 */
#include "../statistics/stats_output.h"
#include "../statistics/stats_report.h"
#include "choice.h"
#include "environment.h"

void relock_class_statistics(relock_class_t *lock_class, relock_statistics_t *statistics) {
  lock_class = lock_class ? lock_class : &relock_default_class;
  relock_class_register(lock_class);
  relock_stats_of_class(lock_class, statistics);
}

int relock_statistics_write(const char *file) {
  relock_options_read();
  return relock_stats_write(file);
}
