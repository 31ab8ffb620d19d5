/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `ocloc ids NAME`: device IP versions, one a line, after a line that ends in "ids:".
 * Source: measured with ocloc 22.43 ("Matched ids:\n12.55.8\n"; "Unknown acronym" and exit 226 for an
 * unknown name, "Invalid option (arg 1)" and the same for an unknown command); intel/compute-runtime
 * shared/offline_compiler/source/ocloc_api.cpp, ocloc_error_code.h (INVALID_COMMAND_LINE is -5150,
 * of which an exit status keeps 226).
 */
#include "check/ocloc.h"

#include <string.h>

#include "base/run.h"
#include "base/text.h"
#include "image/image.h"

enum { MOST_OUTPUT = 64 * 1024, INVALID_COMMAND_LINE = 226 };

/* False: more of them than any ocloc names. */
static bool take_ips(struct dvi_view text, struct dvi_ocloc_answer *out)
{
    bool after_mark = false;
    struct dvi_view line = { 0 }, word = { 0 };
    while (dvi_next_line(&text, &line)) {
        while (dvi_next_field(&line, ' ', &word)) {
            uint64_t ip = 0;
            const bool is_ip = after_mark && dvi_ip_of_text(word, '.', &ip);
            if (is_ip && out->ip_count == DVI_MOST_IPS)
                return false;
            if (is_ip)
                out->ips[out->ip_count++] = ip;
            after_mark = after_mark || dvi_ends_with(word, "ids:");
        }
    }
    return true;
}

/* The same exit status says that the name is unknown, and that there is no `ids`: then the words
 * are those of an option. */
static bool says_unknown(const struct dvi_ran *ran)
{
    static const char no_ids[] = "Invalid option";
    return ran->exit_code == INVALID_COMMAND_LINE && strstr(ran->output, no_ids) == NULL &&
           strstr(ran->errors, no_ids) == NULL;
}

static enum devimg_status judge(const char *program, const char *name, unsigned seconds,
                                const struct dvi_ran *ran, struct dvi_ocloc_answer *out,
                                struct devimg_error *err)
{
    const bool fits =
        !ran->cut && take_ips(dvi_view_of(ran->output, ran->output_size, program), out);
    if (!ran->timed_out && fits && ran->exit_code == 0 && out->ip_count > 0)
        return DEVIMG_OK;
    out->ip_count = 0;
    if (!ran->timed_out && fits && says_unknown(ran))
        return DEVIMG_OK;
    out->no_answer = true;
    if (ran->timed_out)
        return dvi_fail_plain(err, DEVIMG_IO, program, "ids %s: no answer within %u s", name,
                              seconds);
    if (!fits)
        return dvi_fail_plain(err, DEVIMG_IO, program, "ids %s: prints more than any ocloc does",
                              name);
    if (ran->exit_code < 0)
        return dvi_fail_plain(err, DEVIMG_IO, program, "ids %s: ended by a signal", name);
    return dvi_fail_plain(err, DEVIMG_IO, program,
                          "ids %s: exit status %d and no IP version: is this an ocloc?", name,
                          ran->exit_code);
}

enum devimg_status dvi_ocloc_ids(const char *program, const char *folder, const char *name,
                                 unsigned seconds, struct dvi_ocloc_answer *out,
                                 struct devimg_error *err)
{
    const char *const argv[] = { program, "ids", name, NULL };
    struct dvi_ran ran = { 0 };
    *out = (struct dvi_ocloc_answer){ 0 };
    DVI_TRY(dvi_run_in(folder, argv, seconds, MOST_OUTPUT, &ran, err));
    const enum devimg_status st = judge(program, name, seconds, &ran, out, err);
    dvi_ran_free(&ran);
    return st;
}
