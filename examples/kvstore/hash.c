/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "hash.h"

uint32_t hash_key(const char *key)
{
    uint32_t h = 2166136261u;

    while (*key != '\0') {
        h ^= (unsigned char)*key++;
        h *= 16777619u;
    }
    return h ^ (h >> 15);
}

int hash_table_init(struct hash_table *table, uint32_t items)
{
    table->size = 16;
    while (table->size < items)
        table->size *= 2;
    table->used = 0;
    table->buckets = calloc(table->size, sizeof(*table->buckets));
    return table->buckets == NULL ? -1 : 0;
}

void hash_table_free(struct hash_table *table)
{
    free(table->buckets);
    table->buckets = NULL;
}

struct item *hash_find(const struct hash_table *table, const char *key, uint32_t hash)
{
    struct item *it = table->buckets[hash & (table->size - 1)];

    while (it != NULL && (it->hash != hash || strcmp(it->key, key) != 0))
        it = it->hash_next;
    return it;
}

void hash_insert(struct hash_table *table, struct item *it)
{
    struct item **bucket = &table->buckets[it->hash & (table->size - 1)];

    it->hash_next = *bucket;
    *bucket = it;
    table->used++;
}

void hash_remove(struct hash_table *table, struct item *it)
{
    struct item **link = &table->buckets[it->hash & (table->size - 1)];

    while (*link != it)
        link = &(*link)->hash_next;
    *link = it->hash_next;
    it->hash_next = NULL;
    table->used--;
}
