/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of IGC, behind ocloc or icpx, of clang, nvcc and ptxas:
 *
 *   error: Kernel compiled with required subgroup size 8, which is unsupported on this platform
 *   in kernel: 'k'                                                     ocloc 22.43
 *   [lnl-m] error: in kernel 'k': Kernel compiled with ...             newer; a list of targets
 *   a.cpp:3:5: error: ...        1:2:28: error: ...                    clang; OpenCL C in ocloc
 *   a.cu(12): error: ...         ptxas error   : Entry function 'k' uses too much ...
 *   ptxas a.ptx, line 26; error   : Modifier '.wait' requires .target sm_90 or higher
 *   nvcc fatal   : ...           Error: Cannot get HW Info for device lnl-m.
 *                                Command was: ocloc compile ...    behind every failure of ocloc
 *
 * IGC ends at the first kernel that it refuses for its size, and names no other.
 *
 * Sources: measured with ocloc 22.43, clang 19, nvcc 13; docs/requirements.md S1-28 for the second.
 */
#include "sycl/diagnostics.h"

#include <ctype.h>
#include <string.h>

#include "base/run.h"
#include "base/text.h"

enum { MOST_MESSAGE = 2000 };

struct reader {
    struct dvi_arena *arena, lines; /* what stays; the lines of the log */
    struct dvi_diagnostics *out;
    const char *first;   /* line of the log that says something */
    const char *trailer; /* an error that only says that there were some */
    bool may_name;       /* the next line may name the kernel of the last message */
    bool of_igc;         /* it names a kernel */
};

/* Behind "error:", "ptxas error   :", "nvcc fatal   :" of a line; NULL: it is no error. `*before`:
 * how many bytes stand before the word. */
static const char *behind_error(const char *line, size_t *before)
{
    static const char *const words[] = { "error", "Error", "fatal" };
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        for (const char *at = strstr(line, words[w]); at != NULL; at = strstr(at + 1, words[w])) {
            const char *end = at + strlen(words[w]);
            end += strspn(end, " ");
            if (*end != ':' || (at > line && isalnum((unsigned char)at[-1])))
                continue;
            *before = (size_t)(at - line);
            end++;
            return end + strspn(end, " \t");
        }
    }
    return NULL;
}

static bool starts_with(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool is_trailer(const char *message)
{
    return starts_with(message, "backend compiler failed build") ||
           strstr(message, "compiler command failed") != NULL ||
           starts_with(message, "linker command failed") ||
           starts_with(message, "Ptx assembly aborted due to errors") ||
           strstr(message, "command failed with exit code") != NULL ||
           strstr(message, "command failed due to signal") != NULL;
}

/* "'NAME'" at the start of `text`, behind blanks and a colon, into `out`, which stays NULL where
 * there is none; what follows it goes to `rest`. NOMEM. */
static enum devimg_status quoted(struct reader *r, const char *text, const char **out,
                                 const char **rest, struct devimg_error *err)
{
    text += strspn(text, ": ");
    if (*text != '\'')
        return DEVIMG_OK;
    const char *end = strstr(text + 1, "':");
    if (end == NULL)
        end = strrchr(text + 1, '\'');
    if (end == NULL)
        return DEVIMG_OK;
    if (rest != NULL)
        *rest = end + 1;
    *out = dvi_arena_format(r->arena, "%.*s", (int)(end - text - 1), text + 1);
    return *out != NULL ? DEVIMG_OK : dvi_fail_memory(err, "diagnostics");
}

static uint64_t size_in(const char *message)
{
    static const char *const words[] = { "subgroup size ", "sub-group size ", "sub group size " };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *at = strstr(message, words[i]);
        uint64_t size = 0;
        if (at == NULL)
            continue;
        for (at += strlen(words[i]); isdigit((unsigned char)*at) && size < 100000; at++)
            size = size * 10 + (uint64_t)(*at - '0');
        return size > 0 ? size : DEVIMG_UNKNOWN;
    }
    return DEVIMG_UNKNOWN;
}

/* What stands before the word, when it is a place in a source: "a.cpp:3:5: ", "a.cu(12): ". */
static size_t place_size(const char *line, size_t before)
{
    while (before > 0 && line[before - 1] == ' ')
        before--;
    if (before > 6 && strncmp(line + before - 6, " fatal", 6) == 0) /* "a.h:1:2: fatal error:" */
        before -= 6;
    const bool colon = before > 2 && line[before - 1] == ':' &&
                       (isdigit((unsigned char)line[before - 2]) || line[before - 2] == ')');
    return colon ? before : 0;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Each once: host and device code are read apart, and a kernel may be tried in several ways. The
 * last one goes, when it is whole and was there before. */
static void drop_repeated(struct dvi_diagnostics *out)
{
    if (out->list.count == 0)
        return;
    const size_t last = out->list.count - 1;
    for (size_t i = 0; i < last; i++) {
        const struct dvi_diagnostic *a = &out->list.items[i], *b = &out->list.items[last];
        if (!same_text(a->message, b->message) || !same_text(a->kernel, b->kernel))
            continue;
        out->list.count = last;
        return;
    }
}

static enum devimg_status add(struct reader *r, const char *kernel, const char *message,
                              struct devimg_error *err)
{
    if (message == NULL)
        return dvi_fail_memory(err, "diagnostics");
    drop_repeated(r->out);
    r->may_name = r->out->list.count < DVI_MOST_DIAGNOSTICS;
    if (!r->may_name) {
        r->out->cut = true;
        return DEVIMG_OK;
    }
    struct dvi_diagnostic *added = DVI_ADD(&r->out->list);
    if (added == NULL)
        return dvi_fail_memory(err, "diagnostics");
    *added = (struct dvi_diagnostic){ kernel, size_in(message), message };
    return DEVIMG_OK;
}

/* "in kernel: 'k'", a line behind its error. */
static enum devimg_status name_last(struct reader *r, const char *text, struct devimg_error *err)
{
    const size_t count = r->out->list.count;
    if (!r->may_name || count == 0 || r->out->list.items[count - 1].kernel != NULL)
        return DEVIMG_OK;
    r->of_igc = true;
    return quoted(r, text, &r->out->list.items[count - 1].kernel, NULL, err);
}

static enum devimg_status take_line(struct reader *r, const char *line, struct devimg_error *err)
{
    static const char in_kernel[] = "in kernel", entry[] = "Entry function ";
    size_t before = 0;
    line += strspn(line, " \t");
    if (*line == '[') { /* "[lnl-m] ": which target is known */
        const char *end = strchr(line, ']');
        line = end != NULL && end[1] == ' ' ? end + 2 : line;
    }
    if (*line == '\0')
        return DEVIMG_OK;
    if (r->first == NULL && !starts_with(line, "Command was:")) /* ocloc, which says no more */
        r->first = line;
    if (starts_with(line, in_kernel))
        return name_last(r, line + sizeof in_kernel - 1, err);
    const char *message = behind_error(line, &before), *kernel = NULL;
    if (message == NULL)
        return DEVIMG_OK;
    if (is_trailer(message)) {
        r->trailer = r->trailer != NULL ? r->trailer : message;
        return DEVIMG_OK;
    }
    const size_t place = place_size(line, before);
    if (starts_with(message, in_kernel)) {
        r->of_igc = true;
        DVI_TRY(quoted(r, message + sizeof in_kernel - 1, &kernel, &message, err));
        message += strspn(message, ": ");
    } else if (starts_with(message, entry)) {
        DVI_TRY(quoted(r, message + sizeof entry - 1, &kernel, NULL, err));
    }
    return add(r, kernel,
               place > 0 ? dvi_arena_format(r->arena, "%.*s %s", (int)place, line, message)
                         : dvi_arena_copy(r->arena, message),
               err);
}

static enum devimg_status read_lines(struct reader *r, const char *log, struct devimg_error *err)
{
    struct dvi_view rest = dvi_view_of(log, strlen(log), "log"), line = { 0 };
    while (dvi_next_line(&rest, &line)) {
        const char *text = dvi_arena_text(&r->lines, dvi_head(line, MOST_MESSAGE));
        if (text == NULL)
            return dvi_fail_memory(err, "diagnostics");
        DVI_TRY(take_line(r, text, err));
    }
    drop_repeated(r->out);
    r->out->first_only = r->of_igc && r->out->list.count == 1;
    const char *other = r->trailer != NULL ? r->trailer : r->first;
    return r->out->list.count > 0 || other == NULL
               ? DEVIMG_OK
               : add(r, NULL, dvi_arena_copy(r->arena, other), err);
}

enum devimg_status dvi_diagnostics_read(const char *log, struct dvi_arena *arena,
                                        struct dvi_diagnostics *out, struct devimg_error *err)
{
    struct reader r = { .arena = arena, .out = out };
    const enum devimg_status st = read_lines(&r, log, err);
    dvi_arena_free(&r.lines);
    return st;
}
