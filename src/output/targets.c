/* SPDX-License-Identifier: Apache-2.0 */
/* `devimg targets`: rows of the target tables. */
#include <string.h>

#include "output/escape.h"
#include "output/form.h"
#include "output/record.h"
#include "output/text.h"
#include "target/sizes.h"

struct rows {
    const struct devimg_target *const *items;
    size_t count;
    bool amd; /* some have features that a target id sets, or members */
};

static const char *fp64_text(const struct devimg_target *t)
{
    if (t->fp64_emulated)
        return "emulated";
    return t->fp64 == DEVIMG_YES ? "yes" : t->fp64 == DEVIMG_NO ? "no" : NULL;
}

static void target_rows(struct dvi_table *table, const void *data)
{
    const struct rows *rows = data;
    for (size_t i = 0; i < rows->count; i++) {
        const struct devimg_target *t = rows->items[i];
        char ip[DVI_SIZE_ROOM], sizes[DVI_SIZES_ROOM];
        dvi_cell(table, t->name);
        dvi_cell(table, dvi_ip_or_null(t->ip_version, ip));
        dvi_cell(table, t->kind);
        dvi_cell(table, dvi_sizes_text(t->sub_group_sizes, ",", sizes));
        dvi_cell(table, fp64_text(t));
        dvi_cell(table, t->family);
        dvi_cell(table, t->aliases);
        if (rows->amd)
            dvi_cell(table, t->features);
        dvi_cell(table, *t->members != 0 ? t->members : t->products);
    }
}

/* The items of a list between separators, as an array of texts without the blanks around them. */
static void list_json(struct dvi_json *j, const char *key, const char *list, const char *separators)
{
    char item[512];
    dvi_json_array(j, key, DVI_JSON_ONE_LINE);
    for (const char *at = list != NULL ? list : ""; *at != '\0';) {
        at += strspn(at, separators);
        at += strspn(at, " ");
        size_t size = strcspn(at, separators);
        const size_t next = size;
        while (size > 0 && at[size - 1] == ' ')
            size--;
        if (size > 0) {
            snprintf(item, sizeof item, "%.*s", (int)(size < sizeof item ? size : sizeof item), at);
            dvi_json_text(j, NULL, item);
        }
        at += next;
    }
    dvi_json_end(j);
}

static void target_json(struct dvi_json *j, const struct devimg_target *t)
{
    char ip[DVI_SIZE_ROOM];
    dvi_json_object(j, NULL, DVI_JSON_ONE_LINE);
    dvi_json_text(j, "name", t->name);
    dvi_json_text(j, "kind", t->kind);
    dvi_json_text(j, "ip_version", dvi_ip_or_null(t->ip_version, ip));
    list_json(j, "aliases", t->aliases, ",");
    list_json(j, "former_ips", t->former_ips, ",;");
    dvi_json_text(j, "family", t->family);
    dvi_json_text(j, "codename", t->codename);
    list_json(j, "products", t->products, ";");
    dvi_json_sizes(j, "sub_group_sizes", t->sub_group_sizes);
    dvi_json_answer(j, "fp64", t->fp64);
    dvi_json_bool(j, "fp64_emulated", t->fp64_emulated != 0);
    dvi_json_answer(j, "fp16", t->fp16);
    dvi_json_answer(j, "dpas", t->dpas);
    dvi_json_number(j, "product_family", t->product_family);
    dvi_json_number(j, "machine", t->machine);
    list_json(j, "features", t->features, ",");
    list_json(j, "members", t->members, ",");
    dvi_json_text(j, "source", t->source);
    dvi_json_end(j);
}

static void targets_json(struct dvi_output *out, const struct rows *rows,
                         const char *const *unknown, size_t unknown_count)
{
    out->j = dvi_json_to(out->file);
    dvi_json_object(&out->j, NULL, DVI_JSON_LINES);
    dvi_json_text(&out->j, "schema", "devimg/1");
    dvi_json_array(&out->j, "targets", DVI_JSON_LINES);
    for (size_t i = 0; i < rows->count; i++)
        target_json(&out->j, rows->items[i]);
    dvi_json_end(&out->j);
    dvi_json_array(&out->j, "unknown", DVI_JSON_LINES);
    for (size_t i = 0; i < unknown_count; i++) {
        dvi_json_object(&out->j, NULL, DVI_JSON_ONE_LINE);
        dvi_json_text(&out->j, "name", unknown[i]);
        dvi_json_text(&out->j, "nearest", dvi_target_nearest(unknown[i]));
        dvi_json_end(&out->j);
    }
    dvi_json_end(&out->j);
    dvi_json_end(&out->j);
}

static void complain_unknown(const char *const *unknown, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *nearest = dvi_target_nearest(unknown[i]);
        fputs("devimg: no table has the target \"", stderr);
        dvi_escape(stderr, unknown[i]);
        if (nearest != NULL)
            fprintf(stderr, "\": did you mean %s?\n", nearest);
        else
            fputs("\"\n", stderr);
    }
}

enum dvi_exit dvi_output_targets(struct dvi_output *out, const struct devimg_target *const *items,
                                 size_t count, const char *const *unknown, size_t unknown_count)
{
    static const struct dvi_column columns[] = {
        { "NAME", DVI_LEFT },      { "IP", DVI_LEFT },       { "KIND", DVI_LEFT },
        { "SUB-GROUP", DVI_LEFT }, { "FP64", DVI_LEFT },     { "FAMILY", DVI_LEFT },
        { "ALIASES", DVI_LEFT },   { "PRODUCTS", DVI_LEFT },
    };
    static const struct dvi_column amd[] = {
        { "NAME", DVI_LEFT },      { "IP", DVI_LEFT },       { "KIND", DVI_LEFT },
        { "SUB-GROUP", DVI_LEFT }, { "FP64", DVI_LEFT },     { "FAMILY", DVI_LEFT },
        { "ALIASES", DVI_LEFT },   { "FEATURES", DVI_LEFT }, { "PRODUCTS", DVI_LEFT },
    };
    struct rows rows = { .items = items, .count = count };
    for (size_t i = 0; i < count; i++)
        rows.amd = rows.amd || items[i]->machine != DEVIMG_UNKNOWN;
    if (out->json)
        targets_json(out, &rows, unknown, unknown_count);
    else if (count > 0 && rows.amd)
        dvi_table_print(out, amd, sizeof amd / sizeof *amd, target_rows, &rows);
    else if (count > 0)
        dvi_table_print(out, columns, sizeof columns / sizeof *columns, target_rows, &rows);
    complain_unknown(unknown, unknown_count);
    dvi_output_worst(out, unknown_count > 0 ? DVI_EXIT_FINDINGS : DVI_EXIT_OK);
    dvi_output_worst(out, dvi_output_close(out->file));
    return out->worst;
}
