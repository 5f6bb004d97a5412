/* SPDX-License-Identifier: MIT
 *
 * The store. Its lock is the one that every request takes.
 */
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "store.h"

struct store *store_create(uint32_t capacity)
{
    struct store *s = calloc(1, sizeof(*s));
    uint32_t i;

    if (s == NULL)
        return NULL;
    s->memory = calloc(capacity, sizeof(*s->memory));
    if (s->memory == NULL || hash_table_init(&s->table, capacity) != 0) {
        free(s->memory);
        free(s);
        return NULL;
    }
    for (i = 0; i < capacity; i++) {
        s->memory[i].hash_next = s->unused;
        s->unused = &s->memory[i];
    }
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

void store_destroy(struct store *s)
{
    pthread_mutex_destroy(&s->lock);
    hash_table_free(&s->table);
    free(s->memory);
    free(s);
}

/* Takes an item out of the store. Caller holds the lock. */
static void unlink_item(struct store *s, struct item *it)
{
    hash_remove(&s->table, it);
    if (!(it->flags & ITEM_PINNED))
        lru_remove(&s->lru, it);
    it->hash_next = s->unused;
    s->unused = it;
}

/* An unused item, or the least recently used one. Caller holds the lock. */
static struct item *allocate_item(struct store *s)
{
    struct item *it = s->unused;

    if (it == NULL) {
        if (s->lru.oldest == NULL)
            return NULL;
        unlink_item(s, s->lru.oldest);
        s->counts.evicted++;
        it = s->unused;
    }
    s->unused = it->hash_next;
    return it;
}

/* The item, unless its time is over. Caller holds the lock. */
static struct item *find_live(struct store *s, const char *key, uint32_t hash)
{
    struct item *it = hash_find(&s->table, key, hash);

    if (it != NULL && it->expires != 0 && it->expires <= s->now) {
        unlink_item(s, it);
        s->counts.expired++;
        return NULL;
    }
    return it;
}

int store_get(struct store *s, const char *key, char *value, uint32_t *length)
{
    uint32_t hash = hash_key(key);
    struct item *it;

    STORE_LOCK(s);
    s->counts.gets++;
    it = find_live(s, key, hash);
    if (it == NULL) {
        s->counts.misses++;
        STORE_UNLOCK(s);
        return KV_MISS;
    }

    /* a hit: the item becomes the newest one */
    if (!(it->flags & ITEM_PINNED))
        lru_touch(&s->lru, it);
    it->hits++;
    s->counts.hits++;
    memcpy(value, it->value, it->value_length);
    *length = it->value_length;
    STORE_UNLOCK(s);
    return KV_OK;
}

/* Like store_get(), but leaves no trace in the order of use or in the counts. */
int store_peek(struct store *s, const char *key, char *value, uint32_t *length)
{
    uint32_t hash = hash_key(key);
    struct item *it;
    int result = KV_MISS;

    STORE_LOCK(s);
    it = hash_find(&s->table, key, hash);
    if (it == NULL)
        goto out;
    memcpy(value, it->value, it->value_length);
    *length = it->value_length;
    result = KV_OK;
out:
    STORE_UNLOCK(s);
    return result;
}

int store_set(struct store *s, const char *key, const char *value, uint32_t length,
              uint32_t flags, uint32_t ttl)
{
    uint32_t hash = hash_key(key);
    struct item *it;

    STORE_LOCK(s);
    s->counts.sets++;
    it = find_live(s, key, hash);
    if (it != NULL) {
        /* the value is replaced in place; an item stays pinned or not as it was made */
        s->counts.replaced++;
    } else {
        it = allocate_item(s);
        if (it == NULL) {
            STORE_UNLOCK(s);
            log_write(LOG_ERROR, "no room for key %s", key);
            return KV_FULL;
        }
        strcpy(it->key, key);
        it->hash = hash;
        it->flags = flags;
        it->hits = 0;
        hash_insert(&s->table, it);
        if (!(flags & ITEM_PINNED))
            lru_add(&s->lru, it);
        s->counts.created++;
    }
    it->expires = ttl == 0 ? 0 : s->now + ttl;
    memcpy(it->value, value, length);
    it->value_length = length;
    STORE_UNLOCK(s);
    return KV_OK;
}

int store_delete(struct store *s, const char *key, uint32_t *length)
{
    uint32_t hash = hash_key(key);
    struct item *it;

    STORE_LOCK(s);
    s->counts.deletes++;
    it = find_live(s, key, hash);
    if (it == NULL)
        goto missing;
    *length = it->value_length;
    unlink_item(s, it);
    s->counts.deleted++;
    STORE_UNLOCK(s);
    return KV_OK;

missing:
    STORE_UNLOCK(s);
    return KV_MISS;
}

/* Adds to a counter, which is made at the first use. */
int store_increment(struct store *s, const char *key, uint64_t by, uint64_t *result)
{
    uint32_t hash = hash_key(key);
    uint64_t value = 0;
    struct item *it;

    STORE_LOCK(s);
    it = hash_find(&s->table, key, hash);
    if (it == NULL) {
        it = allocate_item(s);
        if (it == NULL) {
            STORE_UNLOCK(s);
            return KV_FULL;
        }
        strcpy(it->key, key);
        it->hash = hash;
        it->flags = ITEM_PINNED;
        it->expires = 0;
        it->hits = 0;
        it->value_length = sizeof(value);
        memcpy(it->value, &value, sizeof(value));
        hash_insert(&s->table, it);
        s->counts.created++;
    } else if (it->value_length != sizeof(value)) {
        STORE_UNLOCK(s);
        return KV_TYPE;
    }
    memcpy(&value, it->value, sizeof(value));
    value += by;
    memcpy(it->value, &value, sizeof(value));
    s->counts.increments++;
    STORE_UNLOCK(s);

    *result = value;
    return KV_OK;
}

/* Moves the store's clock, unless somebody is busy in there; the next tick is soon. */
int store_tick(struct store *s, uint64_t now)
{
    if (STORE_TRYLOCK(s) != 0)
        return -1;
    s->now = now;
    STORE_UNLOCK(s);
    return 0;
}

/* Looks at some buckets and removes what has expired. The lock is taken for each bucket, so that
 * requests do not wait for the whole pass. */
unsigned store_expire(struct store *s, unsigned buckets)
{
    unsigned removed = 0;
    unsigned i;

    for (i = 0; i < buckets; i++) {
        struct item *it, *next;

        STORE_LOCK(s);
        if (s->hand >= s->table.size) {
            /* once around: the next pass begins at the first bucket */
            s->hand = 0;
            STORE_UNLOCK(s);
            break;
        }
        it = s->table.buckets[s->hand++];
        if (it == NULL) {
            STORE_UNLOCK(s);
            continue;
        }
        for (; it != NULL; it = next) {
            next = it->hash_next;
            if (it->expires != 0 && it->expires <= s->now) {
                unlink_item(s, it);
                s->counts.expired++;
                removed++;
            }
        }
        STORE_UNLOCK(s);
    }
    return removed;
}

void store_counts(struct store *s, struct store_counts *counts)
{
    STORE_LOCK(s);
    *counts = s->counts;
    counts->items = s->table.used;
    STORE_UNLOCK(s);
}

void store_freeze(struct store *s)
{
    STORE_LOCK(s);
}

void store_thaw(struct store *s)
{
    STORE_UNLOCK(s);
}

uint64_t store_digest_pinned(const struct store *s)
{
    uint64_t digest = 0;
    uint32_t i;

    for (i = 0; i < s->table.size; i++) {
        const struct item *it;

        for (it = s->table.buckets[i]; it != NULL; it = it->hash_next) {
            uint64_t word = 0;

            if (!(it->flags & ITEM_PINNED))
                continue;
            memcpy(&word, it->value, sizeof(word));
            digest += word * (2 * (uint64_t)it->hash + 1);
        }
    }
    return digest;
}
