/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"

enum { MAN = DVI_OPTION_OWN, COMPLETION };

static const struct dvi_option options[] = {
    { MAN, "man", 0, DVI_VALUE_NONE, NULL, "print a man page (roff)", NULL },
    { COMPLETION, "completion", 0, DVI_VALUE_CHOICE, "bash|zsh",
      "print what makes a shell complete devimg", NULL },
};

static enum dvi_exit run(struct dvi_line *line)
{
    const struct dvi_setting *shell = dvi_line_get(line, COMPLETION);
    const struct dvi_command *command = NULL;
    const bool man = dvi_line_has(line, MAN);
    const int count = (int)line->words.count;
    int used = 0;
    struct dvi_output out = { .file = line->out.file };
    if (shell != NULL && man)
        return dvi_usage(line->command, "--man and --completion: choose one");
    if (shell != NULL && count > 0)
        return dvi_usage(line->command, "%s: --completion is for all commands at once",
                         line->words.items[0]);
    const bool group = count == 1 && dvi_is_group(line->words.items[0]);
    if (count > 0 && !group) {
        command = dvi_command_find(count, line->words.items, &used);
        if (command == NULL)
            return dvi_command_unknown(count, line->words.items, false);
    }
    if (command != NULL && used < count)
        return dvi_usage(line->command, "%s: name one command", line->words.items[used]);
    if (shell != NULL)
        dvi_print_completion(out.file, shell->text);
    else if (group)
        (man ? dvi_print_group_man : dvi_print_group)(out.file, line->words.items[0]);
    else if (man)
        dvi_print_man(out.file, command);
    else if (command != NULL)
        dvi_print_help(out.file, command);
    else
        dvi_print_overview(out.file);
    return dvi_output_end(&out);
}

const struct dvi_command dvi_command_help = {
    .name = "help",
    .words = "[COMMAND]",
    .summary = "the commands, or what one of them does and takes",
    .text =
        "Without a command, the list of them; with the first word of some (sycl), the list of those. "
        "--man prints the man page of a command, of a group, or of devimg itself; --completion "
        "prints the completion of a shell, for all commands.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .unlisted = DVI_UNLISTED(DVI_OPTION_QUIET) | DVI_UNLISTED(DVI_OPTION_VERBOSE) |
                DVI_UNLISTED(DVI_OPTION_FORMAT) | DVI_UNLISTED(DVI_OPTION_COLOR),
    .exits = { "printed", NULL, "wrong usage: stderr says what",
               "the answer could not be written" },
    .examples = "devimg help check\tThe options of devimg check.\n"
                "devimg help --completion bash >/etc/bash_completion.d/devimg\tComplete devimg in "
                "bash.\n",
    .run = run,
};
