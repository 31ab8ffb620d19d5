/* SPDX-License-Identifier: Apache-2.0 */
#include "base/interrupt.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

enum { SIGNALS = 4 };
static const int signals[SIGNALS] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };

static volatile sig_atomic_t came; /* the first signal; 0: none */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for what follows */
static unsigned depth;                                   /* calls that have not ended */
static struct sigaction before[SIGNALS];
static bool caught[SIGNALS];

static void remember(int signal)
{
    if (came == 0)
        came = signal;
}

static void catch_all(void)
{
    const struct sigaction catcher = { .sa_handler = remember };
    for (size_t i = 0; i < SIGNALS; i++)
        caught[i] = sigaction(signals[i], NULL, &before[i]) == 0 &&
                    before[i].sa_handler == SIG_DFL && sigaction(signals[i], &catcher, NULL) == 0;
}

static void restore_all(void)
{
    for (size_t i = 0; i < SIGNALS; i++)
        if (caught[i])
            (void)sigaction(signals[i], &before[i], NULL);
}

void dvi_interrupts_catch(void)
{
    (void)pthread_mutex_lock(&lock);
    if (depth++ == 0)
        catch_all();
    (void)pthread_mutex_unlock(&lock);
}

bool dvi_interrupted(void)
{
    return came != 0;
}

void dvi_interrupts_end(void)
{
    (void)pthread_mutex_lock(&lock);
    const bool outermost = depth == 1;
    if (depth > 0)
        depth--;
    if (outermost)
        restore_all();
    (void)pthread_mutex_unlock(&lock);
    if (outermost && came != 0)
        (void)raise(came);
}
