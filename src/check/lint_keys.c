/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of a policy for `devimg sycl lint`. Lists add up. */
#include <string.h>

#include "base/text.h"
#include "check/values.h"

enum { MOST_WORDS = 200, MOST_ARGUMENT = 32, MOST_EXPECTED = 1000000000 };

static bool is_name(struct dvi_view v)
{
    for (size_t i = 0; i < v.size; i++) {
        const uint8_t c = v.data[i];
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && (i == 0 || c < '0' || c > '9'))
            return false;
    }
    return v.size > 0;
}

/* The name of what may stand behind namespaces. */
static struct dvi_view last_name(struct dvi_view v)
{
    for (size_t i = v.size; i >= 2; i--)
        if (v.data[i - 1] == ':' && v.data[i - 2] == ':')
            return dvi_from(v, i);
    return v;
}

/* "NAME" or "NAME:N" */
static enum devimg_status word_of(struct devimg_policy *policy, const char *key,
                                  struct dvi_view field, struct dvi_lint_word *out,
                                  const struct dvi_spot *spot, struct devimg_error *err)
{
    struct dvi_view name = last_name(field);
    uint64_t argument = 1;
    bool fits = true;
    const uint8_t *colon = memchr(name.data, ':', name.size);
    if (colon != NULL) {
        const size_t size = (size_t)(colon - name.data);
        fits = dvi_decimal(dvi_from(name, size + 1), &argument) && argument >= 1 &&
               argument <= MOST_ARGUMENT;
        name = dvi_head(name, size);
    }
    if (!fits || !is_name(name))
        return dvi_refuse(err, spot,
                          "%s: \"%.*s\": expected NAME, or NAME:N for its argument N (from 1)", key,
                          (int)(field.size < 60 ? field.size : 60), (const char *)field.data);
    *out = (struct dvi_lint_word){ dvi_arena_text(&policy->arena, name), (uint32_t)argument };
    return out->name != NULL ? DEVIMG_OK : dvi_fail_memory(err, spot->source);
}

static enum devimg_status refuse_many(const char *key, const struct dvi_spot *spot,
                                      struct devimg_error *err)
{
    return dvi_refuse(err, spot, "%s: more than %d", key, MOST_WORDS);
}

#define EACH_FIELD(rest, field, value)                                                          \
    for (struct dvi_view rest = dvi_view_of(value, strlen(value), spot->source), field = { 0 }; \
         dvi_next_field(&(rest), ',', &(field)) && ((field) = dvi_trimmed(field), true);)

static enum devimg_status add_words(struct devimg_policy *policy, const char *key,
                                    const char *value, bool templates, const struct dvi_spot *spot,
                                    struct devimg_error *err)
{
    EACH_FIELD(rest, field, value)
    {
        struct dvi_lint_word word = { 0 };
        if (field.size == 0)
            continue;
        DVI_TRY(word_of(policy, key, field, &word, spot, err));
        const size_t count = templates ? policy->lint.templates.count : policy->lint.macros.count;
        if (count >= MOST_WORDS)
            return refuse_many(key, spot, err);
        struct dvi_lint_word *added =
            templates ? DVI_ADD(&policy->lint.templates) : DVI_ADD(&policy->lint.macros);
        if (added == NULL)
            return dvi_fail_memory(err, spot->source);
        *added = word;
    }
    return DEVIMG_OK;
}

enum devimg_status dvi_lint_set_macros(struct devimg_policy *policy, const char *value,
                                       const struct dvi_spot *spot, struct devimg_error *err)
{
    return add_words(policy, "macros", value, false, spot, err);
}

enum devimg_status dvi_lint_set_templates(struct devimg_policy *policy, const char *value,
                                          const struct dvi_spot *spot, struct devimg_error *err)
{
    return add_words(policy, "templates", value, true, spot, err);
}

enum devimg_status dvi_lint_set_define(struct devimg_policy *policy, const char *value,
                                       const struct dvi_spot *spot, struct devimg_error *err)
{
    EACH_FIELD(rest, field, value)
    {
        struct dvi_view name = { 0 }, text = field;
        if (field.size == 0)
            continue;
        (void)dvi_next_field(&text, '=', &name);
        name = dvi_trimmed(name);
        text = dvi_trimmed(text);
        if (!is_name(name) || text.size == 0)
            return dvi_refuse(err, spot, "define: \"%.*s\": expected NAME=VALUE",
                              (int)(field.size < 60 ? field.size : 60), (const char *)field.data);
        if (policy->lint.defines.count >= MOST_WORDS)
            return refuse_many("define", spot, err);
        struct dvi_lint_define *added = DVI_ADD(&policy->lint.defines);
        if (added == NULL)
            return dvi_fail_memory(err, spot->source);
        *added = (struct dvi_lint_define){ dvi_arena_text(&policy->arena, name),
                                           dvi_arena_text(&policy->arena, text) };
        if (added->name == NULL || added->value == NULL)
            return dvi_fail_memory(err, spot->source);
    }
    return DEVIMG_OK;
}

enum devimg_status dvi_lint_set_header(struct devimg_policy *policy, const char *value,
                                       const struct dvi_spot *spot, struct devimg_error *err)
{
    EACH_FIELD(rest, field, value)
    {
        const char *path = NULL, *text = dvi_arena_text(&policy->arena, field);
        if (text == NULL)
            return dvi_fail_memory(err, spot->source);
        DVI_TRY(dvi_value_path(policy, "header", text, &path, spot, err));
        if (policy->lint.headers.count >= MOST_WORDS)
            return refuse_many("header", spot, err);
        const char **added = DVI_ADD(&policy->lint.headers);
        if (added == NULL)
            return dvi_fail_memory(err, spot->source);
        *added = path;
    }
    return DEVIMG_OK;
}

enum devimg_status dvi_lint_set_raw(struct devimg_policy *policy, const char *value,
                                    const struct dvi_spot *spot, struct devimg_error *err)
{
    static const struct dvi_word words[] = { { "deny", DVI_CHOICE_STRICT },
                                             { "allow", DVI_CHOICE_ANY },
                                             { NULL, 0 } };
    return dvi_value_choice("raw", value, words, &policy->lint.raw, spot, err);
}

enum devimg_status dvi_lint_set_expected(struct devimg_policy *policy, const char *value,
                                         const struct dvi_spot *spot, struct devimg_error *err)
{
    uint64_t count = 0;
    if (!dvi_decimal(dvi_view_of(value, strlen(value), spot->source), &count) ||
        count > MOST_EXPECTED)
        return dvi_refuse(err, spot, "expect-at-least: \"%.40s\": expected a number", value);
    policy->lint.expected = count;
    return DEVIMG_OK;
}

void dvi_lint_policy_free(struct dvi_lint_policy *lint)
{
    DVI_LIST_FREE(&lint->macros);
    DVI_LIST_FREE(&lint->templates);
    DVI_LIST_FREE(&lint->defines);
    DVI_LIST_FREE(&lint->headers);
}
