/* SPDX-License-Identifier: MIT
 *
 * Worker pool: jobs that clients do not want to do themselves.
 */
#ifndef KVSTORE_WORKER_H
#define KVSTORE_WORKER_H

#include <pthread.h>
#include <stdint.h>

struct job {
    void          (*run)(struct job *job);
    void           *data;
    uint64_t        id;
    int             keep; /* the submitter waits for it and owns it */
    int             done;
    pthread_mutex_t lock;
    pthread_cond_t  finished;
};

int  workers_start(unsigned threads);
void workers_stop(void);
int  workers_submit(struct job *job); /* takes ownership of a job from malloc() */
int  workers_run(struct job *job);    /* waits until the job has run */
void workers_drain(void);             /* waits until nothing is queued or running */

#endif
