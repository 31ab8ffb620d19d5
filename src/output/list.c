/* SPDX-License-Identifier: Apache-2.0 */
/* `devimg list`: what device code a file carries, answered in the first line. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output/escape.h"
#include "output/form.h"
#include "output/record.h"
#include "output/summary.h"
#include "output/text.h"
#include "target/target.h"

/* " as SPIR-V", " as SPIR-V and PTX" for the groups of one class. */
static void print_formats(FILE *file, const struct dvi_summary *s, enum dvi_class class)
{
    static const char *const names[] = {
        [DEVIMG_FORMAT_UNKNOWN] = "unknown",
        [DEVIMG_FORMAT_ZEBIN] = "zebin",
        [DEVIMG_FORMAT_PATCHTOKEN] = "patch tokens",
        [DEVIMG_FORMAT_SPIRV] = "SPIR-V",
        [DEVIMG_FORMAT_CUBIN] = "cubin",
        [DEVIMG_FORMAT_PTX] = "PTX",
        [DEVIMG_FORMAT_LTO_IR] = "LTO-IR",
        [DEVIMG_FORMAT_AMDGPU] = "AMDGPU",
        [DEVIMG_FORMAT_BITCODE] = "LLVM bitcode",
        [DEVIMG_FORMAT_ARCHIVE] = "archive",
    };
    unsigned told = 0;
    for (size_t i = 0; i < s->groups.count; i++) {
        const struct dvi_group *group = &s->groups.items[i];
        if (group->first->format == DEVIMG_FORMAT_UNKNOWN) /* the host's, which is told apart */
            continue;
        const unsigned bit = 1U << group->first->format;
        if (group->class != class || (told & bit) != 0)
            continue;
        fprintf(file, "%s%s", told != 0 ? " and " : "", names[group->first->format]);
        told |= bit;
    }
}

static bool has_class(const struct dvi_summary *s, enum dvi_class class)
{
    for (size_t i = 0; i < s->groups.count; i++)
        if (s->groups.items[i].class == class)
            return true;
    return false;
}

static void print_fallback(FILE *file, const struct dvi_summary *s)
{
    const bool portable = has_class(s, DVI_CLASS_PORTABLE);
    if (!portable && s->link_modules == 0) {
        fputs(", no portable fallback", file);
        return;
    }
    fputs(", with ", file);
    print_formats(file, s, DVI_CLASS_PORTABLE);
    if (s->link_modules > 0)
        fprintf(file, "%sLLVM bitcode", portable ? " and " : "");
    fputs(" fallback", file);
    if (s->jit_native_modules < s->native_modules)
        fprintf(file, " in %" PRIu32 " of the %" PRIu32 " modules that have native code",
                s->jit_native_modules, s->native_modules);
    const uint32_t without = s->module_count - s->native_modules - s->unread_modules;
    if (without > 0)
        fprintf(file, "; %" PRIu32 " of %" PRIu32 " modules %s no native code", without,
                s->module_count, without == 1 ? "has" : "have");
}

/* Whether every module has all these targets; nothing to say where there is one module. */
static void print_spread(FILE *file, const struct dvi_summary *s)
{
    if (s->everywhere_count == s->native_count || s->module_count < 2)
        return;
    if (s->everywhere_count == 0)
        fprintf(file, " (none of them in all %" PRIu32 " modules)", s->module_count);
    else
        fprintf(file, " (%" PRIu32 " of them in all %" PRIu32 " modules)", s->everywhere_count,
                s->module_count);
}

/* Neither native nor portable: bitcode before the link, AdaptiveCpp's generic IR, code for the host's CPU, or what no reader
 * here knows. */
static void print_other(FILE *file, const struct dvi_summary *s)
{
    bool for_host = false, is_generic = true, told = false;
    for (size_t i = 0; i < s->groups.count; i++) {
        const struct devimg_image *first = s->groups.items[i].first;
        is_generic = is_generic && (s->groups.items[i].class != DVI_CLASS_OTHER ||
                                    first->offload == DEVIMG_OFFLOAD_ACPP);
        if (s->groups.items[i].class != DVI_CLASS_OTHER)
            continue;
        told = told || first->format != DEVIMG_FORMAT_UNKNOWN;
        if (first->format != DEVIMG_FORMAT_UNKNOWN)
            continue;
        if (!dvi_target_is_host(first->target)) {
            fputs(" of a kind that could not be told", file);
            return;
        }
        for_host = true;
    }
    if (for_host && !told) {
        fputs(" for the host's CPU, and for no GPU", file);
        return;
    }
    fputs(for_host ? " for the host's CPU, and for GPUs as " : " as ", file);
    print_formats(file, s, DVI_CLASS_OTHER);
    fputs(is_generic ? " only: compiled by AdaptiveCpp's runtime at first use"
                     : " only: not finished, a driver runs none of it as it is",
          file);
}

/* What the images of one kind amount to. */
static void print_kind(FILE *file, const char *name, const struct dvi_summary *s)
{
    fprintf(file, "%s%sdevice code", name, name[0] != '\0' ? " " : "");
    if (s->native_count > 0) {
        fputs(" for ", file);
        dvi_print_count(file, s->native_count, "GPU target");
        print_spread(file, s);
        print_fallback(file, s);
    } else if (has_class(s, DVI_CLASS_PORTABLE)) {
        fputs(" as ", file);
        print_formats(file, s, DVI_CLASS_PORTABLE);
        fputs(" only: compiled by the driver at first use", file);
    } else if (has_class(s, DVI_CLASS_OTHER)) {
        print_other(file, s);
    } else if (has_class(s, DVI_CLASS_EMBEDDED)) {
        fputs(" as ", file);
        print_formats(file, s, DVI_CLASS_EMBEDDED);
        fputs(" inside archives only: the SYCL runtime does not look for it there", file);
    } else if (has_class(s, DVI_CLASS_ARCHIVE)) {
        fputs(" in an archive of which no image was read", file);
    } else {
        fputs(": support images only, no kernels", file);
    }
}

/* "SYCL device code ...; AdaptiveCpp device code ...": what holds for one kind need not for another.
 * False: out of memory. */
static bool print_kinds(FILE *file, const struct devimg_file *of, const struct dvi_summary *s)
{
    static const struct {
        enum devimg_offload offload;
        const char *name;
    } kinds[] = {
        { DEVIMG_OFFLOAD_SYCL, "SYCL" },     { DEVIMG_OFFLOAD_CUDA, "CUDA" },
        { DEVIMG_OFFLOAD_HIP, "HIP" },       { DEVIMG_OFFLOAD_OPENMP, "OpenMP" },
        { DEVIMG_OFFLOAD_OPENCL, "OpenCL" }, { DEVIMG_OFFLOAD_ACPP, "AdaptiveCpp" },
        { DEVIMG_OFFLOAD_UNKNOWN, "" },
    };
    bool first = true, whole = true;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && whole; i++) {
        struct dvi_summary kind = { 0 };
        if ((s->offloads >> kinds[i].offload & 1) == 0)
            continue;
        if (s->offloads == 1U << kinds[i].offload) { /* all of the file is of this kind */
            print_kind(file, kinds[i].name, s);
            break;
        }
        if (!first)
            fputs("; ", file);
        first = false;
        whole = dvi_summarize_offload(of, kinds[i].offload, &kind);
        if (whole)
            print_kind(file, kinds[i].name, &kind);
        dvi_summary_free(&kind);
    }
    return whole;
}

static bool print_answer(FILE *file, const struct devimg_file *of, const struct dvi_summary *s)
{
    if (s->image_count == 0) {
        if (!s->damaged || dvi_elsewhere(of) != NULL)
            dvi_print_nothing(file, of);
        else
            fputs(s->behind ? "no device code that devimg reads; a part is not read yet"
                            : "no device code could be read: the file is damaged",
                  file);
        return true;
    }
    if (!print_kinds(file, of, s))
        return false;
    if (s->unregistered_count > 0 && s->unregistered_count == s->top_count)
        fputs("; none of it is registered", file);
    if (dvi_elsewhere(of) != NULL) {
        fputs("; more in another file: ", file);
        dvi_escape(file, dvi_elsewhere(of));
    }
    if (s->damaged)
        fputs(s->behind ? "; a part is not read yet" : "; a part is damaged", file);
    return true;
}

/* ">=3" where some parts are unknown, "-" where all are. */
static void total_cell(struct dvi_table *table, const struct dvi_total *total)
{
    if (total->known == 0)
        dvi_cell(table, NULL);
    else
        dvi_cell_format(table, "%s%" PRIu64, total->unknown > 0 ? ">=" : "", total->sum);
}

static void total_size_cell(struct dvi_table *table, const struct dvi_total *total)
{
    char text[DVI_SIZE_ROOM];
    if (total->known == 0)
        dvi_cell(table, NULL);
    else
        dvi_cell_format(table, "%s%s", total->unknown > 0 ? ">=" : "",
                        dvi_size_text(total->sum, text));
}

/* "zstd", or "zstd 25, none 2" */
static void compression_cell(struct dvi_table *table, const struct dvi_group *group)
{
    char text[128] = "";
    size_t at = 0;
    for (int c = DEVIMG_COMPRESSION_LZ4; c >= 0; c--) {
        const uint32_t count = group->compressed[c];
        const char *name = devimg_compression_name((enum devimg_compression)c);
        if (count == group->image_count) {
            dvi_cell(table, name);
            return;
        }
        if (count > 0 && at < sizeof text)
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%s %" PRIu32, at > 0 ? ", " : "",
                                   name, count);
    }
    dvi_cell(table, text);
}

static void target_rows(struct dvi_table *table, const void *data)
{
    const struct dvi_summary *s = data;
    for (size_t i = 0; i < s->groups.count; i++) {
        const struct dvi_group *group = &s->groups.items[i];
        const struct devimg_image *image = group->first;
        char ip[DVI_SIZE_ROOM];
        if (image->target != NULL)
            dvi_target_cell(table, image);
        else
            dvi_cell(table, group->class == DVI_CLASS_ARCHIVE ? "(archives)" : "(not stated)");
        dvi_cell(table, dvi_ip_or_null(image->ip_version, ip));
        dvi_cell_format(table, "%s%s", devimg_format_name(image->format),
                        group->class == DVI_CLASS_SUPPORT    ? " (support)"
                        : group->class == DVI_CLASS_EMBEDDED ? " (in archives)"
                                                             : "");
        dvi_cell_number(table, group->image_count);
        total_cell(table, &group->kernels);
        total_size_cell(table, &group->stored);
        total_size_cell(table, &group->size);
        compression_cell(table, group);
    }
}

static void print_targets(const struct dvi_output *out, const struct dvi_summary *s)
{
    static const struct dvi_column columns[] = {
        { "TARGET", DVI_LEFT },  { "IP", DVI_LEFT },          { "FORMAT", DVI_LEFT },
        { "IMAGES", DVI_RIGHT }, { "KERNELS", DVI_RIGHT },    { "STORED", DVI_RIGHT },
        { "SIZE", DVI_RIGHT },   { "COMPRESSION", DVI_LEFT },
    };
    dvi_table_print(out, columns, sizeof columns / sizeof *columns, target_rows, s);
}

static void print_total(FILE *file, uint32_t count, const char *noun, uint64_t size)
{
    char text[DVI_SIZE_ROOM];
    dvi_print_count(file, count, noun);
    fprintf(file, " (%s)", dvi_size_text(size, text));
}

static void print_special(const struct dvi_output *out, const struct dvi_summary *s)
{
    FILE *file = out->file;
    if (s->unregistered_count > 0) {
        fputs("not registered: ", file);
        print_total(file, s->unregistered_count, "image", s->unregistered_size);
        fputs(" that nothing hands to the runtime\n", file);
    }
    if (s->raw_count > 0) {
        fputs("stored raw: ", file);
        print_total(file, s->raw_count, "image", s->raw_size);
        fputs(" of 512 bytes or more\n", file);
    }
    if (s->relinked_modules > 0)
        fputs("device link: it kept no PTX; the runtime links and compiles that of its input\n",
              file);
    if (s->support_count > 0) {
        fputs("support: ", file);
        dvi_print_count(file, s->support_count, "image");
        fputs(" without kernels of the program (device libraries, empty)\n", file);
    }
    if (s->family_count > 0) {
        fputs("family only: ", file);
        dvi_print_count(file, s->family_count, "image");
        fputs(
            " without an IP version: for some target of its product family, and counted for each\n",
            file);
    }
}

static uint32_t module_within(const struct devimg_file *file, uint32_t record, uint32_t module)
{
    const struct devimg_record *r = devimg_record_at(file, record);
    return dvi_within(module, r->first_module, r->module_count);
}

/* Images from `i` on that are in one record and share their note. */
static uint32_t same_note(const struct devimg_file *file, uint32_t i)
{
    const struct devimg_image *first = devimg_image_at(file, i);
    uint32_t count = 1;
    for (;; count++) {
        const struct devimg_image *image = devimg_image_at(file, i + count);
        if (image == NULL || image->record != first->record || image->note == NULL ||
            strcmp(image->note, first->note) != 0)
            return count;
    }
}

static void print_notes(const struct dvi_output *out, const struct devimg_file *file)
{
    for (uint32_t i = 0; i < devimg_image_count(file);) {
        const struct devimg_image *image = devimg_image_at(file, i);
        const char *member = dvi_member_of(file, image->record);
        const uint32_t index = dvi_image_within(file, image->record, i);
        if (image->note == NULL) {
            i++;
            continue;
        }
        const uint32_t count = same_note(file, i);
        if (member != NULL) {
            dvi_escape(out->file, member);
            fputs(", ", out->file);
        }
        fprintf(out->file, "image %" PRIu32, index);
        if (count > 1)
            fprintf(out->file, "..%" PRIu32, index + count - 1);
        fputs(": ", out->file);
        dvi_escape(out->file, image->note);
        putc('\n', out->file);
        i += count;
    }
}

static void index_cell(struct dvi_table *table, uint32_t index)
{
    dvi_cell_number(table, index != DEVIMG_NONE ? index : DEVIMG_UNKNOWN);
}

static void image_rows(struct dvi_table *table, const void *data)
{
    const struct devimg_file *file = data;
    const bool members = dvi_has_members(file);
    for (uint32_t i = 0; i < devimg_image_count(file); i++) {
        const struct devimg_image *image = devimg_image_at(file, i);
        if (members)
            dvi_cell(table, dvi_member_of(file, image->record));
        index_cell(table, dvi_image_within(file, image->record, i));
        index_cell(table, dvi_image_within(file, image->record, image->parent));
        index_cell(table, module_within(file, image->record, image->module));
        dvi_target_cell(table, image);
        dvi_cell_format(table, "%s%s", devimg_format_name(image->format),
                        image->support ? " (support)" : "");
        if (image->offset == DEVIMG_UNKNOWN)
            dvi_cell(table, NULL);
        else
            dvi_cell_format(table, "0x%" PRIx64, image->offset);
        dvi_cell_size(table, image->stored_size);
        dvi_cell_size(table, image->size);
        dvi_cell(table, devimg_compression_name(image->compression));
        dvi_cell(table, image->registered == DEVIMG_YES  ? "yes"
                        : image->registered == DEVIMG_NO ? "no"
                                                         : NULL);
        dvi_cell(table, image->entry_id);
        dvi_cell(table, image->unit);
    }
}

static void print_images(const struct dvi_output *out, const struct devimg_file *file)
{
    static const struct dvi_column columns[] = {
        { "MEMBER", DVI_LEFT },      { "IMAGE", DVI_RIGHT },     { "PARENT", DVI_RIGHT },
        { "MODULE", DVI_RIGHT },     { "TARGET", DVI_LEFT },     { "FORMAT", DVI_LEFT },
        { "OFFSET", DVI_RIGHT },     { "STORED", DVI_RIGHT },    { "SIZE", DVI_RIGHT },
        { "COMPRESSION", DVI_LEFT }, { "REGISTERED", DVI_LEFT }, { "ENTRY-ID", DVI_LEFT },
        { "UNIT", DVI_LEFT },
    };
    const size_t skipped = dvi_has_members(file) ? 0 : 1;
    dvi_table_print(out, columns + skipped, sizeof columns / sizeof *columns - skipped, image_rows,
                    file);
}

/* "dg2-g10 mtl-u ... (7)": the first targets, and how many there are. */
enum { MOST_TARGETS = 4, MOST_NATIVES = 512 };

struct target_cell {
    FILE *file;
    char *text;
    size_t size;
    uint32_t count;
    bool all; /* not folded */
};

static void add_target(struct target_cell *cell, const char *target)
{
    if (cell->file != NULL && (cell->all || cell->count < MOST_TARGETS))
        (void)fprintf(cell->file, "%s%s", cell->count > 0 ? " " : "", target);
    cell->count++;
}

static void print_cell(struct dvi_table *table, struct target_cell *cell)
{
    if (cell->file != NULL && !cell->all && cell->count > MOST_TARGETS)
        (void)fprintf(cell->file, " ... (%" PRIu32 ")", cell->count);
    const bool written = cell->file != NULL && fclose(cell->file) == 0;
    dvi_cell(table, written ? cell->text : "?");
    free(cell->text);
}

struct module_data {
    const struct devimg_file *file;
    bool all; /* targets are not folded */
    bool natives_known;
    size_t native_count;
    const struct devimg_image *natives[MOST_NATIVES];
};

static void targets_cell(struct dvi_table *table, const struct module_data *m,
                         const struct devimg_module *module)
{
    struct target_cell cell = { .all = m->all };
    uint32_t at = 0;
    const char *target = NULL;
    cell.file = open_memstream(&cell.text, &cell.size);
    while ((target = dvi_module_target(m->file, module, &at)) != NULL)
        add_target(&cell, target);
    print_cell(table, &cell);
}

static bool module_has(const struct module_data *m, const struct devimg_module *module,
                       const char *target)
{
    for (uint32_t i = 0; i < module->image_count; i++) {
        const struct devimg_image *image = devimg_image_at(m->file, module->images[i]);
        if (image->target != NULL && strcmp(image->target, target) == 0)
            return true;
    }
    return false;
}

/* The first image of each target that has native code, once a target. False: too many. */
static bool list_natives(struct module_data *m, const struct dvi_summary *summary)
{
    for (size_t i = 0; i < summary->groups.count; i++) {
        const struct dvi_group *group = &summary->groups.items[i];
        bool is_new = group->class == DVI_CLASS_NATIVE && group->first->target != NULL;
        for (size_t k = 0; is_new && k < m->native_count; k++)
            is_new = strcmp(m->natives[k]->target, group->first->target) != 0;
        if (is_new && m->native_count == MOST_NATIVES)
            return false;
        if (is_new)
            m->natives[m->native_count++] = group->first;
    }
    return true;
}

/* Native code that other modules of the kind have, and this one has not. */
static void lacks_cell(struct dvi_table *table, const struct module_data *m,
                       const struct devimg_module *module)
{
    const struct devimg_image *first =
        module->image_count > 0 ? devimg_image_at(m->file, module->images[0]) : NULL;
    struct target_cell cell = { .all = m->all };
    if (first == NULL || !m->natives_known) {
        dvi_cell(table, first != NULL ? "?" : NULL);
        return;
    }
    cell.file = open_memstream(&cell.text, &cell.size);
    for (size_t i = 0; i < m->native_count; i++)
        if (m->natives[i]->offload == first->offload &&
            !module_has(m, module, m->natives[i]->target))
            add_target(&cell, m->natives[i]->target);
    print_cell(table, &cell);
}

static void module_rows(struct dvi_table *table, const void *data)
{
    const struct module_data *m = data;
    const bool members = dvi_has_members(m->file);
    for (uint32_t i = 0; i < devimg_module_count(m->file); i++) {
        const struct devimg_module *module = devimg_module_at(m->file, i);
        if (members)
            dvi_cell(table, dvi_member_of(m->file, module->record));
        index_cell(table, module_within(m->file, module->record, i));
        dvi_cell_number(table, module->image_count);
        dvi_cell_number(table, module->name_count);
        targets_cell(table, m, module);
        lacks_cell(table, m, module);
        dvi_cell(table, module->unit);
    }
}

static void print_modules(const struct dvi_output *out, const struct devimg_file *file,
                          const struct dvi_summary *summary)
{
    static const struct dvi_column columns[] = {
        { "MEMBER", DVI_LEFT },   { "MODULE", DVI_RIGHT }, { "IMAGES", DVI_RIGHT },
        { "KERNELS", DVI_RIGHT }, { "TARGETS", DVI_LEFT }, { "LACKS", DVI_LEFT },
        { "UNIT", DVI_LEFT },
    };
    struct module_data data = { .file = file, .all = out->verbose > 0 };
    data.natives_known = list_natives(&data, summary);
    const size_t skipped = dvi_has_members(file) ? 0 : 1;
    dvi_table_print(out, columns + skipped, sizeof columns / sizeof *columns - skipped, module_rows,
                    &data);
}

static void list_body(struct dvi_output *out, const struct devimg_file *file,
                      const struct dvi_list_view *view, const struct dvi_summary *s)
{
    if (s->image_count > 0 && view->rows == DVI_LIST_IMAGES)
        print_images(out, file);
    else if (s->image_count > 0 && view->rows == DVI_LIST_MODULES)
        print_modules(out, file, s);
    else if (s->image_count > 0)
        print_targets(out, s);
    print_special(out, s);
    print_notes(out, file);
    if (view->kernels && devimg_kernel_count(file) > 0) {
        const struct dvi_kernel_view all = { 0 };
        putc('\n', out->file);
        dvi_kernels_print(out, file, &all);
    }
}

static void list_text(struct dvi_output *out, const struct devimg_file *file, const char *path,
                      const struct dvi_list_view *view, const struct dvi_findings *findings)
{
    struct dvi_summary s = { 0 };
    if (!dvi_summarize(file, &s)) {
        dvi_output_memory(out);
    } else {
        dvi_output_heading(out, path);
        dvi_style_on(out, DVI_BOLD);
        if (!print_answer(out->file, file, &s))
            dvi_output_memory(out);
        dvi_style_off(out);
        putc('\n', out->file);
        if (!out->quiet)
            list_body(out, file, view, &s);
        if (!out->quiet && findings->count > 0) {
            if (!dvi_findings_print(out, file, findings))
                dvi_output_memory(out);
            if (s.damaged && !s.behind)
                fputs("What is damaged is missing above: build or copy the file again.\n",
                      out->file);
        }
    }
    dvi_summary_free(&s);
}

void dvi_output_list(struct dvi_output *out, const struct devimg_file *file, const char *path,
                     const struct dvi_list_view *view)
{
    struct dvi_findings findings = { 0 };
    if (!dvi_findings_of_file(file, &findings)) {
        dvi_output_memory(out);
        return;
    }
    dvi_output_count(out, &findings);
    dvi_output_damage(out, file);
    if (out->json)
        dvi_json_file(out, file, path, &findings, view->kernels, NULL);
    else
        list_text(out, file, path, view, &findings);
    dvi_findings_free(&findings);
}
