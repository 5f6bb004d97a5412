/* SPDX-License-Identifier: MIT
 *
 * The store: a hash table with a bounded number of items, the least recently used evicted first.
 */
#ifndef KVSTORE_STORE_H
#define KVSTORE_STORE_H

#include <pthread.h>
#include <stdint.h>

#include "hash.h"
#include "lru.h"

enum { KV_OK, KV_MISS, KV_FULL, KV_TYPE };

struct store_counts {
    uint64_t gets, hits, misses;
    uint64_t sets, created, replaced;
    uint64_t deletes, deleted;
    uint64_t increments;
    uint64_t evicted, expired;
    uint64_t items;
};

/* One lock for everything in it: every request reads and moves items in the same list. */
struct store {
    pthread_mutex_t     lock;
    struct hash_table   table;
    struct lru          lru;
    struct item        *unused;  /* linked through hash_next */
    struct item        *memory;
    uint64_t            now;     /* milliseconds, set by the expiry thread */
    uint32_t            hand;    /* bucket that the expiry pass looks at next */
    struct store_counts counts;
};

#define STORE_LOCK(s)    pthread_mutex_lock(&(s)->lock)
#define STORE_TRYLOCK(s) pthread_mutex_trylock(&(s)->lock)
#define STORE_UNLOCK(s)  pthread_mutex_unlock(&(s)->lock)

struct store *store_create(uint32_t capacity);
void          store_destroy(struct store *s);

/* value has room for VALUE_MAX bytes; *length is what was copied there */
int store_get(struct store *s, const char *key, char *value, uint32_t *length);
int store_peek(struct store *s, const char *key, char *value, uint32_t *length);
int store_set(struct store *s, const char *key, const char *value, uint32_t length,
              uint32_t flags, uint32_t ttl);
int store_delete(struct store *s, const char *key, uint32_t *length);
int store_increment(struct store *s, const char *key, uint64_t by, uint64_t *result);

int      store_tick(struct store *s, uint64_t now);
unsigned store_expire(struct store *s, unsigned buckets);
void     store_counts(struct store *s, struct store_counts *counts);

/* Nothing changes in the store between these two; for walks over all items. */
void     store_freeze(struct store *s);
void     store_thaw(struct store *s);
uint64_t store_digest_pinned(const struct store *s);

#endif
