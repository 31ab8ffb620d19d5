/* SPDX-License-Identifier: Apache-2.0 */
/* Records of a file as JSON, with the names of docs/json.md. */
#ifndef DVI_OUTPUT_RECORD_H
#define DVI_OUTPUT_RECORD_H

#include "output/findings.h"

/** `index` of the file as an index of a record that holds [first, first + count); else NONE. */
uint32_t dvi_within(uint32_t index, uint32_t first, uint32_t count);

/** Index of an image within its record; NONE stays NONE. */
uint32_t dvi_image_within(const struct devimg_file *file, uint32_t record, uint32_t image);
/** True when rows must say which record they are of. */
bool dvi_has_members(const struct devimg_file *file);
/** The innermost member that a record is; NULL: the file itself. */
const char *dvi_member_of(const struct devimg_file *file, uint32_t record);

/** The members of a record up to "status". `record` NULL: nothing of the file could be read. */
void dvi_json_record_head(struct dvi_json *j, const char *path, const struct devimg_record *record);
/** "path_hex": the bytes where they are no UTF-8, else null; `record` may be NULL. */
void dvi_json_path_hex(struct dvi_json *j, const char *path, const struct devimg_record *record);
void dvi_json_images(struct dvi_json *j, const struct devimg_file *file,
                     const struct devimg_record *record);
void dvi_json_modules(struct dvi_json *j, const struct devimg_file *file,
                      const struct devimg_record *record);
/** Kernels of `record` for which `shown`, one flag a kernel of the file, is set; NULL: all. */
void dvi_json_kernels(struct dvi_json *j, const struct devimg_file *file,
                      const struct devimg_record *record, const uint8_t *shown);
/** Every record of the file, with its images, modules and findings; `kernels`: and those `shown`.
 */
void dvi_json_file(struct dvi_output *out, const struct devimg_file *file, const char *path,
                   const struct dvi_findings *findings, bool kernels, const uint8_t *shown);

/** Sub-group sizes, bit n for 2^n; null for none. */
void dvi_json_sizes(struct dvi_json *j, const char *key, uint32_t sizes);
/** true, false, or null where the file does not tell. */
void dvi_json_answer(struct dvi_json *j, const char *key, enum devimg_answer answer);

#endif
