/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clang offload bundle: device images behind one plain header, little-endian.
 * Source: https://clang.llvm.org/docs/ClangOffloadBundler.html, "Bundled Binary File Layout".
 *
 *    0  magic[24]      "__CLANG_OFFLOAD_BUNDLE__"
 *   24  count u64
 *   32  count times:   offset u64 (from magic), size u64, id_size u64, id[id_size]
 */
#include "bundle/bundle.h"

#include <inttypes.h>
#include <string.h>

static const char magic[] = "__CLANG_OFFLOAD_BUNDLE__";
enum { MAGIC_SIZE = 24, MIN_ENTRY_SIZE = 24 };

struct entry {
    struct dvi_view id;    /* "sycl-spir64_gen-unknown-unknown", not NUL-terminated */
    struct dvi_view image; /* may be compressed */
};

struct entries {
    struct dvi_view bundle;
    struct dvi_cursor at;
    uint64_t left;
};

static bool match(struct dvi_view v)
{
    return dvi_starts_with(v, magic, MAGIC_SIZE);
}

static enum devimg_status entries_begin(struct dvi_view bundle, struct entries *out,
                                        struct devimg_error *err)
{
    struct dvi_cursor c = dvi_cursor_at(bundle, MAGIC_SIZE);
    const uint64_t count = dvi_le64(&c);
    DVI_TRY(dvi_cursor_check(&c, "bundle header", err));
    const uint64_t most = dvi_left(&c) / MIN_ENTRY_SIZE;
    if (count > most)
        return dvi_fail(err, DEVIMG_MALFORMED, bundle, MAGIC_SIZE,
                        "bundle entry count %" PRIu64 ": at most %" PRIu64 " fit in %zu bytes",
                        count, most, dvi_left(&c));
    *out = (struct entries){ bundle, c, count };
    return DEVIMG_OK;
}

static enum devimg_status entries_next(struct entries *it, struct entry *out,
                                       struct devimg_error *err)
{
    it->left--;
    const uint64_t offset = dvi_le64(&it->at);
    const uint64_t size = dvi_le64(&it->at);
    const struct dvi_view id = dvi_take(&it->at, dvi_le64(&it->at));
    const enum devimg_status status = dvi_cursor_check(&it->at, "bundle entry", err);
    if (status != DEVIMG_OK) {
        it->left = 0; /* the table itself is cut: what follows cannot be read */
        return status;
    }
    struct dvi_view image = { 0 };
    DVI_TRY(dvi_slice(it->bundle, offset, size, "bundle image", &image, err)); /* this entry only */
    *out = (struct entry){ id, image };
    return DEVIMG_OK;
}

enum devimg_offload dvi_clang_offload(struct dvi_view id)
{
    static const struct {
        const char *prefix;
        enum devimg_offload offload;
    } kinds[] = {
        { "sycl-", DEVIMG_OFFLOAD_SYCL },     { "hip-", DEVIMG_OFFLOAD_HIP },
        { "hipv4-", DEVIMG_OFFLOAD_HIP },     { "cuda-", DEVIMG_OFFLOAD_CUDA },
        { "openmp-", DEVIMG_OFFLOAD_OPENMP },
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (dvi_starts_with(id, kinds[i].prefix, strlen(kinds[i].prefix)))
            return kinds[i].offload;
    }
    return DEVIMG_OFFLOAD_UNKNOWN;
}

struct dvi_view dvi_clang_arch(struct dvi_view id)
{
    const enum devimg_offload offload = dvi_clang_offload(id);
    for (size_t at = id.size; at > 0 && offload != DEVIMG_OFFLOAD_SYCL; at--) {
        const struct dvi_view rest = dvi_from(id, at - 1);
        if (dvi_starts_with(rest, "-gfx", 4) || dvi_starts_with(rest, "-sm_", 4))
            return dvi_from(rest, 1);
    }
    return dvi_from(id, id.size);
}

static enum devimg_status found_entry(const struct dvi_placed *outer, const struct entry *e,
                                      struct dvi_found *found, struct devimg_error *err)
{
    if (dvi_starts_with(e->id, "host-", 5)) /* the host's own object, or a byte in its place */
        return DEVIMG_OK;
    struct dvi_placed image = *outer;
    image.bundle = "clang-bundle";
    image.bytes = e->image;
    if (dvi_clang_offload(e->id) != DEVIMG_OFFLOAD_UNKNOWN)
        image.offload = dvi_clang_offload(e->id);
    const struct dvi_view arch = dvi_clang_arch(e->id);
    DVI_TRY(dvi_found_label(found, e->id, "bundle entry id", &image.entry_id, err));
    if (arch.size > 0)
        DVI_TRY(dvi_found_label(found, arch, "bundle entry id", &image.arch, err));
    return dvi_found_image(found, &image, err);
}

static enum devimg_status walk(const struct dvi_placed *outer, struct dvi_found *found,
                               struct devimg_error *err)
{
    struct entries it = { 0 };
    DVI_TRY(entries_begin(outer->bytes, &it, err));
    while (it.left > 0) {
        struct entry e = { 0 };
        enum devimg_status status = entries_next(&it, &e, err);
        if (status == DEVIMG_OK)
            status = found_entry(outer, &e, found, err);
        DVI_TRY(dvi_found_damage(found, status, err));
    }
    return DEVIMG_OK;
}

/* It ends behind its last image. */
static struct dvi_view first(struct dvi_view v)
{
    struct entries it = { 0 };
    uint64_t end = 0;
    if (entries_begin(v, &it, NULL) != DEVIMG_OK)
        return v;
    while (it.left > 0) {
        struct entry e = { 0 };
        if (entries_next(&it, &e, NULL) != DEVIMG_OK)
            return v;
        const uint64_t image_end = e.image.offset - v.offset + e.image.size;
        end = image_end > end ? image_end : end;
    }
    return dvi_head(v, it.at.at > end ? it.at.at : end);
}

const struct dvi_bundle dvi_bundle_clang = {
    .name = "clang-bundle",
    .match = match,
    .first = first,
    .walk = walk,
};
