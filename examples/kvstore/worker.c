/* SPDX-License-Identifier: MIT
 *
 * Worker pool. Jobs come through a bounded queue; the pool counts those that are not finished.
 */
#include <stdlib.h>

#include "log.h"
#include "queue.h"
#include "stats.h"
#include "worker.h"

#define QUEUE_SIZE 256

static struct pool {
    pthread_mutex_t lock;
    pthread_cond_t  quiet;
    unsigned        pending;
    unsigned        threads;
    int             stopping;
    pthread_t      *thread;
    struct queue   *jobs;
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER, .quiet = PTHREAD_COND_INITIALIZER };

static uint64_t next_job_id(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static uint64_t last;
    uint64_t id;

    pthread_mutex_lock(&lock);
    id = ++last;
    pthread_mutex_unlock(&lock);
    return id;
}

/* One job less; wakes who waits for the last one. */
static void job_over(struct job *job)
{
    MUTEX_LOCK(&pool.lock);
    pool.pending--;
    if (pool.pending == 0) {
        pthread_cond_broadcast(&pool.quiet);
        MUTEX_UNLOCK(&pool.lock);
        log_write(LOG_DEBUG, "job %llu was the last one", (unsigned long long)job->id);
    } else {
        MUTEX_UNLOCK(&pool.lock);
    }
}

static void *work(void *unused)
{
    struct job *job;

    (void)unused;
    while ((job = queue_pop(pool.jobs)) != NULL) {
        job->run(job);
        stats_add(STAT_JOBS, 1, 0);
        job_over(job);
        if (!job->keep) {
            free(job->data);
            free(job);
            continue;
        }
        pthread_mutex_lock(&job->lock);
        job->done = 1;
        pthread_cond_signal(&job->finished);
        pthread_mutex_unlock(&job->lock);
    }
    return NULL;
}

int workers_start(unsigned threads)
{
    unsigned i;

    pool.jobs = queue_create(QUEUE_SIZE);
    pool.thread = calloc(threads, sizeof(*pool.thread));
    if (pool.jobs == NULL || pool.thread == NULL)
        return -1;
    for (i = 0; i < threads; i++) {
        if (pthread_create(&pool.thread[i], NULL, work, NULL) != 0)
            return -1;
    }
    pool.threads = threads;
    return 0;
}

int workers_submit(struct job *job)
{
    job->id = next_job_id();

    MUTEX_LOCK(&pool.lock);
    if (pool.stopping) {
        MUTEX_UNLOCK(&pool.lock);
        return -1;
    }
    pool.pending++;
    MUTEX_UNLOCK(&pool.lock);

    /* usually there is room; a full queue makes the client wait */
    if (queue_try_push(pool.jobs, job) != 0 && queue_push(pool.jobs, job) != 0) {
        job_over(job);
        return -1;
    }
    return 0;
}

int workers_run(struct job *job)
{
    int result;

    job->keep = 1;
    job->done = 0;
    pthread_mutex_init(&job->lock, NULL);
    pthread_cond_init(&job->finished, NULL);

    result = workers_submit(job);
    if (result == 0) {
        pthread_mutex_lock(&job->lock);
        while (!job->done)
            pthread_cond_wait(&job->finished, &job->lock);
        pthread_mutex_unlock(&job->lock);
    }
    pthread_cond_destroy(&job->finished);
    pthread_mutex_destroy(&job->lock);
    return result;
}

void workers_drain(void)
{
    MUTEX_LOCK(&pool.lock);
    while (pool.pending > 0)
        pthread_cond_wait(&pool.quiet, &pool.lock);
    MUTEX_UNLOCK(&pool.lock);
}

void workers_stop(void)
{
    unsigned i;

    MUTEX_LOCK(&pool.lock);
    pool.stopping = 1;
    MUTEX_UNLOCK(&pool.lock);

    queue_close(pool.jobs);
    for (i = 0; i < pool.threads; i++)
        pthread_join(pool.thread[i], NULL);
    log_write(LOG_INFO, "the job queue held at most %u jobs", queue_highest(pool.jobs));
    queue_destroy(pool.jobs);
    free(pool.thread);
}
