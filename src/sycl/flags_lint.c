/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What goes wrong in silence. Sources: requirements S1-6, S1-7, S1-40, S3-3, S3-4, S3-13 to S3-15,
 * S4-2 (docs/requirements.md); intel/llvm sycl/doc/UsersManual.md.
 *
 * A line is read twice: for the facts about the whole of it, then word by word.
 */
#include "sycl/flags_lint.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "check/compile_lines.h"

/* Words that act where device code is made: index is the bit in `link_only`. */
static const char *const device_words[] = {
    "foffload-fp32-prec-div",     "fno-offload-fp32-prec-div",    "foffload-fp32-prec-sqrt",
    "fno-offload-fp32-prec-sqrt", "ftarget-register-alloc-mode=",
};
enum { DEVICE_WORDS = sizeof device_words / sizeof *device_words };

struct facts {
    bool sycl;     /* -fsycl, or a compiler for which it goes without saying */
    bool targets;  /* -fsycl-targets */
    bool no_link;  /* -c and the like */
    bool rdc;      /* relocatable device code */
    bool gen;      /* spir64_gen: its targets stand behind -device */
    bool aot;      /* some target of Intel GPUs, by spir64_gen or by its own name */
    bool portable; /* spir64, spirv64 */
    bool compressed;
    bool acpp, generic; /* AdaptiveCpp; with "generic", or without targets */
    bool link_exe;      /* the linker of Windows itself */
    bool has_list;      /* "-device A,B" stands somewhere */
    size_t kinds;       /* entries of -fsycl-targets */
    unsigned device_words;
};

struct lint {
    struct dvi_lint *out;
    const struct facts *link; /* NULL: not known */
    bool is_link;             /* the line at hand is that */
    const char *file;         /* of the line at hand, in the arena; NULL: none */
    uint64_t entry;
    uint64_t more[DEVIMG_ERROR + 1]; /* findings that are not kept */
    bool link_repeats;               /* said */
};

/* ---- findings ---- */

/* Also where there are DVI_LINT_MOST already. */
static enum devimg_status add(struct lint *l, enum devimg_severity severity, const char *code,
                              const char *target, const char *message, const char *hint,
                              struct devimg_error *err)
{
    struct dvi_lint_finding *added = message != NULL ? DVI_ADD(&l->out->findings) : NULL;
    if (added == NULL)
        return dvi_fail_memory(err, "");
    *added = (struct dvi_lint_finding){
        .finding = { .rule = "sycl-flags",
                     .code = code,
                     .severity = severity,
                     .record = DEVIMG_NONE,
                     .module = DEVIMG_NONE,
                     .image = DEVIMG_NONE,
                     .unit = l->file,
                     .target = target,
                     .offset = DEVIMG_UNKNOWN,
                     .message = message,
                     .hint = hint },
        .entry = l->entry,
    };
    return DEVIMG_OK;
}

static bool is_full(const struct lint *l)
{
    return l->out->findings.count >= DVI_LINT_MOST;
}

static enum devimg_status say(struct lint *l, enum devimg_severity severity, const char *code,
                              const char *target, const char *message, const char *hint,
                              struct devimg_error *err)
{
    if (!is_full(l))
        return add(l, severity, code, target, message, hint, err);
    l->more[severity]++;
    return DEVIMG_OK;
}

/* A text that holds bytes of the line; not made when the finding is not kept. */
static const char *text_of(struct lint *l, const char *format, const char *word)
{
    char shown[81];
    if (is_full(l))
        return "";
    dvi_show(shown, sizeof shown, dvi_view_of(word, strlen(word), NULL));
    /* every format has one %s */
    const char *mark = strstr(format, "%s");
    return dvi_arena_format(&l->out->arena, "%.*s%s%s", (int)(mark - format), format, shown,
                            mark + 2);
}

/* ---- facts ---- */

static bool has_program(const char *word, const char *name)
{
    const char *base = dvi_base_name(word);
    const size_t size = strlen(name);
    return strncmp(base, name, size) == 0 && (base[size] == 0 || strcmp(base + size, ".exe") == 0);
}

static void take_kind(struct facts *f, struct dvi_view field)
{
    f->kinds++;
    if (dvi_names_no_gpu(field))
        f->gen = f->aot = true;
    else if (dvi_starts_with(field, "intel_gpu_", strlen("intel_gpu_")))
        f->aot = true;
    else if (dvi_equals(field, "spir64") || dvi_equals(field, "spirv64") ||
             dvi_starts_with(field, "spir64-", strlen("spir64-")) ||
             dvi_starts_with(field, "spirv64-", strlen("spirv64-")))
        f->portable = true;
}

static void take_targets(struct facts *f, const char *list)
{
    struct dvi_view rest = dvi_view_of(list, strlen(list), "-fsycl-targets"), field = { 0 };
    f->targets = true;
    while (dvi_next_field(&rest, ',', &field))
        take_kind(f, field);
}

static bool is_device_list(const char *word)
{
    const char *rest = dvi_word_after(word, "device");
    return rest != NULL && word[0] == '-' && (*rest == 0 || *rest == ' ');
}

static void take_program(struct facts *f, const char *word)
{
    f->link_exe = has_program(word, "link") || has_program(word, "lld-link");
    f->sycl = has_program(word, "dpcpp") || has_program(word, "dpcpp-cl");
    f->acpp = has_program(word, "acpp") || has_program(word, "syclcc") ||
              has_program(word, "syclcc-clang");
    f->generic = f->acpp;
}

static void take_word(struct facts *f, const char *word)
{
    const char *option = word[0] == '-' || word[0] == '/' ? word + 1 : "";
    const char *acpp = dvi_word_after(word, "-acpp-targets=");
    if (acpp == NULL)
        acpp = dvi_word_after(word, "-hipsycl-targets=");
    if (acpp != NULL)
        f->generic = strstr(acpp, "generic") != NULL;
    else if (strcmp(option, "fsycl") == 0)
        f->sycl = true;
    else if (strcmp(option, "fno-sycl") == 0)
        f->sycl = false;
    else if (strcmp(option, "c") == 0 || strcmp(option, "S") == 0 || strcmp(option, "E") == 0)
        f->no_link = true;
    else if (strcmp(option, "fno-sycl-rdc") == 0 || strcmp(option, "fno-gpu-rdc") == 0)
        f->rdc = false;
    else if (strcmp(option, "fsycl-rdc") == 0 || strcmp(option, "fgpu-rdc") == 0)
        f->rdc = true;
    for (unsigned i = 0; i < DEVICE_WORDS; i++)
        if (*option == 'f' && strncmp(option, device_words[i], strlen(device_words[i])) == 0)
            f->device_words |= 1U << i;
}

static struct facts facts_of(const struct dvi_compile_line *line)
{
    const struct dvi_line_facts said = dvi_line_facts(line);
    struct facts f = { .rdc = true, .compressed = said.compress };
    struct dvi_line_word w = { 0 };
    if (line->count > 0)
        take_program(&f, line->words[0]);
    if (said.sycl_targets != NULL)
        take_targets(&f, said.sycl_targets);
    for (size_t at = 0; dvi_line_next(line, &at, &w);) {
        take_word(&f, w.word);
        f.has_list = f.has_list || is_device_list(w.word) ||
                     (w.value != NULL && is_device_list(w.value)) ||
                     (w.backend != DVI_BACKEND_NONE && w.value != NULL &&
                      strstr(w.value, "-device ") != NULL);
    }
    return f;
}

/* Device code for the targets is made by this line, not by one after it. */
static bool makes_images(const struct facts *f)
{
    return f->aot && !(f->no_link && f->rdc);
}

/* ---- the lists ---- */

/* Kinds of -fsycl-targets that no table of Intel's GPUs has. */
static bool is_foreign(const char *name)
{
    static const char *const starts[] = { "spir64",      "spirv64",  "nvptx64",    "amdgcn",
                                          "nvidia_gpu_", "amd_gpu_", "native_cpu", "x86_64" };
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strncmp(name, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

/* Ranges, all of them, and PCI device ids are for ocloc alone to say. */
static bool is_of_ocloc(const char *name)
{
    return strpbrk(name, ":*") != NULL || strncmp(name, "0x", 2) == 0;
}

static enum devimg_status say_unknown(struct lint *l, const char *name, struct devimg_error *err)
{
    const char *nearest = is_full(l) ? NULL : dvi_target_nearest(name);
    const char *shown = text_of(l, "%s", name);
    const char *hint = "devimg targets lists the names; ocloc ids NAME asks an ocloc";
    if (nearest != NULL)
        hint = dvi_arena_format(&l->out->arena, "did you mean %s?", nearest);
    if (shown == NULL || hint == NULL)
        return dvi_fail_memory(err, "");
    return say(l, DEVIMG_ERROR, "unknown-target", shown,
               text_of(l, "no table has the target \"%s\"", name), hint, err);
}

static enum devimg_status judge_set(struct lint *l, const struct dvi_target_set *set, bool devices,
                                    struct devimg_error *err)
{
    for (size_t i = 0; i < set->unknown.count; i++) {
        const char *name = set->unknown.items[i];
        if (devices ? !is_of_ocloc(name) : !is_foreign(name))
            DVI_TRY(say_unknown(l, name, err));
    }
    for (size_t i = 0; devices && i < set->known.count; i++)
        if (set->known.items[i]->ip_version == DEVIMG_UNKNOWN)
            DVI_TRY(say(l, DEVIMG_ERROR, "no-device", set->known.items[i]->name,
                        text_of(l, "%s is no Intel GPU, and stands behind -device",
                                set->known.items[i]->name),
                        "portable images and CPUs stand in -fsycl-targets", err));
    for (size_t i = 0; i < set->repeated.count; i++)
        DVI_TRY(say(l, DEVIMG_WARNING, "repeated-target", set->repeated.items[i],
                    text_of(l, "%s is listed more than once", set->repeated.items[i]),
                    "name it once: a fat image may get two members of one name", err));
    return DEVIMG_OK;
}

static enum devimg_status judge_lists(struct lint *l, const struct dvi_compile_line *line,
                                      struct devimg_error *err)
{
    const struct dvi_line_facts said = dvi_line_facts(line);
    struct dvi_target_set kinds = { 0 }, devices = { 0 };
    struct dvi_arena *arena = line->scratch; /* names are copied into findings */
    enum devimg_status st = DEVIMG_OK;
    if (said.sycl_targets != NULL)
        st = dvi_target_set_add(&kinds, said.sycl_targets, arena, err);
    if (st == DEVIMG_OK)
        st = dvi_line_devices(line, &devices, arena, err);
    if (st == DEVIMG_OK)
        st = judge_set(l, &kinds, false, err);
    if (st == DEVIMG_OK)
        st = judge_set(l, &devices, true, err);
    dvi_target_set_free(&kinds);
    dvi_target_set_free(&devices);
    return st;
}

/* ---- word by word ---- */

static const char behind_selector[] =
    "write -Xsycl-target-backend=spir64_gen and, directly behind it, the one word \"-device A,B\"";

/* `next`: the word behind one that takes it, or NULL. */
static enum devimg_status judge_backend(struct lint *l, const struct facts *f,
                                        enum dvi_backend_word kind, const char *next,
                                        struct devimg_error *err)
{
    const bool is_list = next != NULL && is_device_list(next);
    if (kind == DVI_BACKEND_XS && is_list)
        return say(l, DEVIMG_ERROR, "unqualified-xs", NULL,
                   "-Xs takes the device list to every target, spir64 too, where it is unused",
                   behind_selector, err);
    if (kind == DVI_BACKEND_UNQUALIFIED && is_list && f->kinds > 1)
        return say(l, DEVIMG_ERROR, "unqualified-backend", NULL,
                   "-Xsycl-target-backend names no target, and there are several", behind_selector,
                   err);
    if (kind != DVI_BACKEND_GEN)
        return DEVIMG_OK;
    if (next == NULL)
        return say(l, DEVIMG_ERROR, "selector-without-word", NULL,
                   "-Xsycl-target-backend=spir64_gen is the last word: nothing follows it",
                   behind_selector, err);
    if (strcmp(next, "-device") == 0)
        return say(l, DEVIMG_ERROR, "device-split", NULL,
                   "\"-device\" and its list are two words: the selector takes the first alone",
                   behind_selector, err);
    if (f->sycl && !f->gen)
        return say(l, DEVIMG_WARNING, "selector-without-target", NULL,
                   "words for spir64_gen, which is not among the -fsycl-targets: they are unused",
                   "add spir64_gen to -fsycl-targets, or leave the words out", err);
    return DEVIMG_OK;
}

static enum devimg_status judge_words(struct lint *l, const struct facts *f,
                                      const struct dvi_compile_line *line, struct devimg_error *err)
{
    struct dvi_line_word w = { 0 };
    for (size_t at = 0; dvi_line_next(line, &at, &w);) {
        if (is_device_list(w.word) ||
            (w.backend == DVI_BACKEND_NONE && w.value != NULL && is_device_list(w.value)))
            DVI_TRY(say(l, DEVIMG_ERROR, "device-misplaced", NULL,
                        "\"-device\" does not directly follow -Xsycl-target-backend=spir64_gen: "
                        "it does not get to ocloc",
                        behind_selector, err));
        if (w.backend != DVI_BACKEND_NONE)
            DVI_TRY(judge_backend(l, f, w.backend, w.value, err));
    }
    return DEVIMG_OK;
}

/* ---- the line as a whole ---- */

static enum devimg_status judge_images(struct lint *l, const struct facts *f,
                                       struct devimg_error *err)
{
    if (makes_images(f) && f->gen && !f->has_list)
        DVI_TRY(say(l, DEVIMG_ERROR, "no-device-list", NULL,
                    "spir64_gen is a target, and no \"-device A,B\" says which GPUs",
                    behind_selector, err));
    if (makes_images(f) && !f->compressed)
        DVI_TRY(say(l, DEVIMG_NOTE, "not-compressed", NULL,
                    "native images are stored raw: 65 MB instead of 5 for 19 targets",
                    "--offload-compress --offload-compression-level=22", err));
    if (f->aot && !f->portable)
        DVI_TRY(say(l, DEVIMG_WARNING, "no-fallback", NULL,
                    "no portable image: a device that is not in the list finds no kernel",
                    "add spir64 to -fsycl-targets", err));
    return DEVIMG_OK;
}

/* Relocatable device code: the line picks bitcode, and the link makes images of what ITS line
 * says. */
static enum devimg_status judge_relocatable(struct lint *l, const struct facts *f,
                                            struct devimg_error *err)
{
    static const char hint[] = "-fno-sycl-rdc makes the images here; else repeat the "
                               "-fsycl-targets and the device list at the link";
    if (!f->aot || !f->no_link || !f->rdc || (l->link != NULL && l->link->aot))
        return DEVIMG_OK;
    return l->link != NULL
               ? say(l, DEVIMG_ERROR, "targets-dropped", NULL,
                     "the targets pick bitcode only, and the link, which has none, drops it", hint,
                     err)
               : say(l, DEVIMG_WARNING, "targets-dropped", NULL,
                     "the targets pick bitcode only: a link with a plain -fsycl drops it in "
                     "silence",
                     hint, err);
}

static enum devimg_status judge_against_link(struct lint *l, const struct facts *f,
                                             struct devimg_error *err)
{
    if (l->link == NULL || !f->aot || !f->no_link || f->rdc)
        return DEVIMG_OK;
    for (unsigned i = 0; i < DEVICE_WORDS; i++)
        if ((l->link->device_words & ~f->device_words & 1U << i) != 0)
            DVI_TRY(say(l, DEVIMG_WARNING, "link-only-word", NULL,
                        text_of(l, "the link has -%s, and the native code is made here, without it",
                                device_words[i]),
                        "give the word to the compile line as well", err));
    if (!l->link->aot || l->link_repeats)
        return DEVIMG_OK;
    l->link_repeats = true;
    return say(l, DEVIMG_WARNING, "targets-at-link", NULL,
               "the images are made here, and the link has targets too: each link compiles again",
               "leave -fsycl alone at the link", err);
}

static enum devimg_status judge_link(struct lint *l, const struct facts *f,
                                     struct devimg_error *err)
{
    if (f->link_exe && (f->sycl || f->targets))
        return say(l, DEVIMG_ERROR, "linker-ignores-fsycl", NULL,
                   "the linker of Windows ignores -fsycl (LNK4044): no device code is registered",
                   "one device link makes an object: devimg sycl flags --syntax msvc", err);
    if (f->no_link || f->aot || f->device_words == 0 || !f->sycl || l->is_link)
        return DEVIMG_OK;
    return say(l, DEVIMG_NOTE, "link-only-word", NULL,
               "words for device code at a link without targets: with -fno-sycl-rdc they reach "
               "the fallback alone",
               "see that the compile lines have them as well", err);
}

static enum devimg_status judge(struct lint *l, const struct facts *f,
                                const struct dvi_compile_line *line, struct devimg_error *err)
{
    if (line->open_quote)
        DVI_TRY(say(l, DEVIMG_WARNING, "open-quote", NULL,
                    "a quote has no end: what follows it is one word", NULL, err));
    if (f->acpp && f->generic)
        DVI_TRY(say(l, DEVIMG_WARNING, "cold-start", NULL,
                    "generic is compiled at the first run on each machine: the first launch waits",
                    NULL, err));
    if (f->targets && !f->sycl && !f->link_exe)
        DVI_TRY(say(l, DEVIMG_ERROR, "targets-without-fsycl", NULL,
                    "-fsycl-targets without -fsycl: no device code is made", "add -fsycl", err));
    if (!f->sycl && !f->targets)
        return DEVIMG_OK;
    DVI_TRY(judge_words(l, f, line, err));
    DVI_TRY(judge_lists(l, line, err));
    DVI_TRY(judge_images(l, f, err));
    DVI_TRY(judge_relocatable(l, f, err));
    DVI_TRY(judge_against_link(l, f, err));
    return judge_link(l, f, err);
}

static enum devimg_status say_unreadable(struct lint *l, const struct dvi_compile_line *line,
                                         enum devimg_status status, struct devimg_error *err)
{
    if (status == DEVIMG_NOMEM)
        return status;
    const bool own = line->path != NULL && strcmp(err->source, line->path) == 0;
    const char *message = is_full(l) ? ""
                          : own || err->source[0] == 0
                              ? dvi_arena_copy(&l->out->arena, err->text)
                              : dvi_arena_format(&l->out->arena, "%s: %s", err->source, err->text);
    return say(l, DEVIMG_ERROR, "unreadable", NULL, message,
               "the line is not judged: mend it, or build first, so that its files are there", err);
}

static enum devimg_status take_line(void *context, const struct dvi_compile_line *line,
                                    enum devimg_status status, struct devimg_error *err)
{
    struct lint *l = context;
    const struct facts f = facts_of(line);
    const size_t before = l->out->findings.count;
    l->out->line_count++;
    l->out->sycl_count += f.sycl || f.targets || f.acpp;
    l->entry = line->path != NULL ? line->index : DEVIMG_UNKNOWN;
    l->file = line->file;
    DVI_TRY(status == DEVIMG_OK ? judge(l, &f, line, err) : say_unreadable(l, line, status, err));
    if (l->out->findings.count == before || line->file == NULL)
        return DEVIMG_OK;
    const char *file = dvi_arena_copy(&l->out->arena, line->file); /* the line is gone soon */
    if (file == NULL)
        return dvi_fail_memory(err, line->path);
    for (size_t i = before; i < l->out->findings.count; i++)
        l->out->findings.items[i].finding.unit = file;
    return DEVIMG_OK;
}

/* ---- all of them ---- */

struct link_reader {
    struct lint *l;
    struct facts facts;
};

static enum devimg_status take_link(void *context, const struct dvi_compile_line *line,
                                    enum devimg_status status, struct devimg_error *err)
{
    struct link_reader *reader = context;
    reader->facts = facts_of(line);
    reader->facts.no_link = false;
    return status == DEVIMG_OK ? judge(reader->l, &reader->facts, line, err)
                               : say_unreadable(reader->l, line, status, err);
}

static enum devimg_status finish(struct lint *l, struct devimg_error *err)
{
    const uint64_t more = l->more[DEVIMG_NOTE] + l->more[DEVIMG_WARNING] + l->more[DEVIMG_ERROR];
    l->file = NULL;
    l->entry = DEVIMG_UNKNOWN;
    if (l->out->sycl_count == 0)
        DVI_TRY(add(l, DEVIMG_WARNING, "no-sycl", NULL,
                    "no line compiles SYCL (-fsycl): nothing was judged", NULL, err));
    if (more == 0)
        return DEVIMG_OK;
    return add(
        l,
        l->more[DEVIMG_ERROR] > 0     ? DEVIMG_ERROR
        : l->more[DEVIMG_WARNING] > 0 ? DEVIMG_WARNING
                                      : DEVIMG_NOTE,
        "more-findings", NULL,
        dvi_arena_format(&l->out->arena, "%" PRIu64 " finding%s more", more, more == 1 ? "" : "s"),
        NULL, err);
}

enum devimg_status dvi_lint_commands(const char *path, const char *const *link, size_t link_count,
                                     struct dvi_lint *out, struct devimg_error *err)
{
    struct lint l = { .out = out, .entry = DEVIMG_UNKNOWN, .is_link = true };
    struct link_reader reader = { .l = &l };
    *out = (struct dvi_lint){ 0 };
    if (link != NULL) {
        l.file = "(link)";
        DVI_TRY(dvi_compile_line_take(link, link_count, take_link, &reader, err));
        l.link = &reader.facts;
    }
    l.is_link = false;
    DVI_TRY(dvi_compile_lines_read(path, take_line, &l, err));
    return finish(&l, err);
}

enum devimg_status dvi_lint_line(const char *const *words, size_t count, struct dvi_lint *out,
                                 struct devimg_error *err)
{
    struct lint l = { .out = out };
    *out = (struct dvi_lint){ 0 };
    DVI_TRY(dvi_compile_line_take(words, count, take_line, &l, err));
    return finish(&l, err);
}

void dvi_lint_free(struct dvi_lint *lint)
{
    DVI_LIST_FREE(&lint->findings);
    dvi_arena_free(&lint->arena);
}
