/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words of the compilers. Sources: requirements S1-7, S1-11, S1-13, S3-7, S3-8, S4-4, S4-5, S4-9
 * (docs/requirements.md); intel/llvm sycl/doc/UsersManual.md; AdaptiveCpp doc/compilation.md.
 */
#include "sycl/flags.h"

#include <string.h>

#include "sycl/detect.h"

/* ---- the tables: NULL-ended lists for each compiler and step ---- */

/* Which part of the words stands at a place of a table. */
enum part {
    END,
    WORD,     /* as it is */
    COMPRESS, /* --offload-compress and its level, unless raw */
    TARGETS,  /* -fsycl-targets=spir64_gen,FALLBACK,ALSO; nothing where -fsycl alone says so */
    DEVICES,  /* the selector and, directly behind it, the one word with the list */
    STRICT,   /* words of strict arithmetic */
    STRICT_LINK
};
struct row {
    enum part part;
    const char *word;
};

/* Images at compile time: the link makes the fallback, and keeps what it finds. */
static const struct row icpx_compile[] = { { STRICT, NULL },   { COMPRESS, NULL },
                                           { WORD, "-fsycl" }, { WORD, "-fno-sycl-rdc" },
                                           { TARGETS, NULL },  { DEVICES, NULL },
                                           { END, NULL } };
static const struct row icpx_link[] = {
    { STRICT_LINK, NULL }, { COMPRESS, NULL }, { WORD, "-fsycl" }, { END, NULL }
};
/* Images at the link: the compile line only picks the kinds of bitcode. */
static const struct row icpx_rdc_compile[] = {
    { STRICT, NULL }, { COMPRESS, NULL }, { WORD, "-fsycl" }, { TARGETS, NULL }, { END, NULL }
};
static const struct row icpx_rdc_link[] = { { STRICT_LINK, NULL }, { COMPRESS, NULL },
                                            { WORD, "-fsycl" },    { TARGETS, NULL },
                                            { DEVICES, NULL },     { END, NULL } };
static const struct row icpx_rdc_device_link[] = { { STRICT_LINK, NULL }, { COMPRESS, NULL },
                                                   { WORD, "-fsycl" },    { WORD, "-fsycl-link" },
                                                   { TARGETS, NULL },     { DEVICES, NULL },
                                                   { END, NULL } };
/* link.exe knows no device code: one device link makes an object of it. */
static const struct row msvc_compile[] = {
    { STRICT, NULL }, { WORD, "-fsycl" }, { TARGETS, NULL }, { END, NULL }
};
static const struct row msvc_link[] = { { WORD, "/IGNORE:4078" }, { END, NULL } };
static const struct row msvc_device_link[] = {
    { WORD, "-fsycl" }, { WORD, "-fsycl-link" },
    { TARGETS, NULL },  { DEVICES, NULL },
    { COMPRESS, NULL }, { WORD, "-fp-model=precise" },
    { STRICT, NULL },   { WORD, "-fsycl-max-parallel-link-jobs=8" },
    { END, NULL }
};
static const struct row acpp[] = { { STRICT, NULL },
                                   { WORD, "--acpp-targets=generic" },
                                   { END, NULL } };
static const struct row acpp_link[] = { { WORD, "--acpp-targets=generic" }, { END, NULL } };
static const struct row clang_compile[] = { { STRICT, NULL }, { WORD, "-fsycl" }, { END, NULL } };
static const struct row clang_link[] = { { WORD, "-fsycl" }, { END, NULL } };
static const struct row none[] = { { END, NULL } };

/* The order counts: -fp-model=precise allows contraction again. */
static const char *const icpx_strict[] = { "-fp-model=precise", "-ffp-contract=off",
                                           "-foffload-fp32-prec-div", "-foffload-fp32-prec-sqrt",
                                           NULL };
static const char *const icpx_strict_link[] = { "-foffload-fp32-prec-div",
                                                "-foffload-fp32-prec-sqrt", NULL };
static const char *const msvc_strict_device_link[] = { "-ffp-contract=off",
                                                       "-foffload-fp32-prec-div",
                                                       "-foffload-fp32-prec-sqrt", NULL };
static const char *const clang_strict[] = { "-ffp-model=precise", "-ffp-contract=off", NULL };
static const char *const acpp_strict[] = { "-ffp-contract=off", NULL };

static const struct row *rows_of(const struct dvi_sycl_flags_asked *asked, enum dvi_sycl_step step)
{
    static const struct row *const icpx[] = { icpx_compile, icpx_link, none };
    static const struct row *const icpx_rdc[] = { icpx_rdc_compile, icpx_rdc_link,
                                                  icpx_rdc_device_link };
    static const struct row *const msvc[] = { msvc_compile, msvc_link, msvc_device_link };
    static const struct row *const acpps[] = { acpp, acpp_link, none };
    static const struct row *const clangs[] = { clang_compile, clang_link, none };
    switch (asked->compiler) {
    case DVI_SYCL_ACPP: return acpps[step];
    case DVI_SYCL_CLANG: return clangs[step];
    case DVI_SYCL_ICPX: break;
    }
    return asked->syntax == DVI_SYNTAX_MSVC ? msvc[step] : asked->rdc ? icpx_rdc[step] : icpx[step];
}

static const char *const *strict_of(const struct dvi_sycl_flags_asked *asked,
                                    enum dvi_sycl_step step)
{
    switch (asked->compiler) {
    case DVI_SYCL_ACPP: return acpp_strict;
    case DVI_SYCL_CLANG: return clang_strict;
    case DVI_SYCL_ICPX: break;
    }
    return step == DVI_STEP_DEVICE_LINK ? msvc_strict_device_link : icpx_strict;
}

/* ---- what was asked, made into names ---- */

struct maker {
    const struct dvi_sycl_flags_asked *asked;
    struct dvi_sycl_flags *out;
    const char *fallback;    /* ",spir64", ",spir64,spirv64", or "" */
    const char *also;        /* ",native_cpu": what is no fallback as well, or "" */
    const char *device_word; /* of the whole list; NULL: it is empty */
    const char *unit_word;   /* of the unit's list */
};

static enum devimg_status fail_memory(struct devimg_error *err)
{
    return dvi_fail_memory(err, "");
}

static enum devimg_status warn(struct maker *m, const char *text, struct devimg_error *err)
{
    const char **added = text != NULL ? DVI_ADD(&m->out->warnings) : NULL;
    if (added == NULL)
        return fail_memory(err);
    *added = text;
    return DEVIMG_OK;
}

static enum devimg_status read_targets(struct maker *m, struct devimg_error *err)
{
    const struct devimg_policy *policy = m->asked->policy;
    const bool of_policy = m->asked->targets == NULL && policy != NULL && policy->has_targets;
    const char *list = m->asked->targets != NULL ? m->asked->targets : "default-intel";
    struct dvi_sycl_targets_asked asked = { .lists = &list, .count = 1 };
    const size_t count = of_policy ? policy->targets.known.count : 0;
    const char **names = dvi_arena_array(&m->out->arena, count + 1, sizeof *names);
    if (names == NULL)
        return fail_memory(err);
    for (size_t i = 0; i < count; i++)
        names[i] = policy->targets.known.items[i]->name;
    if (of_policy)
        asked = (struct dvi_sycl_targets_asked){ .lists = names, .count = count };
    DVI_TRY(dvi_sycl_targets_read(&asked, &m->out->targets, err));
    for (size_t i = 0; i < m->out->targets.warnings.count; i++)
        DVI_TRY(warn(m, m->out->targets.warnings.items[i], err));
    m->device_word = m->unit_word = m->out->targets.device_word;
    return DEVIMG_OK;
}

static enum devimg_status join_fallback(struct maker *m, const struct dvi_target_set *set,
                                        struct devimg_error *err)
{
    m->fallback = "";
    if (set->unknown.count > 0)
        return dvi_fail_plain(err, DEVIMG_MALFORMED, "", "--fallback: no table has \"%.60s\"",
                              set->unknown.items[0]);
    for (size_t i = 0; i < set->known.count; i++) {
        const struct devimg_target *t = set->known.items[i];
        if (strcmp(t->kind, "portable") != 0)
            return dvi_fail_plain(err, DEVIMG_MALFORMED, "",
                                  "--fallback: %s is no portable image, such as spir64", t->name);
        m->fallback =
            dvi_arena_format(&m->out->arena, "%s,%s", m->fallback, set->known.items[i]->name);
        if (m->fallback == NULL)
            return fail_memory(err);
    }
    return DEVIMG_OK;
}

static enum devimg_status read_fallback(struct maker *m, struct devimg_error *err)
{
    const struct devimg_policy *policy = m->asked->policy;
    struct dvi_target_set set = { 0 };
    if (m->asked->fallback == NULL && policy != NULL && policy->fallback.known.count > 0)
        return join_fallback(m, &policy->fallback, err);
    const char *list = m->asked->fallback != NULL ? m->asked->fallback : "spir64";
    enum devimg_status st = dvi_target_set_add(&set, list, &m->out->arena, err);
    if (st == DEVIMG_OK)
        st = join_fallback(m, &set, err);
    dvi_target_set_free(&set);
    if (st != DEVIMG_OK || *m->fallback != 0)
        return st;
    return warn(m,
                "no fallback: a device that is not in the list finds no kernel, where a portable "
                "image would cost it one slow start",
                err);
}

/* Is `entry` one of ",a,b"? */
static bool has_entry(const char *entries, const char *entry)
{
    const size_t size = strlen(entry);
    for (const char *at = strstr(entries, entry); at != NULL; at = strstr(at + 1, entry))
        if (at[-1] == ',' && (at[size] == ',' || at[size] == '\0'))
            return true;
    return false;
}

/* spir64_gen stands in the words where there is a device list for it, and only there. */
static enum devimg_status add_also(struct maker *m, const struct dvi_detection *entries,
                                   struct devimg_error *err)
{
    for (size_t i = 0; i < entries->warnings.count; i++)
        DVI_TRY(warn(m, entries->warnings.items[i], err));
    for (size_t i = 0; i < entries->targets.count; i++) {
        const char *entry = entries->targets.items[i];
        if (strcmp(entry, "spir64_gen") == 0 || has_entry(m->fallback, entry))
            continue;
        m->also = dvi_arena_format(&m->out->arena, "%s,%s", m->also, entry);
        if (m->also == NULL)
            return fail_memory(err);
    }
    return DEVIMG_OK;
}

static enum devimg_status read_also(struct maker *m, struct devimg_error *err)
{
    struct dvi_detection entries = { 0 };
    enum devimg_status st = DEVIMG_OK;
    for (size_t i = 0; st == DEVIMG_OK && i < m->asked->also_count; i++)
        st = dvi_detect_targets(&entries, m->asked->also[i], &m->out->arena, err);
    if (st == DEVIMG_OK)
        st = add_also(m, &entries, err);
    dvi_detection_free(&entries);
    return st;
}

/* ---- targets that a unit is built without ---- */

static bool is_without(const struct dvi_gap *gap, const struct devimg_target *target)
{
    for (size_t i = 0; i < gap->without.known.count; i++)
        if (gap->without.known.items[i] == target)
            return true;
    return false;
}

/* The targets of the list that the gap names, "a,b", or NULL: none. */
static enum devimg_status names_without(struct maker *m, const struct dvi_gap *gap,
                                        const char **names, struct devimg_error *err)
{
    *names = NULL;
    for (size_t i = 0; i < m->out->targets.list.count; i++) {
        const struct devimg_target *t = m->out->targets.list.items[i].row;
        if (!is_without(gap, t))
            continue;
        *names =
            *names == NULL ? t->name : dvi_arena_format(&m->out->arena, "%s,%s", *names, t->name);
        if (*names == NULL)
            return fail_memory(err);
    }
    return DEVIMG_OK;
}

/* Where one device link makes the images of all units, none can have a list of its own. */
static enum devimg_status refuse_gap(const struct maker *m, const struct dvi_gap *gap,
                                     const char *names, struct devimg_error *err)
{
    return dvi_fail_plain(err, DEVIMG_UNSUPPORTED, "",
                          "the policy skips %.40s for \"%.24s\", but %s: the list of a unit would "
                          "be that of all",
                          names, gap->pattern,
                          m->asked->syntax == DVI_SYNTAX_MSVC
                              ? "with MSVC one device link makes the images of every unit"
                              : "with --rdc the link makes the images of every unit");
}

static enum devimg_status leave_out(struct maker *m, const struct dvi_gap *gap, const char *names,
                                    bool *skipped, struct devimg_error *err)
{
    for (size_t i = 0; i < m->out->targets.list.count; i++)
        if (is_without(gap, m->out->targets.list.items[i].row))
            skipped[i] = true;
    return warn(m,
                dvi_arena_format(&m->out->arena, "%s: no native image for %s: %s", m->asked->unit,
                                 names, gap->reason),
                err);
}

static enum devimg_status make_unit_word(struct maker *m, const bool *skipped,
                                         struct devimg_error *err)
{
    m->unit_word = NULL;
    for (size_t i = 0; i < m->out->targets.list.count; i++) {
        const char *name = m->out->targets.list.items[i].row->name;
        if (skipped[i])
            continue;
        m->unit_word = m->unit_word == NULL
                           ? dvi_arena_format(&m->out->arena, "-device %s", name)
                           : dvi_arena_format(&m->out->arena, "%s,%s", m->unit_word, name);
        if (m->unit_word == NULL)
            return fail_memory(err);
    }
    if (m->unit_word != NULL)
        return DEVIMG_OK;
    return warn(m,
                dvi_arena_format(&m->out->arena,
                                 "%s: every target is skipped: it is compiled for JIT only, and "
                                 "pays the cold start on every device",
                                 m->asked->unit),
                err);
}

static enum devimg_status apply_gaps(struct maker *m, struct devimg_error *err)
{
    const struct devimg_policy *policy = m->asked->policy;
    const bool one_list = m->asked->syntax == DVI_SYNTAX_MSVC || m->asked->rdc;
    size_t skipping = 0, used = 0;
    if (policy == NULL || m->device_word == NULL)
        return DEVIMG_OK;
    bool *skipped = dvi_arena_array(&m->out->arena, m->out->targets.list.count, sizeof *skipped);
    if (skipped == NULL)
        return fail_memory(err);
    for (size_t i = 0; i < policy->gaps.count; i++) {
        const struct dvi_gap *gap = &policy->gaps.items[i];
        const char *names = NULL;
        if (gap->by_unit)
            DVI_TRY(names_without(m, gap, &names, err));
        if (names == NULL)
            continue;
        skipping++;
        if (one_list)
            return refuse_gap(m, gap, names, err);
        if (m->asked->unit == NULL || !dvi_gap_has_unit(gap, m->asked->unit))
            continue;
        DVI_TRY(leave_out(m, gap, names, skipped, err));
        used++;
    }
    if (skipping > 0 && m->asked->unit == NULL && !m->asked->units_apart)
        return warn(m,
                    "the policy skips targets for some units, and these words do not: ask with "
                    "--unit for each",
                    err);
    return used > 0 ? make_unit_word(m, skipped, err) : DEVIMG_OK;
}

/* ---- what a compiler cannot do ---- */

static const char *name_of(enum dvi_sycl_compiler compiler)
{
    switch (compiler) {
    case DVI_SYCL_ACPP: return "AdaptiveCpp";
    case DVI_SYCL_CLANG: return "clang";
    case DVI_SYCL_ICPX: break;
    }
    return "icpx";
}

static enum devimg_status check_compression(struct maker *m, struct devimg_error *err)
{
    const struct devimg_policy *policy = m->asked->policy;
    const bool required = policy != NULL && policy->compression == DVI_CHOICE_STRICT;
    const char *name = name_of(m->asked->compiler);
    if (m->asked->raw)
        return required ? warn(m, "the policy requires compression, and these words have none", err)
                        : DEVIMG_OK;
    if (m->asked->compiler == DVI_SYCL_ICPX)
        return DEVIMG_OK;
    if (required || m->asked->level > 0)
        return dvi_fail_plain(err, DEVIMG_UNSUPPORTED, "",
                              "%s cannot compress device images: use icpx, or --no-compression%s",
                              name, required ? " and no \"compression: required\"" : "");
    return warn(m,
                dvi_arena_format(&m->out->arena,
                                 "%s cannot compress device images: they are stored raw", name),
                err);
}

static bool names_some(const char *list)
{
    return list != NULL && list[strspn(list, " ,")] != '\0';
}

static bool names_entries(const struct dvi_sycl_flags_asked *asked)
{
    for (size_t i = 0; i < asked->also_count; i++)
        if (names_some(asked->also[i]))
            return true;
    return false;
}

static enum devimg_status check_compiler(struct maker *m, struct devimg_error *err)
{
    const char *name = name_of(m->asked->compiler);
    if (m->asked->compiler == DVI_SYCL_ICPX)
        return DEVIMG_OK;
    if (m->asked->syntax == DVI_SYNTAX_MSVC)
        return dvi_fail_plain(err, DEVIMG_UNSUPPORTED, "",
                              "--syntax msvc is for icpx (icx-cl), not for %s", name);
    if (m->asked->rdc)
        return dvi_fail_plain(err, DEVIMG_UNSUPPORTED, "", "--rdc is for icpx, not for %s", name);
    if (names_some(m->asked->targets) || names_entries(m->asked))
        DVI_TRY(warn(m,
                     dvi_arena_format(&m->out->arena,
                                      "the target list is for icpx: %s gets no word of it", name),
                     err));
    if (m->asked->compiler == DVI_SYCL_ACPP)
        return warn(m,
                    "generic is compiled at the first run on each machine: the first launch waits, "
                    "as with icpx and no target list",
                    err);
    return warn(m,
                "clang makes SPIR-V only: the first launch waits for its compilation; a clang++ "
                "of intel/llvm takes the words of icpx",
                err);
}

/* ---- words ---- */

static enum devimg_status add(struct dvi_sycl_words *words, const char *word,
                              struct devimg_error *err)
{
    const char **added = word != NULL ? DVI_ADD(&words->list) : NULL;
    if (added == NULL)
        return fail_memory(err);
    *added = word;
    return DEVIMG_OK;
}

static enum devimg_status add_all(struct dvi_sycl_words *words, const char *const *list,
                                  struct devimg_error *err)
{
    for (; *list != NULL; list++)
        DVI_TRY(add(words, *list, err));
    return DEVIMG_OK;
}

static enum devimg_status add_compression(struct maker *m, struct dvi_sycl_words *words,
                                          struct devimg_error *err)
{
    const unsigned level = m->asked->level > 0 ? m->asked->level : DVI_COMPRESSION_LEVEL;
    if (m->asked->raw)
        return DEVIMG_OK;
    DVI_TRY(add(words, "--offload-compress", err));
    return add(words, dvi_arena_format(&m->out->arena, "--offload-compression-level=%u", level),
               err);
}

static enum devimg_status add_entries(struct maker *m, bool native, struct dvi_sycl_words *words,
                                      struct devimg_error *err)
{
    const char *entries = dvi_arena_format(&m->out->arena, "%s%s%s", native ? ",spir64_gen" : "",
                                           m->fallback, m->also);
    if (!native && *m->also == '\0')
        return DEVIMG_OK; /* -fsycl alone makes SPIR-V */
    if (entries == NULL)
        return fail_memory(err);
    return add(words, dvi_arena_format(&m->out->arena, "-fsycl-targets=%s", entries + 1), err);
}

static enum devimg_status add_part(struct maker *m, enum dvi_sycl_step step, const struct row *row,
                                   struct dvi_sycl_words *words, struct devimg_error *err)
{
    const char *device_word = step == DVI_STEP_COMPILE ? m->unit_word : m->device_word;
    switch (row->part) {
    case WORD: return add(words, row->word, err);
    case COMPRESS: return add_compression(m, words, err);
    case TARGETS: return add_entries(m, device_word != NULL, words, err);
    case DEVICES:
        if (device_word == NULL)
            return DEVIMG_OK;
        DVI_TRY(add(words, "-Xsycl-target-backend=spir64_gen", err));
        return add(words, device_word, err);
    case STRICT:
        return m->asked->strict_fp ? add_all(words, strict_of(m->asked, step), err) : DEVIMG_OK;
    case STRICT_LINK:
        return m->asked->strict_fp ? add_all(words, icpx_strict_link, err) : DEVIMG_OK;
    case END: break;
    }
    return DEVIMG_OK;
}

static enum devimg_status make(struct maker *m, struct devimg_error *err)
{
    DVI_TRY(check_compiler(m, err));
    DVI_TRY(check_compression(m, err));
    if (m->asked->compiler == DVI_SYCL_ICPX) { /* the others take no list, also not a wrong one */
        DVI_TRY(read_targets(m, err));
        if (m->out->targets.refused)
            return DEVIMG_OK;
        DVI_TRY(read_fallback(m, err));
        DVI_TRY(read_also(m, err));
        DVI_TRY(apply_gaps(m, err));
    }
    for (int step = 0; step < DVI_STEP_COUNT; step++)
        for (const struct row *row = rows_of(m->asked, (enum dvi_sycl_step)step); row->part != END;
             row++)
            DVI_TRY(add_part(m, (enum dvi_sycl_step)step, row, &m->out->steps[step], err));
    return DEVIMG_OK;
}

enum devimg_status dvi_sycl_flags_make(const struct dvi_sycl_flags_asked *asked,
                                       struct dvi_sycl_flags *out, struct devimg_error *err)
{
    struct maker m = { .asked = asked, .out = out, .fallback = "", .also = "" };
    *out = (struct dvi_sycl_flags){ 0 };
    return make(&m, err);
}

void dvi_sycl_flags_free(struct dvi_sycl_flags *flags)
{
    for (int step = 0; step < DVI_STEP_COUNT; step++)
        DVI_LIST_FREE(&flags->steps[step].list);
    DVI_LIST_FREE(&flags->warnings);
    dvi_sycl_targets_free(&flags->targets);
    dvi_arena_free(&flags->arena);
}
