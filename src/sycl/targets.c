/* SPDX-License-Identifier: Apache-2.0 */
/* Names are parsed as everywhere (target/set.c); ocloc decides which of them exist for a build. */
#include "sycl/targets.h"

#include <string.h>

#include "image/image.h"

enum { IP_ROOM = 24, MOST_UNKNOWN_ASKED = 32 };

const char dvi_sycl_narrow_remedy[] =
    "use a newer ocloc, leave these names out (devimg sycl targets --narrow-to-ocloc does), or build "
    "with an empty list (SPIR-V only, compiled at the first launch)";
const char dvi_sycl_ocloc_remedy[] =
    "install ocloc (package intel-ocloc, of the distribution or of Intel's releases; Debian 12: "
    "intel-opencl-icd; oneAPI on Linux has none, on Windows it has one), or build with an empty list "
    "(SPIR-V only, compiled at the first launch)";

static enum devimg_status add_text(struct dvi_sycl_targets *t, const char *text,
                                   struct devimg_error *err)
{
    const char **added = text != NULL ? DVI_ADD(&t->warnings) : NULL;
    if (added == NULL)
        return dvi_fail_memory(err, "targets");
    *added = text;
    return DEVIMG_OK;
}

static enum devimg_status add_unknown(struct dvi_sycl_targets *t, const char *name, const char *why,
                                      struct devimg_error *err)
{
    struct dvi_sycl_unknown *added = why != NULL ? DVI_ADD(&t->unknown) : NULL;
    if (added == NULL)
        return dvi_fail_memory(err, "targets");
    *added = (struct dvi_sycl_unknown){ name, why };
    return DEVIMG_OK;
}

/* A name of a table: a GPU that ocloc compiles for, or something else. */
static enum devimg_status take_known(struct dvi_sycl_targets *t, const struct devimg_target *row,
                                     struct devimg_error *err)
{
    if (row->ip_version == DEVIMG_UNKNOWN)
        return add_unknown(t, row->name,
                           dvi_arena_format(&t->arena,
                                            "is no Intel GPU that ocloc compiles for; it stands in "
                                            "-fsycl-targets"),
                           err);
    struct dvi_sycl_target *added = DVI_ADD(&t->list);
    if (added == NULL)
        return dvi_fail_memory(err, "targets");
    *added = (struct dvi_sycl_target){ row, NULL, row->ip_version, DEVIMG_MAYBE };
    return DEVIMG_OK;
}

static enum devimg_status take_unknown(struct dvi_sycl_targets *t, const char *name,
                                       struct devimg_error *err)
{
    const char *nearest = dvi_target_nearest(name);
    return add_unknown(
        t, name,
        nearest != NULL ? dvi_arena_format(&t->arena, "no table has it: did you mean %s?", nearest)
                        : "no table has it",
        err);
}

static enum devimg_status take_set(struct dvi_sycl_targets *t, const struct dvi_target_set *set,
                                   struct devimg_error *err)
{
    for (size_t i = 0; i < set->known.count; i++)
        DVI_TRY(take_known(t, set->known.items[i], err));
    for (size_t i = 0; i < set->unknown.count; i++)
        DVI_TRY(take_unknown(t, set->unknown.items[i], err));
    for (size_t i = 0; i < set->repeated.count; i++)
        DVI_TRY(add_text(t,
                         dvi_arena_format(&t->arena, "%s is listed more than once: it counts once",
                                          set->repeated.items[i]),
                         err));
    return DEVIMG_OK;
}

static enum devimg_status parse(struct dvi_sycl_targets *t,
                                const struct dvi_sycl_targets_asked *asked,
                                struct devimg_error *err)
{
    struct dvi_target_set set = { 0 };
    enum devimg_status st = DEVIMG_OK;
    for (size_t i = 0; i < asked->count && st == DEVIMG_OK; i++)
        st = dvi_target_set_add(&set, asked->lists[i], &t->arena, err);
    if (st == DEVIMG_OK)
        st = take_set(t, &set, err);
    dvi_target_set_free(&set);
    return st;
}

static bool answers_with(const struct dvi_ocloc_answer *answer, uint64_t ip)
{
    for (size_t i = 0; i < answer->ip_count; i++)
        if (answer->ips[i] == ip)
            return true;
    return false;
}

/* ocloc's word counts; where the tables say something else, that is said. */
static enum devimg_status take_answer(struct dvi_sycl_targets *t, struct dvi_sycl_target *target,
                                      const struct dvi_ocloc_answer *answer,
                                      struct devimg_error *err)
{
    char said[IP_ROOM], table[IP_ROOM];
    target->known = answer->ip_count > 0 ? DEVIMG_YES : DEVIMG_NO;
    if (answer->ip_count == 0 || answers_with(answer, target->row->ip_version))
        return DEVIMG_OK;
    dvi_ip_text(answer->ips[0], said);
    dvi_ip_text(target->row->ip_version, table);
    target->ip_version = answer->ips[0];
    return add_text(t,
                    dvi_arena_format(&t->arena, "%s is %s to this ocloc, %s in the tables",
                                     target->row->name, said, table),
                    err);
}

/* A name that no table has may be one of a newer ocloc: then nobody measured it yet. */
static enum devimg_status ask_unknown(struct dvi_sycl_targets *t,
                                      const struct dvi_sycl_targets_asked *asked,
                                      struct devimg_error *err)
{
    for (size_t i = 0; i < t->unknown.count; i++) {
        struct dvi_sycl_unknown *unknown = &t->unknown.items[i];
        struct dvi_ocloc_answer answer = { 0 };
        char ip[IP_ROOM];
        if (devimg_target_find(unknown->name) != NULL) /* of another kind */
            continue;
        if (i == MOST_UNKNOWN_ASKED)
            return add_text(t,
                            dvi_arena_format(&t->arena,
                                             "ocloc was not asked for more than %d names that no "
                                             "table has",
                                             (int)MOST_UNKNOWN_ASKED),
                            err);
        DVI_TRY(dvi_ocloc_ids(asked->ocloc, asked->folder, unknown->name, asked->seconds, &answer,
                              err));
        if (answer.ip_count == 0)
            continue;
        dvi_ip_text(answer.ips[0], ip);
        unknown->why = dvi_arena_format(&t->arena,
                                        "this ocloc knows it as %s, but no table has it: its "
                                        "sub-group sizes are not measured yet",
                                        ip);
        if (unknown->why == NULL)
            return dvi_fail_memory(err, "targets");
    }
    return DEVIMG_OK;
}

/* "dropped, ...: a, b": never silently. */
static enum devimg_status say_dropped(struct dvi_sycl_targets *t, struct devimg_error *err)
{
    const char *text = "dropped, this ocloc does not know";
    if (t->dropped.count == 0)
        return DEVIMG_OK;
    for (size_t i = 0; i < t->dropped.count && text != NULL; i++) /* at most a table of names */
        text =
            dvi_arena_format(&t->arena, "%s%s%s", text, i > 0 ? ", " : ": ", t->dropped.items[i]);
    return add_text(t, text, err);
}

/* All names are asked for; those that it does not know leave the list, or are unknown. */
static enum devimg_status ask(struct dvi_sycl_targets *t,
                              const struct dvi_sycl_targets_asked *asked, struct devimg_error *err)
{
    for (size_t i = 0; i < t->list.count; i++) {
        struct dvi_ocloc_answer answer = { 0 };
        DVI_TRY(dvi_ocloc_ids(asked->ocloc, asked->folder, t->list.items[i].row->name,
                              asked->seconds, &answer, err));
        DVI_TRY(take_answer(t, &t->list.items[i], &answer, err));
    }
    DVI_TRY(ask_unknown(t, asked, err));
    t->ocloc = asked->ocloc;
    size_t kept = 0;
    for (size_t i = 0; i < t->list.count; i++) {
        const struct dvi_sycl_target target = t->list.items[i];
        if (target.known == DEVIMG_YES || !asked->narrow)
            t->list.items[kept++] = target;
        if (target.known == DEVIMG_YES)
            continue;
        if (!asked->narrow) {
            DVI_TRY(add_unknown(t, target.row->name, "this ocloc does not know it", err));
            continue;
        }
        const char **dropped = DVI_ADD(&t->dropped);
        if (dropped == NULL)
            return dvi_fail_memory(err, "targets");
        *dropped = target.row->name;
    }
    t->list.count = kept;
    return say_dropped(t, err);
}

/* IP versions, sub-group sizes: what follows from the list. */
static enum devimg_status sum_up(struct dvi_sycl_targets *t, struct devimg_error *err)
{
    uint32_t sizes = t->list.count > 0 ? UINT32_MAX : 0;
    for (size_t i = 0; i < t->list.count; i++) {
        struct dvi_sycl_target *target = &t->list.items[i];
        for (size_t k = 0; k < i && target->same_as == NULL; k++)
            if (t->list.items[k].ip_version == target->ip_version)
                target->same_as = t->list.items[k].row->name;
        t->distinct_ips += target->same_as == NULL;
        sizes &= target->row->sub_group_sizes;
        if (target->row->sub_group_sizes != 0)
            continue;
        const char **added = DVI_ADD(&t->unmeasured);
        if (added == NULL)
            return dvi_fail_memory(err, "targets");
        *added = target->row->name;
    }
    t->sub_group_sizes = sizes;
    return DEVIMG_OK;
}

static enum devimg_status make_device_word(struct dvi_sycl_targets *t, struct devimg_error *err)
{
    static const char start[] = "-device ";
    size_t room = sizeof start;
    for (size_t i = 0; i < t->list.count; i++)
        room += strlen(t->list.items[i].row->name) + 1;
    char *word = dvi_arena_array(&t->arena, room, 1);
    if (word == NULL)
        return dvi_fail_memory(err, "targets");
    char *at = stpcpy(word, start);
    for (size_t i = 0; i < t->list.count; i++) {
        if (i > 0)
            *at++ = ',';
        at = stpcpy(at, t->list.items[i].row->name);
    }
    t->device_word = word;
    return DEVIMG_OK;
}

enum devimg_status dvi_sycl_targets_read(const struct dvi_sycl_targets_asked *asked,
                                         struct dvi_sycl_targets *out, struct devimg_error *err)
{
    *out = (struct dvi_sycl_targets){ 0 };
    DVI_TRY(parse(out, asked, err));
    if (asked->ocloc != NULL)
        DVI_TRY(ask(out, asked, err));
    DVI_TRY(sum_up(out, err));
    out->refused = out->unknown.count > 0 || out->unmeasured.count > 0 ||
                   (out->dropped.count > 0 && out->list.count == 0);
    if (out->list.count == 0 || out->refused)
        return DEVIMG_OK;
    return make_device_word(out, err);
}

const char *dvi_sycl_targets_form(const struct dvi_sycl_targets *targets)
{
    if (targets->list.count == 0 || targets->refused)
        return NULL;
    return targets->list.count == 1 ? "native" : "fat";
}

void dvi_sycl_targets_free(struct dvi_sycl_targets *targets)
{
    DVI_LIST_FREE(&targets->list);
    DVI_LIST_FREE(&targets->unknown);
    DVI_LIST_FREE(&targets->dropped);
    DVI_LIST_FREE(&targets->unmeasured);
    DVI_LIST_FREE(&targets->warnings);
    dvi_arena_free(&targets->arena);
}
