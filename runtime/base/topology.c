/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "topology.h"

#include "options.h"
#include "os.h"

/* Threads seldom change nodes, and asking costs as much as a quick section. */
enum { USES = 64 };

uint32_t relock_cluster(struct relock_thread *self) {
  if (RELOCK_LIKELY(self->cluster_age > 0)) {
    self->cluster_age--;
    return self->cluster;
  }
  unsigned clusters = relock_option_clusters();
  self->cluster_age = USES;
  self->cluster = clusters ? relock_os->cpu() % clusters : relock_os->node();
  self->cluster %= RELOCK_MAX_CLUSTERS;
  return self->cluster;
}
