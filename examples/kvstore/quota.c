/* SPDX-License-Identifier: MIT
 *
 * How many bytes each tenant has pinned. Tenants share a few locks.
 */
#include "log.h"
#include "quota.h"

#define QUOTA_STRIPES 16

static pthread_mutex_t quota_locks[QUOTA_STRIPES];
static int64_t used[QUOTA_TENANTS];
static int64_t quota_limit;

void quota_init(int64_t limit)
{
    int i;

    for (i = 0; i < QUOTA_STRIPES; i++)
        pthread_mutex_init(&quota_locks[i], NULL);
    quota_limit = limit;
}

static void quota_lock(unsigned tenant)
{
    MUTEX_LOCK(&quota_locks[tenant % QUOTA_STRIPES]);
}

static void quota_unlock(unsigned tenant)
{
    MUTEX_UNLOCK(&quota_locks[tenant % QUOTA_STRIPES]);
}

int quota_charge(unsigned tenant, int64_t bytes)
{
    quota_lock(tenant);
    if (quota_limit != 0 && used[tenant] + bytes > quota_limit) {
        quota_unlock(tenant);
        log_write(LOG_INFO, "tenant %u is over its quota", tenant);
        return -1;
    }
    used[tenant] += bytes;
    quota_unlock(tenant);
    return 0;
}

void quota_release(unsigned tenant, int64_t bytes)
{
    quota_lock(tenant);
    used[tenant] -= bytes;
    quota_unlock(tenant);
}

int64_t quota_used(unsigned tenant)
{
    int64_t bytes;

    quota_lock(tenant);
    bytes = used[tenant];
    quota_unlock(tenant);
    return bytes;
}
