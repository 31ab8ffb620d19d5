/* SPDX-License-Identifier: Apache-2.0 */
/* Ctrl-C while something has to be tidied up: a child that runs, a temporary folder. */
#ifndef DVI_BASE_INTERRUPT_H
#define DVI_BASE_INTERRUPT_H

#include <stdbool.h>

/**
 * SIGHUP, SIGINT, SIGQUIT and SIGTERM no longer end the program at once, where they would have: a
 * signal that is ignored, or has a handler, stays so. dvi_run() then stops what it runs and fails,
 * now and from then on, so that the caller comes to its end and tidies up.
 *
 * Each call has its dvi_interrupts_end(). dvi_run() does both, so that no child outlives Ctrl-C; a
 * caller that has more to tidy up, such as a temporary folder, does both around all of it. Threads:
 * any.
 */
void dvi_interrupts_catch(void);
bool dvi_interrupted(void);
/** The outermost: as before the first dvi_interrupts_catch(), and the signal, if one came, ends the
 *  program. */
void dvi_interrupts_end(void);

#endif
