/* SPDX-License-Identifier: Apache-2.0 */
/* Help, man pages and completion, all printed from the tables of the commands. */
#include <string.h>

#include "cli/options.h"

enum { WIDTH = 79, HELP_COLUMN = 30 };

static const char exit_status[] =
    "0: fine. 1: findings, or a part of a file is damaged. 2: wrong usage. "
    "3: an input could not be read, or the answer could not be written.";

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

static void print_option(FILE *file, const struct dvi_option *o)
{
    char left[80];
    const int size = snprintf(left, sizeof left, "  %c%c%s --%s%s%s", o->letter != 0 ? '-' : ' ',
                              o->letter != 0 ? o->letter : ' ', o->letter != 0 ? "," : " ", o->name,
                              o->shown != NULL ? " " : "", o->shown != NULL ? o->shown : "");
    fputs(left, file);
    if (size < HELP_COLUMN - 1)
        fprintf(file, "%*s", HELP_COLUMN - size, "");
    else
        fprintf(file, "\n%*s", HELP_COLUMN, "");
    wrapped(file, o->help, HELP_COLUMN, HELP_COLUMN);
}

/* The next line "COMMAND\tTEXT" of the examples; false: none is left. */
struct example {
    int command_size, text_size;
    const char *command, *text;
};

static bool next_example(const char **at, struct example *out)
{
    if (**at == '\0')
        return false;
    const size_t line = strcspn(*at, "\n");
    const size_t tab = strcspn(*at, "\t");
    *out = (struct example){ (int)tab, (int)(line - tab - 1), *at, *at + tab + 1 };
    *at += line + ((*at)[line] == '\n' ? 1 : 0);
    return true;
}

void dvi_print_help(FILE *file, const struct dvi_command *command)
{
    const struct dvi_option *o = NULL;
    struct example e = { 0 };
    fprintf(file, "devimg %s: %s\n\nUsage: devimg %s [OPTION]... %s\n\n", command->name,
            command->summary, command->name, command->words);
    paragraphs(file, command->text);
    fputs("\nOptions:\n", file);
    for (size_t i = 0; (o = dvi_option_at(command, i)) != NULL; i++)
        print_option(file, o);
    fputs("\nExamples:\n", file);
    for (const char *at = command->examples; next_example(&at, &e);)
        fprintf(file, "  %.*s\n      %.*s\n", e.command_size, e.command, e.text_size, e.text);
    fputs("\nExit status: ", file);
    wrapped(file, exit_status, 0, 13);
}

void dvi_print_overview(FILE *file)
{
    const struct dvi_command *c = NULL;
    fputs("devimg shows, proves and predicts what GPU code a file carries.\n\n"
          "Usage: devimg FILE...                what device code the files carry\n"
          "       devimg COMMAND [OPTION]... [ARGUMENT]...\n\nCommands:\n",
          file);
    for (size_t i = 0; (c = dvi_command_at(i)) != NULL; i++)
        fprintf(file, "  %-10s %s\n", c->name, c->summary);
    fputs("\n\"devimg help COMMAND\" tells the options of one, \"devimg --version\" the version.\n",
          file);
}

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
    roff_text(file, exit_status);
    fputs("\n.SH ENVIRONMENT\n.TP\n.B DEVIMG_JOBS\nThe number of workers where \\fB\\-j\\fR is not "
          "given.\n.TP\n.B NO_COLOR\nSet and not empty: no colours unless asked for.\n",
          file);
}

static void man_command(FILE *file, const struct dvi_command *command)
{
    const struct dvi_option *o = NULL;
    struct example e = { 0 };
    fprintf(file, ".TH DEVIMG\\-%s 1 \"\" \"devimg %s\" \"User Commands\"\n.SH NAME\n",
            command->name, DEVIMG_VERSION);
    fprintf(file, "devimg\\-%s \\- ", command->name);
    roff_text(file, command->summary);
    fprintf(file, "\n.SH SYNOPSIS\n.B devimg %s\n[\\fIOPTION\\fR]... ", command->name);
    roff_text(file, command->words);
    fputs("\n.SH DESCRIPTION\n", file);
    man_paragraphs(file, command->text);
    fputs(".SH OPTIONS\n", file);
    for (size_t i = 0; (o = dvi_option_at(command, i)) != NULL; i++)
        man_option(file, o);
    fputs(".SH EXAMPLES\n", file);
    for (const char *at = command->examples; next_example(&at, &e);) {
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
        fprintf(file, ".TP\n.BR devimg\\-%s (1)\n", c->name);
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

/* The words of "a|b" with blanks between. */
static void choices(FILE *file, const char *shown)
{
    for (; *shown != '\0'; shown++)
        putc(*shown == '|' ? ' ' : *shown, file);
}

static void bash_values(FILE *file, const struct dvi_command *command)
{
    const struct dvi_option *o = NULL;
    fprintf(file, "    %s)\n        case $previous in\n", command->name);
    for (size_t i = 0; (o = dvi_option_at(command, i)) != NULL; i++) {
        if (o->value == DVI_VALUE_NONE)
            continue;
        fprintf(file, "        --%s", o->name);
        if (o->letter != 0)
            fprintf(file, " | -%c", o->letter);
        fputs(") ", file);
        if (o->value == DVI_VALUE_CHOICE) {
            fputs("words='", file);
            choices(file, o->shown);
            fputs("' ;;\n", file);
        } else {
            fputs(o->value == DVI_VALUE_FILE ? "files=1 ;;\n" : "words='' ;;\n", file);
        }
    }
    fputs("        *)\n            words='", file);
    for (size_t i = 0; (o = dvi_option_at(command, i)) != NULL; i++)
        fprintf(file, "%s--%s", i > 0 ? " " : "", o->name);
    fprintf(file, "'\n%s            ;;\n        esac\n        ;;\n",
            command->completes_files ? "            [[ $current == -* ]] || files=1\n" : "");
}

static void bash_completion(FILE *file)
{
    const struct dvi_command *c = NULL;
    fputs("# bash completion for devimg; printed by: devimg help --completion bash\n"
          "_devimg() {\n"
          "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
          "    local command=${COMP_WORDS[1]} words='' files=''\n"
          "    COMPREPLY=()\n"
          "    if ((COMP_CWORD == 1)); then\n        words='",
          file);
    for (size_t i = 0; (c = dvi_command_at(i)) != NULL; i++)
        fprintf(file, "%s ", c->name);
    fputs("--help --version'\n        files=1\n        command=''\n    fi\n"
          "    case $command in\n    '') ;;\n",
          file);
    for (size_t i = 0; (c = dvi_command_at(i)) != NULL; i++)
        bash_values(file, c);
    fputs("    *) files=1 ;;\n    esac\n"
          "    while IFS='' read -r word; do COMPREPLY+=(\"$word\"); done < <(\n"
          "        compgen -W \"$words\" -- \"$current\"\n"
          "        [[ $files ]] && compgen -f -- \"$current\"\n"
          "    )\n}\n"
          "complete -o filenames -F _devimg devimg\n",
          file);
}

/* Inside '...[...]': quotes and brackets are the shell's. */
static void zsh_text(FILE *file, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            fputs("'\\''", file);
        else if (strchr("[]:\\", *text) != NULL)
            fprintf(file, "\\%c", *text);
        else
            putc(*text, file);
    }
}

static void zsh_option(FILE *file, const struct dvi_option *o, bool letter)
{
    fputs("        '*", file);
    if (letter)
        fprintf(file, "-%c%s", o->letter, o->value != DVI_VALUE_NONE ? "+" : "");
    else
        fprintf(file, "--%s%s", o->name, o->value != DVI_VALUE_NONE ? "=" : "");
    putc('[', file);
    zsh_text(file, o->help);
    putc(']', file);
    if (o->value == DVI_VALUE_CHOICE) {
        fprintf(file, ":%s:(", o->name);
        choices(file, o->shown);
        putc(')', file);
    } else if (o->value != DVI_VALUE_NONE) {
        fprintf(file, ":%s:%s", o->shown, o->value == DVI_VALUE_FILE ? "_files" : "");
    }
    fputs("' \\\n", file);
}

static void zsh_completion(FILE *file)
{
    const struct dvi_command *c = NULL;
    const struct dvi_option *o = NULL;
    fputs("#compdef devimg\n# zsh completion for devimg; printed by: devimg help --completion zsh\n"
          "local -a commands\ncommands=(\n",
          file);
    for (size_t i = 0; (c = dvi_command_at(i)) != NULL; i++) {
        fprintf(file, "    '%s:", c->name);
        zsh_text(file, c->summary);
        fputs("'\n", file);
    }
    fputs(")\nif (( CURRENT == 2 )); then\n    _describe command commands\n    _files\n    return\n"
          "fi\nlocal command=$words[2]\nshift words\n(( CURRENT-- ))\ncase $command in\n",
          file);
    for (size_t i = 0; (c = dvi_command_at(i)) != NULL; i++) {
        fprintf(file, "%s)\n    _arguments -s \\\n", c->name);
        for (size_t k = 0; (o = dvi_option_at(c, k)) != NULL; k++) {
            zsh_option(file, o, false);
            if (o->letter != 0)
                zsh_option(file, o, true);
        }
        fprintf(file, "        '*::%s:%s'\n    ;;\n", c->completes_files ? "file" : "word",
                c->completes_files ? "_files" : "");
    }
    fputs("*) _files ;;\nesac\n", file);
}

bool dvi_print_completion(FILE *file, const char *shell)
{
    if (strcmp(shell, "bash") == 0)
        bash_completion(file);
    else if (strcmp(shell, "zsh") == 0)
        zsh_completion(file);
    else
        return false;
    return true;
}
