/* SPDX-License-Identifier: Apache-2.0 */
/* `devimg extract`: which files were written, and which image each of them is. */
#include <inttypes.h>

#include "output/escape.h"
#include "output/form.h"
#include "output/record.h"
#include "output/summary.h"
#include "output/text.h"

/* What was to be written of one file. */
struct extracted {
    const struct devimg_file *file;
    const struct devimg_extraction *extraction;
    uint32_t first, count;
};

static const struct devimg_extracted *item_at(const struct extracted *e, uint32_t i)
{
    return devimg_extraction_at(e->extraction, e->first + i);
}

/* "0x9e0" in the file, or "image 4+0x44" in what that one holds. */
static void from_cell(struct dvi_table *table, const struct devimg_file *file,
                      const struct devimg_image *image)
{
    if (image->offset != DEVIMG_UNKNOWN)
        dvi_cell_format(table, "0x%" PRIx64, image->offset);
    else if (image->parent != DEVIMG_NONE)
        dvi_cell_format(table, "image %" PRIu32 "+0x%" PRIx64,
                        dvi_image_within(file, image->record, image->parent),
                        image->offset_in_parent);
    else
        dvi_cell(table, NULL);
}

static void file_rows(struct dvi_table *table, const void *data)
{
    const struct extracted *e = data;
    const bool members = dvi_has_members(e->file);
    for (uint32_t i = 0; i < e->count; i++) {
        const struct devimg_extracted *item = item_at(e, i);
        const struct devimg_image *image = devimg_image_at(e->file, item->image);
        if (item->status != DEVIMG_OK)
            continue;
        if (members)
            dvi_cell(table, dvi_member_of(e->file, image->record));
        dvi_cell_number(table, dvi_image_within(e->file, image->record, item->image));
        from_cell(table, e->file, image);
        dvi_cell(table, image->target);
        dvi_cell(table, devimg_format_name(item->format));
        dvi_cell_size(table, item->size);
        dvi_cell(table, item->name);
    }
}

static void print_files(const struct dvi_output *out, const struct extracted *e)
{
    static const struct dvi_column columns[] = {
        { "MEMBER", DVI_LEFT }, { "IMAGE", DVI_RIGHT }, { "FROM", DVI_LEFT },
        { "TARGET", DVI_LEFT }, { "FORMAT", DVI_LEFT }, { "SIZE", DVI_RIGHT },
        { "NAME", DVI_LEFT },
    };
    const size_t skipped = dvi_has_members(e->file) ? 0 : 1;
    dvi_table_print(out, columns + skipped, sizeof columns / sizeof *columns - skipped, file_rows,
                    e);
}

static uint32_t count_written(const struct extracted *e)
{
    uint32_t written = 0;
    for (uint32_t i = 0; i < e->count; i++)
        written += item_at(e, i)->status == DEVIMG_OK;
    return written;
}

static void print_answer(struct dvi_output *out, const char *folder, const struct extracted *e,
                         uint32_t written)
{
    if (devimg_image_count(e->file) == 0) {
        dvi_print_nothing(out->file, e->file);
    } else if (e->count == 0) {
        fputs("none of ", out->file);
        dvi_print_count(out->file, devimg_image_count(e->file), "image");
        fputs(" selected", out->file);
        if (!dvi_print_targets(out->file, e->file))
            dvi_output_memory(out);
    } else {
        if (written < e->count)
            fprintf(out->file, "%" PRIu32 " of ", written);
        dvi_print_count(out->file, e->count, "image");
        fputs(" written to ", out->file);
        dvi_escape(out->file, folder);
    }
}

static void extract_text(struct dvi_output *out, const char *path, const char *folder,
                         const struct extracted *e, const struct dvi_findings *findings)
{
    const uint32_t written = count_written(e);
    dvi_output_heading(out, path);
    dvi_style_on(out, DVI_BOLD);
    print_answer(out, folder, e, written);
    dvi_style_off(out);
    putc('\n', out->file);
    if (out->quiet)
        return;
    if (written > 0)
        print_files(out, e);
    if (!dvi_findings_print(out, e->file, findings))
        dvi_output_memory(out);
}

static void item_json(struct dvi_json *j, const struct extracted *e,
                      const struct devimg_extracted *item)
{
    const struct devimg_image *image = devimg_image_at(e->file, item->image);
    dvi_json_object(j, NULL, DVI_JSON_ONE_LINE);
    dvi_json_text(j, "name", item->name);
    dvi_json_bool(j, "written", item->status == DEVIMG_OK);
    dvi_json_number(j, "size", item->size);
    dvi_json_text(j, "format", devimg_format_name(item->format));
    dvi_json_text(j, "compression", devimg_compression_name(item->compression));
    dvi_json_index(j, "image", dvi_image_within(e->file, image->record, item->image));
    dvi_json_index(j, "parent", dvi_image_within(e->file, image->record, image->parent));
    dvi_json_text(j, "target", image->target);
    dvi_json_text(j, "entry_id", image->entry_id);
    dvi_json_number(j, "offset", image->offset);
    dvi_json_number(j, "offset_in_parent", image->offset_in_parent);
    dvi_json_end(j);
}

static void extract_json(struct dvi_output *out, const char *path, const struct extracted *e,
                         const struct dvi_findings *findings)
{
    size_t at = 0;
    uint32_t i = 0;
    for (uint32_t r = 0; r < devimg_record_count(e->file); r++) {
        out->record_count++;
        dvi_json_object(&out->j, NULL, DVI_JSON_LINES);
        dvi_json_record_head(&out->j, path, devimg_record_at(e->file, r));
        dvi_json_array(&out->j, "extracted", DVI_JSON_LINES);
        for (; i < e->count && devimg_image_at(e->file, item_at(e, i)->image)->record == r; i++)
            item_json(&out->j, e, item_at(e, i));
        dvi_json_end(&out->j);
        dvi_findings_json(out, e->file, r, findings, &at);
        dvi_json_end(&out->j);
    }
}

/* An image that the system did not let be written is worse than one that is damaged. */
static enum dvi_exit status_of(const struct extracted *e)
{
    for (uint32_t i = 0; i < e->count; i++)
        if (item_at(e, i)->status == DEVIMG_IO)
            return DVI_EXIT_UNREADABLE;
    return DVI_EXIT_OK;
}

void dvi_output_extract(struct dvi_output *out, const struct devimg_file *file, const char *path,
                        const char *folder, const struct devimg_extraction *extraction,
                        uint32_t first, uint32_t count)
{
    const struct extracted e = { file, extraction, first, count };
    struct dvi_findings findings = { 0 };
    if (!dvi_findings_of_extraction(file, extraction, first, count, &findings)) {
        dvi_output_memory(out);
        return;
    }
    dvi_output_count(out, &findings);
    dvi_output_damage(out, file);
    dvi_output_worst(out, status_of(&e));
    if (out->json)
        extract_json(out, path, &e, &findings);
    else
        extract_text(out, path, folder, &e, &findings);
    dvi_findings_free(&findings);
}

void dvi_output_unmatched(struct dvi_output *out)
{
    fputs("devimg extract: no image is what was asked for: nothing is written\n", stderr);
    dvi_output_worst(out, DVI_EXIT_FINDINGS);
}
