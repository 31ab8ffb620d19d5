/* SPDX-License-Identifier: Apache-2.0 */
/* devimg_open(), devimg_close() and the getters. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/pool.h"
#include "model/model.h"

static void fill_default(uint32_t *value, uint32_t standard)
{
    if (*value == 0)
        *value = standard;
}

static void fill_defaults(struct devimg_opts *opts, const struct devimg_opts *given)
{
    *opts = (struct devimg_opts){ .struct_size = sizeof *opts };
    if (given != NULL && given->struct_size > 0)
        memcpy(opts, given, given->struct_size < sizeof *opts ? given->struct_size : sizeof *opts);
    if (opts->max_inflated_size == 0)
        opts->max_inflated_size = (uint64_t)DVI_MOST_INFLATED_MIB << 20;
    if (opts->max_total_inflated_size == 0)
        opts->max_total_inflated_size = (uint64_t)DVI_MOST_TOTAL_INFLATED_GIB << 30;
    fill_default(&opts->max_depth, DVI_MOST_DEPTH);
    fill_default(&opts->max_members, DVI_MOST_MEMBERS);
    fill_default(&opts->max_images, DVI_MOST_IMAGES);
    fill_default(&opts->max_kernels, DVI_MOST_KERNELS);
    fill_default(&opts->threads, dvi_pool_cores());
    if (opts->threads > DVI_MOST_THREADS)
        opts->threads = DVI_MOST_THREADS;
}

static enum devimg_status new_file(const char *name, const struct devimg_opts *opts,
                                   struct devimg_file **out, struct devimg_error *err)
{
    struct devimg_file *file = calloc(1, sizeof *file);
    if (file == NULL)
        return dvi_fail_memory(err, name);
    fill_defaults(&file->opts, opts);
    file->kept.most = (uint64_t)DVI_MOST_KEPT_MIB << 20;
    file->arena.budget = &file->kept;
    file->name = dvi_arena_copy(&file->arena, name);
    if (file->name == NULL) {
        free(file);
        return dvi_fail_memory(err, name);
    }
    *out = file;
    return DEVIMG_OK;
}

enum devimg_status dvi_kept_status(const struct devimg_file *file, enum devimg_status status,
                                   struct devimg_error *err)
{
    if (status != DEVIMG_NOMEM || file->kept.taken <= file->kept.most)
        return status;
    return dvi_fail_plain(err, DEVIMG_LIMIT, file->name,
                          "names and tables of numbers: more than %d MiB in one file",
                          DVI_MOST_KEPT_MIB);
}

bool dvi_was_cut(const struct devimg_file *file)
{
    bool cut = dvi_file_was_cut(&file->bytes);
    for (size_t i = 0; i < file->others.count && !cut; i++)
        cut = dvi_file_was_cut(&file->others.items[i]);
    return cut;
}

enum devimg_status dvi_keep_cut(struct devimg_file *file, struct devimg_error *err)
{
    if (file->cut_said || !dvi_was_cut(file) || file->records.count == 0)
        return DEVIMG_OK;
    const struct devimg_error cut = { .status = DEVIMG_TRUNCATED,
                                      .offset = DEVIMG_UNKNOWN,
                                      .text = "the file was cut while it was read" };
    file->cut_said = true;
    return dvi_keep_damage(file, (uint32_t)file->records.count - 1, DEVIMG_NONE, file->name, &cut,
                           err);
}

/* What is kept after the last record was closed still belongs to it. */
static enum devimg_status check_cut(struct devimg_file *file, struct devimg_error *err)
{
    DVI_TRY(dvi_keep_cut(file, err));
    if (!file->cut_said)
        return DEVIMG_OK;
    struct devimg_record *last = &file->records.items[file->records.count - 1];
    last->finding_count++;
    last->status = DEVIMG_RECORD_DAMAGED;
    return DEVIMG_OK;
}

/* The workers serve all records: what each keeps stays, and an archive may have thousands. */
static enum devimg_status read_records(struct devimg_file *file, struct devimg_error *err)
{
    file->workers = calloc(file->opts.threads, sizeof *file->workers);
    if (file->workers == NULL)
        return dvi_fail_memory(err, file->name);
    for (unsigned w = 0; w < file->opts.threads; w++)
        file->workers[w].arena.budget = &file->kept;
    const enum devimg_status status = dvi_records_read(file, err);
    for (unsigned w = 0; w < file->opts.threads; w++) {
        dvi_arena_adopt(&file->arena, &file->workers[w].arena);
        dvi_buffer_free(&file->workers[w].buffer);
    }
    free(file->workers);
    file->workers = NULL;
    return status;
}

static enum devimg_status read_file(struct devimg_file *file, enum devimg_status opened,
                                    struct devimg_file **out, struct devimg_error *err)
{
    struct devimg_error unasked; /* damage is copied from the error, so that there must be one */
    enum devimg_status status = opened;
    if (err == NULL)
        err = &unasked;
    if (status == DEVIMG_OK)
        status = read_records(file, err);
    if (status == DEVIMG_OK)
        status = check_cut(file, err);
    status = dvi_kept_status(file, status, err);
    if (status != DEVIMG_OK) {
        devimg_close(file);
        return status;
    }
    *out = file;
    return DEVIMG_OK;
}

enum devimg_status devimg_open(const char *path, const struct devimg_opts *opts,
                               struct devimg_file **out, struct devimg_error *err)
{
    struct devimg_file *file = NULL;
    DVI_TRY(new_file(path, opts, &file, err));
    file->path = file->name;
    const enum devimg_status opened =
        dvi_file_open(path, file->name, file->opts.read_whole != 0, &file->bytes, err);
    return read_file(file, opened, out, err);
}

enum devimg_status devimg_open_fd(int fd, const char *name, const struct devimg_opts *opts,
                                  struct devimg_file **out, struct devimg_error *err)
{
    struct devimg_file *file = NULL;
    DVI_TRY(new_file(name, opts, &file, err));
    const enum devimg_status opened =
        dvi_file_open_fd(fd, file->name, file->opts.read_whole != 0, &file->bytes, err);
    return read_file(file, opened, out, err);
}

enum devimg_status devimg_open_bytes(const void *bytes, size_t size, const char *name,
                                     const struct devimg_opts *opts, struct devimg_file **out,
                                     struct devimg_error *err)
{
    struct devimg_file *file = NULL;
    DVI_TRY(new_file(name, opts, &file, err));
    file->bytes.bytes = dvi_view_of(bytes, size, file->name);
    return read_file(file, DEVIMG_OK, out, err);
}

void devimg_close(struct devimg_file *file)
{
    if (file == NULL)
        return;
    dvi_file_close(&file->bytes);
    for (size_t i = 0; i < file->others.count; i++)
        dvi_file_close(&file->others.items[i]);
    DVI_LIST_FREE(&file->others);
    DVI_LIST_FREE(&file->records);
    DVI_LIST_FREE(&file->images);
    DVI_LIST_FREE(&file->placed);
    DVI_LIST_FREE(&file->said);
    DVI_LIST_FREE(&file->modules);
    DVI_LIST_FREE(&file->kernels);
    DVI_LIST_FREE(&file->findings);
    dvi_arena_free(&file->arena);
    free(file);
}

#define GETTERS(thing, list)                                                                     \
    uint32_t devimg_##thing##_count(const struct devimg_file *file)                              \
    {                                                                                            \
        return (uint32_t)file->list.count;                                                       \
    }                                                                                            \
    const struct devimg_##thing *devimg_##thing##_at(const struct devimg_file *file, uint32_t i) \
    {                                                                                            \
        return i < file->list.count ? &file->list.items[i] : NULL;                               \
    }
GETTERS(record, records)
GETTERS(image, images)
GETTERS(module, modules)
GETTERS(kernel, kernels)
GETTERS(finding, findings)
