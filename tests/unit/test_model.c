/* SPDX-License-Identifier: Apache-2.0 */
/* devimg_open() and devimg_read_kernels() over files made in memory: an ELF executable at a fixed
 * address whose only section holds DPC++ descriptors (layouts: src/bundle/dpcpp.c), and archives
 * as ar(5) describes them. Native images are the fixtures of tests/data/intel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "config.h"
#include "devimg.h"

enum { BASE = 0x400000, HEADER = 64 };

/* A growing file. */
struct file {
    uint8_t *bytes;
    size_t size, room;
};

static size_t put(struct file *f, const void *bytes, size_t size)
{
    if (f->size + size > f->room) {
        f->room = (f->size + size) * 2;
        f->bytes = realloc(f->bytes, f->room);
        assert_non_null(f->bytes);
    }
    if (bytes != NULL)
        memcpy(f->bytes + f->size, bytes, size);
    else
        memset(f->bytes + f->size, 0, size);
    f->size += size;
    return f->size - size;
}

static size_t put_zeros(struct file *f, size_t size)
{
    return put(f, NULL, size);
}

static void set(struct file *f, size_t at, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        f->bytes[at + i] = (uint8_t)(value >> 8 * i);
}

static void align(struct file *f, size_t to)
{
    (void)put_zeros(f, (to - f->size % to) % to);
}

static void set_pointer(struct file *f, size_t at, size_t target)
{
    set(f, at, BASE + target, 8);
}

static struct file load(const char *name)
{
    const char *folder = getenv("DEVIMG_TEST_DATA");
    struct file f = { 0 };
    char path[1024];
    assert_non_null(folder);
    (void)snprintf(path, sizeof path, "%s/intel/%s", folder, name);
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    for (uint8_t part[4096];;) {
        const size_t got = fread(part, 1, sizeof part, in);
        if (got == 0)
            break;
        (void)put(&f, part, got);
    }
    (void)fclose(in);
    return f;
}

/* A SPIR-V module of kernels: header, then OpEntryPoint Kernel %i "name". Names of 3 bytes. */
static struct file spirv(const char *const *names)
{
    static const uint32_t header[5] = { 0x07230203, 0x00010000, 0, 9, 0 };
    struct file f = { 0 };
    for (unsigned i = 0; i < 5; i++)
        set(&f, put_zeros(&f, 4), header[i], 4);
    for (uint32_t i = 0; names != NULL && names[i] != NULL; i++) {
        const uint32_t words[3] = { 4u << 16 | 15, 6, i };
        assert_int_equal(strlen(names[i]), 3);
        for (unsigned w = 0; w < 3; w++)
            set(&f, put_zeros(&f, 4), words[w], 4);
        (void)put(&f, names[i], 4);
    }
    return f;
}

/* --- an executable with descriptors --- */

static struct file object(void)
{
    struct file f = { 0 };
    (void)put(&f, "\177ELF\2\1\1", 8);
    (void)put_zeros(&f, HEADER - 8);
    set(&f, 16, 2, 2);  /* executable */
    set(&f, 18, 62, 2); /* x86-64 */
    set(&f, 20, 1, 4);
    set(&f, 52, 64, 2);
    return f;
}

/* Section table: null, .data.rel.ro over everything so far, names. */
static void finish(struct file *f)
{
    static const char names[] = "\0.data.rel.ro\0.shstrtab";
    const size_t end = f->size;
    const size_t text = put(f, names, sizeof names);
    align(f, 8);
    const size_t table = put_zeros(f, (size_t)3 * 64);
    set(f, table + 64, 1, 4);
    set(f, table + 68, 1, 4); /* PROGBITS */
    set(f, table + 72, 3, 8); /* WRITE, ALLOC */
    set(f, table + 80, BASE + HEADER, 8);
    set(f, table + 88, HEADER, 8);
    set(f, table + 96, end - HEADER, 8);
    set(f, table + 128, 14, 4);
    set(f, table + 132, 3, 4); /* STRTAB */
    set(f, table + 152, text, 8);
    set(f, table + 160, sizeof names, 8);
    set(f, 40, table, 8);
    set(f, 58, 64, 2);
    set(f, 60, 3, 2);
    set(f, 62, 2, 2);
}

struct spec {
    const char *target;
    const struct file *code;
    const char *names[4];
};

/* One image struct of version 2 at `at`, and all that it points at. */
static void fill_image(struct file *f, size_t at, const struct spec *spec)
{
    set(f, at, 2, 2);
    set(f, at + 2, 4, 1);
    const size_t target = put(f, spec->target, strlen(spec->target) + 1);
    set_pointer(f, at + 8, target);
    align(f, 16);
    const size_t code = put(f, spec->code->bytes, spec->code->size);
    set_pointer(f, at + 48, code);
    set_pointer(f, at + 56, code + spec->code->size);
    size_t count = 0, texts[4] = { 0 };
    while (count < 4 && spec->names[count] != NULL) {
        texts[count] = put(f, spec->names[count], strlen(spec->names[count]) + 1);
        count++;
    }
    align(f, 16);
    if (count == 0)
        return;
    const size_t entries = put_zeros(f, count * 32);
    for (size_t i = 0; i < count; i++)
        set_pointer(f, entries + i * 32 + 8, texts[i]);
    set_pointer(f, at + 64, entries);
    set_pointer(f, at + 72, entries + count * 32);
}

static size_t put_descriptor(struct file *f, size_t count, size_t images)
{
    align(f, 16);
    const size_t at = put_zeros(f, 32);
    set(f, at, 1, 2);
    set(f, at + 2, count, 2);
    set_pointer(f, at + 8, images);
    return at;
}

/* A descriptor of these images. */
static void add(struct file *f, const struct spec *specs, size_t count)
{
    align(f, 16);
    const size_t images = put_zeros(f, count * 96);
    for (size_t i = 0; i < count; i++)
        fill_image(f, images + i * 96, &specs[i]);
    (void)put_descriptor(f, count, images);
}

static struct devimg_file *open_with(const struct file *f, const struct devimg_opts *opts)
{
    struct devimg_file *file = NULL;
    struct devimg_error err = { 0 };
    if (devimg_open_bytes(f->bytes, f->size, "made", opts, &file, &err) != DEVIMG_OK)
        fail_msg("%s: %s", err.source, err.text);
    return file;
}

static struct devimg_file *open_file(const struct file *f)
{
    return open_with(f, NULL);
}

static void expect_limit(const struct file *f, const struct devimg_opts *opts, const char *name)
{
    struct devimg_file *file = NULL;
    struct devimg_error err = { 0 };
    enum devimg_status status = devimg_open_bytes(f->bytes, f->size, "made", opts, &file, &err);
    if (status == DEVIMG_OK)
        status = devimg_read_kernels(file, &err);
    devimg_close(file);
    assert_int_equal(status, DEVIMG_LIMIT);
    assert_int_equal(err.status, DEVIMG_LIMIT);
    if (strstr(err.text, name) == NULL)
        fail_msg("expected \"%s\" in \"%s\"", name, err.text);
}

static void expect_module(const struct devimg_file *file, uint32_t index, uint32_t image_count,
                          const uint32_t *images)
{
    const struct devimg_module *m = devimg_module_at(file, index);
    assert_non_null(m);
    assert_int_equal(m->image_count, image_count);
    for (uint32_t i = 0; i < image_count; i++) {
        assert_int_equal(m->images[i], images[i]);
        assert_int_equal(devimg_image_at(file, images[i])->module, index);
    }
}
#define MODULE(file, index, ...)                                                       \
    expect_module(file, index, sizeof((uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t), \
                  (uint32_t[]){ __VA_ARGS__ })

/* --- modules --- */

static void equal_names_pair_across_descriptors(void **state)
{
    (void)state;
    static const char *const both[] = { "abc", "xyz", NULL };
    struct file code = spirv(both), f = object();
    const struct spec one[] = { { "spir64_gen", &code, { "xyz", "abc" } },
                                { "spir64_gen", &code, { "abc" } } };
    const struct spec two[] = { { "spir64", &code, { "abc" } },
                                { "spir64_x86_64", &code, { "abc", "xyz", "abc" } } };
    add(&f, one, 2);
    add(&f, two, 2);
    finish(&f);
    struct devimg_file *file = open_file(&f);
    assert_int_equal(devimg_record_count(file), 1);
    assert_int_equal(devimg_record_at(file, 0)->status, DEVIMG_RECORD_OK);
    assert_int_equal(devimg_record_at(file, 0)->pointer_size, 8);
    assert_int_equal(devimg_record_at(file, 0)->descriptor_count, 2);
    assert_int_equal(devimg_image_count(file), 4);
    assert_int_equal(devimg_module_count(file), 2);
    assert_int_equal(devimg_module_at(file, 0)->name_count, 2);
    assert_string_equal(devimg_module_at(file, 0)->names[0], "abc");
    assert_string_equal(devimg_module_at(file, 0)->names[1], "xyz");
    assert_int_equal(devimg_module_at(file, 1)->name_count, 1);
    assert_null(devimg_module_at(file, 2));
    assert_null(devimg_image_at(file, 4));
    assert_null(devimg_record_at(file, UINT32_MAX));
    devimg_close(file);
    free(f.bytes);
    free(code.bytes);
}

/* The same template in three units, and the second lacks the native image: equal sets pair in file
 * order, and no module holds two images for one target. */
static void template_of_several_units_pairs_in_file_order(void **state)
{
    (void)state;
    static const char *const names[] = { "tpl", NULL };
    struct file jit = spirv(names), native = load("sg16_dg2-g11_ip.zebin"), f = object();
    const struct spec whole[] = { { "spir64_gen", &native, { "row_sum_sg16" } },
                                  { "spir64", &jit, { "row_sum_sg16" } } };
    add(&f, whole, 2);
    add(&f, whole + 1, 1);
    add(&f, whole, 2);
    finish(&f);
    struct devimg_file *file = open_file(&f);
    assert_int_equal(devimg_image_count(file), 5);
    assert_int_equal(devimg_module_count(file), 3);
    MODULE(file, 0, 0, 1);
    MODULE(file, 1, 2, 3);
    MODULE(file, 2, 4);
    assert_string_equal(devimg_image_at(file, 0)->target, "dg2-g11");
    assert_string_equal(devimg_image_at(file, 2)->target, "spir64");
    devimg_close(file);
    free(f.bytes);
    free(jit.bytes);
    free(native.bytes);
}

static void separate_images_for_each_device_join_one_module(void **state)
{
    (void)state;
    static const char *const names[] = { "abc", NULL };
    struct file a = load("sg16_dg2-g11_ip.zebin"), b = load("sg8_adl-s_ip.zebin");
    struct file jit = spirv(names), f = object();
    const struct spec specs[] = { { "spir64_gen", &a, { "abc" } },
                                  { "spir64_gen", &b, { "abc" } },
                                  { "spir64", &jit, { "abc" } } };
    add(&f, specs, 3);
    finish(&f);
    struct devimg_file *file = open_file(&f);
    assert_int_equal(devimg_module_count(file), 1);
    MODULE(file, 0, 0, 1, 2);
    assert_string_equal(devimg_image_at(file, 0)->target, "dg2-g11");
    assert_string_equal(devimg_image_at(file, 1)->target, "adl-s");
    devimg_close(file);
    free(f.bytes);
    free(a.bytes);
    free(b.bytes);
    free(jit.bytes);
}

static void images_without_entries_are_support(void **state)
{
    (void)state;
    struct file code = spirv(NULL), f = object();
    const struct spec specs[] = { { "spir64", &code, { NULL } }, { "spir64", &code, { "abc" } } };
    add(&f, specs, 2);
    finish(&f);
    struct devimg_file *file = open_file(&f);
    assert_int_equal(devimg_image_count(file), 2);
    assert_int_equal(devimg_image_at(file, 0)->support, 1);
    assert_int_equal(devimg_image_at(file, 0)->module, DEVIMG_NONE);
    assert_int_equal(devimg_image_at(file, 1)->support, 0);
    assert_int_equal(devimg_module_count(file), 1);
    assert_int_equal(devimg_read_kernels(file, NULL), DEVIMG_OK);
    assert_int_equal(devimg_kernel_count(file), 0);
    devimg_close(file);
    free(f.bytes);
    free(code.bytes);
}

static void kernels_stand_in_image_order_whatever_the_threads(void **state)
{
    (void)state;
    static const char *const one[] = { "k01", "k00", NULL }, *const two[] = { "k02", NULL };
    struct file a = spirv(one), b = spirv(two), f = object();
    const struct spec specs[] = { { "spir64", &a, { "k00", "k01" } }, { "spir64", &b, { "k02" } } };
    for (int i = 0; i < 20; i++)
        add(&f, specs, 2);
    finish(&f);
    for (uint32_t threads = 1; threads <= 4; threads++) {
        const struct devimg_opts opts = { .struct_size = sizeof opts, .threads = threads };
        struct devimg_file *file = open_with(&f, &opts);
        assert_int_equal(devimg_read_kernels(file, NULL), DEVIMG_OK);
        assert_int_equal(devimg_read_kernels(file, NULL), DEVIMG_OK); /* does nothing */
        assert_int_equal(devimg_kernel_count(file), 60);
        for (uint32_t i = 0; i < 60; i++) {
            static const char *const expected[] = { "k01", "k00", "k02" };
            assert_string_equal(devimg_kernel_at(file, i)->name, expected[i % 3]);
            assert_int_equal(devimg_kernel_at(file, i)->image, i / 3 * 2 + i % 3 / 2);
        }
        devimg_close(file);
    }
    free(f.bytes);
    free(a.bytes);
    free(b.bytes);
}

/* --- limits --- */

static void every_limit_names_its_option(void **state)
{
    (void)state;
    static const char *const names[] = { "abc", "xyz", NULL };
    struct file code = spirv(names), f = object();
    const struct spec specs[] = { { "spir64", &code, { "abc", "xyz" } },
                                  { "spir64_gen", &code, { "abc", "xyz" } } };
    add(&f, specs, 2);
    finish(&f);
    struct devimg_opts opts = { .struct_size = sizeof opts, .max_images = 1 };
    expect_limit(&f, &opts, "max-images");
    opts = (struct devimg_opts){ .struct_size = sizeof opts, .max_kernels = 3 };
    expect_limit(&f, &opts, "max-kernels");
    opts = (struct devimg_opts){ .struct_size = sizeof opts, .max_kernels = 1 };
    expect_limit(&code, &opts, "max-kernels"); /* loose: decoded while it is opened */
    opts = (struct devimg_opts){ .struct_size = sizeof opts, .max_images = 2, .max_kernels = 4 };
    struct devimg_file *file = open_with(&f, &opts); /* exactly what there is */
    assert_int_equal(devimg_read_kernels(file, NULL), DEVIMG_OK);
    assert_int_equal(devimg_kernel_count(file), 4);
    devimg_close(file);
    struct file archive = load("zfat_basic.ar"); /* three members: four images */
    opts = (struct devimg_opts){ .struct_size = sizeof opts, .max_images = 3 };
    expect_limit(&archive, &opts, "max-images");
    opts.max_images = 4;
    devimg_close(open_with(&archive, &opts));
    free(archive.bytes);
    free(f.bytes);
    free(code.bytes);
}

#if DVI_HAVE_ZSTD
static void inflating_past_a_limit_names_its_option(void **state)
{
    (void)state;
    struct file f = load("lib_aot_zstd.so"); /* two images of each kind, all compressed */
    struct devimg_opts opts = { .struct_size = sizeof opts, .max_total_inflated_size = 5000 };
    expect_limit(&f, &opts, "max-total-inflated-size");
    /* past the limit of one image, that image is a finding and the rest is shown */
    opts = (struct devimg_opts){ .struct_size = sizeof opts, .max_inflated_size = 1000 };
    struct devimg_file *file = open_with(&f, &opts);
    assert_int_equal(devimg_read_kernels(file, NULL), DEVIMG_OK);
    assert_int_equal(devimg_image_count(file), 4);
    assert_int_equal(devimg_record_at(file, 0)->status, DEVIMG_RECORD_DAMAGED);
    assert_int_equal(devimg_finding_count(file), 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_string_equal(devimg_finding_at(file, i)->code, "limit");
        assert_non_null(strstr(devimg_finding_at(file, i)->message, "max-inflated-size"));
    }
    devimg_close(file);
    free(f.bytes);
}
#endif

static void options_of_an_older_size_are_read_as_far_as_they_go(void **state)
{
    (void)state;
    static const char *const names[] = { "abc", "xyz", NULL };
    struct file code = spirv(names);
    struct devimg_opts opts = { .struct_size = offsetof(struct devimg_opts, max_kernels),
                                .max_kernels = 1,
                                .threads = 1 };
    devimg_close(open_with(&code, &opts)); /* max_kernels is not part of that size */
    opts.struct_size = offsetof(struct devimg_opts, threads);
    struct devimg_file *file = NULL;
    assert_int_equal(devimg_open_bytes(code.bytes, code.size, "made", &opts, &file, NULL),
                     DEVIMG_LIMIT);
    assert_null(file);
    free(code.bytes);
}

/* --- archives --- */

static void add_member(struct file *f, const char *name, const char *size_text, const void *bytes,
                       size_t size)
{
    char header[61];
    if (f->size == 0)
        (void)put(f, "!<arch>\n", 8);
    (void)snprintf(header, sizeof header, "%-16s%-12d%-6d%-6d%-8d%-10s`\n", name, 0, 0, 0, 0,
                   size_text);
    (void)put(f, header, 60);
    (void)put(f, bytes, size);
    if (size % 2 != 0)
        (void)put(f, "\n", 1);
}

static void add_good(struct file *f, const char *name, const struct file *member)
{
    char size[24];
    (void)snprintf(size, sizeof size, "%zu", member->size);
    add_member(f, name, size, member->bytes, member->size);
}

static void damaged_member_hides_none_of_its_neighbours(void **state)
{
    (void)state;
    static const char *const names[] = { "abc", NULL };
    struct file good = spirv(names), bad = spirv(names), f = { 0 };
    set(&bad, 20, 15, 4); /* word count 0 */
    add_good(&f, "a.spv/", &good);
    add_good(&f, "bad.spv/", &bad);
    add_member(&f, "text.txt/", "5", "hello", 5);
    add_good(&f, "b.spv/", &good);
    struct devimg_file *file = open_file(&f);
    assert_int_equal(devimg_record_count(file), 4);
    static const enum devimg_record_status statuses[] = { DEVIMG_RECORD_OK, DEVIMG_RECORD_DAMAGED,
                                                          DEVIMG_RECORD_NO_DEVICE_CODE,
                                                          DEVIMG_RECORD_OK };
    static const char *const member_names[] = { "a.spv", "bad.spv", "text.txt", "b.spv" };
    for (uint32_t i = 0; i < 4; i++) {
        const struct devimg_record *r = devimg_record_at(file, i);
        assert_int_equal(r->status, statuses[i]);
        assert_int_equal(r->member_count, 1);
        assert_string_equal(r->members[0], member_names[i]);
        assert_true(r->pointer_size == DEVIMG_UNKNOWN); /* no member is an object of a host */
    }
    assert_int_equal(devimg_read_kernels(file, NULL), DEVIMG_OK);
    assert_int_equal(devimg_kernel_count(file), 2);
    assert_int_equal(devimg_kernel_at(file, 0)->record, 0);
    assert_int_equal(devimg_kernel_at(file, 1)->record, 3);
    assert_int_equal(devimg_finding_count(file), 1); /* said once, though read twice */
    assert_int_equal(devimg_finding_at(file, 0)->record, 1);
    assert_string_equal(devimg_finding_at(file, 0)->code, "malformed");
    assert_int_equal(devimg_finding_at(file, 0)->offset, 20);
    devimg_close(file);
    free(f.bytes);
    free(good.bytes);
    free(bad.bytes);
}

static void member_of_a_damaged_header_ends_the_archive(void **state)
{
    (void)state;
    static const char *const names[] = { "abc", NULL };
    struct file good = spirv(names), f = { 0 };
    add_good(&f, "a.spv/", &good);
    add_member(&f, "b.spv/", "many", good.bytes, good.size);
    struct devimg_file *file = open_file(&f);
    assert_int_equal(devimg_image_count(file), 1);
    assert_true(devimg_finding_count(file) > 0);
    devimg_close(file);
    free(f.bytes);
    free(good.bytes);
}

static void empty_archive_has_no_device_code(void **state)
{
    (void)state;
    struct file f = { 0 };
    (void)put(&f, "!<arch>\n", 8);
    struct devimg_file *file = open_file(&f);
    assert_int_equal(devimg_record_count(file), 1);
    assert_int_equal(devimg_record_at(file, 0)->kind, DEVIMG_KIND_AR);
    assert_int_equal(devimg_record_at(file, 0)->status, DEVIMG_RECORD_NO_DEVICE_CODE);
    devimg_close(file);
    free(f.bytes);
}

/* Members of a thin archive stay in files of their own, which are never opened. */
static void thin_archive_opens_no_other_file(void **state)
{
    (void)state;
    struct file f = { 0 };
    char header[61];
    (void)snprintf(header, sizeof header, "%-16s%-12d%-6d%-6d%-8d%-10s`\n", "x.o/", 0, 0, 0, 0,
                   "100");
    (void)put(&f, "!<thin>\n", 8);
    (void)put(&f, header, 60);
    struct devimg_file *file = open_file(&f);
    assert_int_equal(devimg_image_count(file), 0);
    assert_int_equal(devimg_record_count(file), 1);
    assert_int_equal(devimg_record_at(file, 0)->status, DEVIMG_RECORD_DAMAGED);
    devimg_close(file);
    free(f.bytes);
}

static void members_and_depth_have_limits(void **state)
{
    (void)state;
    static const char *const names[] = { "abc", NULL };
    struct file code = spirv(names), f = { 0 };
    add_good(&f, "a.spv/", &code);
    add_good(&f, "b.spv/", &code);
    struct devimg_opts opts = { .struct_size = sizeof opts, .max_members = 1 };
    expect_limit(&f, &opts, "max-members");
    opts.max_members = 2;
    devimg_close(open_with(&f, &opts));
    for (int i = 0; i < 3; i++) { /* archives in archives, four deep */
        struct file outer = { 0 };
        add_good(&outer, "inner.a/", &f);
        free(f.bytes);
        f = outer;
    }
    opts = (struct devimg_opts){ .struct_size = sizeof opts, .max_depth = 3 };
    struct devimg_file *file = open_with(&f, &opts); /* what lies deeper is said, not lost */
    assert_int_equal(devimg_image_count(file), 0);
    assert_int_equal(devimg_finding_count(file), 1);
    assert_string_equal(devimg_finding_at(file, 0)->code, "limit");
    assert_non_null(strstr(devimg_finding_at(file, 0)->message, "max-depth"));
    devimg_close(file);
    opts.max_depth = 4;
    file = open_with(&f, &opts);
    assert_int_equal(devimg_image_count(file), 2);
    assert_int_equal(devimg_record_at(file, 0)->member_count, 4);
    assert_string_equal(devimg_record_at(file, 0)->members[0], "inner.a");
    assert_string_equal(devimg_record_at(file, 0)->members[3], "a.spv");
    devimg_close(file);
    free(f.bytes);
    free(code.bytes);
}

/* --- files --- */

static void what_is_no_regular_file_is_io(void **state)
{
    (void)state;
    char folder[] = "/tmp/devimg-test-XXXXXX", fifo[64];
    struct devimg_file *file = NULL;
    struct devimg_error err = { 0 };
    assert_non_null(mkdtemp(folder));
    (void)snprintf(fifo, sizeof fifo, "%s/fifo", folder);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(devimg_open(fifo, NULL, &file, &err), DEVIMG_IO); /* and does not wait */
    assert_string_equal(err.source, fifo);
    assert_int_equal(devimg_open(folder, NULL, &file, &err), DEVIMG_IO);
    assert_int_equal(devimg_open("/dev/null", NULL, &file, &err), DEVIMG_IO);
    assert_int_equal(unlink(fifo), 0);
    assert_int_equal(devimg_open(fifo, NULL, &file, &err), DEVIMG_IO);
    assert_true(err.offset == DEVIMG_UNKNOWN);
    assert_int_equal(rmdir(folder), 0);
    assert_null(file);
}

/* The target, and whether it is that of a family, of the one image in `f`; the note if there is no
 * target. */
static void expect_target(const struct file *f, const char *target, const char *note)
{
    struct devimg_file *file = open_file(f);
    assert_int_equal(devimg_image_count(file), 1);
    assert_int_equal(devimg_finding_count(file), 0);
    const struct devimg_image *image = devimg_image_at(file, 0);
    assert_int_equal(image->family_only, target != NULL);
    if (target != NULL)
        assert_string_equal(image->target, target);
    else
        assert_null(image->target);
    if (note != NULL)
        assert_non_null(strstr(image->note, note));
    else
        assert_true(image->note == NULL || strstr(image->note, "core family") == NULL);
    devimg_close(file);
}

/* Core families: igfxfmid.h, PlatformGmdIdTable.cpp of intel-graphics-compiler. PVC alone is
 * Xe-HPC; DG2 shares Xe-HPG with Meteor Lake and Arrow Lake. */
static void core_family_names_a_target_where_one_product_has_it(void **state)
{
    (void)state;
    struct file tokens = load("sg16_tgllp_32.gen"), zebin = load("basic_exe_ff12.zebin");
    expect_target(&tokens, NULL,
                  "names no product, only core family 0x12 (tgllp, rkl, adl-s, adl-p, adl-n, dg1), "
                  "stepping 0");
    set(&tokens, 8, 0xc08, 4);
    expect_target(&tokens, "pvc", NULL);
    set(&tokens, 8, 11, 4);
    expect_target(&tokens, "bdw", NULL);
    set(&tokens, 8, 0xc07, 4);
    set(&tokens, 20, 8, 4);
    expect_target(&tokens, NULL, "only core family 0xc07 (dg2-g10, mtl-u, arl-h), stepping 8");
    set(&tokens, 8, 0xffff, 4);
    expect_target(&tokens, NULL, "names no product, only core family 0xffff, stepping 8");
    free(tokens.bytes);
    /* a zebin of the old form, its notes made those of another owner */
    for (size_t i = 0; i + 8 <= zebin.size; i++)
        if (memcmp(zebin.bytes + i, "IntelGT", 8) == 0)
            zebin.bytes[i] = 'X';
    expect_target(&zebin, "dg2-g10", NULL); /* e_machine is a product family */
    set(&zebin, 48, 1u << 15, 4);           /* and now a core family */
    set(&zebin, 18, 0xc08, 2);
    expect_target(&zebin, "pvc", NULL);
    set(&zebin, 18, 0xc07, 2);
    expect_target(&zebin, NULL, "names no product, only core family 0xc07 (dg2-g10, mtl-u, arl-h)");
    free(zebin.bytes);
}

/* Whatever stands under the label of a CPU. */
static void code_for_the_host_is_never_damage(void **state)
{
    (void)state;
    static const char *const labels[] = { "spir64_x86_64", "spir64_x86_64-unknown-unknown",
                                          "native_cpu" };
    struct file codes[5] = { load("basic_x86_64.oclelf"),
                             load("spill_dg2-g10.oclelf"),
                             load("bad_zebin_truncated.zebin"),
                             load("lib_cpu.so"),
                             { 0 } };
    (void)put(&codes[4], "any bytes", 9);
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++)
        for (size_t k = 0; k < 5; k++) {
            struct file f = object();
            const struct spec spec = { labels[i], &codes[k], { "abc" } };
            add(&f, &spec, 1);
            finish(&f);
            struct devimg_file *file = open_file(&f);
            assert_int_equal(devimg_read_kernels(file, NULL), DEVIMG_OK);
            assert_int_equal(devimg_record_at(file, 0)->status, DEVIMG_RECORD_OK);
            assert_int_equal(devimg_finding_count(file), 0);
            assert_int_equal(devimg_image_count(file), 1);
            const struct devimg_image *image = devimg_image_at(file, 0);
            assert_string_equal(image->target, i < 2 ? "spir64_x86_64" : "native_cpu");
            assert_int_equal(image->format, DEVIMG_FORMAT_UNKNOWN);
            assert_non_null(strstr(image->note, i < 2 ? "host's CPU" : "host program"));
            assert_int_equal(devimg_kernel_count(file), 1); /* as the descriptor names it */
            assert_string_equal(devimg_kernel_at(file, 0)->name, "abc");
            assert_true(devimg_kernel_at(file, 0)->private_size == DEVIMG_UNKNOWN);
            devimg_close(file);
            free(f.bytes);
        }
    for (size_t k = 0; k < 5; k++)
        free(codes[k].bytes);
}

static void unknown_bytes_are_unsupported(void **state)
{
    (void)state;
    static const char *const texts[] = { "", "x", "hello\n", "\177EL", "!<arch>", "\x28\xb5\x2f" };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct devimg_file *file = NULL;
        struct devimg_error err = { 0 };
        assert_int_equal(devimg_open_bytes(texts[i], strlen(texts[i]), "made", NULL, &file, &err),
                         DEVIMG_UNSUPPORTED);
        assert_null(file);
        assert_string_equal(err.source, "made");
    }
    devimg_close(NULL);
}

static void file_cut_while_it_is_open_stays_readable_when_read_whole(void **state)
{
    (void)state;
    char path[] = "/tmp/devimg-test-XXXXXX";
    struct file f = load("lib_aot.so");
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, f.bytes, f.size), f.size);
    const struct devimg_opts opts = { .struct_size = sizeof opts, .read_whole = 1 };
    struct devimg_file *file = NULL;
    assert_int_equal(devimg_open(path, &opts, &file, NULL), DEVIMG_OK);
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_int_equal(devimg_read_kernels(file, NULL), DEVIMG_OK);
    assert_int_equal(devimg_finding_count(file), 0);
    assert_int_equal(devimg_kernel_count(file), 12); /* 3 names for 3 devices and spir64 */
    devimg_close(file);
    (void)close(fd);
    (void)unlink(path);
    free(f.bytes);
}

/* --- hostile descriptors: tables that many pointers share --- */

static double seconds_since(clock_t start)
{
    return (double)(clock() - start) / CLOCKS_PER_SEC;
}

/* 100,000 entries whose names are one text of 8 MB. */
static void long_name_that_entries_share_takes_little_time(void **state)
{
    (void)state;
    enum { COUNT = 100000, TEXT = 8 << 20 };
    struct file f = object(), code = spirv(NULL);
    align(&f, 16);
    const size_t image = put_zeros(&f, 96);
    fill_image(&f, image, &(struct spec){ "spir64", &code, { NULL } });
    const size_t text = put_zeros(&f, TEXT);
    memset(f.bytes + text, 'n', TEXT - 8);
    const size_t entries = put_zeros(&f, (size_t)COUNT * 32);
    for (size_t i = 0; i < COUNT; i++)
        set_pointer(&f, entries + i * 32 + 8, text + i % 1000);
    set_pointer(&f, image + 64, entries);
    set_pointer(&f, image + 72, entries + (size_t)COUNT * 32);
    (void)put_descriptor(&f, 1, image);
    finish(&f);
    const clock_t start = clock();
    struct devimg_file *file = open_file(&f);
    assert_true(seconds_since(start) < 2);
    assert_int_equal(devimg_record_at(file, 0)->status, DEVIMG_RECORD_DAMAGED);
    assert_int_equal(devimg_image_count(file), 1);
    devimg_close(file);
    free(f.bytes);
    free(code.bytes);
}

/* 20,000 images that share property sets of 20,000 properties. */
static void properties_that_images_share_take_little_time(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    struct file f = object(), code = spirv(NULL);
    align(&f, 16);
    const size_t images = put_zeros(&f, (size_t)COUNT * 96);
    const size_t target = put(&f, "spir64", 7), set_name = put(&f, "SYCL/device requirements", 25);
    const size_t property_name = put(&f, "p", 2);
    align(&f, 16);
    const size_t properties = put_zeros(&f, (size_t)COUNT * 32);
    const size_t sets = put_zeros(&f, 24);
    for (size_t i = 0; i < COUNT; i++)
        set_pointer(&f, properties + i * 32, property_name);
    set_pointer(&f, sets, set_name);
    set_pointer(&f, sets + 8, properties);
    set_pointer(&f, sets + 16, properties + (size_t)COUNT * 32);
    for (size_t i = 0; i < COUNT; i++) {
        const size_t at = images + i * 96;
        align(&f, 16);
        const size_t bytes = put(&f, code.bytes, code.size);
        set(&f, at, 2, 2);
        set(&f, at + 2, 4, 1);
        set_pointer(&f, at + 8, target);
        set_pointer(&f, at + 48, bytes);
        set_pointer(&f, at + 56, bytes + code.size);
        set_pointer(&f, at + 80, sets);
        set_pointer(&f, at + 88, sets + 24);
    }
    (void)put_descriptor(&f, COUNT, images);
    finish(&f);
    const clock_t start = clock();
    struct devimg_file *file = open_file(&f);
    assert_true(seconds_since(start) < 2);
    devimg_close(file);
    free(f.bytes);
    free(code.bytes);
}

/* 5,000 descriptors share 60,000 image structs whose targets point at nothing: 300 million. */
static void damaged_images_that_descriptors_share_take_little_time(void **state)
{
    (void)state;
    enum { DESCRIPTORS = 5000, IMAGES = 60000 };
    struct file f = object();
    align(&f, 16);
    const size_t images = put_zeros(&f, (size_t)IMAGES * 96);
    for (size_t i = 0; i < IMAGES; i++) {
        set(&f, images + i * 96, 2, 2);
        set(&f, images + i * 96 + 2, 4, 1);
        set(&f, images + i * 96 + 8, 1, 8);
    }
    for (size_t i = 0; i < DESCRIPTORS; i++)
        (void)put_descriptor(&f, IMAGES, images);
    finish(&f);
    const clock_t start = clock();
    struct devimg_file *file = open_file(&f);
    assert_true(seconds_since(start) < 2);
    assert_int_equal(devimg_image_count(file), 0);
    assert_int_equal(devimg_record_at(file, 0)->status, DEVIMG_RECORD_DAMAGED);
    assert_true(devimg_finding_count(file) <= 10000);
    devimg_close(file);
    free(f.bytes);
}

/* 1,000 descriptors of 900 images that all are one module of 1 MB. */
static void image_that_descriptors_share_is_looked_at_a_few_times_only(void **state)
{
    (void)state;
    enum { DESCRIPTORS = 1000, IMAGES = 900, CAPABILITIES = 131072 };
    struct file f = object(), code = spirv(NULL);
    for (size_t i = 0; i < CAPABILITIES; i++)
        set(&code, put_zeros(&code, 8), (uint64_t)6 << 32 | 2 << 16 | 17, 8);
    align(&f, 16);
    const size_t images = put_zeros(&f, (size_t)IMAGES * 96);
    fill_image(&f, images, &(struct spec){ "spir64_gen", &code, { "abc" } });
    for (size_t i = 1; i < IMAGES; i++)
        memcpy(f.bytes + images + i * 96, f.bytes + images, 96);
    for (size_t i = 0; i < DESCRIPTORS; i++)
        (void)put_descriptor(&f, IMAGES, images);
    finish(&f);
    const clock_t start = clock();
    struct devimg_file *file = open_file(&f);
    assert_true(seconds_since(start) < 2);
    assert_in_range(devimg_image_count(file), 1, 8);
    assert_int_equal(devimg_record_at(file, 0)->status, DEVIMG_RECORD_DAMAGED);
    devimg_close(file);
    free(f.bytes);
    free(code.bytes);
}

/* 50,000 entries of a clang bundle are one module of 1 MB. */
static void image_that_bundle_entries_share_is_looked_at_a_few_times_only(void **state)
{
    (void)state;
    enum { COUNT = 50000, CAPABILITIES = 131072, ENTRY = 24 + 6 };
    struct file f = { 0 }, code = spirv(NULL);
    for (size_t i = 0; i < CAPABILITIES; i++)
        set(&code, put_zeros(&code, 8), (uint64_t)6 << 32 | 2 << 16 | 17, 8);
    (void)put(&f, "__CLANG_OFFLOAD_BUNDLE__", 24);
    set(&f, put_zeros(&f, 8), COUNT, 8);
    for (size_t i = 0; i < COUNT; i++) {
        const size_t at = put_zeros(&f, 24);
        set(&f, at, 32 + (uint64_t)COUNT * ENTRY, 8);
        set(&f, at + 8, code.size, 8);
        set(&f, at + 16, 6, 8);
        (void)put(&f, "spir64", 6);
    }
    (void)put(&f, code.bytes, code.size);
    const clock_t start = clock();
    struct devimg_file *file = open_file(&f);
    assert_true(seconds_since(start) < 2);
    assert_in_range(devimg_image_count(file), 1, 32);
    assert_int_equal(devimg_record_at(file, 0)->status, DEVIMG_RECORD_DAMAGED);
    devimg_close(file);
    free(f.bytes);
    free(code.bytes);
}

/* SPIR-V starts every 32 bytes of a bundle section, each runs on to its end and fails there. */
static void section_of_broken_images_takes_little_time(void **state)
{
    (void)state;
    enum { SIZE = 4 << 20 };
    static const char names[] = "\0__CLANG_OFFLOAD_BUNDLE__sycl-spir64\0.shstrtab";
    static const uint32_t words[8] = { 0x07230203, 0x00010000, 0, 9, 0, 8u << 16 | 1, 0, 0 };
    struct file f = object();
    for (size_t i = 0; i < SIZE; i += 4)
        set(&f, put_zeros(&f, 4), words[i / 4 % 8], 4);
    finish(&f);
    const size_t text = put(&f, names, sizeof names), table = f.size - sizeof names - 3 * 64;
    set(&f, table + 152, text, 8);
    set(&f, table + 160, sizeof names, 8);
    set(&f, table + 128, 37, 4);
    const clock_t start = clock();
    struct devimg_file *file = open_file(&f);
    assert_true(seconds_since(start) < 2);
    assert_int_equal(devimg_record_at(file, 0)->status, DEVIMG_RECORD_DAMAGED);
    devimg_close(file);
    free(f.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_names_pair_across_descriptors),
        cmocka_unit_test(template_of_several_units_pairs_in_file_order),
        cmocka_unit_test(separate_images_for_each_device_join_one_module),
        cmocka_unit_test(images_without_entries_are_support),
        cmocka_unit_test(kernels_stand_in_image_order_whatever_the_threads),
        cmocka_unit_test(every_limit_names_its_option),
#if DVI_HAVE_ZSTD
        cmocka_unit_test(inflating_past_a_limit_names_its_option),
#endif
        cmocka_unit_test(options_of_an_older_size_are_read_as_far_as_they_go),
        cmocka_unit_test(damaged_member_hides_none_of_its_neighbours),
        cmocka_unit_test(member_of_a_damaged_header_ends_the_archive),
        cmocka_unit_test(empty_archive_has_no_device_code),
        cmocka_unit_test(thin_archive_opens_no_other_file),
        cmocka_unit_test(members_and_depth_have_limits),
        cmocka_unit_test(what_is_no_regular_file_is_io),
        cmocka_unit_test(core_family_names_a_target_where_one_product_has_it),
        cmocka_unit_test(code_for_the_host_is_never_damage),
        cmocka_unit_test(unknown_bytes_are_unsupported),
        cmocka_unit_test(file_cut_while_it_is_open_stays_readable_when_read_whole),
        cmocka_unit_test(long_name_that_entries_share_takes_little_time),
        cmocka_unit_test(properties_that_images_share_take_little_time),
        cmocka_unit_test(damaged_images_that_descriptors_share_take_little_time),
        cmocka_unit_test(image_that_descriptors_share_is_looked_at_a_few_times_only),
        cmocka_unit_test(image_that_bundle_entries_share_is_looked_at_a_few_times_only),
        cmocka_unit_test(section_of_broken_images_takes_little_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
