/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of targets as a user writes them: names, sets and families between commas. */
#include <string.h>
#include <strings.h>

#include "target/tables.h"
#include "target/target.h"

/* An unknown name is said once; looking further back than this would be quadratic in the list. */
enum { UNKNOWN_LOOKED_BACK = 64 };

static bool blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static const struct dvi_target_group *group_named(const char *text)
{
    for (uint32_t i = 0; i < dvi_target_group_count; i++) {
        const char *end = dvi_target_spelled(text, dvi_target_groups[i].name);
        if (end != NULL && *end == '\0')
            return &dvi_target_groups[i];
    }
    return NULL;
}

static bool is_known(const struct dvi_target_set *set, const struct devimg_target *target)
{
    for (size_t i = 0; i < set->known.count; i++)
        if (set->known.items[i] == target)
            return true;
    return false;
}

static enum devimg_status add_known(struct dvi_target_set *set, const struct devimg_target *target,
                                    bool *added, struct devimg_error *err)
{
    if (is_known(set, target))
        return DEVIMG_OK;
    const struct devimg_target **item = DVI_ADD(&set->known);
    if (item == NULL)
        return dvi_fail_memory(err, "targets");
    *item = target;
    *added = true;
    return DEVIMG_OK;
}

/** `name` is of the tables, so that one spelling of it exists. */
static enum devimg_status add_repeated(struct dvi_target_set *set, const char *name,
                                       struct devimg_error *err)
{
    for (size_t i = 0; i < set->repeated.count; i++)
        if (strcmp(set->repeated.items[i], name) == 0)
            return DEVIMG_OK;
    const char **item = DVI_ADD(&set->repeated);
    if (item == NULL)
        return dvi_fail_memory(err, "targets");
    *item = name;
    return DEVIMG_OK;
}

static enum devimg_status add_unknown(struct dvi_target_set *set, const char *name,
                                      struct devimg_error *err)
{
    const size_t count = set->unknown.count;
    const size_t first = count > UNKNOWN_LOOKED_BACK ? count - UNKNOWN_LOOKED_BACK : 0;
    for (size_t i = first; i < count; i++)
        if (strcmp(set->unknown.items[i], name) == 0)
            return DEVIMG_OK;
    const char **item = DVI_ADD(&set->unknown);
    if (item == NULL)
        return dvi_fail_memory(err, "targets");
    *item = name;
    return DEVIMG_OK;
}

static enum devimg_status add_group(struct dvi_target_set *set,
                                    const struct dvi_target_group *group, struct devimg_error *err)
{
    bool added = false;
    for (uint32_t i = 0; i < group->count; i++)
        DVI_TRY(add_known(set, &dvi_targets[group->rows[i]], &added, err));
    return added ? DEVIMG_OK : add_repeated(set, group->name, err);
}

static enum devimg_status add_name(struct dvi_target_set *set, const char *name,
                                   struct devimg_error *err)
{
    const struct dvi_target_group *group = group_named(name);
    if (group != NULL)
        return add_group(set, group, err);
    const struct devimg_target *target = devimg_target_find(name);
    if (target == NULL)
        return add_unknown(set, name, err);
    bool added = false;
    DVI_TRY(add_known(set, target, &added, err));
    return added ? DEVIMG_OK : add_repeated(set, target->name, err);
}

enum devimg_status dvi_target_set_add(struct dvi_target_set *set, const char *list,
                                      struct dvi_arena *arena, struct devimg_error *err)
{
    while (*list != '\0') {
        const char *end = list + strcspn(list, ",");
        const char *next = *end == ',' ? end + 1 : end;
        while (list < end && blank(*list))
            list++;
        while (end > list && blank(end[-1]))
            end--;
        if (end > list) {
            const char *name =
                dvi_arena_text(arena, dvi_view_of(list, (size_t)(end - list), "targets"));
            if (name == NULL)
                return dvi_fail_memory(err, "targets");
            DVI_TRY(add_name(set, name, err));
        }
        list = next;
    }
    return DEVIMG_OK;
}

bool dvi_target_set_has(const struct dvi_target_set *set, const struct devimg_image *image)
{
    for (size_t i = 0; i < set->known.count; i++)
        if (dvi_target_is_of_image(set->known.items[i], image))
            return true;
    for (size_t i = 0; image->target != NULL && i < set->unknown.count; i++)
        if (strcasecmp(set->unknown.items[i], image->target) == 0)
            return true;
    return false;
}

void dvi_target_set_free(struct dvi_target_set *set)
{
    DVI_LIST_FREE(&set->known);
    DVI_LIST_FREE(&set->unknown);
    DVI_LIST_FREE(&set->repeated);
}
