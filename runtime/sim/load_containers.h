/* SPDX-License-Identifier: MIT
 *
 * What threads of the simulated machine do with a container (relock/containers.h), as in section
 * 7.2.3 of D. Petrovic's thesis (EPFL, 2016): each adds to a counter, or pushes and pops, or
 * enqueues and dequeues in turns. Beside the containers, what programs without locks have: an
 * atomic addition, the stack of R. K. Treiber (1986), and the queue of M. M. Michael and M. L.
 * Scott (1996), section 2, with counted pointers.
 */
#ifndef RELOCK_SIM_LOAD_CONTAINERS_H
#define RELOCK_SIM_LOAD_CONTAINERS_H

#include "load.h"

#include <relock/containers.h>

#define SIM_LOCK_FREE "lock-free"

/* By the first thread of the machine. Users are numbered from 0; there is one more than the load
 * has threads. */
void sim_containers_start(const struct sim_load *load, relock_class_t *lock_class);
void sim_container_operate(unsigned user);
/* Whether the container has what the users' operations have left there. */
bool sim_container_is_exact(void);

#endif
