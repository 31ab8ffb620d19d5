/* SPDX-License-Identifier: Apache-2.0 */
/* ocloc: OpenCL C and SPIR-V for Intel GPUs. Source of the options: `ocloc compile --help`. */
#include <string.h>

#include "sycl/compiler.h"

static const char *const programs[] = { "ocloc", "ocloc-[0-9]*", NULL };
static const char *const suffixes[] = { ".cl", ".spv", NULL };
static const char *const spirv[] = { ".spv", NULL };
static const char *const none[] = { NULL };
static const char *const libraries[] = {
    "libocloc.so*",         "libocloc-*.so*", "libigc.so*", "libigdfcl.so*",
    "libopencl-clang*.so*", "libiga64.so*",   NULL
};
static const char *const environment[] = { "LD_LIBRARY_PATH", "IGC_*",      "OCL_*",
                                           "NEO_*",           "LD_PRELOAD", NULL };

static const struct dvi_dropped dropped[] = {
    { "compile", DVI_DROP_WORD },      { "-q", DVI_DROP_WORD },
    { "-file", DVI_DROP_NEXT },        { "-device", DVI_DROP_NEXT },
    { "-output", DVI_DROP_NEXT },      { "-out_dir", DVI_DROP_NEXT },
    { "-o", DVI_DROP_NEXT },           { "-output_no_suffix", DVI_DROP_WORD },
    { "-spirv_input", DVI_DROP_WORD }, { NULL, DVI_DROP_WORD },
};

/* `ocloc compile -file X`, or in its older form without "compile". */
static const char *source_of(const char *const *words, size_t count, const char *file)
{
    (void)file;
    for (size_t i = 0; i + 1 < count; i++)
        if (strcmp(words[i], "-file") == 0 && dvi_has_suffix(suffixes, words[i + 1]))
            return words[i + 1];
    return NULL;
}

static bool is_spirv(const struct dvi_unit *unit)
{
    return dvi_words_have(unit->words, unit->word_count, "-spirv_input") ||
           dvi_has_suffix(spirv, unit->file);
}

static enum devimg_status make_words(const struct dvi_job *job, struct dvi_arena *arena,
                                     struct dvi_sycl_words *out, struct devimg_error *err)
{
    const struct dvi_unit *unit = job->unit;
    const char *const first[] = { job->program, "compile", "-file", unit->file, NULL };
    const char *const end[] = { "-device", job->target->name,   "-output",
                                job->out,  "-output_no_suffix", NULL };
    (void)arena;
    DVI_TRY(dvi_words_add_all(out, first, err));
    if (is_spirv(unit))
        DVI_TRY(dvi_words_add(out, "-spirv_input", err));
    DVI_TRY(dvi_words_keep(out, dropped, unit->words, unit->word_count, err));
    DVI_TRY(dvi_words_add_some(out, job->more, job->more_count, err));
    return dvi_words_add_all(out, end, err);
}

static enum dvi_reads reads(const struct dvi_unit *unit)
{
    return is_spirv(unit) ? DVI_READS_ALONE : DVI_READS_INCLUDES;
}

const struct dvi_compiler dvi_compiler_ocloc = {
    .name = "ocloc",
    .programs = programs,
    .suffixes = suffixes,
    .source_of = source_of,
    .words = make_words,
    .reads = reads,
    .folders = none,
    .parts = none,
    .libraries = libraries,
    .environment = environment,
    .remedy = dvi_sycl_ocloc_remedy,
};
