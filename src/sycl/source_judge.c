/* SPDX-License-Identifier: Apache-2.0 */
/* Each request, and each static_assert of the project's header, held to the accepted sizes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sycl/source_linter.h"

enum { LARGEST_SIZE_BIT = 10 };

/* ---- findings ---- */

static enum devimg_status say(struct dvi_size_linter *l, const struct dvi_size_finding *what,
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
    return say(l, &f, err);
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
    return say(l, &f, err);
}

static enum devimg_status say_unknown(struct dvi_size_linter *l, size_t source,
                                      const struct dvi_size_request *r, const char *name,
                                      struct devimg_error *err)
{
    struct dvi_size_finding f = at_request(source, r, "not-constant");
    if (r->text == NULL)
        f.finding.message =
            r->argument > 0
                ? dvi_arena_format(&l->out->arena, "%s has no argument %u here, which is the size",
                                   r->name, r->argument)
                : dvi_arena_format(&l->out->arena, "%s has no size", r->name);
    else
        f.finding.message = dvi_arena_format(
            &l->out->arena, "size \"%s\": \"%s\" is no constant of the sources given", r->text,
            name);
    f.finding.hint =
        "spell it as a number or a constant; give the file that defines it too, or --define NAME=N";
    return say(l, &f, err);
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
    return say(l, &f, err);
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
    return say(l, &f, err);
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

/* What a template's uses decide is told, so that nobody takes it for looked at. */
static enum devimg_status say_parameter(struct dvi_size_linter *l, size_t source,
                                        const struct dvi_size_request *r, const char *param,
                                        struct devimg_error *err)
{
    struct dvi_size_finding f = at_request(source, r, "template-parameter");
    const struct dvi_scope *scope = template_of(&l->sources[source], r->scope, param);
    const char *name = scope != NULL ? scope->name : NULL;
    l->out->parameter_count++;
    if (names_template(l, name))
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
    f.finding.hint = "name the template: --template NAME:N, N being the argument that is the size";
    return say(l, &f, err);
}

/* ---- attributes that bypass the project's own ---- */

static bool may_be_raw(const struct dvi_size_linter *l, size_t source, uint32_t scope)
{
    const struct dvi_source *s = &l->sources[source];
    const struct dvi_scope *macro = dvi_source_macro(s, scope);
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
        policy->macros.count > 0
            ? dvi_arena_format(&l->out->arena, "use %s(...)", policy->macros.items[0].name)
        : policy->templates.count > 0
            ? dvi_arena_format(&l->out->arena, "use %s<...>", policy->templates.items[0].name)
        : policy->headers.count > 0
            ? dvi_arena_format(&l->out->arena, "use what %s offers", policy->headers.items[0])
            : "put it into one header of the project, and name that: --header FILE";
    return say(l, &f, err);
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

/* A size, which is what its text comes to where the request stands. */
static enum devimg_status judge_text(struct dvi_size_linter *l, size_t source,
                                     const struct dvi_size_request *r, struct devimg_error *err)
{
    struct dvi_values v = { .state = DVI_VALUE_UNKNOWN };
    if (r->text != NULL)
        dvi_source_value(&l->all, source, r->scope, r->offset, r->text, &v);
    const bool no_request = v.state == DVI_VALUE_KNOWN && v.count == 1 && v.items[0] == 0;
    if (no_request) /* the compiler's choice */
        return DEVIMG_OK;
    DVI_TRY(remember(l, source, r, &v, err));
    if (v.state == DVI_VALUE_PARAMETER)
        return say_parameter(l, source, r, v.name, err);
    l->out->request_count++;
    if (v.state == DVI_VALUE_UNKNOWN)
        return say_unknown(l, source, r, v.name, err);
    for (unsigned i = 0; i < v.count; i++)
        DVI_TRY(judge_size(l, source, r, v.items[i], err));
    return DEVIMG_OK;
}

static enum devimg_status judge(struct dvi_size_linter *l, size_t source,
                                const struct dvi_size_request *r, struct devimg_error *err)
{
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
        return judge_text(l, source, r, err);
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
        return say_unknown(l, source, r,
                           "a macro with too many definitions, alone or inside each other", err);
    return DEVIMG_OK;
}

/* ---- the header's own check ---- */

/* Is `param`, of the scope `at`, one that a request of the file has for its size? */
static bool is_size_param(const struct dvi_size_linter *l, const struct dvi_source *source,
                          uint32_t at, const char *param)
{
    const struct dvi_scope *scope = &source->scopes.items[at];
    for (size_t i = 0; i < l->words.count; i++) {
        const struct dvi_source_word *w = &l->words.items[i];
        if (w->argument > 0 && scope->name != NULL && strcmp(w->name, scope->name) == 0 &&
            w->argument <= scope->param_count && strcmp(scope->params[w->argument - 1], param) == 0)
            return true;
    }
    for (size_t i = 0; i < source->requests.count; i++) {
        const struct dvi_size_request *r = &source->requests.items[i];
        uint32_t up = r->scope;
        while (up != at && up != 0)
            up = source->scopes.items[up].parent;
        if (up == at && r->text != NULL && dvi_source_mentions(r->text, &param, 1))
            return true;
    }
    return false;
}

/* The sizes that the condition accepts for `param`; false: it does not depend on that alone. */
static bool accepted_by(struct dvi_size_linter *l, size_t source,
                        const struct dvi_size_check *check, const char *param, uint32_t *out)
{
    *out = 0;
    for (unsigned bit = 0; bit <= LARGEST_SIZE_BIT; bit++) {
        struct dvi_values v = { .state = DVI_VALUE_UNKNOWN };
        struct dvi_arena scratch = { 0 };
        char number[16];
        const char *value = number;
        (void)snprintf(number, sizeof number, "%u", 1U << bit);
        const char *text = dvi_source_replace(check->text, &param, &value, 1, &scratch);
        if (text != NULL)
            dvi_source_value(&l->all, source, check->scope, check->offset, text, &v);
        dvi_arena_free(&scratch);
        if (v.state != DVI_VALUE_KNOWN || v.count != 1)
            return false;
        *out |= v.items[0] != 0 ? UINT32_C(1) << bit : 0;
    }
    return true;
}

/* Hold one static_assert of a header to the allowed set. */
static enum devimg_status judge_check(struct dvi_size_linter *l, size_t source,
                                      const struct dvi_size_check *check, bool *found,
                                      struct devimg_error *err)
{
    const struct dvi_source *s = &l->sources[source];
    for (uint32_t at = check->scope; at != 0; at = s->scopes.items[at].parent) {
        const struct dvi_scope *scope = &s->scopes.items[at];
        for (uint32_t i = 0; i < scope->param_count; i++) {
            uint32_t accepted = 0;
            if (!dvi_source_mentions(check->text, &scope->params[i], 1) ||
                !is_size_param(l, s, at, scope->params[i]) ||
                !accepted_by(l, source, check, scope->params[i], &accepted))
                continue;
            *found = true;
            if (accepted == l->out->allowed)
                continue;
            char has[DVI_SIZES_ROOM], allowed[DVI_SIZES_ROOM];
            dvi_sizes_text(accepted, ", ", has);
            dvi_sizes_text(l->out->allowed, ", ", allowed);
            const struct dvi_size_finding f = {
                .finding = { .severity = DEVIMG_ERROR,
                             .code = "header-differs",
                             .offset = check->offset,
                             .message = dvi_arena_format(
                                 &l->out->arena,
                                 "the header's check accepts %s; every target accepts %s",
                                 *has != 0 ? has : "no size", *allowed != 0 ? allowed : "no size"),
                             .hint = "let it accept exactly what every target accepts" },
                .source = source,
                .line = check->line,
                .column = check->column,
                .text = check->text,
                .size = DEVIMG_UNKNOWN,
            };
            DVI_TRY(say(l, &f, err));
        }
    }
    return DEVIMG_OK;
}

static enum devimg_status judge_headers(struct dvi_size_linter *l, size_t source, bool *found,
                                        struct devimg_error *err)
{
    if (!l->is_header[source] || l->out->any || l->out->not_known)
        return DEVIMG_OK;
    for (size_t i = 0; i < l->sources[source].checks.count; i++)
        DVI_TRY(judge_check(l, source, &l->sources[source].checks.items[i], found, err));
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
    return say(l, &f, err);
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
    return say(l, &f, err);
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
    if (out->source_count == 0)
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

enum devimg_status dvi_size_judge(struct dvi_size_linter *l, struct devimg_error *err)
{
    bool header_checked = false;
    for (size_t i = 0; i < l->count; i++) {
        const struct dvi_source *source = &l->sources[i];
        if (l->errors[i] != NULL)
            continue;
        l->followed_until = 0;
        for (size_t k = 0; k < source->requests.count; k++)
            DVI_TRY(judge(l, i, &source->requests.items[k], err));
        DVI_TRY(judge_headers(l, i, &header_checked, err));
        if (source->open != NULL)
            DVI_TRY(say_open(l, i, err));
    }
    return judge_whole(l, header_checked, err);
}
