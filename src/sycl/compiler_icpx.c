/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DPC++: icpx, and the clang++ of intel/llvm. A unit is compiled for one target as a build compiles
 * it for its list: the device code is linked and given to ocloc in the same call (-fno-sycl-rdc).
 * The words are those of sycl/flags.c; what a build asks of ocloc beside the list stays.
 */
#include <string.h>

#include "base/glob.h"
#include "sycl/compiler.h"

static const char *const programs[] = { "icpx",      "icx",         "dpcpp", "clang++",
                                        "clang++-*", "icpx-[0-9]*", NULL };
static const char *const suffixes[] = { ".cpp", ".cc", ".cxx", ".c++", ".C", ".CPP", NULL };
static const char *const folders[] = { ".", "compiler", NULL };
static const char *const parts[] = { "icpx.cfg",
                                     "clang",
                                     "clang-[0-9]*",
                                     "clang++",
                                     "llvm-spirv",
                                     "sycl-post-link",
                                     "clang-linker-wrapper",
                                     "clang-offload-wrapper",
                                     "clang-offload-bundler",
                                     "llvm-link",
                                     "llvm-foreach",
                                     "file-table-tform",
                                     "ocloc",
                                     NULL };
static const char *const environment[] = { "CPATH",
                                           "C_INCLUDE_PATH",
                                           "CPLUS_INCLUDE_PATH",
                                           "LD_LIBRARY_PATH",
                                           "CMPLR_ROOT",
                                           "ICPXCFG",
                                           "ICXCFG",
                                           "CL",
                                           "CCC_OVERRIDE_OPTIONS",
                                           "SOURCE_DATE_EPOCH",
                                           "SYCL_*",
                                           "IGC_*",
                                           "OCL_*",
                                           NULL };

static const struct dvi_dropped dropped[] = {
    { "-c", DVI_DROP_WORD },
    { "-o", DVI_DROP_NEXT },
    { "-M", DVI_DROP_WORD },
    { "-MM", DVI_DROP_WORD },
    { "-MD", DVI_DROP_WORD },
    { "-MMD", DVI_DROP_WORD },
    { "-MP", DVI_DROP_WORD },
    { "-MG", DVI_DROP_WORD },
    { "-MF", DVI_DROP_START },
    { "-MT", DVI_DROP_START },
    { "-MQ", DVI_DROP_START },
    { "-MJ", DVI_DROP_START },
    { "-fsycl", DVI_DROP_WORD },
    { "-fsycl-rdc", DVI_DROP_WORD },
    { "-fno-sycl-rdc", DVI_DROP_WORD },
    { "-fsycl-device-only", DVI_DROP_WORD },
    { "--offload-compress", DVI_DROP_WORD },
    { "--no-offload-compress", DVI_DROP_WORD },
    { "--offload-compression-level", DVI_DROP_START },
    { NULL, DVI_DROP_WORD },
};

/* A compile with -fsycl; host code is not ours. */
static const char *source_of(const char *const *words, size_t count, const char *file)
{
    if (!dvi_words_have(words, count, "-fsycl") || !dvi_words_have(words, count, "-c"))
        return NULL;
    return file != NULL ? file : dvi_words_source(words, count, suffixes);
}

/* The words for ocloc without the list, as they are quoted in the one word; "": nothing is left. */
static enum devimg_status without_devices(const char *options, struct dvi_arena *arena,
                                          const char **out, struct devimg_error *err)
{
    char *room = dvi_arena_array(arena, strlen(options) + 2, 1);
    bool is_list = false, open_quote = false;
    *out = "";
    if (room == NULL)
        return dvi_fail_memory(err, "-device");
    for (const char *from = options; dvi_next_shell_word(&options, room, &open_quote);
         from = options) {
        const bool names = is_list;
        is_list = strcmp(room, "-device") == 0;
        if (is_list || names)
            continue;
        from += strspn(from, " \t");
        *out = dvi_arena_format(arena, "%s%s%.*s", *out, **out != '\0' ? " " : "",
                                (int)(options - from), from);
        if (*out == NULL)
            return dvi_fail_memory(err, "-device");
    }
    return DEVIMG_OK;
}

/* What a build hands to ocloc goes there again, without its list; words for other devices do not. */
static enum devimg_status take_backend(const struct dvi_line_word *w, struct dvi_arena *arena,
                                       struct dvi_sycl_words *out, struct devimg_error *err)
{
    const char *left = "";
    if (w->value == NULL || w->backend == DVI_BACKEND_OTHER)
        return DEVIMG_OK;
    DVI_TRY(without_devices(w->value, arena, &left, err));
    if (*left == '\0')
        return DEVIMG_OK;
    DVI_TRY(dvi_words_add(out, "-Xsycl-target-backend=spir64_gen", err));
    return dvi_words_add(out, left, err);
}

static enum devimg_status take_build(const struct dvi_unit *unit, struct dvi_arena *arena,
                                     struct dvi_sycl_words *out, struct devimg_error *err)
{
    const struct dvi_compile_line line = { .words = unit->words, .count = unit->word_count };
    struct dvi_line_word w = { 0 };
    for (size_t at = 0, start = 0; dvi_line_next(&line, &at, &w); start = at) {
        if (w.backend != DVI_BACKEND_NONE) {
            DVI_TRY(take_backend(&w, arena, out, err));
            continue;
        }
        const size_t used =
            w.takes_value ? 0 : dvi_words_dropped(dropped, unit->words, start, unit->word_count);
        if (used > 0)
            at = start + used;
        else if (dvi_word_after(w.word, "fsycl-targets=") == NULL)
            DVI_TRY(dvi_words_add(out, w.word, err));
        if (used == 0 && w.value != NULL)
            DVI_TRY(dvi_words_add(out, w.value, err));
    }
    return DEVIMG_OK;
}

static enum devimg_status make_words(const struct dvi_job *job, struct dvi_arena *arena,
                                     struct dvi_sycl_words *out, struct devimg_error *err)
{
    const struct dvi_sycl_words *target = &job->target->flags.steps[DVI_STEP_COMPILE];
    const char *const end[] = { "-MD", "-MF", job->deps, "-c", "-o", job->out, NULL };
    DVI_TRY(dvi_words_add(out, job->program, err));
    if (job->unit->words != NULL)
        DVI_TRY(take_build(job->unit, arena, out, err));
    DVI_TRY(dvi_words_add_some(out, job->more, job->more_count, err));
    DVI_TRY(dvi_words_add_some(out, target->list.items, target->list.count, err));
    DVI_TRY(dvi_words_add_all(out, end, err));
    return job->unit->words != NULL ? DEVIMG_OK : dvi_words_add(out, job->unit->file, err);
}

static enum dvi_reads reads(const struct dvi_unit *unit)
{
    (void)unit;
    return DVI_READS_DEPFILE;
}

const struct dvi_compiler dvi_compiler_icpx = {
    .name = "icpx",
    .programs = programs,
    .suffixes = suffixes,
    .source_of = source_of,
    .words = make_words,
    .reads = reads,
    .needs = "ocloc",
    .folders = folders,
    .parts = parts,
    .environment = environment,
    .remedy = "install it (oneAPI) or source its setvars.sh, or name it with --icpx",
};
