/* SPDX-License-Identifier: Apache-2.0 */
/* Findings, from reading or from checking, as text and as JSON. */
#ifndef DVI_OUTPUT_FINDINGS_H
#define DVI_OUTPUT_FINDINGS_H

#include "output/output.h"

struct dvi_finding_ref {
    const struct devimg_finding *finding;
    uint32_t record; /* of the finding; 0 where it has none */
    uint32_t at;     /* place among the findings */
};

struct dvi_findings {
    struct dvi_finding_ref *items; /* by record, then as they came */
    size_t count;
    uint32_t severities[DEVIMG_ERROR + 1];
};

/** @return false: out of memory. */
bool dvi_findings_of_file(const struct devimg_file *file, struct dvi_findings *out);
bool dvi_findings_of_report(const struct devimg_report *report, uint32_t first, uint32_t count,
                            struct dvi_findings *out);
/** Those of the file, and of images [first, first + count) that could not be written. */
bool dvi_findings_of_extraction(const struct devimg_file *file,
                                const struct devimg_extraction *extraction, uint32_t first,
                                uint32_t count, struct dvi_findings *out);
void dvi_findings_free(struct dvi_findings *findings);

/** Errors first; findings that differ only in their place are folded unless -v. `file` may be NULL:
 *  findings of the policy. False: out of memory. */
bool dvi_findings_print(const struct dvi_output *out, const struct devimg_file *file,
                        const struct dvi_findings *findings);

/** ", 2 errors, 1 note"; nothing where there are none. */
void dvi_print_severities(FILE *file, const struct dvi_findings *findings);
/** One finding, with the object left open; `record` NULL: it is of none. */
void dvi_finding_json_open(struct dvi_json *j, const struct devimg_record *record,
                           const struct devimg_finding *f);
/** The findings of record `index` from `*at` on, as "findings": [...]; moves `*at` past them. */
void dvi_findings_json(struct dvi_output *out, const struct devimg_file *file, uint32_t index,
                       const struct dvi_findings *findings, size_t *at);
/** The same, with the array left open. */
void dvi_findings_json_open(struct dvi_output *out, const struct devimg_file *file, uint32_t index,
                            const struct dvi_findings *findings, size_t *at);

#endif
