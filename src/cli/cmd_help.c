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
    const int count = (int)line->words.count;
    int used = 0;
    if (count > 0) {
        command = dvi_command_find(count, line->words.items, &used);
        if (command == NULL)
            return dvi_command_unknown(count, line->words.items, false);
    }
    if (used < count)
        return dvi_usage(line->command, "name one command");
    struct dvi_output out = { .file = line->out.file };
    if (shell != NULL)
        dvi_print_completion(out.file, shell->text);
    else if (dvi_line_has(line, MAN))
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
    .text = "Without a command, the list of them. --man prints the man page of a command, or of "
            "devimg itself; --completion prints the completion of a shell.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .examples = "devimg help check\tThe options of devimg check.\n"
                "devimg help --completion bash >/etc/bash_completion.d/devimg\tComplete devimg in "
                "bash.\n",
    .run = run,
};
