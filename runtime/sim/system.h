/* SPDX-License-Identifier: MIT
 *
 * The operating system of a simulated machine; the runtime has it as relock_os.
 */
#ifndef RELOCK_SIM_SYSTEM_H
#define RELOCK_SIM_SYSTEM_H

#include "machine.h"

void sim_system_start(const struct sim_machine *machine);

#endif
