/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files as views: mapped, or read into memory; and writing one whole or not at all. The only
 * code that opens input files. */
#ifndef DVI_BASE_FILE_H
#define DVI_BASE_FILE_H

#include <stdio.h>

#include "base/view.h"

struct dvi_file {
    struct dvi_view bytes;
    void *mapping; /* NULL: `bytes` are on the heap, or empty */
    void *heap;
};

/**
 * Map or read a regular file. A FIFO, device, socket or folder is DEVIMG_IO and never blocks.
 * @param name        for messages; must outlive the file
 * @param read_whole  read into memory, so that no later access can fault
 */
DEVIMG_CHECKED enum devimg_status dvi_file_open(const char *path, const char *name, bool read_whole,
                                                struct dvi_file *out, struct devimg_error *err);
/** The same for an open descriptor, which stays the caller's. */
DEVIMG_CHECKED enum devimg_status dvi_file_open_fd(int fd, const char *name, bool read_whole,
                                                   struct dvi_file *out, struct devimg_error *err);
/** True when the mapping was cut while it was read: what lies past the cut was read as zeros.
 *  Only told in a program that called dvi_guard_mappings(). */
bool dvi_file_was_cut(const struct dvi_file *file);
void dvi_file_close(struct dvi_file *file);

/**
 * May `path` be replaced or removed? OK when there is nothing yet, or a regular file that is empty
 * or starts with `mark`, as every file that devimg writes does. IO for a device, a folder, and a
 * file of somebody else's: a slip on the command line must not cost a library.
 */
DEVIMG_CHECKED enum devimg_status dvi_file_is_ours(const char *path, const char *mark,
                                                   struct devimg_error *err);

/**
 * Write a file and put it in the place of `path`: at first beside it, then renamed, so that `path`
 * is there whole or as it was.
 * @param mark  how the content starts; see dvi_file_is_ours()
 * @param fill  writes the content; what the FILE itself failed at need not be told by it
 * @return what `fill` returns when that is not OK; DEVIMG_IO, DEVIMG_NOMEM.
 */
DEVIMG_CHECKED enum devimg_status dvi_file_replace(
    const char *path, const char *mark,
    enum devimg_status (*fill)(FILE *file, const void *context, struct devimg_error *err),
    const void *context, struct devimg_error *err);

/**
 * For a program, not for a library: answer SIGBUS inside a mapped file with zero pages, so that a
 * file that shrinks while it is read gives a finding instead of killing the process.
 */
void dvi_guard_mappings(void);

#endif
