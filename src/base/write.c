/* SPDX-License-Identifier: Apache-2.0 */
#include "base/write.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"

enum devimg_status dvi_file_is_ours(const char *path, const char *mark, struct devimg_error *err)
{
    struct dvi_file file = { 0 };
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return DEVIMG_OK;
    DVI_TRY(dvi_file_open(path, path, false, &file, err));
    const bool ours = file.bytes.size == 0 || dvi_starts_with(file.bytes, mark, strlen(mark));
    dvi_file_close(&file);
    if (ours)
        return DEVIMG_OK;
    return dvi_fail_plain(
        err, DEVIMG_IO, path,
        "is left alone: it does not start with \"%s\", so devimg did not write it", mark);
}

/* A new file beside `path`, with the rights that any new file has; `name` is filled with its path.
 * mkstemp() would give it those of a secret, and umask() can only be asked by changing it. */
static int create_beside(const char *path, char *name, size_t room)
{
    enum { TRIES = 100 };
    struct timespec now = { 0 };
    (void)clock_gettime(CLOCK_REALTIME, &now);
    uint32_t number = (uint32_t)now.tv_nsec ^ (uint32_t)getpid() << 16;
    for (int i = 0; i < TRIES; i++, number += 7919) {
        (void)snprintf(name, room, "%s.%08" PRIx32, path, number);
        const int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

static enum devimg_status fail_write(struct devimg_error *err, const char *path)
{
    return dvi_fail_plain(err, DEVIMG_IO, path, "cannot be written: %s", strerror(errno));
}

static enum devimg_status fill_file(int fd, const char *path,
                                    enum devimg_status (*fill)(FILE *file, const void *context,
                                                               struct devimg_error *err),
                                    const void *context, struct devimg_error *err)
{
    FILE *file = fdopen(fd, "w");
    if (file == NULL) {
        const enum devimg_status st = fail_write(err, path);
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

enum devimg_status dvi_file_replace(const char *path, const char *mark,
                                    enum devimg_status (*fill)(FILE *file, const void *context,
                                                               struct devimg_error *err),
                                    const void *context, struct devimg_error *err)
{
    DVI_TRY(dvi_file_is_ours(path, mark, err));
    const size_t room = strlen(path) + sizeof ".00000000";
    char *name = malloc(room);
    if (name == NULL)
        return dvi_fail_memory(err, path);
    enum devimg_status st = DEVIMG_OK;
    const int fd = create_beside(path, name, room);
    if (fd < 0) {
        st = fail_write(err, path);
    } else {
        st = fill_file(fd, path, fill, context, err);
        if (st == DEVIMG_OK && rename(name, path) != 0)
            st = fail_write(err, path);
        if (st != DEVIMG_OK)
            (void)unlink(name);
    }
    free(name);
    return st;
}
