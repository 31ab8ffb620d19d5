/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file is written where nobody sees it, then named. Where the system has files without a name
 * (O_TMPFILE), nothing is left of one when the process is ended before that; elsewhere it has a
 * name of its own in the same folder until then.
 * Sources: open(2), "O_TMPFILE"; rename(2), "RENAME_NOREPLACE"; link(2).
 */
#include "base/write.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"

enum { TRIES = 100 };

/* A file before it is named as it shall be. */
struct draft {
    int folder;
    int fd;
    char name[sizeof ".devimg-00000000"]; /* "": it has none */
};

static enum devimg_status fail_write(struct devimg_error *err, const char *path)
{
    if (errno == ENOMEM)
        return dvi_fail_memory(err, path);
    return dvi_fail_plain(err, DEVIMG_IO, path, "cannot be written: %s", strerror(errno));
}

/* Call `make` with one name after the other, until one is free; -1: it failed. */
static int with_free_name(struct draft *draft, int (*make)(const struct draft *draft))
{
    struct timespec now = { 0 };
    (void)clock_gettime(CLOCK_REALTIME, &now);
    uint32_t number = (uint32_t)now.tv_nsec ^ (uint32_t)getpid() << 16;
    for (int i = 0; i < TRIES; i++, number += 7919) {
        (void)snprintf(draft->name, sizeof draft->name, ".devimg-%08" PRIx32, number);
        const int made = make(draft);
        if (made >= 0)
            return made;
        if (errno != EEXIST)
            break;
    }
    draft->name[0] = '\0';
    return -1;
}

static int create_named(const struct draft *draft)
{
    return openat(draft->folder, draft->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

/* With the rights that any new file has: mkstemp() would give it those of a secret. */
static bool begin_draft(int folder, struct draft *out)
{
    *out = (struct draft){ .folder = folder, .fd = -1 };
    if (access("/proc/self/fd", F_OK) == 0) /* the way by which it is named */
        out->fd = openat(folder, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
    if (out->fd < 0)
        out->fd = with_free_name(out, create_named);
    return out->fd >= 0;
}

static int link_nameless(const struct draft *draft, const char *name)
{
    char path[sizeof "/proc/self/fd/" + 16];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", draft->fd);
    return linkat(AT_FDCWD, path, draft->folder, name, AT_SYMLINK_FOLLOW);
}

static int link_to_own_name(const struct draft *draft)
{
    return link_nameless(draft, draft->name);
}

/* As `name`, where nothing stands yet: EEXIST otherwise. */
static int publish_new(struct draft *draft, const char *name)
{
    if (draft->name[0] == '\0')
        return link_nameless(draft, name);
    int done = renameat2(draft->folder, draft->name, draft->folder, name, RENAME_NOREPLACE);
    if (done == 0)
        draft->name[0] = '\0';
    else if (errno == EINVAL || errno == ENOSYS) /* a file system without that, such as NFS */
        done = linkat(draft->folder, draft->name, draft->folder, name, 0);
    return done;
}

/* As `name`, in place of what stands there. */
static int publish_over(struct draft *draft, const char *name)
{
    if (draft->name[0] == '\0' && with_free_name(draft, link_to_own_name) < 0)
        return -1;
    const int done = renameat(draft->folder, draft->name, draft->folder, name);
    if (done == 0)
        draft->name[0] = '\0';
    return done;
}

/* Close it; what was not named is gone. */
static void end_draft(const struct draft *draft)
{
    if (draft->name[0] != '\0')
        (void)unlinkat(draft->folder, draft->name, 0);
    (void)close(draft->fd);
}

static enum devimg_status fill_draft(const struct draft *draft, const char *path, dvi_fill *fill,
                                     const void *context, struct devimg_error *err)
{
    const int fd = fcntl(draft->fd, F_DUPFD_CLOEXEC, 0); /* closed before the file is named */
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (file == NULL) {
        const enum devimg_status st = fail_write(err, path);
        if (fd >= 0)
            (void)close(fd);
        return st;
    }
    enum devimg_status st = fill(file, context, err);
    if (st == DEVIMG_OK && (fflush(file) != 0 || ferror(file) != 0))
        st = fail_write(err, path);
    if (fclose(file) != 0 && st == DEVIMG_OK)
        st = fail_write(err, path);
    return st;
}

static enum devimg_status write_at(int folder, const char *name, const char *path, bool replace,
                                   dvi_fill *fill, const void *context, bool *taken,
                                   struct devimg_error *err)
{
    struct draft draft;
    if (!begin_draft(folder, &draft))
        return fail_write(err, path);
    enum devimg_status st = fill_draft(&draft, path, fill, context, err);
    if (st == DEVIMG_OK &&
        (replace ? publish_over(&draft, name) : publish_new(&draft, name)) != 0) {
        *taken = !replace && errno == EEXIST;
        st = *taken ? dvi_fail_plain(err, DEVIMG_IO, path, "is there already")
                    : fail_write(err, path);
    }
    end_draft(&draft);
    return st;
}

/* OK: nothing stands there yet, or something that may be replaced. `is_kind` NULL: `mark` tells. */
static enum devimg_status may_replace(const char *path, const char *mark, dvi_is_kind *is_kind,
                                      const char *kind, struct devimg_error *err)
{
    struct dvi_file file = { 0 };
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return DEVIMG_OK;
    DVI_TRY(dvi_file_open(path, path, false, &file, err));
    const bool ours =
        file.bytes.size == 0 ||
        (is_kind != NULL ? is_kind(file.bytes) : dvi_starts_with(file.bytes, mark, strlen(mark)));
    dvi_file_close(&file);
    if (ours)
        return DEVIMG_OK;
    if (is_kind != NULL)
        return dvi_fail_plain(err, DEVIMG_IO, path,
                              "is left alone: it is no %s, so devimg did not write it", kind);
    if (mark[strspn(mark, " \t\n")] == '\0') /* nothing that a message could show */
        return dvi_fail_plain(err, DEVIMG_IO, path,
                              "is left alone: it does not start with devimg's line of blanks, so "
                              "devimg did not write it");
    return dvi_fail_plain(
        err, DEVIMG_IO, path,
        "is left alone: it does not start with \"%.*s\", so devimg did not write it",
        (int)strcspn(mark, "\n"), mark);
}

enum devimg_status dvi_file_is_ours(const char *path, const char *mark, struct devimg_error *err)
{
    return may_replace(path, mark, NULL, NULL, err);
}

static enum devimg_status put_in_place(const char *path, bool replace, dvi_fill *fill,
                                       const void *context, bool *taken, struct devimg_error *err)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    char *above = strndup(slash != NULL ? path : ".", slash != NULL ? (size_t)(name - path) : 1);
    if (above == NULL)
        return dvi_fail_memory(err, path);
    const int folder = open(above, O_PATH | O_DIRECTORY | O_CLOEXEC);
    free(above);
    if (folder < 0)
        return fail_write(err, path);
    const enum devimg_status st = write_at(folder, name, path, replace, fill, context, taken, err);
    (void)close(folder);
    return st;
}

enum devimg_status dvi_file_replace(const char *path, const char *mark, dvi_fill *fill,
                                    const void *context, struct devimg_error *err)
{
    bool taken = false;
    DVI_TRY(may_replace(path, mark, NULL, NULL, err));
    return put_in_place(path, true, fill, context, &taken, err);
}

enum devimg_status dvi_file_replace_kind(const char *path, dvi_is_kind *is_kind, const char *kind,
                                         dvi_fill *fill, const void *context,
                                         struct devimg_error *err)
{
    bool taken = false;
    DVI_TRY(may_replace(path, "", is_kind, kind, err));
    return put_in_place(path, true, fill, context, &taken, err);
}

enum devimg_status dvi_file_create(const char *path, dvi_fill *fill, const void *context,
                                   bool *taken, struct devimg_error *err)
{
    *taken = false;
    return put_in_place(path, false, fill, context, taken, err);
}

enum devimg_status dvi_file_holds(const char *path, dvi_fill *fill, const void *context, bool *same,
                                  struct devimg_error *err)
{
    struct dvi_file file = { 0 };
    char *bytes = NULL;
    size_t size = 0;
    DVI_TRY(dvi_file_open(path, path, false, &file, err));
    FILE *memory = open_memstream(&bytes, &size);
    enum devimg_status st = DEVIMG_OK;
    if (memory == NULL)
        st = dvi_fail_memory(err, path);
    else
        st = fill(memory, context, err);
    if (memory != NULL && fclose(memory) != 0 && st == DEVIMG_OK)
        st = dvi_fail_memory(err, path);
    if (st == DEVIMG_OK)
        *same = size == file.bytes.size && (size == 0 || memcmp(bytes, file.bytes.data, size) == 0);
    free(bytes);
    dvi_file_close(&file);
    return st;
}

enum devimg_status dvi_file_update(const char *path, const char *mark, dvi_fill *fill,
                                   const void *context, struct devimg_error *err)
{
    bool same = false;
    DVI_TRY(dvi_file_is_ours(path, mark, err)); /* also: not a device, not a FIFO */
    if (access(path, F_OK) == 0)
        DVI_TRY(dvi_file_holds(path, fill, context, &same, err));
    return same ? DEVIMG_OK : dvi_file_replace(path, mark, fill, context, err);
}

enum devimg_status dvi_folder_open(const char *path, struct dvi_folder *out,
                                   struct devimg_error *err)
{
    size_t size = strlen(path);
    while (size > 1 && path[size - 1] == '/') /* "link/" would be followed */
        size--;
    char *name = strndup(path, size);
    if (name == NULL)
        return dvi_fail_memory(err, path);
    int fd = -1;
    const bool is_new = mkdir(name, 0777) == 0;
    if (is_new || errno == EEXIST)
        fd = open(name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const int failure = errno;
    struct stat info;
    const bool is_link = fd < 0 && lstat(name, &info) == 0 && S_ISLNK(info.st_mode);
    free(name);
    if (is_link)
        return dvi_fail_plain(err, DEVIMG_IO, path, "a link, which is not followed");
    if (fd < 0)
        return dvi_fail_plain(err, DEVIMG_IO, path, "no folder to write into: %s",
                              strerror(failure));
    *out = (struct dvi_folder){ fd, is_new };
    return DEVIMG_OK;
}

void dvi_folder_close(struct dvi_folder *folder)
{
    (void)close(folder->fd);
}

void dvi_folder_end(struct dvi_folder *folder, const char *path)
{
    struct stat made, there;
    if (folder->is_new && fstat(folder->fd, &made) == 0 && lstat(path, &there) == 0 &&
        made.st_dev == there.st_dev && made.st_ino == there.st_ino)
        (void)rmdir(path); /* which leaves one that is not empty */
    dvi_folder_close(folder);
}

/* What stands at `name` and may not be replaced; NULL: nothing. */
static const char *in_the_way(int folder, const char *name, bool force)
{
    struct stat info;
    if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return NULL;
    switch (info.st_mode & S_IFMT) {
    case S_IFREG: return force ? NULL : "";
    case S_IFLNK: return ", a link";
    case S_IFDIR: return ", a folder";
    default: return ", no regular file";
    }
}

enum devimg_status dvi_folder_write(const struct dvi_folder *folder, const char *name, bool force,
                                    dvi_fill *fill, const void *context, bool *taken,
                                    struct devimg_error *err)
{
    const char *what = in_the_way(folder->fd, name, force);
    *taken = what != NULL;
    if (what != NULL)
        return dvi_fail_plain(err, DEVIMG_IO, name, "is there already%s", what);
    return write_at(folder->fd, name, name, force, fill, context, taken, err);
}
