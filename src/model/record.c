/* SPDX-License-Identifier: Apache-2.0 */
/* A file, its members, their images: one record each. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/beside.h"
#include "base/pool.h"
#include "model/model.h"
#include "object/bitcode.h"

/* A member of an archive while it is read, linked to what it lies in. */
struct path {
    const struct path *outer;
    const char *name;
};

/* Device code in another file. */
struct reference {
    const char *code_of, *path;
};

/* One record while its images are found. The sink comes first: a walker's pointer leads here. */
struct reading {
    struct dvi_found found;
    struct devimg_file *file;
    const char *name;     /* "libx.a!y.o": the record's source in messages */
    uint64_t size;        /* of its bytes */
    uint64_t stored_size; /* of its images, together */
    uint32_t damage_count;
    uint32_t record;
    bool out_of_memory;                    /* some damage could not be kept */
    DVI_LIST(struct reference) references; /* to files that hold its code */
    DVI_LIST(struct dvi_placed) stored;    /* in file order of discovery */
};
enum {
    MOST_DAMAGE = 10000, /* findings of one record while images are found */
    MOST_OVERLAP = 4,    /* times its size that the images of a record may take */
    MOST_OPEN = 1024     /* files beside the one that was named */
};

static enum devimg_status read_bytes(struct devimg_file *file, struct dvi_view bytes,
                                     const struct path *path, uint32_t depth,
                                     struct devimg_error *err);

/* --- damage --- */

static enum devimg_status keep_finding(struct devimg_file *file, const char *rule, const char *code,
                                       uint32_t record, uint32_t image, const char *record_name,
                                       const struct devimg_error *damage, struct devimg_error *err)
{
    const bool in_record = strncmp(damage->source, record_name, sizeof damage->source - 1) == 0 ||
                           damage->source[0] == 0;
    const char *text = in_record ? dvi_arena_copy(&file->arena, damage->text)
                                 : dvi_arena_format(&file->arena, "%s+0x%" PRIx64 ": %s",
                                                    damage->source, damage->offset, damage->text);
    struct devimg_finding *finding = DVI_ADD(&file->findings);
    if (text == NULL || finding == NULL)
        return dvi_fail_memory(err, record_name);
    *finding = (struct devimg_finding){
        .rule = rule,
        .code = code,
        .severity = DEVIMG_ERROR,
        .record = record,
        .module = DEVIMG_NONE,
        .image = image,
        .offset = in_record ? damage->offset : DEVIMG_UNKNOWN,
        .message = text,
        .hint =
            damage->status == DEVIMG_LIMIT ? "raise the limit if the file can be trusted" : NULL,
    };
    return DEVIMG_OK;
}

enum devimg_status dvi_keep_damage(struct devimg_file *file, uint32_t record, uint32_t image,
                                   const char *record_name, const struct devimg_error *damage,
                                   struct devimg_error *err)
{
    return keep_finding(file, "damaged", devimg_status_name(damage->status), record, image,
                        record_name, damage, err);
}

static enum devimg_status found_to_say(struct dvi_found *found, const char *rule, const char *code,
                                       const struct devimg_error *what)
{
    const struct reading *r = (const struct reading *)found;
    return keep_finding(r->file, rule, code, r->record, DEVIMG_NONE, r->name, what, NULL);
}

static enum devimg_status found_elsewhere(struct dvi_found *found, const char *code_of,
                                          const char *path, struct devimg_error *err)
{
    struct reading *r = (struct reading *)found;
    struct reference *added = DVI_ADD(&r->references);
    if (added == NULL)
        return dvi_fail_memory(err, r->name);
    *added = (struct reference){ code_of, path };
    return DEVIMG_OK;
}

static enum devimg_status found_damage(struct dvi_found *found, enum devimg_status status,
                                       const struct devimg_error *error)
{
    struct reading *r = (struct reading *)found;
    if (status != DEVIMG_TRUNCATED && status != DEVIMG_MALFORMED && status != DEVIMG_UNSUPPORTED)
        return status;
    if (r->damage_count++ >= MOST_DAMAGE)
        return DEVIMG_OK;
    struct devimg_error damage = *error;
    damage.status = status;
    if (r->damage_count == MOST_DAMAGE)
        (void)snprintf(damage.text, sizeof damage.text,
                       "%d places are damaged: further ones are left out", (int)MOST_DAMAGE);
    return dvi_keep_damage(r->file, r->record, DEVIMG_NONE, r->name, &damage, NULL);
}

static void object_damage(void *sink, const struct devimg_error *error)
{
    struct reading *r = sink;
    r->out_of_memory = found_damage(sink, error->status, error) == DEVIMG_NOMEM || r->out_of_memory;
}

/* --- images --- */

static enum devimg_status found_image(struct dvi_found *found, const struct dvi_placed *placed,
                                      struct devimg_error *err)
{
    struct reading *r = (struct reading *)found;
    if (placed->bytes.size == 0)
        return dvi_fail(err, DEVIMG_MALFORMED, placed->bytes, 0, "image of 0 bytes for \"%s\"",
                        placed->entry_id != NULL ? placed->entry_id : "");
    /* Many descriptors may name one image, and each is looked at: bounded by the file's size. */
    r->stored_size += placed->bytes.size;
    if (r->stored_size / MOST_OVERLAP > r->size)
        return dvi_fail(err, DEVIMG_MALFORMED, placed->bytes, 0,
                        "images overlap: with this one they take more than %d times their file",
                        (int)MOST_OVERLAP);
    if (r->file->images.count + r->stored.count >= r->file->opts.max_images)
        return dvi_fail(err, DEVIMG_LIMIT, placed->bytes, 0,
                        "more than %" PRIu32 " images (max-images)", r->file->opts.max_images);
    struct dvi_placed *kept = DVI_ADD(&r->stored);
    if (kept == NULL)
        return dvi_fail_memory(err, r->name);
    *kept = *placed;
    return DEVIMG_OK;
}

struct describe_job {
    struct devimg_file *file;
    const struct dvi_placed **stored; /* in file order */
    struct dvi_described *described;
    struct dvi_worker *workers;
    struct dvi_failure *failures; /* one each */
};

static void describe_one(void *context, size_t index, unsigned worker)
{
    struct describe_job *job = context;
    struct devimg_error error = { 0 };
    const enum devimg_status status =
        dvi_describe(job->file, job->stored[index], DVI_HEADERS, &job->workers[worker],
                     &job->described[index], &error);
    job->failures[index] = dvi_failure_of(status, &error, &job->workers[worker].arena);
}

/* Image order is file order; what descriptors name twice at one place keeps their order. */
static int by_offset(const void *a, const void *b)
{
    const struct dvi_placed *x = *(const struct dvi_placed *const *)a;
    const struct dvi_placed *y = *(const struct dvi_placed *const *)b;
    if (x->bytes.offset != y->bytes.offset)
        return x->bytes.offset < y->bytes.offset ? -1 : 1;
    return (x > y) - (x < y);
}

/* Pointers to the stored images in file order; the caller frees. NULL: out of memory. */
static const struct dvi_placed **in_file_order(const struct reading *r)
{
    const struct dvi_placed **order = calloc(r->stored.count + 1, sizeof *order);
    bool sorted = true;
    for (size_t i = 0; order != NULL && i < r->stored.count; i++) {
        order[i] = &r->stored.items[i];
        sorted = sorted && (i == 0 || order[i - 1]->bytes.offset <= order[i]->bytes.offset);
    }
    if (order != NULL && !sorted)
        qsort(order, r->stored.count, sizeof *order, by_offset);
    return order;
}

static enum devimg_status merge_one(struct devimg_file *file, const struct reading *r,
                                    const struct dvi_placed *placed,
                                    const struct dvi_described *described,
                                    const struct dvi_described_image **flat,
                                    struct devimg_error *err)
{
    const uint32_t base = (uint32_t)file->images.count;
    for (size_t i = 0; i < described->images.count; i++) {
        struct devimg_image *image = DVI_ADD(&file->images);
        struct dvi_placed *kept = DVI_ADD(&file->placed);
        struct dvi_said *said = DVI_ADD(&file->said);
        if (image == NULL || kept == NULL || said == NULL)
            return dvi_fail_memory(err, r->name);
        flat[base + i - file->records.items[r->record].first_image] = &described->images.items[i];
        *image = described->images.items[i].image;
        image->record = r->record;
        if (image->parent != DEVIMG_NONE)
            image->parent += base;
        if (image->parent == DEVIMG_NONE && i == 0)
            *kept = *placed;
        else
            *kept = dvi_placed_unknown(dvi_view_of(NULL, 0, r->name), image->bundle);
    }
    const uint32_t first = (uint32_t)file->findings.count;
    for (size_t i = 0; i < described->damage.count; i++) {
        const struct dvi_damage *damage = &described->damage.items[i];
        const uint32_t image = damage->image == DEVIMG_NONE ? DEVIMG_NONE : base + damage->image;
        DVI_TRY(dvi_keep_damage(file, r->record, image, r->name, &damage->error, err));
    }
    if (described->images.count > 0)
        file->said.items[base] = (struct dvi_said){ first, (uint32_t)file->findings.count - first };
    return DEVIMG_OK;
}

static enum devimg_status merge(struct reading *r, const struct dvi_placed *const *stored,
                                const struct dvi_described *described, struct devimg_error *err)
{
    struct devimg_file *file = r->file;
    size_t count = 0;
    for (size_t i = 0; i < r->stored.count; i++)
        count += described[i].images.count;
    if (count > file->opts.max_images - file->images.count)
        return dvi_fail_plain(err, DEVIMG_LIMIT, r->name,
                              "more than %" PRIu32 " images (max-images)", file->opts.max_images);
    const struct dvi_described_image **flat = calloc(count + 1, sizeof *flat);
    if (flat == NULL)
        return dvi_fail_memory(err, r->name);
    struct devimg_record *record = &file->records.items[r->record];
    record->first_image = (uint32_t)file->images.count;
    enum devimg_status status = DEVIMG_OK;
    for (size_t i = 0; i < r->stored.count && status == DEVIMG_OK; i++)
        status = merge_one(file, r, stored[i], &described[i], flat, err);
    record->image_count = (uint32_t)file->images.count - record->first_image;
    if (status == DEVIMG_OK)
        status = dvi_modules_build(file, record, flat, err);
    free(flat);
    return status;
}

static enum devimg_status describe_all(struct reading *r, struct describe_job *job,
                                       unsigned threads, struct devimg_error *err)
{
    dvi_pool_run(r->stored.count, threads, describe_one, job);
    for (size_t i = 0; i < r->stored.count; i++)
        if (job->failures[i].status != DEVIMG_OK)
            return dvi_failure_take(&job->failures[i], r->name, err);
    return merge(r, job->stored, job->described, err);
}

/* Look at every stored image of the record, in parallel, and merge in file order. */
static enum devimg_status finish_images(struct reading *r, struct devimg_error *err)
{
    const size_t count = r->stored.count;
    const unsigned threads = r->file->opts.threads;
    struct describe_job job = {
        .file = r->file,
        .stored = in_file_order(r),
        .described = calloc(count + 1, sizeof *job.described),
        .workers = r->file->workers,
        .failures = calloc(count + 1, sizeof *job.failures),
    };
    enum devimg_status status;
    if (job.stored == NULL || job.described == NULL || job.failures == NULL)
        status = dvi_fail_memory(err, r->name);
    else
        status = describe_all(r, &job, threads, err);
    for (size_t i = 0; job.described != NULL && i < count; i++)
        dvi_described_free(&job.described[i]);
    free(job.stored);
    free(job.described);
    free(job.failures);
    return status;
}

/* --- records --- */

static uint32_t path_depth(const struct path *path)
{
    uint32_t depth = 0;
    for (; path != NULL; path = path->outer)
        depth++;
    return depth;
}

/* "libx.a!y.o" */
static const char *display_name(struct devimg_file *file, const struct path *path)
{
    if (path == NULL)
        return file->name;
    const char *outer = display_name(file, path->outer);
    return outer != NULL ? dvi_arena_format(&file->arena, "%s!%s", outer, path->name) : NULL;
}

static enum devimg_status begin_record(struct devimg_file *file, const struct path *path,
                                       struct dvi_view bytes, enum devimg_file_kind kind,
                                       struct reading *out, struct devimg_error *err)
{
    const uint32_t depth = path_depth(path);
    const char **members = dvi_arena_array(&file->arena, depth, sizeof *members);
    const char *name = display_name(file, path);
    struct devimg_record *record = DVI_ADD(&file->records);
    if (members == NULL || name == NULL || record == NULL)
        return dvi_fail_memory(err, file->name);
    for (uint32_t i = depth; path != NULL; path = path->outer)
        members[--i] = path->name;
    *record = (struct devimg_record){
        .path = file->name,
        .members = members,
        .member_count = depth,
        .kind = kind,
        .pointer_size = DEVIMG_UNKNOWN,
        .linked = DEVIMG_MAYBE,
        .size = bytes.size,
        .first_image = (uint32_t)file->images.count,
        .first_module = (uint32_t)file->modules.count,
        .first_finding = (uint32_t)file->findings.count,
    };
    *out = (struct reading){
        .found = { .arena = &file->arena,
                   .image = found_image,
                   .damage = found_damage,
                   .say = found_to_say,
                   .elsewhere = found_elsewhere,
                   .named = &file->named,
                   .most_names = file->opts.max_kernels },
        .file = file,
        .name = name,
        .size = bytes.size,
        .record = (uint32_t)(record - file->records.items),
    };
    return DEVIMG_OK;
}

static void end_record(struct reading *r)
{
    struct devimg_record *record = &r->file->records.items[r->record];
    record->finding_count = (uint32_t)r->file->findings.count - record->first_finding;
    record->descriptor_count =
        r->found.descriptors_unknown ? DEVIMG_NONE : r->found.descriptor_count;
    record->registered_count = r->found.registered_count;
    record->unsure_count = r->found.unsure_count;
    record->registered_images = r->found.registered_images;
    record->status = record->finding_count > 0 ? DEVIMG_RECORD_DAMAGED
                     : record->image_count > 0 || r->references.count > 0
                         ? DEVIMG_RECORD_OK
                         : DEVIMG_RECORD_NO_DEVICE_CODE;
    DVI_LIST_FREE(&r->stored);
    DVI_LIST_FREE(&r->references);
}

static enum devimg_status walk_object(struct reading *r, struct dvi_view bytes,
                                      struct devimg_error *err)
{
    struct dvi_object object = { 0 };
    DVI_TRY(dvi_object_open(bytes, &r->file->arena, object_damage, r, &object, err));
    struct devimg_record *record = &r->file->records.items[r->record];
    record->kind = object.kind;
    record->machine = object.machine;
    record->pointer_size = object.pointer_size;
    record->linked = object.is_linked ? DEVIMG_YES : DEVIMG_NO;
    return dvi_bundles_walk(&object, &r->found, err);
}

/* Loose bitcode is device code when its triple is a device's; else it is a host object before
 * link-time optimisation, and what that carries cannot be seen. */
static bool is_host_bitcode(struct dvi_view bytes)
{
    char triple[DVI_TRIPLE_SIZE];
    const struct dvi_image_format *format = dvi_image_format_of(bytes);
    return format != NULL && format->format == DEVIMG_FORMAT_BITCODE &&
           (!dvi_bitcode_triple(bytes, triple, sizeof triple) || dvi_bitcode_is_for_host(triple));
}

/* Loose modules, one behind another with zero bytes between; the last takes what is no further one,
 * and its reader says so. */
static enum devimg_status walk_bitcode(struct reading *r, struct dvi_view bytes,
                                       struct devimg_error *err)
{
    for (;;) {
        struct dvi_placed placed = dvi_placed_unknown(bytes, "none");
        struct dvi_view one = { 0 }, rest = { 0 };
        if (dvi_bitcode_extent(bytes, &one, NULL) == DEVIMG_OK)
            rest = dvi_behind_zeros(dvi_from(bytes, one.size));
        if (!dvi_bitcode_match(rest))
            return dvi_found_image(&r->found, &placed, err);
        placed.bytes = one;
        DVI_TRY(dvi_found_image(&r->found, &placed, err));
        bytes = rest;
    }
}

static enum devimg_status walk_raw(struct reading *r, struct dvi_view bytes,
                                   struct devimg_error *err)
{
    if (is_host_bitcode(bytes)) {
        const enum devimg_status unread =
            dvi_fail(err, DEVIMG_UNSUPPORTED, bytes, 0,
                     "LLVM bitcode of the host (link-time optimisation): what it carries shows "
                     "after the link");
        return dvi_found_damage(&r->found, unread, err);
    }
    if (dvi_bitcode_match(bytes))
        return walk_bitcode(r, bytes, err);
    struct dvi_placed placed = dvi_placed_unknown(bytes, "none");
    placed.code_of = r->file->code_of;
    return dvi_found_image(&r->found, &placed, err);
}

static bool is_raw_code(struct dvi_view bytes)
{
    return dvi_bundle_of(bytes) != NULL || dvi_image_format_of(bytes) != NULL ||
           dvi_zstd_match(bytes);
}

static enum devimg_status fail_unread(struct dvi_view bytes, struct devimg_error *err)
{
    const char *what = dvi_unread_start(bytes);
    return what != NULL
               ? dvi_fail(err, DEVIMG_UNSUPPORTED, bytes, 0,
                          "%s: this version of devimg does not read it", what)
               : dvi_fail(err, DEVIMG_UNSUPPORTED, bytes, 0,
                          "no object, archive or device image that devimg reads (%zu bytes)",
                          bytes.size);
}

static enum devimg_status follow_references(struct devimg_file *file, uint32_t record,
                                            const struct reference *references, size_t count,
                                            struct devimg_error *err);

/* One object or loose image. A member that cannot be opened is damage of its record. */
static enum devimg_status read_record(struct devimg_file *file, struct dvi_view bytes,
                                      const struct path *path, struct devimg_error *err)
{
    struct reading r = { 0 };
    const bool is_object = dvi_object_matches(bytes);
    DVI_TRY(begin_record(file, path, bytes, DEVIMG_KIND_RAW, &r, err));
    bytes.source = r.name;
    enum devimg_status status = DEVIMG_OK;
    if (is_object)
        status = walk_object(&r, bytes, err);
    else if (is_raw_code(bytes))
        status = walk_raw(&r, bytes, err);
    else if (dvi_unread_start(bytes) != NULL)
        status = fail_unread(bytes, err);
    if (path != NULL)
        status = dvi_found_damage(&r.found, status, err);
    if (status == DEVIMG_OK)
        status = finish_images(&r, err);
    struct reference *references = r.references.items; /* they outlive the record's own lists */
    const size_t reference_count = r.references.count;
    r.references.items = NULL;
    end_record(&r);
    if (status == DEVIMG_OK && reference_count > 0)
        status = follow_references(file, r.record, references, reference_count, err);
    free(references);
    return status == DEVIMG_NOMEM || r.out_of_memory ? dvi_fail_memory(err, r.name) : status;
}

/* A name is written down at least once: more bytes of names than the file has are one long name,
 * shared by many members. */
static enum devimg_status count_member(struct devimg_file *file, struct dvi_view archive,
                                       uint64_t at, const struct dvi_ar_member *member,
                                       struct devimg_error *err)
{
    file->member_names += member->name.size;
    if (file->member_names > file->bytes.bytes.size)
        return dvi_fail(err, DEVIMG_LIMIT, archive, at,
                        "names of members: together longer than the file");
    if (file->members++ < file->opts.max_members)
        return DEVIMG_OK;
    return dvi_fail(err, DEVIMG_LIMIT, archive, at, "more than %" PRIu32 " members (max-members)",
                    file->opts.max_members);
}

/* A record of a member of which nothing could be read. */
static enum devimg_status keep_unreadable(struct devimg_file *file, const struct path *path,
                                          const struct devimg_error *failure,
                                          struct devimg_error *err)
{
    struct reading r = { 0 };
    const struct dvi_view nothing = dvi_view_of(NULL, 0, file->name);
    DVI_TRY(begin_record(file, path, nothing, DEVIMG_KIND_RAW, &r, err));
    const enum devimg_status status =
        dvi_keep_damage(file, r.record, DEVIMG_NONE, file->name, failure, err);
    end_record(&r);
    file->records.items[r.record].status = DEVIMG_RECORD_UNREADABLE;
    return status;
}

/* A member that is a file of its own, beside the archive. It stays open while images lie in it. */
static enum devimg_status read_beside(struct devimg_file *file, const struct path *path,
                                      uint32_t depth, struct devimg_error *err)
{
    struct dvi_file other = { 0 };
    struct devimg_error failure = { 0 };
    const uint32_t images = (uint32_t)file->images.count;
    enum devimg_status status =
        file->others.count < MOST_OPEN
            ? dvi_file_open_beside(file->path, path->name, file->name, file->opts.read_whole != 0,
                                   &other, &failure)
            : dvi_fail_plain(&failure, DEVIMG_LIMIT, file->name,
                             "more than %d members of a thin archive hold device code", MOST_OPEN);
    if (status == DEVIMG_NOMEM) /* that says nothing of the member */
        return dvi_fail_memory(err, file->name);
    if (status != DEVIMG_OK)
        return keep_unreadable(file, path, &failure, err);
    status = read_bytes(file, other.bytes, path, depth, err);
    struct dvi_file *kept =
        status == DEVIMG_OK && file->images.count > images ? DVI_ADD(&file->others) : NULL;
    if (kept != NULL)
        *kept = other;
    else
        dvi_file_close(&other);
    return status == DEVIMG_OK && kept == NULL && file->images.count > images
               ? dvi_fail_memory(err, file->name)
               : status;
}

/* A kpack that lies where a program says. END: there is none that may be opened. */
static enum devimg_status read_kpack(struct devimg_file *file, const char *name,
                                     struct devimg_error *err)
{
    struct dvi_file other = { 0 };
    struct devimg_error unsaid = { 0 };
    const struct path path = { NULL, name };
    enum devimg_status status = dvi_file_open_beside(file->path, name, file->name,
                                                     file->opts.read_whole != 0, &other, &unsaid);
    if (status == DEVIMG_NOMEM)
        return dvi_fail_memory(err, file->name);
    if (status != DEVIMG_OK)
        return DEVIMG_END;
    status = dvi_starts_with(other.bytes, "KPAK", 4) ? read_record(file, other.bytes, &path, err)
                                                     : DEVIMG_END;
    struct dvi_file *kept = status == DEVIMG_OK ? DVI_ADD(&file->others) : NULL;
    if (kept != NULL)
        *kept = other;
    else
        dvi_file_close(&other);
    return status == DEVIMG_OK && kept == NULL ? dvi_fail_memory(err, file->name) : status;
}

/* One path: where it leaves the target open, every processor that the tables know is tried. */
static enum devimg_status follow_one(struct devimg_file *file, const struct reference *reference,
                                     bool *found, struct devimg_error *err)
{
    static const char open[] = "@GFXARCH@";
    const char *at = strstr(reference->path, open);
    const struct devimg_target *target = NULL;
    if (at == NULL) {
        const enum devimg_status status = read_kpack(file, reference->path, err);
        *found = *found || status == DEVIMG_OK;
        return status == DEVIMG_END ? DEVIMG_OK : status;
    }
    for (uint32_t i = 0; (target = devimg_target_at(i)) != NULL; i++) {
        if (target->machine == DEVIMG_UNKNOWN || file->others.count >= MOST_OPEN)
            continue;
        const char *name = dvi_arena_format(&file->arena, "%.*s%s%s", (int)(at - reference->path),
                                            reference->path, target->name, at + sizeof open - 1);
        if (name == NULL)
            return dvi_fail_memory(err, file->name);
        const enum devimg_status status = read_kpack(file, name, err);
        *found = *found || status == DEVIMG_OK;
        if (status != DEVIMG_END)
            DVI_TRY(status);
    }
    return DEVIMG_OK;
}

static enum devimg_status follow_references(struct devimg_file *file, uint32_t record,
                                            const struct reference *references, size_t count,
                                            struct devimg_error *err)
{
    const char **elsewhere = dvi_arena_array(&file->arena, count, sizeof *elsewhere);
    uint32_t missing = 0;
    if (elsewhere == NULL)
        return dvi_fail_memory(err, file->name);
    for (size_t i = 0; i < count; i++) {
        bool found = false;
        file->code_of = references[i].code_of;
        enum devimg_status status = DEVIMG_OK;
        if (file->path != NULL && file->records.items[record].member_count == 0)
            status = follow_one(file, &references[i], &found, err);
        file->code_of = NULL;
        DVI_TRY(status);
        if (!found)
            elsewhere[missing++] = references[i].path;
    }
    file->records.items[record].elsewhere = elsewhere;
    file->records.items[record].elsewhere_count = missing;
    return DEVIMG_OK;
}

static enum devimg_status read_member(struct devimg_file *file, const struct dvi_ar_member *member,
                                      bool is_thin, const struct path *path, uint32_t depth,
                                      struct devimg_error *err)
{
    const struct path inner = { path, dvi_arena_text(&file->arena, member->name) };
    if (inner.name == NULL)
        return dvi_fail_memory(err, file->name);
    if (is_thin)
        return read_beside(file, &inner, depth + 1, err);
    const struct dvi_view bytes = { member->data.data, member->data.size, 0, file->name };
    return read_bytes(file, bytes, &inner, depth + 1, err);
}

/*
 * A host archive: each member is a record of its own. The archive itself is one only when
 * something has to be said of it: a damaged header, or no members at all.
 */
static enum devimg_status read_archive(struct devimg_file *file, struct dvi_view archive,
                                       const struct path *path, uint32_t depth,
                                       struct devimg_error *err)
{
    DVI_LIST(struct devimg_error) damage = { 0 };
    struct dvi_ar it = dvi_ar_begin(archive);
    struct dvi_ar_member member = { 0 };
    enum devimg_status status = DEVIMG_OK;
    uint32_t members = 0;
    const bool is_thin = dvi_ar_is_thin(archive);
    if (is_thin && (file->path == NULL || path != NULL)) { /* no folder to find them in */
        struct devimg_error *kept = DVI_ADD(&damage);
        if (kept == NULL)
            return dvi_fail_memory(err, archive.source);
        status = DEVIMG_END;
        (void)dvi_fail(kept, DEVIMG_UNSUPPORTED, archive, 0,
                       "thin archive: its members are files of their own, name those instead");
    }
    while (status == DEVIMG_OK) {
        const uint64_t at = it.at;
        struct devimg_error local = { 0 };
        status = dvi_ar_next(&it, &member, &local);
        const bool too_deep = status == DEVIMG_OK && depth >= file->opts.max_depth;
        if (too_deep)
            (void)dvi_fail(&local, DEVIMG_LIMIT, archive, at,
                           "archives nested more than %" PRIu32 " deep (max-depth)",
                           file->opts.max_depth);
        if (status == DEVIMG_OK && !too_deep && !member.special) {
            members++;
            status = count_member(file, archive, at, &member, err);
            if (status == DEVIMG_OK)
                status = read_member(file, &member, is_thin, path, depth, err);
        } else if (too_deep || status == DEVIMG_TRUNCATED || status == DEVIMG_MALFORMED) {
            struct devimg_error *kept = DVI_ADD(&damage);
            if (kept != NULL)
                *kept = local;
            const bool stuck = it.at == at || too_deep;
            status = kept == NULL ? dvi_fail_memory(err, archive.source)
                     : stuck      ? DEVIMG_END
                                  : DEVIMG_OK;
        }
    }
    if (status == DEVIMG_END)
        status = DEVIMG_OK;
    if (status == DEVIMG_OK && (members == 0 || damage.count > 0)) {
        struct reading r = { 0 };
        status = begin_record(file, path, archive, DEVIMG_KIND_AR, &r, err);
        for (size_t i = 0; i < damage.count && status == DEVIMG_OK; i++)
            status =
                dvi_keep_damage(file, r.record, DEVIMG_NONE, archive.source, &damage.items[i], err);
        if (status == DEVIMG_OK)
            end_record(&r);
    }
    DVI_LIST_FREE(&damage);
    return status;
}

static enum devimg_status read_bytes(struct devimg_file *file, struct dvi_view bytes,
                                     const struct path *path, uint32_t depth,
                                     struct devimg_error *err)
{
    if (dvi_ar_match(bytes) && dvi_bundle_of(bytes) == NULL)
        return read_archive(file, bytes, path, depth, err);
    if (path == NULL && !dvi_object_matches(bytes) && !is_raw_code(bytes))
        return fail_unread(bytes, err);
    return read_record(file, bytes, path, err);
}

enum devimg_status dvi_records_read(struct devimg_file *file, struct devimg_error *err)
{
    return read_bytes(file, file->bytes.bytes, NULL, 0, err);
}
