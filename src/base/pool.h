/* SPDX-License-Identifier: Apache-2.0 */
/* Independent pieces of work on several threads. */
#ifndef DVI_BASE_POOL_H
#define DVI_BASE_POOL_H

#include "base/view.h"

/** Called once for each index, by one of `threads` workers numbered from 0. */
typedef void dvi_pool_work(void *context, size_t index, unsigned worker);

/**
 * Run `work` for every index below `count` and wait. Indices are handed out in order. Uses the
 * calling thread alone for one thread, one piece, or where no thread can be started.
 */
void dvi_pool_run(size_t count, unsigned threads, dvi_pool_work *work, void *context);

/** The cores this process may use, at least 1. */
unsigned dvi_pool_cores(void);

#endif
