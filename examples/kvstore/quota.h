/* SPDX-License-Identifier: MIT
 *
 * How many bytes each tenant has pinned.
 */
#ifndef KVSTORE_QUOTA_H
#define KVSTORE_QUOTA_H

#include <stdint.h>

#define QUOTA_TENANTS 256

void    quota_init(int64_t limit);
int     quota_charge(unsigned tenant, int64_t bytes);
void    quota_release(unsigned tenant, int64_t bytes);
int64_t quota_used(unsigned tenant);

#endif
