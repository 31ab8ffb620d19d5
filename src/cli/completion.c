/* SPDX-License-Identifier: Apache-2.0 */
/* Completion for shells, printed from the tables of the commands. */
#include <string.h>

#include "check/policy.h"
#include "cli/options.h"
#include "sycl/doctor.h"
#include "target/tables.h"

/* The words of "a|b" with blanks between; without those that stand for others: "N[,N]", "NAME". */
static void choices(FILE *file, const char *shown)
{
    const char *blank = "";
    for (const char *at = shown; *at != '\0';) {
        const size_t size = strcspn(at, "|");
        if (strcspn(at, "[<=ABCDEFGHIJKLMNOPQRSTUVWXYZ") >= size) {
            fprintf(file, "%s%.*s", blank, (int)size, at);
            blank = " ";
        }
        at += size + (at[size] == '|');
    }
}

/* A value that is a word, or words, of a few: also where others are taken. */
static bool has_choices(const struct dvi_option *o)
{
    return o->value == DVI_VALUE_CHOICE ||
           ((o->value == DVI_VALUE_TEXT || o->value == DVI_VALUE_WORD) &&
            strchr(o->shown, '|') != NULL);
}

/* "T", "T[,T]", "[T]...", "LIST...": names of targets. */
static bool are_targets(const char *shown)
{
    shown += *shown == '[';
    return (shown[0] == 'T' && strchr("[,]", shown[1]) != NULL) || strncmp(shown, "LIST", 4) == 0;
}

/* Sets, families and targets; those of one kind for --fallback. */
static void target_names(FILE *file)
{
    const struct devimg_target *target = NULL;
    for (uint32_t i = 0; i < dvi_target_group_count; i++)
        fprintf(file, "%s ", dvi_target_groups[i].name);
    for (uint32_t i = 0; (target = devimg_target_at(i)) != NULL; i++)
        fprintf(file, "%s ", target->name);
}

static void portable_names(FILE *file)
{
    const struct devimg_target *target = NULL;
    for (uint32_t i = 0; (target = devimg_target_at(i)) != NULL; i++)
        if (strcmp(target->kind, "portable") == 0)
            fprintf(file, "%s ", target->name);
}

static void rule_names(FILE *file, const char *behind)
{
#define DVI_RULE(id, name, needs_kernels, summary) name,
    static const char *const names[] = {
#include "check/rules.def"
    };
#undef DVI_RULE
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        fprintf(file, "%s%s ", names[i], behind);
}

/* The names of which a list between commas is made; false: it is none. */
static bool list_names(FILE *file, const struct dvi_option *o)
{
    if (o->value == DVI_VALUE_RULES)
        rule_names(file, o->shown[4] == '=' ? "=" : ""); /* "NAME=..." */
    else if (o->value == DVI_VALUE_PORTABLE)
        portable_names(file);
    else if (o->value == DVI_VALUE_PARTS)
        for (size_t i = 0; i < DVI_DOCTOR_PARTS; i++)
            fprintf(file, "%s ", dvi_doctor_names[i]);
    else
        return false;
    return true;
}

static bool is_list(const struct dvi_option *o)
{
    return o->value == DVI_VALUE_RULES || o->value == DVI_VALUE_PORTABLE ||
           o->value == DVI_VALUE_PARTS;
}

/* "NAME=on|off[,...]" */
static bool are_settings(const struct dvi_option *o)
{
    return strncmp(o->shown, "NAME=", 5) == 0;
}

/* What may stand behind "NAME=", where bash sees three words; behind a comma, a name. */
static void bash_settings(FILE *file, const struct dvi_option *o)
{
    const char *values = o->shown + 5;
    fprintf(file, "        --%s=)\n            words='", o->name);
    for (size_t i = 0; values[i] != '\0' && values[i] != '['; i++)
        putc(values[i] == '|' ? ' ' : values[i], file);
    fputs("'\n            [[ $current != *,* ]] || words='", file);
    list_names(file, o);
    fputs("' list=1\n            ;;\n", file);
}

static void option_names(FILE *file, const struct dvi_command *command)
{
    const struct dvi_option *o = NULL;
    for (size_t i = 0; (o = dvi_option_at(command, i)) != NULL; i++)
        fprintf(file, "--%s ", o->name);
}

/* Behind the command `pattern`; NULL: behind any other word. */
static void bash_values(FILE *file, const struct dvi_command *command, const char *pattern)
{
    const struct dvi_option *o = NULL;
    if (pattern != NULL)
        fprintf(file, "    '%s')\n", pattern);
    else
        fputs("    *)\n", file);
    fputs("        case $previous in\n", file);
    for (size_t i = 0; (o = dvi_option_at(command, i)) != NULL; i++) {
        if (o->value == DVI_VALUE_NONE)
            continue;
        fprintf(file, "        --%s", o->name);
        if (o->letter != 0)
            fprintf(file, " | -%c", o->letter);
        fputs(") ", file);
        if (has_choices(o)) {
            fputs("words='", file);
            choices(file, o->shown);
            fputs("' ;;\n", file);
        } else if (is_list(o)) {
            fputs("words='", file);
            list_names(file, o);
            fputs("' list=1 ;;\n", file);
            if (are_settings(o))
                bash_settings(file, o);
        } else if (are_targets(o->shown)) {
            fputs("words=$targets list=1 ;;\n", file);
        } else {
            fputs(o->value == DVI_VALUE_FILE ? "files=1 ;;\n" : "words='' ;;\n", file);
        }
    }
    fputs("        *)\n            words='", file);
    option_names(file, command);
    fprintf(file, "'\n%s            ;;\n        esac\n        ;;\n",
            command->completes_files ? "            [[ $current == -* ]] || files=1\n"
            : are_targets(command->words)
                ? "            [[ $current == -* ]] || words=$targets list=1\n"
                : "");
}

/* Is this the first command with its first word? */
static bool is_new_group(size_t index)
{
    const char *rest = NULL, *other = NULL;
    const struct dvi_command *c = dvi_command_at(index);
    const size_t size = dvi_command_group(c, &rest);
    const struct dvi_command *before = index > 0 ? dvi_command_at(index - 1) : NULL;
    return before == NULL || dvi_command_group(before, &other) != size ||
           strncmp(before->name, c->name, size) != 0;
}

/* The first words of the commands, each once: the commands of a group stand together. */
static void first_words(FILE *file)
{
    const struct dvi_command *c = NULL;
    const char *rest = NULL;
    for (size_t i = 0; (c = dvi_command_at(i)) != NULL; i++)
        if (is_new_group(i))
            fprintf(file, "%.*s ", (int)dvi_command_group(c, &rest), c->name);
}

/* Behind `help`: the commands, and behind a group its own. */
static void bash_help(FILE *file)
{
    const struct dvi_command *c = NULL;
    const char *rest = NULL;
    fputs("    elif [[ $command == help && $current != -* && $previous != --completion ]]; then\n"
          "        command=''\n"
          "        case $previous in\n        help | --man) words='",
          file);
    first_words(file);
    fputs("' ;;\n", file);
    for (size_t i = 0; (c = dvi_command_at(i)) != NULL; i++) {
        const size_t size = dvi_command_group(c, &rest);
        if (rest == NULL)
            continue;
        if (is_new_group(i))
            fprintf(file, "        %.*s) words='", (int)size, c->name);
        fprintf(file, "%s ", rest);
        if (dvi_command_at(i + 1) == NULL || is_new_group(i + 1))
            fputs("' ;;\n", file);
    }
    fputs("        esac\n", file);
}

/* The second words of each group, and both words as $command behind them. */
static void bash_groups(FILE *file)
{
    const struct dvi_command *c = NULL;
    const char *rest = NULL;
    for (size_t i = 0; (c = dvi_command_at(i)) != NULL; i++) {
        const size_t size = dvi_command_group(c, &rest);
        if (rest == NULL)
            continue;
        if (is_new_group(i))
            fprintf(file,
                    "    elif [[ $command == %.*s ]] && ((COMP_CWORD == 2)); then\n"
                    "        command=''\n"
                    "        [[ $current != -* ]] || words='--help'\n",
                    (int)size, c->name);
        fprintf(file, "        words+=' %s'\n", rest);
        const struct dvi_command *next = dvi_command_at(i + 1);
        if (next == NULL || is_new_group(i + 1))
            fprintf(
                file,
                "    elif [[ $command == %.*s ]]; then\n        command+=\" ${COMP_WORDS[2]}\"\n",
                (int)size, c->name);
    }
}

/* What is no command of a group. */
static void bash_groups_end(FILE *file)
{
    const struct dvi_command *c = NULL;
    const char *rest = NULL;
    for (size_t i = 0; (c = dvi_command_at(i)) != NULL; i++) {
        const size_t size = dvi_command_group(c, &rest);
        if (rest != NULL && is_new_group(i))
            fprintf(file, "    '%.*s '*) ;;\n", (int)size, c->name);
    }
}

static void bash_completion(FILE *file)
{
    const struct dvi_command *c = NULL;
    fputs("# bash completion for devimg; printed by: devimg help --completion bash\n"
          "_devimg() {\n"
          "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
          "    local command=${COMP_WORDS[1]} words='' files='' list='' before=''\n"
          "    local targets='",
          file);
    target_names(file);
    fputs("'\n"
          "    COMPREPLY=()\n"
          "    # \"--name=value\" is three words to bash\n"
          "    [[ $previous != '=' ]] || previous=${COMP_WORDS[COMP_CWORD - 2]}\n"
          "    [[ $previous == -* || ${COMP_WORDS[COMP_CWORD - 1]} != '=' ]] || previous=--rules=\n"
          "    [[ $previous == -* || $current != '=' || $COMP_CWORD -lt 3 ]] || previous=--rules=\n"
          "    [[ $current != '=' ]] || current=''\n"
          "    if ((COMP_CWORD == 1)); then\n        words='",
          file);
    first_words(file);
    fputs("'\n        files=1\n        command=''\n"
          "        [[ $current != -* ]] || files='' words='",
          file);
    option_names(file, &dvi_command_list); /* "devimg FILE..." is "devimg list FILE..." */
    fputs("'\n", file);
    bash_help(file);
    bash_groups(file);
    fputs("    fi\n    case $command in\n    '') ;;\n", file);
    for (size_t i = 0; (c = dvi_command_at(i)) != NULL; i++)
        if (c != &dvi_command_list)
            bash_values(file, c, c->name);
    bash_groups_end(file);
    bash_values(file, &dvi_command_list, NULL); /* also of a first word that is no command */
    fputs("    esac\n"
          "    [[ -z $list || $current != *,* ]] || before=${current%,*},\n"
          "    [[ $words != *= && $words != *'= '* ]] || compopt -o nospace 2>/dev/null\n"
          "    while IFS='' read -r word; do COMPREPLY+=(\"$word\"); done < <(\n"
          "        compgen -P \"$before\" -W \"$words\" -- \"${current#\"$before\"}\"\n"
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

/* The array that holds the names of which a list is made. */
static const char *zsh_array(const struct dvi_option *o)
{
    return are_settings(o)                  ? "settings"
           : o->value == DVI_VALUE_RULES    ? "rules"
           : o->value == DVI_VALUE_PORTABLE ? "portable"
                                            : "parts";
}

/* Each of those arrays. */
static void zsh_arrays(FILE *file)
{
    const char *done[4] = { NULL };
    const struct dvi_command *c = NULL;
    const struct dvi_option *o = NULL;
    size_t count = 0;
    for (size_t i = 0; (c = dvi_command_at(i)) != NULL; i++) {
        for (size_t k = 0; (o = dvi_option_at(c, k)) != NULL; k++) {
            size_t at = 0;
            if (!is_list(o))
                continue;
            while (at < count && strcmp(done[at], zsh_array(o)) != 0)
                at++;
            if (at < count)
                continue;
            done[count++] = zsh_array(o);
            fprintf(file, "local -a %s=(", zsh_array(o));
            list_names(file, o);
            fputs(")\n", file);
        }
    }
}

static void zsh_option(FILE *file, const struct dvi_command *command, const struct dvi_option *o,
                       bool letter)
{
    fputs("        '*", file);
    if (letter)
        fprintf(file, "-%c%s", o->letter, o->value != DVI_VALUE_NONE ? "+" : "");
    else
        fprintf(file, "--%s%s", o->name, o->value != DVI_VALUE_NONE ? "=" : "");
    putc('[', file);
    zsh_text(file, dvi_option_help(command, o));
    putc(']', file);
    if (has_choices(o)) {
        fprintf(file, ":%s:(", o->name);
        choices(file, o->shown);
        putc(')', file);
    } else if (is_list(o)) {
        fprintf(file, ":%s:_sequence compadd -a %s", o->name, zsh_array(o));
    } else if (o->value != DVI_VALUE_NONE && are_targets(o->shown)) {
        fputs(":targets:_sequence compadd -a targets", file);
    } else if (o->value != DVI_VALUE_NONE) {
        fprintf(file, ":%s:%s", o->shown, o->value == DVI_VALUE_FILE ? "_files" : "");
    }
    fputs("' \\\n", file);
}

static void zsh_first_words(FILE *file)
{
    const struct dvi_command *c = NULL;
    const char *rest = NULL;
    for (size_t i = 0; (c = dvi_command_at(i)) != NULL; i++) {
        const size_t size = dvi_command_group(c, &rest);
        if (!is_new_group(i))
            continue;
        fprintf(file, "    '%.*s:", (int)size, c->name);
        zsh_text(file, rest != NULL ? "its commands" : c->summary);
        fputs("'\n", file);
    }
}

static void zsh_groups(FILE *file)
{
    const struct dvi_command *c = NULL;
    const char *rest = NULL;
    for (size_t i = 0; (c = dvi_command_at(i)) != NULL; i++) {
        const size_t size = dvi_command_group(c, &rest);
        if (rest == NULL)
            continue;
        if (is_new_group(i))
            fprintf(file, "if [[ $command == %.*s ]]; then\n    commands=(\n", (int)size, c->name);
        fprintf(file, "        '%s:", rest);
        zsh_text(file, c->summary);
        fputs("'\n", file);
        if (dvi_command_at(i + 1) == NULL || is_new_group(i + 1))
            fputs("    )\n    (( CURRENT == 2 )) && { _describe command commands; return }\n"
                  "    command+=\" $words[2]\"\n    shift words\n    (( CURRENT-- ))\nfi\n",
                  file);
    }
}

/* Behind `help`: the commands, which are still those of the first word; behind a group its own. */
static void zsh_help(FILE *file)
{
    const struct dvi_command *c = NULL;
    const char *rest = NULL;
    fputs("if [[ $command == help && $PREFIX != -* && $words[CURRENT-1] != --completion ]]; then\n"
          "    case $words[CURRENT-1] in\n"
          "    help) (( CURRENT == 2 )) && { _describe command commands; return } ;;\n"
          "    --man) _describe command commands; return ;;\n",
          file);
    for (size_t i = 0; (c = dvi_command_at(i)) != NULL; i++) {
        const size_t size = dvi_command_group(c, &rest);
        if (rest == NULL)
            continue;
        if (is_new_group(i))
            fprintf(file, "    %.*s) commands=(\n", (int)size, c->name);
        fprintf(file, "        '%s:", rest);
        zsh_text(file, c->summary);
        fputs("'\n", file);
        if (dvi_command_at(i + 1) == NULL || is_new_group(i + 1))
            fputs("        ); _describe command commands; return ;;\n", file);
    }
    fputs("    esac\nfi\n", file);
}

static void zsh_completion(FILE *file)
{
    const struct dvi_command *c = NULL;
    const struct dvi_option *o = NULL;
    fputs("#compdef devimg\n# zsh completion for devimg; printed by: devimg help --completion zsh\n"
          "local -a commands targets\ntargets=(",
          file);
    target_names(file);
    fputs(")\n", file);
    zsh_arrays(file);
    fputs("commands=(\n", file);
    zsh_first_words(file);
    fputs(")\nif (( CURRENT == 2 )); then\n    _describe command commands\n    _files\n    return\n"
          "fi\nlocal command=$words[2]\nshift words\n(( CURRENT-- ))\n"
          "# a first word that is no command is a file of devimg list\n"
          "(( ${commands[(I)${command}:*]} )) || command=list\n",
          file);
    zsh_groups(file);
    zsh_help(file);
    fputs("case $command in\n", file);
    for (size_t i = 0; (c = dvi_command_at(i)) != NULL; i++) {
        fprintf(file, "'%s')\n    _arguments -s \\\n", c->name);
        for (size_t k = 0; (o = dvi_option_at(c, k)) != NULL; k++) {
            zsh_option(file, c, o, false);
            if (o->letter != 0)
                zsh_option(file, c, o, true);
        }
        fprintf(file, "        '*::%s:%s'\n    ;;\n", c->completes_files ? "file" : "word",
                c->completes_files      ? "_files"
                : are_targets(c->words) ? "_sequence compadd -a targets"
                                        : "");
    }
    fputs("esac\n", file);
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
