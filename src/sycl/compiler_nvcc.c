/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvcc: CUDA, device code only (-cubin), for one GPU. Source of the options: "NVIDIA CUDA Compiler
 * Driver NVCC", sections "NVCC Command Options" and "GPU Compilation".
 */
#include <string.h>

#include "sycl/compiler.h"

static const char *const programs[] = { "nvcc", NULL };
static const char *const suffixes[] = { ".cu", NULL };
static const char *const folders[] = { ".", "../nvvm/bin", NULL };
static const char *const parts[] = { "nvcc.profile", "cudafe++", "cicc", "ptxas",
                                     "fatbinary",    "nvlink",   NULL };
static const char *const environment[] = {
    "NVCC_*", "CUDA_*", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", NULL
};

static const struct dvi_dropped dropped[] = {
    { "-c", DVI_DROP_WORD },
    { "--compile", DVI_DROP_WORD },
    { "-dc", DVI_DROP_WORD },
    { "--device-c", DVI_DROP_WORD },
    { "-dw", DVI_DROP_WORD },
    { "--device-w", DVI_DROP_WORD },
    { "-cubin", DVI_DROP_WORD },
    { "--cubin", DVI_DROP_WORD },
    { "-ptx", DVI_DROP_WORD },
    { "--ptx", DVI_DROP_WORD },
    { "-fatbin", DVI_DROP_WORD },
    { "--fatbin", DVI_DROP_WORD },
    { "-o", DVI_DROP_NEXT },
    { "--output-file", DVI_DROP_NEXT },
    { "--output-file=", DVI_DROP_START },
    { "-gencode", DVI_DROP_NEXT },
    { "-gencode=", DVI_DROP_START },
    { "--generate-code", DVI_DROP_NEXT },
    { "--generate-code=", DVI_DROP_START },
    { "-arch", DVI_DROP_NEXT },
    { "-arch=", DVI_DROP_START },
    { "--gpu-architecture", DVI_DROP_NEXT },
    { "--gpu-architecture=", DVI_DROP_START },
    { "-code", DVI_DROP_NEXT },
    { "-code=", DVI_DROP_START },
    { "--gpu-code", DVI_DROP_NEXT },
    { "--gpu-code=", DVI_DROP_START },
    { "-M", DVI_DROP_WORD },
    { "-MM", DVI_DROP_WORD },
    { "-MD", DVI_DROP_WORD },
    { "-MMD", DVI_DROP_WORD },
    { "-MP", DVI_DROP_WORD },
    { "-MF", DVI_DROP_NEXT },
    { "-MT", DVI_DROP_NEXT },
    { NULL, DVI_DROP_WORD },
};

/* Words by which nvcc compiles, and does not link. */
static const char *const compiles[] = { "-c",      "--compile",  "-dc",    "--device-c",
                                        "-dw",     "--device-w", "-cubin", "--cubin",
                                        "-fatbin", "--fatbin",   "-ptx",   "--ptx",
                                        NULL };
/* Words of relocatable device code. */
static const char *const relocatable[] = { "-dc", "--device-c", NULL };

static bool has_any(const char *const *words, size_t count, const char *const *list)
{
    for (; *list != NULL; list++)
        if (dvi_words_have(words, count, *list))
            return true;
    return false;
}

static bool is_cuda(const char *const *words, size_t count, const char *file)
{
    for (size_t i = 0; i + 1 < count; i++)
        if (strcmp(words[i], "-x") == 0 && strcmp(words[i + 1], "cu") == 0)
            return true;
    if (dvi_words_have(words, count, "-xcu"))
        return true;
    return dvi_has_suffix(suffixes, file);
}

static const char *source_of(const char *const *words, size_t count, const char *file)
{
    if (!has_any(words, count, compiles))
        return NULL;
    if (file == NULL)
        file = dvi_words_source(words, count, suffixes);
    return file != NULL && is_cuda(words, count, file) ? file : NULL;
}

static enum devimg_status make_words(const struct dvi_job *job, struct dvi_arena *arena,
                                     struct dvi_sycl_words *out, struct devimg_error *err)
{
    const struct dvi_unit *unit = job->unit;
    const char *arch = dvi_arena_format(arena, "-arch=%s", job->target->name);
    const char *const end[] = { "-MD", "-MF", job->deps, "-cubin", "-o", job->out, NULL };
    DVI_TRY(dvi_words_add(out, job->program, err));
    DVI_TRY(dvi_words_keep(out, dropped, unit->words, unit->word_count, err));
    if (has_any(unit->words, unit->word_count, relocatable))
        DVI_TRY(dvi_words_add(out, "-rdc=true", err));
    DVI_TRY(dvi_words_add_some(out, job->more, job->more_count, err));
    DVI_TRY(dvi_words_add(out, arch, err));
    DVI_TRY(dvi_words_add_all(out, end, err));
    return unit->words != NULL ? DEVIMG_OK : dvi_words_add(out, unit->file, err);
}

static enum dvi_reads reads(const struct dvi_unit *unit)
{
    (void)unit;
    return DVI_READS_DEPFILE;
}

const struct dvi_compiler dvi_compiler_nvcc = {
    .name = "nvcc",
    .programs = programs,
    .suffixes = suffixes,
    .cuda = true,
    .source_of = source_of,
    .words = make_words,
    .reads = reads,
    .folders = folders,
    .parts = parts,
    .environment = environment,
    .remedy = "install it (CUDA toolkit, or the package nvidia-cuda-nvcc of PyPI), or name it with "
              "--nvcc",
};
