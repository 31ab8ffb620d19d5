/* SPDX-License-Identifier: Apache-2.0 */
/* What a file carries, target by target: the rows and counts that `list` and `check` open with. */
#ifndef DVI_OUTPUT_SUMMARY_H
#define DVI_OUTPUT_SUMMARY_H

#include <stdio.h>

#include "base/arena.h"

/** How an image gets to run; the order of the rows. */
enum dvi_class {
    DVI_CLASS_NATIVE,   /* machine code of its target */
    DVI_CLASS_PORTABLE, /* the driver compiles it: SPIR-V, PTX */
    DVI_CLASS_EMBEDDED, /* portable code inside an archive of native images: no fallback by itself
                         */
    DVI_CLASS_OTHER,    /* neither: bitcode before the link, or not known */
    DVI_CLASS_ARCHIVE,  /* holds images; what is in it has rows of its own */
    DVI_CLASS_SUPPORT   /* device libraries and empty images */
};
enum dvi_class dvi_image_class(const struct devimg_image *image);

/** Bitcode of a portable target in an object that is not linked: the link makes the fallback of it. */
bool dvi_is_link_fallback(const struct devimg_file *file, const struct devimg_image *image);

/** A sum of which some parts may be unknown. */
struct dvi_total {
    uint64_t sum;
    uint32_t known, unknown; /* parts */
};
void dvi_total_add(struct dvi_total *total, uint64_t part);

/** The images of one class, target and format. */
struct dvi_group {
    const struct devimg_image *first;
    enum dvi_class class;
    uint32_t image_count;
    struct dvi_total kernels, stored, size;
    uint32_t compressed[DEVIMG_COMPRESSION_LZ4 + 1]; /* images by compression, their parents' too */
};

struct dvi_summary {
    DVI_LIST(struct dvi_group) groups; /* by class, IP version, target, format */
    unsigned offloads;                 /* bit n: an image of enum devimg_offload n; UNKNOWN, too */
    uint32_t image_count;
    uint32_t module_count;       /* without those that are support images alone */
    uint32_t native_count;       /* targets with native code in some module */
    uint32_t everywhere_count;   /* and in every module */
    uint32_t jit_modules;        /* modules with portable code, or bitcode for it */
    uint32_t native_modules;     /* modules with native code */
    uint32_t jit_native_modules; /* modules with both */
    uint32_t link_modules;       /* modules with both, the portable one bitcode for the link */
    uint32_t relinked_modules;   /* of a CUDA device link, whose input alone holds PTX */
    uint32_t unread_modules;     /* modules of which no native code was seen, and a part not read */
    uint32_t top_count;          /* images that are no members of another */
    uint32_t support_count, family_count, raw_count, unregistered_count;
    uint64_t raw_size, unregistered_size; /* bytes, as far as they are known */
    bool damaged;
    bool behind; /* what could not be read is no damage: devimg does not know it yet */
};

/** @return false: out of memory. Free it in either case. */
bool dvi_summarize(const struct devimg_file *file, struct dvi_summary *out);
/** The same of the images of one offload kind alone. */
bool dvi_summarize_offload(const struct devimg_file *file, enum devimg_offload offload,
                           struct dvi_summary *out);
void dvi_summary_free(struct dvi_summary *summary);
/** A file that holds device code of `file` and was not read, as one of its records names it; NULL:
 *  there is none. */
const char *dvi_elsewhere(const struct devimg_file *file);
/** "no device code", or where it is: for a file of which no image was found. */
void dvi_print_nothing(FILE *out, const struct devimg_file *file);
/** "; the targets are dg2-g10 tgllp spir64", where images state one: what may be asked for where
 *  nothing was found. @return false: out of memory. */
bool dvi_print_targets(FILE *out, const struct devimg_file *file);

/**
 * The targets of a module, each once: NULL behind the last. `*at` starts at 0. A module has few
 * images; a hostile file may say otherwise, so the look back is bounded, and a target may then be
 * told again.
 */
const char *dvi_module_target(const struct devimg_file *file, const struct devimg_module *module,
                              uint32_t *at);

/** The compression an image is under: its own, or that of the archive it is a member of. */
enum devimg_compression dvi_image_compression(const struct devimg_file *file, uint32_t index);
/** Bytes the image takes in the file; DEVIMG_UNKNOWN for a member of something compressed. */
uint64_t dvi_image_stored(const struct devimg_file *file, uint32_t index);

#endif
