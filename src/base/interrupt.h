/* SPDX-License-Identifier: Apache-2.0 */
/* Ctrl-C while something has to be tidied up: a child that runs, a temporary folder. */
#ifndef DVI_BASE_INTERRUPT_H
#define DVI_BASE_INTERRUPT_H

#include <stdbool.h>

/**
 * For a program, not for a library: SIGHUP, SIGINT and SIGTERM no longer end it at once. dvi_run()
 * then stops what it runs and fails, now and from then on, so that the caller comes to its end and
 * tidies up. A signal that is ignored stays so.
 */
void dvi_interrupts_catch(void);
bool dvi_interrupted(void);
/** End as the signal would have ended the program; does nothing where none came. */
void dvi_interrupts_end(void);

#endif
