/* SPDX-License-Identifier: Apache-2.0 */
/* `devimg sycl targets`: a list of targets and what it means. */
#include <string.h>

#include "output/escape.h"
#include "output/form.h"
#include "output/record.h"
#include "output/sycl.h"
#include "output/text.h"
#include "sycl/targets.h"
#include "target/sizes.h"

static bool is_jit(const struct dvi_sycl_targets *t)
{
    return t->list.count == 0 && !t->refused;
}

static void text_array(struct dvi_json *j, const char *key, const char *const *items, size_t count)
{
    dvi_json_array(j, key, DVI_JSON_ONE_LINE);
    for (size_t i = 0; i < count; i++)
        dvi_json_text(j, NULL, items[i]);
    dvi_json_end(j);
}

static void list_json(struct dvi_json *j, const struct dvi_sycl_targets *t)
{
    dvi_json_array(j, "list", DVI_JSON_ONE_LINE);
    for (size_t i = 0; i < t->list.count; i++)
        dvi_json_text(j, NULL, t->list.items[i].row->name);
    dvi_json_end(j);
}

static void redundant_json(struct dvi_json *j, const struct dvi_sycl_targets *t)
{
    dvi_json_array(j, "redundant", DVI_JSON_LINES);
    for (size_t i = 0; i < t->list.count; i++) {
        const struct dvi_sycl_target *target = &t->list.items[i];
        char ip[DVI_SIZE_ROOM];
        if (target->same_as == NULL)
            continue;
        dvi_json_object(j, NULL, DVI_JSON_ONE_LINE);
        dvi_json_text(j, "name", target->row->name);
        dvi_json_text(j, "same_as", target->same_as);
        dvi_json_text(j, "ip_version", dvi_ip_or_null(target->ip_version, ip));
        dvi_json_end(j);
    }
    dvi_json_end(j);
}

static void json(struct dvi_output *out, const struct dvi_sycl_targets *t)
{
    struct dvi_json *j = &out->j;
    *j = dvi_json_to(out->file);
    dvi_json_object(j, NULL, DVI_JSON_LINES);
    dvi_json_text(j, "schema", "devimg/1");
    list_json(j, t);
    dvi_json_text(j, "mode", is_jit(t) ? "jit" : "aot");
    dvi_json_text(j, "device_word", t->device_word);
    dvi_json_text(j, "form", dvi_sycl_targets_form(t));
    dvi_json_number(j, "distinct_ips", t->distinct_ips);
    redundant_json(j, t);
    dvi_json_sizes(j, "sub_group_sizes", t->sub_group_sizes);
    dvi_json_text(j, "ocloc", t->ocloc);
    text_array(j, "dropped", t->dropped.items, t->dropped.count);
    text_array(j, "unmeasured", t->unmeasured.items, t->unmeasured.count);
    dvi_json_array(j, "unknown", DVI_JSON_ONE_LINE);
    for (size_t i = 0; i < t->unknown.count; i++)
        dvi_json_text(j, NULL, t->unknown.items[i].name);
    dvi_json_end(j);
    text_array(j, "warnings", t->warnings.items, t->warnings.count);
    dvi_json_end(j);
}

static void rows(struct dvi_table *table, const void *data)
{
    const struct dvi_sycl_targets *t = data;
    for (size_t i = 0; i < t->list.count; i++) {
        const struct dvi_sycl_target *target = &t->list.items[i];
        char ip[DVI_SIZE_ROOM], sizes[DVI_SIZES_ROOM];
        dvi_cell(table, target->row->name);
        dvi_cell(table, dvi_ip_or_null(target->ip_version, ip));
        dvi_cell(table, dvi_sizes_text(target->row->sub_group_sizes, ",", sizes));
        dvi_cell(table, target->known == DEVIMG_MAYBE ? NULL
                        : target->known == DEVIMG_YES ? "known"
                                                      : "unknown");
        dvi_cell(table, target->same_as);
        dvi_cell(table, target->row->products);
    }
}

/* The list alone: what a script takes. A refused one is no list, also for a script that does not
 * look at the exit status. */
static void first_line(const struct dvi_output *out, const struct dvi_sycl_targets *t)
{
    if (t->refused)
        fputs("refused", out->file);
    for (size_t i = 0; i < t->list.count && !t->refused; i++)
        fprintf(out->file, "%s%s", i > 0 ? "," : "", t->list.items[i].row->name);
    putc('\n', out->file);
}

static void summary(const struct dvi_output *out, const struct dvi_sycl_targets *t)
{
    char sizes[DVI_SIZES_ROOM];
    if (is_jit(t)) {
        fputs("jit: no native images, SPIR-V is compiled at the first launch\n", out->file);
        return;
    }
    if (t->list.count == 0)
        return;
    fputs("aot: ", out->file);
    dvi_print_count(out->file, t->list.count, "name");
    fputs(", ", out->file);
    dvi_print_count(out->file, t->distinct_ips, "IP version");
    if (dvi_sycl_targets_form(t) != NULL)
        fprintf(out->file, t->list.count == 1
                               ? ", a native image a unit"
                               : ", a fat image a unit (an archive, a member a name)");
    dvi_sizes_text(t->sub_group_sizes, ", ", sizes);
    fprintf(out->file, "\nsub-group sizes that all accept: %s\n",
            sizes[0] != '\0' ? sizes : "not known");
    if (t->device_word != NULL)
        fprintf(out->file, "word: \"%s\"\n", t->device_word);
}

static void text(struct dvi_output *out, const struct dvi_sycl_targets *t)
{
    static const struct dvi_column columns[] = {
        { "NAME", DVI_LEFT },  { "IP", DVI_LEFT },      { "SUB-GROUP", DVI_LEFT },
        { "OCLOC", DVI_LEFT }, { "SAME-AS", DVI_LEFT }, { "PRODUCTS", DVI_LEFT },
    };
    first_line(out, t);
    if (out->quiet)
        return;
    summary(out, t);
    if (t->list.count > 0)
        dvi_table_print(out, columns, sizeof columns / sizeof *columns, rows, t);
}

static void names_line(const char *who, const char *before, const char *const *names, size_t count,
                       const char *behind)
{
    if (count == 0)
        return;
    fprintf(stderr, "devimg %s: %s", who, before);
    for (size_t i = 0; i < count; i++) {
        fputs(i > 0 ? ", " : "", stderr);
        dvi_escape(stderr, names[i]);
    }
    fprintf(stderr, "%s\n", behind);
}

void dvi_complain_targets(const char *who, const struct dvi_sycl_targets *t)
{
    for (size_t i = 0; i < t->unknown.count; i++) {
        fprintf(stderr, "devimg %s: \"", who);
        dvi_escape(stderr, t->unknown.items[i].name);
        fputs("\": ", stderr);
        dvi_escape(stderr, t->unknown.items[i].why);
        putc('\n', stderr);
    }
    names_line(who, "no table has the sub-group sizes of ", t->unmeasured.items,
               t->unmeasured.count, ": measure them before a build relies on them");
}

/* What the user must see in every form, in full. */
static void complain(const struct dvi_sycl_targets *t)
{
    static const char who[] = "sycl targets";
    bool asked = false;
    for (size_t i = 0; i < t->warnings.count; i++)
        names_line(who, "warning: ", &t->warnings.items[i], 1, "");
    dvi_complain_targets(who, t);
    if (t->unknown.count > 0 && t->ocloc == NULL)
        fprintf(
            stderr,
            "devimg %s: write the names as `devimg targets` lists them, narrow the list, or empty it "
            "(SPIR-V only, compiled at the first launch)\n",
            who);
    for (size_t i = 0; i < t->list.count; i++)
        asked = asked || t->list.items[i].known == DEVIMG_NO;
    if (t->dropped.count > 0 && t->list.count == 0)
        fprintf(stderr, "devimg %s: nothing is left of the list\n", who);
    if (t->dropped.count > 0 && t->list.count == 0)
        fprintf(stderr,
                "devimg %s: use a newer ocloc, or build with an empty list (SPIR-V only, "
                "compiled at the first launch)\n",
                who);
    else if (asked)
        fprintf(stderr, "devimg %s: %s\n", who, dvi_sycl_narrow_remedy);
}

enum dvi_exit dvi_output_sycl_targets(struct dvi_output *out,
                                      const struct dvi_sycl_targets *targets)
{
    if (out->json)
        json(out, targets);
    else
        text(out, targets);
    complain(targets);
    dvi_output_worst(out, targets->refused ? DVI_EXIT_FINDINGS : DVI_EXIT_OK);
    dvi_output_worst(out, dvi_output_close(out->file));
    return out->worst;
}
