/* SPDX-License-Identifier: Apache-2.0 */
/* What registry_count.c, inside the program that `devimg sycl registry --run` starts, tells devimg. */
#ifndef DVI_PRELOAD_REGISTRY_H
#define DVI_PRELOAD_REGISTRY_H

#include <stdint.h>

/**
 * The variable that names the file to append to: "DEVICE:INODE:PATH". It lies in devimg's memory, and
 * is opened for each message: the program holds no descriptor of it, which it might close, and use
 * the number for a file of its own. What is at PATH and has other numbers is left alone.
 */
#define DVI_REGISTRY_FILE "DEVIMG_REGISTRY_FILE"
/** The files, which lie beside each other. */
#define DVI_REGISTRY_COUNT "registry-count.so"
#define DVI_REGISTRY_LOAD  "registry-load"

enum dvi_registry_event {
    DVI_REGISTRY_STARTED = 1, /* a program, which `name` is */
    DVI_REGISTRY_REGISTERED,  /* a descriptor of the program or library `name` */
};

enum { DVI_REGISTRY_MAGIC = 0x47525644 }; /* "DVRG" */

/** One write each, so that those of several processes never mix; `name_size` bytes follow. */
struct dvi_registry_message {
    uint32_t magic;
    uint32_t event;
    uint64_t process;
    uint64_t place;   /* of the descriptor, counted from where its file is mapped */
    uint64_t images;  /* UINT64_MAX: no descriptor of a kind that is known */
    uint64_t entries; /* UINT64_MAX: some image is of no known kind */
    uint64_t name_size;
};

#endif
