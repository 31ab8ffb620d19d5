/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "output/escape.h"
#include "output/form.h"
#include "output/sycl.h"

/* What to do; NULL: the reason says it. */
static const char *remedy_of(const char *code)
{
    static const struct {
        const char *code, *remedy;
    } remedies[] = {
        { "no-descriptor",
          "give the object that the device link wrote (icx-cl -fsycl -fsycl-link): "
          "it alone holds the descriptor" },
        { "descriptor-undefined", "give the object that defines it: the one of the device link" },
        { "already-defined", "the object has its anchor: use it as it is" },
    };
    for (size_t i = 0; i < sizeof remedies / sizeof *remedies; i++)
        if (strcmp(code, remedies[i].code) == 0)
            return remedies[i].remedy;
    return NULL;
}

static void print_json(const struct dvi_output *out, const struct dvi_anchor_answer *a)
{
    struct dvi_json j = dvi_json_to(out->file);
    const bool anchored = a->done->code == NULL;
    dvi_json_object(&j, NULL, DVI_JSON_LINES);
    dvi_json_text(&j, "schema", "devimg/1");
    dvi_json_bool(&j, "anchored", anchored);
    dvi_json_text(&j, "symbol", a->symbol);
    dvi_json_text(&j, "input", a->input);
    dvi_json_text(&j, "output", anchored ? a->output : NULL);
    dvi_json_number(&j, "section", anchored ? a->done->section : DEVIMG_UNKNOWN);
    dvi_json_number(&j, "value", anchored ? a->done->value : DEVIMG_UNKNOWN);
    dvi_json_array(&j, "errors", DVI_JSON_LINES);
    if (!anchored) {
        dvi_json_object(&j, NULL, DVI_JSON_ONE_LINE);
        dvi_json_text(&j, "code", a->done->code);
        dvi_json_text(&j, "message", a->err->text);
        dvi_json_number(&j, "offset", a->err->offset);
        dvi_json_end(&j);
    }
    dvi_json_end(&j);
    dvi_json_end(&j);
}

static void print_text(const struct dvi_output *out, const struct dvi_anchor_answer *a)
{
    const char *remedy = a->done->code != NULL ? remedy_of(a->done->code) : NULL;
    if (a->done->code == NULL) {
        dvi_escape(out->file, a->output);
        fputs(": ", out->file);
        dvi_escape(out->file, a->symbol);
        fprintf(out->file, " stands at the descriptor (section %" PRIu32 ", offset %" PRIu32 ")\n",
                a->done->section, a->done->value);
        return;
    }
    dvi_escape(out->file, a->input);
    fputs(": no anchor: ", out->file);
    dvi_escape(out->file, a->err->text);
    fprintf(out->file, " [%s]\n", a->done->code);
    if (remedy != NULL)
        fprintf(out->file, "    %s\n", remedy);
}

enum dvi_exit dvi_output_sycl_anchor(struct dvi_output *out, const struct dvi_anchor_answer *answer)
{
    if (out->json)
        print_json(out, answer);
    else
        print_text(out, answer);
    if (answer->done->code != NULL)
        dvi_output_worst(out, DVI_EXIT_FINDINGS);
    dvi_output_worst(out, dvi_output_close(out->file));
    return out->worst;
}
