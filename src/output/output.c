/* SPDX-License-Identifier: Apache-2.0 */
#include "output/output.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "output/escape.h"
#include "output/form.h"
#include "output/record.h"

void dvi_complain(const struct devimg_error *err)
{
    fputs("devimg: ", stderr);
    if (err->source[0] != '\0') {
        dvi_escape(stderr, err->source);
        if (err->offset != DEVIMG_UNKNOWN)
            fprintf(stderr, "+0x%" PRIx64, err->offset);
        fputs(": ", stderr);
    }
    dvi_escape(stderr, err->text);
    putc('\n', stderr);
}

void dvi_output_begin(struct dvi_output *out)
{
    if (!out->json)
        return;
    out->j = dvi_json_to(out->file);
    dvi_json_object(&out->j, NULL, DVI_JSON_LINES);
    dvi_json_text(&out->j, "schema", "devimg/1");
    dvi_json_array(&out->j, "files", DVI_JSON_LINES);
}

void dvi_output_worst(struct dvi_output *out, enum dvi_exit status)
{
    if (status > out->worst)
        out->worst = status;
}

void dvi_output_memory(struct dvi_output *out)
{
    fputs("devimg: out of memory: the answer is not complete\n", stderr);
    dvi_output_worst(out, DVI_EXIT_UNREADABLE);
}

bool dvi_output_failing(const struct dvi_output *out, const struct dvi_findings *findings)
{
    return findings->severities[DEVIMG_ERROR] > 0 ||
           (out->strict && findings->severities[DEVIMG_WARNING] > 0);
}

void dvi_output_count(struct dvi_output *out, const struct dvi_findings *findings)
{
    out->note_count += findings->severities[DEVIMG_NOTE];
    out->warning_count += findings->severities[DEVIMG_WARNING];
    out->error_count += findings->severities[DEVIMG_ERROR];
    if (dvi_output_failing(out, findings))
        dvi_output_worst(out, DVI_EXIT_FINDINGS);
}

void dvi_output_damage(struct dvi_output *out, const struct devimg_file *file)
{
    for (uint32_t r = 0; r < devimg_record_count(file); r++)
        if (devimg_record_at(file, r)->status >= DEVIMG_RECORD_DAMAGED)
            dvi_output_worst(out, DVI_EXIT_FINDINGS);
}

void dvi_output_heading(struct dvi_output *out, const char *path)
{
    if (out->file_count++ > 0 && !out->quiet)
        putc('\n', out->file);
    dvi_escape(out->file, path);
    fputs(": ", out->file);
}

static void unreadable_json(struct dvi_output *out, const char *path,
                            const struct devimg_error *err)
{
    const struct devimg_finding finding = {
        .rule = "unreadable",
        .code = devimg_status_name(err->status),
        .severity = DEVIMG_ERROR,
        .record = DEVIMG_NONE,
        .module = DEVIMG_NONE,
        .image = DEVIMG_NONE,
        .offset = err->offset,
        .message = err->text,
    };
    struct dvi_finding_ref ref = { .finding = &finding };
    const struct dvi_findings findings = { .items = &ref, .count = 1 };
    size_t at = 0;
    dvi_json_object(&out->j, NULL, DVI_JSON_LINES);
    dvi_json_record_head(&out->j, path, NULL);
    if (out->verdict) {
        dvi_json_text(&out->j, "verdict", "fail");
    } else {
        dvi_json_images(&out->j, NULL, NULL);
        dvi_json_modules(&out->j, NULL, NULL);
    }
    dvi_findings_json(out, NULL, 0, &findings, &at);
    dvi_json_end(&out->j);
}

void dvi_output_unreadable(struct dvi_output *out, const char *path, const struct devimg_error *err)
{
    out->record_count++;
    out->error_count++;
    dvi_output_worst(out, DVI_EXIT_UNREADABLE);
    if (out->json) {
        unreadable_json(out, path, err);
        return;
    }
    fputs("devimg: ", stderr);
    dvi_escape(stderr, path);
    fputs(": cannot read: ", stderr);
    if (err->offset != DEVIMG_UNKNOWN && err->offset != 0)
        fprintf(stderr, "+0x%" PRIx64 ": ", err->offset);
    dvi_escape(stderr, err->text);
    putc('\n', stderr);
}

static void summary_json(struct dvi_output *out)
{
    dvi_json_end(&out->j); /* of files, or of findings that belong to none */
    dvi_json_object(&out->j, "summary", DVI_JSON_ONE_LINE);
    dvi_json_number(&out->j, "files", out->record_count);
    dvi_json_number(&out->j, "errors", out->error_count);
    dvi_json_number(&out->j, "warnings", out->warning_count);
    dvi_json_number(&out->j, "notes", out->note_count);
    if (out->verdict)
        dvi_json_text(&out->j, "verdict", out->worst == DVI_EXIT_OK ? "pass" : "fail");
    dvi_json_end(&out->j);
    dvi_json_end(&out->j);
}

enum dvi_exit dvi_output_close(FILE *file)
{
    errno = 0;
    const bool failed = ferror(file) != 0;
    if (fclose(file) == 0 && !failed)
        return DVI_EXIT_OK;
    if (errno != EPIPE) /* the reader of a pipe has seen enough: nothing to tell */
        fprintf(stderr, "devimg: the output could not be written: %s\n",
                errno != 0 ? strerror(errno) : "write error");
    return DVI_EXIT_UNREADABLE;
}

enum dvi_exit dvi_output_end(struct dvi_output *out)
{
    if (out->json)
        summary_json(out);
    dvi_output_worst(out, dvi_output_close(out->file));
    return out->worst;
}
