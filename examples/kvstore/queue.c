/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "queue.h"

#define QUEUE_LOCK(q)                      \
    do {                                   \
        pthread_mutex_lock(&(q)->lock);    \
    } while (0)

#define QUEUE_UNLOCK(q)                    \
    do {                                   \
        pthread_mutex_unlock(&(q)->lock);  \
    } while (0)

struct queue *queue_create(unsigned size)
{
    struct queue *q = calloc(1, sizeof(*q));

    if (q == NULL)
        return NULL;
    q->slots = calloc(size, sizeof(*q->slots));
    if (q->slots == NULL) {
        free(q);
        return NULL;
    }
    q->size = size;
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->not_empty, NULL);
    pthread_cond_init(&q->not_full, NULL);
    return q;
}

void queue_destroy(struct queue *q)
{
    pthread_cond_destroy(&q->not_full);
    pthread_cond_destroy(&q->not_empty);
    pthread_mutex_destroy(&q->lock);
    free(q->slots);
    free(q);
}

/* Caller holds the lock and has seen that there is room. */
static void append(struct queue *q, void *entry)
{
    q->slots[(q->first + q->used) % q->size] = entry;
    q->used++;
    if (q->used > q->highest)
        q->highest = q->used;
    pthread_cond_signal(&q->not_empty);
}

int queue_push(struct queue *q, void *entry)
{
    QUEUE_LOCK(q);
    while (q->used == q->size && !q->closed)
        pthread_cond_wait(&q->not_full, &q->lock);
    if (q->closed) {
        QUEUE_UNLOCK(q);
        return -1;
    }
    append(q, entry);
    QUEUE_UNLOCK(q);
    return 0;
}

int queue_try_push(struct queue *q, void *entry)
{
    QUEUE_LOCK(q);
    if (q->used == q->size || q->closed) {
        QUEUE_UNLOCK(q);
        return -1;
    }
    append(q, entry);
    QUEUE_UNLOCK(q);
    return 0;
}

void *queue_pop(struct queue *q)
{
    void *entry = NULL;

    QUEUE_LOCK(q);
    while (q->used == 0 && !q->closed)
        pthread_cond_wait(&q->not_empty, &q->lock);
    if (q->used > 0) {
        entry = q->slots[q->first];
        q->first = (q->first + 1) % q->size;
        q->used--;
        pthread_cond_signal(&q->not_full);
    }
    QUEUE_UNLOCK(q);
    return entry;
}

/* Entries that are in the queue still come out; nothing more goes in. */
void queue_close(struct queue *q)
{
    QUEUE_LOCK(q);
    q->closed = 1;
    pthread_cond_broadcast(&q->not_empty);
    pthread_cond_broadcast(&q->not_full);
    QUEUE_UNLOCK(q);
}

unsigned queue_highest(struct queue *q)
{
    unsigned highest;

    QUEUE_LOCK(q);
    highest = q->highest;
    QUEUE_UNLOCK(q);
    return highest;
}
