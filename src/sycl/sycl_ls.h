/* SPDX-License-Identifier: Apache-2.0 */
/* What sycl-ls lists. */
#ifndef DVI_SYCL_SYCL_LS_H
#define DVI_SYCL_SYCL_LS_H

#include "base/arena.h"

/** A device as one backend shows it. Texts are in the arena. */
struct dvi_sycl_device {
    const char *backend;      /* "opencl", "level_zero", "cuda", "hip", "native_cpu", ... */
    const char *type;         /* "cpu", "gpu", "acc", ... */
    const char *text;         /* what stands behind the tags */
    const char *name;         /* of that, without platform, versions and driver */
    const char *architecture; /* the first name of `--verbose`: "intel_gpu_bmg_g21"; NULL */
    const char *aliases;      /* its further names, comma-separated; NULL */
    const char *target;       /* its entry of -fsycl-targets; NULL: not told */
    uint64_t ip_version;      /* of an Intel GPU; DEVIMG_UNKNOWN */
    uint64_t pci_id;          /* of an Intel GPU; DEVIMG_UNKNOWN */
    bool again;               /* a GPU that stands in the list already, through another backend */
};

struct dvi_sycl_ls {
    DVI_LIST(struct dvi_sycl_device) devices; /* in the order listed */
    bool filtered; /* an environment variable hides some, as sycl-ls says */
};

/**
 * Read the output of `sycl-ls` or `sycl-ls --verbose`: lines that start with a tag, `[opencl:cpu]`,
 * `[opencl:cpu:0]` or `[opencl:cpu][opencl:0]`, and the blocks of --verbose, which stand in the
 * same order; a block of another type or name tells nothing. What is no such line does not count.
 * Source: intel/llvm sycl/tools/sycl-ls/sycl-ls.cpp; outputs of 2022 to 2026 (tests/data/sycl-ls).
 * @return LIMIT past 4096 devices, NOMEM.
 */
DEVIMG_CHECKED enum devimg_status dvi_sycl_ls_read(struct dvi_view text, struct dvi_arena *arena,
                                                   struct dvi_sycl_ls *out,
                                                   struct devimg_error *err);
void dvi_sycl_ls_free(struct dvi_sycl_ls *list);
/** Does the text say that ONEAPI_DEVICE_SELECTOR, or an older variable, hides devices? */
bool dvi_sycl_ls_says_filtered(struct dvi_view text);
/** Is there a device of that backend and type? */
bool dvi_sycl_ls_has(const struct dvi_sycl_ls *list, const char *backend, const char *type);

#endif
