/* SPDX-License-Identifier: MIT
 *
 * Scenarios that call parts of servers by themselves. Only where named, and with no mutex of the
 * algorithm.
 */
#ifndef RELOCK_EXPLORE_PARTS_H
#define RELOCK_EXPLORE_PARTS_H

#include "scenarios.h"

extern const struct scenario scenarios_of_pool[], scenarios_of_server[];
extern const int scenario_of_pool_count, scenario_of_server_count;

#endif
