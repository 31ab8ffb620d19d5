/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules over records made by hand. Facts about targets are those of compute-runtime: pvc and
 * Xe2 (bmg-g21 20.1.0, once 20.1.4; lnl-m 20.4.4) accept sub-group sizes 16 and 32 only; adl-s
 * and rpl-s are both 12.2.0; Xe-LP has no fp64; dg2-g10 is 12.55.8, dg2-g11 12.56.5.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "check/check.h"
#include "image/image.h"

enum { MOST = 24 };

/* One file: records, images, modules, kernels, findings, and a report over them. */
struct world {
    struct devimg_policy *policy;
    struct devimg_report *report;
    struct devimg_record records[MOST];
    struct devimg_image images[MOST];
    struct devimg_module modules[MOST];
    struct devimg_kernel kernels[MOST];
    struct devimg_finding findings[MOST];
    uint32_t members[MOST][MOST]; /* images of a module */
    const char *names[MOST][MOST];
    uint32_t record_count, image_count, module_count, kernel_count, finding_count;
    uint32_t first, count; /* findings of the last file */
    char folder[32];
};

static struct devimg_error err;

static int set_up(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    strcpy(w->folder, "/tmp/devimg-rules-XXXXXX");
    assert_non_null(mkdtemp(w->folder));
    assert_int_equal(devimg_policy_new(&w->policy, &err), DEVIMG_OK);
    w->record_count = 1;
    w->records[0] = (struct devimg_record){ .path = "build/libtest.so",
                                            .kind = DEVIMG_KIND_ELF,
                                            .linked = DEVIMG_YES };
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    char command[64];
    devimg_report_free(w->report);
    devimg_policy_free(w->policy);
    (void)snprintf(command, sizeof command, "rm -r %s", w->folder);
    assert_int_equal(system(command), 0);
    free(w);
    return 0;
}

static void set(struct world *w, const char *key, const char *value)
{
    const enum devimg_status st = devimg_policy_set(w->policy, key, value, &err);
    if (st != DEVIMG_OK)
        fail_msg("%s: %s: %s", key, value, err.text);
}

/* Write a file into the folder of the test; the path is static. */
static const char *file_of(struct world *w, const char *name, const char *text)
{
    static char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", w->folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    return path;
}

static uint32_t module_of(struct world *w, const char *unit, const char *first, const char *second)
{
    const uint32_t m = w->module_count++;
    w->names[m][0] = first;
    w->names[m][1] = second;
    w->modules[m] = (struct devimg_module){ .unit = unit,
                                            .images = w->members[m],
                                            .names = w->names[m],
                                            .name_count = second != NULL ? 2 : 1 };
    w->records[0].module_count = w->module_count;
    return m;
}

static uint32_t image_of(struct world *w, uint32_t module, enum devimg_format format,
                         const char *target, uint64_t ip)
{
    const uint32_t i = w->image_count++;
    w->images[i] = (struct devimg_image){ .parent = DEVIMG_NONE,
                                          .module = module,
                                          .bundle = "dpcpp",
                                          .target = target,
                                          .ip_version = ip,
                                          .pointer_size = DEVIMG_UNKNOWN,
                                          .format = format,
                                          .offset = 4096U + i,
                                          .offset_in_parent = DEVIMG_UNKNOWN,
                                          .stored_size = 700,
                                          .size = 1000,
                                          .compression = DEVIMG_COMPRESSION_ZSTD,
                                          .registered = DEVIMG_YES,
                                          .kernel_count = 1,
                                          .required_sub_group_size = DEVIMG_UNKNOWN,
                                          .bundle_offset = DEVIMG_UNKNOWN,
                                          .bundle_size = DEVIMG_UNKNOWN };
    w->records[0].image_count = w->image_count;
    if (module != DEVIMG_NONE)
        w->members[module][w->modules[module].image_count++] = i;
    else
        w->images[i].support = 1;
    return i;
}

static uint32_t native(struct world *w, uint32_t module, const char *target, uint64_t ip)
{
    return image_of(w, module, DEVIMG_FORMAT_ZEBIN, target, ip);
}

static uint32_t spirv(struct world *w, uint32_t module)
{
    return image_of(w, module, DEVIMG_FORMAT_SPIRV, "spir64", DEVIMG_UNKNOWN);
}

static struct devimg_kernel *kernel_of(struct world *w, uint32_t image, const char *name)
{
    struct devimg_kernel *k = &w->kernels[w->kernel_count++];
    *k = (struct devimg_kernel){ .name = name,
                                 .image = image,
                                 .module = w->images[image].module,
                                 .sub_group_size = DEVIMG_UNKNOWN,
                                 .required_sub_group_size = DEVIMG_UNKNOWN,
                                 .private_size = 0,
                                 .spill_size = DEVIMG_UNKNOWN,
                                 .scratch_size = 0,
                                 .features_known = 1 };
    return k;
}

static void check_file(struct world *w)
{
    const void *all[5][MOST];
    for (size_t i = 0; i < MOST; i++) {
        all[0][i] = &w->records[i];
        all[1][i] = &w->images[i];
        all[2][i] = &w->modules[i];
        all[3][i] = &w->kernels[i];
        all[4][i] = &w->findings[i];
    }
    const struct dvi_check_input in = {
        .records = (const struct devimg_record *const *)(const void *)all[0],
        .images = (const struct devimg_image *const *)(const void *)all[1],
        .modules = (const struct devimg_module *const *)(const void *)all[2],
        .kernels = (const struct devimg_kernel *const *)(const void *)all[3],
        .findings = (const struct devimg_finding *const *)(const void *)all[4],
        .record_count = w->record_count,
        .image_count = w->image_count,
        .module_count = w->module_count,
        .kernel_count = w->kernel_count,
        .finding_count = w->finding_count,
    };
    if (w->report == NULL && devimg_report_new(w->policy, &w->report, &err) != DEVIMG_OK)
        fail_msg("%s: %s", err.source, err.text);
    assert_int_equal(dvi_report_add_input(w->report, &in, &w->first, &w->count, &err), DEVIMG_OK);
}

static void finish(struct world *w)
{
    w->first = devimg_report_count(w->report);
    assert_int_equal(devimg_report_finish(w->report, &err), DEVIMG_OK);
    w->count = devimg_report_count(w->report) - w->first;
}

/* One line a finding: "severity rule code module kernel target". */
static void expect(struct world *w, const char *lines)
{
    char found[8192] = "";
    for (uint32_t i = 0; i < w->count; i++) {
        const struct devimg_finding *f = devimg_report_at(w->report, w->first + i);
        const size_t used = strlen(found);
        char module[12] = "-";
        if (f->module != DEVIMG_NONE)
            (void)snprintf(module, sizeof module, "%u", f->module);
        (void)snprintf(found + used, sizeof found - used, "%s %s %s %s %s %s\n",
                       devimg_severity_name(f->severity), f->rule, f->code, module,
                       f->kernel != NULL ? f->kernel : "-", f->target != NULL ? f->target : "-");
        assert_true(f->message != NULL && *f->message != 0);
        assert_null(strchr(f->message, '\n'));
    }
    assert_string_equal(found, lines);
}

static const struct devimg_finding *finding_at(const struct world *w, uint32_t i)
{
    assert_true(i < w->count);
    return devimg_report_at(w->report, w->first + i);
}

/* ---- targets ---- */

/* S1-15. */
static void one_module_without_a_target_is_named_though_another_has_it(void **state)
{
    struct world *w = *state;
    set(w, "targets", "adl-s,bmg-g21");
    const uint32_t a = module_of(w, "a.cpp", "k", NULL), b = module_of(w, "b.cpp", "k", NULL);
    native(w, a, "adl-s", DVI_IP(12, 2, 0));
    native(w, a, "bmg-g21", DVI_IP(20, 1, 0));
    native(w, b, "adl-s", DVI_IP(12, 2, 0));
    check_file(w);
    expect(w, "error targets missing-ip 1 k bmg-g21\n");
    assert_string_equal(finding_at(w, 0)->unit, "b.cpp");
    assert_non_null(strstr(finding_at(w, 0)->message, "20.1.0"));
}

static void two_names_of_one_version_are_served_by_one_image(void **state)
{
    struct world *w = *state;
    set(w, "targets", "adl-s,rpl-s");
    native(w, module_of(w, NULL, "k", NULL), "adl-s", DVI_IP(12, 2, 0));
    check_file(w);
    expect(w, "");
}

static void former_ip_version_serves_its_target(void **state)
{
    struct world *w = *state;
    set(w, "targets", "bmg-g21");
    native(w, module_of(w, NULL, "k", NULL), "bmg-g21", DVI_IP(20, 1, 4));
    check_file(w);
    expect(w, "");
}

/* S3-1, S3-20. */
static void module_without_native_image_has_a_finding_for_each_target(void **state)
{
    struct world *w = *state;
    set(w, "targets", "adl-s,lnl-m");
    spirv(w, module_of(w, NULL, "k", "l"));
    check_file(w);
    expect(w, "error targets no-native-image 0 - adl-s\n"
              "error targets no-native-image 0 - lnl-m\n");
    assert_non_null(strstr(finding_at(w, 0)->message, "k, l"));
}

static void support_images_and_modules_without_kernels_need_no_coverage(void **state)
{
    struct world *w = *state;
    set(w, "targets", "adl-s");
    native(w, module_of(w, NULL, "k", NULL), "adl-s", DVI_IP(12, 2, 0));
    const uint32_t m = module_of(w, NULL, "unused", NULL);
    w->images[spirv(w, m)].kernel_count = 0; /* exported functions only: "unused" is one */
    spirv(w, DEVIMG_NONE);
    check_file(w);
    expect(w, "");
}

static void native_or_spirv_image_of_unknown_kernels_needs_coverage(void **state)
{
    struct world *w = *state;
    set(w, "targets", "adl-s,pvc");
    set(w, "fallback", "spir64");
    set(w, "scratch", "any");
    for (uint32_t m = 0; m < 3; m++)
        w->modules[module_of(w, NULL, NULL, NULL)].name_count = 0;
    const uint32_t archive = image_of(w, 0, DEVIMG_FORMAT_ARCHIVE, NULL, DEVIMG_UNKNOWN);
    const uint32_t member = image_of(w, 0, DEVIMG_FORMAT_PATCHTOKEN, "adl-s", DVI_IP(12, 2, 0));
    w->images[member].parent = archive;
    w->images[member].kernel_count = DEVIMG_UNKNOWN;
    w->images[spirv(w, 1)].kernel_count = DEVIMG_UNKNOWN;
    w->images[native(w, 2, "adl-s", DVI_IP(12, 2, 0))].kernel_count = 0;
    check_file(w);
    expect(w, "warning targets patchtoken - - -\n"
              "error targets missing-ip 0 - pvc\n"
              "error fallback missing-fallback 0 - spir64\n"
              "error targets no-native-image 1 - adl-s\n"
              "error targets no-native-image 1 - pvc\n");
    assert_string_equal(finding_at(w, 1)->message,
                        "no native image for pvc (12.60.7); kernels: names unknown");
}

static void code_of_unknown_kernels_is_not_said_to_have_none(void **state)
{
    struct world *w = *state;
    set(w, "targets", "adl-s");
    w->modules[module_of(w, NULL, NULL, NULL)].name_count = 0;
    const uint32_t i = image_of(w, 0, DEVIMG_FORMAT_UNKNOWN, NULL, DEVIMG_UNKNOWN);
    w->images[i].kernel_count = DEVIMG_UNKNOWN;
    check_file(w);
    expect(w, "error targets no-device-code - - -\n");
    assert_non_null(strstr(finding_at(w, 0)->message, "are unknown"));
    w->images[i].kernel_count = 0;
    check_file(w);
    expect(w, "error targets no-device-code - - -\n");
    assert_non_null(strstr(finding_at(w, 0)->message, "has no kernels"));
}

static void name_that_stands_twice_in_a_list_is_a_warning_of_the_policy(void **state)
{
    struct world *w = *state;
    set(w, "targets", "adl-s,pvc,ADL_S,12.60.7");
    set(w, "fallback", "spir64,spir64");
    set(w, "gaps", "k without pvc,pvc: it crashes");
    const uint32_t m = module_of(w, NULL, "k", NULL);
    native(w, m, "adl-s", DVI_IP(12, 2, 0));
    spirv(w, m);
    check_file(w);
    expect(w, "note targets gap 0 k pvc\n");
    finish(w);
    expect(w, "warning targets repeated-target - - adl-s\n"
              "warning targets repeated-target - - pvc\n"
              "warning fallback repeated-target - - spir64\n"
              "warning gaps repeated-target - - pvc\n");
}

static void family_only_image_serves_its_family_and_says_so(void **state)
{
    struct world *w = *state;
    set(w, "targets", "dg2-g10,dg2-g11,adl-s");
    const uint32_t i = native(w, module_of(w, NULL, "k", NULL), "dg2-g10", DEVIMG_UNKNOWN);
    w->images[i].family_only = 1;
    check_file(w);
    expect(w, "note targets family-only 0 - dg2-g10\nerror targets missing-ip 0 k adl-s\n");
}

static void file_without_device_code_fails_when_targets_are_asked_for(void **state)
{
    struct world *w = *state;
    set(w, "targets", "adl-s");
    check_file(w);
    expect(w, "error targets no-device-code - - -\n");
}

/* S3-23. */
static void empty_target_list_with_native_images_is_a_finding(void **state)
{
    struct world *w = *state;
    set(w, "targets", " , ");
    const uint32_t m = module_of(w, NULL, "k", NULL);
    native(w, m, "adl-s", DVI_IP(12, 2, 0));
    spirv(w, m);
    check_file(w);
    expect(w, "error targets native-without-targets - - -\n");
}

static void empty_target_list_without_native_images_passes(void **state)
{
    struct world *w = *state;
    set(w, "targets", "");
    spirv(w, module_of(w, NULL, "k", NULL));
    check_file(w);
    expect(w, "");
}

static void patch_token_images_serve_and_warn_once(void **state)
{
    struct world *w = *state;
    set(w, "targets", "adl-s,dg2-g10");
    set(w, "scratch", "any");
    const uint32_t m = module_of(w, NULL, "k", NULL);
    image_of(w, m, DEVIMG_FORMAT_PATCHTOKEN, "adl-s", DVI_IP(12, 2, 0));
    image_of(w, m, DEVIMG_FORMAT_PATCHTOKEN, "dg2-g10", DVI_IP(12, 55, 8));
    check_file(w);
    expect(w, "warning targets patchtoken - - -\n");
    assert_non_null(strstr(finding_at(w, 0)->message, "2 images"));
}

static void image_for_hosts_of_another_pointer_size_serves_no_target(void **state)
{
    struct world *w = *state;
    set(w, "targets", "adl-s");
    struct devimg_image *image =
        &w->images[native(w, module_of(w, NULL, "k", NULL), "adl-s", DVI_IP(12, 2, 0))];
    image->pointer_size = 4;
    w->records[0].pointer_size = 8;
    check_file(w);
    expect(w, "error targets pointer-size 0 - adl-s\n"
              "error targets missing-ip 0 k adl-s\n");
    w->records[0].pointer_size = 4;
    check_file(w);
    expect(w, "");
    image->pointer_size = 8;
    check_file(w);
    expect(w, "error targets pointer-size 0 - adl-s\n"
              "error targets missing-ip 0 k adl-s\n");
    w->records[0].pointer_size = 8;
    check_file(w);
    expect(w, "");
    image->pointer_size = 4;
    w->records[0].pointer_size =
        DEVIMG_UNKNOWN; /* a loose image: what will carry it is not known */
    check_file(w);
    expect(w, "note targets pointer-size 0 - adl-s\n");
}

/* ---- extra-targets ---- */

/* S1-21. */
static void unlisted_image_is_an_error_bare_and_in_an_archive(void **state)
{
    struct world *w = *state;
    set(w, "targets", "adl-s");
    const uint32_t m = module_of(w, NULL, "k", NULL);
    const uint32_t archive = image_of(w, m, DEVIMG_FORMAT_ARCHIVE, NULL, DEVIMG_UNKNOWN);
    w->images[native(w, m, "pvc", DVI_IP(12, 60, 7))].parent = archive;
    native(w, m, "adl-s", DVI_IP(12, 2, 0));
    native(w, m, "lnl-m", DVI_IP(20, 4, 4));
    check_file(w);
    expect(w, "error extra-targets extra-target 0 - lnl-m\n"
              "error extra-targets extra-target 0 - pvc\n");
}

static void module_with_an_unread_archive_is_not_said_to_lack_targets(void **state)
{
    struct world *w = *state;
    set(w, "targets", "adl-s,pvc");
    const uint32_t m = module_of(w, NULL, "k", NULL);
    image_of(w, m, DEVIMG_FORMAT_ARCHIVE, NULL, DEVIMG_UNKNOWN);
    spirv(w, m);
    check_file(w);
    expect(w, "error targets cannot-tell 0 - -\n");
}

static void unlisted_image_is_fine_when_allowed(void **state)
{
    struct world *w = *state;
    set(w, "targets", "adl-s");
    set(w, "extra-targets", "allow");
    const uint32_t m = module_of(w, NULL, "k", NULL);
    native(w, m, "adl-s", DVI_IP(12, 2, 0));
    native(w, m, "pvc", DVI_IP(12, 60, 7));
    check_file(w);
    expect(w, "");
}

/* ---- fallback ---- */

static void generic_ir_of_an_archive_is_no_fallback(void **state)
{
    struct world *w = *state;
    set(w, "fallback", "spir64");
    const uint32_t m = module_of(w, NULL, "k", NULL);
    const uint32_t archive = image_of(w, m, DEVIMG_FORMAT_ARCHIVE, NULL, DEVIMG_UNKNOWN);
    w->images[spirv(w, m)].parent = archive;
    check_file(w);
    expect(w, "error fallback missing-fallback 0 k spir64\n");
}

/* S1-6. */
static void unregistered_portable_image_is_no_fallback(void **state)
{
    struct world *w = *state;
    set(w, "fallback", "spir64");
    set(w, "no-rule", "registration");
    w->images[spirv(w, module_of(w, NULL, "k", NULL))].registered = DEVIMG_NO;
    check_file(w);
    expect(w, "error fallback missing-fallback 0 k spir64\n");
}

static void bitcode_is_the_fallback_of_an_object_only(void **state)
{
    struct world *w = *state;
    set(w, "fallback", "spir64");
    w->records[0].linked = DEVIMG_NO;
    image_of(w, module_of(w, NULL, "k", NULL), DEVIMG_FORMAT_BITCODE, "spir64", DEVIMG_UNKNOWN);
    check_file(w);
    expect(w, "");
    w->records[0].linked = DEVIMG_YES;
    check_file(w);
    expect(w, "error fallback missing-fallback 0 k spir64\n");
}

/* As icpx -fno-sycl-rdc leaves them: an image for each native module, and bitcode that states no
 * kernels and is a module of its own. The link makes a fallback of it for all of them. */
static void bitcode_of_an_object_is_the_fallback_of_all_its_modules(void **state)
{
    struct world *w = *state;
    set(w, "fallback", "spir64");
    w->records[0].linked = DEVIMG_NO;
    native(w, module_of(w, NULL, "k", NULL), "adl-s", DVI_IP(12, 2, 0));
    native(w, module_of(w, NULL, "l", NULL), "adl-s", DVI_IP(12, 2, 0));
    const uint32_t m = module_of(w, NULL, NULL, NULL);
    w->modules[m].name_count = 0;
    const uint32_t i = image_of(w, m, DEVIMG_FORMAT_BITCODE, "spir64", DEVIMG_UNKNOWN);
    w->images[i].kernel_count = DEVIMG_UNKNOWN;
    check_file(w);
    expect(w, "");
    w->images[i].target = "spir64_gen"; /* for native code: no fallback comes of it */
    check_file(w);
    expect(w, "error fallback missing-fallback 0 k spir64\n"
              "error fallback missing-fallback 1 l spir64\n"
              "warning registration bitcode-dropped 2 - spir64_gen\n"
              "error fallback missing-fallback 2 - spir64\n");
    w->images[i].target = "spir64";
    w->records[0].linked = DEVIMG_YES; /* what a link left over no link makes anything of */
    check_file(w);
    expect(w, "error fallback missing-fallback 0 k spir64\n"
              "error fallback missing-fallback 1 l spir64\n"
              "error fallback missing-fallback 2 - spir64\n");
}

/* A library of two objects: the bitcode of one is no fallback of the other. */
static void bitcode_of_an_object_is_no_fallback_of_its_neighbour(void **state)
{
    struct world *w = *state;
    set(w, "fallback", "spir64");
    native(w, module_of(w, NULL, "k", NULL), "adl-s", DVI_IP(12, 2, 0));
    image_of(w, module_of(w, NULL, "l", NULL), DEVIMG_FORMAT_BITCODE, "spir64", DEVIMG_UNKNOWN);
    w->record_count = 2;
    w->records[0].linked = DEVIMG_NO;
    w->records[1] = w->records[0];
    w->records[0].image_count = w->records[0].module_count = 1;
    w->records[1].first_image = w->records[1].first_module = 1;
    w->records[1].image_count = w->records[1].module_count = 1;
    w->images[1].record = w->modules[1].record = 1;
    check_file(w);
    expect(w, "error fallback missing-fallback 0 k spir64\n");
}

/* A clang offload bundle, uncompressed: its one entry is called SPIR-V and holds zeros. Only
 * decoding tells, so the rule has to ask for it. */
static void image_that_is_only_labelled_spirv_is_met_by_the_fallback_rule(void **state)
{
    static const char magic[] = "__CLANG_OFFLOAD_BUNDLE__", id[] = "sycl-spir64-unknown-unknown";
    unsigned char bytes[24 + 8 + 24 + sizeof id - 1 + 640] = { 0 };
    const size_t image = sizeof bytes - 640;
    struct world *w = *state;
    struct devimg_file *file = NULL;
    memcpy(bytes, magic, 24);
    bytes[24] = 1; /* entries */
    bytes[32] = (unsigned char)image;
    bytes[40] = 640 & 0xff;
    bytes[41] = 640 >> 8;
    bytes[48] = sizeof id - 1;
    memcpy(bytes + 56, id, sizeof id - 1);
    set(w, "fallback", "spir64");
    assert_true(dvi_policy_needs_kernels(w->policy));
    assert_int_equal(devimg_open_bytes(bytes, sizeof bytes, "b", NULL, &file, &err), DEVIMG_OK);
    assert_int_equal(devimg_report_new(w->policy, &w->report, &err), DEVIMG_OK);
    assert_int_equal(devimg_report_add(w->report, file, &w->first, &w->count, &err), DEVIMG_OK);
    expect(w, "error damaged unsupported - - -\n"
              "error fallback missing-fallback 0 - spir64\n");
    devimg_close(file);
}

/* ---- compression ---- */

/* S1-14. */
static void raw_image_counts_from_512_bytes_on_and_members_do_not(void **state)
{
    struct world *w = *state;
    set(w, "compression", "required");
    const uint32_t m = module_of(w, NULL, "k", NULL);
    const uint64_t sizes[] = { 511, 512, 513 };
    for (size_t i = 0; i < 3; i++) {
        struct devimg_image *image = &w->images[spirv(w, m)];
        image->compression = DEVIMG_COMPRESSION_NONE;
        image->size = image->stored_size = sizes[i];
    }
    struct devimg_image *member = &w->images[spirv(w, m)];
    member->compression = DEVIMG_COMPRESSION_NONE;
    member->parent = 0;
    struct devimg_image *support = &w->images[spirv(w, DEVIMG_NONE)];
    support->compression = DEVIMG_COMPRESSION_NONE;
    check_file(w);
    expect(w, "error compression stored-raw - - spir64\n"
              "error compression stored-raw 0 - spir64\n"
              "error compression stored-raw 0 - spir64\n");
    assert_int_equal(finding_at(w, 1)->image, 1);
    assert_int_equal(finding_at(w, 1)->offset, 4097);
    assert_non_null(strstr(finding_at(w, 1)->message, "512 bytes"));
}

static void image_that_nothing_could_have_compressed_is_not_raw(void **state)
{
    struct world *w = *state;
    set(w, "compression", "required");
    const uint32_t m = module_of(w, NULL, "k", NULL);
    struct devimg_image *image = &w->images[spirv(w, m)];
    image->compression = DEVIMG_COMPRESSION_NONE;
    image->target = "native_cpu"; /* a table of host addresses */
    check_file(w);
    expect(w, "");
    image->target = "spir64";
    image->format = DEVIMG_FORMAT_BITCODE;
    w->records[0].linked = DEVIMG_NO; /* the link makes the image */
    check_file(w);
    expect(w, "");
    image->format = DEVIMG_FORMAT_SPIRV;
    w->records[0].linked = DEVIMG_MAYBE;
    w->records[0].kind = DEVIMG_KIND_RAW;
    image->bundle = "none"; /* the file is the image */
    check_file(w);
    expect(w, "");
    w->records[0].kind = DEVIMG_KIND_COFF;
    w->records[0].linked = DEVIMG_NO;
    image->section = image->bundle = "clang-bundle"; /* the link makes the fallback of it */
    check_file(w);
    expect(w, "warning registration needs-device-link - - -\n");
    image->section = NULL;
    image->bundle = "dpcpp"; /* a device link made this object */
    check_file(w);
    expect(w, "error compression stored-raw 0 - spir64\n");
    image->section = image->bundle = "clang-bundle";
    image->format = DEVIMG_FORMAT_ARCHIVE; /* a finished native image */
    image->target = NULL;
    check_file(w);
    expect(w, "warning registration needs-device-link - - -\n"
              "error compression stored-raw 0 - -\n");
    image->format = DEVIMG_FORMAT_SPIRV;
    image->target = "spir64";
    image->section = NULL;
    w->records[0].kind = DEVIMG_KIND_RAW;
    w->records[0].linked = DEVIMG_MAYBE; /* a loose bundle, which could be compressed */
    check_file(w);
    expect(w, "error compression stored-raw 0 - spir64\n");
}

/* ---- max-bytes, duplicates ---- */

static void budget_counts_inflated_bytes_of_a_target_and_stored_ones_of_the_file(void **state)
{
    struct world *w = *state;
    set(w, "max-bytes", "adl-s=2K, bmg-g21=999 ,all=2100");
    const uint32_t a = module_of(w, NULL, "k", NULL), b = module_of(w, NULL, "l", NULL);
    native(w, a, "adl-s", DVI_IP(12, 2, 0)); /* each 1000 bytes, stored as 700 */
    native(w, b, "adl-s", DVI_IP(12, 2, 0));
    native(w, b, "bmg-g21", DVI_IP(20, 1, 0));
    check_file(w);
    expect(w, "error max-bytes over-budget - - bmg-g21\n");
    assert_non_null(strstr(finding_at(w, 0)->message, "1 more than the 999"));
    set(w, "max-bytes", "adl-s=1999,bmg-g21=1000,2099");
    check_file(w);
    expect(w, "error max-bytes over-budget - - -\n"
              "error max-bytes over-budget - - adl-s\n");
}

/* What is compressed as one counts once; members of an archive through it, but for a target. */
static void budget_counts_a_bundle_once(void **state)
{
    struct world *w = *state;
    set(w, "max-bytes", "all=1299,gfx942=1999");
    const uint32_t m = module_of(w, NULL, "k", NULL);
    for (size_t i = 0; i < 2; i++) {
        struct devimg_image *image =
            &w->images[image_of(w, m, DEVIMG_FORMAT_AMDGPU, "gfx942", DEVIMG_UNKNOWN)];
        image->stored_size = DEVIMG_UNKNOWN;
        image->bundle_offset = 64;
        image->bundle_size = 600;
    }
    const uint32_t archive = image_of(w, m, DEVIMG_FORMAT_ARCHIVE, NULL, DEVIMG_UNKNOWN);
    w->images[native(w, m, "adl-s", DVI_IP(12, 2, 0))].parent = archive;
    check_file(w);
    expect(w, "error max-bytes over-budget - - -\n"
              "error max-bytes over-budget - - gfx942\n");
    assert_non_null(strstr(finding_at(w, 0)->message, "takes 1300 bytes in the file"));
    assert_non_null(strstr(finding_at(w, 1)->message, "take 2000 bytes, inflated"));
}

static void size_that_is_not_stated_is_no_pass(void **state)
{
    struct world *w = *state;
    set(w, "max-bytes", "spir64=1K,adl-s=1");
    const uint32_t m = module_of(w, NULL, "k", NULL);
    w->images[spirv(w, m)].size = DEVIMG_UNKNOWN;
    native(w, m, "adl-s", DVI_IP(12, 2, 0));
    w->images[native(w, m, "adl-s", DVI_IP(12, 2, 0))].size = DEVIMG_UNKNOWN;
    check_file(w);
    expect(w, "error max-bytes over-budget - - adl-s\n"
              "error max-bytes size-unknown - - spir64\n");
    assert_non_null(strstr(finding_at(w, 0)->message, "at least 1000 bytes"));
}

static const uint8_t digests[2][32] = { { 1 }, { 2 } };

static void code_of(struct world *w, uint32_t image, const char *name, size_t digest, uint64_t size)
{
    struct devimg_kernel *k = kernel_of(w, image, name);
    k->code_size = size;
    k->code_digest = digest < 2 ? digests[digest] : NULL;
}

static void same_code_of_one_target_in_two_modules_is_found_by_its_digest(void **state)
{
    struct world *w = *state;
    set(w, "duplicates", "deny");
    const uint32_t a = module_of(w, "a.cpp", "k", "l"), b = module_of(w, "b.cpp", "k", "x");
    const uint32_t first = native(w, a, "adl-s", DVI_IP(12, 2, 0));
    const uint32_t other = native(w, a, "bmg-g21", DVI_IP(20, 1, 0));
    const uint32_t second = native(w, b, "adl-s", DVI_IP(12, 2, 0));
    code_of(w, first, "k", 0, 100);
    code_of(w, first, "l", 1, 40);
    code_of(w, other, "k", 1, 40);  /* another target */
    code_of(w, second, "k", 1, 50); /* the name alone; and a digest of another size */
    code_of(w, second, "x", 0, 100);
    check_file(w);
    expect(w, "note duplicates duplicate-total - - -\n"
              "error duplicates duplicate-code 0 k adl-s\n");
    assert_string_equal(finding_at(w, 0)->message,
                        "100 of 330 bytes of machine code stand in another module as well");
    assert_string_equal(finding_at(w, 1)->message,
                        "the same code stands in 2 modules (a.cpp, b.cpp): 100 bytes could be "
                        "saved, before compression");
}

static void two_kernels_of_one_module_are_no_duplicates(void **state)
{
    struct world *w = *state;
    set(w, "duplicates", "deny");
    const uint32_t m = module_of(w, NULL, "k", "l");
    const uint32_t i = native(w, m, "adl-s", DVI_IP(12, 2, 0));
    code_of(w, i, "k", 0, 100);
    code_of(w, i, "l", 0, 100);
    check_file(w);
    expect(w, "");
}

static void code_that_was_not_compared_is_said(void **state)
{
    struct world *w = *state;
    set(w, "duplicates", "deny");
    code_of(w, native(w, module_of(w, NULL, "k", NULL), "adl-s", DVI_IP(12, 2, 0)), "k", 2, 100);
    code_of(w, spirv(w, module_of(w, NULL, "l", NULL)), "l", 2, DEVIMG_UNKNOWN);
    check_file(w);
    expect(w, "note duplicates code-unknown - - -\n");
    assert_non_null(strstr(finding_at(w, 0)->message, "1 kernel"));
}

/* ---- sub-group-size ---- */

/* S1-30. */
static void size_8_is_refused_once_for_each_target_that_lacks_it(void **state)
{
    struct world *w = *state;
    set(w, "targets", "adl-s,pvc,lnl-m");
    set(w, "no-rule", "targets");
    const uint32_t m = module_of(w, NULL, "k", "l");
    const uint32_t a = native(w, m, "adl-s", DVI_IP(12, 2, 0));
    const uint32_t b = spirv(w, m), c = spirv(w, m);
    kernel_of(w, a, "k")->required_sub_group_size = 8;
    kernel_of(w, b, "k")->required_sub_group_size = 8;
    kernel_of(w, b, "l")->required_sub_group_size = 16;
    kernel_of(w, c, "k")->required_sub_group_size = 8;
    check_file(w);
    expect(w, "error sub-group-size size-refused 0 k lnl-m\n"
              "error sub-group-size size-refused 0 k pvc\n");
    assert_string_equal(finding_at(w, 0)->message,
                        "requires sub-group size 8; pvc, lnl-m accept 16, 32 only");
}

/* gfx1100 runs wavefronts of 32 and of 64 (AMDGPUUsage, "wavefrontsize64"), gfx942 of 64. */
static void wavefront_that_is_not_the_size_required_is_refused_once(void **state)
{
    struct world *w = *state;
    set(w, "sub-group-sizes", "targets");
    const uint32_t m = module_of(w, NULL, "k", "l");
    const uint32_t a = image_of(w, m, DEVIMG_FORMAT_AMDGPU, "gfx1100", DEVIMG_UNKNOWN);
    const uint32_t b = image_of(w, m, DEVIMG_FORMAT_AMDGPU, "gfx942", DEVIMG_UNKNOWN);
    w->images[a].required_sub_group_size = 64;
    w->images[b].required_sub_group_size = 32;
    kernel_of(w, a, "k")->sub_group_size = 32;
    kernel_of(w, a, "l")->sub_group_size = 64;
    kernel_of(w, b, "k")->sub_group_size = 64;
    check_file(w);
    expect(w, "error sub-group-size size-refused 0 k gfx1100\n"
              "error sub-group-size size-refused 0 k gfx942\n");
    assert_string_equal(finding_at(w, 0)->message,
                        "requires sub-group size 64; it was compiled for wavefronts of 32");
}

/* S1-31. */
static void size_of_a_single_target_build_is_held_to_the_default_list(void **state)
{
    struct world *w = *state;
    set(w, "targets", "adl-s");
    const uint32_t m = module_of(w, NULL, "k", NULL);
    native(w, m, "adl-s", DVI_IP(12, 2, 0));
    kernel_of(w, spirv(w, m), "k")->required_sub_group_size = 8;
    check_file(w);
    expect(w, "error sub-group-size size-refused 0 k bmg-g21\n"
              "error sub-group-size size-refused 0 k bmg-g31\n"
              "error sub-group-size size-refused 0 k lnl-m\n");
}

/* S1-31. */
static void size_of_a_jit_only_build_is_held_to_the_default_list(void **state)
{
    struct world *w = *state;
    set(w, "targets", "");
    const uint32_t i = spirv(w, module_of(w, NULL, "k", NULL));
    w->images[i].required_sub_group_size = 8; /* stated for the image, kernels unknown */
    check_file(w);
    expect(w, "error sub-group-size size-refused 0 - bmg-g21\n"
              "error sub-group-size size-refused 0 - bmg-g31\n"
              "error sub-group-size size-refused 0 - lnl-m\n");
}

static void size_that_a_native_image_was_built_with_is_held_to_its_own_target(void **state)
{
    struct world *w = *state;
    set(w, "targets", "adl-s,lnl-m");
    set(w, "no-rule", "extra-targets,targets");
    const uint32_t m = module_of(w, NULL, "k", NULL);
    kernel_of(w, native(w, m, "adl-s", DVI_IP(12, 2, 0)), "k")->required_sub_group_size = 8;
    kernel_of(w, native(w, m, "lnl-m", DVI_IP(20, 4, 4)), "k")->required_sub_group_size = 16;
    check_file(w);
    expect(w, "");
}

static void size_0_and_esimd_are_no_requests(void **state)
{
    struct world *w = *state;
    set(w, "targets", "adl-s,lnl-m");
    set(w, "no-rule", "targets");
    const uint32_t i = spirv(w, module_of(w, NULL, "k", "l"));
    kernel_of(w, i, "k")->required_sub_group_size = 0;
    struct devimg_kernel *esimd = kernel_of(w, i, "l");
    esimd->required_sub_group_size = 1;
    esimd->features = DEVIMG_FEATURE_ESIMD;
    check_file(w);
    expect(w, "");
}

static void size_1_is_esimd_in_every_format(void **state)
{
    struct world *w = *state;
    set(w, "sub-group-sizes", "16,32");
    const uint32_t m = module_of(w, NULL, "k", NULL);
    kernel_of(w, native(w, m, "lnl-m", DVI_IP(20, 4, 4)), "k")->required_sub_group_size = 1;
    w->images[spirv(w, m)].required_sub_group_size = 1; /* of the whole image */
    check_file(w);
    expect(w, "");
    set(w, "sub-group-sizes", "targets");
    check_file(w);
    expect(w, "");
}

static void declared_gap_does_not_excuse_a_size(void **state)
{
    struct world *w = *state;
    set(w, "targets", "adl-s,lnl-m");
    set(w, "gaps", "k without lnl-m: IGC crashes");
    const uint32_t m = module_of(w, NULL, "k", NULL);
    native(w, m, "adl-s", DVI_IP(12, 2, 0));
    kernel_of(w, spirv(w, m), "k")->required_sub_group_size = 8;
    check_file(w);
    expect(w, "note targets gap 0 k lnl-m\n"
              "error sub-group-size size-refused 0 k lnl-m\n");
}

static void listed_sizes_replace_the_tables(void **state)
{
    struct world *w = *state;
    set(w, "sub-group-sizes", "16,32");
    const uint32_t i = spirv(w, module_of(w, NULL, "k", "l"));
    kernel_of(w, i, "k")->required_sub_group_size = 8;
    kernel_of(w, i, "l")->required_sub_group_size = 32;
    check_file(w);
    expect(w, "error sub-group-size size-refused 0 k -\n");
}

/* ---- features ---- */

static void fp64_is_an_error_for_targets_without_and_with_emulation(void **state)
{
    struct world *w = *state;
    set(w, "targets", "adl-s,dg2-g10,pvc");
    set(w, "no-rule", "targets");
    const uint32_t i = spirv(w, module_of(w, NULL, "k", "l"));
    kernel_of(w, i, "k")->features = DEVIMG_FEATURE_FP64;
    kernel_of(w, i, "l");
    check_file(w);
    expect(w, "error features needs-fp64 0 k adl-s\n"
              "error features needs-fp64 0 k dg2-g10\n");
    assert_non_null(strstr(finding_at(w, 0)->hint, "off by default"));
}

static void stated_aspects_count_before_what_kernels_declare(void **state)
{
    static const uint32_t none_known[] = { 9 }, fp64[] = { 6 };
    struct world *w = *state;
    set(w, "targets", "adl-s,pvc");
    set(w, "no-rule", "targets");
    const uint32_t a = spirv(w, module_of(w, NULL, "k", NULL));
    const uint32_t b = spirv(w, module_of(w, NULL, "l", NULL));
    w->images[a].aspects = none_known;
    w->images[b].aspects = fp64;
    w->images[a].aspect_count = w->images[b].aspect_count = 1;
    kernel_of(w, a, "k")->features = DEVIMG_FEATURE_FP64;
    const uint32_t functions = spirv(w, module_of(w, NULL, NULL, NULL));
    w->images[functions].kernel_count = 0; /* no kernel of it can lack anything */
    w->images[functions].aspects = fp64;
    w->images[functions].aspect_count = 1;
    check_file(w);
    expect(w, "error features needs-fp64 1 l adl-s\n");
}

static void empty_list_of_aspects_is_stated(void **state)
{
    static const uint32_t none[] = { 0 };
    struct world *w = *state;
    set(w, "targets", "adl-s");
    set(w, "no-rule", "targets");
    const uint32_t i = spirv(w, module_of(w, NULL, "k", NULL));
    kernel_of(w, i, "k")->features = DEVIMG_FEATURE_FP64;
    w->images[i].aspects = none;
    w->images[i].aspect_count = 0;
    check_file(w);
    expect(w, "");
    w->images[i].aspects = NULL;
    check_file(w);
    expect(w, "error features needs-fp64 0 k adl-s\n");
}

/* ---- scratch ---- */

static void scratch_is_an_error_only_when_the_policy_says_none(void **state)
{
    struct world *w = *state;
    const uint32_t m = module_of(w, NULL, "k", "l");
    const uint32_t i = native(w, m, "adl-s", DVI_IP(12, 2, 0));
    kernel_of(w, i, "k")->spill_size = 64;
    kernel_of(w, i, "l");
    check_file(w);
    expect(w, "");
    devimg_report_free(w->report);
    w->report = NULL;
    set(w, "scratch", "none");
    check_file(w);
    expect(w, "error scratch scratch 0 k adl-s\n");
}

static void unasked_scratch_is_one_note(void **state)
{
    struct world *w = *state;
    set(w, "targets", "adl-s");
    const uint32_t i = native(w, module_of(w, NULL, "k", "l"), "adl-s", DVI_IP(12, 2, 0));
    kernel_of(w, i, "k")->private_size = 64;
    kernel_of(w, i, "l")->scratch_size = 64;
    check_file(w);
    expect(w, "note scratch scratch-used - - -\n");
    assert_non_null(strstr(finding_at(w, 0)->message, "2 kernels use scratch memory: k, l"));
}

static void ratchet_allows_what_it_lists_and_nothing_larger(void **state)
{
    struct world *w = *state;
    set(w, "scratch.ratchet",
        file_of(w, "scratch.tsv",
                "# kernel\ttarget\tprivate\tspill\tbuffer\n"
                "fits\t*\t64\t0\t0\n"
                "app::foo<float>\t*\t8\t0\t0\n"
                "grew\tadl-s\t64\t0\t0\n"
                "gone\t*\t64\t0\t0\n"
                "loose\trpl-s\t900\t0\t0\n"));
    const uint32_t i = native(w, module_of(w, NULL, "fits", "grew"), "adl-s", DVI_IP(12, 2, 0));
    kernel_of(w, i, "fits")->private_size = 64;
    kernel_of(w, i, "_ZTSN3app3fooIfEE")->private_size = 8;
    kernel_of(w, i, "grew")->private_size = 65;
    kernel_of(w, i, "loose")->private_size = 100; /* rpl-s and adl-s: one IP version */
    kernel_of(w, i, "new")->private_size = 1;
    check_file(w);
    expect(w, "error scratch scratch-grew 0 grew adl-s\n"
              "error scratch scratch 0 new adl-s\n");
    finish(w);
    expect(w, "note scratch ratchet-stale - gone *\n"
              "note scratch ratchet-stale - loose adl-s\n");
    assert_non_null(strstr(finding_at(w, 1)->message, "line 6"));
    assert_non_null(strstr(finding_at(w, 1)->message, "100, 0, 0"));
}

/* "-" is unknown, not 0 and not anything. */
static void ratchet_of_what_was_not_stated_allows_no_number(void **state)
{
    struct world *w = *state;
    set(w, "scratch.ratchet",
        file_of(w, "scratch.tsv",
                "silent\t*\t64\t-\t0\n"
                "states\t*\t64\t-\t0\n"
                "stopped\t*\t64\t32\t0\n"));
    const uint32_t i = native(w, module_of(w, NULL, "silent", "states"), "adl-s", DVI_IP(12, 2, 0));
    struct devimg_kernel *silent = kernel_of(w, i, "silent");
    silent->private_size = 64;
    silent->spill_size = DEVIMG_UNKNOWN;
    struct devimg_kernel *states = kernel_of(w, i, "states");
    states->private_size = 64;
    states->spill_size = 8;
    struct devimg_kernel *stopped = kernel_of(w, i, "stopped");
    stopped->private_size = 64;
    stopped->spill_size = DEVIMG_UNKNOWN;
    check_file(w);
    expect(w, "error scratch scratch-grew 0 states adl-s\n");
    assert_non_null(strstr(finding_at(w, 0)->message, "spill 8,"));
    assert_non_null(strstr(finding_at(w, 0)->message, "allows 64, not stated, 0"));
    finish(w);
    expect(w, ""); /* that "stopped" states no spill any more is no reason to lower its line */
}

static void ratchet_that_is_written_allows_what_is_used_and_no_more(void **state)
{
    struct world *w = *state;
    char path[160], text[512] = "";
    (void)snprintf(path, sizeof path, "%s/written.tsv", w->folder);
    set(w, "scratch", "none");
    const uint32_t m = module_of(w, NULL, "k", "l");
    const uint32_t a = native(w, m, "rpl-s", DVI_IP(12, 2, 0));
    kernel_of(w, a, "k")->private_size = 64;
    kernel_of(w, a, "l"); /* uses none: no line */
    const uint32_t b = native(w, m, "lnl-m", DVI_IP(20, 4, 4));
    struct devimg_kernel *k = kernel_of(w, b, "k");
    k->private_size = DEVIMG_UNKNOWN;
    k->spill_size = DEVIMG_UNKNOWN;
    k->scratch_size = 256;
    image_of(w, module_of(w, NULL, "x", NULL), DEVIMG_FORMAT_PATCHTOKEN, "adl-s", DVI_IP(12, 2, 0));
    check_file(w);
    assert_int_equal(devimg_report_write_ratchet(w->report, path, 0, &err), DEVIMG_OK);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    assert_int_equal(fclose(file), 0);
    assert_non_null(strstr(text, "\nk\tadl-s\t64\t-\t0\n"));
    assert_non_null(strstr(text, "\nk\tlnl-m\t-\t-\t256\n"));
    assert_non_null(strstr(text, "# unknown, and not listed: kernels of 1 image\n"));
    assert_null(strstr(text, "\nl\t"));
    assert_int_equal(devimg_report_write_ratchet(w->report, path, 0, &err), DEVIMG_IO);
    assert_int_equal(devimg_report_write_ratchet(w->report, path, 1, &err), DEVIMG_OK);
    char link[160]; /* one that leads nowhere is no free place */
    (void)snprintf(link, sizeof link, "%s/link.tsv", w->folder);
    assert_int_equal(symlink("nowhere", link), 0);
    assert_int_equal(devimg_report_write_ratchet(w->report, link, 0, &err), DEVIMG_IO);
    assert_non_null(strstr(err.text, "is there already"));
    devimg_report_free(w->report);
    w->report = NULL;
    set(w, "scratch.ratchet", path);
    check_file(w);
    expect(w, "note scratch scratch-unknown - - adl-s\n");
}

static void ratchet_is_not_written_of_what_was_not_looked_at(void **state)
{
    struct world *w = *state;
    char path[160];
    (void)snprintf(path, sizeof path, "%s/written.tsv", w->folder);
    const uint32_t i = native(w, module_of(w, NULL, "k", NULL), "adl-s", DVI_IP(12, 2, 0));
    kernel_of(w, i, "k\tk")->private_size = 64;
    set(w, "scratch", "any");
    check_file(w);
    assert_int_equal(devimg_report_write_ratchet(w->report, path, 0, &err), DEVIMG_UNSUPPORTED);
    devimg_report_free(w->report);
    w->report = NULL;
    set(w, "scratch", "none"); /* a name that would break its line */
    check_file(w);
    assert_int_equal(devimg_report_write_ratchet(w->report, path, 0, &err), DEVIMG_UNSUPPORTED);
    assert_int_not_equal(access(path, F_OK), 0);
}

static void image_that_states_no_scratch_is_said_once(void **state)
{
    struct world *w = *state;
    set(w, "scratch", "none");
    const uint32_t m = module_of(w, NULL, "k", NULL);
    image_of(w, m, DEVIMG_FORMAT_PATCHTOKEN, "adl-s", DVI_IP(12, 2, 0));
    image_of(w, m, DEVIMG_FORMAT_PATCHTOKEN, "dg2-g10", DVI_IP(12, 55, 8));
    check_file(w);
    expect(w, "note scratch scratch-unknown - - adl-s\n");
}

/* ---- gaps ---- */

static void gap_covers_modules_of_which_every_kernel_matches(void **state)
{
    struct world *w = *state;
    set(w, "targets", "adl-s,lnl-m");
    set(w, "gaps", "*psnr* without lnl-m: IGC 2.41.5 crashes on it");
    native(w, module_of(w, NULL, "x_psnr_1", "x_psnr_2"), "adl-s", DVI_IP(12, 2, 0));
    native(w, module_of(w, NULL, "x_psnr_3", "other"), "adl-s", DVI_IP(12, 2, 0));
    check_file(w);
    expect(w, "note targets gap 0 - lnl-m\n"
              "error targets missing-ip 1 - lnl-m\n");
    finish(w);
    expect(w, "");
}

/* _ZTSN3app3fooIfEE: app::foo<float>, by the Itanium C++ ABI. */
static void gap_matches_the_name_that_text_output_shows(void **state)
{
    struct world *w = *state;
    set(w, "targets", "adl-s,lnl-m");
    set(w, "gaps", "app::foo<*> without lnl-m: it crashes");
    native(w, module_of(w, NULL, "_ZTSN3app3fooIfEE", NULL), "adl-s", DVI_IP(12, 2, 0));
    check_file(w);
    expect(w, "note targets gap 0 _ZTSN3app3fooIfEE lnl-m\n");
}

/* What a message shows of a kernel is a pattern that a gap may have. */
static void name_in_a_message_is_a_pattern_that_matches(void **state)
{
    static const char name[] = "_ZTSN3app3fooIfEE", other[] = "l";
    char longest[200], gap[256], expected[600];
    struct world *w = *state;
    memset(longest, 'k', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    set(w, "targets", "lnl-m,adl-s");
    native(w, module_of(w, NULL, longest, NULL), "adl-s", DVI_IP(12, 2, 0));
    native(w, module_of(w, NULL, name, other), "adl-s", DVI_IP(12, 2, 0));
    check_file(w);
    (void)snprintf(expected, sizeof expected,
                   "error targets missing-ip 0 %s lnl-m\nerror targets missing-ip 1 - lnl-m\n",
                   longest);
    expect(w, expected);
    const char *shown = strrchr(finding_at(w, 0)->message, ' ') + 1;
    assert_true(strlen(shown) < sizeof longest - 1 && shown[strlen(shown) - 1] == '*');
    assert_non_null(strstr(finding_at(w, 1)->message, "app::foo<float>, l"));
    (void)snprintf(gap, sizeof gap, "%s without lnl-m: it crashes", shown);
    devimg_report_free(w->report);
    w->report = NULL;
    set(w, "gaps", gap);
    check_file(w);
    (void)snprintf(expected, sizeof expected,
                   "note targets gap 0 %s lnl-m\nerror targets missing-ip 1 - lnl-m\n", longest);
    expect(w, expected);
}

/* S3-11. */
static void gap_by_unit_matches_the_unit(void **state)
{
    struct world *w = *state;
    set(w, "targets", "lnl-m");
    set(w, "gaps", "unit:psnr_*.cpp without lnl-m: it crashes");
    spirv(w, module_of(w, "src/psnr_hvs.cpp", "k", NULL));
    spirv(w, module_of(w, "src/other.cpp", "k", NULL));
    check_file(w);
    expect(w, "note targets gap 0 k lnl-m\nerror targets no-native-image 1 k lnl-m\n");
}

/* S3-11. */
static void gap_of_one_name_leaves_the_other_name_of_its_version(void **state)
{
    struct world *w = *state;
    set(w, "targets", "adl-s,rpl-s,dg2-g10");
    set(w, "gaps", "k without adl-s: it crashes");
    native(w, module_of(w, NULL, "k", NULL), "dg2-g10", DVI_IP(12, 55, 8));
    check_file(w);
    expect(w, "note targets gap 0 k adl-s\nerror targets missing-ip 0 k rpl-s\n");
}

static void gap_that_matches_nothing_is_said_to_with_a_near_name(void **state)
{
    struct world *w = *state;
    set(w, "targets", "adl-s");
    set(w, "gaps", "unit:scael.cpp without adl-s,pvc: it crashes");
    set(w, "gaps", "count_abvoe without adl-s: it crashes");
    set(w, "gaps", "unit:far-from-it.c without adl-s: it crashes");
    set(w, "gaps", "count_* without adl-s: it crashes");
    native(w, module_of(w, "src/scale.cpp", "scale", NULL), "adl-s", DVI_IP(12, 2, 0));
    native(w, module_of(w, "src/count.cpp", "count_above", NULL), "adl-s", DVI_IP(12, 2, 0));
    check_file(w);
    finish(w);
    expect(w, "note gaps gap-unmatched - - -\n"
              "note gaps gap-unmatched - - -\n"
              "warning gaps gap-unneeded - - pvc\n"
              "note gaps gap-unneeded - count_* adl-s\n"
              "note gaps gap-unmatched - count_abvoe -\n");
    const char *near[] = { "matches no unit: did you mean \"scale.cpp\"?", "matches no unit",
                           "matches no module's kernels: did you mean \"count_above\"?" };
    unsigned found = 0;
    for (uint32_t i = 0; i < w->count; i++)
        for (unsigned k = 0; k < 3; k++) {
            const char *at = strstr(finding_at(w, i)->message, near[k]);
            if (at != NULL && strlen(at) == strlen(near[k]))
                found |= 1U << k;
        }
    assert_int_equal(found, 7);
}

/* S3-22. */
static void unneeded_gap_is_a_note_and_one_off_the_list_a_warning(void **state)
{
    struct world *w = *state;
    set(w, "targets", "adl-s");
    set(w, "gaps", "k without adl-s,pvc: it crashes");
    native(w, module_of(w, NULL, "k", NULL), "adl-s", DVI_IP(12, 2, 0));
    check_file(w);
    expect(w, "");
    finish(w);
    expect(w, "note gaps gap-unneeded - k adl-s\nwarning gaps gap-unneeded - k pvc\n");
    finish(w); /* again */
    expect(w, "");
}

/* ---- registration, unmeasured, damaged ---- */

static void image_that_no_descriptor_names_is_an_error(void **state)
{
    struct world *w = *state;
    w->images[spirv(w, module_of(w, NULL, "k", NULL))].registered = DEVIMG_NO;
    w->images[0].note = "no descriptor names it";
    check_file(w);
    expect(w, "error registration not-registered 0 - spir64\n");
    assert_non_null(strstr(finding_at(w, 0)->message, "no descriptor names it"));
}

/* S3-4. */
static void object_warns_of_bundles_and_of_bitcode_for_native_targets(void **state)
{
    struct world *w = *state;
    w->records[0].linked = DEVIMG_NO;
    const uint32_t i =
        image_of(w, module_of(w, NULL, "k", NULL), DEVIMG_FORMAT_BITCODE, NULL, DEVIMG_UNKNOWN);
    w->images[i].bundle = "clang-bundle";
    w->images[i].section = "__CLANG_OFFLOAD_BUNDLE__sycl-spir64_gen";
    w->images[i].registered = DEVIMG_MAYBE;
    check_file(w);
    expect(w, "warning registration needs-device-link - - -\n"
              "warning registration bitcode-dropped 0 - spir64_gen\n");
}

/* What link.exe keeps of the objects that a device link has read: S4-2, S4-9. */
static void bitcode_left_over_beside_images_is_one_note(void **state)
{
    struct world *w = *state;
    set(w, "targets", "adl-s");
    set(w, "fallback", "spir64");
    set(w, "compression", "required");
    const uint32_t m = module_of(w, NULL, "k", NULL);
    native(w, m, "adl-s", DVI_IP(12, 2, 0));
    spirv(w, m);
    w->records[0].linked = DEVIMG_YES;
    struct devimg_image *last = NULL;
    for (int i = 0; i < 2; i++) {
        last =
            &w->images[image_of(w, DEVIMG_NONE, DEVIMG_FORMAT_BITCODE, "spir64", DEVIMG_UNKNOWN)];
        last->section = "__CLANG_";
        last->bundle = "clang-bundle";
        last->kernel_count = 0;
        last->compression = DEVIMG_COMPRESSION_NONE;
        last->registered = DEVIMG_MAYBE;
    }
    check_file(w);
    expect(w, "note registration left-over - - -\n");
    assert_int_equal(finding_at(w, 0)->image, 2);
    assert_non_null(strstr(finding_at(w, 0)->message, "2 bitcode images, which no runtime reads"));
    last->registered = DEVIMG_NO; /* nothing was made of it */
    check_file(w);
    expect(w, "note registration left-over - - -\n"
              "error registration not-registered - - spir64\n"
              "error compression stored-raw - - spir64\n");
}

static void version_that_no_table_has_is_noted_once(void **state)
{
    struct world *w = *state;
    const uint32_t m = module_of(w, NULL, "k", NULL);
    native(w, m, NULL, DVI_IP(900, 1, 0));
    native(w, m, NULL, DVI_IP(900, 1, 0));
    check_file(w);
    expect(w, "note unmeasured unknown-ip - - -\n");
    assert_non_null(strstr(finding_at(w, 0)->message, "2 images for IP version 900.1.0"));
}

static void damage_is_handed_on_as_an_error(void **state)
{
    struct world *w = *state;
    w->findings[w->finding_count++] = (struct devimg_finding){ .rule = "damaged",
                                                               .code = "truncated",
                                                               .severity = DEVIMG_ERROR,
                                                               .module = DEVIMG_NONE,
                                                               .image = DEVIMG_NONE,
                                                               .offset = 77,
                                                               .message = "cut" };
    w->records[0].status = DEVIMG_RECORD_DAMAGED;
    w->records[0].finding_count = 1;
    check_file(w);
    expect(w, "error damaged truncated - - -\n");
    assert_int_equal(finding_at(w, 0)->offset, 77);
}

/* ---- settings and baseline ---- */

static void setting_changes_errors_and_leaves_notes(void **state)
{
    struct world *w = *state;
    set(w, "targets", "adl-s,lnl-m");
    set(w, "gaps", "k without lnl-m: it crashes");
    set(w, "rules", "targets=warning, fallback=note");
    set(w, "fallback", "spir64");
    const uint32_t m = module_of(w, NULL, "k", NULL);
    image_of(w, m, DEVIMG_FORMAT_BITCODE, NULL, DEVIMG_UNKNOWN);
    check_file(w);
    expect(w, "warning targets no-native-image 0 k adl-s\n"
              "note targets gap 0 k lnl-m\n"
              "note fallback missing-fallback 0 k spir64\n");
}

static void baseline_accepts_exactly_what_was_written(void **state)
{
    struct world *w = *state;
    char path[64];
    (void)snprintf(path, sizeof path, "%s/baseline.tsv", w->folder);
    set(w, "targets", "adl-s,lnl-m");
    module_of(w, "a.cpp", "k 1", NULL);
    module_of(w, "b.cpp", "l", NULL);
    native(w, 0, "adl-s", DVI_IP(12, 2, 0));
    native(w, 1, "adl-s", DVI_IP(12, 2, 0));
    check_file(w);
    expect(w, "error targets missing-ip 0 k 1 lnl-m\n"
              "error targets missing-ip 1 l lnl-m\n");
    assert_int_equal(devimg_report_write_baseline(w->report, path, &err), DEVIMG_OK);
    devimg_report_free(w->report);
    w->report = NULL;
    set(w, "baseline", path);

    /* the other order, other units, and one finding mended, one new */
    w->images[0].module = 1;
    w->modules[0] = (struct devimg_module){
        .images = w->members[0], .image_count = 1, .names = w->names[1], .name_count = 1
    };
    w->names[2][0] = "new";
    w->modules[1] = (struct devimg_module){
        .images = w->members[1], .image_count = 1, .names = w->names[2], .name_count = 1
    };
    check_file(w);
    expect(w, "note targets missing-ip 0 l lnl-m\n"
              "error targets missing-ip 1 new lnl-m\n");
    assert_non_null(strstr(finding_at(w, 0)->message, "(baseline)"));
    finish(w);
    expect(w, "note baseline baseline-stale - k%201 lnl-m\n");
}

static void baseline_line_accepts_one_finding_not_two(void **state)
{
    struct world *w = *state;
    char path[64];
    (void)snprintf(path, sizeof path, "%s/baseline.tsv", w->folder);
    set(w, "targets", "lnl-m");
    spirv(w, module_of(w, NULL, "k", NULL));
    check_file(w);
    assert_int_equal(devimg_report_write_baseline(w->report, path, &err), DEVIMG_OK);
    devimg_report_free(w->report);
    w->report = NULL;
    set(w, "baseline", path);
    spirv(w, module_of(w, NULL, "k", NULL));
    check_file(w);
    expect(w, "note targets no-native-image 0 k lnl-m\n"
              "error targets no-native-image 1 k lnl-m\n");
}

static void baseline_accepts_findings_of_the_policy_too(void **state)
{
    struct world *w = *state;
    char path[64];
    (void)snprintf(path, sizeof path, "%s/baseline.tsv", w->folder);
    set(w, "targets", "adl-s");
    set(w, "gaps", "k without pvc: it crashes");
    native(w, module_of(w, NULL, "k", NULL), "adl-s", DVI_IP(12, 2, 0));
    check_file(w);
    finish(w);
    assert_int_equal(devimg_report_write_baseline(w->report, path, &err), DEVIMG_OK);
    devimg_report_free(w->report);
    w->report = NULL;
    set(w, "baseline", path);
    check_file(w);
    finish(w);
    expect(w, "note gaps gap-unneeded - k pvc\n");
}

/* ---- promised and ocloc ---- */

static const char *fake_ocloc(struct world *w, const char *body)
{
    const char *path = file_of(w, "ocloc", body);
    char command[160];
    (void)snprintf(command, sizeof command, "chmod +x %s", path);
    assert_int_equal(system(command), 0);
    return path;
}

/* S3-2. */
static void promise_of_a_unit_is_held_to_its_module(void **state)
{
    struct world *w = *state;
    set(w, "promised",
        file_of(w, "compile_commands.json",
                "[{\"directory\":\"/b\",\"file\":\"/s/a.cpp\",\"command\":\"icpx -fsycl "
                "-fsycl-targets=spir64_gen,spir64 -Xsycl-target-backend=spir64_gen "
                "\\\"-device adl-s,lnl-m\\\" --offload-compress -c /s/a.cpp\"},"
                "{\"directory\":\"/b\",\"file\":\"b.cpp\",\"arguments\":[\"icpx\",\"-fsycl\","
                "\"-fsycl-targets=intel_gpu_pvc\",\"-c\",\"b.cpp\"]},"
                "{\"directory\":\"/b\",\"file\":\"host.c\",\"command\":\"gcc -c host.c\"}]"));
    const uint32_t a = module_of(w, "a.cpp", "k", NULL), b = module_of(w, "b.cpp", "l", NULL);
    const uint32_t raw = native(w, a, "adl-s", DVI_IP(12, 2, 0));
    w->images[raw].compression = DEVIMG_COMPRESSION_NONE;
    spirv(w, a);
    native(w, b, "pvc", DVI_IP(12, 60, 7));
    w->images[2].compression = DEVIMG_COMPRESSION_NONE; /* b promises none */
    check_file(w);
    expect(w, "error promised promise-raw 0 - adl-s\n"
              "error promised promise-broken 0 - lnl-m\n");
}

static void promise_without_units_is_held_to_the_file(void **state)
{
    struct world *w = *state;
    set(w, "promised",
        file_of(w, "compile_commands.json",
                "[{\"directory\":\"/b\",\"file\":\"a.cpp\",\"command\":\"icpx -fsycl "
                "-fsycl-targets=spir64_gen,spir64 -Xs '-device adl-s,lnl-m' -c a.cpp\"}]"));
    spirv(w, module_of(w, NULL, "k", NULL));
    check_file(w);
    expect(w, "error promised promise-broken - - adl-s\n"
              "error promised promise-broken - - lnl-m\n");
}

/* As for the rule targets: a release of one family serves what states the family only, and the
 * answer of --ocloc counts instead of the tables. */
static void promise_is_served_as_the_target_list_is(void **state)
{
    struct world *w = *state;
    set(w, "promised",
        file_of(w, "compile_commands.json",
                "[{\"directory\":\"/b\",\"file\":\"a.cpp\",\"command\":\"icpx -fsycl "
                "-fsycl-targets=intel_gpu_dg2_g10,intel_gpu_bmg_g21 -c a.cpp\"}]"));
    const uint32_t m = module_of(w, "a.cpp", "k", NULL);
    w->images[native(w, m, "dg2-g10", DEVIMG_UNKNOWN)].family_only = 1;
    native(w, m, "bmg-g21", DVI_IP(20, 1, 0));
    check_file(w);
    expect(w, "");
    devimg_report_free(w->report);
    w->report = NULL;
    set(w, "no-rule", "targets,extra-targets");
    set(w, "targets", "bmg-g21");
    set(w, "ocloc", fake_ocloc(w, "#!/bin/sh\nprintf 'Matched ids:\\n20.1.4\\n'\n"));
    check_file(w);
    expect(w, "error promised promise-broken 0 - bmg-g21\n");
}

/* S3-10. */
static void answer_of_ocloc_replaces_the_tables_and_is_noted(void **state)
{
    struct world *w = *state;
    set(w, "targets", "bmg-g21,adl-s,lnl-m");
    set(w, "ocloc",
        fake_ocloc(w, "#!/bin/sh\n"
                      "[ \"$1\" = ids ] || exit 9\n"
                      "case $2 in\n"
                      "bmg-g21) printf 'Matched ids:\\n20.1.4\\n';;\n"
                      "adl-s) printf 'Matched ids:\\n12.2.0\\n';;\n"
                      "*) echo \"Could not determine device target: $2.\"; exit 226;; esac\n"));
    const uint32_t m = module_of(w, NULL, "k", NULL);
    native(w, m, "bmg-g21", DVI_IP(20, 1, 0));
    native(w, m, "adl-s", DVI_IP(12, 2, 0));
    native(w, m, "lnl-m", DVI_IP(20, 4, 4));
    check_file(w);
    expect(w, "error targets missing-ip 0 k bmg-g21\n"
              "error extra-targets extra-target 0 - bmg-g21\n");
    finish(w);
    expect(w, "note targets ocloc-differs - - bmg-g21\n"
              "error targets ocloc-unknown - - lnl-m\n");
    assert_string_equal(finding_at(w, 0)->message,
                        "bmg-g21: the tables say 20.1.0, this ocloc 20.1.4");
}

static void ocloc_that_gives_no_answer_is_not_asked_again(void **state)
{
    struct world *w = *state;
    set(w, "targets", "adl-s,lnl-m");
    set(w, "ocloc", fake_ocloc(w, "#!/bin/sh\nkill -SEGV $$\n"));
    const uint32_t m = module_of(w, NULL, "k", NULL);
    native(w, m, "adl-s", DVI_IP(12, 2, 0));
    native(w, m, "lnl-m", DVI_IP(20, 4, 4));
    check_file(w);
    expect(w, "");
    finish(w);
    expect(w, "error targets ocloc-silent - - adl-s\n"
              "error targets ocloc-silent - - lnl-m\n");
    assert_non_null(strstr(finding_at(w, 0)->message, "signal"));
    assert_non_null(strstr(finding_at(w, 1)->message, "was not asked"));
}

static void ocloc_that_cannot_be_started_is_an_error_of_io(void **state)
{
    struct world *w = *state;
    set(w, "targets", "adl-s");
    set(w, "ocloc", "/nonexistent/ocloc");
    assert_int_equal(devimg_report_new(w->policy, &w->report, &err), DEVIMG_IO);
    w->report = NULL;
}

/* ---- budgets ---- */

static void findings_past_the_budget_are_counted(void **state)
{
    enum { MODULES = 150000 };
    struct world *w = *state;
    static const struct devimg_record record = {
        .path = "big", .linked = DEVIMG_YES, .image_count = 1, .module_count = MODULES
    };
    static const char *const names[] = { "k" };
    static const uint32_t images[] = { 0 };
    static const struct devimg_module module = {
        .images = images, .image_count = 1, .names = names, .name_count = 1
    };
    static const struct devimg_image image = { .parent = DEVIMG_NONE,
                                               .format = DEVIMG_FORMAT_SPIRV,
                                               .target = "spir64",
                                               .ip_version = DEVIMG_UNKNOWN,
                                               .kernel_count = 1,
                                               .required_sub_group_size = DEVIMG_UNKNOWN,
                                               .registered = DEVIMG_YES,
                                               .bundle = "dpcpp" };
    const struct devimg_record *records[] = { &record };
    const struct devimg_image *all_images[] = { &image };
    const struct devimg_module **modules = calloc(MODULES, sizeof *modules);
    assert_non_null(modules);
    for (size_t i = 0; i < MODULES; i++)
        modules[i] = &module;
    const struct dvi_check_input in = { .records = records,
                                        .images = all_images,
                                        .modules = modules,
                                        .record_count = 1,
                                        .image_count = 1,
                                        .module_count = MODULES };
    set(w, "targets", "adl-s,lnl-m");
    assert_int_equal(devimg_report_new(w->policy, &w->report, &err), DEVIMG_OK);
    assert_int_equal(dvi_report_add_input(w->report, &in, &w->first, &w->count, &err), DEVIMG_OK);
    assert_int_equal(w->count, 200001);
    const struct devimg_finding *f = finding_at(w, 0);
    assert_string_equal(f->code, "not-listed");
    assert_int_equal(f->severity, DEVIMG_ERROR);
    assert_non_null(strstr(f->message, "100000 more"));
    free(modules);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(one_module_without_a_target_is_named_though_another_has_it),
        TEST(two_names_of_one_version_are_served_by_one_image),
        TEST(former_ip_version_serves_its_target),
        TEST(module_without_native_image_has_a_finding_for_each_target),
        TEST(support_images_and_modules_without_kernels_need_no_coverage),
        TEST(native_or_spirv_image_of_unknown_kernels_needs_coverage),
        TEST(code_of_unknown_kernels_is_not_said_to_have_none),
        TEST(name_that_stands_twice_in_a_list_is_a_warning_of_the_policy),
        TEST(family_only_image_serves_its_family_and_says_so),
        TEST(file_without_device_code_fails_when_targets_are_asked_for),
        TEST(empty_target_list_with_native_images_is_a_finding),
        TEST(empty_target_list_without_native_images_passes),
        TEST(patch_token_images_serve_and_warn_once),
        TEST(image_for_hosts_of_another_pointer_size_serves_no_target),
        TEST(unlisted_image_is_an_error_bare_and_in_an_archive),
        TEST(module_with_an_unread_archive_is_not_said_to_lack_targets),
        TEST(unlisted_image_is_fine_when_allowed),
        TEST(generic_ir_of_an_archive_is_no_fallback),
        TEST(unregistered_portable_image_is_no_fallback),
        TEST(bitcode_is_the_fallback_of_an_object_only),
        TEST(bitcode_of_an_object_is_the_fallback_of_all_its_modules),
        TEST(bitcode_of_an_object_is_no_fallback_of_its_neighbour),
        TEST(image_that_is_only_labelled_spirv_is_met_by_the_fallback_rule),
        TEST(raw_image_counts_from_512_bytes_on_and_members_do_not),
        TEST(image_that_nothing_could_have_compressed_is_not_raw),
        TEST(wavefront_that_is_not_the_size_required_is_refused_once),
        TEST(budget_counts_inflated_bytes_of_a_target_and_stored_ones_of_the_file),
        TEST(budget_counts_a_bundle_once),
        TEST(size_that_is_not_stated_is_no_pass),
        TEST(same_code_of_one_target_in_two_modules_is_found_by_its_digest),
        TEST(two_kernels_of_one_module_are_no_duplicates),
        TEST(code_that_was_not_compared_is_said),
        TEST(size_8_is_refused_once_for_each_target_that_lacks_it),
        TEST(size_of_a_single_target_build_is_held_to_the_default_list),
        TEST(size_of_a_jit_only_build_is_held_to_the_default_list),
        TEST(size_that_a_native_image_was_built_with_is_held_to_its_own_target),
        TEST(size_0_and_esimd_are_no_requests),
        TEST(size_1_is_esimd_in_every_format),
        TEST(declared_gap_does_not_excuse_a_size),
        TEST(listed_sizes_replace_the_tables),
        TEST(fp64_is_an_error_for_targets_without_and_with_emulation),
        TEST(stated_aspects_count_before_what_kernels_declare),
        TEST(empty_list_of_aspects_is_stated),
        TEST(scratch_is_an_error_only_when_the_policy_says_none),
        TEST(unasked_scratch_is_one_note),
        TEST(ratchet_allows_what_it_lists_and_nothing_larger),
        TEST(ratchet_of_what_was_not_stated_allows_no_number),
        TEST(ratchet_that_is_written_allows_what_is_used_and_no_more),
        TEST(ratchet_is_not_written_of_what_was_not_looked_at),
        TEST(image_that_states_no_scratch_is_said_once),
        TEST(gap_covers_modules_of_which_every_kernel_matches),
        TEST(gap_matches_the_name_that_text_output_shows),
        TEST(name_in_a_message_is_a_pattern_that_matches),
        TEST(gap_by_unit_matches_the_unit),
        TEST(gap_of_one_name_leaves_the_other_name_of_its_version),
        TEST(gap_that_matches_nothing_is_said_to_with_a_near_name),
        TEST(unneeded_gap_is_a_note_and_one_off_the_list_a_warning),
        TEST(image_that_no_descriptor_names_is_an_error),
        TEST(object_warns_of_bundles_and_of_bitcode_for_native_targets),
        TEST(bitcode_left_over_beside_images_is_one_note),
        TEST(version_that_no_table_has_is_noted_once),
        TEST(damage_is_handed_on_as_an_error),
        TEST(setting_changes_errors_and_leaves_notes),
        TEST(baseline_accepts_exactly_what_was_written),
        TEST(baseline_line_accepts_one_finding_not_two),
        TEST(baseline_accepts_findings_of_the_policy_too),
        TEST(promise_of_a_unit_is_held_to_its_module),
        TEST(promise_without_units_is_held_to_the_file),
        TEST(promise_is_served_as_the_target_list_is),
        TEST(answer_of_ocloc_replaces_the_tables_and_is_noted),
        TEST(ocloc_that_gives_no_answer_is_not_asked_again),
        TEST(ocloc_that_cannot_be_started_is_an_error_of_io),
        TEST(findings_past_the_budget_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
