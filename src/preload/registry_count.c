/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stand-in for __sycl_register_lib, preloaded into a program: counts what each descriptor holds,
 * tells devimg, and calls the real function where there is one. Nothing is printed, and no memory
 * of the program is kept or changed.
 *
 * The layout is that of src/bundle/dpcpp.c. The descriptor is the program's own memory, so it is
 * read as the runtime reads it; what is no descriptor of a known version is counted as unknown.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/descriptor.h"
#include "preload/registry.h"

#define PUBLIC __attribute__((visibility("default")))

enum { MOST_NAME = 4096 };

typedef void register_function(void *descriptor);
PUBLIC register_function __sycl_register_lib, __sycl_unregister_lib;

static uint16_t u16_at(const uint8_t *at)
{
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static uint32_t u32_at(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static const uint8_t *pointer_at(const uint8_t *at)
{
    const uint8_t *value;
    memcpy((void *)&value, at, sizeof value);
    return value;
}

/* --- what a descriptor holds --- */

/* Its second word is a number where that of the other form is a pointer. */
static bool is_new_entry(const uint8_t *entry, size_t size)
{
    static const uint8_t start[] = { 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 8, 0, 0, 0, 0, 0 };
    return size % DVI_NEW_ENTRY_SIZE == 0 && memcmp(entry, start, sizeof start) == 0;
}

/* Entries of a table [begin, end); UINT64_MAX: it is none. */
static uint64_t count_entries(const uint8_t *pair)
{
    const uint8_t *begin = pointer_at(pair), *end = pointer_at(pair + sizeof begin);
    if (begin == end)
        return 0;
    if (begin == NULL || end < begin)
        return UINT64_MAX;
    const size_t size = (size_t)(end - begin);
    if (size >= DVI_NEW_ENTRY_SIZE && is_new_entry(begin, size))
        return size / DVI_NEW_ENTRY_SIZE;
    return size % DVI_ENTRY_SIZE == 0 ? size / DVI_ENTRY_SIZE : UINT64_MAX;
}

/* All images are of one version, as the runtime reads them. */
static uint64_t entries_of(const uint8_t *image, unsigned version)
{
    return u16_at(image) == version && dvi_image_struct_known(version, image[2]) &&
                   u32_at(image + 4) == 0
               ? count_entries(image + dvi_image_struct_pairs(version) + DVI_PAIR_SIZE)
               : UINT64_MAX;
}

static void count(const uint8_t *descriptor, struct dvi_registry_message *m)
{
    m->images = m->entries = UINT64_MAX;
    if (descriptor == NULL || u16_at(descriptor) != 1 || u32_at(descriptor + 4) != 0)
        return;
    const unsigned images = u16_at(descriptor + 2);
    const uint8_t *image = pointer_at(descriptor + 8);
    if (images > 0 && (image == NULL || !dvi_image_struct_known(u16_at(image), image[2])))
        return;
    const unsigned version = images > 0 ? u16_at(image) : 0;
    m->images = images;
    m->entries = 0;
    for (unsigned i = 0; i < images && m->entries != UINT64_MAX; i++) {
        const uint64_t entries = entries_of(image, version);
        m->entries = entries != UINT64_MAX ? m->entries + entries : entries;
        image += dvi_image_struct_size(version);
    }
}

/* --- telling it --- */

/* What devimg asked to be told by; -1: it did not, or is gone, or this process cannot reach it. */
static int open_told(void)
{
    const char *text = getenv(DVI_REGISTRY_FILE);
    struct stat info;
    unsigned long long numbers[2];
    for (size_t i = 0; i < 2; i++) {
        char *end = NULL;
        if (text == NULL || *text < '0' || *text > '9')
            return -1;
        numbers[i] = strtoull(text, &end, 10);
        text = *end == ':' ? end + 1 : NULL;
    }
    if (text == NULL)
        return -1;
    const int fd = open(text, O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return -1;
    if (fstat(fd, &info) == 0 && info.st_dev == numbers[0] && info.st_ino == numbers[1])
        return fd;
    (void)close(fd);
    return -1;
}

static void tell(struct dvi_registry_message *m, const char *name)
{
    uint8_t bytes[sizeof *m + MOST_NAME];
    const int kept = errno, fd = open_told();
    const size_t size = strnlen(name, MOST_NAME);
    m->magic = DVI_REGISTRY_MAGIC;
    m->process = (uint64_t)getpid();
    m->name_size = size;
    memcpy(bytes, m, sizeof *m);
    memcpy(bytes + sizeof *m, name, size);
    if (fd >= 0 && write(fd, bytes, sizeof *m + size) < 0) {
        /* no memory for it: less is told than there is, never more */
    }
    if (fd >= 0)
        (void)close(fd);
    errno = kept;
}

/* The file that an address of this process lies in; "": none. */
static void place_of(const void *address, struct dvi_registry_message *m, const char **name)
{
    Dl_info info = { 0 };
    *name = "";
    if (dladdr(address, &info) == 0 || info.dli_fbase == NULL)
        return;
    m->place = (uint64_t)((uintptr_t)address - (uintptr_t)info.dli_fbase);
    *name = info.dli_fname != NULL ? info.dli_fname : "";
}

/* Once a program: the constructors of other libraries may run before this one's. */
__attribute__((constructor)) static void tell_start(void)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    struct dvi_registry_message m = { .event = DVI_REGISTRY_STARTED };
    char name[MOST_NAME] = "";
    if (atomic_flag_test_and_set(&told))
        return;
    const ssize_t size = readlink("/proc/self/exe", name, sizeof name - 1);
    name[size > 0 ? size : 0] = '\0';
    tell(&m, name);
}

/* --- the real function --- */

/*
 * The next one after this library's; where the runtime is not among what the program was linked
 * with (a plug-in brought it), that of the file that the descriptor lies in, and of what that was
 * linked with. Who calls is not asked: the call may be the last of its function, and gone.
 */
static register_function *real_function(const char *name, const void *descriptor)
{
    Dl_info info = { 0 };
    union {
        void *object;
        register_function *function;
    } found = { dlsym(RTLD_NEXT, name) };
    if (found.object != NULL || dladdr(descriptor, &info) == 0 || info.dli_fname == NULL)
        return found.function;
    void *handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == NULL)
        return NULL;
    found.object = dlsym(handle, name);
    (void)dlclose(handle); /* it was open before */
    return found.function != __sycl_register_lib && found.function != __sycl_unregister_lib
               ? found.function
               : NULL;
}

void __sycl_register_lib(void *descriptor)
{
    struct dvi_registry_message m = { .event = DVI_REGISTRY_REGISTERED };
    const char *name = NULL;
    register_function *real = real_function("__sycl_register_lib", descriptor);
    tell_start();
    place_of(descriptor, &m, &name);
    count(descriptor, &m);
    tell(&m, name);
    if (real != NULL)
        real(descriptor);
}

void __sycl_unregister_lib(void *descriptor)
{
    register_function *real = real_function("__sycl_unregister_lib", descriptor);
    if (real != NULL)
        real(descriptor);
}
