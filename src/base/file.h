/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files as views: mapped, or read into memory. The only code that opens input files. */
#ifndef DVI_BASE_FILE_H
#define DVI_BASE_FILE_H

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
 * For a program, not for a library: answer SIGBUS inside a mapped file with zero pages, so that a
 * file that shrinks while it is read gives a finding instead of killing the process.
 */
void dvi_guard_mappings(void);

#endif
