/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images one after another, as the linker lays them out: each starts at a multiple of 16, the gaps
 * are zero bytes, and nothing says how long one is but its own headers.
 * Sources: offload_binary.c; bitcode.c; zstd RFC 8878; ar(5); ELF gABI (section header table last, by ocloc); SPIR-V 1.6,
 * "Physical Layout": word count in the high half of each instruction's first word, never 0.
 */
#include <inttypes.h>

#include "bundle/bundle.h"
#include "codec/codec.h"
#include "object/bitcode.h"
#include "object/device_elf.h"
#include "object/magic.h"

enum { ALIGNMENT = 16, SPIRV_HEADER = 20, OFFLOAD_HEADER = 32 };

static enum devimg_status archive_end(struct dvi_view v, struct dvi_view *out,
                                      struct devimg_error *err)
{
    struct dvi_ar it = dvi_ar_begin(v);
    struct dvi_ar_member member = { 0 };
    for (;;) {
        const uint64_t at = it.at;
        if (at >= v.size || dvi_peek16(v, at + 58) != 0x0a60) /* no "`\n": no further header */
            return dvi_slice(v, 0, at < v.size ? at : v.size, "archive", out, err);
        DVI_TRY(dvi_ar_next(&it, &member, err));
    }
}

static bool spirv_starts_at(struct dvi_view v, uint64_t at)
{
    const uint32_t version = dvi_peek32(v, at + 4);
    return dvi_peek32(v, at) == DVI_MAGIC_SPIRV && (version & 0xff0000ff) == 0 && version != 0 &&
           dvi_peek32(v, at + 16) == 0;
}

/* A module ends where no instruction can start: at zero padding or at the next image's magic. */
static enum devimg_status spirv_end(struct dvi_view v, struct dvi_view *out,
                                    struct devimg_error *err)
{
    uint64_t at = SPIRV_HEADER;
    while (at < v.size) {
        const uint32_t word = dvi_peek32(v, at);
        const uint64_t size = (uint64_t)(word >> 16) * 4;
        const struct dvi_view rest = dvi_from(v, at);
        if (size == 0 || (at % ALIGNMENT == 0 && dvi_packed_starts(rest)))
            break;
        if (size > rest.size)
            return dvi_fail(err, DEVIMG_TRUNCATED, v, at,
                            "SPIR-V instruction of %" PRIu64 " bytes: %zu are left", size,
                            rest.size);
        at += size;
    }
    return dvi_slice(v, 0, at, "SPIR-V module", out, err);
}

bool dvi_packed_starts(struct dvi_view v)
{
    return dvi_has_magic(v, DVI_MAGIC_OFFLOAD_BINARY) || dvi_zstd_match(v) || dvi_ar_match(v) ||
           dvi_has_magic(v, DVI_MAGIC_ELF) || spirv_starts_at(v, 0) || dvi_bitcode_match(v);
}

enum devimg_status dvi_packed_first(struct dvi_view v, struct dvi_view *out,
                                    struct devimg_error *err)
{
    if (dvi_zstd_match(v)) {
        struct dvi_zstd_frame frame = { 0 };
        DVI_TRY(dvi_zstd_frame_at(v, &frame, err));
        *out = frame.stored;
        return DEVIMG_OK;
    }
    if (dvi_ar_match(v))
        return archive_end(v, out, err);
    if (dvi_has_magic(v, DVI_MAGIC_ELF))
        return dvi_device_elf_extent(v, out, err);
    if (spirv_starts_at(v, 0))
        return spirv_end(v, out, err);
    if (dvi_has_magic(v, DVI_MAGIC_OFFLOAD_BINARY)) {
        const uint64_t size = dvi_peek64(v, 8);
        if (size < OFFLOAD_HEADER)
            return dvi_fail(err, DEVIMG_MALFORMED, v, 8, "offload binary of %" PRIu64 " bytes",
                            size);
        return dvi_slice(v, 0, size, "offload binary", out, err);
    }
    if (dvi_bitcode_match(v))
        return dvi_bitcode_extent(v, out, err);
    return dvi_fail(err, DEVIMG_MALFORMED, v, 0,
                    "bytes %08" PRIx32
                    " start no device image (zstd, ar, ELF, SPIR-V, offload binary, bitcode)",
                    (uint32_t)(dvi_peek32(v, 0) & 0xff) << 24 |
                        (dvi_peek32(v, 0) >> 8 & 0xff) << 16 |
                        (dvi_peek32(v, 0) >> 16 & 0xff) << 8 | dvi_peek32(v, 0) >> 24);
}
