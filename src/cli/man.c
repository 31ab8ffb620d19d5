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

static void man_option(FILE *file, const struct dvi_option *o)
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
    roff_text(file, o->help);
    putc('\n', file);
}

static void man_end(FILE *file)
{
    fputs(".SH EXIT STATUS\n", file);
    roff_text(file, dvi_exit_text);
    fputs("\n.SH ENVIRONMENT\n.TP\n.B DEVIMG_JOBS\nThe number of workers where \\fB\\-j\\fR is not "
          "given.\n.TP\n.B NO_COLOR\nSet and not empty: no colours unless asked for.\n",
          file);
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
    fprintf(file, "\n.SH SYNOPSIS\n.B devimg %s\n[\\fIOPTION\\fR]... ", command->name);
    roff_text(file, command->words);
    fputs("\n.SH DESCRIPTION\n", file);
    man_paragraphs(file, command->text);
    fputs(".SH OPTIONS\n", file);
    for (size_t i = 0; (o = dvi_option_at(command, i)) != NULL; i++)
        if (dvi_option_listed(command, o))
            man_option(file, o);
    fputs(".SH EXAMPLES\n", file);
    for (const char *at = command->examples; dvi_next_example(&at, &e);) {
        fputs(".TP\n.B ", file);
        roff(file, e.command, (size_t)e.command_size);
        putc('\n', file);
        roff(file, e.text, (size_t)e.text_size);
        putc('\n', file);
    }
    man_end(file);
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
    for (size_t i = 0; (c = dvi_command_at(i)) != NULL; i++) {
        fputs(".TP\n.BR devimg\\-", file);
        page_name(file, c);
        fputs(" (1)\n", file);
        roff_text(file, c->summary);
        putc('\n', file);
    }
    man_end(file);
}

void dvi_print_man(FILE *file, const struct dvi_command *command)
{
    if (command != NULL)
        man_command(file, command);
    else
        man_overview(file);
}
