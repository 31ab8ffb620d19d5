/* SPDX-License-Identifier: Apache-2.0 */
/* A policy from its file and from the options that are keys of it. */
#include <string.h>

#include "cli/options.h"

enum dvi_exit dvi_policy_exit(const struct devimg_error *err)
{
    const bool wrong = err->status == DEVIMG_MALFORMED || err->status == DEVIMG_TRUNCATED ||
                       err->status == DEVIMG_UNSUPPORTED;
    return wrong ? DVI_EXIT_USAGE : DVI_EXIT_UNREADABLE;
}

enum dvi_exit dvi_complain_of_list(const struct devimg_error *err)
{
    dvi_complain(err);
    return dvi_policy_exit(err);
}

/* The message without "KEY: " before it, where it names the key, or its last part, so. */
static const char *without_key(const char *text, const char *key)
{
    const char *dot = strrchr(key, '.');
    const char *const names[] = { key, dot != NULL ? dot + 1 : key };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t size = strlen(names[i]);
        if (strncmp(text, names[i], size) == 0 && text[size] == ':')
            return text + size + 1 + strspn(text + size + 1, " ");
    }
    return text;
}

/* Wrong values are said of the option: "--targets: no table has ...". */
static enum dvi_exit refuse(const struct dvi_line *line, const struct dvi_option *option,
                            const struct devimg_error *err)
{
    const bool of_option = strcmp(err->source, option->key) == 0 || err->source[0] == '\0';
    if (dvi_policy_exit(err) != DVI_EXIT_USAGE || !of_option) /* or a file that the option names */
        return dvi_complain_of_list(err);
    return dvi_usage(line->command, "--%s: %s", option->name, without_key(err->text, option->key));
}

enum dvi_exit dvi_line_policy(const struct dvi_line *line, int file_id,
                              struct devimg_policy *policy)
{
    struct devimg_error err = { 0 };
    const struct dvi_setting *file = dvi_line_get(line, file_id);
    if (file != NULL && devimg_policy_load(policy, file->text, &err) != DEVIMG_OK)
        return dvi_complain_of_list(&err);
    for (size_t i = 0; i < line->settings.count; i++) {
        const struct dvi_setting *s = &line->settings.items[i];
        if (s->option->key != NULL &&
            devimg_policy_set(policy, s->option->key, s->text, &err) != DEVIMG_OK)
            return refuse(line, s->option, &err);
    }
    return DVI_EXIT_OK;
}
