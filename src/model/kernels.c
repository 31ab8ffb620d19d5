/* SPDX-License-Identifier: Apache-2.0 */
/* devimg_read_kernels(): decode every image, in parallel, merged in file order. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/names.h"
#include "base/pool.h"
#include "model/model.h"
#include "target/aspects.h"

struct job {
    uint32_t image; /* a stored one: it has bytes of its own in the file */
    uint32_t end;   /* behind its members */
    struct dvi_failure failure;
    struct dvi_described described;
};

struct decoding {
    struct devimg_file *file;
    struct job *jobs;
    struct dvi_worker *workers;
};

static void decode_one(void *context, size_t index, unsigned worker)
{
    struct decoding *d = context;
    struct job *job = &d->jobs[index];
    struct devimg_error error = { 0 };
    const enum devimg_status status =
        dvi_describe(d->file, &d->file->placed.items[job->image], DVI_KERNELS, &d->workers[worker],
                     &job->described, &error);
    job->failure = dvi_failure_of(status, &error, &d->workers[worker].arena);
}

/* What the image's descriptor states holds for its kernels, whatever format they are in. */
static void add_stated_needs(const struct devimg_image *image, struct devimg_kernel *kernel)
{
    if (image->aspects == NULL)
        return;
    kernel->features_known = 1;
    kernel->features |= dvi_features_of_aspects(image);
}

/*
 * What the runtime will ask the image for, it must hold: "No kernel named ... was found" otherwise.
 * Entries that are exported functions are no kernels; the descriptor counts those.
 */
static enum devimg_status check_entries(struct devimg_file *file, const struct job *job,
                                        uint32_t at, const char *record_name,
                                        struct devimg_error *err)
{
    const struct dvi_placed *placed = &file->placed.items[job->image];
    const struct dvi_described_image *decoded = &job->described.images.items[at];
    const char *missing = NULL;
    uint32_t held = 0;
    if (!placed->entries_known || decoded->names == NULL)
        return DEVIMG_OK;
    for (uint32_t i = 0; i < placed->entry_count; i++) {
        if (dvi_names_have(decoded->names, decoded->name_count, placed->entries[i]))
            held++;
        else if (missing == NULL)
            missing = placed->entries[i];
    }
    if (missing == NULL || held + placed->exported_count >= placed->entry_count)
        return DEVIMG_OK;
    struct devimg_error lost = { 0 };
    (void)dvi_fail(&lost, DEVIMG_MALFORMED, placed->bytes, 0,
                   "%" PRIu32 " of %" PRIu32 " kernels that the descriptor lists are not in the "
                   "image for %s, the first: %s",
                   placed->entry_count - placed->exported_count - held,
                   placed->entry_count - placed->exported_count,
                   decoded->image.target != NULL ? decoded->image.target : "an unknown target",
                   missing);
    return dvi_keep_damage(file, file->images.items[job->image].record, job->image + at,
                           record_name, &lost, err);
}

static void take_facts_of(const struct devimg_image *decoded, struct devimg_image *image)
{
    image->format = decoded->format;
    image->note = decoded->note;
    image->version = decoded->version;
    image->device_link = decoded->device_link;
    image->pointer_size = decoded->pointer_size;
    image->producer = decoded->producer;
    image->capabilities = decoded->capabilities;
    image->capability_count = decoded->capability_count;
    image->extensions = decoded->extensions;
    image->extension_count = decoded->extension_count;
    if (decoded->kernel_count != DEVIMG_UNKNOWN && decoded->format != DEVIMG_FORMAT_ARCHIVE)
        image->kernel_count = decoded->kernel_count;
    if (image->size == DEVIMG_UNKNOWN)
        image->size = decoded->size;
}

/* Facts that only decoding tells: what a label promised is checked against the bytes. */
static enum devimg_status take_facts(struct devimg_file *file, const struct job *job,
                                     const char *record_name, struct devimg_error *err)
{
    const struct devimg_image *image = &file->images.items[job->image];
    const struct devimg_image *decoded = &job->described.images.items[0].image;
    if (image->format == DEVIMG_FORMAT_SPIRV && decoded->format != DEVIMG_FORMAT_SPIRV &&
        decoded->format != DEVIMG_FORMAT_UNKNOWN) {
        struct devimg_error lie = { 0 };
        (void)dvi_fail(&lie, DEVIMG_MALFORMED, file->placed.items[job->image].bytes, 0,
                       "an image labelled \"%s\" holds %s, not SPIR-V",
                       image->entry_id != NULL ? image->entry_id : "",
                       devimg_format_name(decoded->format));
        DVI_TRY(dvi_keep_damage(file, image->record, job->image, record_name, &lie, err));
    }
    for (uint32_t i = job->image; i < job->end; i++)
        take_facts_of(&job->described.images.items[i - job->image].image, &file->images.items[i]);
    return DEVIMG_OK;
}

/* Was it met when the image was found? */
static bool already_said(const struct devimg_file *file, const struct job *job,
                         const struct devimg_error *damage)
{
    const struct dvi_said range = file->said.items[job->image];
    for (uint32_t i = 0; i < range.count; i++) {
        const struct devimg_finding *said = &file->findings.items[range.first + i];
        const size_t size = strlen(damage->text), have = strlen(said->message);
        if (have >= size && strcmp(said->message + have - size, damage->text) == 0 &&
            (said->offset == damage->offset || said->offset == DEVIMG_UNKNOWN))
            return true;
    }
    return false;
}

static enum devimg_status merge_job(struct devimg_file *file, const struct job *job,
                                    const char *record_name, struct devimg_error *err)
{
    const struct dvi_described *from = &job->described;
    if (from->images.count != job->end - job->image) /* cannot be: both read the same bytes */
        return dvi_fail_plain(err, DEVIMG_IO, record_name, "the file changed while it was read");
    for (size_t i = 0; i < from->damage.count; i++) {
        const struct dvi_damage *damage = &from->damage.items[i];
        if (!already_said(file, job, &damage->error))
            DVI_TRY(dvi_keep_damage(file, file->images.items[job->image].record,
                                    damage->image == DEVIMG_NONE ? job->image
                                                                 : job->image + damage->image,
                                    record_name, &damage->error, err));
    }
    DVI_TRY(take_facts(file, job, record_name, err));
    for (uint32_t i = 0; i < from->images.count; i++)
        DVI_TRY(check_entries(file, job, i, record_name, err));
    for (size_t i = 0; i < from->kernels.count; i++) {
        struct devimg_kernel *kernel = DVI_ADD(&file->kernels);
        if (kernel == NULL)
            return dvi_fail_memory(err, record_name);
        *kernel = from->kernels.items[i];
        kernel->image += job->image;
        const struct devimg_image *image = &file->images.items[kernel->image];
        kernel->record = image->record;
        kernel->module = image->module;
        add_stated_needs(image, kernel);
    }
    return DEVIMG_OK;
}

/* Findings made now belong to records that were closed before: put them in record order again. */
static enum devimg_status sort_findings(struct devimg_file *file, size_t before,
                                        struct devimg_error *err)
{
    const size_t count = file->findings.count;
    if (count == before)
        return DEVIMG_OK;
    struct devimg_finding *sorted = calloc(count, sizeof *sorted);
    if (sorted == NULL)
        return dvi_fail_memory(err, file->name);
    size_t at = 0, fresh = before;
    for (uint32_t r = 0; r < file->records.count; r++) {
        struct devimg_record *record = &file->records.items[r];
        const uint32_t first = (uint32_t)at;
        for (uint32_t i = 0; i < record->finding_count; i++)
            sorted[at++] = file->findings.items[record->first_finding + i];
        for (; fresh < count && file->findings.items[fresh].record == r; fresh++)
            sorted[at++] = file->findings.items[fresh];
        record->first_finding = first;
        record->finding_count = (uint32_t)at - first;
        if (record->finding_count > 0)
            record->status = DEVIMG_RECORD_DAMAGED;
    }
    free(file->findings.items);
    file->findings.items = sorted;
    file->findings.room = count;
    return DEVIMG_OK;
}

static enum devimg_status merge_all(struct decoding *d, size_t job_count, struct devimg_error *err)
{
    struct devimg_file *file = d->file;
    for (size_t i = 0; i < job_count; i++) {
        const struct job *job = &d->jobs[i];
        struct devimg_record *record = &file->records.items[file->images.items[job->image].record];
        if (job->failure.status != DEVIMG_OK)
            return dvi_failure_take(&job->failure, file->name, err);
        if (record->kernel_count == 0)
            record->first_kernel = (uint32_t)file->kernels.count;
        DVI_TRY(merge_job(file, job, file->placed.items[job->image].bytes.source, err));
        record->kernel_count = (uint32_t)file->kernels.count - record->first_kernel;
    }
    return dvi_keep_cut(file, err);
}

static int by_module(const void *a, const void *b)
{
    const struct devimg_kernel *x = *(const struct devimg_kernel *const *)a;
    const struct devimg_kernel *y = *(const struct devimg_kernel *const *)b;
    const int order = dvi_compare_numbers(x->module, y->module);
    return order != 0 ? order : dvi_compare_numbers((uintptr_t)x, (uintptr_t)y);
}

/* Modules whose kernels had no names before get them from all of their images. */
static enum devimg_status name_modules(struct devimg_file *file, struct devimg_error *err)
{
    const size_t count = file->kernels.count;
    const struct devimg_kernel **sorted = calloc(count + 1, sizeof(struct devimg_kernel *));
    if (sorted == NULL)
        return dvi_fail_memory(err, file->name);
    for (size_t i = 0; i < count; i++)
        sorted[i] = &file->kernels.items[i];
    qsort(sorted, count, sizeof *sorted, by_module);
    enum devimg_status status = DEVIMG_OK;
    for (size_t first = 0, end = 0; first < count && status == DEVIMG_OK; first = end) {
        const uint32_t number = sorted[first]->module;
        while (end < count && sorted[end]->module == number)
            end++;
        if (number == DEVIMG_NONE || file->modules.items[number].name_count > 0)
            continue;
        const char **names = dvi_arena_array(&file->arena, end - first, sizeof *names);
        if (names == NULL) {
            status = dvi_fail_memory(err, file->name);
            break;
        }
        for (size_t i = first; i < end; i++)
            names[i - first] = sorted[i]->name;
        file->modules.items[number].name_count = dvi_names_sort(names, (uint32_t)(end - first));
        file->modules.items[number].names = names;
    }
    free(sorted);
    return status;
}

static size_t list_jobs(const struct devimg_file *file, struct job *jobs)
{
    size_t count = 0;
    for (uint32_t i = 0; i < file->images.count; i++) {
        if (file->placed.items[i].bytes.size > 0)
            jobs[count++] = (struct job){ .image = i };
        jobs[count - 1].end = i + 1;
    }
    return count;
}

enum devimg_status devimg_read_kernels(struct devimg_file *file, struct devimg_error *err)
{
    if (file->kernels_read || file->images.count == 0)
        return DEVIMG_OK;
    struct decoding d = { .file = file,
                          .jobs = calloc(file->images.count, sizeof *d.jobs),
                          .workers = calloc(file->opts.threads, sizeof *d.workers) };
    enum devimg_status status = DEVIMG_OK;
    const size_t findings_before = file->findings.count;
    size_t job_count = 0;
    if (d.jobs == NULL || d.workers == NULL) {
        status = dvi_fail_memory(err, file->name);
    } else {
        job_count = list_jobs(file, d.jobs);
        file->named = file->decoded = 0;
        for (unsigned w = 0; w < file->opts.threads; w++)
            d.workers[w].arena.budget = &file->kept;
        dvi_pool_run(job_count, file->opts.threads, decode_one, &d);
        status = merge_all(&d, job_count, err);
        if (status == DEVIMG_OK)
            status = name_modules(file, err);
        if (status == DEVIMG_OK)
            status = sort_findings(file, findings_before, err);
    }
    status = dvi_kept_status(file, status, err);
    for (size_t i = 0; i < job_count; i++)
        dvi_described_free(&d.jobs[i].described);
    for (unsigned w = 0; d.workers != NULL && w < file->opts.threads; w++) {
        dvi_arena_adopt(&file->arena, &d.workers[w].arena);
        dvi_buffer_free(&d.workers[w].buffer);
    }
    free(d.jobs);
    free(d.workers);
    file->kernels_read = status == DEVIMG_OK;
    if (status != DEVIMG_OK) { /* half of the kernels are none */
        file->kernels.count = 0;
        file->findings.count = findings_before;
        for (size_t i = 0; i < file->records.count; i++)
            file->records.items[i].first_kernel = file->records.items[i].kernel_count = 0;
    }
    return status;
}
