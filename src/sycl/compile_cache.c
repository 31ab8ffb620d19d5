/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folder:
 *
 *   edges/ID      "devimg edge 1", then: list, state, exit status, milliseconds, bytes of the log;
 *                 and the log. ID is the digest of everything but files' bytes: the words, the
 *                 compiler, the environment (sycl/compile.c)
 *   lists/DIGEST  the paths of the files that a result came from, one a line; DIGEST is its own
 *   files         "devimg files 1", then a line a file: digest, size, times, inode, device, path
 *
 * A state is the digest over the digests of a list's files. Units that read the same headers for
 * each target share a list, which is looked at once a run.
 */
#include "sycl/compile_cache.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/text.h"
#include "base/write.h"

static const char edge_mark[] = "devimg edge 1\n";
static const char files_mark[] = "devimg files 1\n";
enum { MOST_EDGE = 4 << 20, MOST_LIST = 64 << 20, MOST_FILES = 256 << 20, FIRST_ROOM = 1024 };
enum { SETTLED = 2 }; /* seconds after which a change of a file is sure to change its times */

/* What tells that a file was not written since. */
struct stamp {
    uint64_t size, device, inode;
    int64_t modified, changed; /* nanoseconds */
};

struct entry {
    const char *key; /* a path, or the name of a list; NULL: free */
    uint8_t digest[DVI_SHA256_SIZE];
    struct stamp stamp;
    bool known;     /* there are bytes, and this is their digest; of a list: the state */
    bool checked;   /* looked at in this run */
    bool unsettled; /* it was so new that the times may not show the next change */
    bool written;   /* of a list: it is on disk, whole */
};

struct table {
    struct entry *entries;
    size_t count, room; /* room: a power of two */
};

struct dvi_cache {
    pthread_mutex_t lock;
    struct dvi_arena arena;
    const char *folder;
    struct table files, lists;
    bool changed; /* `files` differs from what is on disk */
};

/* ---- a table of texts ---- */

static size_t slot_of(const struct table *t, const char *key)
{
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
    for (const char *at = key; *at != '\0'; at++)
        hash = (hash ^ (uint8_t)*at) * UINT64_C(1099511628211);
    size_t slot = (size_t)(hash ^ hash >> 32) & (t->room - 1);
    while (t->entries[slot].key != NULL && strcmp(t->entries[slot].key, key) != 0)
        slot = (slot + 1) & (t->room - 1);
    return slot;
}

static bool grow(struct table *t)
{
    const struct table old = *t;
    struct table larger = { .count = old.count, .room = old.room > 0 ? old.room * 2 : FIRST_ROOM };
    larger.entries = calloc(larger.room, sizeof *larger.entries);
    if (larger.entries == NULL)
        return false;
    for (size_t i = 0; i < old.room; i++)
        if (old.entries[i].key != NULL)
            larger.entries[slot_of(&larger, old.entries[i].key)] = old.entries[i];
    free(old.entries);
    *t = larger;
    return true;
}

/* The entry, made where there is none; NULL: no memory. It moves when another one is made. */
static struct entry *entry_of(struct dvi_cache *cache, struct table *t, const char *key)
{
    if (t->count * 2 >= t->room && !grow(t))
        return NULL;
    struct entry *e = &t->entries[slot_of(t, key)];
    if (e->key != NULL)
        return e;
    e->key = dvi_arena_copy(&cache->arena, key);
    if (e->key == NULL)
        return NULL;
    t->count++;
    return e;
}

/* ---- files ---- */

static int64_t nanoseconds(struct timespec t)
{
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

struct timespec dvi_cache_now(void)
{
    struct timespec now = { 0 };
    (void)clock_gettime(CLOCK_REALTIME_COARSE, &now); /* what the kernel dates files with */
    return now;
}

void dvi_cache_settle(void)
{
    enum { MOST = 50 };
    const int64_t start = nanoseconds(dvi_cache_now());
    for (int i = 0; i < MOST && nanoseconds(dvi_cache_now()) == start; i++) {
        const struct timespec pause = { .tv_nsec = 1000000 };
        (void)nanosleep(&pause, NULL);
    }
}

static bool stamp_of(const char *path, struct stamp *out)
{
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return false;
    *out = (struct stamp){ .size = (uint64_t)info.st_size,
                           .device = (uint64_t)info.st_dev,
                           .inode = (uint64_t)info.st_ino,
                           .modified = nanoseconds(info.st_mtim),
                           .changed = nanoseconds(info.st_ctim) };
    return true;
}

static bool same_stamp(const struct stamp *a, const struct stamp *b)
{
    return a->size == b->size && a->device == b->device && a->inode == b->inode &&
           a->modified == b->modified && a->changed == b->changed;
}

static bool digest_bytes(const char *path, uint8_t out[DVI_SHA256_SIZE])
{
    struct dvi_file file = { 0 };
    struct dvi_sha256 sum;
    if (dvi_file_open(path, path, false, &file, NULL) != DEVIMG_OK)
        return false;
    dvi_sha256_begin(&sum);
    dvi_sha256_add(&sum, file.bytes.data, file.bytes.size);
    dvi_sha256_end(&sum, out);
    const bool whole = !dvi_file_was_cut(&file);
    dvi_file_close(&file);
    return whole;
}

/* Look at the file itself; its bytes are read when it is not the one that they were read of. */
static void refresh(struct dvi_cache *cache, struct entry *e)
{
    struct stamp now = { 0 };
    const bool there = stamp_of(e->key, &now);
    const bool known = e->known;
    e->checked = true;
    if (there && known && same_stamp(&now, &e->stamp) && !e->unsettled)
        return;
    memset(e->digest, 0, sizeof e->digest);
    e->unsettled = nanoseconds(dvi_cache_now()) - now.changed < (int64_t)SETTLED * 1000000000;
    e->known = there && digest_bytes(e->key, e->digest);
    e->stamp = now;
    cache->changed = cache->changed || e->known || known;
}

/* The lock is held. */
static const struct entry *look_at(struct dvi_cache *cache, const char *path, bool again)
{
    struct entry *e = entry_of(cache, &cache->files, path);
    if (e != NULL && (again || !e->checked))
        refresh(cache, e);
    return e;
}

bool dvi_cache_digest(struct dvi_cache *cache, const char *path, uint8_t out[DVI_SHA256_SIZE])
{
    (void)pthread_mutex_lock(&cache->lock);
    const struct entry *e = look_at(cache, path, false);
    const bool known = e != NULL && e->known;
    memset(out, 0, DVI_SHA256_SIZE);
    if (known)
        memcpy(out, e->digest, DVI_SHA256_SIZE);
    (void)pthread_mutex_unlock(&cache->lock);
    return known;
}

/* ---- the list of known files ---- */

/* "DIGEST SIZE MODIFIED CHANGED INODE DEVICE PATH"; a line that is none is passed over. */
static bool parse_file(const char *line, uint8_t digest[DVI_SHA256_SIZE], struct stamp *stamp,
                       const char **path)
{
    int used = 0;
    char hex[DVI_SHA256_HEX] = "", again[DVI_SHA256_HEX];
    if (sscanf(line, "%64s %" SCNu64 " %" SCNd64 " %" SCNd64 " %" SCNu64 " %" SCNu64 "%n", hex,
               &stamp->size, &stamp->modified, &stamp->changed, &stamp->inode, &stamp->device,
               &used) != 6 ||
        strlen(hex) != DVI_SHA256_HEX - 1 || line[used] != ' ')
        return false;
    for (size_t i = 0; i < DVI_SHA256_SIZE; i++) {
        const char pair[] = { hex[2 * i], hex[2 * i + 1], '\0' };
        digest[i] = (uint8_t)strtoul(pair, NULL, 16);
    }
    dvi_sha256_hex(digest, again);
    *path = line + used + 1;
    return strcmp(again, hex) == 0 && (*path)[0] != '\0';
}

static const char *path_in(struct dvi_cache *cache, struct dvi_arena *arena, const char *kind,
                           const char *name)
{
    return dvi_arena_format(arena, "%s/%s%s", cache->folder, kind, name);
}

static void load_files(struct dvi_cache *cache)
{
    struct dvi_arena arena = { 0 };
    struct dvi_view rest = { 0 }, line = { 0 };
    const char *path = path_in(cache, &arena, "files", "");
    if (path == NULL || dvi_read_text(path, MOST_FILES, &arena, &rest, NULL) != DEVIMG_OK)
        goto done;
    while (dvi_next_line(&rest, &line)) {
        uint8_t digest[DVI_SHA256_SIZE];
        struct stamp stamp = { 0 };
        const char *name = NULL, *text = dvi_arena_text(&arena, line);
        if (text == NULL)
            break;
        if (!parse_file(text, digest, &stamp, &name))
            continue;
        struct entry *e = entry_of(cache, &cache->files, name);
        if (e == NULL)
            break;
        e->known = true;
        e->stamp = stamp;
        memcpy(e->digest, digest, sizeof digest);
    }
done:
    dvi_arena_free(&arena);
}

static enum devimg_status fill_files(FILE *file, const void *context, struct devimg_error *err)
{
    const struct dvi_cache *cache = context;
    const int64_t now = nanoseconds(dvi_cache_now());
    (void)err;
    fputs(files_mark, file);
    for (size_t i = 0; i < cache->files.room; i++) {
        const struct entry *e = &cache->files.entries[i];
        char hex[DVI_SHA256_HEX];
        if (e->key == NULL || !e->known || e->unsettled || strchr(e->key, '\n') != NULL ||
            now < e->stamp.changed)
            continue;
        dvi_sha256_hex(e->digest, hex);
        fprintf(file, "%s %" PRIu64 " %" PRId64 " %" PRId64 " %" PRIu64 " %" PRIu64 " %s\n", hex,
                e->stamp.size, e->stamp.modified, e->stamp.changed, e->stamp.inode, e->stamp.device,
                e->key);
    }
    return DEVIMG_OK;
}

/* ---- opening and closing ---- */

static enum devimg_status make_folders(const char *path, struct devimg_error *err)
{
    char *above = strdup(path);
    int problem = 0;
    if (above == NULL)
        return dvi_fail_memory(err, path);
    for (char *at = above + 1; problem == 0; at++) {
        if (*at != '/' && *at != '\0')
            continue;
        const char end = *at;
        *at = '\0';
        if (mkdir(above, 0777) != 0 && errno != EEXIST)
            problem = errno;
        *at = end;
        if (end == '\0')
            break;
    }
    free(above);
    if (problem != 0)
        return dvi_fail_plain(err, DEVIMG_IO, path, "cannot be made: %s", strerror(problem));
    return DEVIMG_OK;
}

enum devimg_status dvi_cache_open(const char *folder, struct dvi_cache **out,
                                  struct devimg_error *err)
{
    static const char *const kinds[] = { "edges", "lists" };
    struct dvi_cache *cache = calloc(1, sizeof *cache);
    enum devimg_status st = DEVIMG_OK;
    if (cache == NULL)
        return dvi_fail_memory(err, folder);
    (void)pthread_mutex_init(&cache->lock, NULL);
    cache->folder = dvi_arena_copy(&cache->arena, folder);
    if (cache->folder == NULL || !grow(&cache->files) || !grow(&cache->lists))
        st = dvi_fail_memory(err, folder);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && st == DEVIMG_OK; i++) {
        const char *path = path_in(cache, &cache->arena, kinds[i], "");
        st = path != NULL ? make_folders(path, err) : dvi_fail_memory(err, folder);
    }
    if (st != DEVIMG_OK) {
        dvi_cache_close(cache);
        return st;
    }
    load_files(cache);
    *out = cache;
    return DEVIMG_OK;
}

void dvi_cache_close(struct dvi_cache *cache)
{
    if (cache == NULL)
        return;
    const char *path = cache->changed ? path_in(cache, &cache->arena, "files", "") : NULL;
    if (path != NULL && dvi_file_replace(path, files_mark, fill_files, cache, NULL) != DEVIMG_OK)
        cache->changed = false; /* then the bytes are read again */
    free(cache->files.entries);
    free(cache->lists.entries);
    dvi_arena_free(&cache->arena);
    (void)pthread_mutex_destroy(&cache->lock);
    free(cache);
}

/* ---- lists and their states ---- */

static void hex_of(const void *bytes, size_t size, char out[DVI_SHA256_HEX])
{
    uint8_t digest[DVI_SHA256_SIZE];
    struct dvi_sha256 sum;
    dvi_sha256_begin(&sum);
    dvi_sha256_add(&sum, bytes, size);
    dvi_sha256_end(&sum, digest);
    dvi_sha256_hex(digest, out);
}

/* The state of the files of a list now; false: one is not there. The lock is held. */
static bool state_of(struct dvi_cache *cache, struct dvi_view list, int64_t before, bool again,
                     uint8_t out[DVI_SHA256_SIZE])
{
    struct dvi_arena arena = { 0 };
    struct dvi_view line = { 0 };
    struct dvi_sha256 sum;
    bool known = true;
    dvi_sha256_begin(&sum);
    while (known && dvi_next_line(&list, &line)) {
        const char *path = dvi_arena_text(&arena, line);
        const struct entry *e = path != NULL ? look_at(cache, path, again) : NULL;
        known = e != NULL && e->known && e->stamp.changed < before;
        if (known)
            dvi_sha256_add(&sum, e->digest, sizeof e->digest);
    }
    dvi_arena_free(&arena);
    dvi_sha256_end(&sum, out);
    return known;
}

/* The same for a list by its name, once a run. */
static const struct entry *state_of_name(struct dvi_cache *cache, const char *name,
                                         struct dvi_arena *arena)
{
    char hex[DVI_SHA256_HEX];
    struct dvi_view list = { 0 };
    struct entry *e = entry_of(cache, &cache->lists, name);
    if (e == NULL || e->checked)
        return e;
    const char *path = path_in(cache, arena, "lists/", name);
    e->checked = true;
    e->known = false;
    if (path == NULL || dvi_read_text(path, MOST_LIST, arena, &list, NULL) != DEVIMG_OK)
        return e;
    hex_of(list.data, list.size, hex);
    const bool whole = strcmp(hex, name) == 0;
    uint8_t digest[DVI_SHA256_SIZE] = { 0 };
    const bool known = whole && state_of(cache, list, INT64_MAX, false, digest);
    e->written = whole;
    e->known = known;
    memcpy(e->digest, digest, sizeof digest);
    return e;
}

static bool read_edge(struct dvi_view text, char list[DVI_SHA256_HEX], char state[DVI_SHA256_HEX],
                      struct dvi_cached *out)
{
    int used = 0;
    const size_t mark = sizeof edge_mark - 1;
    if (!dvi_starts_with(text, edge_mark, mark))
        return false;
    const char *line = (const char *)text.data + mark; /* dvi_read_text() ends it with a NUL */
    uint64_t size = 0;
    if (sscanf(line, "%64s %64s %d %" SCNu64 " %" SCNu64 "%n", list, state, &out->exit_code,
               &out->milliseconds, &size, &used) != 5 ||
        line[used] != '\n' || text.size - mark - (size_t)used - 1 != size)
        return false;
    out->log = line + used + 1;
    out->log_size = (size_t)size;
    return strlen(list) == DVI_SHA256_HEX - 1 && strspn(list, "0123456789abcdef") == strlen(list);
}

bool dvi_cache_find(struct dvi_cache *cache, const char *id, struct dvi_arena *arena,
                    struct dvi_cached *out)
{
    struct dvi_arena scratch = { 0 };
    struct dvi_view bytes = { 0 };
    char list[DVI_SHA256_HEX] = "", state[DVI_SHA256_HEX] = "", now[DVI_SHA256_HEX];
    bool found = false;
    (void)pthread_mutex_lock(&cache->lock);
    const char *path = path_in(cache, &scratch, "edges/", id);
    if (path != NULL && dvi_read_text(path, MOST_EDGE, &scratch, &bytes, NULL) == DEVIMG_OK) {
        const char *text = dvi_arena_text(arena, bytes);
        const struct entry *e = NULL;
        if (text != NULL && read_edge(dvi_view_of(text, strlen(text), path), list, state, out))
            e = state_of_name(cache, list, &scratch);
        if (e != NULL && e->known) {
            dvi_sha256_hex(e->digest, now);
            found = strcmp(now, state) == 0;
        }
    }
    (void)pthread_mutex_unlock(&cache->lock);
    dvi_arena_free(&scratch);
    return found;
}

/* ---- keeping ---- */

static enum devimg_status fill_list(FILE *file, const void *context, struct devimg_error *err)
{
    const struct dvi_view *list = context;
    (void)err;
    (void)fwrite(list->data, 1, list->size, file);
    return DEVIMG_OK;
}

struct edge {
    const char *list, *state;
    const struct dvi_cached *result;
};

static enum devimg_status fill_edge(FILE *file, const void *context, struct devimg_error *err)
{
    const struct edge *edge = context;
    (void)err;
    fprintf(file, "%s%s %s %d %" PRIu64 " %zu\n", edge_mark, edge->list, edge->state,
            edge->result->exit_code, edge->result->milliseconds, edge->result->log_size);
    (void)fwrite(edge->result->log, 1, edge->result->log_size, file);
    return DEVIMG_OK;
}

/* The paths, a line each; false: one has a line end in it, or there is no memory. */
static bool list_text(const char *const *paths, size_t count, struct dvi_arena *arena,
                      struct dvi_view *out)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        size += strlen(paths[i]) + 1;
        if (strpbrk(paths[i], "\r\n") != NULL)
            return false;
    }
    char *text = dvi_arena_array(arena, size + 1, 1), *at = text;
    if (text == NULL || size > MOST_LIST)
        return false;
    for (size_t i = 0; i < count; i++) {
        at = stpcpy(at, paths[i]);
        *at++ = '\n';
    }
    *out = dvi_view_of(text, size, "list");
    return true;
}

/* Written once; who reads it sees by its name whether it is whole. */
static bool write_list(struct dvi_cache *cache, const char *name, struct dvi_view list,
                       struct dvi_arena *arena)
{
    struct entry *e = entry_of(cache, &cache->lists, name);
    const char *path = path_in(cache, arena, "lists/", name);
    if (e == NULL || path == NULL)
        return false;
    if (!e->written)
        e->written = dvi_file_replace(path, "", fill_list, &list, NULL) == DEVIMG_OK;
    return e->written;
}

void dvi_cache_keep(struct dvi_cache *cache, const char *id, const char *const *paths, size_t count,
                    struct timespec started, const struct dvi_cached *result)
{
    struct dvi_arena arena = { 0 };
    struct dvi_view list = { 0 };
    uint8_t digest[DVI_SHA256_SIZE];
    char name[DVI_SHA256_HEX], state[DVI_SHA256_HEX];
    if (count == 0 || !list_text(paths, count, &arena, &list))
        goto done;
    hex_of(list.data, list.size, name);
    (void)pthread_mutex_lock(&cache->lock);
    bool good = state_of(cache, list, nanoseconds(started), true, digest);
    good = good && write_list(cache, name, list, &arena);
    (void)pthread_mutex_unlock(&cache->lock);
    const char *path = path_in(cache, &arena, "edges/", id);
    if (!good || path == NULL)
        goto done;
    dvi_sha256_hex(digest, state);
    const struct edge edge = { name, state, result };
    /* Also in place of nonsense: nobody else calls a file so. */
    if (dvi_file_replace(path, "", fill_edge, &edge, NULL) != DEVIMG_OK)
        goto done; /* it is compiled again */
done:
    dvi_arena_free(&arena);
}
