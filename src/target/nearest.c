/* SPDX-License-Identifier: Apache-2.0 */
/* "Did you mean": the name of the tables that the fewest typing errors turn into another. */
#include <string.h>

#include "base/nearest.h"
#include "target/tables.h"
#include "target/target.h"

/* Of short names, one wrong letter is all that leaves them recognisable. */
enum { KEY_ROOM = 64, SHORT_KEY = 3, MAX_ERRORS = 2, MAX_SHORT_ERRORS = 1 };

struct best {
    char key[KEY_ROOM];
    size_t errors;    /* fewer than this are better */
    const char *name; /* or NULL */
};

static void consider(struct best *best, const char *key, const char *name)
{
    const size_t errors = dvi_edit_distance(best->key, key);
    if (errors < best->errors) {
        best->errors = errors;
        best->name = name;
    }
}

const char *dvi_target_nearest(const char *name)
{
    if (name == NULL)
        return NULL;
    const char *rest = dvi_target_spelled(name, "intel_gpu_");
    struct best best = { 0 };
    if (!dvi_target_fold(rest != NULL ? rest : name, best.key, sizeof best.key))
        return NULL;
    best.errors = (strlen(best.key) <= SHORT_KEY ? MAX_SHORT_ERRORS : MAX_ERRORS) + 1;
    for (uint32_t i = 0; i < dvi_target_name_count; i++)
        consider(&best, dvi_target_names[i].key, dvi_targets[dvi_target_names[i].row].name);
    for (uint32_t i = 0; i < dvi_target_group_count; i++) {
        char key[KEY_ROOM];
        if (dvi_target_fold(dvi_target_groups[i].name, key, sizeof key))
            consider(&best, key, dvi_target_groups[i].name);
    }
    return best.name;
}
