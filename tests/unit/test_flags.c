/* SPDX-License-Identifier: Apache-2.0 */
/* Words for compilers as argument lists, response files read back, and lists of commands that lie. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "check/compile_lines.h"
#include "output/sycl.h"
#include "sycl/flags.h"
#include "sycl/flags_lint.h"

static struct devimg_error err;
static char folder[32];

static int set_up(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/devimg-flags-XXXXXX");
    assert_non_null(mkdtemp(folder));
    memset(&err, 0, sizeof err);
    return 0;
}

static int tear_down(void **state)
{
    char command[64];
    (void)state;
    (void)snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static const char *path_of(const char *name)
{
    static char path[64];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static const char *file_of(const char *name, const void *text, size_t size)
{
    FILE *file = fopen(path_of(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    return path_of(name);
}

/* ---- words ---- */

static void make(const struct dvi_sycl_flags_asked *asked, struct dvi_sycl_flags *flags)
{
    if (dvi_sycl_flags_make(asked, flags, &err) != DEVIMG_OK)
        fail_msg("%s", err.text);
    assert_false(flags->targets.refused);
}

static void expect_words(const struct dvi_sycl_words *words, const char *const *expected)
{
    size_t count = 0;
    for (; expected[count] != NULL; count++) {
        assert_true(count < words->list.count);
        assert_string_equal(words->list.items[count], expected[count]);
    }
    assert_int_equal(words->list.count, count);
}

/* S1-7, S1-11, S3-7: an argument list as execv() takes it. */
static void device_list_is_one_argument_directly_behind_its_selector(void **state)
{
    static const char *const expected[] = { "--offload-compress",
                                            "--offload-compression-level=22",
                                            "-fsycl",
                                            "-fno-sycl-rdc",
                                            "-fsycl-targets=spir64_gen,spir64",
                                            "-Xsycl-target-backend=spir64_gen",
                                            "-device dg2-g10,bmg-g21",
                                            NULL };
    struct dvi_sycl_flags flags = { 0 };
    (void)state;
    make(&(struct dvi_sycl_flags_asked){ .targets = "dg2-g10,bmg-g21" }, &flags);
    expect_words(&flags.steps[DVI_STEP_COMPILE], expected);
    dvi_sycl_flags_free(&flags);
}

/* Every way of asking: the selector has the list behind it, and there is no other list. */
static void no_list_stands_anywhere_else(void **state)
{
    (void)state;
    static const char *const also = "native_cpu,spir64";
    for (unsigned bits = 0; bits < 64; bits++) {
        const struct dvi_sycl_flags_asked asked = {
            .syntax = (bits & 1) != 0 ? DVI_SYNTAX_MSVC : DVI_SYNTAX_GNU,
            .rdc = (bits & 2) != 0,
            .raw = (bits & 4) != 0,
            .strict_fp = (bits & 8) != 0,
            .targets = (bits & 16) != 0 ? "" : "lnl-m",
            .also = &also,
            .also_count = bits >> 5,
        };
        struct dvi_sycl_flags flags = { 0 };
        size_t lists = 0;
        make(&asked, &flags);
        for (int step = 0; step < DVI_STEP_COUNT; step++) {
            const struct dvi_sycl_words *words = &flags.steps[step];
            for (size_t i = 0; i < words->list.count; i++) {
                const char *before = i > 0 ? words->list.items[i - 1] : "";
                const bool is_list = strncmp(words->list.items[i], "-device", 7) == 0;
                assert_int_equal(is_list, strcmp(before, "-Xsycl-target-backend=spir64_gen") == 0);
                assert_string_not_equal(words->list.items[i], "-Xs");
                lists += is_list;
            }
            /* what devimg says, devimg finds nothing wrong with */
            struct dvi_lint lint = { 0 };
            const char *line[32] = { "icpx" };
            for (size_t i = 0; i < words->list.count; i++)
                line[1 + i] = words->list.items[i];
            line[1 + words->list.count] = "-c";
            assert_int_equal(
                dvi_lint_line(line, words->list.count + (step == 0 ? 2 : 1), &lint, &err),
                DEVIMG_OK);
            for (size_t i = 0; i < lint.findings.count; i++)
                assert_int_not_equal(lint.findings.items[i].finding.severity, DEVIMG_ERROR);
            dvi_lint_free(&lint);
        }
        assert_int_equal(lists, (bits & 16) != 0 ? 0 : (bits & 3) == 2 ? 2 : 1);
        dvi_sycl_flags_free(&flags);
    }
}

/* The one word -fsycl-targets of a step; NULL: it has none. */
static const char *entries_of(const struct dvi_sycl_flags *flags, enum dvi_sycl_step step)
{
    static const char start[] = "-fsycl-targets=";
    const char *found = NULL;
    for (size_t i = 0; i < flags->steps[step].list.count; i++) {
        const char *word = flags->steps[step].list.items[i];
        if (strncmp(word, start, strlen(start)) != 0)
            continue;
        assert_null(found);
        found = word + strlen(start);
    }
    return found;
}

/* Entries beside the native list are in the words of every list, and of each step that has targets. */
static void further_entries_stand_in_the_words_of_every_list(void **state)
{
    static const struct {
        const char *targets, *fallback, *also, *expected;
    } cases[] = {
        { "lnl-m", NULL, "native_cpu", "spir64_gen,spir64,native_cpu" },
        { "lnl-m", "", "native_cpu", "spir64_gen,native_cpu" },
        { "lnl-m", NULL, " Spir64 ,, spir64_gen,NVPTX64-nvidia-cuda,",
          "spir64_gen,spir64,nvptx64-nvidia-cuda" },
        { "lnl-m", NULL, "spir64_x86_64,spir64_x86_64", "spir64_gen,spir64,spir64_x86_64" },
        { "lnl-m", "spirv64", "spir64,native_cpu", "spir64_gen,spirv64,spir64,native_cpu" },
        { "", NULL, "native_cpu", "spir64,native_cpu" },
        { "", "", "native_cpu", "native_cpu" },
        { "", NULL, "spir64_gen,spir64,spir64_x86_64", "spir64,spir64_x86_64" },
        { "", NULL, "spir64_gen,spir64", NULL },
        { "", NULL, "", NULL },
        { "lnl-m", NULL, "bmg-g21", "spir64_gen,spir64,intel_gpu_bmg_g21" },
    };
    static const struct {
        bool rdc, msvc, has_list[DVI_STEP_COUNT];
    } ways[] = { { false, false, { true, false, false } },
                 { true, false, { true, true, true } },
                 { false, true, { true, false, true } } };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
            struct dvi_sycl_flags flags = { 0 };
            make(
                &(struct dvi_sycl_flags_asked){
                    .syntax = ways[w].msvc ? DVI_SYNTAX_MSVC : DVI_SYNTAX_GNU,
                    .rdc = ways[w].rdc,
                    .targets = cases[i].targets,
                    .fallback = cases[i].fallback,
                    .also = &cases[i].also,
                    .also_count = 1,
                },
                &flags);
            for (int step = 0; step < DVI_STEP_COUNT; step++) {
                const char *found = entries_of(&flags, (enum dvi_sycl_step)step);
                if (!ways[w].has_list[step] || cases[i].expected == NULL)
                    assert_null(found);
                else if (found == NULL || strcmp(found, cases[i].expected) != 0)
                    fail_msg("\"%s\" also \"%s\", step %d: %s", cases[i].targets, cases[i].also,
                             step, found != NULL ? found : "no list");
            }
            dvi_sycl_flags_free(&flags);
        }
    }
}

/* Several lists are one; AdaptiveCpp gets none of it, and that is said. */
static void further_entries_come_from_several_lists(void **state)
{
    static const char *const also[] = { "native_cpu", "amdgcn-amd-amdhsa" };
    struct dvi_sycl_flags flags = { 0 };
    (void)state;
    make(&(struct dvi_sycl_flags_asked){ .targets = "lnl-m", .also = also, .also_count = 2 },
         &flags);
    assert_string_equal(entries_of(&flags, DVI_STEP_COMPILE),
                        "spir64_gen,spir64,native_cpu,amdgcn-amd-amdhsa");
    assert_int_equal(flags.warnings.count, 0);
    dvi_sycl_flags_free(&flags);
    make(
        &(struct dvi_sycl_flags_asked){
            .compiler = DVI_SYCL_ACPP, .raw = true, .also = also, .also_count = 2 },
        &flags);
    assert_null(entries_of(&flags, DVI_STEP_COMPILE));
    assert_non_null(strstr(flags.warnings.items[0], "gets no word of it"));
    dvi_sycl_flags_free(&flags);
}

/* S1-1 in the order of S1-1 X. */
static void default_is_the_list_of_nineteen(void **state)
{
    struct dvi_sycl_flags flags = { 0 };
    (void)state;
    make(&(struct dvi_sycl_flags_asked){ 0 }, &flags);
    const struct dvi_sycl_words *words = &flags.steps[DVI_STEP_COMPILE];
    assert_string_equal(words->list.items[words->list.count - 1],
                        "-device dg2-g10,dg2-g11,acm-g10,acm-g11,acm-g12,tgllp,adl-s,adl-p,adl-n,"
                        "rpl-s,rpl-p,mtl-h,mtl-u,arl-h,arl-s,arl-u,lnl-m,bmg-g21,bmg-g31");
    dvi_sycl_flags_free(&flags);
}

/* ---- response files ---- */

/* LLVM's TokenizeGNUCommandLine and CommandLineToArgvW. */
static void words_are_quoted_as_their_reader_wants(void **state)
{
    static const struct {
        const char *word, *gnu, *msvc;
    } cases[] = {
        { "-fsycl", "-fsycl", "-fsycl" },
        { "-device a,b", "\"-device a,b\"", "\"-device a,b\"" },
        { "", "\"\"", "\"\"" },
        { "C:\\x", "\"C:\\\\x\"", "C:\\x" },
        { "C:\\x y\\", "\"C:\\\\x y\\\\\"", "\"C:\\x y\\\\\"" },
        { "a\"b", "\"a\\\"b\"", "\"a\\\"b\"" },
        { "a\\\"b", "\"a\\\\\\\"b\"", "\"a\\\\\\\"b\"" },
        { "it's", "\"it's\"", "it's" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int msvc = 0; msvc < 2; msvc++) {
            char text[64] = "";
            FILE *file = fmemopen(text, sizeof text, "w");
            assert_non_null(file);
            dvi_quote_word(file, cases[i].word, msvc != 0);
            assert_int_equal(fclose(file), 0);
            assert_string_equal(text, msvc != 0 ? cases[i].msvc : cases[i].gnu);
        }
    }
}

static enum devimg_status same_words(void *context, const struct dvi_compile_line *line,
                                     enum devimg_status status, struct devimg_error *error)
{
    const struct dvi_sycl_words *words = context;
    (void)error;
    assert_int_equal(status, DEVIMG_OK);
    assert_int_equal(line->count, words->list.count);
    for (size_t i = 0; i < line->count; i++)
        assert_string_equal(line->words[i], words->list.items[i]);
    return DEVIMG_OK;
}

static void response_file_gives_the_same_arguments_and_replaces_its_own_kind(void **state)
{
    struct dvi_sycl_flags flags = { 0 };
    char at[72];
    (void)state;
    (void)snprintf(at, sizeof at, "@%s", path_of("x.rsp"));
    for (unsigned bits = 0; bits < 4; bits++) {
        make(&(struct dvi_sycl_flags_asked){ .raw = (bits & 1) != 0, .strict_fp = (bits & 2) != 0 },
             &flags);
        for (int step = 0; step < DVI_STEP_COUNT; step++) {
            struct dvi_sycl_words *words = &flags.steps[step];
            if (dvi_output_sycl_response(at + 1, words, false, &err) != DEVIMG_OK)
                fail_msg("%s", err.text);
            assert_int_equal(
                dvi_compile_line_take((const char *[]){ at }, 1, same_words, words, &err),
                DEVIMG_OK);
        }
        dvi_sycl_flags_free(&flags);
    }
}

/* Also one whose words could be devimg's. */
static void response_file_of_somebody_else_is_left_alone(void **state)
{
    static const char *const texts[] = { "mine\n", "-fsycl\n-O3\n", "\n-fsycl\n",
                                         "--offload-compress\n--offload-compression-level=22\n" };
    struct dvi_sycl_flags flags = { 0 };
    (void)state;
    make(&(struct dvi_sycl_flags_asked){ 0 }, &flags);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char after[64] = "";
        const char *path = file_of("mine.rsp", texts[i], strlen(texts[i]));
        assert_int_equal(dvi_output_sycl_response(path, &flags.steps[0], false, &err), DEVIMG_IO);
        assert_non_null(strstr(err.text, "is left alone"));
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        assert_int_equal(fread(after, 1, sizeof after - 1, file), strlen(texts[i]));
        assert_int_equal(fclose(file), 0);
        assert_string_equal(after, texts[i]);
    }
    const char *empty = file_of("mine.rsp", "", 0);
    assert_int_equal(dvi_output_sycl_response(empty, &flags.steps[0], false, &err), DEVIMG_OK);
    dvi_sycl_flags_free(&flags);
}

/* ---- lists of commands that lie ---- */

static void expect_lint(const char *text, size_t size, enum devimg_status status, const char *said)
{
    struct dvi_lint lint = { 0 };
    const char *path = file_of("c.json", text, size);
    assert_int_equal(dvi_lint_commands(path, NULL, 0, &lint, &err), status);
    if (status != DEVIMG_OK && strstr(err.text, said) == NULL)
        fail_msg("%s: found %s", said, err.text);
    if (status == DEVIMG_OK) {
        assert_true(lint.findings.count > 0);
        if (strstr(lint.findings.items[0].finding.message, said) == NULL)
            fail_msg("%s: found %s", said, lint.findings.items[0].finding.message);
    }
    dvi_lint_free(&lint);
}

static void lists_that_are_none_are_told(void **state)
{
    static const struct {
        const char *text;
        enum devimg_status status;
        const char *said;
    } cases[] = {
        { "", DEVIMG_MALFORMED, "expected a list" },
        { "{}", DEVIMG_MALFORMED, "expected a list" },
        { "[", DEVIMG_MALFORMED, "" },
        { "[{\"file\":\"a\",\"command\":\"icpx\"}", DEVIMG_MALFORMED, "\"]\"" },
        { "[{\"file\":\"a\",\"command\":\"ic\\u0000px\"}]", DEVIMG_MALFORMED, "" },
        { "[7]", DEVIMG_OK, "no \"file\"" },
        { "[{\"file\":\"a\"}]", DEVIMG_OK, "neither" },
        { "[{\"file\":\"a\",\"arguments\":[7]}]", DEVIMG_OK, "what is no text" },
        { "[{\"file\":\"a\",\"command\":\"\"}]", DEVIMG_OK, "nothing was judged" },
        { "[{\"file\":\"a\",\"command\":\"icpx -fsycl \\\"x\"}]", DEVIMG_OK, "no end" },
        { "[{\"file\":\"a\",\"command\":\"icpx @/nonexistent/x\"}]", DEVIMG_OK, "/nonexistent/x" },
        { "[{\"file\":\"a\",\"command\":\"icpx @/dev/zero\"}]", DEVIMG_OK, "/dev/zero" },
        { "[{\"file\":\"a\",\"command\":\"icpx @/\"}]", DEVIMG_OK, "/" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_lint(cases[i].text, strlen(cases[i].text), cases[i].status, cases[i].said);
    static const char binary[] = "\177ELF\2\1\1\0\0\0\xff\xfe";
    expect_lint(binary, sizeof binary, DEVIMG_MALFORMED, "expected a list");
    static const char latin[] = "[{\"file\":\"\xe4.cpp\",\"command\":\"icpx -fsycl\"}]";
    expect_lint(latin, sizeof latin - 1, DEVIMG_MALFORMED, "");
}

static void response_files_that_name_themselves_end_in_a_finding(void **state)
{
    char text[256];
    (void)state;
    const char *path = file_of("self.rsp", "", 0);
    (void)snprintf(text, sizeof text, "-c @%s @%s", path, path);
    (void)file_of("self.rsp", text, strlen(text));
    (void)snprintf(text, sizeof text, "[{\"file\":\"a\",\"command\":\"icpx @%s\"}]", path);
    expect_lint(text, strlen(text), DEVIMG_OK, "more than 256 response files");
}

/* Megabytes of memory that the process has ever held. */
static long most_memory(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_maxrss / 1024;
}

/* 50 MB of `unit`, again and again, between `head` and `tail`. */
static char *repeated(const char *head, const char *unit, const char *tail, size_t *size)
{
    enum { MOST = 50 << 20 };
    const size_t step = strlen(unit);
    char *text = malloc(MOST + strlen(head) + strlen(tail) + step);
    assert_non_null(text);
    char *at = stpcpy(text, head);
    while (at < text + MOST) {
        memcpy(at, unit, step);
        at += step;
    }
    at = stpcpy(at, tail);
    *size = (size_t)(at - text);
    return text;
}

static void fifty_megabytes_take_seconds_and_little_memory(void **state)
{
    static const struct {
        const char *head, *unit, *tail;
        enum devimg_status status;
        const char *said;
    } cases[] = {
        /* many commands, each with many findings */
        { "[",
          "{\"file\":\"a.cpp\",\"command\":\"icpx -fsycl -fsycl-targets=spir64_gen,q,r -Xs "
          "'-device x,y,adl-s,adl-s' -device z\"},",
          "{\"file\":\"a\",\"command\":\"\"}]", DEVIMG_OK, "" },
        /* one command without an end: of words, of text, of nesting */
        { "[{\"file\":\"a\",\"arguments\":[", "\"a\",", "\"b\"]}]", DEVIMG_LIMIT, "4 MiB" },
        { "[{\"file\":\"a\",\"command\":\"", "x ", "\"}]", DEVIMG_LIMIT, "4 MiB" },
        { "[", "[", "", DEVIMG_MALFORMED, "" },
        { "[", "{\"name\":\"0123456789012345678901234567890123456789\"},", "{}]", DEVIMG_OK,
          "no \"file\"" },
        { "", "\1\2\3", "", DEVIMG_MALFORMED, "" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t size = 0;
        char *text = repeated(cases[i].head, cases[i].unit, cases[i].tail, &size);
        const clock_t start = clock();
        expect_lint(text, size, cases[i].status, cases[i].said);
        free(text);
        const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        if (seconds > 60)
            fail_msg("case %zu: %.1f s", i, seconds);
#if !defined(__SANITIZE_ADDRESS__)
        if (most_memory() > 700)
            fail_msg("case %zu: %ld MB", i, most_memory());
#endif
        (void)most_memory;
    }
}

/* One command as long as one may be, of names that nobody knows. */
static void four_megabytes_of_unknown_names_take_seconds(void **state)
{
    enum { NAMES = 400000 };
    (void)state;
    char *text = malloc(NAMES * 10 + 200);
    assert_non_null(text);
    char *at = stpcpy(text, "[{\"file\":\"a\",\"command\":\"icpx -fsycl -Xs '-device n");
    for (unsigned i = 0; i < NAMES; i++)
        at += sprintf(at, ",n%u", i);
    at = stpcpy(at, "'\"}]");
    struct dvi_lint lint = { 0 };
    const char *path = file_of("c.json", text, (size_t)(at - text));
    free(text);
    const clock_t start = clock();
    assert_int_equal(dvi_lint_commands(path, NULL, 0, &lint, &err), DEVIMG_OK);
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 60);
    assert_int_equal(lint.findings.count, DVI_LINT_MOST + 1);
    assert_string_equal(lint.findings.items[DVI_LINT_MOST].finding.code, "more-findings");
    assert_int_equal(lint.findings.items[DVI_LINT_MOST].finding.severity, DEVIMG_ERROR);
    dvi_lint_free(&lint);
}

/* A line with one note (images stored raw), `raw` times; then one with one error (an unknown name),
 * `wrong` times; then one that cannot be read, `unread` times. */
static void lint_many(unsigned raw, unsigned wrong, unsigned unread, struct dvi_lint *lint)
{
    static const char *const lines[] = {
        "{\"file\":\"a\",\"command\":\"icpx -fsycl -fsycl-targets=intel_gpu_bmg_g21,spir64\"}",
        "{\"file\":\"a\",\"command\":\"icpx -fsycl -fsycl-targets=spir64,nonsense\"}", "7"
    };
    const unsigned counts[] = { raw, wrong, unread };
    const char *path = path_of("c.json");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (unsigned kind = 0, n = 0; kind < 3; kind++)
        for (unsigned i = 0; i < counts[kind]; i++)
            fprintf(file, "%s%s\n", n++ == 0 ? "[" : ",", lines[kind]);
    fputs("]", file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(dvi_lint_commands(path, NULL, 0, lint, &err), DEVIMG_OK);
}

static const struct devimg_finding *last_finding(const struct dvi_lint *lint, size_t back)
{
    assert_true(lint->findings.count > back);
    return &lint->findings.items[lint->findings.count - 1 - back].finding;
}

static size_t errors_of(const struct dvi_lint *lint)
{
    size_t count = 0;
    for (size_t i = 0; i < lint->findings.count; i++)
        count += lint->findings.items[i].finding.severity == DEVIMG_ERROR;
    return count;
}

static void no_error_is_lost_past_ten_thousand_findings(void **state)
{
    struct dvi_lint lint = { 0 };
    (void)state;
    lint_many(DVI_LINT_MOST - 1, 1, 0, &lint); /* as many as are kept: nothing is left out */
    assert_int_equal(lint.findings.count, DVI_LINT_MOST);
    assert_int_equal(errors_of(&lint), 1);
    dvi_lint_free(&lint);
    lint_many(DVI_LINT_MOST - 1, 2, 0, &lint); /* the last that is kept is an error */
    assert_int_equal(lint.findings.count, DVI_LINT_MOST + 1);
    assert_string_equal(last_finding(&lint, 0)->code, "more-findings");
    assert_string_equal(last_finding(&lint, 0)->message, "1 finding more");
    assert_int_equal(errors_of(&lint), 2);
    dvi_lint_free(&lint);
    lint_many(DVI_LINT_MOST, 1, 0, &lint); /* the first that is not kept is one */
    assert_int_equal(last_finding(&lint, 0)->severity, DEVIMG_ERROR);
    dvi_lint_free(&lint);
    lint_many(DVI_LINT_MOST + 7, 0, 0, &lint);
    assert_int_equal(last_finding(&lint, 0)->severity, DEVIMG_NOTE);
    assert_string_equal(last_finding(&lint, 0)->message, "7 findings more");
    dvi_lint_free(&lint);
}

static void ten_thousand_unreadable_lines_do_not_hide_that_nothing_was_judged(void **state)
{
    struct dvi_lint lint = { 0 };
    (void)state;
    lint_many(0, 0, DVI_LINT_MOST + 2, &lint);
    assert_int_equal(lint.findings.count, DVI_LINT_MOST + 2);
    assert_string_equal(last_finding(&lint, 1)->code, "no-sycl");
    assert_string_equal(last_finding(&lint, 0)->code, "more-findings");
    assert_int_equal(last_finding(&lint, 0)->severity, DEVIMG_ERROR);
    assert_string_equal(last_finding(&lint, 0)->message, "2 findings more");
    dvi_lint_free(&lint);
}

/* Codes of what is said of one line, each with a blank behind it, in the order they are said. */
static const char *codes_of(const char *const *words, size_t count)
{
    static char codes[256];
    struct dvi_lint lint = { 0 };
    assert_int_equal(dvi_lint_line(words, count, &lint, &err), DEVIMG_OK);
    codes[0] = '\0';
    for (size_t i = 0; i < lint.findings.count; i++) {
        assert_true(strlen(codes) + strlen(lint.findings.items[i].finding.code) < sizeof codes - 2);
        strcat(strcat(codes, lint.findings.items[i].finding.code), " ");
    }
    dvi_lint_free(&lint);
    return codes;
}
#define CODES(...)                                 \
    codes_of((const char *const[]){ __VA_ARGS__ }, \
             sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *))

/* As `check --promised` reads it: last_option_of_a_line_is_what_it_promises in test_policy.c. */
static void last_option_of_a_line_is_judged(void **state)
{
    (void)state;
    /* what stands in both is no repeat, what stands in the first alone is not looked at */
    assert_string_equal(CODES("icpx", "-fsycl", "-fsycl-targets=nonsense,spir64,intel_gpu_pvc",
                              "-fsycl-targets=spir64,intel_gpu_pvc", "--offload-compress"),
                        "");
    assert_string_equal(CODES("icpx", "-fsycl", "-fsycl-targets=spir64", "--offload-compress",
                              "-fsycl-targets=intel_gpu_pvc,intel_gpu_pvc"),
                        "repeated-target no-fallback ");
    /* a word that is handed on is no option */
    assert_string_equal(CODES("icpx", "-fsycl", "-fsycl-targets=spir64,intel_gpu_pvc",
                              "--offload-compress", "-Xsycl-target-backend=spir64_gen",
                              "--no-offload-compress", "-Xclang", "-fsycl-targets=nonsense"),
                        "selector-without-target ");
    assert_string_equal(CODES("icpx", "-fsycl", "-fsycl-targets=spir64", "-Xclang", "-device pvc"),
                        "device-misplaced ");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(device_list_is_one_argument_directly_behind_its_selector),
        TEST(no_list_stands_anywhere_else),
        TEST(further_entries_stand_in_the_words_of_every_list),
        TEST(further_entries_come_from_several_lists),
        TEST(default_is_the_list_of_nineteen),
        TEST(words_are_quoted_as_their_reader_wants),
        TEST(response_file_gives_the_same_arguments_and_replaces_its_own_kind),
        TEST(response_file_of_somebody_else_is_left_alone),
        TEST(lists_that_are_none_are_told),
        TEST(response_files_that_name_themselves_end_in_a_finding),
        TEST(fifty_megabytes_take_seconds_and_little_memory),
        TEST(four_megabytes_of_unknown_names_take_seconds),
        TEST(last_option_of_a_line_is_judged),
        TEST(no_error_is_lost_past_ten_thousand_findings),
        TEST(ten_thousand_unreadable_lines_do_not_hide_that_nothing_was_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
