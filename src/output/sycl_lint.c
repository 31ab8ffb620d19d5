/* SPDX-License-Identifier: Apache-2.0 */
/* `devimg sycl lint`: findings as "file:line:column: severity: text [code]", as compilers do. */
#include <inttypes.h>
#include <string.h>

#include "base/compare.h"
#include "output/escape.h"
#include "output/form.h"
#include "output/record.h"
#include "output/sycl.h"
#include "output/text.h"
#include "sycl/source_lint.h"

enum { MOST_SHOWN = 50 };

/* ---- JSON ---- */

static void path_json(struct dvi_json *j, const char *path)
{
    dvi_json_text(j, "path", path);
    if (path != NULL)
        dvi_json_path_hex(j, path, NULL);
    else
        dvi_json_null(j, "path_hex");
}

static void targets_json(struct dvi_json *j, const struct dvi_size_finding *f)
{
    dvi_json_array(j, "targets", DVI_JSON_ONE_LINE);
    for (uint32_t i = 0; i < f->target_count; i++)
        dvi_json_text(j, NULL, f->targets[i]->name);
    dvi_json_end(j);
    dvi_json_array(j, "families", DVI_JSON_ONE_LINE);
    for (uint32_t i = 0; i < f->target_count; i++) {
        bool told = f->targets[i]->family == NULL;
        for (uint32_t k = 0; k < i; k++)
            told = told || dvi_compare_text(f->targets[k]->family, f->targets[i]->family) == 0;
        if (!told)
            dvi_json_text(j, NULL, f->targets[i]->family);
    }
    dvi_json_end(j);
}

static void place_json(struct dvi_json *j, uint64_t line, uint64_t column)
{
    dvi_json_number(j, "line", line > 0 ? line : DEVIMG_UNKNOWN);
    dvi_json_number(j, "column", column > 0 ? column : DEVIMG_UNKNOWN);
}

static void finding_json(struct dvi_json *j, const struct dvi_size_finding *f)
{
    dvi_finding_json_open(j, NULL, &f->finding);
    path_json(j, f->finding.unit);
    place_json(j, f->line, f->column);
    dvi_json_text(j, "text", f->text);
    dvi_json_number(j, "size", f->size);
    targets_json(j, f);
    dvi_json_end(j);
}

static void unread_json(struct dvi_json *j, const struct dvi_size_unread *unread)
{
    const struct dvi_size_finding f = {
        .finding = { .rule = "unreadable",
                     .code = devimg_status_name(unread->error.status),
                     .severity = DEVIMG_ERROR,
                     .record = DEVIMG_NONE,
                     .module = DEVIMG_NONE,
                     .image = DEVIMG_NONE,
                     .unit = unread->path,
                     .offset = unread->error.offset,
                     .message = unread->error.text },
        .size = DEVIMG_UNKNOWN,
    };
    finding_json(j, &f);
}

static void seen_json(struct dvi_json *j, const struct dvi_size_lint *lint,
                      const struct dvi_size_seen *seen)
{
    dvi_json_object(j, NULL, DVI_JSON_ONE_LINE);
    path_json(j, lint->paths[seen->source]);
    place_json(j, seen->line, seen->column);
    dvi_json_text(j, "form", seen->form);
    dvi_json_text(j, "name", seen->name);
    dvi_json_text(j, "text", seen->text);
    dvi_json_text(j, "state", seen->state);
    dvi_json_array(j, "sizes", DVI_JSON_ONE_LINE);
    for (unsigned i = 0; i < seen->size_count; i++)
        if (seen->sizes[i] >= 0)
            dvi_json_number(j, NULL, (uint64_t)seen->sizes[i]);
        else
            dvi_json_null(j, NULL);
    dvi_json_end(j);
    dvi_json_end(j);
}

static void json(struct dvi_output *out, const struct dvi_size_lint *lint)
{
    struct dvi_json *j = &out->j;
    *j = dvi_json_to(out->file);
    dvi_json_object(j, NULL, DVI_JSON_LINES);
    dvi_json_text(j, "schema", "devimg/1");
    dvi_json_array(j, "list", DVI_JSON_ONE_LINE);
    for (size_t i = 0; i < lint->target_count; i++)
        dvi_json_text(j, NULL, lint->targets[i]->name);
    dvi_json_end(j);
    dvi_json_bool(j, "default_list", lint->is_default);
    dvi_json_sizes(j, "sub_group_sizes", lint->any || lint->not_known ? 0 : lint->allowed);
    dvi_json_number(j, "sources", lint->source_count);
    dvi_json_number(j, "required", lint->request_count);
    dvi_json_number(j, "of_parameters", lint->parameter_count);
    dvi_json_array(j, "requests", DVI_JSON_LINES);
    for (size_t i = 0; i < lint->seen.count; i++)
        seen_json(j, lint, &lint->seen.items[i]);
    dvi_json_end(j);
    dvi_json_array(j, "findings", DVI_JSON_LINES);
    for (size_t i = 0; i < lint->findings.count; i++)
        finding_json(j, &lint->findings.items[i]);
    for (size_t i = 0; i < lint->unread.count; i++)
        unread_json(j, &lint->unread.items[i]);
    dvi_json_end(j);
    dvi_json_object(j, "summary", DVI_JSON_ONE_LINE);
    dvi_json_number(j, "files", lint->source_count);
    dvi_json_number(j, "errors", out->error_count);
    dvi_json_number(j, "warnings", out->warning_count);
    dvi_json_number(j, "notes", out->note_count);
    dvi_json_text(j, "verdict", out->worst == DVI_EXIT_OK ? "pass" : "fail");
    dvi_json_end(j);
    dvi_json_end(j);
}

/* ---- text ---- */

/* "19 targets (default-intel) accept 16, 32" */
static void held_to(const struct dvi_output *out, const struct dvi_size_lint *lint)
{
    char sizes[DVI_SIZES_ROOM];
    if (lint->any) {
        fputs("the policy accepts any size\n", out->file);
        return;
    }
    if (lint->listed) {
        fputs("the policy accepts ", out->file);
    } else {
        dvi_print_count(out->file, lint->target_count, "target");
        fputs(lint->is_default           ? " (default-intel) "
              : lint->sizes.with_default ? " (one device is listed: default-intel counts too) "
                                         : " ",
              out->file);
        fputs(lint->target_count == 1 ? "accepts " : "all accept ", out->file);
    }
    if (lint->not_known)
        fputs("what no table knows", out->file);
    else if (lint->allowed == 0)
        fputs("no size", out->file);
    else
        fputs(dvi_sizes_text(lint->allowed, ", ", sizes), out->file);
    putc('\n', out->file);
}

static void place(FILE *file, const char *path, uint64_t line, uint64_t column)
{
    dvi_escape(file, path);
    fprintf(file, ":%" PRIu64 ":%" PRIu64 ": ", line, column);
}

static void finding(const struct dvi_output *out, const struct dvi_size_finding *f)
{
    static const enum dvi_style styles[] = { DVI_BOLD, DVI_YELLOW, DVI_RED };
    if (f->source != SIZE_MAX)
        place(out->file, f->finding.unit, f->line, f->column);
    dvi_style_on(out, styles[f->finding.severity]);
    fputs(devimg_severity_name(f->finding.severity), out->file);
    dvi_style_off(out);
    fputs(": ", out->file);
    dvi_escape(out->file, f->finding.message);
    fprintf(out->file, " [%s]\n", f->finding.code);
}

static void findings(const struct dvi_output *out, const struct dvi_size_lint *lint)
{
    const size_t count = lint->findings.count;
    const size_t shown = out->verbose > 0 || count <= MOST_SHOWN ? count : MOST_SHOWN;
    for (size_t i = 0; i < shown; i++) {
        const struct dvi_size_finding *f = &lint->findings.items[i];
        finding(out, f);
        if (f->finding.hint == NULL ||
            (i + 1 < shown &&
             dvi_compare_text(f->finding.hint, lint->findings.items[i + 1].finding.hint) == 0))
            continue;
        fputs("    hint: ", out->file);
        dvi_escape(out->file, f->finding.hint);
        putc('\n', out->file);
    }
    if (shown < count)
        fprintf(out->file, "and %zu more (-v lists them)\n", count - shown);
}

static void requests(const struct dvi_output *out, const struct dvi_size_lint *lint)
{
    for (size_t i = 0; i < lint->seen.count; i++) {
        const struct dvi_size_seen *seen = &lint->seen.items[i];
        place(out->file, lint->paths[seen->source], seen->line, seen->column);
        fprintf(out->file, "%s ", seen->form);
        dvi_escape(out->file, seen->name);
        fputs(" requires ", out->file);
        if (strcmp(seen->state, "parameter") == 0)
            fputs("what uses of its template say", out->file);
        else if (seen->size_count == 0)
            fputs("what is not known", out->file);
        for (unsigned k = 0; k < seen->size_count; k++)
            fprintf(out->file, "%s%" PRId64, k > 0 ? " or " : "", seen->sizes[k]);
        if (seen->text != NULL) {
            fputs(" (", out->file);
            dvi_escape(out->file, seen->text);
            putc(')', out->file);
        }
        putc('\n', out->file);
    }
}

static void text(const struct dvi_output *out, const struct dvi_size_lint *lint)
{
    static const char *const nouns[] = { "note", "warning", "error" };
    const uint64_t counts[] = { out->note_count, out->warning_count,
                                out->error_count - lint->unread.count };
    fputs(out->worst == DVI_EXIT_OK ? "pass, " : "FAIL, ", out->file);
    dvi_print_count(out->file, lint->source_count, "source");
    fputs(", ", out->file);
    dvi_print_count(out->file, lint->request_count, "required size");
    for (int s = DEVIMG_ERROR; s >= 0; s--) {
        if (counts[s] == 0)
            continue;
        fputs(", ", out->file);
        dvi_print_count(out->file, counts[s], nouns[s]);
    }
    if (lint->unread.count > 0)
        fprintf(out->file, ", %zu not read", lint->unread.count);
    putc('\n', out->file);
    if (out->quiet)
        return;
    held_to(out, lint);
    findings(out, lint);
    if (out->verbose > 0)
        requests(out, lint);
}

static void complain(const struct dvi_size_lint *lint)
{
    for (size_t i = 0; i < lint->unread.count; i++) {
        const struct dvi_size_unread *unread = &lint->unread.items[i];
        fputs("devimg: ", stderr);
        dvi_escape(stderr, unread->path);
        fputs(": cannot read: ", stderr);
        if (unread->error.offset != DEVIMG_UNKNOWN && unread->error.offset != 0)
            fprintf(stderr, "+0x%" PRIx64 ": ", unread->error.offset);
        dvi_escape(stderr, unread->error.text);
        putc('\n', stderr);
    }
}

enum dvi_exit dvi_output_size_lint(struct dvi_output *out, const struct dvi_size_lint *lint)
{
    for (size_t i = 0; i < lint->findings.count; i++) {
        const enum devimg_severity severity = lint->findings.items[i].finding.severity;
        out->note_count += severity == DEVIMG_NOTE;
        out->warning_count += severity == DEVIMG_WARNING;
        out->error_count += severity == DEVIMG_ERROR;
    }
    if (out->error_count > 0 || (out->strict && out->warning_count > 0))
        dvi_output_worst(out, DVI_EXIT_FINDINGS);
    out->error_count += lint->unread.count;
    if (lint->unread.count > 0)
        dvi_output_worst(out, DVI_EXIT_UNREADABLE);
    if (out->json)
        json(out, lint);
    else
        text(out, lint);
    complain(lint);
    dvi_output_worst(out, dvi_output_close(out->file));
    return out->worst;
}
