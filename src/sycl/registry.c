/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What start-up code registers, from the records of a file: descriptors that a constructor hands to
 * __sycl_register_lib, the images that these state, and the entries of those images. A descriptor
 * that only lies there does not count; what cannot be told makes a count unknown.
 */
#include "sycl/registry.h"

#include <inttypes.h>
#include <string.h>

void dvi_registry_free(struct dvi_registry *registry)
{
    DVI_LIST_FREE(&registry->rows);
}

static uint64_t sum_of(uint64_t a, uint64_t b)
{
    return a == DEVIMG_UNKNOWN || b == DEVIMG_UNKNOWN ? DEVIMG_UNKNOWN : a + b;
}

void dvi_registered_add(struct dvi_registered *sum, const struct dvi_registered *more)
{
    sum->descriptors = sum_of(sum->descriptors, more->descriptors);
    sum->images = sum_of(sum->images, more->images);
    sum->entries = sum_of(sum->entries, more->entries);
}

/* The SYCL images of a record. */
struct seen {
    uint64_t present, registered, absent; /* absent: nothing registers it */
    uint64_t unsure;  /* no descriptor names it, and what becomes of it cannot be told */
    uint64_t entries; /* of the registered ones; DEVIMG_UNKNOWN */
};

/* Code of other programming models is registered in other ways. */
static bool is_sycl(const struct devimg_record *record, const struct devimg_image *image)
{
    return image->parent == DEVIMG_NONE &&
           (image->offload == DEVIMG_OFFLOAD_SYCL || image->offload == DEVIMG_OFFLOAD_UNKNOWN ||
            record->linked == DEVIMG_MAYBE);
}

static struct seen look(const struct devimg_file *file, const struct devimg_record *record)
{
    struct seen seen = { 0 };
    for (uint32_t i = 0; i < record->image_count; i++) {
        const struct devimg_image *image = devimg_image_at(file, record->first_image + i);
        if (!is_sycl(record, image))
            continue;
        seen.present++;
        if (image->registered == DEVIMG_NO)
            seen.absent++;
        else if (image->registered == DEVIMG_YES && image->entries == NULL)
            seen.entries = DEVIMG_UNKNOWN;
        else if (image->registered == DEVIMG_YES)
            seen.entries = sum_of(seen.entries, image->entry_count);
        else
            seen.unsure += record->linked == DEVIMG_YES && strcmp(image->bundle, "dpcpp") != 0;
        seen.registered += image->registered == DEVIMG_YES;
    }
    return seen;
}

/* Damage of an image alone leaves its descriptor whole; any other may have hidden one. */
static bool may_lack(const struct devimg_file *file, const struct devimg_record *record)
{
    if (record->status == DEVIMG_RECORD_UNREADABLE)
        return true;
    for (uint32_t i = 0; i < record->finding_count; i++) {
        const struct devimg_finding *f = devimg_finding_at(file, record->first_finding + i);
        if (f->image == DEVIMG_NONE && strcmp(f->rule, "damaged") == 0)
            return true;
    }
    return false;
}

static void unknown(struct dvi_registry_row *row, const char *code, const char *why,
                    const char *hint)
{
    row->registered = (struct dvi_registered){ DEVIMG_UNKNOWN, DEVIMG_UNKNOWN, DEVIMG_UNKNOWN };
    row->code = code;
    row->why = why;
    row->hint = hint;
}

static const char run_it[] =
    "count what start-up really registers: devimg sycl registry --run PROGRAM";

/* Whether a count can be told at all; false: it cannot, and the row says why. */
static bool is_known(const struct devimg_file *file, const struct devimg_record *record,
                     const struct seen *seen, struct dvi_registry_row *row, struct dvi_arena *arena)
{
    const bool runs = record->kind == DEVIMG_KIND_ELF && record->linked == DEVIMG_YES;
    if (may_lack(file, record))
        unknown(row, "damaged", "a part of it could not be read",
                "see devimg list; build or copy the file again");
    else if (record->descriptor_count == DEVIMG_NONE)
        unknown(row, "descriptors-unknown",
                "descriptors cannot be looked for: a 32-bit host, or relocations that are not read",
                runs ? run_it : NULL);
    else if (record->unsure_count > 0)
        unknown(row, "registration-unknown",
                dvi_arena_format(arena,
                                 "of %" PRIu32 " of its %" PRIu32
                                 " descriptors it cannot be told whether start-up code hands them "
                                 "to __sycl_register_lib",
                                 record->unsure_count, record->descriptor_count),
                runs ? run_it : "link it, and look at the program");
    else if (seen->unsure > 0)
        unknown(row, "registration-unknown",
                dvi_arena_format(arena, "what becomes of %" PRIu64 " of its images cannot be told",
                                 seen->unsure),
                runs ? run_it : NULL);
    else
        return true;
    return false;
}

static const char *hint_of(const struct devimg_record *record)
{
    if (record->linked == DEVIMG_MAYBE)
        return "name the program or library that registers it";
    if (record->kind == DEVIMG_KIND_PE || record->kind == DEVIMG_KIND_COFF)
        return "link.exe knows nothing of -fsycl: make one object of the images (devimg sycl flags "
               "--syntax msvc --step device-link), give it an anchor (devimg sycl anchor), link it";
    return "link with the SYCL driver (-fsycl), or keep the object that holds the descriptor";
}

static void explain(const struct devimg_record *record, const struct seen *seen,
                    struct dvi_registry_row *row, struct dvi_arena *arena)
{
    const uint64_t left = seen->present - seen->registered;
    row->good = left == 0;
    row->code = seen->present == 0 ? "no-images" : "registered";
    if (seen->present == 0)
        row->why = "no SYCL device image lies in it";
    if (left == 0)
        return;
    row->hint = hint_of(record);
    row->code = left == seen->present ? "not-registered" : "partly-registered";
    row->why =
        record->linked == DEVIMG_MAYBE
            ? "loose device code: it is no program, and has no start-up code"
        : seen->absent < left
            ? dvi_arena_format(arena,
                               "%" PRIu64 " of its %" PRIu64
                               " images wait for a device link: a plain host link drops them",
                               left, seen->present)
            : dvi_arena_format(arena,
                               "nothing hands %" PRIu64 " of its %" PRIu64
                               " images to __sycl_register_lib",
                               left, seen->present);
}

static void count_record(const struct devimg_file *file, const struct devimg_record *record,
                         struct dvi_registry_row *row, struct dvi_arena *arena)
{
    const struct seen seen = look(file, record);
    row->present = seen.present;
    if (!is_known(file, record, &seen, row, arena))
        return;
    row->registered = (struct dvi_registered){
        .descriptors = record->registered_count,
        .images = record->registered_images,
        .entries = seen.registered == record->registered_images ? seen.entries : DEVIMG_UNKNOWN,
    };
    explain(record, &seen, row, arena);
    if (row->registered.entries == DEVIMG_UNKNOWN) {
        row->good = false;
        row->code = "entries-unknown";
        row->why = "the entries of some registered images could not be read";
        row->hint = "see devimg list; build or copy the file again";
    }
}

enum devimg_status dvi_registry_read(const struct devimg_file *file, const char *path,
                                     struct dvi_arena *arena, struct dvi_registry *out,
                                     struct devimg_error *err)
{
    *out = (struct dvi_registry){ 0 };
    for (uint32_t i = 0; i < devimg_record_count(file); i++) {
        const struct devimg_record *record = devimg_record_at(file, i);
        struct dvi_registry_row *row = DVI_ADD(&out->rows);
        if (row == NULL) {
            dvi_registry_free(out);
            return dvi_fail_memory(err, path);
        }
        row->path = path;
        row->record = record;
        count_record(file, record, row, arena);
        dvi_registered_add(&out->total, &row->registered);
        if (row->why == NULL && !row->good) {
            dvi_registry_free(out);
            return dvi_fail_memory(err, path);
        }
    }
    return DEVIMG_OK;
}
