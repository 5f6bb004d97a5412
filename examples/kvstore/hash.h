/* SPDX-License-Identifier: MIT
 *
 * The hash table of the store, and the items in it. No locking here: callers hold the store's
 * lock.
 */
#ifndef KVSTORE_HASH_H
#define KVSTORE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define KEY_MAX   23
#define VALUE_MAX 64

#define ITEM_PINNED 0x01 /* never evicted, never expires */

struct item {
    struct item *hash_next;
    struct item *lru_newer;
    struct item *lru_older;
    uint32_t     hash;
    uint32_t     flags;
    uint64_t     expires; /* milliseconds on the store's clock */
    uint32_t     hits;
    uint32_t     value_length;
    char         key[KEY_MAX + 1];
    char         value[VALUE_MAX];
};

struct hash_table {
    struct item **buckets;
    uint32_t      size; /* a power of two */
    uint32_t      used;
};

uint32_t     hash_key(const char *key);
int          hash_table_init(struct hash_table *table, uint32_t items);
void         hash_table_free(struct hash_table *table);
struct item *hash_find(const struct hash_table *table, const char *key, uint32_t hash);
void         hash_insert(struct hash_table *table, struct item *it);
void         hash_remove(struct hash_table *table, struct item *it);

#endif
