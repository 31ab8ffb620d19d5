/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/text.h"
#include "output/escape.h"
#include "target/target.h"

/* clang-format off */
static const struct dvi_option shared[] = {
    { DVI_OPTION_FORMAT, "format", 0, DVI_VALUE_CHOICE, "text|json",
      "text for people (default), or JSON for programs", NULL },
    { DVI_OPTION_COLOR, "color", 0, DVI_VALUE_CHOICE, "auto|always|never",
      "colours: on a terminal unless NO_COLOR is set (default), always, never", NULL },
    { DVI_OPTION_QUIET, "quiet", 'q', DVI_VALUE_NONE, NULL,
      NULL, NULL },
    { DVI_OPTION_VERBOSE, "verbose", 'v', DVI_VALUE_NONE, NULL,
      "fold nothing", NULL },
    { DVI_OPTION_HELP, "help", 'h', DVI_VALUE_NONE, NULL,
      "what a command does and takes", NULL },
    { DVI_OPTION_VERSION, "version", 0, DVI_VALUE_NONE, NULL,
      "the version of devimg", NULL },
};
static const struct dvi_option reading[] = {
    { DVI_OPTION_JOBS, "jobs", 'j', DVI_VALUE_COUNT, "N",
      "workers that inflate and decode (default: DEVIMG_JOBS, else the cores)", NULL },
    { DVI_OPTION_MAX_INFLATED_SIZE, "max-inflated-size", 0, DVI_VALUE_SIZE, "SIZE",
      "most bytes of one inflated image (default " DVI_TEXT(DVI_MOST_INFLATED_MIB) "M)", NULL },
    { DVI_OPTION_MAX_TOTAL_INFLATED_SIZE, "max-total-inflated-size", 0, DVI_VALUE_SIZE, "SIZE",
      "most bytes inflated from one file (default " DVI_TEXT(DVI_MOST_TOTAL_INFLATED_GIB) "G)", NULL },
    { DVI_OPTION_MAX_DEPTH, "max-depth", 0, DVI_VALUE_COUNT, "N",
      "most containers inside containers (default " DVI_TEXT(DVI_MOST_DEPTH) ")", NULL },
    { DVI_OPTION_MAX_MEMBERS, "max-members", 0, DVI_VALUE_COUNT, "N",
      "most members of the archives of one file (default " DVI_TEXT(DVI_MOST_MEMBERS) ")", NULL },
    { DVI_OPTION_MAX_IMAGES, "max-images", 0, DVI_VALUE_COUNT, "N",
      "most images of one file (default " DVI_TEXT(DVI_MOST_IMAGES) ")", NULL },
    { DVI_OPTION_MAX_KERNELS, "max-kernels", 0, DVI_VALUE_COUNT, "N",
      "most kernels of one file (default " DVI_TEXT(DVI_MOST_KERNELS) ")", NULL },
};
/* clang-format on */
enum { SHARED = sizeof shared / sizeof *shared, READING = sizeof reading / sizeof *reading };

/* Whether a command takes a shared option as it is. */
static bool takes(const struct dvi_command *command, const struct dvi_option *option)
{
    for (size_t i = 0; i < command->option_count; i++)
        if (command->options[i].id == option->id)
            return false; /* it has its own */
    return (command->unlisted & DVI_UNLISTED(option->id)) == 0;
}

const struct dvi_option *dvi_option_at(const struct dvi_command *command, size_t index)
{
    if (index < command->option_count)
        return &command->options[index];
    index -= command->option_count;
    for (size_t i = 0; i < SHARED + (command->reads_files ? READING : 0); i++) {
        const struct dvi_option *o = i < SHARED ? &shared[i] : &reading[i - SHARED];
        if (takes(command, o) && index-- == 0)
            return o;
    }
    return NULL;
}

const struct dvi_option *dvi_option_of(const struct dvi_command *command, int id)
{
    const struct dvi_option *o = NULL;
    for (size_t i = 0; (o = dvi_option_at(command, i)) != NULL; i++)
        if (o->id == id)
            return o;
    return NULL;
}

const char *dvi_option_help(const struct dvi_command *command, const struct dvi_option *option)
{
    if (option->help != NULL)
        return option->help;
    return command->reads_files ? "only the first line of each file" /* --quiet */
                                : "only the first line of the answer";
}

enum dvi_exit dvi_complain_unreadable(const struct devimg_error *err)
{
    dvi_complain(err);
    return DVI_EXIT_UNREADABLE;
}

enum dvi_exit dvi_no_memory(void)
{
    fputs("devimg: out of memory\n", stderr);
    return DVI_EXIT_UNREADABLE;
}

enum dvi_exit dvi_usage(const struct dvi_command *command, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fputs("devimg", stderr);
    if (command != NULL)
        fprintf(stderr, " %s", command->name);
    fputs(": ", stderr);
    dvi_escape(stderr, text);
    fprintf(stderr, " (see devimg help%s%s)\n", command != NULL ? " " : "",
            command != NULL ? command->name : "");
    return DVI_EXIT_USAGE;
}

/* True when `text` is one of the words of "a|b|c". */
static bool one_of(const char *words, const char *text)
{
    const size_t size = strlen(text);
    for (;;) {
        const size_t word = strcspn(words, "|");
        if (word == size && strncmp(words, text, size) == 0)
            return true;
        if (words[word] == '\0')
            return false;
        words += word + 1;
    }
}

static bool value_fits(const struct dvi_command *command, struct dvi_setting *s)
{
    const struct dvi_option *o = s->option;
    switch (o->value) {
    case DVI_VALUE_NONE:
    case DVI_VALUE_TEXT:
    case DVI_VALUE_PORTABLE: return true;
    case DVI_VALUE_WORD:
    case DVI_VALUE_FILE:
    case DVI_VALUE_RULES:
    case DVI_VALUE_PARTS:
        if (s->text[0] != '\0')
            return true;
        dvi_usage(command, "--%s \"\": expected %s", o->name, o->shown);
        return false;
    case DVI_VALUE_CHOICE:
        if (one_of(o->shown, s->text))
            return true;
        dvi_usage(command, "--%s %s: expected %s", o->name, s->text, o->shown);
        return false;
    case DVI_VALUE_INDEX:
        if (dvi_number_of(s->text, false, UINT32_MAX - 1, &s->number))
            return true;
        dvi_usage(command, "--%s %s: expected a number from 0", o->name, s->text);
        return false;
    case DVI_VALUE_COUNT:
        if (dvi_number_of(s->text, false, UINT32_MAX, &s->number) && s->number > 0)
            return true;
        dvi_usage(command, "--%s %s: expected a number from 1 to %" PRIu32, o->name, s->text,
                  UINT32_MAX);
        return false;
    case DVI_VALUE_SIZE:
        if (dvi_number_of(s->text, true, UINT64_MAX - 1, &s->number) && s->number > 0)
            return true;
        dvi_usage(command, "--%s %s: expected a size such as 4096, 64K, 256M or 2G", o->name,
                  s->text);
        return false;
    }
    return false;
}

static bool add_setting(struct dvi_line *line, const struct dvi_option *option, const char *text)
{
    struct dvi_setting *s = DVI_ADD(&line->settings);
    if (s == NULL) {
        (void)dvi_no_memory();
        return false;
    }
    *s = (struct dvi_setting){ option, text, 0 };
    line->help |= option->id == DVI_OPTION_HELP;
    line->version |= option->id == DVI_OPTION_VERSION;
    return value_fits(line->command, s);
}

static const struct dvi_option *find_long(const struct dvi_command *command, const char *name,
                                          size_t size)
{
    const struct dvi_option *o = NULL;
    for (size_t i = 0; (o = dvi_option_at(command, i)) != NULL; i++)
        if (strlen(o->name) == size && strncmp(o->name, name, size) == 0)
            return o;
    return NULL;
}

static const struct dvi_option *find_letter(const struct dvi_command *command, char letter)
{
    const struct dvi_option *o = NULL;
    for (size_t i = 0; (o = dvi_option_at(command, i)) != NULL; i++)
        if (o->letter == letter)
            return o;
    return NULL;
}

/* The words of a line, one after the other. */
struct words {
    char *const *at;
    int left;
};

static const char *next_word(struct words *w)
{
    if (w->left == 0)
        return NULL;
    w->left--;
    return *w->at++;
}

/* "--name", "--name=value" or "--name value" */
static bool parse_long(struct dvi_line *line, const char *word, struct words *w)
{
    const char *name = word + 2;
    const size_t size = strcspn(name, "=");
    const struct dvi_option *o = find_long(line->command, name, size);
    if (o == NULL) {
        dvi_usage(line->command, "unknown option --%.*s", (int)(size < 100 ? size : 100), name);
        return false;
    }
    const bool attached = name[size] == '=';
    if (o->value == DVI_VALUE_NONE) {
        if (attached)
            dvi_usage(line->command, "--%s takes no value", o->name);
        return !attached && add_setting(line, o, "");
    }
    const char *value = attached ? name + size + 1 : next_word(w);
    if (value == NULL) {
        dvi_usage(line->command, "--%s needs a value: %s", o->name, o->shown);
        return false;
    }
    return add_setting(line, o, value);
}

/* "-qv", "-j4" or "-j 4" */
static bool parse_letters(struct dvi_line *line, const char *word, struct words *w)
{
    for (const char *at = word + 1; *at != '\0'; at++) {
        const struct dvi_option *o = find_letter(line->command, *at);
        if (o == NULL) {
            dvi_usage(line->command, "unknown option -%c", *at);
            return false;
        }
        if (o->value == DVI_VALUE_NONE) {
            if (!add_setting(line, o, ""))
                return false;
            continue;
        }
        const char *value = at[1] != '\0' ? at + 1 : next_word(w);
        if (value == NULL) {
            dvi_usage(line->command, "-%c needs a value: %s", o->letter, o->shown);
            return false;
        }
        return add_setting(line, o, value);
    }
    return true;
}

/* Its words are a program and what that is given. */
static bool takes_program(const struct dvi_line *line)
{
    return line->command->runs != 0 && dvi_line_has(line, line->command->runs);
}

static bool add_word(struct dvi_line *line, const char *word)
{
    const bool is_argument = takes_program(line) && line->words.count > 0;
    if (word[0] == '\0' && line->command->completes_files && !is_argument) {
        dvi_usage(line->command, "\"\": a file has a name");
        return false;
    }
    const char **added = DVI_ADD(&line->words);
    if (added == NULL) {
        (void)dvi_no_memory();
        return false;
    }
    *added = word;
    return true;
}

static bool parse_words(struct dvi_line *line, struct words *w)
{
    bool options = true;
    for (const char *word = next_word(w); word != NULL; word = next_word(w)) {
        bool ok = true;
        if (options && strcmp(word, "--") == 0) {
            options = false;
        } else if (options && strcmp(word, "-") == 0) {
            dvi_usage(line->command, "\"-\": standard input is not read, since images are found by "
                                     "their place in a file; name a file");
            ok = false;
        } else if (options && strncmp(word, "--", 2) == 0) {
            ok = parse_long(line, word, w);
        } else if (options && word[0] == '-') {
            ok = parse_letters(line, word, w);
        } else {
            ok = add_word(line, word);
            options = options && !takes_program(line);
        }
        if (!ok)
            return false;
    }
    return true;
}

/* What stands behind the word that was wrong, as far as it is understood: nothing more is said. */
static void take_rest(struct dvi_line *line, struct words *w)
{
    for (const char *word = next_word(w); word != NULL && strcmp(word, "--") != 0;
         word = next_word(w)) {
        const size_t size = strncmp(word, "--", 2) == 0 ? strcspn(word + 2, "=") : 0;
        const struct dvi_option *o = size > 0 ? find_long(line->command, word + 2, size) : NULL;
        if (o == NULL || o->value == DVI_VALUE_NONE)
            continue;
        const char *value = word[2 + size] == '=' ? word + size + 3 : next_word(w);
        struct dvi_setting *s = value != NULL ? DVI_ADD(&line->settings) : NULL;
        if (s != NULL)
            *s = (struct dvi_setting){ o, value, 0 };
    }
}

const struct dvi_setting *dvi_line_get(const struct dvi_line *line, int id)
{
    for (size_t i = line->settings.count; i > 0; i--)
        if (line->settings.items[i - 1].option->id == id)
            return &line->settings.items[i - 1];
    return NULL;
}

bool dvi_line_has(const struct dvi_line *line, int id)
{
    return dvi_line_get(line, id) != NULL;
}

const char *dvi_line_text(const struct dvi_line *line, int id, const char *other)
{
    const struct dvi_setting *s = dvi_line_get(line, id);
    return s != NULL ? s->text : other;
}

const char *const *dvi_line_texts(struct dvi_line *line, int id, const char *other, size_t *count)
{
    const char **texts = dvi_arena_array(&line->arena, line->settings.count + 1, sizeof *texts);
    *count = 0;
    if (texts == NULL) {
        (void)dvi_no_memory();
        return NULL;
    }
    for (size_t i = 0; i < line->settings.count; i++)
        if (line->settings.items[i].option->id == id)
            texts[(*count)++] = line->settings.items[i].text;
    if (*count == 0 && other != NULL)
        texts[(*count)++] = other;
    return texts;
}

/* A version that no table has may still be one that a file states; any other name is a slip. */
static bool is_version(const char *name)
{
    return name[strspn(name, "0123456789.")] == '\0';
}

enum dvi_exit dvi_line_targets(struct dvi_line *line, int id, struct dvi_target_set *set)
{
    struct devimg_error err = { 0 };
    size_t count = 0;
    const struct dvi_setting *last = dvi_line_get(line, id);
    const char *const *lists = dvi_line_texts(line, id, NULL, &count);
    if (lists == NULL)
        return DVI_EXIT_UNREADABLE;
    if (last == NULL)
        return DVI_EXIT_OK;
    for (size_t i = 0; i < count; i++)
        if (dvi_target_set_add(set, lists[i], &line->arena, &err) != DEVIMG_OK)
            return dvi_complain_unreadable(&err);
    if (set->known.count + set->unknown.count == 0)
        return dvi_usage(line->command, "--%s: name a target", last->option->name);
    for (size_t i = 0; i < set->unknown.count; i++) {
        const char *name = set->unknown.items[i], *nearest = dvi_target_nearest(name);
        if (is_version(name))
            continue;
        if (nearest != NULL)
            return dvi_usage(line->command, "--%s: no target \"%s\": did you mean %s?",
                             last->option->name, name, nearest);
        return dvi_usage(line->command, "--%s: no target \"%s\"", last->option->name, name);
    }
    return DVI_EXIT_OK;
}

static uint64_t number_option(const struct dvi_line *line, int id)
{
    const struct dvi_setting *s = dvi_line_get(line, id);
    return s != NULL ? s->number : 0;
}

static bool fill_opts(struct dvi_line *line)
{
    const char *jobs = getenv("DEVIMG_JOBS");
    uint64_t threads = number_option(line, DVI_OPTION_JOBS);
    if (threads == 0 && jobs != NULL && jobs[0] != '\0' &&
        (!dvi_number_of(jobs, false, UINT32_MAX, &threads) || threads == 0)) {
        dvi_usage(line->command, "DEVIMG_JOBS=%s: expected a number from 1", jobs);
        return false;
    }
    /* value_fits() saw to it that a count fits in 32 bits */
    line->opts = (struct devimg_opts){
        .struct_size = sizeof line->opts,
        .max_inflated_size = number_option(line, DVI_OPTION_MAX_INFLATED_SIZE),
        .max_total_inflated_size = number_option(line, DVI_OPTION_MAX_TOTAL_INFLATED_SIZE),
        .max_depth = (uint32_t)number_option(line, DVI_OPTION_MAX_DEPTH),
        .max_members = (uint32_t)number_option(line, DVI_OPTION_MAX_MEMBERS),
        .max_images = (uint32_t)number_option(line, DVI_OPTION_MAX_IMAGES),
        .max_kernels = (uint32_t)number_option(line, DVI_OPTION_MAX_KERNELS),
        .threads = (uint32_t)threads,
    };
    return true;
}

static bool has_word(const struct dvi_line *line, int id, const char *word)
{
    const struct dvi_setting *s = dvi_line_get(line, id);
    return s != NULL && strcmp(s->text, word) == 0;
}

static void fill_output(struct dvi_line *line)
{
    const char *no_color = getenv("NO_COLOR"); /* https://no-color.org: set and not empty */
    const bool allowed = no_color == NULL || no_color[0] == '\0';
    line->out.file = stdout;
    line->out.json = has_word(line, DVI_OPTION_FORMAT, "json");
    line->out.quiet = dvi_line_has(line, DVI_OPTION_QUIET);
    line->out.colour =
        has_word(line, DVI_OPTION_COLOR, "always") ||
        (!has_word(line, DVI_OPTION_COLOR, "never") && allowed && isatty(STDOUT_FILENO) == 1);
    for (size_t i = 0; i < line->settings.count; i++)
        line->out.verbose += line->settings.items[i].option->id == DVI_OPTION_VERBOSE;
}

bool dvi_line_parse(struct dvi_line *line, const struct dvi_command *command, int count,
                    char *const *words)
{
    struct words w = { words, count };
    *line = (struct dvi_line){ .command = command };
    if (!parse_words(line, &w)) {
        take_rest(line, &w);
        return false;
    }
    fill_output(line);
    return fill_opts(line);
}

void dvi_line_free(struct dvi_line *line)
{
    DVI_LIST_FREE(&line->settings);
    DVI_LIST_FREE(&line->words);
    dvi_arena_free(&line->arena);
}
