/* SPDX-License-Identifier: MIT
 *
 * Load generator: clients with a fixed seed, and the results that they must have had.
 */
#ifndef KVSTORE_LOADGEN_H
#define KVSTORE_LOADGEN_H

#include "store.h"

struct load_result {
    uint64_t operations;
    uint64_t checksum;          /* over every result of every operation */
    uint64_t expected_checksum;
    uint64_t wrong;             /* counts that differ from the expected ones */
    double   seconds;
};

int load_run(struct store *s, struct load_result *result);

#endif
