/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Target ids of AMD: a processor, and settings of features that its devices can switch. Code that
 * leaves a feature out runs under either setting.
 * Source: llvm/llvm-project clang/docs/ClangOffloadBundler.rst, "Target ID" and "Compatibility Rules
 * for Bundle Entry ID"; llvm/docs/AMDGPUUsage.rst, "Generic Processors".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/tables.h"
#include "target/target.h"

/* In the order in which a target id names them; the bit of each in the number of a setting. */
static const char *const features[] = { "sramecc", "xnack" };
enum { FEATURES = sizeof features / sizeof features[0], NAME_ROOM = 64 };

/* '+', '-', or 0: the id leaves the feature out. */
struct settings {
    char of[FEATURES];
};

static bool has_feature(const struct devimg_target *target, size_t feature)
{
    return strstr(target->features, features[feature]) != NULL;
}

/* ":xnack+:sramecc-" in any order; false: something else, or a feature twice. */
static bool read_settings(const char *text, struct settings *out)
{
    *out = (struct settings){ { 0 } };
    while (*text != 0) {
        size_t i = 0, size = 0;
        if (*text++ != ':')
            return false;
        for (; i < FEATURES; i++) {
            const char *end = dvi_target_spelled(text, features[i]);
            size = end != NULL ? (size_t)(end - text) : 0;
            if (size > 0 && (*end == '+' || *end == '-'))
                break;
        }
        if (i == FEATURES || out->of[i] != 0)
            return false;
        out->of[i] = text[size];
        text += size + 1;
    }
    return true;
}

static int compare_id(const void *key, const void *item)
{
    return strcmp(key, ((const struct dvi_target_name *)item)->key);
}

const struct devimg_target *dvi_target_of_id(const char *id)
{
    char name[NAME_ROOM];
    struct settings settings;
    const size_t size = strcspn(id, ":");
    if (size >= sizeof name || !read_settings(id + size, &settings))
        return NULL;
    memcpy(name, id, size);
    name[size] = 0;
    const struct devimg_target *row = devimg_target_find(name);
    if (row == NULL)
        return NULL;
    size_t used = (size_t)snprintf(name, sizeof name, "%s", row->name);
    const size_t without = used;
    for (size_t i = 0; i < FEATURES && used < sizeof name; i++)
        if (settings.of[i] != 0)
            used += (size_t)snprintf(name + used, sizeof name - used, ":%s%c", features[i],
                                     settings.of[i]);
    if (used == without || used >= sizeof name)
        return used == without ? row : NULL;
    const struct dvi_target_name *found =
        bsearch(name, dvi_target_ids, dvi_target_id_count, sizeof *dvi_target_ids, compare_id);
    return found != NULL ? &dvi_targets[found->row] : NULL;
}

bool dvi_target_is_amd(const struct devimg_target *target)
{
    return target != NULL && target->machine != DEVIMG_UNKNOWN;
}

static struct settings settings_of(const struct devimg_target *target)
{
    struct settings settings;
    (void)read_settings(target->name + strcspn(target->name, ":"), &settings);
    return settings;
}

/* Those under which each feature is as it is asked for. */
static uint32_t allowed(const struct settings *settings)
{
    uint32_t bits = 0;
    for (unsigned setting = 0; setting < DVI_AMD_SETTINGS; setting++) {
        bool fits = true;
        for (size_t i = 0; i < FEATURES; i++)
            fits = fits &&
                   (settings->of[i] == 0 || (settings->of[i] == '+') == ((setting >> i & 1) != 0));
        bits |= fits ? 1U << setting : 0;
    }
    return bits;
}

uint32_t dvi_amd_settings(const struct devimg_target *target)
{
    const struct settings settings = settings_of(target);
    return dvi_target_is_amd(target) ? allowed(&settings) : 0;
}

/* Is the processor of `target` named in `members`? */
static bool is_member(const struct devimg_target *target, const char *members)
{
    const size_t size = strcspn(target->name, ":");
    for (const char *at = members; *at != 0; at += strspn(at, ",")) {
        const size_t length = strcspn(at, ",");
        if (length == size && strncmp(at, target->name, size) == 0)
            return true;
        at += length;
    }
    return false;
}

uint32_t dvi_amd_served(const struct devimg_target *target, const struct devimg_target *image)
{
    if (!dvi_target_is_amd(target) || !dvi_target_is_amd(image) ||
        (target->machine != image->machine && !is_member(target, image->members)))
        return 0;
    return dvi_amd_settings(target) & dvi_amd_settings(image);
}

const char *dvi_amd_setting_text(const struct devimg_target *target, unsigned setting,
                                 char out[DVI_AMD_SETTING_ROOM])
{
    size_t used = 0;
    *out = 0;
    for (size_t i = 0; i < FEATURES && used < DVI_AMD_SETTING_ROOM; i++)
        if (has_feature(target, i))
            used += (size_t)snprintf(out + used, DVI_AMD_SETTING_ROOM - used, "%s%s%c",
                                     used > 0 ? ":" : "", features[i],
                                     (setting >> i & 1) != 0 ? '+' : '-');
    return out;
}
