/* SPDX-License-Identifier: Apache-2.0 */
/* The cases of tests/check over the fixtures, through the public calls only. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "devimg.h"

enum { MOST_CASES = 200, MOST_LINE = 512, MOST_TEXT = 16384 };

struct test_case {
    struct devimg_policy *policy;
    char file[256];
    char say[MOST_TEXT], finish[MOST_TEXT];
};

static struct devimg_error err;

/* "error<tab>targets<tab>..." as it stands after the first field of a line. */
static void append(char *text, const char *line)
{
    assert_true(strlen(text) + strlen(line) + 2 < MOST_TEXT);
    strcat(text, line);
    strcat(text, "\n");
}

static void read_line(struct test_case *c, char *line)
{
    char *rest = strchr(line, '\t');
    if (*line == '#' || *line == 0)
        return;
    assert_non_null(rest);
    *rest++ = 0;
    if (strcmp(line, "file") == 0) {
        const char *data = getenv("DEVIMG_TEST_DATA");
        (void)snprintf(c->file, sizeof c->file, "%s/intel/%s", data != NULL ? data : "../data",
                       rest);
    } else if (strcmp(line, "key") == 0) {
        char *value = strchr(rest, '\t');
        assert_non_null(value);
        *value++ = 0;
        if (devimg_policy_set(c->policy, rest, value, &err) != DEVIMG_OK)
            fail_msg("%s: %s", rest, err.text);
    } else if (strcmp(line, "say") == 0) {
        append(c->say, rest);
    } else {
        assert_string_equal(line, "finish");
        append(c->finish, rest);
    }
}

static void read_case(struct test_case *c, const char *path)
{
    char line[MOST_LINE];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(devimg_policy_new(&c->policy, &err), DEVIMG_OK);
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = 0;
        read_line(c, line);
    }
    assert_int_equal(fclose(file), 0);
}

static const char *or_dash(const char *text)
{
    return text != NULL ? text : "-";
}

static void found_lines(const struct devimg_report *report, uint32_t first, char *out)
{
    for (uint32_t i = first; i < devimg_report_count(report); i++) {
        const struct devimg_finding *f = devimg_report_at(report, i);
        char line[MOST_LINE];
        (void)snprintf(line, sizeof line, "%s\t%s\t%s\t%s\t%s\t%s",
                       devimg_severity_name(f->severity), f->rule, f->code, or_dash(f->unit),
                       or_dash(f->kernel), or_dash(f->target));
        append(out, line);
    }
}

static bool is_same(const char *name, const char *expected, const char *found)
{
    if (strcmp(expected, found) == 0)
        return true;
    print_error("%s\nexpected\n%sfound\n%s", name, expected, found);
    return false;
}

/* True when the file says what the case expects. */
static bool run_case(const char *name)
{
    struct test_case *c = calloc(1, sizeof *c);
    struct devimg_file *file = NULL;
    struct devimg_report *report = NULL;
    char path[300];
    char *found = calloc(2, MOST_TEXT);
    assert_true(c != NULL && found != NULL);
    (void)snprintf(path, sizeof path, "../check/%s", name);
    read_case(c, path);
    if (devimg_open(c->file, NULL, &file, &err) != DEVIMG_OK)
        fail_msg("%s: %s", c->file, err.text);
    assert_int_equal(devimg_report_new(c->policy, &report, &err), DEVIMG_OK);
    assert_int_equal(devimg_report_add(report, file, NULL, NULL, &err), DEVIMG_OK);
    found_lines(report, 0, found);
    bool good = is_same(name, c->say, found);
    const uint32_t said = devimg_report_count(report);
    assert_int_equal(devimg_report_finish(report, &err), DEVIMG_OK);
    found_lines(report, said, found + MOST_TEXT);
    good = is_same(name, c->finish, found + MOST_TEXT) && good;
    devimg_report_free(report);
    devimg_close(file);
    devimg_policy_free(c->policy);
    free(found);
    free(c);
    return good;
}

static void every_case_says_what_it_expects(void **state)
{
    size_t count = 0, failed = 0;
    struct dirent *entry = NULL;
    DIR *folder = opendir("../check");
    (void)state;
    assert_non_null(folder);
    while ((entry = readdir(folder)) != NULL) {
        const char *end = strrchr(entry->d_name, '.');
        if (end == NULL || strcmp(end, ".tsv") != 0)
            continue;
        failed += run_case(entry->d_name) ? 0U : 1U;
        count++;
    }
    (void)closedir(folder);
    assert_int_equal(failed, 0);
    assert_in_range(count, 1, MOST_CASES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_case_says_what_it_expects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
