/* SPDX-License-Identifier: Apache-2.0 */
/* Where device images are packed. One packing a file, one row in bundles.def. */
#ifndef DVI_BUNDLE_BUNDLE_H
#define DVI_BUNDLE_BUNDLE_H

#include "object/object.h"

/** An image where it was found, and what its container says of it. Text lives as long as the file.
 */
struct dvi_placed {
    struct dvi_view bytes; /* as stored; may be compressed, or a bundle again */
    const char *bundle;    /* the packing's name in json.md */
    enum devimg_offload offload;
    const char *section;
    const char *entry_id;
    const char *arch; /* the target, where the container names it apart: "sm_80"; NULL */
    const char *unit;
    enum devimg_answer registered;
    bool entries_known; /* false: the container lists no names */
    const char *const *entries;
    uint32_t entry_count;
    uint32_t exported_count; /* entries that are plain functions, behind the kernels */
    bool aspects_known;      /* false: the container states no requirements */
    const uint32_t *aspects;
    uint32_t aspect_count;
    uint64_t required_sub_group_size; /* DEVIMG_UNKNOWN: none */
    const char *compile_options;
    const char *note;
    enum devimg_format format;      /* as the container numbers it; UNKNOWN: it does not say */
    enum devimg_compression packed; /* NONE: not, or by a frame that says so itself */
    uint64_t inflated_size;         /* of what is `packed` */
    uint64_t container; /* what the runtime takes one image of; those of one number are a module;
                           0: names tell which belong together */
    enum devimg_device_link device_link;
    bool sealed;         /* `packed` in a way that nobody here can undo */
    const char *code_of; /* a kpack: the program whose code is wanted of it; NULL: all */
    bool no_code; /* `bytes` are not device code but a table of host addresses (native_cpu) */
};

/** Where walkers put what they find; the model implements it. */
struct dvi_found {
    struct dvi_arena *arena;
    /* OK also when the image is damaged: that is kept as damage. LIMIT, NOMEM: stop. */
    enum devimg_status (*image)(struct dvi_found *found, const struct dvi_placed *placed,
                                struct devimg_error *err);
    /* Keep a TRUNCATED, MALFORMED or UNSUPPORTED status as damage and answer OK; OK stays OK;
     * LIMIT, NOMEM and IO are handed back. */
    enum devimg_status (*damage)(struct dvi_found *found, enum devimg_status status,
                                 const struct devimg_error *err);
    /* Bytes that a packing of bytes holds compressed (zstd or zlib), which become `size` bytes:
     * valid while the packing is walked. END: they cannot be had, which was said. */
    enum devimg_status (*inflate)(struct dvi_found *found, struct dvi_view stored, uint64_t size,
                                  struct dvi_view *out, struct devimg_error *err);
    /* Keep what another rule than "damaged" says of the file: rule and code, and in `what` the place
     * and the text. Set where objects are walked. NOMEM. */
    enum devimg_status (*say)(struct dvi_found *found, const char *rule, const char *code,
                              const struct devimg_error *what);
    /* Device code of the object stands in another file, at that path from the object's folder, under
     * the name `code_of`. Set where objects are walked. NOMEM. */
    enum devimg_status (*elsewhere)(struct dvi_found *found, const char *code_of, const char *path,
                                    struct devimg_error *err);
    uint32_t descriptor_count;  /* DPC++ descriptors met */
    uint32_t registered_count;  /* of those: start-up hands them to __sycl_register_lib */
    uint32_t unsure_count;      /* of those: whether it does cannot be told */
    uint64_t registered_images; /* that the registered ones state */
    bool descriptors_unknown;   /* there may be others that could not be looked for */
    _Atomic uint64_t *named;    /* names of the file so far, for dvi_found_names() */
    uint64_t most_names;
};

static inline enum devimg_status dvi_found_image(struct dvi_found *found,
                                                 const struct dvi_placed *placed,
                                                 struct devimg_error *err)
{
    return found->image(found, placed, err);
}

static inline enum devimg_status dvi_found_damage(struct dvi_found *found,
                                                  enum devimg_status status,
                                                  const struct devimg_error *err)
{
    return found->damage(found, status, err);
}

/** Count names, or numbers, that a container lists: LIMIT past what a file may have of kernels. */
DEVIMG_CHECKED enum devimg_status dvi_found_names(struct dvi_found *found, uint64_t count,
                                                  const char *what, struct dvi_view at,
                                                  struct devimg_error *err);
/**
 * Keep what labels an image, such as an entry id: a copy in the arena. MALFORMED: it is longer than
 * any label, and whatever is made of it, for each image again, would be; NOMEM.
 */
DEVIMG_CHECKED enum devimg_status dvi_found_label(struct dvi_found *found, struct dvi_view label,
                                                  const char *what, const char **out,
                                                  struct devimg_error *err);

/** Ranges of a file that some image already stands for, in file offsets. */
struct dvi_claim {
    uint64_t begin, end;
};
struct dvi_claims {
    DVI_LIST(struct dvi_claim) ranges;
    bool sorted;
    bool incomplete; /* a descriptor could not be read: what it names is not among them */
    uint64_t left;   /* bytes of sections that may still be looked at */
};
/** Sections may overlap, many over the same bytes: false when all of them together are more than a
 *  few times the file. */
static inline bool dvi_claims_charge(struct dvi_claims *claims, uint64_t size)
{
    const bool fits = size <= claims->left;
    claims->left -= fits ? size : claims->left;
    return fits;
}
/** NOMEM. */
DEVIMG_CHECKED enum devimg_status dvi_claims_add(struct dvi_claims *claims, struct dvi_view bytes,
                                                 struct devimg_error *err);
/** The first unclaimed piece of `v` at or after `*at`, which moves behind it; false: none left. */
bool dvi_claims_gap(struct dvi_claims *claims, struct dvi_view v, uint64_t *at,
                    struct dvi_view *out);

/** True when an image that dvi_packed_first() knows may start `v`: a look at its magic only. */
bool dvi_packed_starts(struct dvi_view v);

/**
 * The image that starts `v`, where no table says how long it is: a zstd frame, an ocloc archive,
 * an ELF, a SPIR-V module, an offload binary, or bitcode. MALFORMED: nothing known starts here; TRUNCATED: it goes on past `v`.
 */
DEVIMG_CHECKED enum devimg_status dvi_packed_first(struct dvi_view v, struct dvi_view *out,
                                                   struct devimg_error *err);

/** What these bytes are, where that is known and not read by this version; NULL: nothing known.
 *  src/bundle/unread.c. */
const char *dvi_unread_start(struct dvi_view v);

/** The offload kind that starts an entry id ("sycl-spir64_gen-..."): src/bundle/clang.c. */
enum devimg_offload dvi_clang_offload(struct dvi_view id);

/** True when a clang offload bundle, plain or compressed, may start `v`: a look at its magic. */
bool dvi_clang_starts(struct dvi_view v);
/** The bundle that starts `v`. TRUNCATED, MALFORMED, UNSUPPORTED: where it ends cannot be told. */
DEVIMG_CHECKED enum devimg_status dvi_clang_extent(struct dvi_view v, struct dvi_view *out,
                                                   struct devimg_error *err);

/**
 * The CUDA fat binary that starts `v`: its entries fill it exactly, so that what only looks like its
 * magic is none. `*entries_left`, less one for each entry that is looked at: at 0 none is believed.
 */
bool dvi_fatbin_starts(struct dvi_view v, uint64_t *entries_left, struct dvi_view *out);

/** What a program says of the kpack files that hold its code: src/bundle/kpack.c. */
DEVIMG_CHECKED enum devimg_status dvi_kpack_reference(struct dvi_view v, struct dvi_found *found,
                                                      struct devimg_error *err);

/** What ends such an id behind its triple: "gfx90a:xnack+", "sm_80"; empty: it names no GPU. */
struct dvi_view dvi_clang_arch(struct dvi_view id);

/** Both notes of one image, each once; NULL: none, or no memory for both. */
const char *dvi_note_both(struct dvi_arena *arena, const char *first, const char *second);

/** What is known before a walker looks: `bytes` at first all of the container. */
struct dvi_placed dvi_placed_unknown(struct dvi_view bytes, const char *bundle);

/** A row of bundle/bundles.def: src/bundle/<name>.c defines `dvi_bundle_<name>`. */
struct dvi_bundle {
    const char *name; /* as json.md writes it */
    /* Packings of bytes. What `outer` says holds for every image inside, unless it says more. */
    bool (*match)(struct dvi_view v);
    enum devimg_status (*walk)(const struct dvi_placed *outer, struct dvi_found *found,
                               struct devimg_error *err);
    /* Where several may stand one after another: the one that starts `v`, or all of `v` where it
     * does not say how long it is. */
    struct dvi_view (*first)(struct dvi_view v);
    /* The packing is an image itself, and what it holds are images with it as parent. */
    bool is_image;
    /* Packings of an object: `claimed` holds the ranges that earlier rows took. */
    enum devimg_status (*walk_object)(struct dvi_object *object, struct dvi_claims *claims,
                                      struct dvi_found *found, struct devimg_error *err);
};

/** The row whose match() knows these bytes, or NULL. */
const struct dvi_bundle *dvi_bundle_of(struct dvi_view bytes);

/** Walk an object with every row that walks objects. LIMIT, NOMEM, IO end it. */
DEVIMG_CHECKED enum devimg_status dvi_bundles_walk(struct dvi_object *object,
                                                   struct dvi_found *found,
                                                   struct devimg_error *err);

#endif
