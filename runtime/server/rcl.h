/* SPDX-License-Identifier: MIT
 *
 * What the rest of the runtime knows of the server.
 */
#ifndef RELOCK_SERVER_RCL_H
#define RELOCK_SERVER_RCL_H

/* In a forked child: there is no server and no request. */
void relock_rcl_after_fork(void);

#endif
