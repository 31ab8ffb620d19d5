/* SPDX-License-Identifier: Apache-2.0 */
/* The line of a baseline that stands for a finding, and writing them all: see baseline.c. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/write.h"
#include "check/report.h"

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text != 0; text++) /* FNV-1a, 64 bit: http://www.isthe.com/chongo/tech/comp/fnv/ */
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return (hash ^ 0xff) * UINT64_C(0x100000001b3);
}
static const uint64_t hash_start = UINT64_C(0xcbf29ce484222325);

/* `text` as one field: no tab, no line end, not longer than a line; NULL: out of memory. */
static const char *field_of(struct dvi_arena *arena, const char *text)
{
    enum { MOST = 128 };
    char out[3 * MOST + 24];
    size_t used = 0, i = 0;
    if (text == NULL || *text == 0)
        return "-";
    for (; i < MOST && text[i] != 0; i++) {
        const unsigned char c = (unsigned char)text[i];
        const bool lone_dash = c == '-' && i == 0 && text[1] == 0;
        const bool comment = c == '#' && i == 0;
        const bool control = c == 0xc2 && (unsigned char)text[i + 1] < 0xa0; /* C1, in UTF-8 */
        if (c > 0x20 && c != 0x7f && c != '%' && !lone_dash && !comment && !control)
            out[used++] = (char)c;
        else
            used += (size_t)snprintf(out + used, 4, "%%%02x", c);
    }
    out[used] = 0;
    if (text[i] != 0)
        (void)snprintf(out + used, sizeof out - used, "%%+%016" PRIx64,
                       hash_text(hash_start, text));
    return dvi_arena_copy(arena, out);
}

/* The module by its kernels, so that neither its place nor a stripped unit name counts. */
static const char *module_key(struct devimg_report *report, struct dvi_arena *arena, uint32_t index)
{
    if (index == DEVIMG_NONE || index >= report->in->module_count)
        return "-";
    if (index == report->module_key_of)
        return report->module_key;
    const struct devimg_module *module = report->in->modules[index];
    uint64_t hash = hash_start;
    for (uint32_t i = 0; i < module->name_count; i++)
        hash = hash_text(hash, module->names[i]);
    const char *first = field_of(arena, module->name_count > 0 ? module->names[0] : NULL);
    if (first == NULL)
        return NULL;
    report->module_key = dvi_arena_format(&report->arena, "%s+%" PRIu32 ":%016" PRIx64, first,
                                          module->name_count, hash);
    report->module_key_of = report->module_key != NULL ? index : DEVIMG_NONE;
    return report->module_key;
}

/* "libfoo.a!bar.o" without folders. */
static const char *record_key(const struct devimg_report *report, struct dvi_arena *arena,
                              uint32_t index)
{
    if (index == DEVIMG_NONE || index >= report->in->record_count)
        return "-";
    const struct devimg_record *record = report->in->records[index];
    const char *key = field_of(arena, dvi_base_name(record->path));
    for (uint32_t i = 0; key != NULL && i < record->member_count; i++) {
        const char *member = field_of(arena, record->members[i]);
        key = member != NULL ? dvi_arena_format(arena, "%s!%s", key, member) : NULL;
    }
    return key;
}

const char *dvi_finding_key(struct devimg_report *report, const struct devimg_finding *f)
{
    struct dvi_arena parts = { 0 };
    const char *key = NULL;
    const char *record = record_key(report, &parts, f->record);
    const char *module = module_key(report, &parts, f->module);
    const char *kernel = field_of(&parts, f->kernel), *target = field_of(&parts, f->target);
    if (record != NULL && module != NULL && kernel != NULL && target != NULL)
        key = dvi_arena_format(&report->arena, "%s\t%s\t%s\t%s\t%s\t%s", record, f->rule, f->code,
                               module, kernel, target);
    dvi_arena_free(&parts);
    return key;
}

static int compare_keys(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;
    return strcmp(*x, *y);
}

static const char mark[] = "# devimg check: accepted findings";

static enum devimg_status print_keys(FILE *file, const void *context, struct devimg_error *err)
{
    const struct devimg_report *report = context;
    size_t count = 0;
    const char **keys = calloc(report->items.count + 1, sizeof *keys);
    if (keys == NULL)
        return dvi_fail_memory(err, "baseline");
    for (size_t i = 0; i < report->items.count; i++)
        if (report->items.items[i].key != NULL)
            keys[count++] = report->items.items[i].key;
    qsort(keys, count, sizeof *keys, compare_keys);
    fprintf(file, "%s: file, rule, code, module, kernel, target\n", mark);
    for (size_t i = 0; i < count; i++)
        fprintf(file, "%s\n", keys[i]);
    free(keys);
    return DEVIMG_OK;
}

enum devimg_status devimg_report_write_baseline(const struct devimg_report *report,
                                                const char *path, struct devimg_error *err)
{
    return dvi_file_replace(path, mark, print_keys, report, err);
}
