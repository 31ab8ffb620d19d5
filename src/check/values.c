/* SPDX-License-Identifier: Apache-2.0 */
/* Values of a policy's keys: words, lists of targets, sizes, paths. */
#include "check/values.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

enum { MOST_TARGETS = 1024, LARGEST_SIZE_BIT = 10 };

enum devimg_status(dvi_refuse)(struct devimg_error *err, const struct dvi_spot *spot,
                               const char *format, ...)
{
    char text[sizeof err->text];
    int used = 0;
    if (spot->line > 0)
        used = snprintf(text, sizeof text, "line %" PRIu64 ", column %" PRIu64 ": ", spot->line,
                        spot->column);
    va_list values;
    va_start(values, format);
    (void)vsnprintf(text + used, sizeof text - (size_t)used, format, values);
    va_end(values);
    const enum devimg_status st = dvi_fail_plain(err, DEVIMG_MALFORMED, spot->source, "%s", text);
    if (err != NULL)
        err->offset = spot->offset;
    return st;
}

/* ---- words ---- */

/* The value of `text` among `words` (NULL-ended), or MALFORMED naming them all. */
enum devimg_status dvi_value_word(const char *key, const char *text, const struct dvi_word *words,
                                  int *out, const struct dvi_spot *spot, struct devimg_error *err)
{
    char all[96] = "";
    for (const struct dvi_word *w = words; w->word != NULL; w++) {
        if (strcmp(w->word, text) == 0) {
            *out = w->value;
            return DEVIMG_OK;
        }
        const size_t used = strlen(all);
        (void)snprintf(all + used, sizeof all - used, "%s%s", used > 0 ? "|" : "", w->word);
    }
    return dvi_refuse(err, spot, "%s: \"%.40s\": expected %s", key, text, all);
}

enum devimg_status dvi_value_choice(const char *key, const char *text, const struct dvi_word *words,
                                    enum dvi_choice *out, const struct dvi_spot *spot,
                                    struct devimg_error *err)
{
    int value = 0;
    DVI_TRY(dvi_value_word(key, text, words, &value, spot, err));
    *out = (enum dvi_choice)value;
    return DEVIMG_OK;
}

/* ---- lists of targets ---- */

/* Every unknown name at once, each with the name it may have meant. */
static enum devimg_status refuse_unknown(const char *key, const struct dvi_target_set *set,
                                         const struct dvi_spot *spot, struct devimg_error *err)
{
    char text[128] = "";
    size_t used = 0, shown = 0;
    for (; shown < set->unknown.count; shown++) {
        const char *near = dvi_target_nearest(set->unknown.items[shown]);
        char one[80];
        const int size = near != NULL
                             ? snprintf(one, sizeof one, "%s\"%.24s\" (near: %.24s)",
                                        shown > 0 ? ", " : "", set->unknown.items[shown], near)
                             : snprintf(one, sizeof one, "%s\"%.24s\"", shown > 0 ? ", " : "",
                                        set->unknown.items[shown]);
        if (size < 0 || (size_t)size >= sizeof text - used)
            break;
        memcpy(text + used, one, (size_t)size + 1);
        used += (size_t)size;
    }
    const size_t left = set->unknown.count - shown;
    if (left > 0)
        return dvi_refuse(err, spot, "%s: no table has %s and %zu more", key, text, left);
    return dvi_refuse(err, spot, "%s: no table has %s", key, text);
}

static enum devimg_status check_kinds(const char *key, const struct dvi_target_set *set,
                                      bool portable, const struct dvi_spot *spot,
                                      struct devimg_error *err)
{
    if (set->known.count > MOST_TARGETS)
        return dvi_refuse(err, spot, "%s: %zu targets: at most %d", key, set->known.count,
                          MOST_TARGETS);
    for (size_t i = 0; i < set->known.count; i++) {
        const struct devimg_target *t = set->known.items[i];
        const bool is_portable = dvi_target_is_portable(t), is_gpu = dvi_target_is_gpu(t);
        if (portable ? is_portable : is_gpu)
            continue;
        if (!is_portable && !is_gpu) /* a CPU, an FPGA, or what stands for a list of GPUs */
            return dvi_refuse(err, spot, "%s: %s is no %s: its kind is %s", key, t->name,
                              portable ? "portable image" : "GPU", t->kind);
        return portable
                   ? dvi_refuse(err, spot,
                                "%s: %s is no portable image: native targets go under targets", key,
                                t->name)
                   : dvi_refuse(err, spot, "%s: %s is portable: portable images go under fallback",
                                key, t->name);
    }
    return DEVIMG_OK;
}

/* Replace `*out` by the list, or leave it as it is. `portable`: what they must be; NULL: either. */
static enum devimg_status take_list(struct devimg_policy *policy, const char *key, const char *list,
                                    const bool *portable, struct dvi_target_set *out,
                                    const struct dvi_spot *spot, struct devimg_error *err)
{
    struct dvi_target_set fresh = { 0 };
    enum devimg_status st = dvi_target_set_add(&fresh, list, &policy->arena, err);
    if (st == DEVIMG_OK && fresh.unknown.count > 0)
        st = refuse_unknown(key, &fresh, spot, err);
    if (st == DEVIMG_OK && portable != NULL)
        st = check_kinds(key, &fresh, *portable, spot, err);
    if (st != DEVIMG_OK) {
        dvi_target_set_free(&fresh);
        return st;
    }
    dvi_target_set_free(out);
    *out = fresh;
    return DEVIMG_OK;
}

enum devimg_status dvi_value_targets(struct devimg_policy *policy, const char *key,
                                     const char *list, bool portable, struct dvi_target_set *out,
                                     const struct dvi_spot *spot, struct devimg_error *err)
{
    return take_list(policy, key, list, &portable, out, spot, err);
}

enum devimg_status dvi_value_images(struct devimg_policy *policy, const char *key, const char *list,
                                    struct dvi_target_set *out, const struct dvi_spot *spot,
                                    struct devimg_error *err)
{
    return take_list(policy, key, list, NULL, out, spot, err);
}

/* ---- sizes, paths ---- */

enum devimg_status dvi_value_sizes(const char *value, uint32_t *out, const struct dvi_spot *spot,
                                   struct devimg_error *err)
{
    struct dvi_view rest = dvi_view_of(value, strlen(value), spot->source), field = { 0 };
    uint32_t sizes = 0;
    while (dvi_next_field(&rest, ',', &field)) {
        field = dvi_trimmed(field);
        uint64_t size = 0;
        unsigned bit = 0;
        if (field.size == 0)
            continue;
        if (!dvi_decimal(field, &size))
            size = 0;
        while (bit <= LARGEST_SIZE_BIT && size != UINT64_C(1) << bit)
            bit++;
        if (bit > LARGEST_SIZE_BIT)
            return dvi_refuse(err, spot,
                              "sub-group-sizes: \"%.*s\": expected targets, any, or sizes such as "
                              "16,32 (powers of two up to %d)",
                              (int)(field.size < 24 ? field.size : 24), (const char *)field.data,
                              1 << LARGEST_SIZE_BIT);
        sizes |= UINT32_C(1) << bit;
    }
    if (sizes == 0)
        return dvi_refuse(err, spot, "sub-group-sizes: the list is empty");
    *out = sizes;
    return DEVIMG_OK;
}

/* A path as it stands in the policy: relative to the folder of the policy file. */
enum devimg_status dvi_value_path(struct devimg_policy *policy, const char *key, const char *value,
                                  const char **out, const struct dvi_spot *spot,
                                  struct devimg_error *err)
{
    if (*value == 0)
        return dvi_refuse(err, spot, "%s: expected the path of a file", key);
    *out = *value == '/' || spot->folder == NULL
               ? dvi_arena_copy(&policy->arena, value)
               : dvi_arena_format(&policy->arena, "%s%s", spot->folder, value);
    return *out != NULL ? DEVIMG_OK : dvi_fail_memory(err, spot->source);
}
