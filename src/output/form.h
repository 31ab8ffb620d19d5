/* SPDX-License-Identifier: Apache-2.0 */
/* What the forms of output/ share: counting, verdicts, the first line of a file. */
#ifndef DVI_OUTPUT_FORM_H
#define DVI_OUTPUT_FORM_H

#include "output/findings.h"

void dvi_output_worst(struct dvi_output *out, enum dvi_exit status);
/** Out of memory: said on stderr, and in the exit status. */
void dvi_output_memory(struct dvi_output *out);
/** Add findings to the summary and the exit status. */
void dvi_output_count(struct dvi_output *out, const struct dvi_findings *findings);
/** True when the findings make a check fail. */
bool dvi_output_failing(const struct dvi_output *out, const struct dvi_findings *findings);
/** An empty line between files, then "path: "; the caller ends the line. */
void dvi_output_heading(struct dvi_output *out, const char *path);
/** A damaged record makes the exit status FINDINGS. */
void dvi_output_damage(struct dvi_output *out, const struct devimg_file *file);
/** Close the answer; DVI_EXIT_UNREADABLE when it could not be written. */
enum dvi_exit dvi_output_close(FILE *file);
/** The table of `devimg kernels`, also for `devimg list --kernels`. */
void dvi_kernels_print(struct dvi_output *out, const struct devimg_file *file,
                       const struct dvi_kernel_view *view);

#endif
