/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ROCm kpack: HIP device code in a file of its own, and what a program says of it.
 * Source: ROCm/rocm-systems shared/kpack, python/rocm_kpack/kpack.py, compression.py,
 * runtime/src/loader.cpp.
 *
 *    0  magic[4]   "KPAK"
 *    4  version u32   1
 *    8  u64 offset of a MessagePack map
 *
 *    compression_scheme  "none": `blobs` lists {offset, size}, in the file
 *                        "zstd-per-kernel": at `zstd_offset`, `zstd_size` bytes: count u32, then for
 *                        each a size u32 and one zstd frame
 *    toc                 { binary: { target: { ordinal, ... } } }; the ordinal counts blobs or frames;
 *                        a binary of several code objects adds "#0", "#1", ...
 *
 * In the program .rocm_kpack_ref (Windows: .kpackrf) is a map too: kernel_name, the binary of the toc;
 * kpack_search_paths, relative to the program, in which @GFXARCH@ stands for the device's target.
 */
#include <inttypes.h>
#include <string.h>

#include "base/msgpack.h"
#include "bundle/bundle.h"

enum { VERSION = 1, HEADER_SIZE = 16, MOST_PATHS = 64 };

struct blob {
    uint64_t offset, size;
};

struct pack {
    const struct dvi_placed *outer;
    struct dvi_found *found;
    struct dvi_view toc;             /* the whole map */
    uint64_t binaries_at, blobs_at;  /* of values in it; 0: not there */
    uint64_t zstd_offset, zstd_size; /* DEVIMG_UNKNOWN: not there */
    struct dvi_view scheme;          /* empty: not there, as "none" */
    DVI_LIST(struct blob) blobs;     /* by ordinal */
};

static bool match(struct dvi_view v)
{
    return dvi_starts_with(v, "KPAK", 4);
}

/* Where the values stand that are read, whatever their order. */
static enum devimg_status find_values(struct pack *p, struct devimg_error *err)
{
    struct dvi_cursor c = dvi_cursor_at(p->toc, 0);
    struct dvi_msgpack_item map = { 0 }, key = { 0 }, value = { 0 };
    DVI_TRY(dvi_msgpack_expect(&c, DVI_MSGPACK_MAP, "table of a kpack", &map, err));
    for (uint64_t i = 0; i < map.number; i++) {
        DVI_TRY(dvi_msgpack_expect(&c, DVI_MSGPACK_TEXT, "key of a kpack", &key, err));
        const uint64_t at = c.at;
        if (dvi_equals(key.bytes, "compression_scheme")) {
            DVI_TRY(dvi_msgpack_expect(&c, DVI_MSGPACK_TEXT, "compression_scheme", &value, err));
            p->scheme = value.bytes;
        } else if (dvi_equals(key.bytes, "zstd_offset") || dvi_equals(key.bytes, "zstd_size")) {
            DVI_TRY(
                dvi_msgpack_expect(&c, DVI_MSGPACK_UINT, "offset or size of frames", &value, err));
            *(dvi_equals(key.bytes, "zstd_size") ? &p->zstd_size : &p->zstd_offset) = value.number;
        } else {
            if (dvi_equals(key.bytes, "toc"))
                p->binaries_at = at;
            if (dvi_equals(key.bytes, "blobs"))
                p->blobs_at = at;
            DVI_TRY(dvi_msgpack_skip(&c, err));
        }
    }
    return DEVIMG_OK;
}

static enum devimg_status add_blob(struct pack *p, uint64_t offset, uint64_t size,
                                   struct devimg_error *err)
{
    struct blob *added = DVI_ADD(&p->blobs);
    if (added == NULL)
        return dvi_fail_memory(err, p->toc.source);
    *added = (struct blob){ offset, size };
    return DEVIMG_OK;
}

/* A map of numbers, of which those that `keys` names are wanted. */
static enum devimg_status read_numbers(struct dvi_cursor *c, const char *what,
                                       const char *const *keys, uint64_t *const *out, size_t count,
                                       struct devimg_error *err)
{
    struct dvi_msgpack_item map = { 0 }, key = { 0 }, value = { 0 };
    DVI_TRY(dvi_msgpack_expect(c, DVI_MSGPACK_MAP, what, &map, err));
    for (uint64_t i = 0; i < map.number; i++) {
        DVI_TRY(dvi_msgpack_expect(c, DVI_MSGPACK_TEXT, what, &key, err));
        size_t k = 0;
        while (k < count && !dvi_equals(key.bytes, keys[k]))
            k++;
        if (k == count) {
            DVI_TRY(dvi_msgpack_skip(c, err));
            continue;
        }
        DVI_TRY(dvi_msgpack_expect(c, DVI_MSGPACK_UINT, keys[k], &value, err));
        *out[k] = value.number;
    }
    return DEVIMG_OK;
}

static enum devimg_status read_blobs(struct pack *p, struct devimg_error *err)
{
    static const char *const keys[] = { "offset", "size" };
    struct dvi_cursor c = dvi_cursor_at(p->toc, p->blobs_at);
    struct dvi_msgpack_item list = { 0 };
    DVI_TRY(dvi_msgpack_expect(&c, DVI_MSGPACK_ARRAY, "blobs of a kpack", &list, err));
    for (uint64_t i = 0; i < list.number; i++) {
        uint64_t offset = DEVIMG_UNKNOWN, size = DEVIMG_UNKNOWN;
        uint64_t *const out[] = { &offset, &size };
        DVI_TRY(read_numbers(&c, "blob of a kpack", keys, out, 2, err));
        DVI_TRY(add_blob(p, offset, size, err));
    }
    return DEVIMG_OK;
}

static enum devimg_status read_frames(struct pack *p, struct devimg_error *err)
{
    enum { SIZE = 4 };
    struct dvi_view all = { 0 };
    if (p->zstd_offset == DEVIMG_UNKNOWN || p->zstd_size == DEVIMG_UNKNOWN)
        return dvi_fail(err, DEVIMG_MALFORMED, p->toc, 0,
                        "kpack that says nowhere where its frames are");
    DVI_TRY(
        dvi_slice(p->outer->bytes, p->zstd_offset, p->zstd_size, "frames of a kpack", &all, err));
    struct dvi_cursor c = dvi_cursor_at(all, 0);
    const uint64_t count = dvi_le32(&c), most = dvi_left(&c) / SIZE;
    if (count > most)
        return dvi_fail(err, DEVIMG_MALFORMED, all, 0,
                        "kpack of %" PRIu64 " frames: at most %" PRIu64 " fit", count, most);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t size = dvi_le32(&c);
        const struct dvi_view frame = dvi_take(&c, size);
        DVI_TRY(dvi_cursor_check(&c, "frame of a kpack", err));
        DVI_TRY(add_blob(p, frame.offset - p->outer->bytes.offset, size, err));
    }
    return DEVIMG_OK;
}

/* "lib/libfoo.so", or that and "#" with the number of a code object of it. */
static bool is_of(struct dvi_view binary, const char *code_of)
{
    const size_t size = code_of != NULL ? strlen(code_of) : 0;
    return code_of == NULL || (dvi_starts_with(binary, code_of, size) &&
                               (binary.size == size || binary.data[size] == '#'));
}

static enum devimg_status found_code(struct pack *p, struct dvi_view binary, struct dvi_view arch,
                                     uint64_t ordinal, struct devimg_error *err)
{
    struct dvi_placed image = *p->outer;
    if (ordinal >= p->blobs.count)
        return dvi_fail(err, DEVIMG_MALFORMED, arch, 0,
                        "kpack entry of number %" PRIu64 ": it holds %zu", ordinal, p->blobs.count);
    const struct blob *blob = &p->blobs.items[ordinal];
    DVI_TRY(
        dvi_slice(p->outer->bytes, blob->offset, blob->size, "code in a kpack", &image.bytes, err));
    image.bundle = "kpack";
    image.offload = DEVIMG_OFFLOAD_HIP;
    DVI_TRY(dvi_found_label(p->found, binary, "binary of a kpack", &image.entry_id, err));
    DVI_TRY(dvi_found_label(p->found, arch, "target of a kpack", &image.arch, err));
    image.entry_id = dvi_arena_format(p->found->arena, "%s-%s", image.entry_id, image.arch);
    if (image.entry_id == NULL)
        return dvi_fail_memory(err, p->toc.source);
    return dvi_found_image(p->found, &image, err);
}

static enum devimg_status read_binaries(struct pack *p, struct devimg_error *err)
{
    static const char *const keys[] = { "ordinal" };
    struct dvi_cursor c = dvi_cursor_at(p->toc, p->binaries_at);
    struct dvi_msgpack_item binaries = { 0 }, binary = { 0 }, targets = { 0 }, arch = { 0 };
    DVI_TRY(dvi_msgpack_expect(&c, DVI_MSGPACK_MAP, "toc of a kpack", &binaries, err));
    for (uint64_t i = 0; i < binaries.number; i++) {
        DVI_TRY(dvi_msgpack_expect(&c, DVI_MSGPACK_TEXT, "binary of a kpack", &binary, err));
        DVI_TRY(dvi_msgpack_expect(&c, DVI_MSGPACK_MAP, "targets of a kpack", &targets, err));
        for (uint64_t n = 0; n < targets.number; n++) {
            uint64_t ordinal = DEVIMG_UNKNOWN;
            uint64_t *const out[] = { &ordinal };
            DVI_TRY(dvi_msgpack_expect(&c, DVI_MSGPACK_TEXT, "target of a kpack", &arch, err));
            DVI_TRY(read_numbers(&c, "entry of a kpack", keys, out, 1, err));
            if (!is_of(binary.bytes, p->outer->code_of))
                continue;
            const enum devimg_status status = found_code(p, binary.bytes, arch.bytes, ordinal, err);
            DVI_TRY(dvi_found_damage(p->found, status, err));
        }
    }
    return DEVIMG_OK;
}

static enum devimg_status read_pack(struct pack *p, struct devimg_error *err)
{
    DVI_TRY(find_values(p, err));
    if (dvi_equals(p->scheme, "zstd-per-kernel"))
        DVI_TRY(read_frames(p, err));
    else if (p->scheme.size > 0 && !dvi_equals(p->scheme, "none"))
        return dvi_fail(err, DEVIMG_UNSUPPORTED, p->scheme, 0,
                        "kpack compressed as \"%.*s\": none and zstd-per-kernel are read",
                        (int)(p->scheme.size < 40 ? p->scheme.size : 40),
                        (const char *)p->scheme.data);
    else if (p->blobs_at != 0)
        DVI_TRY(read_blobs(p, err));
    return p->binaries_at != 0 ? read_binaries(p, err) : DEVIMG_OK;
}

static enum devimg_status walk(const struct dvi_placed *outer, struct dvi_found *found,
                               struct devimg_error *err)
{
    struct dvi_cursor c = dvi_cursor_at(outer->bytes, 4);
    const uint32_t version = dvi_le32(&c);
    const uint64_t toc_at = dvi_le64(&c);
    DVI_TRY(dvi_cursor_check(&c, "kpack header", err));
    if (version != VERSION)
        return dvi_fail(err, DEVIMG_UNSUPPORTED, outer->bytes, 4,
                        "kpack version %" PRIu32 ": %d is read", version, (int)VERSION);
    if (toc_at < HEADER_SIZE || toc_at >= outer->bytes.size)
        return dvi_fail(err, DEVIMG_TRUNCATED, outer->bytes, 8,
                        "kpack of %zu bytes: its table is at +%" PRIu64, outer->bytes.size, toc_at);
    struct pack p = { .outer = outer,
                      .found = found,
                      .toc = dvi_from(outer->bytes, toc_at),
                      .scheme = dvi_from(outer->bytes, outer->bytes.size),
                      .zstd_offset = DEVIMG_UNKNOWN,
                      .zstd_size = DEVIMG_UNKNOWN };
    const enum devimg_status status = read_pack(&p, err);
    DVI_LIST_FREE(&p.blobs);
    return status;
}

enum devimg_status dvi_kpack_reference(struct dvi_view v, struct dvi_found *found,
                                       struct devimg_error *err)
{
    struct dvi_cursor c = dvi_cursor_at(v, 0);
    struct dvi_msgpack_item map = { 0 }, key = { 0 }, value = { 0 };
    const char *name = NULL;
    uint64_t paths_at = 0;
    DVI_TRY(dvi_msgpack_expect(&c, DVI_MSGPACK_MAP, "reference to a kpack", &map, err));
    for (uint64_t i = 0; i < map.number; i++) {
        DVI_TRY(dvi_msgpack_expect(&c, DVI_MSGPACK_TEXT, "key of a kpack reference", &key, err));
        if (dvi_equals(key.bytes, "kernel_name")) {
            DVI_TRY(dvi_msgpack_expect(&c, DVI_MSGPACK_TEXT, "kernel_name", &value, err));
            DVI_TRY(dvi_found_label(found, value.bytes, "kernel_name", &name, err));
        } else {
            paths_at = dvi_equals(key.bytes, "kpack_search_paths") ? c.at : paths_at;
            DVI_TRY(dvi_msgpack_skip(&c, err));
        }
    }
    if (name == NULL || paths_at == 0)
        return dvi_fail(err, DEVIMG_MALFORMED, v, 0, "reference to a kpack without %s",
                        name == NULL ? "kernel_name" : "kpack_search_paths");
    struct dvi_cursor paths = dvi_cursor_at(v, paths_at);
    DVI_TRY(dvi_msgpack_expect(&paths, DVI_MSGPACK_ARRAY, "kpack_search_paths", &map, err));
    if (map.number > MOST_PATHS)
        return dvi_fail(err, DEVIMG_MALFORMED, v, map.at,
                        "reference to a kpack with %" PRIu64 " paths: at most %d are followed",
                        map.number, (int)MOST_PATHS);
    for (uint64_t i = 0; i < map.number; i++) {
        const char *path = NULL;
        DVI_TRY(dvi_msgpack_expect(&paths, DVI_MSGPACK_TEXT, "path to a kpack", &value, err));
        DVI_TRY(dvi_found_label(found, value.bytes, "path to a kpack", &path, err));
        DVI_TRY(found->elsewhere(found, name, path, err));
    }
    return DEVIMG_OK;
}

const struct dvi_bundle dvi_bundle_kpack = {
    .name = "kpack",
    .match = match,
    .walk = walk,
};
