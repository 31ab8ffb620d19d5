/* SPDX-License-Identifier: Apache-2.0 */
/* Policy files and keys: what they set, and what each mistake is answered with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/glob.h"
#include "check/policy.h"

static struct devimg_error err;
static char folder[32];
static struct devimg_policy *policy;

static int set_up(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/devimg-policy-XXXXXX");
    assert_non_null(mkdtemp(folder));
    memset(&err, 0, sizeof err);
    assert_int_equal(devimg_policy_new(&policy, &err), DEVIMG_OK);
    return 0;
}

static int tear_down(void **state)
{
    char command[64];
    (void)state;
    devimg_policy_free(policy);
    (void)snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static const char *file_of(const char *name, const void *text, size_t size)
{
    static char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    return path;
}

static enum devimg_status load(const char *yaml)
{
    return devimg_policy_load(policy, file_of("devimg.yaml", yaml, strlen(yaml)), &err);
}

static void every_key_of_a_file_is_taken(void **state)
{
    (void)state;
    static const char ratchet[] = "k\tadl-s\t1\t2\t3\n";
    (void)file_of("scratch.tsv", ratchet, strlen(ratchet));
    (void)file_of("accepted.tsv", "# none\n", 7);
    const enum devimg_status st = load("version: 1\n"
                                       "targets: [ADL_S, pvc]\n"
                                       "fallback: [spir64]\n"
                                       "compression: required\n"
                                       "extra-targets: allow\n"
                                       "sub-group-sizes: [16, 32]\n"
                                       "features: any\n"
                                       "scratch: {ratchet: scratch.tsv}\n"
                                       "baseline: accepted.tsv\n"
                                       "ocloc: /usr/bin/ocloc\n"
                                       "rules: {unmeasured: off, gaps: error}\n"
                                       "gaps:\n"
                                       "  - kernels: \"*psnr_hvs*\"\n"
                                       "    without: [lnl-m, bmg-g21]\n"
                                       "    reason: IGC 2.41.5 crashes on it\n"
                                       "  - {unit: 'a[0-9].cpp', without: pvc, reason: why}\n");
    if (st != DEVIMG_OK)
        fail_msg("%s", err.text);
    assert_true(policy->has_targets);
    assert_int_equal(policy->targets.known.count, 2);
    assert_string_equal(policy->targets.known.items[0]->name, "adl-s");
    assert_string_equal(policy->targets.known.items[1]->name, "pvc");
    assert_string_equal(policy->fallback.known.items[0]->name, "spir64");
    assert_int_equal(policy->compression, DVI_CHOICE_STRICT);
    assert_int_equal(policy->extra_targets, DVI_CHOICE_ANY);
    assert_int_equal(policy->sub_group_sizes, DVI_CHOICE_LISTED);
    assert_int_equal(policy->listed_sizes, 16 | 32);
    assert_int_equal(policy->features, DVI_CHOICE_ANY);
    assert_int_equal(policy->scratch, DVI_CHOICE_STRICT);
    assert_int_equal(policy->ratchet.lines.count, 1);
    assert_int_equal(policy->ratchet.lines.items[0].most[DVI_RATCHET_BUFFER], 3);
    assert_non_null(policy->baseline.path);
    assert_int_equal(policy->baseline.lines.count, 0);
    assert_string_equal(policy->ocloc, "/usr/bin/ocloc");
    assert_int_equal(policy->rules[DVI_RULE_unmeasured], DVI_SETTING_OFF);
    assert_int_equal(policy->rules[DVI_RULE_gaps], DVI_SETTING_ERROR);
    assert_int_equal(policy->gaps.count, 2);
    assert_false(policy->gaps.items[0].by_unit);
    assert_string_equal(policy->gaps.items[0].pattern, "*psnr_hvs*");
    assert_int_equal(policy->gaps.items[0].without.known.count, 2);
    assert_string_equal(policy->gaps.items[0].reason, "IGC 2.41.5 crashes on it");
    assert_true(policy->gaps.items[1].by_unit);
}

/* A mistake, and what the error must hold: the place first. */
static const struct mistake {
    const char *yaml, *text;
} mistakes[] = {
    { "version: 1\ntragets: [pvc]\n",
      "line 2, column 1: unknown key \"tragets\": did you mean \"targets\"?" },
    { "version: 1\nzzzzzzzz: [pvc]\n", "line 2, column 1: unknown key \"zzzzzzzz\"" },
    { "version: 1\nzzzzzzzz: {a: b}\n", "line 2, column 1: unknown key \"zzzzzzzz\"" },
    { "version: 2\n", "line 1, column 10: version: \"2\": this devimg reads version 1" },
    { "targets: [pvc]\n", "line 1, column 1: \"version: 1\" is missing" },
    { "version: 1\ntargets: [pvc]\ntargets: []\n",
      "line 3, column 1: key \"targets\" stands twice" },
    { "version: 1\ntargets: [bmg-g12, pvc, nonesuch9]\n", "\"bmg-g12\" (near: bmg-g21)" },
    { "version: 1\ntargets: [bmg-g12, pvc, nonesuch9]\n", "\"nonesuch9\"" },
    { "version: 1\ntargets: [spir64]\n", "portable images go under fallback" },
    { "version: 1\nfallback: [pvc]\n", "native targets go under targets" },
    { "version: 1\ncompression: yes\n",
      "line 2, column 14: compression: \"yes\": expected required|any" },
    { "version: 1\nsub-group-sizes: [16, 12]\n", "sub-group-sizes: \"12\"" },
    { "version: 1\nscratch: {ratcet: x}\n",
      "line 2, column 11: scratch: unknown key \"ratcet\": expected ratchet" },
    { "version: 1\nrules: {target: off}\n",
      "line 2, column 9: no rule \"target\": did you mean \"targets\"?" },
    { "version: 1\nrules: {targets: maybe}\n", "expected on|off|error|warning|note" },
    { "version: 1\nno-rule: targets\n", "in a file it is rules: {NAME: off}" },
    { "version: 1\ngaps:\n  - {kernels: k, without: [pvc]}\n",
      "line 3, column 5: gaps: reason is missing" },
    { "version: 1\ngaps:\n  - {kernels: k, reason: r}\n", "gaps: without is missing" },
    { "version: 1\ngaps:\n  - {kernels: k, unit: u, without: [pvc], reason: r}\n",
      "gaps: expected either kernels or unit" },
    { "version: 1\ngaps:\n  - {kernel: k, without: [pvc], reason: r}\n",
      "line 3, column 6: gaps: unknown key \"kernel\": did you mean \"kernels\"?" },
    { "version: 1\ngaps: {kernels: k}\n", "gaps: expected a list" },
    { "version: 1\ngaps:\n  - {kernels: [a, b], without: [pvc], reason: r}\n",
      "line 3, column 15: kernels: expected one value, found a list" },
    { "version: 1\nrules: {registration: \"off,targets=off\"}\n",
      "line 2, column 23: rules: registration: expected one word" },
    { "version: 1\nbaseline: [a, b]\n",
      "line 2, column 11: baseline: expected one value, found a list" },
    { "version: 1\ntargets: &a [pvc]\n", "line 2, column 10: anchors are not read" },
    { "version: 1\ntargets: *a\n", "aliases are not read" },
    { "version: !!str 1\n", "tags are not read" },
    { "version: 1\n--- \nversion: 1\n", "a second document" },
    { "version: 1\ntargets: [[[[[[pvc]]]]]]\n", "nested deeper" },
    { "version: 1\ntargets: [pvc\n", "line 3, column 1" },
    { "- version\n", "line 1, column 1: expected a map" },
    { "", "expected a map" },
    { "version: 1\ntargets: {pvc: 1}\n", "line 2, column 10: targets: expected a value or a list" },
};

static void every_mistake_is_refused_with_its_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        assert_int_equal(load(mistakes[i].yaml), DEVIMG_MALFORMED);
        if (strstr(err.text, mistakes[i].text) == NULL)
            fail_msg("%s: %s\n  found %s", mistakes[i].yaml, mistakes[i].text, err.text);
        assert_non_null(strstr(err.source, "devimg.yaml"));
    }
}

static void later_keys_override_earlier_ones_and_failed_ones_change_nothing(void **state)
{
    (void)state;
    assert_int_equal(load("version: 1\ntargets: [pvc, adl-s]\n"), DEVIMG_OK);
    assert_int_equal(devimg_policy_set(policy, "targets", "nonesuch9", &err), DEVIMG_MALFORMED);
    assert_int_equal(policy->targets.known.count, 2);
    assert_int_equal(devimg_policy_set(policy, "targets", "lnl-m", &err), DEVIMG_OK);
    assert_int_equal(policy->targets.known.count, 1);
    assert_string_equal(policy->targets.known.items[0]->name, "lnl-m");
    assert_int_equal(devimg_policy_set(policy, "targets", "", &err), DEVIMG_OK);
    assert_int_equal(policy->targets.known.count, 0);
    assert_true(policy->has_targets);
}

static void keys_of_the_line_take_what_the_file_says(void **state)
{
    static const struct {
        const char *key, *value;
    } good[] = {
        { "version", "1" },
        { "sub-group-sizes", "targets" },
        { "sub-group-sizes", "8, 16" },
        { "scratch", "none" },
        { "no-rule", "gaps,unmeasured" },
        { "rules", "targets=warning,promised=on" },
        { "gaps", "*a: b* without pvc , lnl-m: why: because" },
        { "gaps", "unit:x.cpp without pvc: why" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        if (devimg_policy_set(policy, good[i].key, good[i].value, &err) != DEVIMG_OK)
            fail_msg("%s=%s: %s", good[i].key, good[i].value, err.text);
    assert_string_equal(policy->gaps.items[0].pattern, "*a: b*");
    assert_string_equal(policy->gaps.items[0].reason, "why: because");
    assert_string_equal(policy->gaps.items[1].pattern, "x.cpp");
    assert_int_equal(policy->rules[DVI_RULE_targets], DVI_SETTING_WARNING);
    assert_int_equal(policy->rules[DVI_RULE_gaps], DVI_SETTING_OFF);
    assert_int_equal(devimg_policy_set(policy, "gaps", "k without pvc", &err), DEVIMG_MALFORMED);
    assert_int_equal(devimg_policy_set(policy, "gaps", "k without pvc:", &err), DEVIMG_MALFORMED);
    assert_int_equal(devimg_policy_set(policy, "gaps", "k without : r", &err), DEVIMG_MALFORMED);
    assert_int_equal(devimg_policy_set(policy, "gap", "k without pvc: r", &err), DEVIMG_MALFORMED);
    assert_string_equal(err.text, "unknown key \"gap\": did you mean \"gaps\"?");
}

static void missing_file_is_an_error_of_io_and_large_one_of_limits(void **state)
{
    enum { LARGE = (256 << 10) + 1 };
    char *spaces = malloc(LARGE);
    (void)state;
    assert_non_null(spaces);
    memset(spaces, '\n', LARGE);
    assert_int_equal(devimg_policy_load(policy, "/nonexistent/p.yaml", &err), DEVIMG_IO);
    assert_int_equal(devimg_policy_load(policy, folder, &err), DEVIMG_IO);
    assert_int_equal(devimg_policy_load(policy, file_of("l.yaml", spaces, LARGE), &err),
                     DEVIMG_LIMIT);
    free(spaces);
}

static void trailing_nuls_are_left_out_and_others_refused(void **state)
{
    static const char trailing[] = "version: 1\ntargets: [pvc]\n\0\0\0";
    static const char inside[] = "version: 1\n\0targets: [pvc]\n";
    (void)state;
    assert_int_equal(
        devimg_policy_load(policy, file_of("a.yaml", trailing, sizeof trailing - 1), &err),
        DEVIMG_OK);
    assert_int_equal(policy->targets.known.count, 1);
    assert_int_equal(devimg_policy_load(policy, file_of("b.yaml", inside, sizeof inside - 1), &err),
                     DEVIMG_MALFORMED);
}

/* 256 KiB of each text must be answered within a second: libyaml alone takes minutes for some. */
static void hostile_text_is_refused_in_time(void **state)
{
    static const struct {
        const char *text;
        const char *head;
    } texts[] = {
        { "[", "" },
        { "{", "" },
        { "[\n", "" },
        { "- ", "" },
        { "? ", "" },
        { "a: ", "" },
        { "\"[\", ", "x: [" },
        { "'", "" },
        { "x '[' [ ", "a: " },
        { "[ ]", "a: " },
        { "k: v\n", "" },
        { "&a ", "" },
        { "!", "" },
        { "%", "" },
        { "#[", "" },
        { "\xff", "" },
        { "'x' [ ", "a: b 'c\n" },
        { "-\n ", "" },
        { "[a, ", "a: 'b c\n" },
    };
    enum { SIZE = 256 << 10 };
    char *text = malloc(SIZE);
    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const size_t head = strlen(texts[i].head), one = strlen(texts[i].text);
        size_t used = head;
        memcpy(text, texts[i].head, head);
        for (; used + one <= SIZE; used += one)
            memcpy(text + used, texts[i].text, one);
        const clock_t start = clock();
        assert_int_not_equal(devimg_policy_load(policy, file_of("h.yaml", text, used), &err),
                             DEVIMG_OK);
        const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        if (seconds > 1.0)
            fail_msg("%s: %.1f seconds", texts[i].text, seconds);
    }
    free(text);
}

static void every_cut_of_a_file_is_read_or_refused(void **state)
{
    static const char whole[] = "version: 1\ntargets: [default-intel]\nfallback: spir64\n"
                                "gaps:\n- {kernels: '*\"x', without: [lnl-m], reason: \"r\\n\"}\n"
                                "rules: {gaps: off}\n";
    (void)state;
    enum devimg_status status = DEVIMG_OK; /* any will do: no crash, no leak */
    for (size_t size = 0; size < sizeof whole; size++)
        status |= devimg_policy_load(policy, file_of("cut.yaml", whole, size), &err);
    char flipped[sizeof whole];
    for (size_t i = 0; i + 1 < sizeof whole; i++) {
        memcpy(flipped, whole, sizeof whole);
        flipped[i] = (char)(flipped[i] ^ 0x15);
        status |= devimg_policy_load(policy, file_of("flip.yaml", flipped, sizeof whole - 1), &err);
    }
    assert_true(status != DEVIMG_OK); /* some were refused */
}

static void ratchet_and_baseline_mistakes_name_their_line(void **state)
{
    static const struct {
        const char *key, *text, *expected;
    } bad[] = {
        { "scratch.ratchet", "#\nk\tpvc\t1\t2\n", "line 2, column 1: expected kernel" },
        { "scratch.ratchet", "k\tpvc\t1\t2\t3\t4\n", "line 1, column 1: expected kernel" },
        { "scratch.ratchet", "k\tpvc\t1\tx\t3\n", "line 1, column 1: field 4" },
        { "scratch.ratchet", "k\tpvc\t1\t-2\t3\n", "field 4" },
        { "scratch.ratchet", "k\tnonesuch9\t1\t2\t3\n", "no table has the target \"nonesuch9\"" },
        { "scratch.ratchet", "k\tadl-s\t1\t2\t3\nk\trpl-s\t1\t2\t3\n", "stands twice" },
        { "baseline", "a\tb\tc\td\te\n", "line 1, column 1: 5 fields" },
        { "promised", "{", "line 1" },
        { "promised", "{}", "expected a list" },
        { "promised", "[{\"command\":\"icpx\"}]", "compile command 1: no \"file\"" },
        { "promised", "[{\"file\":\"a\",\"command\":\"icpx\"},7]",
          "compile command 2: no \"file\"" },
        { "promised", "[{\"file\":\"a\"}]", "neither \"arguments\" nor \"command\"" },
        { "promised", "[{\"file\":\"a\",\"arguments\":\"icpx\"}]", "\"arguments\" is no list" },
        { "promised", "[{\"file\":\"a\",\"arguments\":[7]}]", "what is no text" },
        { "promised", "[{\"file\":\"a\",\"arguments\":[],\"command\":\"icpx\"}]", "is empty" },
        { "promised", "[{\"file\":\"a\",\"command\":\"icpx\"}\n,]",
          "line 2, column 3: unexpected token" },
        { "promised", "[] x", "line 1, column 4: expected the end of the file" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const char *path = file_of("bad", bad[i].text, strlen(bad[i].text));
        assert_int_equal(devimg_policy_set(policy, bad[i].key, path, &err), DEVIMG_MALFORMED);
        if (strstr(err.text, bad[i].expected) == NULL)
            fail_msg("%s: found %s", bad[i].expected, err.text);
    }
}

static void compile_lines_are_split_as_a_shell_would(void **state)
{
    static const char json[] =
        "[{\"file\":\"d/a.cpp\",\"command\":\"icpx -fsycl-targets=spir64_gen  "
        "-Xsycl-target-backend=spir64_gen '-device adl-s,\\\\\\\"x' -Xs \\\"-device \\\\\\\"pvc\\\\\\\"\\\" "
        "--offload-compress --no-offload-compress\"},"
        "{\"file\":\"e.cpp\",\"arguments\":[\"icpx\",\"-fsycl-targets=spir64\"]},"
        "{\"file\":\"b.cpp\",\"arguments\":[\"icpx\",\"-Xs\",\"-device pvc\"]},"
        "{\"file\":\"f.cpp\",\"arguments\":[\"g++\"]}]";
    (void)state;
    if (devimg_policy_set(policy, "promised", file_of("c.json", json, strlen(json)), &err) !=
        DEVIMG_OK)
        fail_msg("%s", err.text);
    assert_int_equal(policy->promises.units.count, 2); /* b.cpp has no AOT target */
    const struct dvi_promise *a = dvi_promise_of(&policy->promises, "/x/y/a.cpp");
    assert_non_null(a);
    assert_false(a->compress);
    assert_int_equal(a->targets.known.count, 2); /* adl-s, pvc */
    assert_int_equal(a->targets.unknown.count, 1);
    const struct dvi_promise *e = dvi_promise_of(&policy->promises, "e.cpp");
    assert_non_null(e);
    assert_string_equal(e->targets.known.items[0]->name, "spir64");
    assert_null(dvi_promise_of(&policy->promises, "c.cpp"));
}

/* Of two -fsycl-targets the last one counts (clang's getLastArg()), and a word that goes to another
 * program is no option: the values of -Xsycl-target-backend, -Xclang, -Xlinker. */
static void last_option_of_a_line_is_what_it_promises(void **state)
{
    static const char json[] =
        "[{\"file\":\"a.cpp\",\"arguments\":[\"icpx\",\"-fsycl-targets=spir64_gen,intel_gpu_pvc\","
        "\"-fsycl-targets=spir64\",\"-Xsycl-target-backend=spir64_gen\",\"-device adl-s\","
        "\"-Xclang\",\"-fsycl-targets=intel_gpu_tgllp\"]},"
        "{\"file\":\"b.cpp\",\"arguments\":[\"icpx\",\"-fsycl-targets=spir64_gen\","
        "\"-Xsycl-target-backend=spir64_gen\",\"--offload-compress\","
        "\"-Xsycl-target-backend=spir64_gen\",\"-Xs\",\"-device adl-s\","
        "\"-Xlinker\",\"-Xs\",\"-device pvc\"]},"
        "{\"file\":\"c.cpp\",\"arguments\":[\"icpx\",\"-fsycl-targets=intel_gpu_pvc\","
        "\"-Xsycl-target-backend\",\"-fsycl-targets=spir64\"]}]";
    (void)state;
    if (devimg_policy_set(policy, "promised", file_of("c.json", json, strlen(json)), &err) !=
        DEVIMG_OK)
        fail_msg("%s", err.text);
    const struct dvi_promise *a = dvi_promise_of(&policy->promises, "a.cpp");
    assert_non_null(a);
    assert_int_equal(a->targets.known.count, 1);
    assert_string_equal(a->targets.known.items[0]->name, "spir64");
    assert_null(dvi_promise_of(&policy->promises, "b.cpp")); /* no list gets to ocloc */
    const struct dvi_promise *c = dvi_promise_of(&policy->promises, "c.cpp");
    assert_non_null(c);
    assert_int_equal(c->targets.known.count, 1);
    assert_string_equal(c->targets.known.items[0]->name, "pvc");
}

static void words_of_response_files_count(void **state)
{
    (void)state;
    char json[512];
    const char *path = file_of("a.rsp", "-fsycl-targets=spir64_gen\n-Xs '-device pvc'\n", 43);
    const char *name = strrchr(path, '/');
    (void)snprintf(json, sizeof json,
                   "[{\"file\":\"a.cpp\",\"directory\":\"%.*s\",\"command\":\"icpx @%s\"},"
                   "{\"file\":\"b.cpp\",\"arguments\":[\"icpx\",\"@%s\"]}]",
                   (int)(name - path), path, name + 1, path);
    if (devimg_policy_set(policy, "promised", file_of("c.json", json, strlen(json)), &err) !=
        DEVIMG_OK)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < 2; i++) {
        const struct dvi_promise *unit =
            dvi_promise_of(&policy->promises, i == 0 ? "a.cpp" : "b.cpp");
        assert_non_null(unit);
        assert_int_equal(unit->targets.known.count, 1);
        assert_string_equal(unit->targets.known.items[0]->name, "pvc");
    }
}

static void response_file_that_is_missing_or_names_itself_is_refused(void **state)
{
    (void)state;
    static const char missing[] = "[{\"file\":\"a.cpp\",\"command\":\"icpx @/nonexistent/x.rsp\"}]";
    assert_int_equal(
        devimg_policy_set(policy, "promised", file_of("c.json", missing, strlen(missing)), &err),
        DEVIMG_IO);
    assert_string_equal(err.source, "/nonexistent/x.rsp");
    char text[1024];
    char path[256];
    (void)snprintf(path, sizeof path, "%s", file_of("self.rsp", "", 0));
    (void)snprintf(text, sizeof text, "-c @%s @%s", path, path);
    (void)file_of("self.rsp", text, strlen(text));
    (void)snprintf(text, sizeof text, "[{\"file\":\"a.cpp\",\"command\":\"icpx @%s\"}]", path);
    assert_int_equal(
        devimg_policy_set(policy, "promised", file_of("c.json", text, strlen(text)), &err),
        DEVIMG_MALFORMED);
    assert_string_equal(err.text, "compile command 1: more than 256 response files");
}

/* A module of "a.cpp" may come from either line: only pvc and compression hold for both. */
static void units_of_one_name_promise_what_each_of_their_lines_does(void **state)
{
    static const char json[] =
        "[{\"file\":\"x/a.cpp\",\"arguments\":[\"icpx\",\"-fsycl-targets=intel_gpu_adl_s,"
        "intel_gpu_pvc\",\"--offload-compress\"]},"
        "{\"file\":\"y/a.cpp\",\"arguments\":[\"icpx\",\"-fsycl-targets=intel_gpu_pvc,spir64\","
        "\"--offload-compress\"]},"
        "{\"file\":\"b.cpp\",\"arguments\":[\"icpx\",\"-fsycl-targets=spir64\"]},"
        "{\"file\":\"z/b.cpp\",\"arguments\":[\"g++\",\"-c\",\"b.cpp\"]}]";
    (void)state;
    if (devimg_policy_set(policy, "promised", file_of("c.json", json, strlen(json)), &err) !=
        DEVIMG_OK)
        fail_msg("%s", err.text);
    const struct dvi_promise *a = dvi_promise_of(&policy->promises, "a.cpp");
    assert_non_null(a);
    assert_true(a->compress);
    assert_int_equal(a->targets.known.count, 1);
    assert_string_equal(a->targets.known.items[0]->name, "pvc");
    assert_null(dvi_promise_of(&policy->promises, "b.cpp")); /* one of its lines promises nothing */
}

static void glob_matches_like_the_shell(void **state)
{
    static const struct {
        const char *pattern, *text;
        bool matches;
    } rows[] = {
        { "", "", true },          { "", "a", false },
        { "*", "", true },         { "a*c", "abbc", true },
        { "a*c", "abbd", false },  { "*b*b", "abab", true },
        { "a?c", "abc", true },    { "a?c", "ac", false },
        { "[a-c]x", "bx", true },  { "[a-c]x", "dx", false },
        { "[!a-c]x", "dx", true }, { "[]]", "]", true },
        { "[", "[", true },        { "[!", "[!", true },
        { "[a", "[a", true },      { "\\*", "*", true },
        { "\\*", "a", false },     { "a\\", "a\\", true },
        { "[!]]", "]", false },    { "*psnr*", "_Z4psnrv", true },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (dvi_glob(rows[i].pattern, rows[i].text) != rows[i].matches)
            fail_msg("%s on %s", rows[i].pattern, rows[i].text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_key_of_a_file_is_taken),
        TEST(every_mistake_is_refused_with_its_place),
        TEST(later_keys_override_earlier_ones_and_failed_ones_change_nothing),
        TEST(keys_of_the_line_take_what_the_file_says),
        TEST(missing_file_is_an_error_of_io_and_large_one_of_limits),
        TEST(trailing_nuls_are_left_out_and_others_refused),
        TEST(hostile_text_is_refused_in_time),
        TEST(every_cut_of_a_file_is_read_or_refused),
        TEST(ratchet_and_baseline_mistakes_name_their_line),
        TEST(compile_lines_are_split_as_a_shell_would),
        TEST(last_option_of_a_line_is_what_it_promises),
        TEST(words_of_response_files_count),
        TEST(response_file_that_is_missing_or_names_itself_is_refused),
        TEST(units_of_one_name_promise_what_each_of_their_lines_does),
        TEST(glob_matches_like_the_shell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
