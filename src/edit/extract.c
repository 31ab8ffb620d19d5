/* SPDX-License-Identifier: Apache-2.0 */
/* devimg_extraction: images written into a folder, stored image by stored image, in parallel. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "base/write.h"
#include "edit/name.h"
#include "model/model.h"

struct devimg_extraction {
    struct dvi_folder folder;
    const char *path; /* of the folder */
    struct devimg_extract_opts opts;
    struct dvi_arena arena;
    struct dvi_prefixes prefixes;
    DVI_LIST(struct devimg_extracted) items;
};

/* One stored image that holds images to be written, itself included. */
struct job {
    uint32_t first, end; /* images of the file */
    struct devimg_extracted *items;
    const char *const *prefixes; /* of each item */
    uint32_t item_count;
    const struct devimg_error *refusal; /* a budget is used up: nothing of it is read */
    enum devimg_status failure;         /* NOMEM: all of the extraction ends */
};

struct extracting {
    struct devimg_extraction *extraction;
    struct devimg_file *file;
    struct job *jobs;
    struct dvi_worker *workers; /* what they hold is given back after each job */
    struct dvi_arena *kept;     /* of each worker: names and findings */
};

/* Writing the items of one job. The sink comes first: describing leads back here. */
struct writing {
    struct dvi_bytes_sink sink;
    const struct extracting *all;
    struct job *job;
    struct dvi_worker *worker;
    struct dvi_arena *kept;
    uint32_t next; /* of the items: they come in the order of the images */
};

/* What bytes of a format are called; `read_by` is the row that knows them, NULL: none was asked. */
static const char *extension_of(enum devimg_format format, const struct dvi_image_format *read_by)
{
    switch (format) {
    case DEVIMG_FORMAT_SPIRV: /* or an OpenCL program's ELF around it */
        return read_by == NULL || strcmp(read_by->name, "spirv") == 0 ? "spv" : "elf";
    case DEVIMG_FORMAT_BITCODE: return "bc";
    case DEVIMG_FORMAT_ARCHIVE: return "ar";
    case DEVIMG_FORMAT_UNKNOWN: return "bin";
    default: return devimg_format_name(format);
    }
}

static const struct devimg_image *image_of(const struct writing *w,
                                           const struct devimg_extracted *item)
{
    return &w->all->file->images.items[item->image];
}

/* Name it by the format of its bytes. False: out of memory. */
static bool name_item(struct writing *w, struct devimg_extracted *item,
                      const struct dvi_image_format *read_by)
{
    const struct devimg_image *image = image_of(w, item);
    const uint32_t first = w->all->file->records.items[image->record].first_image;
    const char *extension = extension_of(item->format, read_by);
    if (item->compression == DEVIMG_COMPRESSION_ZSTD)
        extension = dvi_arena_format(w->kept, "%s.zst", extension);
    if (extension == NULL)
        return false;
    item->name = dvi_image_file_name(w->job->prefixes[item - w->job->items], item->image - first,
                                     image, extension, w->kept);
    return item->name != NULL;
}

/* What was not inflated before is SPIR-V by its label only: `bytes` tell. */
static bool know_item(struct writing *w, struct devimg_extracted *item, struct dvi_view bytes)
{
    const struct dvi_image_format *read_by = NULL;
    item->format = image_of(w, item)->format;
    if (item->format == DEVIMG_FORMAT_SPIRV && item->compression == DEVIMG_COMPRESSION_NONE) {
        struct dvi_image_facts facts = { .format = DEVIMG_FORMAT_UNKNOWN };
        read_by = dvi_image_format_of(bytes);
        if (read_by != NULL) {
            facts.format = read_by->format;
            if (read_by->facts(bytes, &w->worker->arena, &facts, NULL) == DEVIMG_NOMEM)
                return false; /* damaged or not is all one */
        }
        item->format = facts.format;
    }
    return name_item(w, item, read_by);
}

static void fail_item(struct writing *w, struct devimg_extracted *item, enum devimg_status status,
                      bool taken, const struct devimg_error *error)
{
    const char *source = w->all->file->placed.items[w->job->first].bytes.source;
    const struct devimg_image *image = image_of(w, item);
    const bool by_system = strncmp(error->source, item->name, sizeof error->source - 1) == 0;
    struct devimg_finding *finding = dvi_arena_array(w->kept, 1, sizeof *finding);
    const char *message = dvi_arena_format(w->kept, "%s%s%s", item->name,
                                           by_system ? " " : " is not written: ", error->text);
    if (finding == NULL || message == NULL) {
        w->job->failure = DEVIMG_NOMEM;
        return;
    }
    *finding = (struct devimg_finding){
        .rule = "extract",
        .code = taken       ? "exists"
                : by_system ? "cannot-write"
                            : devimg_status_name(status),
        .severity = DEVIMG_ERROR,
        .record = image->record,
        .module = DEVIMG_NONE,
        .image = item->image,
        .target = image->target,
        .offset = strncmp(error->source, source, sizeof error->source - 1) == 0 ? error->offset
                                                                                : DEVIMG_UNKNOWN,
        .message = message,
        .hint = taken                    ? "name another folder; --force replaces regular files"
                : status == DEVIMG_LIMIT ? "raise the limit if the file can be trusted"
                                         : NULL,
    };
    item->status = status;
    item->finding = finding;
}

struct content {
    const struct devimg_file *file;
    struct dvi_view bytes;
};

static enum devimg_status fill(FILE *to, const void *context, struct devimg_error *err)
{
    const struct content *content = context;
    const struct dvi_view bytes = content->bytes;
    errno = 0;
    const bool written = fwrite(bytes.data, 1, bytes.size, to) == bytes.size;
    if (dvi_was_cut(content->file) || (!written && errno == EFAULT))
        return dvi_fail_plain(err, DEVIMG_IO, content->file->name,
                              "the file was cut while it was read");
    return DEVIMG_OK;
}

static void write_item(struct writing *w, struct devimg_extracted *item, struct dvi_view bytes)
{
    const struct devimg_extraction *extraction = w->all->extraction;
    const struct content content = { w->all->file, bytes };
    struct devimg_error error = { 0 };
    bool taken = false;
    if (!know_item(w, item, bytes)) {
        w->job->failure = DEVIMG_NOMEM;
        return;
    }
    const enum devimg_status status =
        dvi_folder_write(&extraction->folder, item->name, extraction->opts.force != 0, fill,
                         &content, &taken, &error);
    if (status == DEVIMG_NOMEM) {
        w->job->failure = status;
        return;
    }
    if (status != DEVIMG_OK) {
        fail_item(w, item, status, taken, &error);
        return;
    }
    item->status = DEVIMG_OK;
    item->size = bytes.size;
}

static void give(struct dvi_bytes_sink *sink, uint32_t index, struct dvi_view bytes)
{
    struct writing *w = (struct writing *)sink;
    const struct job *job = w->job;
    while (w->next < job->item_count && job->items[w->next].image < job->first + index)
        w->next++;
    if (w->next < job->item_count && job->items[w->next].image == job->first + index)
        write_item(w, &job->items[w->next], bytes);
}

/* The items whose bytes never came. */
static void fail_rest(struct writing *w, const struct dvi_described *described,
                      enum devimg_status ended, const struct devimg_error *end)
{
    if (ended == DEVIMG_NOMEM) /* that says nothing of the image */
        w->job->failure = ended;
    for (uint32_t i = 0; i < w->job->item_count; i++) {
        struct devimg_extracted *item = &w->job->items[i];
        struct devimg_error error = *end;
        if (item->status != DEVIMG_END || w->job->failure != DEVIMG_OK)
            continue;
        const enum devimg_status status =
            ended != DEVIMG_OK
                ? ended
                : dvi_not_given(described, item->image - w->job->first, w->all->file->name, &error);
        item->format = image_of(w, item)->format;
        if (name_item(w, item, NULL))
            fail_item(w, item, status, false, &error);
        else
            w->job->failure = DEVIMG_NOMEM;
    }
}

static void extract_job(void *context, size_t index, unsigned worker)
{
    const struct extracting *all = context;
    struct job *job = &all->jobs[index];
    struct dvi_described described = { 0 };
    struct devimg_error error = { 0 };
    struct writing w = {
        .sink = { .as_stored = all->extraction->opts.as_stored != 0, .image = give },
        .all = all,
        .job = job,
        .worker = &all->workers[worker],
        .kept = &all->kept[worker],
    };
    enum devimg_status status = DEVIMG_LIMIT;
    if (job->refusal != NULL)
        error = *job->refusal;
    else
        status = dvi_describe_bytes(all->file, &all->file->placed.items[job->first], &w.sink,
                                    w.worker, &described, &error);
    fail_rest(&w, &described, status, &error);
    dvi_described_free(&described);
    dvi_arena_free(&w.worker->arena);
}

/* True when the image is to be written. `wanted` NULL: all but what holds others. */
static bool is_wanted(const struct devimg_extraction *extraction, const struct devimg_file *file,
                      const uint8_t *wanted, uint32_t i)
{
    if (extraction->opts.as_stored != 0 && file->images.items[i].parent != DEVIMG_NONE)
        return false;
    if (wanted != NULL)
        return wanted[i] != 0;
    return extraction->opts.as_stored != 0 || i + 1 >= file->images.count ||
           file->images.items[i + 1].parent != i;
}

/* What is to be done, laid out: items in the order of the images, and the jobs that they fall into.
 */
struct plan {
    struct job *jobs;
    const char **prefixes;
    size_t job_count;
    struct devimg_error refusal; /* of every job that a budget refuses */
};

static enum devimg_status add_items(struct devimg_extraction *extraction,
                                    const struct devimg_file *file, const uint8_t *wanted,
                                    struct devimg_error *err)
{
    for (uint32_t i = 0; i < file->images.count; i++) {
        if (!is_wanted(extraction, file, wanted, i))
            continue;
        /* what is compressed together with others is not stored by itself */
        const bool as_stored =
            extraction->opts.as_stored != 0 && file->images.items[i].stored_size != DEVIMG_UNKNOWN;
        if (extraction->items.count >= DEVIMG_NONE)
            return dvi_fail_plain(err, DEVIMG_LIMIT, file->name, "more than 2^32 images");
        struct devimg_extracted *item = DVI_ADD(&extraction->items);
        if (item == NULL)
            return dvi_fail_memory(err, file->name);
        *item =
            (struct devimg_extracted){ .image = i,
                                       .compression = as_stored ? file->images.items[i].compression
                                                                : DEVIMG_COMPRESSION_NONE,
                                       .status = DEVIMG_END, /* its bytes have not come yet */
                                       .size = DEVIMG_UNKNOWN };
    }
    return DEVIMG_OK;
}

static enum devimg_status name_records(struct devimg_extraction *extraction,
                                       const struct devimg_file *file, size_t first,
                                       struct plan *plan, struct devimg_error *err)
{
    uint32_t record = DEVIMG_NONE;
    const char *prefix = NULL;
    for (size_t i = first; i < extraction->items.count; i++) {
        const uint32_t of = file->images.items[extraction->items.items[i].image].record;
        if (of != record)
            prefix =
                dvi_prefix(&extraction->prefixes, &file->records.items[of], &extraction->arena);
        if (prefix == NULL)
            return dvi_fail_memory(err, file->name);
        record = of;
        plan->prefixes[i - first] = prefix;
    }
    return DEVIMG_OK;
}

static void part_into_jobs(struct devimg_extraction *extraction, const struct devimg_file *file,
                           size_t first, struct plan *plan)
{
    struct job *job = NULL;
    uint64_t inflated = 0;
    for (size_t i = first; i < extraction->items.count; i++) {
        struct devimg_extracted *item = &extraction->items.items[i];
        if (job == NULL || item->image >= job->end) {
            const uint32_t stored = dvi_stored_image(file, item->image);
            job = &plan->jobs[plan->job_count++];
            *job = (struct job){ .first = stored,
                                 .end = dvi_stored_end(file, stored),
                                 .items = item,
                                 .prefixes = &plan->prefixes[i - first] };
            /* charged in file order: which image is refused never depends on the threads */
            if (extraction->opts.as_stored == 0 &&
                dvi_charge_images(file, job->first, job->end, &inflated, &plan->refusal) !=
                    DEVIMG_OK)
                job->refusal = &plan->refusal;
        }
        job->item_count++;
    }
}

static enum devimg_status run_jobs(struct devimg_extraction *extraction, struct devimg_file *file,
                                   const struct plan *plan, struct devimg_error *err)
{
    const unsigned threads = file->opts.threads;
    struct extracting all = { .extraction = extraction,
                              .file = file,
                              .jobs = plan->jobs,
                              .workers = calloc(threads, sizeof *all.workers),
                              .kept = calloc(threads, sizeof *all.kept) };
    const bool ready = all.workers != NULL && all.kept != NULL;
    if (ready)
        dvi_pool_run(plan->job_count, threads, extract_job, &all);
    for (unsigned i = 0; ready && i < threads; i++) {
        dvi_arena_adopt(&extraction->arena, &all.kept[i]);
        dvi_buffer_free(&all.workers[i].buffer);
    }
    free(all.workers);
    free(all.kept);
    if (!ready)
        return dvi_fail_memory(err, file->name);
    for (size_t i = 0; i < plan->job_count; i++)
        if (plan->jobs[i].failure != DEVIMG_OK)
            return dvi_fail_memory(err, file->name);
    return DEVIMG_OK;
}

enum devimg_status devimg_extraction_add(struct devimg_extraction *extraction,
                                         struct devimg_file *file, const uint8_t *wanted,
                                         uint32_t *first, uint32_t *count, struct devimg_error *err)
{
    const size_t before = extraction->items.count;
    struct plan plan = { 0 };
    enum devimg_status status = add_items(extraction, file, wanted, err);
    const size_t added = extraction->items.count - before;
    if (status == DEVIMG_OK && added > 0) {
        plan.jobs = calloc(added, sizeof *plan.jobs);
        plan.prefixes = calloc(added, sizeof *plan.prefixes);
        status = plan.jobs != NULL && plan.prefixes != NULL
                     ? name_records(extraction, file, before, &plan, err)
                     : dvi_fail_memory(err, file->name);
    }
    if (status == DEVIMG_OK && added > 0) {
        part_into_jobs(extraction, file, before, &plan);
        status = run_jobs(extraction, file, &plan, err);
    }
    free(plan.jobs);
    free(plan.prefixes);
    if (status != DEVIMG_OK) {
        extraction->items.count = before;
        return status;
    }
    if (first != NULL)
        *first = (uint32_t)before;
    if (count != NULL)
        *count = (uint32_t)added;
    return DEVIMG_OK;
}

enum devimg_status devimg_extraction_new(const char *folder, const struct devimg_extract_opts *opts,
                                         struct devimg_extraction **out, struct devimg_error *err)
{
    struct devimg_extraction *extraction = calloc(1, sizeof *extraction);
    if (extraction == NULL)
        return dvi_fail_memory(err, folder);
    const size_t given = opts != NULL ? opts->struct_size : 0;
    if (given > 0)
        memcpy(&extraction->opts, opts,
               given < sizeof extraction->opts ? given : sizeof extraction->opts);
    extraction->path = dvi_arena_copy(&extraction->arena, folder);
    const enum devimg_status status = extraction->path != NULL
                                          ? dvi_folder_open(folder, &extraction->folder, err)
                                          : dvi_fail_memory(err, folder);
    if (status != DEVIMG_OK) {
        dvi_arena_free(&extraction->arena);
        free(extraction);
        return status;
    }
    *out = extraction;
    return DEVIMG_OK;
}

const struct devimg_extracted *devimg_extraction_at(const struct devimg_extraction *extraction,
                                                    uint32_t i)
{
    return i < extraction->items.count ? &extraction->items.items[i] : NULL;
}

uint32_t devimg_extraction_count(const struct devimg_extraction *extraction)
{
    return (uint32_t)extraction->items.count; /* add_items() keeps it below 2^32 */
}

void devimg_extraction_free(struct devimg_extraction *extraction)
{
    if (extraction == NULL)
        return;
    dvi_folder_end(&extraction->folder, extraction->path);
    dvi_prefixes_free(&extraction->prefixes);
    DVI_LIST_FREE(&extraction->items);
    dvi_arena_free(&extraction->arena);
    free(extraction);
}
