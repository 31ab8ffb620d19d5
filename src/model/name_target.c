/* SPDX-License-Identifier: Apache-2.0 */
/* What an image is for: as its container labels it and as it says itself, which must agree. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/model.h"
#include "target/target.h"

bool dvi_is_portable_label(const char *entry_id)
{
    static const char *const labels[] = { "spir64", "spirv64", "spir", "spirv32" };
    if (entry_id == NULL)
        return false;
    if (strncmp(entry_id, "sycl-", 5) == 0)
        entry_id += 5;
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        const size_t size = strlen(labels[i]);
        if (strncmp(entry_id, labels[i], size) == 0 &&
            (entry_id[size] == 0 || entry_id[size] == '-'))
            return true;
    }
    return false;
}

const struct devimg_target *dvi_target_of_label(const char *entry_id)
{
    char name[64];
    if (entry_id == NULL)
        return NULL;
    if (strncmp(entry_id, "sycl-", 5) == 0)
        entry_id += 5;
    const struct devimg_target *whole = devimg_target_find(entry_id);
    if (whole != NULL)
        return whole;
    const size_t size = strcspn(entry_id, "-");
    if (size >= sizeof name)
        return NULL;
    memcpy(name, entry_id, size);
    name[size] = 0;
    return devimg_target_find(name);
}

/* The IP version of an ocloc member's name ("64.12.55.8"); UNKNOWN for "64.dg2" and others. */
static uint64_t ip_of_member(const char *entry_id)
{
    uint64_t ip = 0;
    if (entry_id == NULL ||
        (strncmp(entry_id, "64.", 3) != 0 && strncmp(entry_id, "32.", 3) != 0) ||
        !dvi_ip_of_text(dvi_view_of(entry_id + 3, strlen(entry_id + 3), NULL), '.', &ip))
        return DEVIMG_UNKNOWN;
    return ip;
}

/* A core family names a target where all of it is one product family. */
static const struct devimg_target *target_of_family(const struct dvi_image_facts *facts)
{
    if (facts->product_family != DEVIMG_UNKNOWN)
        return dvi_target_of_product_family(facts->product_family);
    return dvi_target_of_core_family(facts->core_family, 1) == NULL
               ? dvi_target_of_core_family(facts->core_family, 0)
               : NULL;
}

/* "names no product, only core family 0xc07 (dg2-g10, mtl-u, arl-h), stepping 8" */
static const char *note_of_core_family(const struct dvi_image_facts *facts, struct dvi_arena *arena)
{
    char names[256] = "", stepping[32] = "";
    size_t used = 0;
    const struct devimg_target *row = NULL;
    for (size_t i = 0; (row = dvi_target_of_core_family(facts->core_family, i)) != NULL; i++)
        if (used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
                                     i == 0 ? " (" : ", ", row->name);
    if (facts->stepping != DEVIMG_UNKNOWN)
        (void)snprintf(stepping, sizeof stepping, ", stepping %" PRIu64, facts->stepping);
    return dvi_arena_format(arena, "names no product, only core family 0x%" PRIx64 "%s%s%s",
                            facts->core_family, names, used > 0 ? ")" : "", stepping);
}

static bool is_native(enum devimg_format format)
{
    return format == DEVIMG_FORMAT_ZEBIN || format == DEVIMG_FORMAT_PATCHTOKEN;
}

/* A member of an ocloc archive that is named after a target: native code is to stand there. */
static bool is_target_member(const struct devimg_image *image)
{
    return image->parent != DEVIMG_NONE && strcmp(image->bundle, "ocloc") == 0 &&
           image->entry_id != NULL && strcmp(image->entry_id, "generic_ir") != 0;
}

/* The GPU that the container names apart from the image: "64.dg2" of an ocloc archive, the arch of
 * an offload binary or a SYCLBIN. */
static const struct devimg_target *target_of_container(const struct dvi_placed *placed,
                                                       const struct devimg_image *image)
{
    const struct devimg_target *row = devimg_target_find(placed->arch);
    if (is_target_member(image) && strlen(image->entry_id) > 3)
        row = devimg_target_find(image->entry_id + 3);
    return row != NULL &&
                   (row->ip_version != DEVIMG_UNKNOWN || row->product_family != DEVIMG_UNKNOWN)
               ? row
               : NULL;
}

/* Does the image state another GPU than the one its container names? A generic name ("dg2") stands
 * for its product family. */
static bool contradicts(const struct dvi_image_facts *facts, const struct devimg_target *named)
{
    uint64_t family = facts->product_family;
    if (facts->ip_version != DEVIMG_UNKNOWN) {
        const struct devimg_target *row = dvi_target_of_ip_or_former(facts->ip_version);
        if (dvi_target_has_ip(named, facts->ip_version))
            return false;
        if (strcmp(named->kind, "generic") != 0)
            return true;
        family = row != NULL ? row->product_family : DEVIMG_UNKNOWN;
    }
    return family != DEVIMG_UNKNOWN && named->product_family != DEVIMG_UNKNOWN &&
           family != named->product_family;
}

enum devimg_status dvi_refuse_label(const struct devimg_image *image,
                                    const struct dvi_placed *placed,
                                    const struct dvi_image_facts *facts, struct dvi_view bytes,
                                    struct devimg_error *err)
{
    char text[24];
    const char *is_for = image->target != NULL ? image->target : "another GPU";
    if (facts->ip_version != DEVIMG_UNKNOWN) {
        dvi_ip_text(facts->ip_version, text);
        is_for = text;
    }
    if (is_target_member(image))
        return dvi_fail(err, DEVIMG_MALFORMED, bytes, 0,
                        "ocloc archive member \"%s\" holds an image for %s", image->entry_id,
                        is_for);
    return dvi_fail(err, DEVIMG_MALFORMED, bytes, 0,
                    "%s entry of arch \"%s\" holds an image for %s", image->bundle, placed->arch,
                    is_for);
}

/* Name what the code is for: by its own IP version, else by what its container says, else by its
 * family. */
enum devimg_status dvi_name_target(struct devimg_image *image, const struct dvi_placed *placed,
                                   const struct dvi_image_facts *facts, struct dvi_view bytes,
                                   struct dvi_arena *arena, struct devimg_error *err)
{
    const struct devimg_target *arch = devimg_target_find(placed->arch);
    if (image->format == DEVIMG_FORMAT_AMDGPU)
        return dvi_name_amd_target(image, placed, facts, bytes, arena, err);
    if (dvi_is_cuda(image->format))
        return dvi_name_cuda_target(image, placed, facts, bytes, err);
    if (image->format == DEVIMG_FORMAT_SPIRV && arch != NULL &&
        strcmp(arch->kind, "spirv") == 0) { /* of a vendor: "amdgcnspirv" */
        image->target = arch->name;
        return DEVIMG_OK;
    }
    if (is_target_member(image) && !is_native(image->format)) {
        image->target = facts->target;
        return dvi_fail(err, DEVIMG_MALFORMED, bytes, 0,
                        "ocloc archive member \"%s\" holds %s, no native code", image->entry_id,
                        devimg_format_name(image->format));
    }
    const uint64_t member_ip =
        is_target_member(image) ? ip_of_member(image->entry_id) : DEVIMG_UNKNOWN;
    const struct devimg_target *named = is_native(image->format) && member_ip == DEVIMG_UNKNOWN
                                            ? target_of_container(placed, image)
                                            : NULL;
    const bool refused = named != NULL && contradicts(facts, named);
    image->ip_version = facts->ip_version != DEVIMG_UNKNOWN ? facts->ip_version : member_ip;
    const struct devimg_target *target = NULL;
    if (image->ip_version != DEVIMG_UNKNOWN) {
        target = dvi_target_of_ip_or_former(image->ip_version);
        if (target == NULL) {
            char text[24];
            dvi_ip_text(image->ip_version, text);
            image->target = dvi_arena_copy(arena, text);
        }
    } else if (!refused) {
        target = named;
    }
    if (target == NULL && image->target == NULL) {
        target = target_of_family(facts);
        image->family_only = target != NULL;
        if (target == NULL && facts->product_family == DEVIMG_UNKNOWN &&
            facts->core_family != DEVIMG_UNKNOWN)
            image->note = dvi_note_both(arena, image->note, note_of_core_family(facts, arena));
    }
    if (target != NULL)
        image->target = target->name;
    else if (image->target == NULL)
        image->target = facts->target;
    if (refused || (facts->ip_version != DEVIMG_UNKNOWN && member_ip != DEVIMG_UNKNOWN &&
                    facts->ip_version != member_ip))
        return dvi_refuse_label(image, placed, facts, bytes, err);
    if (is_target_member(image) && facts->pointer_size != DEVIMG_UNKNOWN &&
        facts->pointer_size != (image->entry_id[0] == '3' ? 4U : 8U))
        return dvi_fail(err, DEVIMG_MALFORMED, bytes, 0,
                        "ocloc archive member \"%s\" holds code for %u-bit hosts", image->entry_id,
                        facts->pointer_size == 4 ? 32U : 64U);
    return DEVIMG_OK;
}
