/* SPDX-License-Identifier: Apache-2.0 */
/* What AMDGPU code is for, as its header, its metadata and its container say. */
#include <stdio.h>
#include <string.h>

#include "model/model.h"
#include "target/target.h"

static char sign_of(enum dvi_amd_setting setting, const struct devimg_target *row,
                    const char *feature)
{
    switch (setting) {
    case DVI_AMD_ON: return '+';
    case DVI_AMD_OFF: return '-';
    case DVI_AMD_OFF_IF_KNOWN: return strstr(row->features, feature) != NULL ? '-' : 0;
    case DVI_AMD_NONE:
    case DVI_AMD_ANY: break;
    }
    return 0;
}

/* "gfx90a:sramecc+:xnack-", as the header of the code has it. */
static const char *amd_id(const struct devimg_target *row, const struct dvi_image_facts *facts,
                          struct dvi_arena *arena)
{
    const char sramecc = sign_of(facts->sramecc, row, "sramecc");
    const char xnack = sign_of(facts->xnack, row, "xnack");
    char text[40] = "";
    const size_t used =
        sramecc != 0 ? (size_t)snprintf(text, sizeof text, ":sramecc%c", sramecc) : 0;
    if (xnack != 0)
        (void)snprintf(text + used, sizeof text - used, ":xnack%c", xnack);
    return dvi_arena_format(arena, "%s%s", row->name, text);
}

/* AMD code states its processor in its header; its metadata and its container name it again. */
enum devimg_status dvi_name_amd_target(struct devimg_image *image, const struct dvi_placed *placed,
                                       const struct dvi_image_facts *facts, struct dvi_view bytes,
                                       struct dvi_arena *arena, struct devimg_error *err)
{
    const struct devimg_target *row = facts->processor != DEVIMG_UNKNOWN
                                          ? dvi_target_of_machine(facts->processor)
                                          : devimg_target_find(facts->target);
    const char *arch = placed->arch;
    image->target = row != NULL             ? amd_id(row, facts, arena)
                    : facts->target != NULL ? facts->target
                    : facts->processor == DEVIMG_UNKNOWN
                        ? arch
                        : dvi_arena_format(arena, "mach0x%02x", (unsigned)facts->processor);
    if (image->target == NULL && facts->processor != DEVIMG_UNKNOWN)
        return dvi_fail_memory(err, bytes.source);
    const struct devimg_target *own = devimg_target_find(image->target);
    const struct devimg_target *stated = devimg_target_find(facts->target);
    const struct devimg_target *named = devimg_target_find(arch);
    if (own != NULL && stated != NULL && facts->processor != DEVIMG_UNKNOWN && own != stated)
        return dvi_fail(err, DEVIMG_MALFORMED, bytes, 48,
                        "AMDGPU code object whose header is for %s and whose metadata is for %s",
                        own->name, stated->name);
    if (own != NULL && named != NULL && dvi_target_is_amd(own) && dvi_target_is_amd(named) &&
        (own->machine != named->machine || (dvi_amd_settings(own) & dvi_amd_settings(named)) == 0))
        return dvi_refuse_label(image, placed, facts, bytes, err);
    return DEVIMG_OK;
}
