/* SPDX-License-Identifier: Apache-2.0 */
/* An examination while it runs: what the parts of the doctor share. */
#ifndef DVI_SYCL_DOCTOR_EXAM_H
#define DVI_SYCL_DOCTOR_EXAM_H

#include "base/run.h"
#include "base/temporary.h"
#include "sycl/doctor.h"

enum { DVI_EXAM_OUTPUT = 64 * 1024, DVI_EXAM_LINE = 200 }; /* bytes kept; bytes of a line shown */

struct dvi_exam {
    const struct dvi_doctor_asked *asked;
    struct dvi_doctor *out;
    struct dvi_temporary folder; /* where programs run; path NULL: none could be made */
    const char *no_folder;       /* why not */
    const char *ocloc;           /* where it is, if it starts; NULL: nothing can be asked */
};

/** For an ocloc that is there, and does not do what it should. */
extern const char dvi_exam_ocloc_remedy[];

/** The verdict of a row; `text` NULL: there was no memory for it. */
DEVIMG_CHECKED enum devimg_status dvi_exam_set(struct dvi_doctor_row *row,
                                               enum dvi_doctor_state state, const char *text,
                                               const char *remedy, struct devimg_error *err);
DEVIMG_CHECKED enum devimg_status dvi_exam_skip(struct dvi_doctor_row *row, const char *why,
                                                struct devimg_error *err);
/** What it wrote, on both outputs, in one line behind ": "; "" where it wrote nothing; NULL: no
 *  memory. */
const char *dvi_exam_words(struct dvi_exam *e, const struct dvi_ran *ran);
/** How a run ended other than well: "WHAT: exit status 3: its words"; NULL: no memory. */
const char *dvi_exam_ended(struct dvi_exam *e, const char *what, const struct dvi_ran *ran);
/** The names with commas between them; NULL: no memory. */
const char *dvi_exam_joined(struct dvi_arena *arena, const char *const *names, size_t count);
/** Find the program of a row. OK with `program` NULL: it is not there, and the row says so. */
DEVIMG_CHECKED enum devimg_status dvi_exam_find(struct dvi_exam *e, enum dvi_doctor_part part,
                                                const char *name, const char *remedy,
                                                struct devimg_error *err);
/** Run the program of a row, in the temporary folder where there is one. OK with `*started` false:
 *  it cannot be started, and the row says so. */
DEVIMG_CHECKED enum devimg_status dvi_exam_try(struct dvi_exam *e, struct dvi_doctor_row *row,
                                               const char *const *argv, const char *remedy,
                                               bool *started, struct dvi_ran *ran,
                                               struct devimg_error *err);

/** Sets `e->ocloc`. */
DEVIMG_CHECKED enum devimg_status dvi_examine_ocloc(struct dvi_exam *e, struct devimg_error *err);
/** After the names of the list: it compiles for one of them where it can. */
DEVIMG_CHECKED enum devimg_status dvi_examine_igc(struct dvi_exam *e, struct devimg_error *err);
DEVIMG_CHECKED enum devimg_status dvi_examine_sycl_ls(struct dvi_exam *e, struct devimg_error *err);
DEVIMG_CHECKED enum devimg_status dvi_examine_compilers(struct dvi_exam *e,
                                                        struct devimg_error *err);

#endif
