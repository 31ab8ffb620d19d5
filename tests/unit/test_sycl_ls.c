/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs of sycl-ls: tests/data/sycl-ls, and what its expected.tsv says of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "sycl/sycl_ls.h"

/* Columns of expected.tsv. */
enum { FILE_NAME, OPENCL_CPU = 3, NATIVE_CPU, HOST_DEVICE, FPGA_EMULATOR, GPU_COUNT, COLUMNS = 13 };

static struct dvi_sycl_ls read_text(const char *text, size_t size, struct dvi_arena *arena)
{
    struct dvi_sycl_ls list = { 0 };
    assert_int_equal(dvi_sycl_ls_read(dvi_view_of(text, size, "sycl-ls"), arena, &list, NULL),
                     DEVIMG_OK);
    return list;
}

static unsigned gpus(const struct dvi_sycl_ls *list)
{
    unsigned count = 0;
    for (size_t i = 0; i < list->devices.count; i++)
        count += strcmp(list->devices.items[i].type, "gpu") == 0 && !list->devices.items[i].again;
    return count;
}

static void expect(const char *file, const char *what, bool found, const char *column)
{
    if (found != (strcmp(column, "yes") == 0))
        fail_msg("%s: %s: expected %s", file, what, column);
}

static void check_sample(char *row, const char *folder)
{
    const char *cells[COLUMNS] = { NULL };
    for (size_t i = 0; i < COLUMNS && row != NULL; i++)
        cells[i] = strsep(&row, "\t");
    assert_non_null(cells[COLUMNS - 1]);
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, cells[FILE_NAME]);
    struct dvi_file file = { 0 };
    struct dvi_arena arena = { 0 };
    assert_int_equal(dvi_file_open(path, path, true, &file, NULL), DEVIMG_OK);
    struct dvi_sycl_ls list = read_text((const char *)file.bytes.data, file.bytes.size, &arena);
    expect(path, "OpenCL CPU", dvi_sycl_ls_has(&list, "opencl", "cpu"), cells[OPENCL_CPU]);
    expect(path, "native CPU", dvi_sycl_ls_has(&list, "native_cpu", "cpu"), cells[NATIVE_CPU]);
    expect(path, "host device", dvi_sycl_ls_has(&list, "host", "host"), cells[HOST_DEVICE]);
    expect(path, "FPGA emulator", dvi_sycl_ls_has(&list, "opencl", "acc"), cells[FPGA_EMULATOR]);
    expect(path, "filtered", list.filtered, strcmp(cells[2], "none") == 0 ? "no" : "yes");
    if (gpus(&list) != strtoul(cells[GPU_COUNT], NULL, 10))
        fail_msg("%s: %u GPUs, expected %s", path, gpus(&list), cells[GPU_COUNT]);
    dvi_sycl_ls_free(&list);
    dvi_arena_free(&arena);
    dvi_file_close(&file);
}

static void samples_are_read_as_expected(void **state)
{
    (void)state;
    const char *data = getenv("DEVIMG_TEST_DATA");
    assert_non_null(data);
    char folder[512], path[600];
    snprintf(folder, sizeof folder, "%s/sycl-ls", data);
    snprintf(path, sizeof path, "%s/expected.tsv", folder);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *line = NULL;
    size_t room = 0;
    unsigned count = 0;
    while (getline(&line, &room, file) > 0)
        if (count++ > 0)
            check_sample(line, folder);
    free(line);
    fclose(file);
    assert_int_equal(count, 15);
}

static void only_tags_at_the_start_count(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool cpu;
    } cases[] = {
        { "[opencl:cpu] x\n", true },
        { "[opencl:cpu:0] x\r\n", true },
        { "[opencl:cpu][opencl:0] x", true },
        { "[ext_oneapi_opencl:cpu:12] x", true },
        { "\n\n[opencl:cpu]", true },
        { " [opencl:cpu] x", false },
        { "x [opencl:cpu] x", false },
        { "[opencl:cpu", false },
        { "[opencl:cpu:] x", false },
        { "[opencl:cpus] x", false },
        { "[OPENCL:CPU] x", false },
        { "opencl:cpu", false },
        { "[:cpu]", false },
        { "", false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct dvi_arena arena = { 0 };
        struct dvi_sycl_ls list = read_text(cases[i].text, strlen(cases[i].text), &arena);
        if (dvi_sycl_ls_has(&list, "opencl", "cpu") != cases[i].cpu)
            fail_msg("\"%s\"", cases[i].text);
        dvi_sycl_ls_free(&list);
        dvi_arena_free(&arena);
    }
}

static void names_stand_between_platform_and_version(void **state)
{
    (void)state;
    static const struct {
        const char *text, *name;
    } cases[] = {
        { "[opencl:gpu] A, Intel(R) UHD OpenCL 3.0 NEO  [25.05]", "Intel(R) UHD" },
        { "[opencl:cpu] A, AMD CPU                OpenCL 3.0 (Build 0) [20]", "AMD CPU" },
        { "[level_zero:gpu] A, Graphics [0x9a49] 1.3 [1.3]", "Graphics [0x9a49]" },
        { "[cuda:gpu] NVIDIA CUDA BACKEND, NVIDIA GPU A 12.0 [CUDA 13.2]", "NVIDIA GPU A" },
        { "[hip:gpu] AMD HIP BACKEND, AMD Radeon GPU gfx1100 [HIP 60342.13]", "AMD Radeon GPU" },
        { "[cuda:gpu] nothing else", "nothing else" },
        { "[cuda:gpu]", "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct dvi_arena arena = { 0 };
        struct dvi_sycl_ls list = read_text(cases[i].text, strlen(cases[i].text), &arena);
        assert_int_equal(list.devices.count, 1);
        assert_string_equal(list.devices.items[0].name, cases[i].name);
        dvi_sycl_ls_free(&list);
        dvi_arena_free(&arena);
    }
}

static void any_bytes_are_read(void **state)
{
    (void)state;
    enum { SIZE = 4000, ROUNDS = 200 };
    static const char letters[] = "[]:\n\r ,.0gcpuopencl_xA\0\xff\x80";
    static const char *const pieces[] = { "[opencl:gpu] Intel, ", "\n    Type : gpu\n",
                                          "\n    Name : ",        "\n    Architecture: a / b",
                                          " OpenCL 3 [",          "[hip:gpu] gfx" };
    char text[SIZE];
    uint32_t random = 12345;
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t at = 0; at < SIZE;) {
            random = random * 1664525 + 1013904223;
            const uint32_t number = random >> 16;
            const char *piece = pieces[number % 6];
            if (number % 16 == 0 && strlen(piece) < SIZE - at) {
                memcpy(text + at, piece, strlen(piece));
                at += strlen(piece);
            } else {
                text[at++] = letters[number % (sizeof letters - 1)];
            }
        }
        struct dvi_arena arena = { 0 };
        struct dvi_sycl_ls list = read_text(text, SIZE, &arena);
        dvi_sycl_ls_free(&list);
        dvi_arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_read_as_expected),
        cmocka_unit_test(only_tags_at_the_start_count),
        cmocka_unit_test(names_stand_between_platform_and_version),
        cmocka_unit_test(any_bytes_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
