/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clang offload bundle: device images behind one plain header, little-endian.
 * Source: https://clang.llvm.org/docs/ClangOffloadBundler.html, "Bundled Binary File Layout".
 *
 *    0  magic[24]      "__CLANG_OFFLOAD_BUNDLE__"
 *   24  count u64
 *   32  count times:   offset u64 (from magic), size u64, id_size u64, id[id_size]
 *
 * It ends behind its last image. Compressed, it is one zstd frame or zlib stream behind a header:
 * the same page, "Compressed Fat Binary"; llvm/llvm-project llvm/lib/Object/OffloadBundle.cpp.
 *
 *                          version 1   2     3
 *    0  magic[4]  "CCOB"
 *    4  version u16
 *    6  method u16         0 zlib, 1 zstd
 *       total size         -           8 u32  8 u64    with this header
 *       inflated size      8 u32      12 u32  16 u64
 *       hash u64           12         16      24       first 8 bytes of the MD5 of what was inflated
 *       data               20         24      32
 */
#include "bundle/bundle.h"

#include <inttypes.h>
#include <md5.h>
#include <string.h>

#include "codec/codec.h"

static const char magic[] = "__CLANG_OFFLOAD_BUNDLE__";
enum { MAGIC_SIZE = 24, MIN_ENTRY_SIZE = 24 };

static const char packed_magic[] = "CCOB";
enum { PACKED_MAGIC_SIZE = 4, METHOD_ZLIB = 0, METHOD_ZSTD = 1 };

struct entry {
    struct dvi_view id;    /* "sycl-spir64_gen-unknown-unknown", not NUL-terminated */
    struct dvi_view image; /* may be compressed */
};

struct entries {
    struct dvi_view bundle;
    struct dvi_cursor at;
    uint64_t left;
};

static bool is_plain(struct dvi_view v)
{
    return dvi_starts_with(v, magic, MAGIC_SIZE);
}

static bool match(struct dvi_view v)
{
    return is_plain(v) || dvi_starts_with(v, packed_magic, PACKED_MAGIC_SIZE);
}

bool dvi_clang_starts(struct dvi_view v)
{
    return match(v);
}

/* The header of a compressed bundle. */
struct packed {
    uint16_t version, method;
    uint64_t total; /* DEVIMG_UNKNOWN: not stated */
    uint64_t inflated, hash;
    uint64_t data_at;
};

static enum devimg_status read_packed(struct dvi_view v, struct packed *out,
                                      struct devimg_error *err)
{
    struct dvi_cursor c = dvi_cursor_at(v, PACKED_MAGIC_SIZE);
    struct packed p = { .version = dvi_le16(&c), .method = dvi_le16(&c), .total = DEVIMG_UNKNOWN };
    DVI_TRY(dvi_cursor_check(&c, "compressed bundle header", err));
    if (p.version < 1 || p.version > 3)
        return dvi_fail(err, DEVIMG_UNSUPPORTED, v, PACKED_MAGIC_SIZE,
                        "compressed bundle version %u: 1 to 3 are read", (unsigned)p.version);
    if (p.method != METHOD_ZLIB && p.method != METHOD_ZSTD)
        return dvi_fail(err, DEVIMG_UNSUPPORTED, v, PACKED_MAGIC_SIZE + 2,
                        "compressed bundle of method %u: 0 (zlib) and 1 (zstd) are read",
                        (unsigned)p.method);
    if (p.version > 1)
        p.total = p.version == 3 ? dvi_le64(&c) : dvi_le32(&c);
    p.inflated = p.version == 3 ? dvi_le64(&c) : dvi_le32(&c);
    p.hash = dvi_le64(&c);
    p.data_at = c.at;
    DVI_TRY(dvi_cursor_check(&c, "compressed bundle header", err));
    if (p.total < p.data_at)
        return dvi_fail(err, DEVIMG_MALFORMED, v, 8,
                        "compressed bundle of %" PRIu64 " bytes: its header takes %" PRIu64,
                        p.total, p.data_at);
    *out = p;
    return DEVIMG_OK;
}

/* Version 1 does not say where it ends: the stream does. */
static enum devimg_status packed_extent(struct dvi_view v, struct dvi_view *out,
                                        struct devimg_error *err)
{
    struct packed p = { 0 };
    struct dvi_view data = { 0 };
    struct dvi_zstd_frame frame = { 0 };
    DVI_TRY(read_packed(v, &p, err));
    if (p.total != DEVIMG_UNKNOWN)
        return dvi_slice(v, 0, p.total, "compressed bundle", out, err);
    if (p.method == METHOD_ZSTD) {
        DVI_TRY(dvi_zstd_frame_at(dvi_from(v, p.data_at), &frame, err));
        data = frame.stored;
    } else {
        DVI_TRY(dvi_zlib_extent(dvi_from(v, p.data_at), &data, err));
    }
    *out = dvi_head(v, p.data_at + data.size);
    return DEVIMG_OK;
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
        if (dvi_starts_with(rest, "-gfx", 4) || dvi_starts_with(rest, "-sm_", 4) ||
            dvi_equals(rest, "-amdgcnspirv"))
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
    image.bytes = e->image;
    if (dvi_clang_offload(e->id) != DEVIMG_OFFLOAD_UNKNOWN)
        image.offload = dvi_clang_offload(e->id);
    const struct dvi_view arch = dvi_clang_arch(e->id);
    DVI_TRY(dvi_found_label(found, e->id, "bundle entry id", &image.entry_id, err));
    if (arch.size > 0)
        DVI_TRY(dvi_found_label(found, arch, "bundle entry id", &image.arch, err));
    return dvi_found_image(found, &image, err);
}

static enum devimg_status walk_plain(const struct dvi_placed *outer, struct dvi_found *found,
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

static enum devimg_status check_hash(const struct packed *p, struct dvi_view stored,
                                     struct dvi_view inflated, struct devimg_error *err)
{
    MD5_CTX md5;
    uint8_t sum[MD5_DIGEST_LENGTH];
    MD5Init(&md5);
    MD5Update(&md5, inflated.data, inflated.size);
    MD5Final(sum, &md5);
    const uint64_t found = dvi_bytes64(sum);
    if (found == p->hash)
        return DEVIMG_OK;
    return dvi_fail(err, DEVIMG_MALFORMED, stored, p->data_at - 8,
                    "compressed bundle with the hash %016" PRIx64
                    ": what was inflated has %016" PRIx64,
                    p->hash, found);
}

static enum devimg_status walk_packed(const struct dvi_placed *outer, struct dvi_found *found,
                                      struct devimg_error *err)
{
    struct packed p = { 0 };
    struct dvi_view stored = { 0 };
    struct dvi_placed inside = *outer;
    DVI_TRY(packed_extent(outer->bytes, &stored, err));
    DVI_TRY(read_packed(stored, &p, err));
    const struct dvi_view data = dvi_from(stored, p.data_at);
    if (dvi_zstd_match(data) != (p.method == METHOD_ZSTD))
        return dvi_fail(err, DEVIMG_MALFORMED, data, 0,
                        "compressed bundle of method %u: its data are %s zstd frame",
                        (unsigned)p.method, p.method == METHOD_ZSTD ? "no" : "a");
    const enum devimg_status status = found->inflate(found, data, p.inflated, &inside.bytes, err);
    if (status != DEVIMG_OK)
        return status == DEVIMG_END ? DEVIMG_OK : status; /* END: why is said */
    DVI_TRY(dvi_found_damage(found, check_hash(&p, stored, inside.bytes, err), err));
    if (!is_plain(inside.bytes))
        return dvi_fail(err, DEVIMG_MALFORMED, data, 0,
                        "compressed bundle that holds no clang offload bundle: %zu bytes that "
                        "start with %08" PRIx32 " (little-endian)",
                        inside.bytes.size, dvi_peek32(inside.bytes, 0));
    inside.bundle = "ccob";
    return walk_plain(&inside, found, err);
}

static enum devimg_status walk(const struct dvi_placed *outer, struct dvi_found *found,
                               struct devimg_error *err)
{
    struct dvi_placed plain = *outer;
    if (!is_plain(outer->bytes))
        return walk_packed(outer, found, err);
    plain.bundle = "clang-bundle";
    return walk_plain(&plain, found, err);
}

enum devimg_status dvi_clang_extent(struct dvi_view v, struct dvi_view *out,
                                    struct devimg_error *err)
{
    struct entries it = { 0 };
    uint64_t end = 0;
    if (!is_plain(v))
        return packed_extent(v, out, err);
    DVI_TRY(entries_begin(v, &it, err));
    while (it.left > 0) {
        struct entry e = { 0 };
        DVI_TRY(entries_next(&it, &e, err));
        const uint64_t image_end = e.image.offset - v.offset + e.image.size;
        end = image_end > end ? image_end : end;
    }
    *out = dvi_head(v, it.at.at > end ? it.at.at : end);
    return DEVIMG_OK;
}

static struct dvi_view first(struct dvi_view v)
{
    struct dvi_view one = { 0 };
    return dvi_clang_extent(v, &one, NULL) == DEVIMG_OK ? one : v;
}

const struct dvi_bundle dvi_bundle_clang = {
    .name = "clang-bundle",
    .match = match,
    .first = first,
    .walk = walk,
};
