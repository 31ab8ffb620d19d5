/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "check/policy.h"
#include "cli/options.h"
#include "output/stamp.h"

enum { POLICY = DVI_OPTION_OWN, WRITE_BASELINE, WRITE_RATCHET, FORCE, STAMP, STRICT };

/* clang-format off */
static const struct dvi_option options[] = {
    { POLICY, "policy", 0, DVI_VALUE_FILE, "FILE",
      "what to hold the files to (YAML); the options here override it", NULL },
    { DVI_OPTION_POLICY_KEY, "targets", 0, DVI_VALUE_TEXT, "T[,T]",
      "a native image for each, in every module: names, IP versions, families, default-intel",
      "targets" },
    { DVI_OPTION_POLICY_KEY, "fallback", 0, DVI_VALUE_PORTABLE, "T[,T]",
      "portable images that every module must have as well, such as spir64", "fallback" },
    { DVI_OPTION_POLICY_KEY, "compression", 0, DVI_VALUE_CHOICE, "required|any",
      "whether an image of 512 bytes or more may be stored raw", "compression" },
    { DVI_OPTION_POLICY_KEY, "extra-targets", 0, DVI_VALUE_CHOICE, "deny|allow",
      "whether an image may be for a target that is not listed", "extra-targets" },
    { DVI_OPTION_POLICY_KEY, "max-bytes", 0, DVI_VALUE_WORD, "T=SIZE[,...]",
      "most bytes of device code for a target, inflated; for \"all\": in the file; repeatable",
      "max-bytes" },
    { DVI_OPTION_POLICY_KEY, "duplicates", 0, DVI_VALUE_CHOICE, "deny|allow",
      "whether the same code of a kernel may stand in several modules", "duplicates" },
    { DVI_OPTION_POLICY_KEY, "sub-group-sizes", 0, DVI_VALUE_WORD, "targets|any|N[,N]",
      "sizes that kernels may require: what every target accepts, any, or these",
      "sub-group-sizes" },
    { DVI_OPTION_POLICY_KEY, "features", 0, DVI_VALUE_CHOICE, "targets|any",
      "whether every target must have what kernels need, such as fp64", "features" },
    { DVI_OPTION_POLICY_KEY, "scratch", 0, DVI_VALUE_CHOICE, "none|any",
      "whether kernels may use private and spill memory", "scratch" },
    { DVI_OPTION_POLICY_KEY, "ratchet", 0, DVI_VALUE_FILE, "FILE",
      "kernels that may still use scratch, and how much; the list may only shrink",
      "scratch.ratchet" },
    { DVI_OPTION_POLICY_KEY, "gap", 0, DVI_VALUE_WORD, "\"PATTERN without T[,T]: REASON\"",
      "images known to be missing, by kernel name; or by unit, as \"unit:PATTERN\"; repeatable",
      "gaps" },
    { DVI_OPTION_POLICY_KEY, "rules", 0, DVI_VALUE_RULES, "NAME=on|off|error|warning|note[,...]",
      "switch rules, or set how severe they are", "rules" },
    { DVI_OPTION_POLICY_KEY, "no-rule", 0, DVI_VALUE_RULES, "NAME[,NAME]",
      "switch rules off", "no-rule" },
    { DVI_OPTION_POLICY_KEY, "baseline", 0, DVI_VALUE_FILE, "FILE",
      "findings that are accepted, exactly as listed", "baseline" },
    { WRITE_BASELINE, "write-baseline", 0, DVI_VALUE_FILE, "FILE",
      "accept what is found now: write it as a baseline", NULL },
    { WRITE_RATCHET, "write-ratchet", 0, DVI_VALUE_FILE, "FILE",
      "allow the scratch memory that is used now: write it as a ratchet file", NULL },
    { FORCE, "force", 0, DVI_VALUE_NONE, NULL,
      "with --write-ratchet: replace a ratchet file that is there", NULL },
    { DVI_OPTION_POLICY_KEY, "ocloc", 0, DVI_VALUE_FILE, "PATH",
      "run this ocloc to ask for IP versions instead of trusting the tables", "ocloc" },
    { DVI_OPTION_POLICY_KEY, "promised", 0, DVI_VALUE_FILE, "FILE",
      "compile_commands.json: compare what its lines ask for with what the files hold",
      "promised" },
    { STAMP, "stamp", 0, DVI_VALUE_FILE, "FILE",
      "written when every file passes; removed otherwise", NULL },
    { STRICT, "strict", 0, DVI_VALUE_NONE, NULL, "warnings fail as well", NULL },
};
/* clang-format on */

static void check_file(struct dvi_line *line, struct devimg_report *report, const char *path)
{
    struct devimg_error err = { 0 };
    uint32_t first = 0, count = 0;
    struct devimg_file *file = dvi_open_input(line, path, false);
    if (file == NULL)
        return;
    if (devimg_report_add(report, file, &first, &count, &err) == DEVIMG_OK)
        dvi_output_check(&line->out, file, path, report, first, count);
    else
        dvi_output_unreadable(&line->out, path, &err);
    devimg_close(file);
}

static enum dvi_exit check(struct dvi_line *line, struct devimg_report *report)
{
    struct devimg_error err = { 0 };
    const struct dvi_setting *baseline = dvi_line_get(line, WRITE_BASELINE);
    const struct dvi_setting *ratchet = dvi_line_get(line, WRITE_RATCHET);
    dvi_output_begin(&line->out);
    for (size_t i = 0; i < line->words.count; i++)
        check_file(line, report, line->words.items[i]);
    const uint32_t told = devimg_report_count(report);
    const enum devimg_status finished = devimg_report_finish(report, &err);
    dvi_output_policy(&line->out, report, told);
    const enum dvi_exit status = dvi_output_end(&line->out);
    if (finished != DEVIMG_OK)
        return dvi_complain_unreadable(&err);
    for (int i = 0; i < 2 && status == DVI_EXIT_UNREADABLE; i++) {
        const struct dvi_setting *kept = i == 0 ? baseline : ratchet;
        if (kept != NULL)
            fprintf(stderr, "devimg check: %s is left as it was: not every file could be read\n",
                    kept->text);
    }
    if (status == DVI_EXIT_UNREADABLE)
        return status;
    const int force = dvi_line_get(line, FORCE) != NULL;
    if (ratchet != NULL &&
        devimg_report_write_ratchet(report, ratchet->text, force, &err) != DEVIMG_OK)
        return dvi_complain_of_list(&err);
    if (baseline != NULL && devimg_report_write_baseline(report, baseline->text, &err) != DEVIMG_OK)
        return dvi_complain_unreadable(&err);
    return status;
}

static enum dvi_exit check_with(struct dvi_line *line, const struct devimg_policy *policy)
{
    struct devimg_error err = { 0 };
    struct devimg_report *report = NULL;
    const struct dvi_setting *stamp = dvi_line_get(line, STAMP);
    if (devimg_report_new(policy, &report, &err) != DEVIMG_OK)
        return dvi_complain_unreadable(&err);
    const enum dvi_exit status = check(line, report);
    devimg_report_free(report);
    if (status == DVI_EXIT_OK && stamp != NULL && dvi_stamp_write(stamp->text, &err) != DEVIMG_OK)
        return dvi_complain_unreadable(&err);
    return status;
}

/* Every one that was named, also when the line turns out to be wrong: a stamp stands for a check
 * that passed. */
static bool remove_stamps(const struct dvi_line *line)
{
    struct devimg_error err = { 0 };
    bool removed = true;
    for (size_t i = 0; i < line->settings.count; i++) {
        const struct dvi_setting *s = &line->settings.items[i];
        if (s->option->id != STAMP || dvi_stamp_remove(s->text, &err) == DEVIMG_OK)
            continue;
        dvi_complain(&err);
        removed = false;
    }
    return removed;
}

static void refused(const struct dvi_line *line)
{
    (void)remove_stamps(line);
}

/* A pass that nothing was asked for must not look like one that something was. */
static void note_unasked(struct dvi_line *line, const struct devimg_policy *policy)
{
    if (dvi_policy_asks(policy))
        return;
    const bool damage = policy->rules[DVI_RULE_damaged] != DVI_SETTING_OFF;
    const bool registration = policy->rules[DVI_RULE_registration] != DVI_SETTING_OFF;
    line->out.unasked = damage && registration ? "nothing but damage and registration"
                        : damage               ? "nothing but damage"
                        : registration         ? "nothing but registration"
                                               : "nothing";
    if (line->out.json)
        fprintf(stderr, "devimg check: asked for %s (ask with --targets or --policy)\n",
                line->out.unasked);
}

static enum dvi_exit run(struct dvi_line *line)
{
    struct devimg_error err = { 0 };
    struct devimg_policy *policy = NULL;
    const bool removed = remove_stamps(line);
    if (line->words.count == 0)
        return dvi_usage(line->command, "name a file");
    if (dvi_line_has(line, FORCE) && !dvi_line_has(line, WRITE_RATCHET))
        return dvi_usage(line->command, "--force goes with --write-ratchet");
    if (!removed)
        return DVI_EXIT_UNREADABLE;
    line->out.verdict = true;
    line->out.strict = dvi_line_has(line, STRICT);
    if (devimg_policy_new(&policy, &err) != DEVIMG_OK)
        return dvi_complain_unreadable(&err);
    enum dvi_exit status = DVI_EXIT_OK;
    if (dvi_line_get(line, WRITE_RATCHET) != NULL && /* unless the policy says otherwise */
        devimg_policy_set(policy, "scratch", "none", &err) != DEVIMG_OK)
        status = dvi_complain_unreadable(&err);
    if (status == DVI_EXIT_OK)
        status = dvi_line_policy(line, POLICY, policy);
    if (status == DVI_EXIT_OK) {
        note_unasked(line, policy);
        status = check_with(line, policy);
    }
    devimg_policy_free(policy);
    return status;
}

const struct dvi_command dvi_command_check = {
    .name = "check",
    .words = "FILE...",
    .completes_files = true,
    .summary = "hold files to a policy, for use in builds and CI",
    .text = "The first line of each file is the verdict: pass or FAIL. Then the findings: how "
            "severe, which rule, where, what is wrong, and how to mend it. Findings that say the "
            "same of several modules are folded; -v and JSON list each.\n\n"
            "Errors make the exit status 1; warnings do so with --strict; notes never do. Every "
            "option that names a key of the policy file overrides that file. Looking starts no "
            "program, but for --ocloc, which runs the one it names.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .reads_files = true,
    .exits = {
        "every file passes; notes and, without --strict, warnings do not fail",
        "an error was found, damage included; with --strict also a warning",
        "wrong usage; or the policy, or a list that it or an option names, says what it cannot say: a "
        "wrong key, value or line",
        "a file, the policy or a list it names could not be opened, or an output could not be written, "
        "or would have replaced a file that devimg did not write",
    },
    .examples =
        "devimg check build/libfoo.so --targets default-intel --fallback spir64 --compression "
        "required\tEvery default Intel GPU has native code, a fallback is there, nothing is raw.\n"
        "devimg check --policy devimg.yaml --stamp build/foo.stamp build/*.so\tFor a build: the "
        "stamp is there exactly when the check passed.\n"
        "devimg check --policy devimg.yaml --write-baseline known.tsv libfoo.so\tAccept today's "
        "findings, to be told of new ones only.\n"
        "devimg check --write-ratchet scratch.tsv libfoo.so\tThe first ratchet file: what kernels "
        "use today is allowed, and no more.\n",
    .run = run,
    .refused = refused,
};
