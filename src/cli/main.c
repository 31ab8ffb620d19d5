/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/heap.h"
#include "base/nearest.h"
#include "cli/options.h"
#include "output/escape.h"

static const struct dvi_command *const commands[] = {
#define DVI_COMMAND(name) &dvi_command_##name,
#include "cli/commands.def"
#undef DVI_COMMAND
};
enum { COMMANDS = sizeof commands / sizeof *commands };

const struct dvi_command *dvi_command_at(size_t index)
{
    return index < COMMANDS ? commands[index] : NULL;
}

size_t dvi_command_group(const struct dvi_command *command, const char **rest)
{
    const size_t size = strcspn(command->name, " ");
    *rest = command->name[size] != '\0' ? command->name + size + 1 : NULL;
    return size;
}

const struct dvi_command *dvi_command_find(int count, const char *const *words, int *used)
{
    for (size_t i = 0; i < COMMANDS && count > 0; i++) {
        const char *rest = NULL;
        const size_t size = dvi_command_group(commands[i], &rest);
        *used = rest != NULL ? 2 : 1;
        if (strlen(words[0]) == size && strncmp(commands[i]->name, words[0], size) == 0 &&
            (rest == NULL || (count > 1 && strcmp(words[1], rest) == 0)))
            return commands[i];
    }
    return NULL;
}

const struct dvi_command *dvi_group_next(const char *name, size_t *index)
{
    while (*index < COMMANDS) {
        const char *rest = NULL;
        const struct dvi_command *c = commands[(*index)++];
        const size_t size = dvi_command_group(c, &rest);
        if (rest != NULL && strlen(name) == size && strncmp(c->name, name, size) == 0)
            return c;
    }
    return NULL;
}

bool dvi_is_group(const char *name)
{
    size_t index = 0;
    return dvi_group_next(name, &index) != NULL;
}

/* The command nearest to what was written, two slips away at most, or NULL: behind the name of a
 * group one of its own, else any, also one of a group whose name was left out. */
static const struct dvi_command *nearest_command(int count, const char *const *words)
{
    const struct dvi_command *nearest = NULL;
    const bool in_group = dvi_is_group(words[0]);
    size_t least = 3;
    for (size_t i = 0; i < COMMANDS; i++) {
        const char *rest = NULL;
        const size_t size = dvi_command_group(commands[i], &rest);
        const bool of_group = rest != NULL && strlen(words[0]) == size &&
                              strncmp(commands[i]->name, words[0], size) == 0;
        size_t d = least;
        if (!in_group)
            d = dvi_edit_distance(words[0], rest != NULL ? rest : commands[i]->name);
        else if (of_group && count > 1)
            d = dvi_edit_distance(words[1], rest);
        if (d < least) {
            least = d;
            nearest = commands[i];
        }
    }
    return nearest;
}

/* "devimg sycl", "devimg sycl foo": the group is there, the command is not. */
static enum dvi_exit group_lacks(int count, const char *const *words,
                                 const struct dvi_command *nearest)
{
    const struct dvi_command *c = NULL;
    if (nearest != NULL)
        return dvi_usage(NULL, "no command %s %s: did you mean \"devimg %s\"?", words[0], words[1],
                         nearest->name);
    fprintf(stderr, "devimg %s: ", words[0]);
    if (count > 1) {
        fputs("no command ", stderr);
        dvi_escape(stderr, words[1]);
    } else {
        fputs("name one of its commands:", stderr);
        for (size_t i = 0; (c = dvi_group_next(words[0], &i)) != NULL;)
            fprintf(stderr, "%s", c->name + strlen(words[0]));
    }
    fprintf(stderr, " (see devimg help %s)\n", words[0]);
    return DVI_EXIT_USAGE;
}

enum dvi_exit dvi_command_unknown(int count, const char *const *words, bool may_be_file)
{
    const struct dvi_command *nearest = nearest_command(count, words);
    const char *const before = may_be_file ? "\"" : "no command ";
    const char *const behind = may_be_file ? "\" is neither a command nor a file" : "";
    if (dvi_is_group(words[0]))
        return group_lacks(count, words, nearest);
    if (nearest != NULL)
        return dvi_usage(NULL, "%s%s%s: did you mean \"devimg %s\"?", before, words[0], behind,
                         nearest->name);
    return dvi_usage(NULL, "%s%s%s", before, words[0], behind);
}

struct devimg_file *dvi_open_input(struct dvi_line *line, const char *path, bool kernels)
{
    struct devimg_error err = { 0 };
    struct devimg_file *file = NULL;
    enum devimg_status status = devimg_open(path, &line->opts, &file, &err);
    if (status == DEVIMG_OK && kernels)
        status = devimg_read_kernels(file, &err);
    if (status == DEVIMG_OK)
        return file;
    dvi_output_unreadable(&line->out, path, &err);
    devimg_close(file);
    return NULL;
}

static bool is_path(const char *word)
{
    return strpbrk(word, "/.") != NULL || access(word, F_OK) == 0;
}

static enum dvi_exit print_version(void)
{
    struct dvi_output out = { .file = stdout };
    fprintf(out.file, "devimg %s\n", DEVIMG_VERSION);
    return dvi_output_end(&out);
}

static enum dvi_exit print_help(const struct dvi_command *command)
{
    struct dvi_output out = { .file = stdout };
    if (command != NULL)
        dvi_print_help(out.file, command);
    else
        dvi_print_overview(out.file);
    return dvi_output_end(&out);
}

static enum dvi_exit run(const struct dvi_command *command, bool named, int count,
                         char *const *words)
{
    struct dvi_line line = { 0 };
    enum dvi_exit status = DVI_EXIT_USAGE;
    if (!dvi_line_parse(&line, command, count, words)) {
        if (command->refused != NULL)
            command->refused(&line);
    } else if (line.help) {
        status = print_help(named ? command : NULL);
    } else if (line.version) {
        status = print_version();
    } else {
        status = command->run(&line);
    }
    dvi_line_free(&line);
    return status;
}

/* "devimg sycl --help" */
static bool asks_for_group(int count, char *const *words)
{
    return count == 3 && dvi_is_group(words[1]) &&
           (strcmp(words[2], "--help") == 0 || strcmp(words[2], "-h") == 0);
}

int main(int count, char **words)
{
    dvi_heap_large_pages();
    dvi_guard_mappings();
    (void)signal(SIGXFSZ, SIG_IGN); /* a file that grows past ulimit -f is an error like others */
    (void)__fsetlocking(stdout, FSETLOCKING_BYCALLER); /* one thread prints: no lock a character */
    if (count < 2) {
        dvi_print_overview(stderr);
        return DVI_EXIT_USAGE;
    }
    int used = 0;
    const char *const *first = (const char *const *)(words + 1);
    const struct dvi_command *command = dvi_command_find(count - 1, first, &used);
    if (command != NULL)
        return (int)run(command, true, count - 1 - used, words + 1 + used);
    struct dvi_output out = { .file = stdout };
    if (asks_for_group(count, words)) {
        dvi_print_group(out.file, words[1]);
        return (int)dvi_output_end(&out);
    }
    if (count > 2 && dvi_is_group(words[1]) && strcmp(words[2], "help") == 0) {
        words[2] = words[1]; /* "devimg sycl help detect" is "devimg help sycl detect" */
        return (int)run(&dvi_command_help, true, count - 2, words + 2);
    }
    if (words[1][0] == '-' || is_path(words[1])) /* devimg FILE... is devimg list FILE... */
        return (int)run(&dvi_command_list, false, count - 1, words + 1);
    return (int)dvi_command_unknown(count - 1, first, true);
}
