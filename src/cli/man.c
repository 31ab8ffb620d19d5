/* SPDX-License-Identifier: Apache-2.0 */
/* Man pages, printed from the tables of the commands. */
#include <string.h>

#include "cli/options.h"

/* roff text: a '.' or ''' that starts a line, '\' and '-' mean something to it. */
static void roff(FILE *file, const char *text, size_t size)
{
    bool start = true;
    for (size_t i = 0; i < size; i++) {
        if (start && (text[i] == '.' || text[i] == '\''))
            fputs("\\&", file);
        if (text[i] == '\\')
            fputs("\\e", file);
        else if (text[i] == '-')
            fputs("\\-", file);
        else
            putc(text[i], file);
        start = text[i] == '\n';
    }
}

static void roff_text(FILE *file, const char *text)
{
    roff(file, text, strlen(text));
}

static void man_paragraphs(FILE *file, const char *text)
{
    for (const char *end = strstr(text, "\n\n"); end != NULL; end = strstr(text, "\n\n")) {
        roff(file, text, (size_t)(end - text));
        fputs("\n.PP\n", file);
        text = end + 2;
    }
    roff_text(file, text);
    putc('\n', file);
}

static void man_option(FILE *file, const struct dvi_command *command, const struct dvi_option *o)
{
    fputs(".TP\n", file);
    if (o->letter != 0)
        fprintf(file, "\\fB\\-%c\\fR, ", o->letter);
    fputs("\\fB\\-\\-", file);
    roff_text(file, o->name);
    fputs("\\fR", file);
    if (o->shown != NULL) {
        fputs(" \\fI", file);
        roff_text(file, o->shown);
        fputs("\\fR", file);
    }
    putc('\n', file);
    roff_text(file, dvi_option_help(command, o));
    putc('\n', file);
}

static void man_exits(FILE *file, const struct dvi_command *command)
{
    fputs(".SH EXIT STATUS\n", file);
    for (int status = 0; status < DVI_EXITS; status++) {
        const char *text = dvi_exit_text(command, status);
        if (text == NULL)
            continue;
        fprintf(file, ".TP\n.B %d\n", status);
        roff_text(file, text);
        putc('\n', file);
    }
    if (command != NULL && command->skipped != NULL) {
        fprintf(file, ".TP\n.B %d\n", (int)DVI_EXIT_SKIPPED);
        roff_text(file, command->skipped);
        putc('\n', file);
    }
}

/* The variables of the options that the command takes. */
static void man_environment(FILE *file, const struct dvi_command *command)
{
    const bool jobs = command == NULL || dvi_option_of(command, DVI_OPTION_JOBS) != NULL;
    const bool color = command == NULL || dvi_option_of(command, DVI_OPTION_COLOR) != NULL;
    if (jobs || color)
        fputs(".SH ENVIRONMENT\n", file);
    if (jobs)
        fputs(".TP\n.B DEVIMG_JOBS\nThe number of workers where \\fB\\-j\\fR is not given.\n",
              file);
    if (color)
        fputs(".TP\n.B NO_COLOR\nSet and not empty: no colours unless asked for.\n", file);
}

/* "sycl\-detect" of "sycl detect" */
static void page_name(FILE *file, const struct dvi_command *command)
{
    const char *rest = NULL;
    const size_t size = dvi_command_group(command, &rest);
    fprintf(file, "%.*s%s%s", (int)size, command->name, rest != NULL ? "\\-" : "",
            rest != NULL ? rest : "");
}

static void man_command(FILE *file, const struct dvi_command *command)
{
    const struct dvi_option *o = NULL;
    struct dvi_example e = { 0 };
    fputs(".TH DEVIMG\\-", file);
    page_name(file, command);
    fprintf(file, " 1 \"\" \"devimg %s\" \"User Commands\"\n.SH NAME\ndevimg\\-", DEVIMG_VERSION);
    page_name(file, command);
    fputs(" \\- ", file);
    roff_text(file, command->summary);
    fprintf(file, "\n.SH SYNOPSIS\n.B devimg %s\n[\\fIOPTION\\fR]...%s", command->name,
            command->words[0] != '\0' ? " " : "");
    roff_text(file, command->words);
    fputs("\n.SH DESCRIPTION\n", file);
    man_paragraphs(file, command->text);
    fputs(".SH OPTIONS\n", file);
    for (size_t i = 0; (o = dvi_option_at(command, i)) != NULL; i++)
        man_option(file, command, o);
    fputs(".SH EXAMPLES\n", file);
    for (const char *at = command->examples; dvi_next_example(&at, &e);) {
        fputs(".TP\n.B ", file);
        roff(file, e.command, (size_t)e.command_size);
        putc('\n', file);
        roff(file, e.text, (size_t)e.text_size);
        putc('\n', file);
    }
    man_exits(file, command);
    man_environment(file, command);
    fputs(".SH SEE ALSO\n.BR devimg (1)\n", file);
}

/* An entry of a list of commands: the page of one. */
static void man_entry(FILE *file, const struct dvi_command *command)
{
    fputs(".TP\n.BR devimg\\-", file);
    page_name(file, command);
    fputs(" (1)\n", file);
    roff_text(file, command->summary);
    putc('\n', file);
}

void dvi_print_group_man(FILE *file, const char *name)
{
    const struct dvi_command *c = NULL;
    fprintf(file, ".TH DEVIMG\\-%s 1 \"\" \"devimg %s\" \"User Commands\"\n", name, DEVIMG_VERSION);
    fprintf(file,
            ".SH NAME\ndevimg\\-%s \\- the commands of this group\n.SH SYNOPSIS\n.B devimg %s\n"
            "\\fICOMMAND\\fR [\\fIOPTION\\fR]... [\\fIARGUMENT\\fR]...\n.SH COMMANDS\n",
            name, name);
    for (size_t i = 0; (c = dvi_group_next(name, &i)) != NULL;)
        man_entry(file, c);
    fputs(".SH SEE ALSO\n.BR devimg (1)\n", file);
}

static void man_overview(FILE *file)
{
    const struct dvi_command *c = NULL;
    fprintf(file, ".TH DEVIMG 1 \"\" \"devimg %s\" \"User Commands\"\n", DEVIMG_VERSION);
    fputs(".SH NAME\ndevimg \\- what GPU code a file carries\n.SH SYNOPSIS\n.B devimg\n"
          "\\fIFILE\\fR...\n.br\n.B devimg\n\\fICOMMAND\\fR [\\fIOPTION\\fR]... "
          "[\\fIARGUMENT\\fR]...\n.SH DESCRIPTION\ndevimg shows, proves and predicts what GPU code "
          "an object, library, executable or archive carries. No GPU, driver or vendor toolkit is "
          "needed. A first word that is no command is a file to list.\n.SH COMMANDS\n",
          file);
    for (size_t i = 0; (c = dvi_command_at(i)) != NULL; i++)
        man_entry(file, c);
    man_exits(file, NULL);
    man_environment(file, NULL);
}

void dvi_print_man(FILE *file, const struct dvi_command *command)
{
    if (command != NULL)
        man_command(file, command);
    else
        man_overview(file);
}
