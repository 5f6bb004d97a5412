/* SPDX-License-Identifier: MIT
 *
 * The map. Buckets are chains of nodes; a part's are neighbours, and no other part's section
 * touches them. Whoever asks for an operation finds the bucket, so that the section, which is what
 * others wait for, only follows the chain.
 */
#include <relock/containers.h>

#include <errno.h>
#include <stdbool.h>
#include <string.h>

struct get_section {
  relock_map_node_t **bucket;
  relock_equal_t equal;
  uint64_t hash;
  const void *key;
  void *value;
};
struct put_section {
  relock_map_node_t **bucket;
  relock_equal_t equal;
  relock_map_node_t *node, *replaced;
};
struct remove_section {
  relock_map_node_t **bucket;
  relock_equal_t equal;
  uint64_t hash;
  const void *key;
  relock_map_node_t *removed;
};
struct clear_section {
  relock_map_node_t **from, **end; /* the part's buckets */
  relock_map_node_t *first;        /* of all that were taken out */
};
_Static_assert(sizeof(struct get_section) <= RELOCK_COPY_MAX, "travels with the request");
_Static_assert(sizeof(struct put_section) <= RELOCK_COPY_MAX, "travels with the request");
_Static_assert(sizeof(struct remove_section) <= RELOCK_COPY_MAX, "travels with the request");
_Static_assert(sizeof(struct clear_section) <= RELOCK_COPY_MAX, "travels with the request");

/* --- sections -------------------------------------------------------------------------------- */

/* Where the pointer to the key's node is, or the null at the end of the chain. */
static relock_map_node_t **find(relock_map_node_t **bucket, relock_equal_t equal, uint64_t hash,
                                const void *key) {
  relock_map_node_t **at = bucket;
  while (*at && ((*at)->relock_hash != hash || !equal((*at)->key, key)))
    at = &(*at)->relock_next;
  return at;
}

static int get_section(void *context) {
  struct get_section *section = context;
  const relock_map_node_t *node =
      *find(section->bucket, section->equal, section->hash, section->key);
  if (!node)
    return ENOENT;
  section->value = node->value;
  return 0;
}

static int put_section(void *context) {
  struct put_section *section = context;
  relock_map_node_t *node = section->node;
  relock_map_node_t **at = find(section->bucket, section->equal, node->relock_hash, node->key);
  section->replaced = *at;
  node->relock_next = *at ? (*at)->relock_next : NULL;
  *at = node;
  return 0;
}

static int remove_section(void *context) {
  struct remove_section *section = context;
  relock_map_node_t **at = find(section->bucket, section->equal, section->hash, section->key);
  section->removed = *at;
  if (*at)
    *at = (*at)->relock_next;
  return 0;
}

static int clear_section(void *context) {
  struct clear_section *section = context;
  for (relock_map_node_t **bucket = section->from; bucket < section->end; bucket++)
    while (*bucket) {
      relock_map_node_t *node = *bucket;
      *bucket = node->relock_next;
      node->relock_next = section->first;
      section->first = node;
    }
  return 0;
}

/* --------------------------------------------------------------------------------------------- */

static bool is_power_of_two(size_t number) { return number && !(number & (number - 1)); }

/* Of the hash the highest bits of its product with 2^64 over the golden ratio, so that all bits of
 * a poor hash count: D. E. Knuth, "The Art of Computer Programming", volume 3, section 6.4. */
static size_t bucket_of(const relock_map_t *map, uint64_t hash) {
  return (hash * UINT64_C(0x9e3779b97f4a7c15)) >> 1 >> (63 - map->relock_private.bucket_bits);
}

static relock_mutex_t *mutex_of(const relock_map_t *map, size_t bucket) {
  const unsigned buckets_of_part = map->relock_private.bucket_bits - map->relock_private.part_bits;
  return &map->relock_private.parts[bucket >> buckets_of_part].relock_mutex;
}

int relock_map_init(relock_map_t *map, relock_class_t *lock_class, relock_map_part_t *parts,
                    size_t part_count, relock_map_node_t **buckets, size_t bucket_count,
                    relock_hash_t hash, relock_equal_t equal) {
  if (!is_power_of_two(part_count) || !is_power_of_two(bucket_count) || bucket_count < part_count ||
      !parts || !buckets || !hash || !equal)
    return EINVAL;
  *map = (relock_map_t){{
      .parts = parts,
      .buckets = buckets,
      .hash = hash,
      .equal = equal,
      .part_bits = (unsigned)__builtin_ctzl(part_count),
      .bucket_bits = (unsigned)__builtin_ctzl(bucket_count),
  }};
  memset(buckets, 0, bucket_count * sizeof(relock_map_node_t *));
  int error = 0;
  for (size_t i = 0; i < part_count && !error; i++)
    error = relock_mutex_init(&parts[i].relock_mutex, NULL, lock_class);
  return error;
}

int relock_map_spread(relock_map_t *map, unsigned servers) {
  if (servers > RELOCK_MAX_SERVERS)
    return EINVAL;
  for (size_t i = 0; i < (size_t)1 << map->relock_private.part_bits; i++)
    relock_mutex_set_server(&map->relock_private.parts[i].relock_mutex,
                            servers ? 1 + (unsigned)(i % servers) : 0);
  return 0;
}

int relock_map_get(relock_map_t *map, const void *key, void **value) {
  const uint64_t hash = map->relock_private.hash(key);
  const size_t bucket = bucket_of(map, hash);
  struct get_section section = {&map->relock_private.buckets[bucket], map->relock_private.equal,
                                hash, key, NULL};
  const int error =
      relock_execute_copy_any_thread(mutex_of(map, bucket), get_section, &section, sizeof section);
  if (!error)
    *value = section.value;
  return error;
}

int relock_map_put(relock_map_t *map, relock_map_node_t *node, relock_map_node_t **replaced) {
  if (!node)
    return EINVAL;
  node->relock_hash = map->relock_private.hash(node->key);
  const size_t bucket = bucket_of(map, node->relock_hash);
  struct put_section section = {&map->relock_private.buckets[bucket], map->relock_private.equal,
                                node, NULL};
  relock_execute_copy_any_thread(mutex_of(map, bucket), put_section, &section, sizeof section);
  *replaced = section.replaced;
  return 0;
}

relock_map_node_t *relock_map_remove(relock_map_t *map, const void *key) {
  const uint64_t hash = map->relock_private.hash(key);
  const size_t bucket = bucket_of(map, hash);
  struct remove_section section = {&map->relock_private.buckets[bucket], map->relock_private.equal,
                                   hash, key, NULL};
  relock_execute_copy_any_thread(mutex_of(map, bucket), remove_section, &section, sizeof section);
  return section.removed;
}

relock_map_node_t *relock_map_clear(relock_map_t *map) {
  const size_t parts = (size_t)1 << map->relock_private.part_bits;
  const size_t buckets_of_part = ((size_t)1 << map->relock_private.bucket_bits) / parts;
  struct clear_section section = {.end = map->relock_private.buckets};
  for (size_t i = 0; i < parts; i++) {
    section.from = section.end;
    section.end = section.from + buckets_of_part;
    relock_execute_copy_any_thread(&map->relock_private.parts[i].relock_mutex, clear_section,
                                   &section, sizeof section);
  }
  return section.first;
}

int relock_map_destroy(relock_map_t *map) {
  for (size_t i = 0; i < (size_t)1 << map->relock_private.bucket_bits; i++)
    if (map->relock_private.buckets[i])
      return EBUSY;
  int error = 0;
  for (size_t i = 0; i < (size_t)1 << map->relock_private.part_bits && !error; i++)
    error = relock_mutex_destroy(&map->relock_private.parts[i].relock_mutex);
  return error;
}
