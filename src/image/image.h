/* SPDX-License-Identifier: Apache-2.0 */
/* What one device image says of itself. One kind of device code a file, one row in images.def. */
#ifndef DVI_IMAGE_IMAGE_H
#define DVI_IMAGE_IMAGE_H

#include <stdatomic.h>

#include "base/arena.h"

/** What AMD code asks of a feature of its device that can be switched. */
enum dvi_amd_setting {
    DVI_AMD_NONE, /* the processor has no such feature */
    DVI_AMD_ANY,
    DVI_AMD_OFF,
    DVI_AMD_ON,
    DVI_AMD_OFF_IF_KNOWN /* off where the processor has the feature: older forms state "on" only */
};

/** Facts from the headers; numbers not stated are DEVIMG_UNKNOWN. */
struct dvi_image_facts {
    enum devimg_format format;
    uint64_t ip_version;          /* Intel product config */
    uint64_t product_family;      /* Intel zebin note 1 (or e_machine of the old form) */
    uint64_t core_family;         /* Intel zebin note 2, patch tokens */
    uint64_t stepping;            /* of the hardware; Intel patch tokens */
    uint64_t pointer_size;        /* GPU code: 4 or 8 bytes, of the host program */
    const char *target;           /* where the image itself names it ("spir64"); NULL otherwise */
    const char *triple;           /* of a device, in bitcode; NULL */
    uint64_t kernel_count;        /* where headers tell it */
    bool relocatable;             /* input of a device link */
    bool suffix_known;            /* CUDA: `target` has the "a" of its target, if it is one */
    const char *version;          /* of the format: SPIR-V "1.4", zebin "1.53"; NULL: not stated */
    const char *producer;         /* the tool that wrote it, as the image numbers it; NULL */
    const uint32_t *capabilities; /* SPIR-V: numbers of OpCapability, in order; NULL: not SPIR-V */
    uint32_t capability_count;
    const char *const *extensions; /* SPIR-V: OpExtension, in order */
    uint32_t extension_count;
    const char *note;   /* one line a reader should know, or NULL; in the arena or static */
    uint64_t processor; /* AMD: EF_AMDGPU_MACH of e_flags */
    enum dvi_amd_setting sramecc, xnack; /* AMD */
};

/** Where kernels go: filled by one worker, merged in order by the caller. */
struct dvi_kernel_sink {
    struct dvi_arena *arena;  /* for names */
    uint64_t most;            /* kernels of the file: LIMIT past it */
    _Atomic uint64_t *so_far; /* kernels of the file; NULL: those of this sink */
    _Atomic uint64_t *text;   /* bytes of YAML read of this file so far; NULL: not counted */
    uint64_t digest_left; /* bytes of code whose digest may still be taken; 0: none is asked for */
    DVI_LIST(struct devimg_kernel) kernels;
};

/** A kernel with every number unknown, added to the sink. MALFORMED: its name is longer than
 *  DVI_MOST_KERNEL_NAME; LIMIT, NOMEM. */
DEVIMG_CHECKED enum devimg_status dvi_kernel_add(struct dvi_kernel_sink *sink, struct dvi_view name,
                                                 struct devimg_kernel **out,
                                                 struct devimg_error *err);

/** Take the digest of a kernel's machine code, where that is asked for. Many kernels may name the same
 *  bytes: past a few times the image no more is taken. NOMEM. */
DEVIMG_CHECKED enum devimg_status dvi_kernel_digest(struct dvi_kernel_sink *sink,
                                                    struct devimg_kernel *kernel,
                                                    struct dvi_view code, struct devimg_error *err);

/** Every number unknown, no name. */
void dvi_kernel_unknown(struct devimg_kernel *out);

/** A row of image/images.def: src/image/<name>.c defines `dvi_image_<name>`. */
struct dvi_image_format {
    const char *name;
    enum devimg_format format;
    bool (*match)(struct dvi_view image);
    enum devimg_status (*facts)(struct dvi_view image, struct dvi_arena *arena,
                                struct dvi_image_facts *out, struct devimg_error *err);
    /* NULL: this kind has no kernels that can be listed. END: this image has none that can. */
    enum devimg_status (*kernels)(struct dvi_view image, struct dvi_kernel_sink *sink,
                                  struct devimg_error *err);
};

/** The row that reads these bytes, or NULL. */
const struct dvi_image_format *dvi_image_format_of(struct dvi_view image);

/** "12.55.8" for an IP version. `out` holds 24 bytes. */
void dvi_ip_text(uint64_t ip_version, char out[24]);
/**
 * The version that fills `text`: "12.55.8", or with `between` instead of the dots. False: it is
 * none (a number out of its range, with leading zeros, or with anything around it).
 */
bool dvi_ip_of_text(struct dvi_view text, char between, uint64_t *out);
#define DVI_IP(arch, release, revision) \
    ((uint64_t)(arch) << 22 | (uint64_t)(release) << 14 | (uint64_t)(revision))

#endif
