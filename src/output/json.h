/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A streaming JSON writer: what is written is gone, so memory does not grow with the document.
 *
 * A value stands in the innermost open container: with a key in an object, with key NULL in an
 * array. Text of a file may be any bytes: what is no UTF-8 becomes U+FFFD, controls are escaped.
 * Write errors stay in the FILE; dvi_output_close() tells them at the end.
 */
#ifndef DVI_OUTPUT_JSON_H
#define DVI_OUTPUT_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { DVI_JSON_DEPTH = 12 };

/** How the items of a container stand: one a line, or all in one line (and all inside them). */
enum dvi_json_layout { DVI_JSON_LINES, DVI_JSON_ONE_LINE };

struct dvi_json {
    FILE *file;
    unsigned depth;
    struct {
        char close;
        bool one_line, used;
    } level[DVI_JSON_DEPTH];
};

struct dvi_json dvi_json_to(FILE *file);
void dvi_json_object(struct dvi_json *j, const char *key, enum dvi_json_layout layout);
void dvi_json_array(struct dvi_json *j, const char *key, enum dvi_json_layout layout);
/** Close the innermost container; the outermost one ends the document with a newline. */
void dvi_json_end(struct dvi_json *j);
/** NULL is null. */
void dvi_json_text(struct dvi_json *j, const char *key, const char *text);
/** A text in pieces: between the two, the caller writes plain ASCII to the FILE. */
void dvi_json_text_begin(struct dvi_json *j, const char *key);
void dvi_json_text_end(struct dvi_json *j);
/** DEVIMG_UNKNOWN is null. */
void dvi_json_number(struct dvi_json *j, const char *key, uint64_t number);
/** DEVIMG_NONE is null. */
void dvi_json_index(struct dvi_json *j, const char *key, uint32_t index);
void dvi_json_bool(struct dvi_json *j, const char *key, bool yes);
void dvi_json_null(struct dvi_json *j, const char *key);

#endif
