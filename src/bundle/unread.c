/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known by its section or its first bytes, and not read yet: said, so that a file that
 * carries it is never called one without device code.
 */
#include <string.h>

#include "bundle/bundle.h"

static const struct {
    const char *section, *what;
} known[] = {
    { ".gnu.offload_lto_.opts", "GCC's offload code before the link" },
    { ".gnu.offload_funcs", "GCC's table of offloaded functions" },
};

/* What starts a file or an archive member. */
static const struct {
    const char *magic;
    size_t size;
    const char *what;
} starts[] = {
    { "\xcf\xfa\xed\xfe", 4, "a Mach-O object" },
    { "\xca\xfe\xba\xbe", 4, "a universal Mach-O file" },
};

const char *dvi_unread_start(struct dvi_view v)
{
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
        if (dvi_starts_with(v, starts[i].magic, starts[i].size))
            return starts[i].what;
    return NULL;
}

static const char *what_is_in(const struct dvi_object *object, const struct dvi_section *section)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (dvi_object_names(object, section, known[i].section))
            return known[i].what;
    return NULL;
}

static bool visit_slim(void *context, const struct dvi_symbol *symbol)
{
    static const char slim[] = "__gnu_lto_slim";
    bool *found = context;
    *found = dvi_starts_with(symbol->name_bytes, slim, sizeof slim);
    return !*found;
}

/* GCC's link-time optimisation without machine code beside it: as host bitcode of LLVM. The symbols
 * are walked once, however many such sections there are. */
static bool is_slim(const struct dvi_object *object, const struct dvi_section *section,
                    enum devimg_answer *slim)
{
    bool found = false;
    if (!dvi_equals(section->name, ".gnu.lto_.opts"))
        return false;
    if (*slim == DEVIMG_MAYBE) {
        (void)dvi_object_each_symbol(object, DVI_SYMBOLS_STATIC, visit_slim, &found);
        *slim = found ? DEVIMG_YES : DEVIMG_NO;
    }
    return *slim == DEVIMG_YES;
}

static enum devimg_status walk_object(struct dvi_object *object, struct dvi_claims *claims,
                                      struct dvi_found *found, struct devimg_error *err)
{
    enum devimg_answer slim = DEVIMG_MAYBE;
    for (size_t i = 0; i < object->section_count; i++) {
        const struct dvi_section *section = &object->sections[i];
        const char *what = is_slim(object, section, &slim)
                               ? "host code before link-time optimisation"
                               : what_is_in(object, section);
        uint64_t at = 0;
        struct dvi_view gap = { 0 };
        if (what == NULL || !dvi_claims_gap(claims, section->data, &at, &gap))
            continue; /* empty, or a descriptor names all of it */
        const enum devimg_status status =
            dvi_fail(err, DEVIMG_UNSUPPORTED, section->data, 0,
                     "%s in section %.*s: this version of devimg does not read it", what,
                     (int)(section->name.size < 40 ? section->name.size : 40),
                     (const char *)section->name.data);
        DVI_TRY(dvi_found_damage(found, status, err));
    }
    return DEVIMG_OK;
}

const struct dvi_bundle dvi_bundle_unread = {
    .name = "unread",
    .walk_object = walk_object,
};
