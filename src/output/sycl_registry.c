/* SPDX-License-Identifier: Apache-2.0 */
/* `devimg sycl registry`: what start-up registers, answered in the first line. */
#include <inttypes.h>
#include <string.h>

#include "output/escape.h"
#include "output/form.h"
#include "output/record.h"
#include "output/sycl.h"
#include "output/text.h"
#include "sycl/registry.h"

/* --- verdicts --- */

static bool is_known(const struct dvi_registered *r)
{
    return r->descriptors != DEVIMG_UNKNOWN && r->images != DEVIMG_UNKNOWN &&
           r->entries != DEVIMG_UNKNOWN;
}

/* Fewer than were asked for, as far as is known. */
static bool is_too_few(const struct dvi_registered *r, uint64_t least)
{
    return least > 0 && (r->entries == DEVIMG_UNKNOWN || r->entries < least);
}

static bool is_good(const struct dvi_registry *registry, uint64_t least)
{
    const struct dvi_registry_program *program = registry->program;
    for (size_t i = 0; i < registry->rows.count; i++)
        if (!registry->rows.items[i].good)
            return false;
    return is_known(&registry->total) && registry->unknown == NULL &&
           !is_too_few(&registry->total, least) &&
           (program == NULL || (program->ended == NULL && registry->total.descriptors > 0));
}

/* --- text --- */

static void print_number(FILE *file, uint64_t count, const char *one, const char *many)
{
    if (count == DEVIMG_UNKNOWN)
        fprintf(file, "an unknown number of %s", many);
    else
        fprintf(file, "%" PRIu64 " %s", count, count == 1 ? one : many);
}

static void print_answer(const struct dvi_output *out, const struct dvi_registry *registry)
{
    const struct dvi_registered *r = &registry->total;
    dvi_style_on(out, DVI_BOLD);
    if (r->descriptors == DEVIMG_UNKNOWN) {
        fputs("what it registers at start-up is unknown", out->file);
    } else {
        fputs("registers ", out->file);
        print_number(out->file, r->entries, "entry", "entries");
        fputs(" in ", out->file);
        print_number(out->file, r->images, "image", "images");
        fputs(", ", out->file);
        print_number(out->file, r->descriptors, "descriptor", "descriptors");
        fputs(registry->program != NULL ? " in a run" : " at start-up", out->file);
    }
    dvi_style_off(out);
    putc('\n', out->file);
}

static void print_line(const struct dvi_output *out, const char *before, const char *text)
{
    if (text == NULL)
        return;
    fputs(before, out->file);
    dvi_escape(out->file, text);
    putc('\n', out->file);
}

static void number_cell(struct dvi_table *table, uint64_t number)
{
    if (number == DEVIMG_UNKNOWN)
        dvi_cell(table, "unknown");
    else
        dvi_cell_number(table, number);
}

/* Objects without SYCL code are not worth a row, unless all are wanted. */
static bool is_shown(const struct dvi_output *out, const struct dvi_registry_row *row)
{
    return out->verbose > 0 || row->present != 0 || !row->good;
}

struct table_data {
    const struct dvi_output *out;
    const struct dvi_registry *registry;
};

static const char *name_of(const struct dvi_registry_row *row)
{
    const struct devimg_record *r = row->record;
    return r != NULL && r->member_count > 0 ? r->members[r->member_count - 1] : row->path;
}

static void rows(struct dvi_table *table, const void *data)
{
    const struct table_data *d = data;
    for (size_t i = 0; i < d->registry->rows.count; i++) {
        const struct dvi_registry_row *row = &d->registry->rows.items[i];
        if (!is_shown(d->out, row))
            continue;
        number_cell(table, row->registered.entries);
        number_cell(table, row->registered.images);
        number_cell(table, row->registered.descriptors);
        dvi_cell(table, row->code);
        dvi_cell(table, name_of(row));
    }
}

static void print_table(const struct dvi_output *out, const struct dvi_registry *registry)
{
    size_t shown = 0;
    for (size_t i = 0; i < registry->rows.count; i++)
        shown += is_shown(out, &registry->rows.items[i]);
    if (shown == 0) {
        fprintf(out->file, "  no SYCL device image lies in any of its %zu objects\n",
                registry->rows.count);
        return;
    }
    static const struct dvi_column columns[] = {
        { "ENTRIES", DVI_RIGHT }, { "IMAGES", DVI_RIGHT }, { "DESCRIPTORS", DVI_RIGHT },
        { "STATE", DVI_LEFT },    { "OBJECT", DVI_LEFT },
    };
    const struct table_data data = { out, registry };
    dvi_table_print(out, columns, sizeof columns / sizeof *columns, rows, &data);
}

/* The first row that says what is wrong; further ones that say the same are in the table. */
static void print_reasons(const struct dvi_output *out, const struct dvi_registry *registry)
{
    const bool many = registry->rows.count > 1;
    const struct dvi_registry_row *said = NULL;
    for (size_t i = 0; i < registry->rows.count; i++) {
        const struct dvi_registry_row *row = &registry->rows.items[i];
        if (row->why == NULL || (many && row->good) ||
            (said != NULL && strcmp(row->why, said->why) == 0))
            continue;
        if (many) {
            fputs("  ", out->file);
            dvi_escape(out->file, name_of(row));
        }
        print_line(out, many ? ": " : "  ", row->why);
        if (said == NULL || row->hint != said->hint)
            print_line(out, "  hint: ", row->hint);
        said = row;
    }
}

static void print_program(const struct dvi_output *out, const struct dvi_registry *registry)
{
    const struct dvi_registry_program *program = registry->program;
    print_line(out, "  ", registry->unknown);
    print_line(out, "  hint: ", registry->hint);
    print_line(out, "  ", program->ended);
    if (program->timed_out)
        fputs("  counted until it was stopped\n", out->file);
    if (registry->unknown == NULL && registry->total.descriptors == 0)
        fputs("  nothing called __sycl_register_lib of another file\n"
              "  hint: does it carry device code, and link the SYCL runtime as a shared library? "
              "devimg sycl registry FILE reads it without a run\n",
              out->file);
    if (program->more > 0)
        fprintf(out->file,
                "  %u more of the programs that it started register images: the first "
                "is counted\n",
                program->more);
}

static void print_floor(FILE *file, const struct dvi_registered *r, uint64_t least)
{
    fprintf(file, "--at-least %" PRIu64 ": ", least);
    if (r->entries == DEVIMG_UNKNOWN)
        fputs("how many entries are registered cannot be told\n", file);
    else
        fprintf(file, "%" PRIu64 " %s registered\n", r->entries,
                r->entries == 1 ? "entry is" : "entries are");
}

static void text(struct dvi_output *out, const struct dvi_registry *registry, const char *path,
                 uint64_t least)
{
    dvi_output_heading(out, path);
    print_answer(out, registry);
    if (out->quiet)
        return;
    if (is_too_few(&registry->total, least)) {
        fputs("  ", out->file);
        print_floor(out->file, &registry->total, least);
    }
    print_reasons(out, registry);
    if (registry->program != NULL)
        print_program(out, registry);
    else if (registry->rows.count > 1 && registry->total.descriptors > 0)
        fputs(
            "  where all of its objects are linked: the linker takes those that are referred to\n",
            out->file);
    if (registry->rows.count > 1)
        print_table(out, registry);
}

/* --- JSON --- */

static void registered_json(struct dvi_json *j, const struct dvi_registered *r)
{
    dvi_json_number(j, "descriptors", r->descriptors);
    dvi_json_number(j, "images", r->images);
    dvi_json_number(j, "entries", r->entries);
}

static void row_json(struct dvi_json *j, const struct dvi_registry_row *row)
{
    const struct devimg_record *record = row->record;
    dvi_json_object(j, NULL, DVI_JSON_ONE_LINE);
    dvi_json_text(j, "path", row->path);
    dvi_json_array(j, "member", DVI_JSON_ONE_LINE);
    for (uint32_t i = 0; record != NULL && i < record->member_count; i++)
        dvi_json_text(j, NULL, record->members[i]);
    dvi_json_end(j);
    dvi_json_path_hex(j, row->path, record);
    dvi_json_text(j, "kind", record != NULL ? devimg_file_kind_name(record->kind) : NULL);
    registered_json(j, &row->registered);
    dvi_json_number(j, "present", row->present);
    dvi_json_text(j, "code", row->code);
    dvi_json_text(j, "message", row->why);
    dvi_json_text(j, "hint", row->hint);
    dvi_json_end(j);
}

static void program_json(struct dvi_json *j, const struct dvi_registry *registry)
{
    const struct dvi_registry_program *p = registry->program;
    if (p == NULL) {
        dvi_json_null(j, "program");
        return;
    }
    dvi_json_object(j, "program", DVI_JSON_ONE_LINE);
    dvi_json_text(j, "path", p->path);
    dvi_json_path_hex(j, p->path, NULL);
    dvi_json_number(j, "exit_status",
                    p->exit_status >= 0 ? (uint64_t)p->exit_status : DEVIMG_UNKNOWN);
    dvi_json_bool(j, "timed_out", p->timed_out);
    dvi_json_number(j, "more", p->more);
    dvi_json_text(j, "ended", p->ended);
    dvi_json_text(j, "unknown", registry->unknown);
    dvi_json_text(j, "hint", registry->hint);
    dvi_json_end(j);
}

static void json(struct dvi_output *out, const struct dvi_registry *registry, uint64_t least)
{
    struct dvi_json *j = &out->j;
    *j = dvi_json_to(out->file);
    dvi_json_object(j, NULL, DVI_JSON_LINES);
    dvi_json_text(j, "schema", "devimg/1");
    dvi_json_text(j, "how", registry->program != NULL ? "run" : "static");
    registered_json(j, &registry->total);
    dvi_json_number(j, "at_least", least > 0 ? least : DEVIMG_UNKNOWN);
    dvi_json_text(j, "verdict", is_good(registry, least) ? "pass" : "fail");
    program_json(j, registry);
    dvi_json_array(j, "objects", DVI_JSON_LINES);
    for (size_t i = 0; i < registry->rows.count; i++)
        row_json(j, &registry->rows.items[i]);
    dvi_json_end(j);
    dvi_json_end(j);
}

/* Where the answer does not show it to a person. */
static void complain(const struct dvi_registry *registry, const char *path, uint64_t least)
{
    if (is_too_few(&registry->total, least)) {
        fputs("devimg sycl registry: ", stderr);
        dvi_escape(stderr, path);
        fputs(": ", stderr);
        print_floor(stderr, &registry->total, least);
    }
    if (registry->program != NULL && registry->program->ended != NULL) {
        fputs("devimg sycl registry: ", stderr);
        dvi_escape(stderr, registry->program->ended);
        putc('\n', stderr);
    }
}

enum dvi_exit dvi_output_sycl_registry(struct dvi_output *out, const struct dvi_registry *registry,
                                       const char *path, uint64_t least)
{
    if (out->json)
        json(out, registry, least);
    else
        text(out, registry, path, least);
    if (out->json || out->quiet)
        complain(registry, path, least);
    dvi_output_worst(out, is_good(registry, least) ? DVI_EXIT_OK : DVI_EXIT_FINDINGS);
    dvi_output_worst(out, dvi_output_close(out->file));
    return out->worst;
}
