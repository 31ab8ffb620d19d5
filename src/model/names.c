/* SPDX-License-Identifier: Apache-2.0 */
/* The words of the public enumerations, as JSON writes them. */
#include "devimg.h"

#define NAME_OF(table, value) \
    ((size_t)(value) < sizeof(table) / sizeof *(table) ? (table)[value] : "unknown")

const char *devimg_status_name(enum devimg_status status)
{
    static const char *const names[] = { "ok",          "end",   "truncated", "malformed",
                                         "unsupported", "limit", "no-memory", "io" };
    return NAME_OF(names, status);
}

const char *devimg_file_kind_name(enum devimg_file_kind kind)
{
    static const char *const names[] = { "elf", "pe", "coff", "ar", "package", "raw" };
    return NAME_OF(names, kind);
}

const char *devimg_record_status_name(enum devimg_record_status status)
{
    static const char *const names[] = { "ok", "no-device-code", "damaged", "unreadable" };
    return NAME_OF(names, status);
}

const char *devimg_offload_name(enum devimg_offload offload)
{
    static const char *const names[] = { "unknown", "sycl",   "cuda", "hip",
                                         "openmp",  "opencl", "acpp" };
    return NAME_OF(names, offload);
}

const char *devimg_format_name(enum devimg_format format)
{
    static const char *const names[] = { "unknown", "zebin",  "patchtoken", "spirv",   "cubin",
                                         "ptx",     "lto-ir", "amdgpu",     "bitcode", "archive" };
    return NAME_OF(names, format);
}

const char *devimg_compression_name(enum devimg_compression compression)
{
    static const char *const names[] = { "none", "zstd", "zlib", "lz4" };
    return NAME_OF(names, compression);
}

const char *devimg_device_link_name(enum devimg_device_link link)
{
    static const char *const names[] = { NULL, "input", "linked", "result" };
    return NAME_OF(names, link);
}

const char *devimg_severity_name(enum devimg_severity severity)
{
    static const char *const names[] = { "note", "warning", "error" };
    return NAME_OF(names, severity);
}

const char *devimg_feature_name(uint32_t bit)
{
    switch (bit) {
    case DEVIMG_FEATURE_FP64: return "fp64";
    case DEVIMG_FEATURE_FP16: return "fp16";
    case DEVIMG_FEATURE_ATOMIC64: return "atomic64";
    case DEVIMG_FEATURE_MATRIX: return "matrix";
    case DEVIMG_FEATURE_ESIMD: return "esimd";
    default: return NULL;
    }
}
