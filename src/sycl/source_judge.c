/* SPDX-License-Identifier: Apache-2.0 */
/* Each request, and each static_assert of the project's header, held to the accepted sizes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sycl/source_linter.h"

enum { MOST_DEFAULTS = 256 };

/* ---- findings ---- */

enum devimg_status dvi_size_say(struct dvi_size_linter *l, const struct dvi_size_finding *what,
                                struct devimg_error *err)
{
    struct dvi_size_finding *f = what->finding.message != NULL ? DVI_ADD(&l->out->findings) : NULL;
    if (f == NULL)
        return dvi_fail_memory(err, "lint");
    *f = *what;
    f->finding.rule = "sycl-lint";
    f->finding.record = f->finding.module = f->finding.image = DEVIMG_NONE;
    if (f->source == SIZE_MAX)
        f->finding.offset = DEVIMG_UNKNOWN;
    return DEVIMG_OK;
}

static struct dvi_size_finding at_request(size_t source, const struct dvi_size_request *r,
                                          const char *code)
{
    return (struct dvi_size_finding){
        .finding = { .severity = DEVIMG_ERROR, .code = code, .offset = r->offset },
        .source = source,
        .line = r->line,
        .column = r->column,
        .text = r->text,
        .size = DEVIMG_UNKNOWN,
    };
}

static const char *family_of(const struct devimg_target *row)
{
    return row->family != NULL ? row->family : row->kind;
}

/* "lnl-m, bmg-g21 (Xe2), pvc (Xe-HPC)" */
static const char *families_text(struct dvi_arena *arena, const struct devimg_target *const *rows,
                                 size_t count)
{
    const char *text = "";
    for (size_t i = 0; i < count && text != NULL; i++) {
        const char *family = family_of(rows[i]);
        bool told = false;
        for (size_t k = 0; k < i; k++)
            told = told || strcmp(family, family_of(rows[k])) == 0;
        for (size_t k = i; k < count && !told && text != NULL; k++)
            if (strcmp(family, family_of(rows[k])) == 0)
                text =
                    dvi_arena_format(arena, "%s%s%s", text, *text != 0 ? ", " : "", rows[k]->name);
        if (!told && text != NULL)
            text = dvi_arena_format(arena, "%s (%s)", text, family);
    }
    return text;
}

/* " (kSize)" where the size is not spelled as a number. */
static const char *spelling(struct dvi_arena *arena, const char *text, int64_t size)
{
    char number[24];
    (void)snprintf(number, sizeof number, "%" PRId64, size);
    return strcmp(text, number) == 0 ? "" : dvi_arena_format(arena, " (%s)", text);
}

static enum devimg_status say_refused(struct dvi_size_linter *l, size_t source,
                                      const struct dvi_size_request *r, int64_t size,
                                      struct devimg_error *err)
{
    struct dvi_size_lint *out = l->out;
    struct dvi_size_finding f = at_request(source, r, "size-refused");
    const struct devimg_target **rows =
        dvi_arena_array(&out->arena, out->target_count + 1, sizeof *rows);
    if (rows == NULL)
        return dvi_fail_memory(err, "lint");
    for (size_t i = 0; i < out->target_count; i++) /* what is not measured refuses nothing here */
        if (dvi_target_refuses_size(out->targets[i], (uint64_t)size))
            rows[f.target_count++] = out->targets[i];
    char allowed[DVI_SIZES_ROOM];
    const char *spelled = spelling(&out->arena, r->text, size);
    dvi_sizes_text(out->allowed, ", ", allowed);
    if (f.target_count == 0 || spelled == NULL)
        return f.target_count == 0 ? DEVIMG_OK : dvi_fail_memory(err, "lint");
    const char *families = families_text(&out->arena, rows, f.target_count);
    if (families == NULL)
        return dvi_fail_memory(err, "lint");
    f.targets = rows;
    f.size = size >= 0 ? (uint64_t)size : DEVIMG_UNKNOWN;
    f.finding.target = f.target_count == 1 ? rows[0]->name : NULL;
    f.finding.message = dvi_arena_format(
        &out->arena, "requires sub-group size %" PRId64 "%s, which %u of %zu targets refuse: %s",
        size, spelled, f.target_count, out->target_count, families);
    f.finding.hint =
        *allowed != 0
            ? dvi_arena_format(&out->arena, "every target accepts %s; require one of them, or none",
                               allowed)
            : "no size is accepted by every target: require none, or list fewer targets";
    return dvi_size_say(l, &f, err);
}

static enum devimg_status say_unlisted(struct dvi_size_linter *l, size_t source,
                                       const struct dvi_size_request *r, int64_t size,
                                       struct devimg_error *err)
{
    struct dvi_size_finding f = at_request(source, r, "size-refused");
    char allowed[DVI_SIZES_ROOM];
    const char *spelled = spelling(&l->out->arena, r->text, size);
    if (spelled == NULL)
        return dvi_fail_memory(err, "lint");
    f.size = size >= 0 ? (uint64_t)size : DEVIMG_UNKNOWN;
    f.finding.message = dvi_arena_format(
        &l->out->arena, "requires sub-group size %" PRId64 "%s; the policy accepts %s only", size,
        spelled, dvi_sizes_text(l->out->allowed, ", ", allowed));
    f.finding.hint = "require a size of the policy (sub-group-sizes), or none";
    return dvi_size_say(l, &f, err);
}

/* What is not known of a size, and what may be done. */
static const char *unknown_text(struct dvi_arena *arena, const struct dvi_values *v,
                                const char **hint)
{
    static const char *const forms[] = {
        [DVI_WHY_NAME] = "\"%s\" is no constant of the sources given",
        [DVI_WHY_CLASS] = "\"%s\" is of a class that no source given has",
        [DVI_WHY_CALL] = "the call of \"%s\" is not computed",
        [DVI_WHY_TEMPLATE] = "\"%s\" depends on arguments of a template that are not followed",
        [DVI_WHY_ELEMENT] = "an element of \"%s\" is not computed",
        [DVI_WHY_PLATFORM] = "\"%s\" is 8 on Linux and 4 on Windows",
        [DVI_WHY_TEXT] = "\"%s\" is not computed",
    };
    *hint = v->why == DVI_WHY_NAME || v->why == DVI_WHY_CLASS
                ? "spell it as a number or a constant; give the file that defines it too, or "
                  "--define NAME=N"
            : v->why == DVI_WHY_CALL
                ? "spell it as a number or a constant; of functions, those are computed that are "
                  "constexpr and only return an expression"
                : "spell it as a number or a constant";
    const char *form = forms[v->why], *at = strstr(form, "%s");
    return dvi_arena_format(arena, "%.*s%s%s", (int)(at - form), form, v->name, at + 2);
}

static enum devimg_status say_unknown(struct dvi_size_linter *l, size_t source,
                                      const struct dvi_size_request *r, const struct dvi_values *v,
                                      struct devimg_error *err)
{
    struct dvi_arena *arena = &l->out->arena;
    struct dvi_size_finding f = at_request(source, r, "not-constant");
    const char *what = unknown_text(arena, v, &f.finding.hint);
    if (what == NULL)
        return dvi_fail_memory(err, "lint");
    if (r->text != NULL)
        f.finding.message = dvi_arena_format(arena, "size \"%s\": %s", r->text, what);
    else if (r->argument > 0)
        f.finding.message = dvi_arena_format(
            arena, "%s has no argument %u here, which is the size%s", r->name, r->argument,
            r->form == DVI_FORM_TEMPLATE ? ", and none by default in the sources given" : "");
    else
        f.finding.message = dvi_arena_format(arena, "%s has no size", r->name);
    return dvi_size_say(l, &f, err);
}

/* The name may be another one: that of a base class which is not there. */
static enum devimg_status say_unless(struct dvi_size_linter *l, size_t source,
                                     const struct dvi_size_request *r, const char *base,
                                     struct devimg_error *err)
{
    struct dvi_size_finding f = at_request(source, r, "base-unknown");
    f.finding.severity = DEVIMG_NOTE;
    f.finding.message = dvi_arena_format(
        &l->out->arena,
        "size \"%s\": %s, which no source given has, may have another one of this name", r->text,
        base);
    f.finding.hint = "give the file that defines it too";
    return dvi_size_say(l, &f, err);
}

/* What a macro does with a name that it is handed may be to require a size. */
static enum devimg_status say_not_followed(struct dvi_size_linter *l, size_t source,
                                           const struct dvi_size_request *r,
                                           struct devimg_error *err)
{
    struct dvi_size_finding f = at_request(source, r, "not-followed");
    f.finding.severity = DEVIMG_NOTE;
    f.finding.message =
        r->cut
            ? dvi_arena_format(&l->out->arena,
                               "\"%s\" may become an attribute by ##: its size is not held",
                               r->name)
            : dvi_arena_format(&l->out->arena,
                               "%s is handed on by its name: sizes that it gets there are not held",
                               r->name);
    f.finding.hint = "use it here with a size, or give the file that defines what takes it";
    return dvi_size_say(l, &f, err);
}

/* A directive inside: neither side of it is taken for the size. */
static enum devimg_status say_cut(struct dvi_size_linter *l, size_t source,
                                  const struct dvi_size_request *r, struct devimg_error *err)
{
    struct dvi_size_finding f = at_request(source, r, "not-constant");
    l->out->request_count++;
    f.finding.message = dvi_arena_format(
        &l->out->arena, "the size of %s goes on behind a directive or the end of the text",
        r->name);
    f.finding.hint = "spell the size in one piece; let #if choose a constant before";
    return dvi_size_say(l, &f, err);
}

static bool names_template(const struct dvi_size_linter *l, const char *name)
{
    for (size_t i = 0; name != NULL && i < l->policy->lint.templates.count; i++)
        if (strcmp(l->policy->lint.templates.items[i].name, name) == 0)
            return true;
    return false;
}

static bool names_macro(const struct dvi_size_linter *l, const char *name)
{
    for (size_t i = 0; name != NULL && i < l->policy->lint.macros.count; i++)
        if (strcmp(l->policy->lint.macros.items[i].name, name) == 0)
            return true;
    return false;
}

/* The innermost template around a scope that has this parameter. */
static const struct dvi_scope *template_of(const struct dvi_source *source, uint32_t scope,
                                           const char *param)
{
    for (; scope != 0; scope = source->scopes.items[scope].parent) {
        const struct dvi_scope *s = &source->scopes.items[scope];
        for (uint32_t i = 0; s->kind == DVI_SCOPE_TEMPLATE && i < s->param_count; i++)
            if (strcmp(s->params[i], param) == 0)
                return s;
    }
    return NULL;
}

/* "T::size": the parameter is a type. */
static bool asks_type(const char *text, const char *param)
{
    struct dvi_lexer l = dvi_lexer_of(dvi_view_of(text, strlen(text), NULL));
    struct dvi_lexeme t;
    for (dvi_lex(&l, &t); t.kind != DVI_LEX_END; dvi_lex(&l, &t)) {
        struct dvi_lexer ahead = l;
        struct dvi_lexeme next;
        dvi_lex(&ahead, &next);
        if (dvi_lex_is(&l, &t, param) && dvi_lex_mark(&next, DVI_LEX_SCOPE))
            return true;
    }
    return false;
}

/* In the header: the size goes through a template that is named, whose own check is held. */
static bool is_held_there(const struct dvi_size_linter *l, size_t source,
                          const struct dvi_size_request *r, const char *param)
{
    if (!l->is_header[source])
        return false;
    if (r->form == DVI_FORM_TEMPLATE)
        return names_template(l, r->name);
    for (size_t i = 0; i < l->policy->lint.templates.count; i++) {
        const struct dvi_lint_word *word = &l->policy->lint.templates.items[i];
        if (word->argument > 0 &&
            dvi_source_hands_on(r->text, word->name, (uint32_t)word->argument - 1, param))
            return true;
    }
    return false;
}

/* What a template's uses decide is told, so that nobody takes it for looked at. */
static enum devimg_status say_parameter(struct dvi_size_linter *l, size_t source,
                                        const struct dvi_size_request *r, const char *param,
                                        struct devimg_error *err)
{
    struct dvi_size_finding f = at_request(source, r, "template-parameter");
    const struct dvi_scope *scope = template_of(&l->sources[source], r->scope, param);
    const char *name = scope != NULL ? scope->name : NULL;
    const bool is_type = asks_type(r->text, param);
    l->out->parameter_count++;
    if ((names_template(l, name) && !is_type) || is_held_there(l, source, r, param))
        return DEVIMG_OK;
    f.finding.severity = DEVIMG_NOTE;
    f.finding.message =
        name != NULL
            ? dvi_arena_format(
                  &l->out->arena,
                  "size \"%s\" depends on parameter %s of template %s, whose uses are not held",
                  r->text, param, name)
            : dvi_arena_format(&l->out->arena,
                               "size \"%s\" depends on a template parameter: it is not held",
                               r->text);
    f.finding.hint =
        is_type ? "a type decides: hold the size where that type has it, with a static_assert"
                : "name the template: --template NAME:N, N being the argument that is the size";
    return dvi_size_say(l, &f, err);
}

/* ---- attributes that bypass the project's own ---- */

static bool is_opencl(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot != NULL && (strcmp(dot, ".cl") == 0 || strcmp(dot, ".clh") == 0);
}

static bool may_be_raw(const struct dvi_size_linter *l, size_t source, uint32_t scope)
{
    const struct dvi_source *s = &l->sources[source];
    const struct dvi_scope *macro = dvi_source_macro(s, scope);
    if (!l->raw_asked && is_opencl(l->out->paths[source])) /* what C++ has is none there */
        return true;
    if (l->is_header[source] || (macro != NULL && names_macro(l, macro->name)))
        return true;
    for (; scope != 0; scope = s->scopes.items[scope].parent)
        if (s->scopes.items[scope].kind != DVI_SCOPE_MACRO &&
            names_template(l, s->scopes.items[scope].name))
            return true;
    return false;
}

static enum devimg_status say_raw(struct dvi_size_linter *l, size_t source,
                                  const struct dvi_size_request *r, struct devimg_error *err)
{
    const struct dvi_lint_policy *policy = &l->policy->lint;
    struct dvi_size_finding f = at_request(source, r, "raw");
    f.finding.message =
        dvi_arena_format(&l->out->arena, "%s %s bypasses the project's header",
                         r->form == DVI_FORM_ATTRIBUTE ? "attribute" : "property", r->name);
    f.finding.hint =
        is_opencl(l->out->paths[source])
            ? "spell it as a macro of the header that OpenCL C has too, or leave raw unset"
        : policy->macros.count > 0
            ? dvi_arena_format(&l->out->arena, "use %s(...)", policy->macros.items[0].name)
        : policy->templates.count > 0
            ? dvi_arena_format(&l->out->arena, "use %s<...>", policy->templates.items[0].name)
        : policy->headers.count > 0
            ? dvi_arena_format(&l->out->arena, "use what %s offers", policy->headers.items[0])
            : "put it into one header of the project, and name that: --header FILE";
    return dvi_size_say(l, &f, err);
}

/* ---- judging ---- */

static enum devimg_status remember(struct dvi_size_linter *l, size_t source,
                                   const struct dvi_size_request *r, const struct dvi_values *v,
                                   struct devimg_error *err)
{
    static const char *const forms[] = { "attribute", "property", "macro", "template" };
    static const char *const states[] = { "known", "parameter", "unknown" };
    struct dvi_size_seen *seen = DVI_ADD(&l->out->seen);
    int64_t *sizes = dvi_arena_array(&l->out->arena, v->count + 1, sizeof *sizes);
    if (seen == NULL || sizes == NULL)
        return dvi_fail_memory(err, "lint");
    memcpy(sizes, v->items, v->count * sizeof *sizes);
    *seen = (struct dvi_size_seen){
        .source = source,
        .line = r->line,
        .column = r->column,
        .offset = r->offset,
        .form = forms[r->form],
        .name = r->name,
        .text = r->text,
        .state = states[v->state],
        .sizes = sizes,
        .size_count = v->count,
    };
    return DEVIMG_OK;
}

static enum devimg_status judge_size(struct dvi_size_linter *l, size_t source,
                                     const struct dvi_size_request *r, int64_t size,
                                     struct devimg_error *err)
{
    const struct dvi_size_lint *out = l->out;
    if (size == 0 || out->any || dvi_size_is_in(out->allowed, (uint64_t)size))
        return DEVIMG_OK;
    return out->listed ? say_unlisted(l, source, r, size, err)
                       : say_refused(l, source, r, size, err);
}

/* A size, which is what its text comes to at a place. */
static enum devimg_status judge_text_at(struct dvi_size_linter *l, size_t source,
                                        const struct dvi_size_request *r, size_t text_source,
                                        uint32_t scope, size_t offset, struct devimg_error *err)
{
    struct dvi_values v = { .state = DVI_VALUE_UNKNOWN };
    if (r->text != NULL)
        dvi_source_value(&l->all, text_source, scope, offset, r->text, &v);
    const bool no_request =
        v.state == DVI_VALUE_KNOWN && v.count == 1 && v.items[0] == 0 && *v.unless == 0;
    if (no_request) /* the compiler's choice */
        return DEVIMG_OK;
    DVI_TRY(remember(l, source, r, &v, err));
    if (*v.unless != 0 && v.state == DVI_VALUE_KNOWN)
        DVI_TRY(say_unless(l, source, r, v.unless, err));
    if (v.state == DVI_VALUE_PARAMETER)
        return say_parameter(l, source, r, v.name, err);
    l->out->request_count++;
    if (v.state == DVI_VALUE_UNKNOWN)
        return say_unknown(l, source, r, &v, err);
    for (unsigned i = 0; i < v.count; i++)
        DVI_TRY(judge_size(l, source, r, v.items[i], err));
    return DEVIMG_OK;
}

static enum devimg_status judge_text(struct dvi_size_linter *l, size_t source,
                                     const struct dvi_size_request *r, struct devimg_error *err)
{
    return judge_text_at(l, source, r, source, r->scope, r->offset, err);
}

/* An argument that is not there: what declarations of the template have by default. */
static enum devimg_status judge_default(struct dvi_size_linter *l, size_t source,
                                        const struct dvi_size_request *r, struct devimg_error *err)
{
    bool any = false;
    for (size_t i = 0; r->form == DVI_FORM_TEMPLATE && i < l->defaults.count; i++) {
        const struct dvi_size_default *d = &l->defaults.items[i];
        const struct dvi_scope *scope = &l->sources[d->source].scopes.items[d->scope];
        if (r->argument > scope->param_count || strcmp(scope->name, r->name) != 0)
            continue;
        struct dvi_size_request one = *r;
        one.text = scope->defaults[r->argument - 1];
        if (one.text == NULL)
            continue;
        any = true;
        DVI_TRY(judge_text_at(l, source, &one, d->source, d->scope, SIZE_MAX - 1, err));
    }
    return any ? DEVIMG_OK : judge_text(l, source, r, err);
}

static enum devimg_status judge(struct dvi_size_linter *l, size_t source,
                                const struct dvi_size_request *r, struct devimg_error *err)
{
    static const struct dvi_values too_many = {
        .state = DVI_VALUE_UNKNOWN,
        .why = DVI_WHY_TEXT,
        .name = "a macro with too many definitions, alone or inside each other",
    };
    const bool raw = r->form == DVI_FORM_ATTRIBUTE || r->form == DVI_FORM_PROPERTY;
    struct dvi_size_texts texts = { .count = 0 };
    if (raw && l->raw_denied && !may_be_raw(l, source, r->scope))
        DVI_TRY(say_raw(l, source, r, err));
    if (r->form == DVI_FORM_NAME)
        return r->offset < l->followed_until ? DEVIMG_OK : say_not_followed(l, source, r, err);
    if (r->cut)
        return say_cut(l, source, r, err);
    if (dvi_size_wrapping(&l->sources[source], r) != NULL) { /* its uses are followed */
        if (r->form == DVI_FORM_MACRO)
            l->followed_until = r->end;
        return DEVIMG_OK;
    }
    if (r->no_size)
        return DEVIMG_OK;
    if (r->text == NULL)
        return judge_default(l, source, r, err);
    l->expansions = 0;
    DVI_TRY(dvi_size_expand(l, r, &texts, err));
    if (texts.follows)
        l->followed_until = r->end;
    for (unsigned i = 0; i < texts.count; i++) {
        struct dvi_size_request one = *r;
        one.text = texts.items[i];
        DVI_TRY(judge_text(l, source, &one, err));
    }
    if (texts.cut)
        return say_unknown(l, source, r, &too_many, err);
    return DEVIMG_OK;
}

/* ---- the whole ---- */

static enum devimg_status say_open(struct dvi_size_linter *l, size_t source,
                                   struct devimg_error *err)
{
    const struct dvi_source *s = &l->sources[source];
    const struct dvi_size_finding f = {
        .finding = { .severity = DEVIMG_ERROR,
                     .code = "unterminated",
                     .offset = s->opened.at,
                     .message = dvi_arena_format(&l->out->arena,
                                                 "a %s starts here and has no end: nothing behind "
                                                 "it is read",
                                                 s->open),
                     .hint = "mend the source" },
        .source = source,
        .line = s->opened.line,
        .column = s->opened.column,
        .size = DEVIMG_UNKNOWN,
    };
    return dvi_size_say(l, &f, err);
}

static enum devimg_status say_whole(struct dvi_size_linter *l, const char *code, const char *target,
                                    const char *message, const char *hint, struct devimg_error *err)
{
    const struct dvi_size_finding f = {
        .finding = { .severity = DEVIMG_ERROR,
                     .code = code,
                     .target = target,
                     .message = message,
                     .hint = hint },
        .source = SIZE_MAX,
        .size = DEVIMG_UNKNOWN,
    };
    return dvi_size_say(l, &f, err);
}

static int compare_findings(const void *a, const void *b)
{
    const struct dvi_size_finding *x = a, *y = b;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->finding.offset != y->finding.offset)
        return x->finding.offset < y->finding.offset ? -1 : 1;
    const int order = strcmp(x->finding.code, y->finding.code);
    return order != 0 ? order : strcmp(x->finding.message, y->finding.message);
}

static int compare_seen(const void *a, const void *b)
{
    const struct dvi_size_seen *x = a, *y = b;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    const int order = strcmp(x->name, y->name);
    return order != 0 ? order
                      : strcmp(x->text != NULL ? x->text : "", y->text != NULL ? y->text : "");
}

/* A name that the policy has and no source: it may be misspelled. */
static enum devimg_status say_unused(struct dvi_size_linter *l, struct devimg_error *err)
{
    const struct dvi_lint_policy *policy = &l->policy->lint;
    for (size_t i = 0; i < policy->macros.count + policy->templates.count; i++) {
        const bool is_macro = i < policy->macros.count;
        const char *name = is_macro ? policy->macros.items[i].name
                                    : policy->templates.items[i - policy->macros.count].name;
        size_t at = 0;
        bool seen = false;
        while (at < l->words.count && strcmp(l->words.items[at].name, name) != 0)
            at++;
        for (size_t k = 0; k < l->count && at < DVI_SOURCE_MOST_WORDS; k++)
            seen = seen || (l->sources[k].words[at / 8] >> at % 8 & 1) != 0;
        if (seen)
            continue;
        const struct dvi_size_finding f = {
            .finding = { .severity = DEVIMG_WARNING,
                         .code = "unused-name",
                         .message =
                             dvi_arena_format(&l->out->arena, "%s %s occurs in no source given",
                                              is_macro ? "macro" : "template", name),
                         .hint = "correct its spelling, or give the sources that use it" },
            .source = SIZE_MAX,
            .size = DEVIMG_UNKNOWN,
        };
        DVI_TRY(dvi_size_say(l, &f, err));
    }
    return DEVIMG_OK;
}

static enum devimg_status judge_whole(struct dvi_size_linter *l, bool header_checked,
                                      struct devimg_error *err)
{
    struct dvi_size_lint *out = l->out;
    const uint64_t expected = l->policy->lint.expected;
    for (size_t i = 0; i < out->target_count && !out->listed && !out->any; i++)
        if (out->targets[i]->sub_group_sizes == 0)
            DVI_TRY(say_whole(l, "unmeasured", out->targets[i]->name,
                              dvi_arena_format(&out->arena,
                                               "no table has the sub-group sizes of %s: no size "
                                               "is known to be accepted by every target",
                                               out->targets[i]->name),
                              "measure it, or take it off the list", err));
    if (l->policy->lint.headers.count > 0 && !header_checked && !out->any && !out->not_known)
        DVI_TRY(say_whole(l, "header-unchecked", NULL,
                          "no static_assert of the header holds its size to constants",
                          "hold the parameter that is the size: static_assert(N == 16 || N == 32)",
                          err));
    if (out->source_count > 0)
        DVI_TRY(say_unused(l, err));
    else
        DVI_TRY(say_whole(l, "no-source", NULL, "no source file was found",
                          "name files, or folders that hold C, C++ or OpenCL C sources", err));
    if (out->request_count < expected)
        DVI_TRY(
            say_whole(l, "too-few", NULL,
                      dvi_arena_format(&out->arena,
                                       "%" PRIu64 " required sizes were found, at least %" PRIu64
                                       " are expected",
                                       out->request_count, expected),
                      "give all sources, and name the macros and templates that hold a size", err));
    if (out->findings.count > 0)
        qsort(out->findings.items, out->findings.count, sizeof *out->findings.items,
              compare_findings);
    if (out->seen.count > 0)
        qsort(out->seen.items, out->seen.count, sizeof *out->seen.items, compare_seen);
    return DEVIMG_OK;
}

/* Declarations of templates that are looked for, with arguments by default. */
static enum devimg_status find_defaults(struct dvi_size_linter *l, struct devimg_error *err)
{
    for (size_t i = 0; l->policy->lint.templates.count > 0 && i < l->count; i++)
        for (size_t k = 0; k < l->sources[i].scopes.count; k++) {
            const struct dvi_scope *scope = &l->sources[i].scopes.items[k];
            if (scope->kind != DVI_SCOPE_TEMPLATE || scope->name == NULL || scope->is_lambda ||
                !names_template(l, scope->name))
                continue;
            if (l->defaults.count == MOST_DEFAULTS)
                return DEVIMG_OK; /* an argument that is not found fails */
            struct dvi_size_default *d = DVI_ADD(&l->defaults);
            if (d == NULL)
                return dvi_fail_memory(err, "lint");
            *d = (struct dvi_size_default){ i, (uint32_t)k };
        }
    return DEVIMG_OK;
}

enum devimg_status dvi_size_judge(struct dvi_size_linter *l, struct devimg_error *err)
{
    bool header_checked = false;
    DVI_TRY(find_defaults(l, err));
    for (size_t i = 0; i < l->count; i++) {
        const struct dvi_source *source = &l->sources[i];
        if (l->errors[i] != NULL)
            continue;
        l->followed_until = 0;
        for (size_t k = 0; k < source->requests.count; k++)
            DVI_TRY(judge(l, i, &source->requests.items[k], err));
        DVI_TRY(dvi_size_judge_header(l, i, &header_checked, err));
        if (source->open != NULL)
            DVI_TRY(say_open(l, i, err));
    }
    return judge_whole(l, header_checked, err);
}
