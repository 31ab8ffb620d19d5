/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads damaged copies of good files through the public API: cut at many lengths, bytes flipped.
 * Reading may fail; it may not crash, hang, or answer with records that point outside the file.
 *
 *    damage CASES FILE...     CASES cuts and CASES flips a file, evenly spread; 0: every byte
 *
 * A failing case is named on stderr ("lib.so: flip 0xff at 1234"), also when the process dies of
 * it.
 */
#include <devimg.h>

#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECONDS_PER_CASE = 10 };

struct damaged {
    const char *name;
    const char *how;
    size_t at;
    uint8_t *bytes;
    size_t size;
};

static struct damaged current;
static bool finished;

static void say_case(void)
{
    fprintf(stderr, "%s: %s at %zu", current.name, current.how, current.at);
}

/* Also called when a sanitizer ends the process. */
static void at_exit(void)
{
    if (!finished) {
        say_case();
        fputs(": the process ended here\n", stderr);
    }
}

static void on_signal(int number)
{
    say_case();
    fprintf(stderr, ": %s\n", number == SIGALRM ? "no answer in time" : strsignal(number));
    _exit(3);
}

static void fail(const char *what)
{
    say_case();
    fprintf(stderr, ": %s\n", what);
    finished = true;
    exit(1);
}

static void hold(bool good, const char *what)
{
    if (!good)
        fail(what);
}

static bool in_range(uint32_t first, uint32_t count, uint32_t all)
{
    return first <= all && count <= all - first;
}

static void hold_image(const struct devimg_file *file, const struct devimg_image *image, uint32_t i)
{
    hold(image->record < devimg_record_count(file), "image of no record");
    hold(image->parent == DEVIMG_NONE || image->parent < i, "image before its parent");
    hold(image->module == DEVIMG_NONE || image->module < devimg_module_count(file),
         "image of a module that is not there");
    hold(image->offset == DEVIMG_UNKNOWN || image->stored_size == DEVIMG_UNKNOWN ||
             (image->offset <= current.size && image->stored_size <= current.size - image->offset),
         "image past the end of the file");
    hold(devimg_format_name(image->format) != NULL, "image without a format");
}

static void hold_records(const struct devimg_file *file)
{
    for (uint32_t i = 0; i < devimg_record_count(file); i++) {
        const struct devimg_record *r = devimg_record_at(file, i);
        hold(in_range(r->first_image, r->image_count, devimg_image_count(file)) &&
                 in_range(r->first_module, r->module_count, devimg_module_count(file)) &&
                 in_range(r->first_kernel, r->kernel_count, devimg_kernel_count(file)) &&
                 in_range(r->first_finding, r->finding_count, devimg_finding_count(file)),
             "a range of a record ends past its table");
    }
    for (uint32_t i = 0; i < devimg_image_count(file); i++)
        hold_image(file, devimg_image_at(file, i), i);
    for (uint32_t i = 0; i < devimg_kernel_count(file); i++) {
        const struct devimg_kernel *k = devimg_kernel_at(file, i);
        hold(k->name != NULL && k->image < devimg_image_count(file), "kernel of no image");
    }
    for (uint32_t i = 0; i < devimg_finding_count(file); i++) {
        const struct devimg_finding *f = devimg_finding_at(file, i);
        hold(f->rule != NULL && f->message != NULL && f->message[0] != '\0', "empty finding");
    }
}

static bool expected(enum devimg_status status)
{
    return status == DEVIMG_OK || status == DEVIMG_TRUNCATED || status == DEVIMG_MALFORMED ||
           status == DEVIMG_UNSUPPORTED || status == DEVIMG_LIMIT;
}

static void check_file(struct devimg_file *file, const struct devimg_policy *policy)
{
    struct devimg_report *report = NULL;
    struct devimg_error error = { DEVIMG_OK, 0, "", "" };
    hold(devimg_report_new(policy, &report, &error) == DEVIMG_OK, "no report");
    hold(expected(devimg_report_add(report, file, NULL, NULL, &error)), "check failed");
    hold(expected(devimg_report_finish(report, &error)), "check failed at its end");
    for (uint32_t i = 0; i < devimg_report_count(report); i++) {
        const struct devimg_finding *f = devimg_report_at(report, i);
        hold(f->rule != NULL && f->code != NULL && f->message != NULL, "empty finding of a check");
    }
    devimg_report_free(report);
}

static void read_case(const struct devimg_policy *policy)
{
    struct devimg_opts opts = { 0 };
    struct devimg_file *file = NULL;
    struct devimg_error error = { DEVIMG_OK, 0, "", "" };
    /* A caller may want no error: every second case passes NULL. */
    struct devimg_error *err = current.at % 2 == 0 ? &error : NULL;
    opts.struct_size = sizeof opts;
    opts.threads = 1;
    opts.code_digests = 1;
    opts.max_total_inflated_size = 256u << 20;
    alarm(SECONDS_PER_CASE);
    const enum devimg_status status =
        devimg_open_bytes(current.bytes, current.size, current.name, &opts, &file, err);
    if (status == DEVIMG_OK) {
        hold(expected(devimg_read_kernels(file, err)), "reading kernels failed");
        hold_records(file);
        check_file(file, policy);
        devimg_close(file);
    } else {
        hold(expected(status), "an unexpected status");
        hold(err == NULL || err->text[0] != '\0', "an error without text");
    }
}

/* Exactly as large as the cut, so that a sanitizer sees a read past it. */
static void cut_case(const uint8_t *bytes, size_t size, const struct devimg_policy *policy)
{
    current.how = "cut";
    current.at = current.size = size;
    current.bytes = malloc(size > 0 ? size : 1);
    if (current.bytes == NULL)
        fail("out of memory");
    if (size > 0)
        memcpy(current.bytes, bytes, size);
    read_case(policy);
    free(current.bytes);
}

static void flip_cases(const uint8_t *bytes, size_t size, size_t step,
                       const struct devimg_policy *policy)
{
    static const struct {
        uint8_t mask;
        const char *how;
    } flips[] = { { 0xff, "flip 0xff" }, { 0x01, "flip 0x01" }, { 0x80, "flip 0x80" } };
    current.size = size;
    current.bytes = malloc(size > 0 ? size : 1);
    if (current.bytes == NULL)
        fail("out of memory");
    memcpy(current.bytes, bytes, size);
    size_t number = 0;
    for (size_t at = 0; at < size; at += step, number++) {
        for (size_t k = 0; k < 3; k++) {
            if (step > 1 && k != number % 3)
                continue; /* a spread run takes one of the flips at each place */
            current.how = flips[k].how;
            current.at = at;
            current.bytes[at] = (uint8_t)(bytes[at] ^ flips[k].mask);
            read_case(policy);
            current.bytes[at] = bytes[at];
        }
    }
    free(current.bytes);
}

static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL || fseek(f, 0, SEEK_END) != 0)
        return NULL;
    const long end = ftell(f);
    uint8_t *bytes = malloc(end > 0 ? (size_t)end : 1);
    rewind(f);
    *size = bytes != NULL && end >= 0 ? fread(bytes, 1, (size_t)end, f) : 0;
    fclose(f);
    return bytes;
}

static struct devimg_policy *policy_new(void)
{
    struct devimg_policy *policy = NULL;
    struct devimg_error error;
    if (devimg_policy_new(&policy, &error) != DEVIMG_OK ||
        devimg_policy_set(policy, "targets", "tgllp,adl-s,dg2-g11", &error) != DEVIMG_OK ||
        devimg_policy_set(policy, "fallback", "spir64", &error) != DEVIMG_OK ||
        devimg_policy_set(policy, "compression", "required", &error) != DEVIMG_OK ||
        devimg_policy_set(policy, "max-bytes", "dg2-g11=1K,spir64=1K,all=1", &error) != DEVIMG_OK ||
        devimg_policy_set(policy, "duplicates", "deny", &error) != DEVIMG_OK) {
        fprintf(stderr, "damage: no policy\n");
        exit(2);
    }
    return policy;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: damage CASES FILE...\n");
        return 2;
    }
    const size_t cases = (size_t)strtoul(argv[1], NULL, 10);
    struct devimg_policy *policy = policy_new();
    signal(SIGALRM, on_signal);
    atexit(at_exit);
    for (int i = 2; i < argc; i++) {
        size_t size = 0;
        uint8_t *bytes = read_file(argv[i], &size);
        if (bytes == NULL) {
            finished = true;
            perror(argv[i]);
            return 2;
        }
        /* Odd, so that the places do not keep to one residue of a field's alignment. */
        const size_t step = cases == 0 || size <= cases ? 1 : size / cases | 1;
        current.name = argv[i];
        for (size_t at = 0; at < size; at += step)
            cut_case(bytes, at, policy);
        flip_cases(bytes, size, step, policy);
        free(bytes);
    }
    alarm(0);
    devimg_policy_free(policy);
    finished = true;
    printf("%d files\n", argc - 2);
    return 0;
}
