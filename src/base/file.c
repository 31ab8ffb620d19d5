/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Mappings that the SIGBUS handler may repair. A slot is claimed by its start and released by
 * clearing it; a program that opens more files at once than there are slots is not guarded there.
 */
enum { GUARD_SLOTS = 2048 };
static struct {
    atomic_uintptr_t start; /* 0: free */
    atomic_size_t size;
    atomic_bool cut;
} guards[GUARD_SLOTS];
static atomic_bool guarding, some_cut;

static void guard_add(void *mapping, size_t size)
{
    if (!atomic_load(&guarding))
        return;
    for (int i = 0; i < GUARD_SLOTS; i++) {
        uintptr_t none = 0;
        if (atomic_compare_exchange_strong(&guards[i].start, &none, (uintptr_t)mapping)) {
            atomic_store(&guards[i].cut, false);
            atomic_store(&guards[i].size, size);
            return;
        }
    }
}

static int guard_find(const void *mapping)
{
    for (int i = 0; i < GUARD_SLOTS; i++)
        if (atomic_load(&guards[i].start) == (uintptr_t)mapping)
            return i;
    return -1;
}

static void guard_remove(const void *mapping)
{
    const int slot = guard_find(mapping);
    if (slot < 0)
        return;
    atomic_store(&guards[slot].size, 0);
    atomic_store(&guards[slot].start, 0);
}

static void on_bus_error(int signal_number, siginfo_t *info, void *context)
{
    (void)context;
    const uintptr_t fault = (uintptr_t)info->si_addr;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < GUARD_SLOTS; i++) {
        const uintptr_t start = atomic_load(&guards[i].start);
        if (start == 0 || fault < start || fault - start >= atomic_load(&guards[i].size))
            continue;
        void *at = (void *)(fault / page * page); /* NOLINT(performance-no-int-to-ptr) */
        if (mmap(at, page, PROT_READ, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0) == at) {
            atomic_store(&guards[i].cut, true);
            atomic_store(&some_cut, true);
            return;
        }
    }
    (void)signal(signal_number, SIG_DFL); /* not ours: let it end the program as usual */
}

void dvi_guard_mappings(void)
{
    struct sigaction action = { .sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO };
    (void)sigemptyset(&action.sa_mask);
    if (sigaction(SIGBUS, &action, NULL) == 0)
        atomic_store(&guarding, true);
}

bool dvi_file_was_cut(const struct dvi_file *file)
{
    if (file->mapping == NULL || !atomic_load(&some_cut))
        return false;
    const int slot = guard_find(file->mapping);
    return slot >= 0 && atomic_load(&guards[slot].cut);
}

static enum devimg_status fail_errno(struct devimg_error *err, const char *name)
{
    if (errno == ENOMEM)
        return dvi_fail_memory(err, name);
    return dvi_fail_plain(err, DEVIMG_IO, name, "%s", strerror(errno));
}

static const char *kind_of(mode_t mode)
{
    if (S_ISDIR(mode))
        return "a folder";
    if (S_ISFIFO(mode))
        return "a FIFO";
    if (S_ISSOCK(mode))
        return "a socket";
    return "a device";
}

/* Read `size` bytes, or fewer when the file is shorter by now. */
static enum devimg_status read_whole_file(int fd, const char *name, size_t size,
                                          struct dvi_file *out, struct devimg_error *err)
{
    uint8_t *heap = malloc(size);
    if (heap == NULL)
        return dvi_fail_memory(err, name);
    size_t got = 0;
    while (got < size) {
        const ssize_t n = pread(fd, heap + got, size - got, (off_t)got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            free(heap);
            return fail_errno(err, name);
        }
        if (n == 0)
            break;
        got += (size_t)n;
    }
    *out = (struct dvi_file){ .bytes = dvi_view_of(heap, got, name), .heap = heap };
    return DEVIMG_OK;
}

enum devimg_status dvi_file_open_fd(int fd, const char *name, bool read_whole, struct dvi_file *out,
                                    struct devimg_error *err)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return fail_errno(err, name);
    if (!S_ISREG(info.st_mode))
        return dvi_fail_plain(err, DEVIMG_IO, name, "%s, not a regular file",
                              kind_of(info.st_mode));
    if (info.st_size < 0 || (uint64_t)info.st_size > SIZE_MAX)
        return dvi_fail_plain(err, DEVIMG_IO, name, "too large for this machine's addresses");
    const size_t size = (size_t)info.st_size;
    if (size == 0) {
        *out = (struct dvi_file){ .bytes = dvi_view_of(NULL, 0, name) };
        return DEVIMG_OK;
    }
    if (read_whole)
        return read_whole_file(fd, name, size, out, err);
    void *mapping = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (mapping == MAP_FAILED)
        return read_whole_file(fd, name, size, out, err); /* some file systems cannot map */
    guard_add(mapping, size);
    *out = (struct dvi_file){ .bytes = dvi_view_of(mapping, size, name), .mapping = mapping };
    return DEVIMG_OK;
}

enum devimg_status dvi_file_open(const char *path, const char *name, bool read_whole,
                                 struct dvi_file *out, struct devimg_error *err)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return fail_errno(err, name);
    const enum devimg_status status = dvi_file_open_fd(fd, name, read_whole, out, err);
    (void)close(fd);
    return status;
}

void dvi_file_close(struct dvi_file *file)
{
    if (file->mapping != NULL) {
        guard_remove(file->mapping);
        (void)munmap(file->mapping, file->bytes.size);
    }
    free(file->heap);
    *file = (struct dvi_file){ .bytes = dvi_view_of(NULL, 0, NULL) };
}
