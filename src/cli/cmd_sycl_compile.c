/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "base/limits.h"
#include "base/pool.h"
#include "base/run.h"
#include "base/text.h"
#include "cli/options.h"
#include "output/escape.h"
#include "output/sycl.h"
#include "sycl/compile.h"

enum {
    BUILD = DVI_OPTION_OWN,
    UNITS,
    ONLY,
    TARGETS,
    POLICY,
    GAP,
    CONFIGURED,
    NARROW,
    ICPX,
    OCLOC,
    NVCC,
    FLAG,
    LAUNCHER,
    WORK,
    VARIABLE,
    AGAIN,
    TIMEOUT,
    NINJA,
    JUNIT
};

/* clang-format off */
static const struct dvi_option options[] = {
    { BUILD, "build", 0, DVI_VALUE_FILE, "DIR|FILE",
      "the units of a build: its folder, compile_commands.json or build.ninja", NULL },
    { UNITS, "units", 0, DVI_VALUE_FILE, "FILE",
      "further sources, a line each", NULL },
    { ONLY, "only", 0, DVI_VALUE_WORD, "GLOB",
      "only units whose path matches, all of it or from a folder on; repeatable", NULL },
    { TARGETS, "targets", 0, DVI_VALUE_TEXT, "T[,T]",
      "the list (default: that of the policy, else default-intel); sm_90 and the like for CUDA", NULL },
    { POLICY, "policy", 0, DVI_VALUE_FILE, "FILE",
      "the policy that devimg check takes (YAML): its targets, and gaps of units", NULL },
    { GAP, "gap", 0, DVI_VALUE_WORD, "\"PATTERN without T[,T]: REASON\"",
      "a gap as in the policy, by unit (\"unit:PATTERN\"); repeatable", "gaps" },
    { CONFIGURED, "skip-if-configured", 0, DVI_VALUE_TEXT, "T[,T]",
      "what the build is configured for: with all of the list, nothing is compiled, and that is said", NULL },
    { NARROW, "narrow-to-ocloc", 0, DVI_VALUE_NONE, NULL,
      "leave out targets that ocloc does not know, and say so", NULL },
    { ICPX, "icpx", 0, DVI_VALUE_FILE, "PATH",
      "the compiler of SYCL units (default: the one of the build, else icpx in PATH)", NULL },
    { OCLOC, "ocloc", 0, DVI_VALUE_FILE, "PATH",
      "the compiler of OpenCL C and SPIR-V (default: the one in PATH)", NULL },
    { NVCC, "nvcc", 0, DVI_VALUE_FILE, "PATH",
      "the compiler of CUDA units (default: the one of the build, else nvcc in PATH)", NULL },
    { FLAG, "flag", 0, DVI_VALUE_WORD, "WORD",
      "one more argument for every command (--flag=-Iinclude); repeatable", NULL },
    { LAUNCHER, "launcher", 0, DVI_VALUE_WORD, "WORDS",
      "before each command, such as \"srun -n1\"; split at blanks, no shell", NULL },
    { WORK, "work", 0, DVI_VALUE_FILE, "DIR",
      "where results are kept (default: devimg-compile in the build, else in the cache folder)", NULL },
    { VARIABLE, "env", 0, DVI_VALUE_WORD, "GLOB",
      "a variable that compilers read, beside those known: another value is another result; repeatable", NULL },
    { AGAIN, "again", 0, DVI_VALUE_NONE, NULL,
      "compile also what is unchanged", NULL },
    { DVI_OPTION_JOBS, "jobs", 'j', DVI_VALUE_COUNT, "N",
      "commands at a time (default: DEVIMG_JOBS, else the cores)", NULL },
    { TIMEOUT, "timeout", 0, DVI_VALUE_COUNT, "SECONDS",
      "how long one command may take (default " DVI_TEXT(3000) ")", NULL },
    { NINJA, "ninja", 0, DVI_VALUE_FILE, "FILE",
      "write the commands as a Ninja file, and run nothing", NULL },
    { JUNIT, "junit", 0, DVI_VALUE_FILE, "FILE",
      "write the results as JUnit's XML too", NULL },
    { DVI_OPTION_VERBOSE, "verbose", 'v', DVI_VALUE_NONE, NULL,
      "a column a target, and all that compilers printed", NULL },
};
/* clang-format on */

/* What options and lists are made into. */
struct call {
    struct dvi_line *line;
    struct devimg_policy *policy;
    struct dvi_compile_asked asked;
};

/* The words of the line, and the lines of --units. */
static enum dvi_exit gather_sources(struct call *call)
{
    enum { MOST_BYTES = 16 << 20 };
    const struct dvi_line *line = call->line;
    const char *path = dvi_line_text(line, UNITS, NULL);
    struct devimg_error err = { 0 };
    struct dvi_view text = { 0 }, one = { 0 };
    if (path != NULL &&
        dvi_read_text(path, MOST_BYTES, &call->line->arena, &text, &err) != DEVIMG_OK)
        return dvi_complain_unreadable(&err);
    size_t most = line->words.count + 1;
    for (size_t i = 0; i < text.size; i++)
        most += text.data[i] == '\n';
    const char **sources = dvi_arena_array(&call->line->arena, most + 1, sizeof *sources);
    if (sources == NULL)
        return dvi_no_memory();
    for (size_t i = 0; i < line->words.count; i++)
        sources[call->asked.source_count++] = line->words.items[i];
    while (dvi_next_line(&text, &one)) {
        one = dvi_trimmed(one);
        if (one.size == 0 || one.data[0] == '#')
            continue;
        sources[call->asked.source_count] = dvi_arena_text(&call->line->arena, one);
        if (sources[call->asked.source_count++] == NULL)
            return dvi_no_memory();
    }
    call->asked.sources = sources;
    return DVI_EXIT_OK;
}

/* The words of the launcher; its program is looked up from here, not from where a unit is. */
static enum dvi_exit split_launcher(struct call *call)
{
    const char *text = dvi_line_text(call->line, LAUNCHER, NULL);
    struct devimg_error err = { 0 };
    bool open_quote = false;
    if (text == NULL)
        return DVI_EXIT_OK;
    char *room = dvi_arena_array(&call->line->arena, strlen(text) + 2, 1);
    const char **words = dvi_arena_array(&call->line->arena, strlen(text) / 2 + 2, sizeof *words);
    if (room == NULL || words == NULL)
        return dvi_no_memory();
    for (; dvi_next_shell_word(&text, room, &open_quote); room += strlen(room) + 1)
        words[call->asked.launcher_count++] = room;
    if (open_quote || call->asked.launcher_count == 0)
        return dvi_usage(call->line->command, "--launcher: expected %s",
                         open_quote ? "the end of a quote" : "a program");
    if (dvi_find_program(words[0], &call->line->arena, &words[0], &err) != DEVIMG_OK)
        return dvi_usage(call->line->command, "--launcher %s: %s", words[0], err.text);
    call->asked.launcher = words;
    return DVI_EXIT_OK;
}

static enum dvi_exit read_policy(struct call *call)
{
    struct devimg_error err = { 0 };
    if (!dvi_line_has(call->line, POLICY) && !dvi_line_has(call->line, GAP))
        return DVI_EXIT_OK;
    if (devimg_policy_new(&call->policy, &err) != DEVIMG_OK)
        return dvi_complain_unreadable(&err);
    call->asked.policy = call->policy;
    return dvi_line_policy(call->line, POLICY, call->policy);
}

static enum dvi_exit gather(struct call *call)
{
    static const int programs[DVI_COMPILERS] = {
        [DVI_COMPILER_icpx] = ICPX, [DVI_COMPILER_ocloc] = OCLOC, [DVI_COMPILER_nvcc] = NVCC
    };
    const struct dvi_line *line = call->line;
    struct dvi_compile_asked *asked = &call->asked;
    const struct dvi_setting *seconds = dvi_line_get(line, TIMEOUT);
    const uint32_t threads = line->opts.threads > 0 ? line->opts.threads : dvi_pool_cores();
    asked->build = dvi_line_text(line, BUILD, NULL);
    asked->only = dvi_line_texts(call->line, ONLY, NULL, &asked->only_count);
    asked->lists = dvi_line_texts(call->line, TARGETS, NULL, &asked->list_count);
    asked->more = dvi_line_texts(call->line, FLAG, NULL, &asked->more_count);
    asked->variables = dvi_line_texts(call->line, VARIABLE, NULL, &asked->variable_count);
    asked->configured = dvi_line_text(line, CONFIGURED, NULL);
    asked->narrow = dvi_line_has(line, NARROW);
    asked->work = dvi_line_text(line, WORK, NULL);
    asked->again = dvi_line_has(line, AGAIN);
    asked->seconds = seconds != NULL ? (unsigned)seconds->number : DVI_COMPILE_SECONDS;
    asked->threads = threads < DVI_MOST_THREADS ? threads : DVI_MOST_THREADS;
    if (asked->only == NULL || asked->lists == NULL || asked->more == NULL ||
        asked->variables == NULL)
        return DVI_EXIT_UNREADABLE;
    for (size_t i = 0; i < DVI_COMPILERS; i++) {
        struct devimg_error err = { 0 };
        const char *name = asked->programs[i] = dvi_line_text(line, programs[i], NULL);
        if (name == NULL)
            continue;
        if (strchr(name, '/') != NULL && /* relative to here, not to where a unit is compiled */
            dvi_find_program(name, &call->line->arena, &asked->programs[i], &err) != DEVIMG_OK)
            return dvi_complain_unreadable(&err);
    }
    const enum dvi_exit status = gather_sources(call);
    if (status != DVI_EXIT_OK)
        return status;
    if (asked->build == NULL && asked->source_count == 0)
        return dvi_usage(line->command, "name a build (--build DIR), or sources");
    return split_launcher(call);
}

/* Every name at once, and what to do. */
static enum dvi_exit refuse_targets(const struct dvi_sycl_targets *targets)
{
    dvi_complain_targets("sycl compile: --targets", targets);
    fputs("devimg sycl compile: narrow the list (see devimg help sycl compile)\n", stderr);
    return DVI_EXIT_USAGE;
}

static enum dvi_exit write_files(struct call *call, const struct dvi_compile *compile)
{
    struct devimg_error err = { 0 };
    const char *junit = dvi_line_text(call->line, JUNIT, NULL);
    if (junit != NULL && dvi_output_compile_junit(junit, compile, &err) != DEVIMG_OK)
        return dvi_complain_unreadable(&err);
    return DVI_EXIT_OK;
}

static enum dvi_exit write_ninja(struct call *call, const struct dvi_compile *compile)
{
    struct devimg_error err = { 0 };
    const char *path = dvi_line_text(call->line, NINJA, NULL);
    struct dvi_output *out = &call->line->out;
    if (compile->nothing != NULL)
        return dvi_output_sycl_compile(out, compile);
    if (dvi_output_compile_ninja(path, compile, dvi_line_has(call->line, TIMEOUT), &err) !=
        DEVIMG_OK)
        return dvi_complain_unreadable(&err);
    return dvi_output_compile_written(out, compile, path);
}

static enum dvi_exit run_plan(struct call *call, struct dvi_compile *compile)
{
    struct devimg_error err = { 0 };
    const bool terminal = isatty(STDERR_FILENO) == 1;
    enum devimg_status st = DEVIMG_OK;
    call->asked.progress = terminal && !call->line->out.quiet ? dvi_output_compile_progress : NULL;
    call->asked.context = stderr;
    if (compile->nothing == NULL) {
        dvi_interrupts_catch(); /* commands are stopped, and their files removed, first */
        st = dvi_compile_run(compile, &err);
        if (call->asked.progress != NULL)
            dvi_output_compile_progress(stderr, NULL);
        dvi_interrupts_end();
    }
    if (st != DEVIMG_OK)
        return dvi_complain_unreadable(&err);
    const enum dvi_exit written = write_files(call, compile);
    const enum dvi_exit status = dvi_output_sycl_compile(&call->line->out, compile);
    return written != DVI_EXIT_OK ? written : status;
}

static enum dvi_exit plan(struct call *call)
{
    struct dvi_compile compile = { 0 };
    struct devimg_error err = { 0 };
    enum dvi_exit status = DVI_EXIT_UNREADABLE;
    const enum devimg_status st = dvi_compile_plan(&call->asked, &compile, &err);
    if (st != DEVIMG_OK && err.source[0] == '\0' && dvi_policy_exit(&err) == DVI_EXIT_USAGE)
        status = dvi_usage(call->line->command, "%s", err.text);
    else if (st != DEVIMG_OK)
        status = dvi_complain_of_list(&err);
    else if (compile.targets.refused && compile.nothing == NULL)
        status = refuse_targets(&compile.targets);
    else if (dvi_line_has(call->line, NINJA))
        status = write_ninja(call, &compile);
    else
        status = run_plan(call, &compile);
    dvi_compile_free(&compile);
    return status;
}

static enum dvi_exit run(struct dvi_line *line)
{
    struct call call = { .line = line };
    enum dvi_exit status = DVI_EXIT_OK;
    if (dvi_line_has(line, NINJA) && dvi_line_has(line, JUNIT))
        return dvi_usage(line->command, "--ninja and --junit: choose one, as --ninja runs nothing");
    if (dvi_line_has(line, NINJA) && line->out.json)
        return dvi_usage(line->command, "--ninja writes commands, of which there is no JSON");
    status = read_policy(&call);
    if (status == DVI_EXIT_OK)
        status = gather(&call);
    if (status == DVI_EXIT_OK)
        status = plan(&call);
    devimg_policy_free(call.policy);
    return status;
}

const struct dvi_command dvi_command_sycl_compile = {
    .name = "sycl compile",
    .words = "[SOURCE...]",
    .completes_files = true,
    .summary = "every unit of a build compiled for every target, and all that fails",
    .text =
        "Each unit is compiled for each target by a command of its own, whatever the build was "
        "configured for: a compiler that is given the whole list stops at the first target that "
        "fails. SYCL is compiled by icpx (and ocloc), OpenCL C (.cl) and SPIR-V (.spv) by ocloc, "
        "CUDA (.cu) by nvcc. The answer is a table of units and targets, and a line a failure: "
        "unit, targets, kernel, its sub-group size, message. -v: a column and a line a target, and "
        "all that compilers printed. ocloc ends at the first kernel that it refuses: devimg sycl "
        "lint finds the sizes of all.\n\n"
        "Results are kept. A command is run again when the unit, a file that it includes, the "
        "compiler, the words, or a variable that the compiler reads are others than they were: by "
        "their bytes, not by their times. What timed out, crashed, failed behind a launcher, or "
        "cannot be told is always run again.\n\n"
        "--launcher puts words before each command, so that a cluster runs them; folders must then "
        "be shared. --ninja writes the same commands for Ninja instead.\n\n"
        "Exit status 77: there is nothing to compile (no unit, no compiler), with the reason.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .exits = {
        "every unit compiles for every target, but for declared gaps; or --skip-if-configured found all configured",
        "some do not, or the compiler of some is missing",
        "wrong usage; or a policy or list that an option names is not what it should be",
        "the build, a unit or the policy could not be read, or a result could not be written",
    },
    .skipped = "there is nothing to compile: no unit, no compiler, no target; the first line says why",
    .examples =
        "devimg sycl compile --build build -j 4\tEvery SYCL unit of a build for the 19 default "
        "Intel GPUs.\n"
        "devimg sycl compile --build build --policy devimg.yaml --junit compile.xml\tFor CI, with "
        "the targets and gaps of the policy.\n"
        "devimg sycl compile kernels/*.cl --targets dg2-g10,pvc\tOpenCL C, without a build.\n"
        "devimg sycl compile --build build -j 64 --launcher \"srun -n1\"\tThe same on a cluster.\n",
    .run = run,
};
