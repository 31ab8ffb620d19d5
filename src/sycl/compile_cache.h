/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What compiles gave, kept by the bytes that went into them. Times of files only tell whether their
 * bytes must be read again.
 */
#ifndef DVI_SYCL_COMPILE_CACHE_H
#define DVI_SYCL_COMPILE_CACHE_H

#include <time.h>

#include "base/arena.h"
#include "base/sha256.h"

struct dvi_cache;

/** How a compiler ended, and what it printed. */
struct dvi_cached {
    int exit_code;
    uint64_t milliseconds;
    const char *log; /* `log_size` bytes and a NUL */
    size_t log_size;
};

/** Open a folder, or make it and those above it. IO, NOMEM. */
DEVIMG_CHECKED enum devimg_status dvi_cache_open(const char *folder, struct dvi_cache **out,
                                                 struct devimg_error *err);
/** Write down which bytes files had, and free it; NULL is fine. */
void dvi_cache_close(struct dvi_cache *cache);

/** Of the bytes of a regular file; false: there is none that can be read, and `out` is 0. */
bool dvi_cache_digest(struct dvi_cache *cache, const char *path, uint8_t out[DVI_SHA256_SIZE]);

/**
 * The result kept as `id`, when every file that it came from holds the same bytes as then.
 * @param arena  gets the log
 */
bool dvi_cache_find(struct dvi_cache *cache, const char *id, struct dvi_arena *arena,
                    struct dvi_cached *out);
/** The clock by which files are dated. */
struct timespec dvi_cache_now(void);
/** Wait, a few milliseconds, until the clock has moved: a file that was written before has another
 *  date than one that is written from now on. */
void dvi_cache_settle(void);
/**
 * Keep a result, unless one of the `count` files that it came from was changed since `started`, or
 * is not there: then nobody knows which bytes were read. A cache that cannot be written is no
 * failure: the unit is compiled again.
 */
void dvi_cache_keep(struct dvi_cache *cache, const char *id, const char *const *paths, size_t count,
                    struct timespec started, const struct dvi_cached *result);

#endif
