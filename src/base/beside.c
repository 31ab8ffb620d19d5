/* SPDX-License-Identifier: Apache-2.0 */
#include "base/beside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_PART = 256 }; /* with its NUL */

/* The next part of a path, without "." and empty ones; false: none is left, or `*refused` says
 * why the path is not taken. */
static bool next_part(const char **path, char part[MOST_PART], const char **refused)
{
    for (;;) {
        *path += strspn(*path, "/");
        const size_t size = strcspn(*path, "/");
        if (size == 0)
            return false;
        if (size >= MOST_PART) {
            *refused = "a part of its name is longer than any file's";
            return false;
        }
        memcpy(part, *path, size);
        part[size] = '\0';
        *path += size;
        if (strcmp(part, "..") == 0) {
            *refused = "its name leads out of the folder of the file that names it";
            return false;
        }
        if (strcmp(part, ".") != 0)
            return true;
    }
}

/* Of the folder that `path` lies in. */
static int open_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    char *folder = slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
    if (folder == NULL)
        return -1;
    const int fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    return fd;
}

static enum devimg_status fail_open(const char *shown, const char *part, struct devimg_error *err)
{
    if (errno == ENOMEM)
        return dvi_fail_memory(err, shown);
    return dvi_fail_plain(err, DEVIMG_IO, shown, "%.80s: %s", part,
                          errno == ELOOP ? "a link, which is not followed" : strerror(errno));
}

/* Part by part, so that no link on the way is followed. Takes `folder`. */
static enum devimg_status open_parts(int folder, const char *name, const char *shown,
                                     bool read_whole, struct dvi_file *out,
                                     struct devimg_error *err)
{
    char part[MOST_PART];
    const char *refused = "its name is empty";
    enum devimg_status status = DEVIMG_OK;
    int at = folder;
    while (status == DEVIMG_OK && next_part(&name, part, &refused)) {
        refused = NULL;
        const int next =
            openat(at, part, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
        if (next < 0)
            status = fail_open(shown, part, err);
        else
            (void)close(at);
        at = next < 0 ? at : next;
    }
    if (status == DEVIMG_OK && refused != NULL)
        status = dvi_fail_plain(err, DEVIMG_IO, shown, "not opened: %s", refused);
    if (status == DEVIMG_OK)
        status = dvi_file_open_fd(at, shown, read_whole, out, err);
    (void)close(at);
    return status;
}

enum devimg_status dvi_file_open_beside(const char *path, const char *name, const char *shown,
                                        bool read_whole, struct dvi_file *out,
                                        struct devimg_error *err)
{
    if (*name == '/')
        return dvi_fail_plain(err, DEVIMG_IO, shown, "not opened: its name is absolute");
    const int folder = open_folder(path);
    if (folder < 0)
        return fail_open(shown, path, err);
    return open_parts(folder, name, shown, read_whole, out, err);
}
