/* SPDX-License-Identifier: MIT
 *
 * Load generator. Each client draws operations from its own random sequence:
 *
 *   - cached values, on keys that all clients share: get, and on a miss make the value and set
 *     it. The value follows from the key, so that evictions do not change a result;
 *   - private keys, pinned: set, get and delete, whose results follow from the sequence;
 *   - shared counters: each value from 1 on is returned to exactly one client.
 *
 * The checksum is a sum over all results. It does not depend on the order in which clients run,
 * but one lost update or one wrong byte changes it. After the run the sequences are drawn once
 * more, without a store, to get the checksum and the counts that are expected.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "config.h"
#include "loadgen.h"
#include "log.h"
#include "quota.h"
#include "stats.h"
#include "worker.h"

#define PRIVATE_KEYS 32
#define COUNTERS     16
#define AUDIT_EVERY  256  /* operations between two audit jobs of a client */
#define AUDIT_KEYS   8
#define FLUSH_EVERY  64   /* operations between two updates of the statistics */
#define SAMPLE_EVERY 8    /* operations between two measured latencies */

enum kind { CACHED_GET, PRIVATE_SET, PRIVATE_GET, PRIVATE_DELETE, COUNTER_ADD };

struct operation {
    enum kind kind;
    unsigned  key;
};

/* What a client draws from and remembers; the same in the run and in the replay. */
struct sequence {
    uint64_t random;
    unsigned keys;
    unsigned client;
    unsigned version[PRIVATE_KEYS]; /* 0: not in the store */
    unsigned last_version;
    long     pinned; /* bytes, as far as the quota is concerned */
};

struct client {
    pthread_t        thread;
    struct sequence  sequence;
    struct store    *store;
    uint64_t         limit;    /* operations; 0: until the deadline */
    uint64_t         deadline;
    uint64_t         operations;
    uint64_t         checksum;
    uint64_t         hits, misses;
    int              failed;
    struct latencies latencies;
};

struct audit {
    struct store *store;
    unsigned      keys[AUDIT_KEYS];
    unsigned      audited;
};

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + t.tv_nsec;
}

static uint64_t mix(uint64_t x)
{
    x ^= x >> 31;
    x *= 0x7fb5d329728ea185ull;
    x ^= x >> 27;
    x *= 0x81dadef4bc2dd44dull;
    return x ^ (x >> 33);
}

static uint64_t draw(struct sequence *q)
{
    q->random ^= q->random << 13;
    q->random ^= q->random >> 7;
    q->random ^= q->random << 17;
    return q->random;
}

static void sequence_init(struct sequence *q, unsigned client)
{
    memset(q, 0, sizeof(*q));
    q->random = mix(config_get(SET_SEED) * 1000 + client + 1) | 1;
    q->keys = config_get(SET_KEYS);
    q->client = client;
}

static struct operation next_operation(struct sequence *q)
{
    uint64_t r = draw(q);
    unsigned percent = (r >> 8) % 100;
    struct operation op;

    if (percent < 70) {
        /* low keys are much more frequent, as in a real cache */
        op.kind = CACHED_GET;
        op.key = (r >> 24) % ((q->keys >> ((r >> 16) & 7)) + 1);
    } else if (percent < 80) {
        op.kind = PRIVATE_SET;
        op.key = (r >> 24) % PRIVATE_KEYS;
    } else if (percent < 90) {
        op.kind = PRIVATE_GET;
        op.key = (r >> 24) % PRIVATE_KEYS;
    } else if (percent < 93) {
        op.kind = PRIVATE_DELETE;
        op.key = (r >> 24) % PRIVATE_KEYS;
    } else {
        op.kind = COUNTER_ADD;
        op.key = (r >> 24) % COUNTERS;
    }
    return op;
}

/* Keys look like "c00001a2f" and "p03:00000007"; sprintf() would cost more than the store. */
static char *hex(char *at, unsigned value, int digits)
{
    while (digits-- > 0)
        *at++ = "0123456789abcdef"[(value >> (4 * digits)) & 15];
    *at = '\0';
    return at;
}

static void cached_key(char *key, unsigned number)
{
    *key++ = 'c';
    hex(key, number, 8);
}

static void private_key(char *key, unsigned client, unsigned number)
{
    *key++ = 'p';
    key = hex(key, client, 2);
    *key++ = ':';
    hex(key, number, 8);
}

static void counter_key(char *key, unsigned number)
{
    *key++ = 'n';
    hex(key, number, 8);
}

static void make_value(char *value, uint64_t origin)
{
    uint64_t words[VALUE_MAX / 8];
    unsigned i;

    words[0] = mix(origin);
    for (i = 1; i < VALUE_MAX / 8; i++)
        words[i] = words[i - 1] * 0x9e3779b97f4a7c15ull + i;
    memcpy(value, words, sizeof(words));
}

static uint64_t value_sum(const char *value)
{
    uint64_t words[VALUE_MAX / 8];
    uint64_t sum = 0;
    unsigned i;

    memcpy(words, value, sizeof(words));
    for (i = 0; i < VALUE_MAX / 8; i++)
        sum = sum * 31 + words[i];
    return sum;
}

#define CACHED_ORIGIN(key)                   ((uint64_t)(key) + 1)
#define PRIVATE_ORIGIN(client, key, version) \
    (((uint64_t)(client) + 1) << 48 | (uint64_t)(key) << 32 | (version))
#define COUNTER_RESULT(key, value)           mix((uint64_t)(key) << 40 ^ (value))
#define OTHER_RESULT(kind, result)           mix(((uint64_t)(kind) << 56) + (result) + 1)

/* A worker looks at some cached values, without moving them in the order of use. */
static void run_audit(struct job *job)
{
    struct audit *audit = job->data;
    char key[KEY_MAX + 1], value[VALUE_MAX], right[VALUE_MAX];
    uint32_t length;
    int i;

    for (i = 0; i < AUDIT_KEYS; i++) {
        cached_key(key, audit->keys[i]);
        audit->audited++;
        if (store_peek(audit->store, key, value, &length) != KV_OK)
            continue;
        make_value(right, CACHED_ORIGIN(audit->keys[i]));
        if (length != VALUE_MAX || memcmp(value, right, VALUE_MAX) != 0)
            stats_first_error(key);
    }
    stats_add(STAT_AUDITED, audit->audited, 0);
}

static int submit_audit(struct client *c)
{
    struct job *job = calloc(1, sizeof(*job));
    struct audit *audit = calloc(1, sizeof(*audit));
    int i;

    if (job == NULL || audit == NULL) {
        free(job);
        free(audit);
        return -1;
    }
    audit->store = c->store;
    for (i = 0; i < AUDIT_KEYS; i++)
        audit->keys[i] = (c->operations / AUDIT_EVERY * AUDIT_KEYS + i) % c->sequence.keys;
    job->run = run_audit;
    job->data = audit;
    return workers_submit(job);
}

static uint64_t do_cached_get(struct client *c, unsigned number)
{
    char key[KEY_MAX + 1], value[VALUE_MAX];
    uint32_t length;

    cached_key(key, number);
    if (store_get(c->store, key, value, &length) == KV_OK) {
        c->hits++;
        return value_sum(value);
    }
    c->misses++;
    make_value(value, CACHED_ORIGIN(number));
    if (store_set(c->store, key, value, VALUE_MAX, 0, config_get(SET_TTL)) != KV_OK)
        c->failed = 1;
    return value_sum(value);
}

static uint64_t do_private_set(struct client *c, unsigned number)
{
    struct sequence *q = &c->sequence;
    char key[KEY_MAX + 1], value[VALUE_MAX];

    private_key(key, q->client, number);
    if (q->version[number] == 0 && quota_charge(q->client, VALUE_MAX) != 0)
        return OTHER_RESULT(PRIVATE_SET, KV_FULL);
    q->version[number] = ++q->last_version;
    make_value(value, PRIVATE_ORIGIN(q->client, number, q->last_version));
    return OTHER_RESULT(PRIVATE_SET,
                        store_set(c->store, key, value, VALUE_MAX, ITEM_PINNED, 0));
}

static uint64_t do_private_get(struct client *c, unsigned number)
{
    char key[KEY_MAX + 1], value[VALUE_MAX];
    uint32_t length;

    private_key(key, c->sequence.client, number);
    if (store_get(c->store, key, value, &length) == KV_OK) {
        c->hits++;
        return value_sum(value);
    }
    c->misses++;
    return OTHER_RESULT(PRIVATE_GET, KV_MISS);
}

static uint64_t do_private_delete(struct client *c, unsigned number)
{
    char key[KEY_MAX + 1];
    uint32_t length = 0;
    int result;

    private_key(key, c->sequence.client, number);
    result = store_delete(c->store, key, &length);
    if (result == KV_OK)
        quota_release(c->sequence.client, length);
    c->sequence.version[number] = 0;
    return OTHER_RESULT(PRIVATE_DELETE, result);
}

static uint64_t do_counter_add(struct client *c, unsigned number)
{
    char key[KEY_MAX + 1];
    uint64_t value = 0;

    counter_key(key, number);
    if (store_increment(c->store, key, 1, &value) != KV_OK)
        c->failed = 1;
    return COUNTER_RESULT(number, value);
}

static uint64_t do_operation(struct client *c, struct operation op)
{
    switch (op.kind) {
    case CACHED_GET:     return do_cached_get(c, op.key);
    case PRIVATE_SET:    return do_private_set(c, op.key);
    case PRIVATE_GET:    return do_private_get(c, op.key);
    case PRIVATE_DELETE: return do_private_delete(c, op.key);
    case COUNTER_ADD:    return do_counter_add(c, op.key);
    }
    return 0;
}

/* Many operations per turn of the lock, so that the statistics do not become the hot lock. */
static void flush_statistics(struct client *c, uint64_t operations)
{
    STATS_LOCK();
    stats[STAT_OPERATIONS] += operations;
    stats[STAT_HITS] += c->hits;
    stats[STAT_MISSES] += c->misses;
    STATS_UNLOCK();
    c->hits = c->misses = 0;
}

static void *client_main(void *data)
{
    struct client *c = data;
    uint64_t flushed = 0;

    while (c->limit == 0 || c->operations < c->limit) {
        struct operation op = next_operation(&c->sequence);

        if (c->operations % SAMPLE_EVERY == 0) {
            uint64_t start = now_ns(), end;

            c->checksum += do_operation(c, op);
            end = now_ns();
            latency_record(&c->latencies, end - start);
            if (c->limit == 0 && end >= c->deadline) {
                c->operations++;
                break;
            }
        } else {
            c->checksum += do_operation(c, op);
        }
        c->operations++;

        if (c->operations % FLUSH_EVERY == 0) {
            flush_statistics(c, c->operations - flushed);
            flushed = c->operations;
        }
        if (c->operations % AUDIT_EVERY == 0 && submit_audit(c) != 0)
            c->failed = 1;
    }
    flush_statistics(c, c->operations - flushed);
    latency_merge(&c->latencies);
    return NULL;
}

/* What one operation must have returned, counters aside: those are counted. */
static uint64_t replay_operation(struct sequence *q, struct operation op,
                                 const uint64_t *cached_sums, uint64_t *counters, long quota)
{
    char value[VALUE_MAX];

    switch (op.kind) {
    case CACHED_GET:
        return cached_sums[op.key];
    case PRIVATE_SET:
        if (q->version[op.key] == 0) {
            if (quota != 0 && q->pinned + VALUE_MAX > quota)
                return OTHER_RESULT(PRIVATE_SET, KV_FULL);
            q->pinned += VALUE_MAX;
        }
        q->version[op.key] = ++q->last_version;
        return OTHER_RESULT(PRIVATE_SET, KV_OK);
    case PRIVATE_GET:
        if (q->version[op.key] == 0)
            return OTHER_RESULT(PRIVATE_GET, KV_MISS);
        make_value(value, PRIVATE_ORIGIN(q->client, op.key, q->version[op.key]));
        return value_sum(value);
    case PRIVATE_DELETE: {
        int result = q->version[op.key] == 0 ? KV_MISS : KV_OK;

        if (result == KV_OK)
            q->pinned -= VALUE_MAX;
        q->version[op.key] = 0;
        return OTHER_RESULT(PRIVATE_DELETE, result);
    }
    case COUNTER_ADD:
        counters[op.key]++;
        return 0;
    }
    return 0;
}

struct expectation {
    uint64_t checksum;
    uint64_t gets, deletes, increments, counters, audited, jobs;
    uint64_t digest; /* of the pinned items that are left */
    long     pinned[QUOTA_TENANTS];
};

static uint64_t digest_item(const char *key, uint64_t word)
{
    return word * (2 * (uint64_t)hash_key(key) + 1);
}

static void replay_client(const struct client *c, const uint64_t *cached_sums,
                          uint64_t *counters, struct expectation *e)
{
    long quota = config_get(SET_QUOTA);
    struct sequence q;
    uint64_t i;
    unsigned k;

    sequence_init(&q, c->sequence.client);
    for (i = 0; i < c->operations; i++) {
        struct operation op = next_operation(&q);

        e->checksum += replay_operation(&q, op, cached_sums, counters, quota);
        e->gets += op.kind == CACHED_GET || op.kind == PRIVATE_GET;
        e->deletes += op.kind == PRIVATE_DELETE;
        e->increments += op.kind == COUNTER_ADD;
    }
    e->jobs += c->operations / AUDIT_EVERY;
    e->audited += c->operations / AUDIT_EVERY * AUDIT_KEYS;

    for (k = 0; k < PRIVATE_KEYS; k++) {
        char key[KEY_MAX + 1], value[VALUE_MAX];
        uint64_t word;

        if (q.version[k] == 0)
            continue;
        private_key(key, q.client, k);
        make_value(value, PRIVATE_ORIGIN(q.client, k, q.version[k]));
        memcpy(&word, value, sizeof(word));
        e->digest += digest_item(key, word);
    }
    e->pinned[q.client] = q.pinned;
}

static int replay(const struct client *clients, unsigned threads, struct expectation *e)
{
    uint64_t counters[COUNTERS] = { 0 };
    unsigned keys = config_get(SET_KEYS);
    uint64_t *cached_sums = calloc(keys + 1, sizeof(*cached_sums));
    unsigned i;

    if (cached_sums == NULL)
        return -1;
    for (i = 0; i <= keys; i++) {
        char value[VALUE_MAX];

        make_value(value, CACHED_ORIGIN(i));
        cached_sums[i] = value_sum(value);
    }
    for (i = 0; i < threads; i++)
        replay_client(&clients[i], cached_sums, counters, e);
    for (i = 0; i < COUNTERS; i++) {
        char key[KEY_MAX + 1];
        uint64_t n;

        for (n = 1; n <= counters[i]; n++)
            e->checksum += COUNTER_RESULT(i, n);
        e->counters += counters[i] > 0;
        counter_key(key, i);
        e->digest += digest_item(key, counters[i]);
    }
    free(cached_sums);
    return 0;
}

static uint64_t differs(const char *what, uint64_t is, uint64_t expected)
{
    if (is == expected)
        return 0;
    log_write(LOG_ERROR, "%s: %llu, expected %llu", what, (unsigned long long)is,
              (unsigned long long)expected);
    return 1;
}

static uint64_t compare(struct store *s, const struct client *clients, unsigned threads,
                        const struct expectation *e)
{
    struct store_counts n;
    uint64_t operations = 0, wrong = 0, digest;
    unsigned i;

    for (i = 0; i < threads; i++) {
        operations += clients[i].operations;
        wrong += differs("failed operations of a client", clients[i].failed, 0);
        wrong += differs("pinned bytes", quota_used(i), e->pinned[i]);
    }
    store_counts(s, &n);
    wrong += differs("gets", n.gets, e->gets);
    wrong += differs("hits and misses", n.hits + n.misses, n.gets);
    wrong += differs("sets", n.created + n.replaced, n.sets + e->counters);
    wrong += differs("deletes", n.deletes, e->deletes);
    wrong += differs("increments", n.increments, e->increments);
    wrong += differs("items", n.items, n.created - n.deleted - n.evicted - n.expired);
    wrong += differs("hits in the statistics", stats_get(STAT_HITS), n.hits);
    wrong += differs("misses in the statistics", stats_get(STAT_MISSES), n.misses);
    wrong += differs("operations", stats_get(STAT_OPERATIONS), operations);
    wrong += differs("jobs", stats_get(STAT_JOBS), e->jobs + 1);
    wrong += differs("audited values", stats_get(STAT_AUDITED), e->audited);
    wrong += differs("wrong values", stats_get(STAT_WRONG), 0);

    store_freeze(s);
    digest = store_digest_pinned(s);
    store_thaw(s);
    wrong += differs("digest of the pinned items", digest, e->digest);
    return wrong;
}

/* The last job of a run; who waits for it knows that the workers still answer. */
static void run_nothing(struct job *job)
{
    (void)job;
}

int load_run(struct store *s, struct load_result *result)
{
    unsigned threads = config_get(SET_THREADS), i;
    struct client *clients = calloc(threads, sizeof(*clients));
    struct expectation *expected = calloc(1, sizeof(*expected));
    struct job last = { .run = run_nothing };
    uint64_t start;

    if (clients == NULL || expected == NULL)
        return -1;
    start = now_ns();
    for (i = 0; i < threads; i++) {
        clients[i].store = s;
        clients[i].limit = config_get(SET_OPERATIONS);
        clients[i].deadline = start + config_get(SET_SECONDS) * 1000000000u;
        sequence_init(&clients[i].sequence, i);
        if (pthread_create(&clients[i].thread, NULL, client_main, &clients[i]) != 0)
            return -1;
    }
    for (i = 0; i < threads; i++) {
        pthread_join(clients[i].thread, NULL);
        result->operations += clients[i].operations;
        result->checksum += clients[i].checksum;
    }
    result->seconds = (now_ns() - start) / 1e9;

    if (workers_run(&last) != 0)
        return -1;
    workers_drain();
    if (replay(clients, threads, expected) != 0)
        return -1;
    result->expected_checksum = expected->checksum;
    result->wrong = compare(s, clients, threads, expected);
    free(expected);
    free(clients);
    return 0;
}
