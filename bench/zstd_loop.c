/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The floor that `devimg kernels` is measured against: libzstd over the same frames, and nothing
 * else. Finds the frames of the __CLANG_OFFLOAD_BUNDLE__* sections of an ELF64 file one after
 * another, and inflates them with THREADS threads, a context and a buffer each.
 *
 *    zstd_loop FILE THREADS
 *
 * Prints frames, stored bytes, inflated bytes and the milliseconds that inflating took. Trusts its
 * input: a bench, no reader.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

struct frame {
    const uint8_t *data;
    size_t stored, size;
};

static struct frame *frames;
static size_t frame_count, frame_room, largest;
static atomic_size_t next_frame;

static uint64_t number(const uint8_t *at, size_t size)
{
    uint64_t value = 0;
    memcpy(&value, at, size);
    return value;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void die(const char *text)
{
    fprintf(stderr, "zstd_loop: %s\n", text);
    exit(1);
}

static void add_frame(const uint8_t *data, size_t stored, unsigned long long size)
{
    if (frame_count == frame_room) {
        frame_room = frame_room * 2 + 1024;
        frames = realloc(frames, frame_room * sizeof *frames);
        if (frames == NULL)
            die("out of memory");
    }
    frames[frame_count++] = (struct frame){ data, stored, (size_t)size };
    if (size > largest)
        largest = (size_t)size;
}

/* Frames stand at multiples of 16; raw images between them are stepped over. */
static void find_frames(const uint8_t *data, size_t size)
{
    for (size_t at = 0; at + 16 <= size;) {
        if (number(data + at, 4) != ZSTD_MAGICNUMBER) {
            at += 16;
            continue;
        }
        const size_t stored = ZSTD_findFrameCompressedSize(data + at, size - at);
        const unsigned long long inflated = ZSTD_getFrameContentSize(data + at, size - at);
        if (ZSTD_isError(stored) || inflated > (1u << 30)) {
            at += 16;
            continue;
        }
        add_frame(data + at, stored, inflated);
        at += (stored + 15) & ~(size_t)15;
    }
}

static void find_sections(const uint8_t *file)
{
    const uint64_t table = number(file + 40, 8);
    const uint64_t step = number(file + 58, 2), count = number(file + 60, 2);
    const uint8_t *names = file + number(file + table + step * number(file + 62, 2) + 24, 8);
    for (uint64_t i = 0; i < count; i++) {
        const uint8_t *header = file + table + step * i;
        const char *name = (const char *)names + number(header, 4);
        if (strncmp(name, "__CLANG_OFFLOAD_BUNDLE__", 24) == 0)
            find_frames(file + number(header + 24, 8), (size_t)number(header + 32, 8));
    }
}

static void *inflate_frames(void *unused)
{
    ZSTD_DCtx *context = ZSTD_createDCtx();
    uint8_t *buffer = malloc(largest + 1);
    (void)unused;
    if (context == NULL || buffer == NULL)
        die("out of memory");
    for (;;) {
        const size_t i = atomic_fetch_add(&next_frame, 1);
        if (i >= frame_count)
            break;
        const struct frame *f = &frames[i];
        if (ZSTD_decompressDCtx(context, buffer, largest + 1, f->data, f->stored) != f->size)
            die("a frame does not inflate to its size");
    }
    free(buffer);
    ZSTD_freeDCtx(context);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[64];
    struct stat st;
    const int fd = argc == 3 ? open(argv[1], O_RDONLY) : -1;
    const int count = argc == 3 ? atoi(argv[2]) : 0;
    if (fd < 0 || fstat(fd, &st) != 0 || count < 1 || count > 64)
        die("usage: zstd_loop FILE THREADS");
    const uint8_t *file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (file == MAP_FAILED || st.st_size < 64 || memcmp(file, "\177ELF\2", 5) != 0)
        die("no ELF64 file");
    find_sections(file);
    const double start = now();
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, inflate_frames, NULL) != 0)
            die("no thread");
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    const double spent = now() - start;
    size_t stored = 0, size = 0;
    for (size_t i = 0; i < frame_count; i++) {
        stored += frames[i].stored;
        size += frames[i].size;
    }
    printf("%zu frames, %zu bytes stored, %zu inflated: %.3f ms\n", frame_count, stored, size,
           spent * 1e3);
    return 0;
}
