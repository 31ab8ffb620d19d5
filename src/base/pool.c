/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/limits.h"

struct pool {
    dvi_pool_work *work;
    void *context;
    size_t count;
    atomic_size_t next;
};

struct worker {
    struct pool *pool;
    unsigned number;
};

static void *run_worker(void *argument)
{
    const struct worker *w = argument;
    for (;;) {
        const size_t index = atomic_fetch_add(&w->pool->next, 1);
        if (index >= w->pool->count)
            return NULL;
        w->pool->work(w->pool->context, index, w->number);
    }
}

unsigned dvi_pool_cores(void)
{
    cpu_set_t cores;
    const long count =
        sched_getaffinity(0, sizeof cores, &cores) == 0
            ? CPU_COUNT(&cores)
            : sysconf(_SC_NPROCESSORS_ONLN); /* more cores than the set has room for */
    return count < 1 ? 1 : count > DVI_MOST_THREADS ? DVI_MOST_THREADS : (unsigned)count;
}

void dvi_pool_run(size_t count, unsigned threads, dvi_pool_work *work, void *context)
{
    struct pool pool = { .work = work, .context = context, .count = count };
    struct worker workers[DVI_MOST_THREADS];
    pthread_t handles[DVI_MOST_THREADS];
    unsigned started = 0;
    if (threads > DVI_MOST_THREADS)
        threads = DVI_MOST_THREADS;
    for (unsigned i = 0; i < threads || i == 0; i++)
        workers[i] = (struct worker){ &pool, i };
    for (unsigned i = 1; i < threads && i < count; i++) {
        if (pthread_create(&handles[started], NULL, run_worker, &workers[i]) != 0)
            break;
        started++;
    }
    (void)run_worker(&workers[0]);
    for (unsigned i = 0; i < started; i++)
        (void)pthread_join(handles[i], NULL);
}
