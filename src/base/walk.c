/* SPDX-License-Identifier: Apache-2.0 */
#include "base/walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_FILES = 1000000, MOST_DEPTH = 128 };

struct walker {
    struct dvi_walk *walk;
    bool (*wanted)(const char *name);
    struct devimg_error *err;
};

static enum devimg_status add_fault(struct walker *w, const char *path, const char *why)
{
    const char *kept = dvi_arena_copy(&w->walk->arena, path);
    struct dvi_walk_fault *fault = kept != NULL ? DVI_ADD(&w->walk->faults) : NULL;
    if (fault == NULL)
        return dvi_fail_memory(w->err, path);
    fault->path = kept;
    (void)dvi_fail_plain(&fault->error, DEVIMG_IO, kept, "%s", why);
    return DEVIMG_OK;
}

static enum devimg_status add_file(struct walker *w, const char *path, const struct stat *info)
{
    if (w->walk->files.count >= MOST_FILES)
        return dvi_fail_plain(w->err, DEVIMG_LIMIT, path, "more than %d files", MOST_FILES);
    const char *kept = dvi_arena_copy(&w->walk->arena, path);
    struct dvi_walked *file = kept != NULL ? DVI_ADD(&w->walk->files) : NULL;
    if (file == NULL)
        return dvi_fail_memory(w->err, path);
    *file = (struct dvi_walked){ kept, (uint64_t)info->st_size, (uint64_t)info->st_dev,
                                 (uint64_t)info->st_ino };
    return DEVIMG_OK;
}

struct names {
    DVI_LIST(char *) list;
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void free_names(struct names *names)
{
    for (size_t i = 0; i < names->list.count; i++)
        free(names->list.items[i]);
    DVI_LIST_FREE(&names->list);
}

/* All but hidden ones, sorted; errno tells why it failed. */
static bool read_names(DIR *folder, struct names *out)
{
    const struct dirent *entry = NULL;
    while (errno = 0, (entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        char **added = DVI_ADD(&out->list);
        if (added == NULL || (*added = strdup(entry->d_name)) == NULL) {
            errno = ENOMEM;
            return false;
        }
    }
    if (out->list.count > 0)
        qsort(out->list.items, out->list.count, sizeof *out->list.items, compare_names);
    return errno == 0;
}

static enum devimg_status walk_folder(struct walker *w, const char *path, int fd, unsigned depth);

static enum devimg_status walk_entry(struct walker *w, const char *folder, int fd, const char *name,
                                     unsigned depth)
{
    struct stat info;
    struct dvi_arena scratch = { 0 };
    enum devimg_status st = DEVIMG_OK;
    const int problem = fstatat(fd, name, &info, AT_SYMLINK_NOFOLLOW) != 0 ? errno : 0;
    if (problem == ENOENT || (problem == 0 && !S_ISDIR(info.st_mode) && !w->wanted(name)))
        return DEVIMG_OK;
    const bool link = problem == 0 && S_ISLNK(info.st_mode);
    const bool slash = *folder != 0 && folder[strlen(folder) - 1] == '/';
    const char *path = dvi_arena_format(&scratch, "%s%s%s", folder, slash ? "" : "/", name);
    if (path == NULL)
        return dvi_fail_memory(w->err, folder);
    if (problem != 0) {
        st = add_fault(w, path, strerror(problem));
    } else if (link && fstatat(fd, name, &info, 0) != 0) {
        st = add_fault(w, path, strerror(errno));
    } else if (S_ISREG(info.st_mode)) {
        st = add_file(w, path, &info);
    } else if (S_ISDIR(info.st_mode) && !link) {
        const int below = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        st = below < 0 ? add_fault(w, path, strerror(errno)) : walk_folder(w, path, below, depth);
    }
    dvi_arena_free(&scratch);
    return st;
}

/* Closes `fd`. */
static enum devimg_status walk_folder(struct walker *w, const char *path, int fd, unsigned depth)
{
    struct names names = { 0 };
    enum devimg_status st = DEVIMG_OK;
    DIR *folder = fdopendir(fd);
    if (folder == NULL) {
        st = add_fault(w, path, strerror(errno));
        (void)close(fd);
        return st;
    }
    if (depth >= MOST_DEPTH)
        st = add_fault(w, path, "more than 128 folders inside each other");
    else if (!read_names(folder, &names))
        st = errno == ENOMEM ? dvi_fail_memory(w->err, path) : add_fault(w, path, strerror(errno));
    for (size_t i = 0; depth < MOST_DEPTH && i < names.list.count && st == DEVIMG_OK; i++)
        st = walk_entry(w, path, dirfd(folder), names.list.items[i], depth + 1);
    free_names(&names);
    (void)closedir(folder);
    return st;
}

enum devimg_status dvi_walk_add(struct dvi_walk *walk, const char *path,
                                bool (*wanted)(const char *name), struct devimg_error *err)
{
    struct walker w = { walk, wanted, err };
    struct stat info;
    if (stat(path, &info) != 0)
        return add_fault(&w, path, strerror(errno));
    if (!S_ISDIR(info.st_mode))
        return add_file(&w, path, &info);
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? add_fault(&w, path, strerror(errno)) : walk_folder(&w, path, fd, 0);
}

void dvi_walk_free(struct dvi_walk *walk)
{
    DVI_LIST_FREE(&walk->files);
    DVI_LIST_FREE(&walk->faults);
    dvi_arena_free(&walk->arena);
}
