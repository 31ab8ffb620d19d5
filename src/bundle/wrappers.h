/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrappers: what host code hands to the runtime of CUDA or HIP, one for each fat binary that it
 * registers. 24 bytes: magic u32, version u32, address u64 of the fat binary, u64.
 */
#ifndef DVI_BUNDLE_WRAPPERS_H
#define DVI_BUNDLE_WRAPPERS_H

#include "bundle/bundle.h"

enum { DVI_WRAPPER_SIZE = 24 };

struct dvi_wrapper {
    uint64_t target; /* address of the fat binary: first, see dvi_sort_by_addr() */
    uint64_t addr;   /* its own */
    const char *unit;
    struct dvi_view bytes;
    uint32_t version;
    bool used; /* its fat binary was found */
};

struct dvi_wrappers {
    struct dvi_object *object;
    struct dvi_found *found;
    const char *vendor;   /* "HIP" */
    const char *one;      /* what a wrapper names: "bundle" */
    const char *sections; /* where it stands: ".hip_fatbin" */
    /* Is it a wrapper? `*lists`, true before: it names a fat binary of this file. */
    bool (*known)(struct dvi_wrappers *w, struct dvi_view bytes, uint64_t target, bool *lists);
    DVI_LIST(struct dvi_wrapper) list;
    bool unread;           /* some could not be read */
    unsigned damaged_left; /* places that may still be said */
};

/** Read a section of them. Damage is kept; NOMEM. */
DEVIMG_CHECKED enum devimg_status dvi_wrappers_read(struct dvi_wrappers *w,
                                                    const struct dvi_section *section,
                                                    struct devimg_error *err);
/** Each unit has its own wrapper, a local symbol of that unit's file, as a SYCL descriptor is: fill `unit`,
 *  after the last section. LIMIT, NOMEM. */
DEVIMG_CHECKED enum devimg_status dvi_wrappers_name_units(struct dvi_wrappers *w,
                                                          struct devimg_error *err);
/** After the last section, before they are looked up. NOMEM. */
DEVIMG_CHECKED enum devimg_status dvi_wrappers_sort(struct dvi_wrappers *w,
                                                    struct devimg_error *err);
/** Mark those of the fat binary at `addr` used: the highest version of them; 0: none names it. `*unit`: the
 *  one that all of them are of, or NULL. */
uint32_t dvi_wrappers_take(struct dvi_wrappers *w, uint64_t addr, const char **unit);
/** What no wrapper names is not registered: every wrapper there is was read, with its address. */
bool dvi_wrappers_are_all(const struct dvi_wrappers *w);
/** Say of each unused one that it names nothing; `is_own`: is the section one of fat binaries? NOMEM. */
DEVIMG_CHECKED enum devimg_status dvi_wrappers_say_lost(
    struct dvi_wrappers *w,
    bool (*is_own)(const struct dvi_object *object, const struct dvi_section *section),
    struct devimg_error *err);
void dvi_wrappers_free(struct dvi_wrappers *w);

#endif
