/* SPDX-License-Identifier: Apache-2.0 */
/* The regular files of folders, in byte order of their names. */
#ifndef DVI_BASE_WALK_H
#define DVI_BASE_WALK_H

#include "base/arena.h"

struct dvi_walked {
    const char *path;
    uint64_t size, device, inode; /* the last two: which file it is, whatever its path */
};

/** What could not be looked at. */
struct dvi_walk_fault {
    const char *path;
    struct devimg_error error;
};

/** Start with { 0 }; free with dvi_walk_free(). */
struct dvi_walk {
    struct dvi_arena arena;
    DVI_LIST(struct dvi_walked) files;
    DVI_LIST(struct dvi_walk_fault) faults;
};

/**
 * Add a file, or the files below a folder whose names are `wanted`. Links to files count as files;
 * links to folders, and what is called ".something", are passed over. What cannot be looked at is a
 * fault.
 * @return LIMIT past 1,000,000 files; NOMEM.
 */
DEVIMG_CHECKED enum devimg_status dvi_walk_add(struct dvi_walk *walk, const char *path,
                                               bool (*wanted)(const char *name),
                                               struct devimg_error *err);
void dvi_walk_free(struct dvi_walk *walk);

#endif
