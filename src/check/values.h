/* SPDX-License-Identifier: Apache-2.0 */
/* Values of a policy's keys, as they stand in a policy file or on the command line. Each of these
 * is MALFORMED, at the spot, when the text is no such value; `key` is named in the message. */
#ifndef DVI_CHECK_VALUES_H
#define DVI_CHECK_VALUES_H

#include "check/policy.h"

struct dvi_word {
    const char *word;
    int value;
};

/** The value of `text` among `words` (ended by a NULL). */
DEVIMG_CHECKED enum devimg_status dvi_value_word(const char *key, const char *text,
                                                 const struct dvi_word *words, int *out,
                                                 const struct dvi_spot *spot,
                                                 struct devimg_error *err);
/** The same for words that stand for a choice. */
DEVIMG_CHECKED enum devimg_status dvi_value_choice(const char *key, const char *text,
                                                   const struct dvi_word *words,
                                                   enum dvi_choice *out,
                                                   const struct dvi_spot *spot,
                                                   struct devimg_error *err);
/** Replace `*out` by the comma-separated list, of portable or of native targets only. NOMEM. */
DEVIMG_CHECKED enum devimg_status dvi_value_targets(struct devimg_policy *policy, const char *key,
                                                    const char *list, bool portable,
                                                    struct dvi_target_set *out,
                                                    const struct dvi_spot *spot,
                                                    struct devimg_error *err);
/** The same for whatever images may be for: native and portable targets, and code for CPUs. */
DEVIMG_CHECKED enum devimg_status dvi_value_images(struct devimg_policy *policy, const char *key,
                                                   const char *list, struct dvi_target_set *out,
                                                   const struct dvi_spot *spot,
                                                   struct devimg_error *err);
/** "16,32" as bits: n for 2^n. */
DEVIMG_CHECKED enum devimg_status dvi_value_sizes(const char *value, uint32_t *out,
                                                  const struct dvi_spot *spot,
                                                  struct devimg_error *err);
/** A path, relative to the folder of the policy file; in the arena of the policy. NOMEM. */
DEVIMG_CHECKED enum devimg_status dvi_value_path(struct devimg_policy *policy, const char *key,
                                                 const char *value, const char **out,
                                                 const struct dvi_spot *spot,
                                                 struct devimg_error *err);

/** The keys below "lint": see lint_keys.c. */
#define DVI_LINT_KEY(name)                                                            \
    DEVIMG_CHECKED enum devimg_status dvi_lint_set_##name(                            \
        struct devimg_policy *policy, const char *value, const struct dvi_spot *spot, \
        struct devimg_error *err)
DVI_LINT_KEY(macros);
DVI_LINT_KEY(templates);
DVI_LINT_KEY(define);
DVI_LINT_KEY(header);
DVI_LINT_KEY(raw);
DVI_LINT_KEY(expected);
#undef DVI_LINT_KEY
void dvi_lint_policy_free(struct dvi_lint_policy *lint);

#endif
