/* SPDX-License-Identifier: Apache-2.0 */
/* Text for people: colours, sizes, aligned tables. */
#ifndef DVI_OUTPUT_TEXT_H
#define DVI_OUTPUT_TEXT_H

#include "output/output.h"

enum dvi_style { DVI_BOLD, DVI_RED, DVI_YELLOW, DVI_GREEN };

/** Text between the two stands out where colours are allowed. */
void dvi_style_on(const struct dvi_output *out, enum dvi_style style);
void dvi_style_off(const struct dvi_output *out);

enum { DVI_SIZE_ROOM = 24 };
/** "512 B", "1.2 MiB"; "-" for DEVIMG_UNKNOWN. Returns `buffer`, of DVI_SIZE_ROOM bytes. */
const char *dvi_size_text(uint64_t size, char *buffer);
/** "12.55.8"; NULL for DEVIMG_UNKNOWN. Returns `buffer`, of DVI_SIZE_ROOM bytes. */
const char *dvi_ip_or_null(uint64_t ip_version, char *buffer);
/** "1 image", "2 images". */
void dvi_print_count(FILE *file, uint64_t count, const char *noun);

struct dvi_column {
    const char *head;
    enum { DVI_LEFT, DVI_RIGHT } align;
};

/**
 * A table is told twice, once to measure and once to print, so that it costs no memory. `rows`
 * gives the cells in order; both times the same. The last column is not padded: the longest texts
 * belong there. Of a very long cell elsewhere, the row runs over.
 */
struct dvi_table;
void dvi_table_print(const struct dvi_output *out, const struct dvi_column *columns, size_t count,
                     void (*rows)(struct dvi_table *table, const void *data), const void *data);
/** The next cell; NULL or "" is "-". */
void dvi_cell(struct dvi_table *table, const char *text);
void dvi_cell_number(struct dvi_table *table, uint64_t number);
void dvi_cell_size(struct dvi_table *table, uint64_t size);
void dvi_cell_format(struct dvi_table *table, const char *format, ...) DVI_PRINTF(2, 3);
/** "dg2-g10", or "dg2-g10 (family)" of an image that does not say which of its family; NULL: "-" */
void dvi_target_cell(struct dvi_table *table, const struct devimg_image *image);
/** False while the table is measured: then the text of the last column is not needed. */
bool dvi_table_printing(const struct dvi_table *table);

#endif
