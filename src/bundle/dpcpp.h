/* SPDX-License-Identifier: Apache-2.0 */
/* What the readers of DPC++ descriptors share: which unit one came from, and who registers it. */
#ifndef DVI_BUNDLE_DPCPP_H
#define DVI_BUNDLE_DPCPP_H

#include "bundle/bundle.h"

/** One library descriptor (`__sycl.tgt_bin_desc`). */
struct dvi_descriptor {
    uint64_t addr;
    uint32_t image_count;
    uint64_t images_addr;          /* of the image struct array */
    enum devimg_answer registered; /* handed to __sycl_register_lib */
    const char *target;            /* of its first image; NULL: none that can be read */
    uint32_t run;                  /* wrappers that follow one source file; see units.c */
    const char *unit;              /* source file, where symbols tell it */
};

/** Fill `registered` of each; `descriptors` are sorted by addr. LIMIT, NOMEM. */
DEVIMG_CHECKED enum devimg_status dvi_registration_read(struct dvi_object *object,
                                                        struct dvi_descriptor *descriptors,
                                                        size_t count, struct devimg_error *err);

/** Fill `unit` of each; `descriptors` are sorted by addr. LIMIT, NOMEM. */
DEVIMG_CHECKED enum devimg_status dvi_units_read(struct dvi_object *object,
                                                 struct dvi_descriptor *descriptors, size_t count,
                                                 struct devimg_error *err);

/** The descriptor at `addr`, or NULL. */
struct dvi_descriptor *dvi_descriptor_at(struct dvi_descriptor *descriptors, size_t count,
                                         uint64_t addr);

#endif
