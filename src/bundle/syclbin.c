/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SYCLBIN version 1: SYCL device code that a program loads at run time. Little-endian. Version 2
 * is an LLVM offload binary: offload_binary.c.
 * Sources: intel/llvm sycl/doc/design/SYCLBINDesign.md and PropertySets.md,
 * llvm/include/llvm/Object/SYCLBIN.h, llvm/lib/Object/SYCLBIN.cpp, llvm/lib/Support/PropertySetIO.cpp
 * and Base64.cpp (the low bits of a byte come first, and nothing pads).
 *
 *    0  magic u32 0x53594249: "IBYS"
 *    4  version u32       1
 *    8  counts u32        of abstract modules, IR modules, native images
 *   20  zero u32
 *   24  metadata size u64
 *   32  code size u64
 *   40  offset u64, size u64 of the global metadata
 *   56  headers of 32 bytes: abstract modules, IR modules, native images
 *       metadata, then at a multiple of 8 code
 *
 * header of an IR module or a native image:
 *    0  offset u64, size u64 of its metadata     16  offset u64, size u64 of its code
 *
 * Metadata is text: lines "[set]" and "key=type|value". A value of type 2 is base64 of a u64 count
 * of bits and that many bits.
 */
#include "bundle/bundle.h"

#include <inttypes.h>
#include <string.h>

static const char magic[] = "IBYS";
enum {
    MAGIC_SIZE = 4,
    VERSION = 1,
    ENTRY_SIZE = 32,
    TEXT_PER_FILE_BYTE = 4, /* metadata may be shared, but not without end */
    MOST_VALUE = 4096       /* characters of base64 */
};

struct file {
    struct dvi_view whole, metadata, code;
    struct dvi_cursor headers; /* of IR modules, then of native images */
    uint64_t ir_count, native_count;
    uint64_t text_left; /* bytes of metadata that may still be read */
};

static bool match(struct dvi_view v)
{
    return dvi_starts_with(v, magic, MAGIC_SIZE);
}

static enum devimg_status open_file(struct dvi_view v, struct file *out, struct devimg_error *err)
{
    struct dvi_cursor c = dvi_cursor_at(v, MAGIC_SIZE);
    const uint32_t version = dvi_le32(&c);
    const uint64_t modules = dvi_le32(&c);
    struct file f = { .whole = v };
    f.ir_count = dvi_le32(&c);
    f.native_count = dvi_le32(&c);
    dvi_skip(&c, 4);
    const uint64_t metadata_size = dvi_le64(&c);
    const uint64_t code_size = dvi_le64(&c);
    dvi_skip(&c, 16);
    DVI_TRY(dvi_cursor_check(&c, "SYCLBIN header", err));
    if (version != VERSION)
        return dvi_fail(err, DEVIMG_UNSUPPORTED, v, 4,
                        "SYCLBIN version %" PRIu32 ": version 1 is read here", version);
    const uint64_t count = modules + f.ir_count + f.native_count;
    const uint64_t most = dvi_left(&c) / ENTRY_SIZE;
    if (count > most)
        return dvi_fail(err, DEVIMG_MALFORMED, v, 8,
                        "SYCLBIN of %" PRIu64 " headers: %" PRIu64 " fit", count, most);
    const uint64_t metadata_at = c.at + count * ENTRY_SIZE;
    DVI_TRY(dvi_slice(v, metadata_at, metadata_size, "SYCLBIN metadata", &f.metadata, err));
    DVI_TRY(dvi_slice(v, metadata_at + (metadata_size + 7) / 8 * 8, code_size, "SYCLBIN code",
                      &f.code, err));
    f.headers = dvi_cursor_at(v, c.at + modules * ENTRY_SIZE);
    f.text_left = (uint64_t)v.size * TEXT_PER_FILE_BYTE;
    *out = f;
    return DEVIMG_OK;
}

/* --- metadata --- */

static int base64_digit(uint8_t c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
}

/* A value of type 2 that holds text, in the arena. */
static enum devimg_status read_text(struct dvi_view value, struct dvi_arena *arena,
                                    const char **out, struct devimg_error *err)
{
    uint8_t bytes[MOST_VALUE];
    size_t count = 0;
    uint32_t held = 0;
    unsigned bits = 0;
    if (!dvi_starts_with(value, "2|", 2) || value.size > MOST_VALUE)
        return dvi_fail(err, DEVIMG_MALFORMED, value, 0,
                        "SYCLBIN metadata: no text of at most %d characters", (int)MOST_VALUE);
    for (size_t i = 2; i < value.size; i++) {
        const int digit = base64_digit(value.data[i]);
        if (digit < 0)
            return dvi_fail(err, DEVIMG_MALFORMED, value, i, "SYCLBIN metadata: no base64");
        held |= (uint32_t)digit << bits;
        bits += 6;
        if (bits >= 8) {
            bytes[count++] = (uint8_t)held;
            held >>= 8;
            bits -= 8;
        }
    }
    const struct dvi_view decoded = dvi_view_of(bytes, count, value.source);
    if (count < 8 || dvi_peek64(decoded, 0) != (uint64_t)(count - 8) * 8)
        return dvi_fail(err, DEVIMG_MALFORMED, value, 0,
                        "SYCLBIN metadata: text of %zu bytes with its size states %" PRIu64 " bits",
                        count, dvi_peek64(decoded, 0));
    *out = dvi_arena_text(arena, dvi_from(decoded, 8));
    return *out != NULL ? DEVIMG_OK : dvi_fail_memory(err, value.source);
}

/* "target" and "arch" in any set; NULL stays where there is none. */
static enum devimg_status read_metadata(struct file *f, uint64_t offset, uint64_t size,
                                        struct dvi_arena *arena, const char **target,
                                        const char **arch, struct devimg_error *err)
{
    struct dvi_view text = { 0 };
    DVI_TRY(dvi_slice(f->metadata, offset, size, "SYCLBIN metadata", &text, err));
    if (size > f->text_left)
        return dvi_fail(err, DEVIMG_MALFORMED, text, 0,
                        "SYCLBIN metadata: together more than %d times the file",
                        (int)TEXT_PER_FILE_BYTE);
    f->text_left -= size;
    for (size_t at = 0; at < text.size;) {
        struct dvi_view line = dvi_from(text, at);
        const uint8_t *end = memchr(line.data, '\n', line.size);
        line = dvi_head(line, end != NULL ? (uint64_t)(end - line.data) : line.size);
        at += line.size + 1;
        const char **kept = dvi_starts_with(line, "target=", 7) ? target
                            : dvi_starts_with(line, "arch=", 5) ? arch
                                                                : NULL;
        if (kept != NULL && *kept == NULL)
            DVI_TRY(read_text(dvi_from(line, kept == target ? 7 : 5), arena, kept, err));
    }
    return DEVIMG_OK;
}

/* --- images --- */

static enum devimg_status found_header(struct file *f, const struct dvi_placed *outer,
                                       struct dvi_found *found, struct devimg_error *err)
{
    const uint64_t metadata_at = dvi_le64(&f->headers), metadata_size = dvi_le64(&f->headers);
    const uint64_t code_at = dvi_le64(&f->headers), code_size = dvi_le64(&f->headers);
    struct dvi_placed image = *outer;
    const char *target = NULL, *arch = NULL;
    const enum devimg_status status =
        read_metadata(f, metadata_at, metadata_size, found->arena, &target, &arch, err);
    DVI_TRY(dvi_found_damage(found, status, err));
    DVI_TRY(dvi_slice(f->code, code_at, code_size, "SYCLBIN image", &image.bytes, err));
    image.bundle = "syclbin";
    image.offload = DEVIMG_OFFLOAD_SYCL;
    image.arch = arch;
    image.entry_id = target;
    if (arch != NULL) {
        image.entry_id = dvi_arena_format(found->arena, "%s%s%s", target != NULL ? target : "",
                                          target != NULL ? "-" : "", arch);
        if (image.entry_id == NULL)
            return dvi_fail_memory(err, outer->bytes.source);
    }
    return dvi_found_image(found, &image, err);
}

static enum devimg_status walk(const struct dvi_placed *outer, struct dvi_found *found,
                               struct devimg_error *err)
{
    struct file f = { 0 };
    DVI_TRY(open_file(outer->bytes, &f, err));
    if (f.ir_count + f.native_count == 0 && f.code.size > 0)
        return dvi_fail(err, DEVIMG_MALFORMED, f.code, 0,
                        "SYCLBIN code of %zu bytes that no header names", f.code.size);
    for (uint64_t i = 0; i < f.ir_count + f.native_count; i++)
        DVI_TRY(dvi_found_damage(found, found_header(&f, outer, found, err), err));
    return DEVIMG_OK;
}

const struct dvi_bundle dvi_bundle_syclbin = {
    .name = "syclbin",
    .match = match,
    .walk = walk,
};
