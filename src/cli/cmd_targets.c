/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"
#include "target/target.h"

static enum devimg_status add_all(struct dvi_target_set *set, struct devimg_error *err)
{
    const struct devimg_target *t = NULL;
    for (uint32_t i = 0; (t = devimg_target_at(i)) != NULL; i++) {
        const struct devimg_target **added = DVI_ADD(&set->known);
        if (added == NULL)
            return dvi_fail_memory(err, "targets");
        *added = t;
    }
    return DEVIMG_OK;
}

static enum devimg_status add_words(struct dvi_line *line, struct dvi_target_set *set,
                                    struct devimg_error *err)
{
    for (size_t i = 0; i < line->words.count; i++)
        DVI_TRY(dvi_target_set_add(set, line->words.items[i], &line->arena, err));
    return DEVIMG_OK;
}

static enum dvi_exit run(struct dvi_line *line)
{
    struct dvi_target_set set = { 0 };
    struct devimg_error err = { 0 };
    enum dvi_exit status = DVI_EXIT_UNREADABLE;
    const enum devimg_status st =
        line->words.count > 0 ? add_words(line, &set, &err) : add_all(&set, &err);
    if (st != DEVIMG_OK)
        dvi_complain(&err);
    else if (set.known.count + set.unknown.count == 0)
        status = dvi_usage(line->command, "name a target, or give no word for all");
    else
        status = dvi_output_targets(&line->out, set.known.items, set.known.count, set.unknown.items,
                                    set.unknown.count);
    dvi_target_set_free(&set);
    return status;
}

const struct dvi_command dvi_command_targets = {
    .name = "targets",
    .words = "[T]...",
    .summary = "the tables: names, IP versions, sub-group sizes, products",
    .text = "A row a target: its name, IP version, the sub-group sizes it accepts, whether it has "
            "double precision, its family, other names of the same IP version and products. "
            "Without a name, every target; with names, those: any spelling that other commands "
            "accept, several between commas, a family or a set such as default-intel. Names that "
            "no table has are all reported at once, with near ones, and make the exit status 1.",
    .unlisted = DVI_UNLISTED(DVI_OPTION_QUIET) | DVI_UNLISTED(DVI_OPTION_VERBOSE),
    .exits = {
        "every name is known",
        "a name is not known",
        "wrong usage: stderr says what",
        "the answer could not be written",
    },
    .examples =
        "devimg targets\tEvery target.\n"
        "devimg targets acm-g10 20.1.4 default-intel\tWhat names, versions and sets mean.\n",
    .run = run,
};
