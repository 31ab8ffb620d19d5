/* SPDX-License-Identifier: Apache-2.0 */
#include "base/interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t came; /* the first signal; 0: none */

static void remember(int signal)
{
    if (came == 0)
        came = signal;
}

void dvi_interrupts_catch(void)
{
    static const int signals[] = { SIGHUP, SIGINT, SIGTERM };
    const struct sigaction catcher = { .sa_handler = remember };
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction now;
        if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
            (void)sigaction(signals[i], &catcher, NULL);
    }
}

bool dvi_interrupted(void)
{
    return came != 0;
}

void dvi_interrupts_end(void)
{
    const struct sigaction standard = { .sa_handler = SIG_DFL };
    if (came == 0)
        return;
    (void)sigaction(came, &standard, NULL);
    (void)raise(came);
}
