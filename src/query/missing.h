/* SPDX-License-Identifier: Apache-2.0 */
/* Which kernels have no native code for a target. */
#ifndef DVI_QUERY_MISSING_H
#define DVI_QUERY_MISSING_H

#include "target/target.h"

/** A kernel of a module that has no native code of it for a target. */
struct dvi_missing {
    const struct devimg_target *target;
    uint32_t module;
    const char *kernel; /* NULL: the module's kernels are not known */
    uint32_t fallback;  /* image that a driver compiles for the target, or bitcode of an object, of
                             which a link makes code for it; NONE */
    uint32_t other;     /* the same kernel is native in this module of its record; NONE */
    const char
        *settings; /* AMD: the settings of the target that are missing, where others are served;
                             NULL: all are */
};

/** What is missing of a file, by target as the set has them, then in the order of modules and names. */
struct dvi_missing_list {
    struct dvi_arena arena;
    DVI_LIST(struct dvi_missing) items;
    uint64_t kernel_count;  /* of all modules that hold kernels, one of several modules for each */
    uint64_t missing_count; /* of those, without native code for some target */
};

/**
 * Look at every module that holds kernels of the program; the kernels of the file must have been read.
 * @param targets  its known targets, each a GPU
 */
DEVIMG_CHECKED enum devimg_status dvi_missing_find(const struct devimg_file *file,
                                                   const struct dvi_target_set *targets,
                                                   struct dvi_missing_list *out,
                                                   struct devimg_error *err);
void dvi_missing_free(struct dvi_missing_list *list);

#endif
