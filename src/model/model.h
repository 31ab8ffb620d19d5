/* SPDX-License-Identifier: Apache-2.0 */
/* From a file to its records: what devimg_open() builds. */
#ifndef DVI_MODEL_MODEL_H
#define DVI_MODEL_MODEL_H

#include <stdatomic.h>

#include "base/file.h"
#include "bundle/bundle.h"
#include "codec/codec.h"
#include "image/image.h"

/** Findings that were kept while a stored image was looked at: a range of `findings`. */
struct dvi_said {
    uint32_t first, count;
};

struct devimg_file {
    struct dvi_file bytes;
    DVI_LIST(struct dvi_file) others; /* members of a thin archive that have images */
    const char *path;                 /* where it lies; NULL: opened without one */
    const char *name;                 /* as it was opened */
    struct devimg_opts opts;          /* with the defaults filled in */
    struct dvi_arena arena;
    DVI_LIST(struct devimg_record) records;
    DVI_LIST(struct devimg_image) images;
    DVI_LIST(struct dvi_placed) placed; /* of each image; `bytes` is empty for archive members */
    DVI_LIST(struct dvi_said) said;     /* of each image, as `placed` */
    DVI_LIST(struct devimg_module) modules;
    DVI_LIST(struct devimg_kernel) kernels;
    DVI_LIST(struct devimg_finding) findings;
    _Atomic uint64_t inflated;    /* bytes so far, for max_total_inflated_size */
    _Atomic uint64_t yaml;        /* bytes of .ze_info so far */
    _Atomic uint32_t described;   /* images so far, also those not merged yet: for max_images */
    _Atomic uint64_t named;       /* names in tables of entries so far: for max_kernels */
    _Atomic uint64_t decoded;     /* kernels so far, also those not merged yet: for max_kernels */
    struct dvi_arena_budget kept; /* by all arenas of the file: DVI_MOST_KEPT_MIB */
    struct dvi_worker *workers;   /* opts.threads of them, while records are read; else NULL */
    uint32_t members;             /* archive members so far, for max_members */
    uint64_t member_names;        /* bytes of their names */
    const char *code_of;          /* while a kpack of a program is read: its name there */
    bool kernels_read;
    bool cut_said; /* a finding says that the file was cut while it was read */
};

/** What one damaged place left. */
struct dvi_damage {
    struct devimg_error error;
    uint32_t image; /* index within the described list, or DEVIMG_NONE */
};

/** One image as describing found it: facts, and its kernels where they were asked for. */
struct dvi_described_image {
    struct devimg_image image; /* parent: index within the list, or DEVIMG_NONE */
    const char **names;        /* kernels it was decoded to, sorted; NULL: not decoded */
    uint32_t name_count;
    uint32_t first_kernel, kernel_count; /* within the list's kernels */
    uint64_t container; /* as in struct dvi_placed, and unlike that of any other in the record */
};

/** What became of one stored image: itself, then what it holds. */
struct dvi_described {
    DVI_LIST(struct dvi_described_image) images;
    DVI_LIST(struct devimg_kernel) kernels;
    DVI_LIST(struct dvi_damage) damage;
};

/** What one worker owns. */
struct dvi_worker {
    struct dvi_arena arena;
    struct dvi_buffer buffer;
};

/** Read the whole file into records, images, modules and findings of damage. @return as
 *  devimg_open() does. */
DEVIMG_CHECKED enum devimg_status dvi_records_read(struct devimg_file *file,
                                                   struct devimg_error *err);

/** Set devimg_opts.code_digests of an open file; kernels that were read before have none. */
static inline void dvi_want_digests(struct devimg_file *file)
{
    file->opts.code_digests = 1;
}

/** How much to look at. */
enum dvi_depth {
    DVI_HEADERS, /* facts; kernels only where no container lists the entries */
    DVI_KERNELS, /* everything */
    DVI_BYTES    /* of dvi_describe_bytes(): where the images lie, nothing of them */
};

/**
 * Look at one stored image. Fills `out`, whose lists are heap memory of the caller; text is in the
 * worker's arena. @return OK also for damage; LIMIT (of the whole file), NOMEM.
 */
DEVIMG_CHECKED enum devimg_status dvi_describe(struct devimg_file *file,
                                               const struct dvi_placed *placed,
                                               enum dvi_depth depth, struct dvi_worker *worker,
                                               struct dvi_described *out, struct devimg_error *err);

/** Where the bytes of images are handed to. */
struct dvi_bytes_sink {
    bool as_stored; /* compressed bytes as they are, of the stored image alone */
    /* `index` counts from the stored image; `bytes` are valid until it returns */
    void (*image)(struct dvi_bytes_sink *sink, uint32_t index, struct dvi_view bytes);
};

/**
 * Hand over the bytes of one stored image, then those of each image that it holds, in the order of
 * dvi_describe(). What could not be read is damage in `out`, and is not handed over. What is
 * inflated was charged before: dvi_charge_images(). @return as dvi_describe().
 */
DEVIMG_CHECKED enum devimg_status dvi_describe_bytes(
    struct devimg_file *file, const struct dvi_placed *placed, struct dvi_bytes_sink *sink,
    struct dvi_worker *worker, struct dvi_described *out, struct devimg_error *err);
void dvi_described_free(struct dvi_described *described);

/** Count what dvi_describe_bytes() will inflate of the images [first, end), one stored image and
 *  what it holds: LIMIT when `*inflated` would pass max_total_inflated_size. */
DEVIMG_CHECKED enum devimg_status dvi_charge_images(const struct devimg_file *file, uint32_t first,
                                                    uint32_t end, uint64_t *inflated,
                                                    struct devimg_error *err);
/** The stored image that image `i` is, or is held by: the one that has bytes in the file. */
uint32_t dvi_stored_image(const struct devimg_file *file, uint32_t i);
/** Behind the last image that the stored image `first` holds. */
uint32_t dvi_stored_end(const struct devimg_file *file, uint32_t first);
/** Why the bytes of an image were not handed over; `index` counts from the stored image. */
enum devimg_status dvi_not_given(const struct dvi_described *described, uint32_t index,
                                 const char *source, struct devimg_error *err);

/** How one piece of parallel work ended; which one is told never depends on the threads. */
struct dvi_failure {
    enum devimg_status status;
    const struct devimg_error *error; /* in a worker's arena; NULL: out of memory for it, too */
};
struct dvi_failure dvi_failure_of(enum devimg_status status, const struct devimg_error *error,
                                  struct dvi_arena *arena);
/** Hand a failure to the caller. */
enum devimg_status dvi_failure_take(const struct dvi_failure *failure, const char *source,
                                    struct devimg_error *err);

/** Make the modules of the record that was added last, from its images. LIMIT, NOMEM. */
DEVIMG_CHECKED enum devimg_status dvi_modules_build(
    struct devimg_file *file, struct devimg_record *record,
    const struct dvi_described_image *const *described, struct devimg_error *err);

/** Keep an error as a finding of rule "damaged". NOMEM. */
DEVIMG_CHECKED enum devimg_status dvi_keep_damage(struct devimg_file *file, uint32_t record,
                                                  uint32_t image, const char *record_name,
                                                  const struct devimg_error *damage,
                                                  struct devimg_error *err);

/** Where memory ran out because all that may be kept of a file was used up: LIMIT, which says so;
 *  any other status is handed back. */
enum devimg_status dvi_kept_status(const struct devimg_file *file, enum devimg_status status,
                                   struct devimg_error *err);

/** True when a part of the file was read as zeros: see dvi_file_was_cut(). */
bool dvi_was_cut(const struct devimg_file *file);
/** A file that shrank under its mapping was read as zeros from there on: say so, once, in the last
 *  record. NOMEM. */
DEVIMG_CHECKED enum devimg_status dvi_keep_cut(struct devimg_file *file, struct devimg_error *err);

/** Cubin, PTX or LTO-IR. */
bool dvi_is_cuda(enum devimg_format format);
/**
 * Name what an image is for, of which `format` is set: `target`, `ip_version`, `family_only`; what
 * cannot be named may be in `note`.
 * @return MALFORMED: its container's label says another target, or no such image; NOMEM.
 */
DEVIMG_CHECKED enum devimg_status dvi_name_target(struct devimg_image *image,
                                                  const struct dvi_placed *placed,
                                                  const struct dvi_image_facts *facts,
                                                  struct dvi_view bytes, struct dvi_arena *arena,
                                                  struct devimg_error *err);
/** The same of one vendor's code. */
DEVIMG_CHECKED enum devimg_status dvi_name_amd_target(struct devimg_image *image,
                                                      const struct dvi_placed *placed,
                                                      const struct dvi_image_facts *facts,
                                                      struct dvi_view bytes,
                                                      struct dvi_arena *arena,
                                                      struct devimg_error *err);
DEVIMG_CHECKED enum devimg_status dvi_name_cuda_target(struct devimg_image *image,
                                                       const struct dvi_placed *placed,
                                                       const struct dvi_image_facts *facts,
                                                       struct dvi_view bytes,
                                                       struct devimg_error *err);
/** MALFORMED, which names the container's label and what the image is for. */
enum devimg_status dvi_refuse_label(const struct devimg_image *image,
                                    const struct dvi_placed *placed,
                                    const struct dvi_image_facts *facts, struct dvi_view bytes,
                                    struct devimg_error *err);

/** The target that a container's label names, without kind and vendor: of
 *  "sycl-spir64_gen-unknown-unknown" it is spir64_gen. NULL: none. */
const struct devimg_target *dvi_target_of_label(const char *entry_id);
/** True for labels of portable code: what stands there is SPIR-V that every driver compiles. */
bool dvi_is_portable_label(const char *entry_id);

#endif
