/* SPDX-License-Identifier: Apache-2.0 */
/* `devimg kernels --missing`: what has no native code for a GPU. */
#include "query/missing.h"

#include <inttypes.h>
#include <string.h>

#include "base/demangle.h"
#include "output/form.h"
#include "output/record.h"
#include "output/summary.h"
#include "output/text.h"

struct data {
    const struct devimg_file *file;
    const struct dvi_missing_list *list;
    bool mangled;
};

/* Bitcode that a link makes code of. */
static bool is_for_link(const struct devimg_file *file, const struct dvi_missing *row)
{
    const struct devimg_image *image = devimg_image_at(file, row->fallback);
    return image != NULL && image->format == DEVIMG_FORMAT_BITCODE &&
           image->offload != DEVIMG_OFFLOAD_ACPP;
}

/* What code for the target is made of; NULL: nothing. Loose SPIR-V states no target. */
static const char *fallback_of(const struct devimg_file *file, const struct dvi_missing *row)
{
    const struct devimg_image *image = devimg_image_at(file, row->fallback);
    if (image == NULL)
        return NULL;
    if (image->offload == DEVIMG_OFFLOAD_ACPP)
        return "generic IR";
    if (is_for_link(file, row))
        return "bitcode";
    return image->target != NULL ? image->target : devimg_format_name(image->format);
}

static uint32_t module_within(const struct devimg_file *file, uint32_t module)
{
    if (module == DEVIMG_NONE)
        return DEVIMG_NONE;
    const struct devimg_record *record =
        devimg_record_at(file, devimg_module_at(file, module)->record);
    return dvi_within(module, record->first_module, record->module_count);
}

static void module_cell(struct dvi_table *table, const struct devimg_file *file, uint32_t module)
{
    const uint32_t index = module_within(file, module);
    dvi_cell_number(table, index != DEVIMG_NONE ? index : DEVIMG_UNKNOWN);
}

static void rows(struct dvi_table *table, const void *context)
{
    const struct data *d = context;
    const bool members = dvi_has_members(d->file);
    char name[DVI_NAME_ROOM];
    for (size_t i = 0; i < d->list->items.count; i++) {
        const struct dvi_missing *row = &d->list->items.items[i];
        const struct devimg_module *module = devimg_module_at(d->file, row->module);
        const char *fallback = fallback_of(d->file, row);
        const char *plain = NULL;
        if (members)
            dvi_cell(table, dvi_member_of(d->file, module->record));
        if (row->settings != NULL)
            dvi_cell_format(table, "%s with %s", row->target->name, row->settings);
        else
            dvi_cell(table, row->target->name);
        module_cell(table, d->file, row->module);
        dvi_cell(table, fallback != NULL ? fallback : "none");
        module_cell(table, d->file, row->other);
        dvi_cell(table, module->unit);
        if (dvi_table_printing(table) && row->kernel != NULL && !d->mangled)
            plain = dvi_demangle(row->kernel, name);
        dvi_cell(table, plain != NULL         ? plain
                        : row->kernel != NULL ? row->kernel
                                              : "(names unknown)");
    }
}

static void print_rows(const struct dvi_output *out, const struct data *d)
{
    static const struct dvi_column columns[] = {
        { "MEMBER", DVI_LEFT },   { "TARGET", DVI_LEFT },     { "MODULE", DVI_RIGHT },
        { "FALLBACK", DVI_LEFT }, { "NATIVE-IN", DVI_RIGHT }, { "UNIT", DVI_LEFT },
        { "NAME", DVI_LEFT },
    };
    const size_t skipped = dvi_has_members(d->file) ? 0 : 1;
    if (d->list->items.count > 0)
        dvi_table_print(out, columns + skipped, sizeof columns / sizeof *columns - skipped, rows,
                        d);
}

/* "bmg-g21: 3 kernels without native code, 2 compiled by a driver at first use, 1 that cannot run" */
static void print_target(FILE *file, const struct data *d, const struct devimg_target *target)
{
    uint64_t kernels = 0, fallback = 0, link = 0, other = 0, unknown = 0;
    for (size_t i = 0; i < d->list->items.count; i++) {
        const struct dvi_missing *row = &d->list->items.items[i];
        if (row->target != target)
            continue;
        if (row->kernel == NULL) {
            unknown++;
            continue;
        }
        kernels++;
        link += is_for_link(d->file, row);
        fallback += row->fallback != DEVIMG_NONE && !is_for_link(d->file, row);
        other += row->other != DEVIMG_NONE;
    }
    fprintf(file, "%s: ", target->name);
    if (kernels > 0) {
        dvi_print_count(file, kernels, "kernel");
        fputs(" without native code", file);
    } else {
        fputs(unknown > 0 ? "kernels" : "every kernel is native", file);
    }
    if (fallback > 0)
        fprintf(file, ", %" PRIu64 " compiled by a driver at first use", fallback);
    if (link > 0)
        fprintf(file, ", %" PRIu64 " that a link is to make", link);
    if (kernels > fallback + link)
        fprintf(file, ", %" PRIu64 " that cannot run", kernels - fallback - link);
    if (other > 0)
        fprintf(file, " (%" PRIu64 " native in another module)", other);
    if (unknown > 0) {
        fputs(kernels > 0 ? "; those of " : " of ", file);
        dvi_print_count(file, unknown, "module");
        fputs(" without native code are not known", file);
    }
    putc('\n', file);
}

static void print_answer(FILE *file, const struct data *d, const struct dvi_target_set *targets)
{
    const struct dvi_missing_list *list = d->list;
    const bool one = targets->known.count == 1;
    if (devimg_image_count(d->file) == 0) {
        dvi_print_nothing(file, d->file);
        return;
    }
    if (list->items.count == 0 && list->kernel_count == 0) {
        fputs("no kernels", file);
        return;
    }
    if (list->items.count == 0) {
        fputs("all ", file);
        dvi_print_count(file, list->kernel_count, "kernel");
        fprintf(file, " native for %s", one ? targets->known.items[0]->name : "each of these GPUs");
        return;
    }
    if (list->kernel_count == 0) {
        fputs("kernels not known,", file);
    } else {
        fprintf(file, "%" PRIu64 " of ", list->missing_count);
        dvi_print_count(file, list->kernel_count, "kernel");
    }
    fprintf(file, " without native code for %s",
            one ? targets->known.items[0]->name : "some of these GPUs");
}

static void missing_text(struct dvi_output *out, const char *path, const struct data *d,
                         const struct dvi_target_set *targets, const struct dvi_findings *findings)
{
    dvi_output_heading(out, path);
    dvi_style_on(out, DVI_BOLD);
    print_answer(out->file, d, targets);
    dvi_style_off(out);
    putc('\n', out->file);
    if (out->quiet)
        return;
    for (size_t i = 0; d->list->items.count > 0 && i < targets->known.count; i++)
        print_target(out->file, d, targets->known.items[i]);
    print_rows(out, d);
    if (!dvi_findings_print(out, d->file, findings))
        dvi_output_memory(out);
}

static void missing_json(struct dvi_json *j, const struct data *d, uint32_t record)
{
    char name[DVI_NAME_ROOM];
    dvi_json_array(j, "missing", DVI_JSON_LINES);
    for (size_t i = 0; i < d->list->items.count; i++) {
        const struct dvi_missing *row = &d->list->items.items[i];
        const struct devimg_module *module = devimg_module_at(d->file, row->module);
        if (module->record != record)
            continue;
        dvi_json_object(j, NULL, DVI_JSON_ONE_LINE);
        dvi_json_text(j, "target", row->target->name);
        dvi_json_text(j, "settings", row->settings);
        dvi_json_text(j, "kernel", row->kernel);
        dvi_json_text(j, "demangled", row->kernel != NULL ? dvi_demangle(row->kernel, name) : NULL);
        dvi_json_index(j, "module", module_within(d->file, row->module));
        dvi_json_text(j, "unit", module->unit);
        dvi_json_text(j, "fallback", fallback_of(d->file, row));
        dvi_json_index(j, "native_in", module_within(d->file, row->other));
        dvi_json_end(j);
    }
    dvi_json_end(j);
}

static void json(struct dvi_output *out, const char *path, const struct data *d,
                 const struct dvi_findings *findings)
{
    size_t at = 0;
    for (uint32_t r = 0; r < devimg_record_count(d->file); r++) {
        const struct devimg_record *record = devimg_record_at(d->file, r);
        out->record_count++;
        dvi_json_object(&out->j, NULL, DVI_JSON_LINES);
        dvi_json_record_head(&out->j, path, record);
        dvi_json_images(&out->j, d->file, record);
        dvi_json_modules(&out->j, d->file, record);
        missing_json(&out->j, d, r);
        dvi_findings_json(out, d->file, r, findings, &at);
        dvi_json_end(&out->j);
    }
}

void dvi_output_missing(struct dvi_output *out, const struct devimg_file *file, const char *path,
                        const struct dvi_target_set *targets, const struct dvi_missing_list *list,
                        bool mangled)
{
    const struct data d = { file, list, mangled };
    struct dvi_findings findings = { 0 };
    if (!dvi_findings_of_file(file, &findings)) {
        dvi_output_memory(out);
    } else {
        dvi_output_count(out, &findings);
        dvi_output_damage(out, file);
        if (out->json)
            json(out, path, &d, &findings);
        else
            missing_text(out, path, &d, targets, &findings);
    }
    dvi_findings_free(&findings);
}
