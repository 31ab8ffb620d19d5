/* SPDX-License-Identifier: Apache-2.0 */
/* `devimg kernels`: what each kernel takes, the worst first where that is asked for. */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"
#include "output/escape.h"
#include "output/form.h"
#include "output/record.h"
#include "output/summary.h"
#include "output/text.h"
#include "target/target.h"

/* A kernel as it is sorted: by name, or by a number, the largest first and the unknown last. */
struct row {
    const struct devimg_kernel *kernel;
    uint64_t key;
    uint32_t index;
};

enum vendor { AMD = 1, NVIDIA = 2 };

static unsigned vendor_of(const struct devimg_kernel *kernel)
{
    return (kernel->sgpr_count != DEVIMG_UNKNOWN ? AMD : 0U) |
           (kernel->constant_size != DEVIMG_UNKNOWN ? NVIDIA : 0U);
}

static uint64_t key_of(const struct devimg_kernel *kernel, const char *sort)
{
#define DVI_KEY(name, member)    \
    if (strcmp(sort, name) == 0) \
        return kernel->member;
    if (strcmp(sort, "scratch") == 0 && vendor_of(kernel) != 0)
        return kernel->private_size; /* AMD, NVIDIA: that is all of it */
    DVI_KERNEL_KEYS(DVI_KEY)
#undef DVI_KEY
    return 0;
}

static int by_name(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    const int order = strcmp(a->kernel->name, b->kernel->name);
    return order != 0 ? order : a->index < b->index ? -1 : a->index > b->index;
}

static int by_key(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    const bool unknown = a->key == DEVIMG_UNKNOWN || b->key == DEVIMG_UNKNOWN;
    if (a->key != b->key)
        return (a->key > b->key) != unknown ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

struct rows {
    const struct devimg_file *file;
    struct row *items;
    size_t count;
    bool mangled;
    unsigned vendors; /* bits of enum vendor: whose columns are shown */
};

static bool select_rows(const struct devimg_file *file, const struct dvi_kernel_view *view,
                        struct rows *out)
{
    const uint32_t count = devimg_kernel_count(file);
    *out = (struct rows){ .file = file, .mangled = view->mangled };
    out->items = calloc(count > 0 ? count : 1, sizeof *out->items);
    if (out->items == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct devimg_kernel *kernel = devimg_kernel_at(file, i);
        const struct devimg_image *image = devimg_image_at(file, kernel->image);
        if (view->targets != NULL && (image == NULL || !dvi_target_set_has(view->targets, image)))
            continue;
        const uint64_t key = view->sort != NULL ? key_of(kernel, view->sort) : 0;
        out->items[out->count++] = (struct row){ kernel, key, i };
        out->vendors |= vendor_of(kernel);
    }
    if (view->sort != NULL)
        qsort(out->items, out->count, sizeof *out->items,
              strcmp(view->sort, "name") == 0 ? by_name : by_key);
    if (view->most > 0 && out->count > view->most)
        out->count = (size_t)view->most;
    return true;
}

/* "fp64 matrix"; "-" where there are none, "?" where the format does not say. */
static void needs_cell(struct dvi_table *table, const struct devimg_kernel *kernel)
{
    char text[128] = "";
    size_t at = 0;
    for (uint32_t bit = 1; bit != 0; bit <<= 1) {
        const char *name = (kernel->features & bit) != 0 ? devimg_feature_name(bit) : NULL;
        if (name != NULL && at < sizeof text)
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", at > 0 ? " " : "", name);
    }
    dvi_cell(table, at == 0 && !kernel->features_known ? "?" : text);
}

static void sub_group_cell(struct dvi_table *table, const struct devimg_kernel *kernel)
{
    if (kernel->required_sub_group_size != DEVIMG_UNKNOWN)
        dvi_cell_format(table, "%" PRIu64 " required", kernel->required_sub_group_size);
    else
        dvi_cell_number(table, kernel->sub_group_size);
}

static const char *shown_name(const struct rows *rows, const struct devimg_kernel *kernel,
                              char *buffer)
{
    const char *plain = rows->mangled ? NULL : dvi_demangle(kernel->name, buffer);
    return plain != NULL ? plain : kernel->name;
}

/* Numbers of a kernel; what only one vendor's code states is shown where such code is. */
static const struct number_column {
    const char *title;
    size_t at; /* in struct devimg_kernel */
    unsigned vendors;
} numbers[] = {
    { "SIZE", offsetof(struct devimg_kernel, code_size), 0 },
    { "REGISTERS", offsetof(struct devimg_kernel, registers), 0 },
    { "SGPR", offsetof(struct devimg_kernel, sgpr_count), AMD },
    { "AGPR", offsetof(struct devimg_kernel, agpr_count), AMD },
    { "PRIVATE", offsetof(struct devimg_kernel, private_size), 0 },
    { "SPILL", offsetof(struct devimg_kernel, spill_size), 0 },
    { "SLM", offsetof(struct devimg_kernel, slm_size), 0 },
    { "SCRATCH", offsetof(struct devimg_kernel, scratch_size), 0 },
    { "CONSTANT", offsetof(struct devimg_kernel, constant_size), NVIDIA },
    { "BARRIERS", offsetof(struct devimg_kernel, barrier_count), NVIDIA },
};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static bool shows(const struct rows *rows, const struct number_column *column)
{
    return column->vendors == 0 || (column->vendors & rows->vendors) != 0;
}

static void kernel_rows(struct dvi_table *table, const void *data)
{
    const struct rows *rows = data;
    char name[DVI_NAME_ROOM];
    for (size_t i = 0; i < rows->count; i++) {
        const struct devimg_kernel *k = rows->items[i].kernel;
        dvi_target_cell(table, devimg_image_at(rows->file, k->image));
        sub_group_cell(table, k);
        for (size_t c = 0; c < NUMBERS; c++) {
            uint64_t number = 0;
            memcpy(&number, (const char *)k + numbers[c].at, sizeof number);
            if (shows(rows, &numbers[c]))
                dvi_cell_number(table, number);
        }
        needs_cell(table, k);
        dvi_cell(table, dvi_table_printing(table) ? shown_name(rows, k, name) : "");
    }
}

static void print_rows(const struct dvi_output *out, const struct rows *rows)
{
    struct dvi_column columns[NUMBERS + 4] = { { "TARGET", DVI_LEFT }, { "SUB-GROUP", DVI_LEFT } };
    size_t count = 2;
    for (size_t i = 0; i < NUMBERS; i++)
        if (shows(rows, &numbers[i]))
            columns[count++] = (struct dvi_column){ numbers[i].title, DVI_RIGHT };
    columns[count++] = (struct dvi_column){ "NEEDS", DVI_LEFT };
    columns[count++] = (struct dvi_column){ "NAME", DVI_LEFT };
    dvi_table_print(out, columns, count, kernel_rows, rows);
}

void dvi_kernels_print(struct dvi_output *out, const struct devimg_file *file,
                       const struct dvi_kernel_view *view)
{
    struct rows rows = { 0 };
    if (!select_rows(file, view, &rows))
        dvi_output_memory(out);
    else if (rows.count > 0)
        print_rows(out, &rows);
    free(rows.items);
}

/* Images that hold kernels, or may do so, of which none is listed. */
static const char *why_unknown(const struct devimg_file *file, uint32_t *count)
{
    bool bitcode = false, other = false;
    uint32_t kernel = 0; /* they stand in the order of their images */
    *count = 0;
    for (uint32_t i = 0; i < devimg_image_count(file); i++) {
        const struct devimg_image *image = devimg_image_at(file, i);
        const uint32_t first = kernel;
        while (kernel < devimg_kernel_count(file) && devimg_kernel_at(file, kernel)->image == i)
            kernel++;
        if (image->kernel_count == 0 || kernel > first || image->support ||
            image->format == DEVIMG_FORMAT_ARCHIVE)
            continue;
        ++*count;
        bitcode = bitcode || image->format == DEVIMG_FORMAT_BITCODE;
        other = other || image->format != DEVIMG_FORMAT_BITCODE;
    }
    return bitcode && other ? "LLVM bitcode and images that are not decoded"
           : bitcode        ? "LLVM bitcode, which is not decoded"
                            : "images that are not decoded";
}

static void print_counts(struct dvi_output *out, const struct devimg_file *file)
{
    const uint32_t count = devimg_kernel_count(file);
    uint32_t unknown = 0;
    const char *why = why_unknown(file, &unknown);
    if (devimg_image_count(file) == 0)
        dvi_print_nothing(out->file, file);
    else if (count == 0 && unknown == 0)
        fputs("no kernels", out->file);
    else if (count == 0)
        fprintf(out->file, "kernels not known: %s", why);
    else
        dvi_print_count(out->file, count, "kernel");
    if (count > 0 && unknown > 0)
        fprintf(out->file, ", those of %" PRIu32 " image%s not known (%s)", unknown,
                unknown == 1 ? "" : "s", why);
}

static void kernels_text(struct dvi_output *out, const char *path, const struct rows *rows,
                         const struct dvi_findings *findings)
{
    const uint32_t count = devimg_kernel_count(rows->file);
    dvi_output_heading(out, path);
    dvi_style_on(out, DVI_BOLD);
    print_counts(out, rows->file);
    if (rows->count < count)
        fprintf(out->file, ", %zu shown", rows->count);
    if (rows->count == 0 && count > 0 && !dvi_print_targets(out->file, rows->file))
        dvi_output_memory(out);
    dvi_style_off(out);
    putc('\n', out->file);
    if (out->quiet)
        return;
    if (rows->count > 0)
        print_rows(out, rows);
    if (!dvi_findings_print(out, rows->file, findings))
        dvi_output_memory(out);
}

static void kernels_json(struct dvi_output *out, const char *path, const struct rows *rows,
                         const struct dvi_findings *findings)
{
    const struct devimg_file *file = rows->file;
    const uint32_t count = devimg_kernel_count(file);
    uint8_t *shown = calloc(count > 0 ? count : 1, 1);
    if (shown == NULL) {
        dvi_output_memory(out);
        return;
    }
    for (size_t i = 0; i < rows->count; i++)
        shown[rows->items[i].index] = 1;
    dvi_json_file(out, file, path, findings, true, shown);
    free(shown);
}

uint64_t dvi_output_kernels(struct dvi_output *out, const struct devimg_file *file,
                            const char *path, const struct dvi_kernel_view *view)
{
    struct dvi_findings findings = { 0 };
    struct rows rows = { 0 };
    uint64_t count = 0;
    if (!dvi_findings_of_file(file, &findings) || !select_rows(file, view, &rows)) {
        dvi_output_memory(out);
    } else {
        dvi_output_count(out, &findings);
        dvi_output_damage(out, file);
        count = rows.count;
        if (out->json)
            kernels_json(out, path, &rows, &findings);
        else
            kernels_text(out, path, &rows, &findings);
    }
    free(rows.items);
    dvi_findings_free(&findings);
    return count;
}
