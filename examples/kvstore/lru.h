/* SPDX-License-Identifier: MIT
 *
 * List of the items in order of their last use. No locking here.
 */
#ifndef KVSTORE_LRU_H
#define KVSTORE_LRU_H

#include "hash.h"

struct lru {
    struct item *newest;
    struct item *oldest;
    uint64_t     moves;
};

void lru_add(struct lru *lru, struct item *it);
void lru_remove(struct lru *lru, struct item *it);
void lru_touch(struct lru *lru, struct item *it);

#endif
