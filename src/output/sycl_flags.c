/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `devimg sycl flags`: words for a compiler, and what is wrong with words.
 * Source of the quoting: llvm/lib/Support/CommandLine.cpp, TokenizeGNUCommandLine and
 * TokenizeWindowsCommandLine; the latter is that of CommandLineToArgvW.
 */
#include "sycl/flags.h"

#include <stdlib.h>
#include <string.h>

#include "base/write.h"
#include "output/escape.h"
#include "output/form.h"
#include "output/sycl.h"
#include "output/text.h"
#include "sycl/flags_lint.h"

/* ---- response files ---- */

/* Inside quotes, a backslash takes the meaning from what follows it. */
static void quote_gnu(FILE *file, const char *word)
{
    putc('"', file);
    for (; *word != '\0'; word++) {
        if (*word == '"' || *word == '\\')
            putc('\\', file);
        putc(*word, file);
    }
    putc('"', file);
}

/* Backslashes are letters, but for those before a quote: those are doubled. */
static void quote_windows(FILE *file, const char *word)
{
    putc('"', file);
    for (;;) {
        const size_t slashes = strspn(word, "\\");
        const char next = word[slashes];
        for (size_t i = 0; i < (next == '"' || next == '\0' ? 2 * slashes : slashes); i++)
            putc('\\', file);
        if (next == '\0')
            break;
        if (next == '"')
            putc('\\', file);
        putc(next, file);
        word += slashes + 1;
    }
    putc('"', file);
}

void dvi_quote_word(FILE *file, const char *word, bool msvc)
{
    if (*word != '\0' && strpbrk(word, msvc ? " \t\r\n\"" : " \t\r\n\v\f\"'\\") == NULL)
        fputs(word, file);
    else if (msvc)
        quote_windows(file, word);
    else
        quote_gnu(file, word);
}

/* A response file has no comments: '#' is a letter of a word. It starts with a line of blanks, which
 * no word is made of and which nobody writes by hand. */
static const char mark[] = " \t \n";

struct response {
    const struct dvi_sycl_words *words;
    bool msvc;
};

static enum devimg_status fill(FILE *file, const void *context, struct devimg_error *err)
{
    const struct response *r = context;
    (void)err;
    fputs(mark, file);
    for (size_t i = 0; i < r->words->list.count; i++) {
        dvi_quote_word(file, r->words->list.items[i], r->msvc);
        putc('\n', file);
    }
    return DEVIMG_OK;
}

enum devimg_status dvi_output_sycl_response(const char *path, const struct dvi_sycl_words *words,
                                            bool msvc, struct devimg_error *err)
{
    const struct response r = { words, msvc };
    return dvi_file_replace(path, mark, fill, &r, err);
}

/* ---- words ---- */

static const char *const keys[] = {
    [DVI_STEP_COMPILE] = "compile",
    [DVI_STEP_LINK] = "link",
    [DVI_STEP_DEVICE_LINK] = "device_link",
};
static const char *const heads[] = {
    [DVI_STEP_COMPILE] = "compile",
    [DVI_STEP_LINK] = "link",
    [DVI_STEP_DEVICE_LINK] = "device-link",
};

static void array_json(struct dvi_json *j, const char *key, const struct dvi_sycl_words *words)
{
    dvi_json_array(j, key, DVI_JSON_ONE_LINE);
    for (size_t i = 0; i < words->list.count; i++)
        dvi_json_text(j, NULL, words->list.items[i]);
    dvi_json_end(j);
}

static void targets_json(struct dvi_json *j, const struct dvi_sycl_targets *targets)
{
    dvi_json_array(j, "targets", DVI_JSON_ONE_LINE);
    for (size_t i = 0; i < targets->list.count; i++)
        dvi_json_text(j, NULL, targets->list.items[i].row->name);
    dvi_json_end(j);
}

static void warnings_json(struct dvi_json *j, const struct dvi_sycl_flags *flags)
{
    dvi_json_array(j, "warnings", DVI_JSON_LINES);
    for (size_t i = 0; i < flags->warnings.count; i++)
        dvi_json_text(j, NULL, flags->warnings.items[i]);
    dvi_json_end(j);
}

static void json(struct dvi_output *out, const struct dvi_sycl_flags *flags,
                 const struct dvi_sycl_unit *units, size_t unit_count, int step)
{
    struct dvi_json *j = &out->j;
    *j = dvi_json_to(out->file);
    dvi_json_object(j, NULL, DVI_JSON_LINES);
    dvi_json_text(j, "schema", "devimg/1");
    for (int s = 0; s < DVI_STEP_COUNT; s++) {
        if (step >= 0 && s != step)
            dvi_json_null(j, keys[s]);
        else
            array_json(j, keys[s], &flags->steps[s]);
    }
    targets_json(j, &flags->targets);
    dvi_json_array(j, "units", DVI_JSON_LINES);
    for (size_t i = 0; i < unit_count; i++) {
        dvi_json_object(j, NULL, DVI_JSON_LINES);
        dvi_json_text(j, "unit", units[i].name);
        array_json(j, "compile", &units[i].flags.steps[DVI_STEP_COMPILE]);
        warnings_json(j, &units[i].flags);
        dvi_json_end(j);
    }
    dvi_json_end(j);
    warnings_json(j, flags);
    dvi_json_end(j);
}

static void text(const struct dvi_output *out, const struct dvi_sycl_flags *flags, int step)
{
    for (int s = 0; s < DVI_STEP_COUNT; s++) {
        if (step >= 0 && s != step)
            continue;
        if (step < 0)
            fprintf(out->file, "%s%s:\n", s > 0 ? "\n" : "", heads[s]);
        for (size_t i = 0; i < flags->steps[s].list.count; i++)
            fprintf(out->file, "%s\n", flags->steps[s].list.items[i]);
    }
}

static void print_warnings(const struct dvi_sycl_flags *flags)
{
    for (size_t i = 0; i < flags->warnings.count; i++) {
        fputs("devimg sycl flags: warning: ", stderr);
        dvi_escape(stderr, flags->warnings.items[i]);
        putc('\n', stderr);
    }
}

enum dvi_exit dvi_output_sycl_flags(struct dvi_output *out, const struct dvi_sycl_flags *flags,
                                    const struct dvi_sycl_unit *units, size_t unit_count, int step,
                                    bool quiet)
{
    print_warnings(flags);
    for (size_t i = 0; i < unit_count && unit_count > 1; i++) /* of one they are those of all */
        print_warnings(&units[i].flags);
    if (out->json)
        json(out, flags, units, unit_count, step);
    else if (!quiet)
        text(out, flags, step);
    dvi_output_worst(out, dvi_output_close(out->file));
    return out->worst;
}

/* ---- lint ---- */

static void lint_json(struct dvi_output *out, const struct dvi_lint *lint)
{
    struct dvi_json *j = &out->j;
    *j = dvi_json_to(out->file);
    dvi_json_object(j, NULL, DVI_JSON_LINES);
    dvi_json_text(j, "schema", "devimg/1");
    dvi_json_number(j, "lines", lint->line_count);
    dvi_json_number(j, "sycl_lines", lint->sycl_count);
    dvi_json_array(j, "findings", DVI_JSON_LINES);
    for (size_t i = 0; i < lint->findings.count; i++) {
        dvi_finding_json_open(j, NULL, &lint->findings.items[i].finding);
        dvi_json_text(j, "file", lint->findings.items[i].finding.unit);
        dvi_json_number(j, "entry", lint->findings.items[i].entry);
        dvi_json_end(j);
    }
    dvi_json_end(j);
    dvi_json_object(j, "summary", DVI_JSON_ONE_LINE);
    dvi_json_number(j, "files", 1);
    dvi_json_number(j, "errors", out->error_count);
    dvi_json_number(j, "warnings", out->warning_count);
    dvi_json_number(j, "notes", out->note_count);
    dvi_json_text(j, "verdict", out->worst == DVI_EXIT_OK ? "pass" : "fail");
    dvi_json_end(j);
    dvi_json_end(j);
}

static void lint_text(struct dvi_output *out, const struct dvi_lint *lint, const char *name,
                      const struct dvi_findings *findings)
{
    dvi_output_heading(out, name);
    fputs(out->worst == DVI_EXIT_OK ? "pass, " : "FAIL, ", out->file);
    dvi_print_count(out->file, lint->line_count, "line");
    fputs(", ", out->file);
    dvi_print_count(out->file, lint->sycl_count, "SYCL line");
    dvi_print_severities(out->file, findings);
    putc('\n', out->file);
    if (!out->quiet && !dvi_findings_print(out, NULL, findings))
        dvi_output_memory(out);
}

enum dvi_exit dvi_output_sycl_lint(struct dvi_output *out, const struct dvi_lint *lint,
                                   const char *name)
{
    struct dvi_findings findings = { 0 };
    if (lint->findings.count > 0)
        findings.items = calloc(lint->findings.count, sizeof *findings.items);
    if (lint->findings.count > 0 && findings.items == NULL) {
        dvi_output_memory(out);
        return out->worst;
    }
    for (size_t i = 0; i < lint->findings.count; i++) {
        const struct devimg_finding *f = &lint->findings.items[i].finding;
        findings.items[findings.count] =
            (struct dvi_finding_ref){ .finding = f, .at = (uint32_t)i };
        findings.severities[f->severity]++;
        findings.count++;
    }
    dvi_output_count(out, &findings);
    if (out->json)
        lint_json(out, lint);
    else
        lint_text(out, lint, name, &findings);
    dvi_findings_free(&findings);
    dvi_output_worst(out, dvi_output_close(out->file));
    return out->worst;
}
