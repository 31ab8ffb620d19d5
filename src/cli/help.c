/* SPDX-License-Identifier: Apache-2.0 */
/* Help, printed from the tables of the commands. */
#include <string.h>

#include "cli/options.h"

enum { WIDTH = 79, HELP_COLUMN = 30, EXIT_COLUMN = 5 };

const char *dvi_exit_text(const struct dvi_command *command, int status)
{
    static const char *const of_all[DVI_EXITS] = {
        "fine",
        "findings, or a part of a file is damaged",
        "wrong usage, or a list or policy that is not what it should be",
        "an input could not be read, or an output could not be written",
    };
    /* a command without texts is one of all */
    return command != NULL && command->exits[0] != NULL ? command->exits[status] : of_all[status];
}

/* Words of `text` up to its NUL or an empty line, wrapped; the first line starts in `column`. */
static const char *wrapped(FILE *file, const char *text, size_t indent, size_t column)
{
    while (*text != '\0' && strncmp(text, "\n\n", 2) != 0) {
        text += strspn(text, " \n");
        const size_t size = strcspn(text, " \n");
        if (column > indent && column + 1 + size > WIDTH) {
            fprintf(file, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            putc(' ', file);
            column++;
        }
        fwrite(text, 1, size, file);
        column += size;
        text += size;
    }
    putc('\n', file);
    return text;
}

static void paragraphs(FILE *file, const char *text)
{
    while (*text != '\0') {
        text = wrapped(file, text, 0, 0);
        if (*text != '\0') {
            putc('\n', file);
            text += 2;
        }
    }
}

static void print_option(FILE *file, const struct dvi_command *command, const struct dvi_option *o)
{
    char left[160];
    const int size = snprintf(left, sizeof left, "  %c%c%s --%s%s%s", o->letter != 0 ? '-' : ' ',
                              o->letter != 0 ? o->letter : ' ', o->letter != 0 ? "," : " ", o->name,
                              o->shown != NULL ? " " : "", o->shown != NULL ? o->shown : "");
    fputs(left, file);
    if (size < HELP_COLUMN - 1)
        fprintf(file, "%*s", HELP_COLUMN - size, "");
    else
        fprintf(file, "\n%*s", HELP_COLUMN, "");
    wrapped(file, dvi_option_help(command, o), HELP_COLUMN, HELP_COLUMN);
}

bool dvi_next_example(const char **at, struct dvi_example *out)
{
    if (**at == '\0')
        return false;
    const size_t line = strcspn(*at, "\n");
    const size_t tab = strcspn(*at, "\t");
    *out = (struct dvi_example){ (int)tab, (int)(line - tab - 1), *at, *at + tab + 1 };
    *at += line + ((*at)[line] == '\n' ? 1 : 0);
    return true;
}

void dvi_print_help(FILE *file, const struct dvi_command *command)
{
    const struct dvi_option *o = NULL;
    struct dvi_example e = { 0 };
    fprintf(file, "devimg %s: %s\n\nUsage: devimg %s [OPTION]...%s%s\n\n", command->name,
            command->summary, command->name, command->words[0] != '\0' ? " " : "", command->words);
    paragraphs(file, command->text);
    fputs("\nOptions:\n", file);
    for (size_t i = 0; (o = dvi_option_at(command, i)) != NULL; i++)
        print_option(file, command, o);
    fputs("\nExamples:\n", file);
    for (const char *at = command->examples; dvi_next_example(&at, &e);)
        fprintf(file, "  %.*s\n      %.*s\n", e.command_size, e.command, e.text_size, e.text);
    fputs("\nExit status:\n", file);
    for (int status = 0; status < DVI_EXITS; status++) {
        const char *text = dvi_exit_text(command, status);
        if (text == NULL)
            continue;
        fprintf(file, "  %d  ", status);
        wrapped(file, text, EXIT_COLUMN, EXIT_COLUMN);
    }
    if (command->skipped != NULL) {
        fprintf(file, "  %d ", (int)DVI_EXIT_SKIPPED);
        wrapped(file, command->skipped, EXIT_COLUMN, EXIT_COLUMN);
    }
}

/* "sycl detect    which SYCL targets ...", each summary in the same column. */
static void print_commands(FILE *file, const char *before, const char *group)
{
    const struct dvi_command *c = NULL;
    size_t width = 0;
    for (size_t i = 0; (c = group != NULL ? dvi_group_next(group, &i) : dvi_command_at(i++));)
        width = strlen(c->name) > width ? strlen(c->name) : width;
    for (size_t i = 0; (c = group != NULL ? dvi_group_next(group, &i) : dvi_command_at(i++));)
        fprintf(file, "  %s%-*s  %s\n", before, (int)width, c->name, c->summary);
}

void dvi_print_group(FILE *file, const char *name)
{
    fprintf(file,
            "devimg %s: the commands of this group\n\nUsage: devimg %s COMMAND [OPTION]... "
            "[ARGUMENT]...\n\nCommands:\n",
            name, name);
    print_commands(file, "devimg ", name);
    fprintf(file, "\n\"devimg help %s COMMAND\" tells the options of one.\n", name);
}

void dvi_print_overview(FILE *file)
{
    fputs("devimg shows, proves and predicts what GPU code a file carries.\n\n"
          "Usage: devimg FILE...                what device code the files carry\n"
          "       devimg COMMAND [OPTION]... [ARGUMENT]...\n\nCommands:\n",
          file);
    print_commands(file, "", NULL);
    fputs("\n\"devimg help COMMAND\" tells the options of one, \"devimg --version\" the version.\n",
          file);
}
