/* SPDX-License-Identifier: MIT
 *
 * An in-memory key-value store under load. Prints key=value lines; exits with 1 when a result
 * differs from what it must be.
 */
#include <stdio.h>
#include <stdlib.h>

#include "config.h"
#include "expiry.h"
#include "loadgen.h"
#include "log.h"
#include "quota.h"
#include "stats.h"
#include "worker.h"

static void usage(void)
{
    fprintf(stderr,
            "usage: kvstore [-t threads] [-s seconds | -n operations] [-w workers]\n"
            "               [-c capacity] [-k keys] [-e ttl-ms] [-x expiry-ms]\n"
            "               [-q quota-bytes] [-r seed] [-v verbosity]\n");
}

static void print_result(struct store *s, const struct load_result *r)
{
    struct store_counts n;

    store_counts(s, &n);
    printf("threads=%ld\n", config_get(SET_THREADS));
    printf("operations=%llu\n", (unsigned long long)r->operations);
    printf("seconds=%.3f\n", r->seconds);
    printf("throughput=%.0f\n", r->operations / r->seconds);
    printf("latency_mean_ns=%.0f\n", latency_mean());
    printf("latency_p50_ns=%llu\n", (unsigned long long)latency_percentile(0.50));
    printf("latency_p99_ns=%llu\n", (unsigned long long)latency_percentile(0.99));
    printf("latency_max_ns=%llu\n", (unsigned long long)latency_max());
    printf("hits=%llu\n", (unsigned long long)n.hits);
    printf("misses=%llu\n", (unsigned long long)n.misses);
    printf("evicted=%llu\n", (unsigned long long)n.evicted);
    printf("expired=%llu\n", (unsigned long long)n.expired);
    printf("checksum=%016llx\n", (unsigned long long)r->checksum);
    printf("expected=%016llx\n", (unsigned long long)r->expected_checksum);
    printf("wrong=%llu\n", (unsigned long long)r->wrong);
}

int main(int argc, char **argv)
{
    struct load_result result = { 0 };
    struct store *s;

    config_init();
    if (config_parse(argc, argv) != 0) {
        usage();
        return 2;
    }
    log_set_level(config_get(SET_VERBOSE));
    quota_init(config_get(SET_QUOTA));

    s = store_create(config_get(SET_CAPACITY));
    if (s == NULL || workers_start(config_get(SET_WORKERS)) != 0 ||
        expiry_start(s, config_get(SET_EXPIRY)) != 0) {
        log_write(LOG_ERROR, "cannot start: out of memory or threads");
        return 2;
    }
    if (load_run(s, &result) != 0) {
        log_write(LOG_ERROR, "cannot run the load: out of memory or threads");
        return 2;
    }
    expiry_stop();
    workers_stop();

    print_result(s, &result);
    log_write(LOG_INFO, "%lu expiry passes, %ld settings changed, %lu log lines",
              expiry_passes(), config_changes(), log_lines());
    store_destroy(s);
    if (result.wrong != 0 || result.checksum != result.expected_checksum)
        return 1;
    return 0;
}
