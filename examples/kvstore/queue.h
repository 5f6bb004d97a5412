/* SPDX-License-Identifier: MIT
 *
 * A bounded queue of pointers, first in, first out.
 */
#ifndef KVSTORE_QUEUE_H
#define KVSTORE_QUEUE_H

#include <pthread.h>

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t  not_empty;
    pthread_cond_t  not_full;
    void          **slots;
    unsigned        size;
    unsigned        first;
    unsigned        used;
    unsigned        highest; /* most entries ever in use */
    int             closed;
};

struct queue *queue_create(unsigned size);
void          queue_destroy(struct queue *q);
int           queue_push(struct queue *q, void *entry);     /* waits for room */
int           queue_try_push(struct queue *q, void *entry); /* -1: no room */
void         *queue_pop(struct queue *q);                   /* NULL: closed and empty */
void          queue_close(struct queue *q);
unsigned      queue_highest(struct queue *q);

#endif
