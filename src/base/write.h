/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a file whole or not at all. The only code that writes files. */
#ifndef DVI_BASE_WRITE_H
#define DVI_BASE_WRITE_H

#include <stdio.h>

#include "base/view.h"

/** Writes the content of a file; what the FILE itself failed at need not be told by it. */
typedef enum devimg_status dvi_fill(FILE *file, const void *context, struct devimg_error *err);

/**
 * May `path` be replaced or removed? OK when there is nothing yet, or a regular file that is empty
 * or starts with `mark`, as every file that devimg writes does. IO for a device, a folder, and a
 * file of somebody else's: a slip on the command line must not cost a library.
 */
DEVIMG_CHECKED enum devimg_status dvi_file_is_ours(const char *path, const char *mark,
                                                   struct devimg_error *err);

/**
 * Write a file and put it in the place of `path`, so that `path` is there whole or as it was.
 * @param mark  how the content starts; see dvi_file_is_ours()
 * @return what `fill` returns when that is not OK; DEVIMG_IO, DEVIMG_NOMEM.
 */
DEVIMG_CHECKED enum devimg_status dvi_file_replace(const char *path, const char *mark,
                                                   dvi_fill *fill, const void *context,
                                                   struct devimg_error *err);

typedef bool dvi_is_kind(struct dvi_view file);
/**
 * The same for a binary file, which carries no mark: `path` may hold a file of that kind already,
 * as what a compiler writes.
 * @param kind  for the message, without "a"
 */
DEVIMG_CHECKED enum devimg_status dvi_file_replace_kind(const char *path, dvi_is_kind *is_kind,
                                                        const char *kind, dvi_fill *fill,
                                                        const void *context,
                                                        struct devimg_error *err);

/**
 * Write a file where nothing stands yet, also no link.
 * @param taken  set when something does: IO
 */
DEVIMG_CHECKED enum devimg_status dvi_file_create(const char *path, dvi_fill *fill,
                                                  const void *context, bool *taken,
                                                  struct devimg_error *err);

/** Does `path` hold just what `fill` writes? IO: it cannot be read; else as dvi_file_replace(). */
DEVIMG_CHECKED enum devimg_status dvi_file_holds(const char *path, dvi_fill *fill,
                                                 const void *context, bool *same,
                                                 struct devimg_error *err);
/** dvi_file_replace(), but a file that holds the same already is left as it is, so that nothing is
 *  built anew. */
DEVIMG_CHECKED enum devimg_status dvi_file_update(const char *path, const char *mark,
                                                  dvi_fill *fill, const void *context,
                                                  struct devimg_error *err);

/** A folder that files are written into. Opened once: what becomes of its path later is all one. */
struct dvi_folder {
    int fd;
    bool is_new; /* opening made it */
};

/** Open a folder, or make it; a link to one is not followed. IO. */
DEVIMG_CHECKED enum devimg_status dvi_folder_open(const char *path, struct dvi_folder *out,
                                                  struct devimg_error *err);
void dvi_folder_close(struct dvi_folder *folder);
/** dvi_folder_close(); a folder that opening made at `path`, and that is still empty, is gone. */
void dvi_folder_end(struct dvi_folder *folder, const char *path);

/**
 * Write the file `name` of a folder, which appears there whole or not at all. A link in its place
 * is not followed.
 * @param name   no '/', and neither "." nor ".."
 * @param force  replace a regular file; nothing else is ever replaced
 * @param taken  set when something stands in its place that may not be replaced: IO
 * @return as dvi_file_replace().
 */
DEVIMG_CHECKED enum devimg_status dvi_folder_write(const struct dvi_folder *folder,
                                                   const char *name, bool force, dvi_fill *fill,
                                                   const void *context, bool *taken,
                                                   struct devimg_error *err);

#endif
