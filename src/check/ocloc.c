/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `ocloc ids NAME`: device IP versions, one a line, after a line that ends in "ids:".
 * Source: measured with ocloc 22.43 ("Matched ids:\n12.55.8\n"; exit 226 for an unknown name);
 * intel/compute-runtime shared/offline_compiler/source/ocloc_api.cpp.
 */
#include "check/ocloc.h"

#include "base/run.h"
#include "check/policy.h"
#include "image/image.h"

enum { MOST_OUTPUT = 64 * 1024 };

static enum devimg_status take_answer(struct dvi_view text, struct dvi_ocloc_answer *out,
                                      struct devimg_error *err)
{
    bool after_mark = false;
    struct dvi_view line = { 0 }, word = { 0 };
    while (dvi_next_line(&text, &line)) {
        while (dvi_next_field(&line, ' ', &word)) {
            uint64_t ip = 0;
            const bool is_ip = after_mark && dvi_ip_of_text(word, '.', &ip);
            if (is_ip && out->ip_count == DVI_MOST_IPS)
                return dvi_fail_plain(err, DEVIMG_LIMIT, text.source,
                                      "ids: answers with more than %d IP versions", DVI_MOST_IPS);
            if (is_ip)
                out->ips[out->ip_count++] = ip;
            after_mark = after_mark || dvi_ends_with(word, "ids:");
        }
    }
    return DEVIMG_OK;
}

enum devimg_status dvi_ocloc_ask(const char *program, const char *name, unsigned seconds,
                                 struct dvi_ocloc_answer *out, struct devimg_error *err)
{
    const char *const argv[] = { program, "ids", name, NULL };
    struct dvi_ran ran = { 0 };
    DVI_TRY(dvi_run(argv, seconds, MOST_OUTPUT, &ran, err));
    *out = (struct dvi_ocloc_answer){ .exit_code = ran.exit_code, .timed_out = ran.timed_out };
    enum devimg_status st = DEVIMG_OK;
    if (ran.cut || ran.output_size == MOST_OUTPUT)
        st = dvi_fail_plain(err, DEVIMG_LIMIT, program, "ids %s: prints %d bytes or more", name,
                            MOST_OUTPUT);
    else if (ran.exit_code == 0)
        st = take_answer(dvi_view_of(ran.output, ran.output_size, program), out, err);
    dvi_ran_free(&ran);
    return st;
}
