/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/nearest.h"
#include "cli/options.h"

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

const struct dvi_command *dvi_command_find(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

const struct dvi_command *dvi_command_nearest(const char *name)
{
    const struct dvi_command *nearest = NULL;
    size_t least = 3; /* two slips at most */
    for (size_t i = 0; i < COMMANDS; i++) {
        const size_t d = dvi_edit_distance(name, commands[i]->name);
        if (d < least) {
            least = d;
            nearest = commands[i];
        }
    }
    return nearest;
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

static enum dvi_exit unknown_command(const char *word)
{
    const struct dvi_command *nearest = dvi_command_nearest(word);
    if (nearest != NULL)
        return dvi_usage(NULL, "%s is neither a command nor a file: did you mean \"devimg %s\"?",
                         word, nearest->name);
    return dvi_usage(NULL, "%s is neither a command nor a file", word);
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

int main(int count, char **words)
{
    dvi_guard_mappings();
    (void)signal(SIGXFSZ, SIG_IGN); /* a file that grows past ulimit -f is an error like others */
    (void)__fsetlocking(stdout, FSETLOCKING_BYCALLER); /* one thread prints: no lock a character */
    if (count < 2) {
        dvi_print_overview(stderr);
        return DVI_EXIT_USAGE;
    }
    const struct dvi_command *command = dvi_command_find(words[1]);
    if (command != NULL)
        return (int)run(command, true, count - 2, words + 2);
    if (words[1][0] == '-' || is_path(words[1])) /* devimg FILE... is devimg list FILE... */
        return (int)run(&dvi_command_list, false, count - 1, words + 1);
    return (int)unknown_command(words[1]);
}
