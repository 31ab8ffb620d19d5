/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What devimg_read_kernels() takes: every image inflated and its kernels read, without opening the
 * file and without output. Measured against zstd_loop, which inflates the same frames and does
 * nothing with them.
 *
 *    decode FILE THREADS
 */
#include <devimg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    struct devimg_file *file = NULL;
    struct devimg_error err;
    struct devimg_opts opts = { .struct_size = sizeof opts };
    if (argc != 3)
        return 2;
    opts.threads = (uint32_t)atoi(argv[2]);
    if (devimg_open(argv[1], &opts, &file, &err) != DEVIMG_OK) {
        fprintf(stderr, "decode: %s: %s\n", err.source, err.text);
        return 3;
    }
    const double start = now();
    const enum devimg_status status = devimg_read_kernels(file, &err);
    const double spent = now() - start;
    printf("%u kernels: %.3f ms\n", devimg_kernel_count(file), spent * 1e3);
    devimg_close(file);
    return status == DEVIMG_OK ? 0 : 1;
}
