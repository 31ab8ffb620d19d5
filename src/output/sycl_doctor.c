/* SPDX-License-Identifier: Apache-2.0 */
/* `devimg sycl doctor`: the answer, then a line for each part. */
#include <string.h>

#include "output/escape.h"
#include "output/form.h"
#include "output/sycl.h"
#include "output/text.h"
#include "sycl/doctor.h"

/* --- JSON --- */

static void list_json(struct dvi_json *j, const struct dvi_sycl_targets *t)
{
    dvi_json_array(j, "list", DVI_JSON_ONE_LINE);
    for (size_t i = 0; i < t->list.count; i++)
        dvi_json_text(j, NULL, t->list.items[i].row->name);
    dvi_json_end(j);
}

static void known_json(struct dvi_json *j, const struct dvi_doctor *d)
{
    if (!d->asked) {
        dvi_json_null(j, "known");
        return;
    }
    dvi_json_array(j, "known", DVI_JSON_ONE_LINE);
    for (size_t i = 0; i < d->targets.list.count; i++)
        if (d->targets.list.items[i].known == DEVIMG_YES)
            dvi_json_text(j, NULL, d->targets.list.items[i].row->name);
    dvi_json_end(j);
}

static void unknown_json(struct dvi_json *j, const struct dvi_sycl_targets *t)
{
    dvi_json_array(j, "unknown", DVI_JSON_ONE_LINE);
    for (size_t i = 0; i < t->unknown.count; i++)
        dvi_json_text(j, NULL, t->unknown.items[i].name);
    dvi_json_end(j);
}

static void rows_json(struct dvi_json *j, const struct dvi_doctor *d)
{
    dvi_json_array(j, "parts", DVI_JSON_LINES);
    for (size_t i = 0; i < DVI_DOCTOR_PARTS; i++) {
        const struct dvi_doctor_row *row = &d->rows[i];
        dvi_json_object(j, NULL, DVI_JSON_ONE_LINE);
        dvi_json_text(j, "name", dvi_doctor_names[i]);
        dvi_json_text(j, "state", dvi_doctor_state_name(row->state));
        dvi_json_bool(j, "required", row->required);
        dvi_json_text(j, "program", row->program);
        dvi_json_text(j, "version", row->version);
        dvi_json_text(j, "text", row->text);
        dvi_json_text(j, "remedy", row->remedy);
        dvi_json_end(j);
    }
    dvi_json_end(j);
}

static void json(struct dvi_output *out, const struct dvi_doctor *d)
{
    struct dvi_json *j = &out->j;
    *j = dvi_json_to(out->file);
    dvi_json_object(j, NULL, DVI_JSON_LINES);
    dvi_json_text(j, "schema", "devimg/1");
    dvi_json_text(j, "answer", d->answer);
    dvi_json_text(j, "verdict", d->failed ? "fail" : "pass");
    list_json(j, &d->targets);
    known_json(j, d);
    unknown_json(j, &d->targets);
    dvi_json_text(j, "expected_ocloc", d->expected);
    rows_json(j, d);
    dvi_json_array(j, "warnings", DVI_JSON_LINES);
    for (size_t i = 0; i < d->warnings.count; i++)
        dvi_json_text(j, NULL, d->warnings.items[i]);
    dvi_json_end(j);
    dvi_json_end(j);
}

/* --- text --- */

static enum dvi_style style_of(const struct dvi_doctor_row *row)
{
    return dvi_doctor_fails(row) ? DVI_RED : row->state == DVI_DOCTOR_OK ? DVI_GREEN : DVI_YELLOW;
}

static void print_row(const struct dvi_output *out, const struct dvi_doctor_row *row,
                      const char *name)
{
    fprintf(out->file, "%-8s ", name);
    dvi_style_on(out, style_of(row));
    fprintf(out->file, "%-8s", dvi_doctor_state_name(row->state));
    dvi_style_off(out);
    putc(' ', out->file);
    dvi_escape(out->file, row->text);
    if (row->program != NULL && strcmp(row->program, row->text) != 0) {
        fputs("; ", out->file);
        dvi_escape(out->file, row->program);
    }
    putc('\n', out->file);
    if (row->remedy != NULL) {
        fputs("  hint: ", out->file);
        dvi_escape(out->file, row->remedy);
        putc('\n', out->file);
    }
}

static void text(struct dvi_output *out, const struct dvi_doctor *d)
{
    dvi_style_on(out, DVI_BOLD);
    dvi_escape(out->file, d->answer);
    dvi_style_off(out);
    putc('\n', out->file);
    for (size_t i = 0; i < DVI_DOCTOR_PARTS && !out->quiet; i++)
        print_row(out, &d->rows[i], dvi_doctor_names[i]);
}

/* What fails, where the answer does not show it to a person. */
static void complain(const struct dvi_output *out, const struct dvi_doctor *d)
{
    for (size_t i = 0; i < d->warnings.count; i++) {
        fputs("devimg sycl doctor: warning: ", stderr);
        dvi_escape(stderr, d->warnings.items[i]);
        putc('\n', stderr);
    }
    for (size_t i = 0; i < DVI_DOCTOR_PARTS && (out->json || out->quiet); i++) {
        const struct dvi_doctor_row *row = &d->rows[i];
        if (!dvi_doctor_fails(row))
            continue;
        fprintf(stderr, "devimg sycl doctor: %s is %s: ", dvi_doctor_names[i],
                dvi_doctor_state_name(row->state));
        dvi_escape(stderr, row->text);
        if (row->remedy != NULL) {
            fputs(": ", stderr);
            dvi_escape(stderr, row->remedy);
        }
        putc('\n', stderr);
    }
}

enum dvi_exit dvi_output_sycl_doctor(struct dvi_output *out, const struct dvi_doctor *doctor)
{
    if (out->json)
        json(out, doctor);
    else
        text(out, doctor);
    complain(out, doctor);
    dvi_output_worst(out, doctor->failed ? DVI_EXIT_FINDINGS : DVI_EXIT_OK);
    dvi_output_worst(out, dvi_output_close(out->file));
    return out->worst;
}
