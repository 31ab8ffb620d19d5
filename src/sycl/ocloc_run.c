/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sources: measured with ocloc 22.43. `ocloc query OCL_DRIVER_VERSION` writes a FILE of that name into
 * the current folder ("22.43.24595" and a NUL) and prints nothing; it knows no --version.
 * intel/compute-runtime shared/offline_compiler/source (offline_compiler.h): the same in 2025.
 */
#include "sycl/ocloc_run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "base/write.h"

enum { MOST_VERSION = 64, MOST_VERSION_FILE = 200, MOST_FILES = 64 };

/* --- the version --- */

/* The last line that is not empty. */
static struct dvi_view last_line(const struct dvi_ran *ran)
{
    struct dvi_view rest = dvi_view_of(ran->output, ran->output_size, ""), line = { 0 };
    struct dvi_view last = rest;
    while (dvi_next_line(&rest, &line))
        if (line.size > 0)
            last = line;
    return last;
}

/* A version as such a program writes it: it begins with a number and a point. */
static const char *version_in(struct dvi_view text, struct dvi_arena *arena)
{
    static const char parts[] =
        "0123456789.ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-+~_";
    text = dvi_trimmed(dvi_head(text, strnlen((const char *)text.data, text.size)));
    size_t digits = 0;
    while (digits < text.size && text.data[digits] >= '0' && text.data[digits] <= '9')
        digits++;
    if (digits == 0 || digits == text.size || text.data[digits] != '.' || text.size > MOST_VERSION)
        return NULL;
    for (size_t i = 0; i < text.size; i++)
        if (strchr(parts, text.data[i]) == NULL)
            return NULL;
    return dvi_arena_text(arena, text);
}

/* The file that the query wrote; NULL: there is none, or no version is in it. */
static const char *version_file(const char *folder, struct dvi_arena *arena)
{
    struct dvi_file file = { 0 };
    const char *path = dvi_arena_format(arena, "%s/OCL_DRIVER_VERSION", folder);
    if (path == NULL || dvi_file_open(path, path, false, &file, NULL) != DEVIMG_OK)
        return NULL;
    const char *version = NULL;
    if (file.bytes.size <= MOST_VERSION_FILE)
        version = version_in(file.bytes, arena);
    dvi_file_close(&file);
    return version;
}

const char *dvi_ocloc_version(const char *folder, const struct dvi_ran *query,
                              struct dvi_arena *arena)
{
    const char *version = version_file(folder, arena);
    return version != NULL ? version : version_in(last_line(query), arena); /* other releases */
}

/* --- a compile --- */

static const char source_name[] = "devimg.cl";

static enum devimg_status fill_source(FILE *file, const void *context, struct devimg_error *err)
{
    (void)err;
    fputs(context, file);
    return DEVIMG_OK;
}

enum devimg_status dvi_ocloc_write(const char *folder, const char *source, struct devimg_error *err)
{
    struct dvi_folder into = { 0 };
    bool taken = false;
    DVI_TRY(dvi_folder_open(folder, &into, err));
    const enum devimg_status status =
        dvi_folder_write(&into, source_name, true, fill_source, source, &taken, err);
    dvi_folder_close(&into);
    return status;
}

/* The format of the first native image; NULL: the file holds none. */
static const char *native_of(const struct devimg_file *file)
{
    for (uint32_t i = 0; i < devimg_image_count(file); i++) {
        const enum devimg_format format = devimg_image_at(file, i)->format;
        if (format == DEVIMG_FORMAT_ZEBIN || format == DEVIMG_FORMAT_PATCHTOKEN)
            return devimg_format_name(format);
    }
    return NULL;
}

static enum devimg_status look_into(int folder, const char *name, struct dvi_ocloc_made *out,
                                    struct devimg_error *err)
{
    const struct devimg_opts opts = { .struct_size = sizeof opts, .threads = 1 };
    const int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct devimg_file *file = NULL;
    if (fd < 0) {
        out->not_seen = out->not_seen || errno != ELOOP; /* a link is nothing that was made */
        return DEVIMG_OK;
    }
    enum devimg_status st = devimg_open_fd(fd, name, &opts, &file, err);
    (void)close(fd);
    if (st == DEVIMG_OK)
        out->format = native_of(file);
    if (out->format != NULL)
        st = devimg_read_kernels(file, err);
    if (out->format != NULL && st == DEVIMG_OK && devimg_kernel_count(file) == 1)
        out->required_sub_group_size = devimg_kernel_at(file, 0)->required_sub_group_size;
    devimg_close(file);
    return st == DEVIMG_NOMEM ? st : DEVIMG_OK; /* others are of files that hold no image */
}

/* How a file is called differs between releases, so that each is looked into. */
static enum devimg_status find_native(const char *path, struct dvi_ocloc_made *out,
                                      struct devimg_error *err)
{
    DIR *folder = opendir(path);
    struct dirent *entry = NULL;
    enum devimg_status st = DEVIMG_OK;
    out->not_seen = folder == NULL;
    if (folder == NULL)
        return DEVIMG_OK;
    for (int i = 0; i < MOST_FILES && st == DEVIMG_OK && out->format == NULL &&
                    (entry = readdir(folder)) != NULL;
         i++)
        if (entry->d_name[0] != '.')
            st = look_into(dirfd(folder), entry->d_name, out, err);
    (void)closedir(folder);
    return st;
}

enum devimg_status dvi_ocloc_compile(const char *ocloc, const char *folder, const char *target,
                                     unsigned seconds, struct dvi_ocloc_made *out,
                                     struct devimg_error *err)
{
    const char *const argv[] = { ocloc, "compile", "-file", source_name, "-device", target, NULL };
    *out = (struct dvi_ocloc_made){ .required_sub_group_size = DEVIMG_UNKNOWN };
    DVI_TRY(dvi_run_in(folder, argv, seconds, DVI_OCLOC_OUTPUT, &out->ran, err));
    enum devimg_status st = DEVIMG_OK;
    if (!out->ran.timed_out && out->ran.exit_code == 0)
        st = find_native(folder, out, err);
    if (st != DEVIMG_OK)
        dvi_ocloc_made_free(out);
    return st;
}

void dvi_ocloc_made_free(struct dvi_ocloc_made *made)
{
    dvi_ran_free(&made->ran);
}
