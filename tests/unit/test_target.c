/* SPDX-License-Identifier: Apache-2.0 */
/* The target tables. argv[1]: target_names.tsv, input <tab> canonical name or "unknown". */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "target/sizes.h"

#define IP(arch, release, revision) \
    ((uint64_t)(arch) << 22 | (uint64_t)(release) << 14 | (uint64_t)(revision))

static const char *names_path;

static const struct devimg_target *named(const char *name)
{
    const struct devimg_target *target = devimg_target_find(name);
    assert_non_null(target);
    return target;
}

static const char *name_of(const struct devimg_target *target)
{
    return target == NULL ? "unknown" : target->name;
}

static void every_spelling_finds_its_target(void **state)
{
    (void)state;
    FILE *file = fopen(names_path, "rb");
    assert_non_null(file);
    char *line = NULL;
    size_t room = 0;
    unsigned count = 0;
    unsigned wrong = 0;
    while (getline(&line, &room, file) > 0) {
        line[strcspn(line, "\n")] = '\0';
        char *expected = strchr(line, '\t');
        assert_non_null(expected);
        *expected++ = '\0';
        const char *found = name_of(devimg_target_find(line));
        if (strcmp(found, expected) != 0) {
            print_error("\"%s\": found %s, expected %s\n", line, found, expected);
            wrong++;
        }
        count++;
    }
    free(line);
    fclose(file);
    assert_int_equal(wrong, 0);
    assert_true(count >= 120);
}

static void rows_end(void **state)
{
    (void)state;
    uint32_t count = 0;
    while (devimg_target_at(count) != NULL)
        count++;
    assert_true(count > 100);
    assert_null(devimg_target_at(count));
    assert_null(devimg_target_at(UINT32_MAX));
    assert_null(devimg_target_find(NULL));
    for (uint32_t i = 0; i < count; i++)
        assert_ptr_equal(devimg_target_find(devimg_target_at(i)->name), devimg_target_at(i));
}

/* S1-29. Values: json.md's example; intel/compute-runtime platforms.h; ocloc 22.43 (sizes, fp64). */
static void row_carries_the_facts(void **state)
{
    (void)state;
    const struct devimg_target *dg2 = named("dg2-g10");
    assert_int_equal(dg2->ip_version, 0x030dc008);
    assert_string_equal(dg2->kind, "acronym");
    assert_string_equal(dg2->family, "Xe-HPG");
    assert_string_equal(dg2->aliases, "acm-g10,ats-m150,dg2-g10-c0,dg2");
    assert_int_equal(dg2->sub_group_sizes, 8 | 16 | 32);
    assert_int_equal(dg2->fp64, DEVIMG_NO);
    assert_int_equal(dg2->fp64_emulated, 1);
    assert_int_equal(dg2->dpas, DEVIMG_YES);
    assert_int_equal(dg2->product_family, 0x4f6);
    const struct devimg_target *bmg = named("bmg-g21");
    assert_int_equal(bmg->ip_version, 0x05004000);
    assert_string_equal(bmg->former_ips, "20.1.4@24.26.30049.6");
    assert_int_equal(bmg->sub_group_sizes, 16 | 32);
    assert_int_equal(bmg->fp64, DEVIMG_YES);
    assert_int_equal(bmg->fp64_emulated, 0);
    assert_int_equal(named("arl-h")->dpas, DEVIMG_YES);
    assert_int_equal(named("arl-s")->dpas, DEVIMG_NO);
    assert_int_equal(named("tgllp")->fp64, DEVIMG_NO);
}

/* S0-25. */
static void portable_row_is_unknown_where_nothing_tells(void **state)
{
    (void)state;
    const struct devimg_target *spir64 = named("spir64");
    assert_string_equal(spir64->kind, "portable");
    assert_int_equal(spir64->ip_version, DEVIMG_UNKNOWN);
    assert_int_equal(spir64->product_family, DEVIMG_UNKNOWN);
    assert_int_equal(spir64->sub_group_sizes, 0);
    assert_int_equal(spir64->fp64, DEVIMG_MAYBE);
    assert_string_equal(named("spirv64")->kind, "portable");
    assert_string_equal(named("spir64_gen")->kind, "selector");
    assert_string_equal(named("spir64_x86_64")->kind, "cpu");
    assert_string_equal(named("native_cpu")->kind, "cpu");
    assert_int_equal(named("native_cpu")->sub_group_sizes, 1);
}

static void ip_has_one_name(void **state)
{
    (void)state;
    assert_string_equal(name_of(dvi_target_of_ip(IP(12, 55, 8))), "dg2-g10");
    assert_string_equal(name_of(dvi_target_of_ip(IP(12, 55, 8) | 0x3fc0)), "dg2-g10");
    assert_string_equal(name_of(dvi_target_of_ip(IP(12, 57, 0))), "acm-g12");
    assert_string_equal(name_of(dvi_target_of_ip(IP(12, 70, 4))), "mtl-u");
    assert_string_equal(name_of(dvi_target_of_ip(IP(30, 0, 0))), "ptl-h-a0");
    assert_null(dvi_target_of_ip(IP(20, 1, 4)));
    assert_null(dvi_target_of_ip(0));
    assert_null(dvi_target_of_ip(DEVIMG_UNKNOWN));
    assert_null(dvi_target_of_ip(IP(12, 55, 8) | UINT64_C(1) << 32));
}

/* Sources: git tags of intel/compute-runtime, as in data/targets/README.md. */
static void former_ip_still_names_its_target(void **state)
{
    (void)state;
    assert_string_equal(name_of(dvi_target_of_ip_or_former(IP(20, 1, 4))), "bmg-g21");
    assert_string_equal(name_of(dvi_target_of_ip_or_former(IP(20, 1, 0))), "bmg-g21");
    assert_string_equal(name_of(dvi_target_of_ip_or_former(IP(20, 1, 1))), "bmg-g21-a1");
    assert_string_equal(name_of(dvi_target_of_ip_or_former(IP(30, 1, 1))), "ptl-u");
    assert_string_equal(name_of(dvi_target_of_ip_or_former(IP(30, 3, 0))), "wcl-a0");
    assert_null(dvi_target_of_ip_or_former(IP(20, 1, 5)));
    assert_null(dvi_target_of_ip_or_former(DEVIMG_UNKNOWN));
}

static void target_has_its_present_and_former_ips(void **state)
{
    (void)state;
    const struct devimg_target *bmg = named("bmg-g21");
    assert_true(dvi_target_has_ip(bmg, IP(20, 1, 0)));
    assert_true(dvi_target_has_ip(bmg, IP(20, 1, 4)));
    assert_true(dvi_target_has_ip(named("bmg-g21-b0"), IP(20, 1, 4)));
    assert_false(dvi_target_has_ip(bmg, IP(20, 2, 0)));
    assert_false(dvi_target_has_ip(named("bmg-g31"), IP(20, 1, 4)));
    assert_true(dvi_target_has_ip(named("ptl-h"), IP(30, 0, 0)));
    assert_true(dvi_target_has_ip(named("ptl-h"), IP(30, 0, 4)));
    assert_true(dvi_target_has_ip(named("wcl"), IP(30, 3, 0)));
    assert_true(dvi_target_has_ip(named("acm-g10"), IP(12, 55, 8)));
    assert_false(dvi_target_has_ip(bmg, DEVIMG_UNKNOWN));
    assert_false(dvi_target_has_ip(named("spir64"), DEVIMG_UNKNOWN));
    assert_false(dvi_target_has_ip(NULL, IP(20, 1, 0)));
    assert_int_equal(dvi_target_former_ip(bmg, 0), IP(20, 1, 4));
    assert_int_equal(dvi_target_former_ip(bmg, 1), DEVIMG_UNKNOWN);
    assert_int_equal(dvi_target_former_ip(named("acm-g10"), 0), DEVIMG_UNKNOWN);
    assert_int_equal(dvi_target_former_ip(named("spir64"), 0), DEVIMG_UNKNOWN);
}

/* Measured: note 1 of zebins that ocloc 22.43 writes for dg2-g11, pvc, adl-s. */
static void product_family_has_one_name(void **state)
{
    (void)state;
    assert_string_equal(name_of(dvi_target_of_product_family(0x4f6)), "dg2-g10");
    assert_string_equal(name_of(dvi_target_of_product_family(0x4f7)), "pvc");
    assert_string_equal(name_of(dvi_target_of_product_family(0x1f)), "adl-s");
    assert_null(dvi_target_of_product_family(0));
    assert_null(dvi_target_of_product_family(DEVIMG_UNKNOWN));
    assert_null(dvi_target_of_product_family(0x4f6 | UINT64_C(1) << 32));
}

/* IGC's PlatformGmdIdTable.cpp: Xe-HPC is PVC alone; Xe-HPG is DG2, Meteor Lake, Arrow Lake. */
static void core_family_has_a_row_each_product_family(void **state)
{
    (void)state;
    assert_string_equal(name_of(dvi_target_of_core_family(0xc08, 0)), "pvc");
    assert_null(dvi_target_of_core_family(0xc08, 1));
    assert_string_equal(name_of(dvi_target_of_core_family(11, 0)), "bdw");
    assert_null(dvi_target_of_core_family(11, 1));
    assert_string_equal(name_of(dvi_target_of_core_family(0xc07, 0)), "dg2-g10");
    assert_string_equal(name_of(dvi_target_of_core_family(0xc07, 1)), "mtl-u");
    assert_string_equal(name_of(dvi_target_of_core_family(0xc07, 2)), "arl-h");
    assert_null(dvi_target_of_core_family(0xc07, 3));
    assert_null(dvi_target_of_core_family(0, 0));
    assert_null(dvi_target_of_core_family(DEVIMG_UNKNOWN, 0));
    assert_null(dvi_target_of_core_family(0xc08 | UINT64_C(1) << 32, 0));
}

/** "a,b | unknown | repeated" of a list. */
static void expect_set(const char *list, const char *expected)
{
    struct dvi_arena arena = { 0 };
    struct dvi_target_set set = { 0 };
    struct devimg_error err = { 0 };
    assert_int_equal(dvi_target_set_add(&set, list, &arena, &err), DEVIMG_OK);
    char text[2048] = "";
    char *at = text;
    const char *const end = text + sizeof text;
    for (size_t i = 0; i < set.known.count; i++)
        at += snprintf(at, (size_t)(end - at), "%s%s", i ? "," : "", set.known.items[i]->name);
    at += snprintf(at, (size_t)(end - at), "|");
    for (size_t i = 0; i < set.unknown.count; i++)
        at += snprintf(at, (size_t)(end - at), "%s%s", i ? "," : "", set.unknown.items[i]);
    at += snprintf(at, (size_t)(end - at), "|");
    for (size_t i = 0; i < set.repeated.count; i++)
        at += snprintf(at, (size_t)(end - at), "%s%s", i ? "," : "", set.repeated.items[i]);
    assert_string_equal(text, expected);
    dvi_target_set_free(&set);
    dvi_arena_free(&arena);
}

#define DEFAULT_INTEL                                                                          \
    "dg2-g10,dg2-g11,acm-g10,acm-g11,acm-g12,tgllp,adl-s,adl-p,adl-n,rpl-s,rpl-p,mtl-h,mtl-u," \
    "arl-h,arl-s,arl-u,lnl-m,bmg-g21,bmg-g31"

static void list_is_trimmed_and_keeps_its_order(void **state)
{
    (void)state;
    expect_set("", "||");
    expect_set(" , ,\t,\n", "||");
    expect_set("a, b,", "|a,b|");
    expect_set(" PVC ,,\tdg2_g10\r\n, 20.1.4", "pvc,dg2-g10,bmg-g21||");
    expect_set("acm-g10,dg2-g10", "acm-g10,dg2-g10||"); /* one IP version, two names */
    expect_set("spir64,intel_gpu_lnl_m", "spir64,lnl-m||");
}

static void repeated_name_collapses(void **state)
{
    (void)state;
    expect_set("dg2-g10,DG2_G10,pvc,dg2g10", "dg2-g10,pvc||dg2-g10");
    expect_set("12.55.8,dg2-g10", "dg2-g10||dg2-g10");
    expect_set("xe2,XE2", "bmg-g21,bmg-g31,lnl-m||xe2");
    expect_set("xe2,lnl-m", "bmg-g21,bmg-g31,lnl-m||lnl-m");
    expect_set("lnl-m,xe2", "lnl-m,bmg-g21,bmg-g31||"); /* the set adds what it adds */
}

static void unknown_names_are_all_said(void **state)
{
    (void)state;
    expect_set("nope,dg2-g10,dg2 g10,nope, Nein ", "dg2-g10|nope,dg2 g10,Nein|");
    char list[4 * 3000 + 1] = "";
    for (int i = 0; i < 3000; i++)
        memcpy(list + 4 * (size_t)i, i % 2 ? "no, " : "x9, ", 5);
    expect_set(list, "|x9,no|");
}

static void set_stands_for_its_targets(void **state)
{
    (void)state;
    expect_set("default-intel", DEFAULT_INTEL "||");
    expect_set("Default", DEFAULT_INTEL "||");
    expect_set("default,default_intel", DEFAULT_INTEL "||default-intel");
    expect_set("xe-hpg", "dg2-g10,dg2-g11,acm-g12||");
    expect_set("xe-hpc", "pvc-sdv,pvc||");
    expect_set("xe-lp", "tgllp,rkl,adl-s,adl-p,adl-n,dg1||");
    expect_set("gen12lp", "tgllp,rkl,adl-s,adl-p,adl-n,dg1||");
    expect_set("xe-lpg", "mtl-u,mtl-h||");
    expect_set("xe2-hpg", "bmg-g21,bmg-g31||");
    expect_set("xe3", "ptl-h,ptl-u,wcl,nvl-s,nvl-u||");
    expect_set("xe3p", "nvl-p,cri||");
    expect_set("xe", "tgllp,rkl,adl-s,adl-p,adl-n,dg1,dg2-g10,dg2-g11,acm-g12,pvc-sdv,pvc,pvc-vg,"
                     "mtl-u,mtl-h,arl-h||");
}

/* ocloc 26.35 answers 13 versions for the 19 names. */
static void default_list_has_13_ip_versions(void **state)
{
    (void)state;
    struct dvi_arena arena = { 0 };
    struct dvi_target_set set = { 0 };
    assert_int_equal(dvi_target_set_add(&set, "default", &arena, NULL), DEVIMG_OK);
    assert_int_equal(set.known.count, 19);
    size_t distinct = 0;
    for (size_t i = 0; i < set.known.count; i++) {
        size_t first = 0;
        while (set.known.items[first]->ip_version != set.known.items[i]->ip_version)
            first++;
        distinct += first == i;
    }
    assert_int_equal(distinct, 13);
    dvi_target_set_free(&set);
    dvi_arena_free(&arena);
}

static void lists_add_up(void **state)
{
    (void)state;
    struct dvi_arena arena = { 0 };
    struct dvi_target_set set = { 0 };
    assert_int_equal(dvi_target_set_add(&set, "pvc", &arena, NULL), DEVIMG_OK);
    assert_int_equal(dvi_target_set_add(&set, "dg1,pvc", &arena, NULL), DEVIMG_OK);
    assert_int_equal(set.known.count, 2);
    assert_int_equal(set.repeated.count, 1);
    dvi_target_set_free(&set);
    assert_int_equal(set.known.count, 0);
    dvi_arena_free(&arena);
}

static const char *nearest(const char *name)
{
    const char *near = dvi_target_nearest(name);
    return near == NULL ? "none" : near;
}

static void near_name_is_offered(void **state)
{
    (void)state;
    assert_string_equal(nearest("bmg-g22"), "bmg-g21");
    assert_string_equal(nearest("BMG_G12"), "bmg-g21");
    assert_string_equal(nearest("intel_gpu_lnl_n"), "lnl-m");
    assert_string_equal(nearest("tgllpp"), "tgllp");
    assert_string_equal(nearest("pvd"), "pvc");
    assert_string_equal(nearest("xe-hpcc"), "xe-hpc");
    assert_string_equal(nearest("defualt"), "default");
    assert_string_equal(nearest("spir46"), "spir64");
    assert_string_equal(nearest("spir64-unknown-unknow"), "spir64");
    assert_string_equal(nearest("rtx-5090"), "none");
    assert_string_equal(nearest("zzz"), "none");
    assert_string_equal(nearest(""), "none");
    assert_null(dvi_target_nearest(NULL));
    char longest[400];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    for (size_t at = sizeof longest - 1; at > 0; at--) {
        longest[at] = '\0';
        if (at > 5)
            assert_string_equal(nearest(longest), "none");
    }
}

/* The sizes that a list allows, as text; "not measured", "default" in front where that list counts. */
static void allows(const char *list, const char *expected)
{
    struct dvi_target_set set = { 0 };
    struct dvi_arena arena = { 0 };
    struct dvi_sizes sizes = { 0 };
    char text[DVI_SIZES_ROOM], found[256];
    assert_int_equal(dvi_target_set_add(&set, list, &arena, NULL), DEVIMG_OK);
    assert_int_equal(set.unknown.count, 0);
    assert_int_equal(dvi_sizes_read(set.known.items, set.known.count, &sizes, NULL), DEVIMG_OK);
    snprintf(found, sizeof found, "%s%s", sizes.with_default ? "default " : "",
             sizes.unmeasured.count > 0 ? "not measured"
                                        : dvi_sizes_text(sizes.allowed, " ", text));
    assert_string_equal(found, expected);
    assert_true(sizes.unmeasured.count == 0 || sizes.allowed == 0);
    dvi_sizes_free(&sizes);
    dvi_target_set_free(&set);
    dvi_arena_free(&arena);
}

/* S1-29, S1-30, S2-8: from the list and the tables. */
static void allowed_sizes_are_those_of_every_target(void **state)
{
    (void)state;
    allows("default-intel", "16 32");
    allows("tgllp,dg2-g10", "8 16 32");
    allows("tgllp,adl-s,dg2-g10,dg2-g11,mtl-u,arl-h", "8 16 32");
    allows("tgllp,lnl-m", "16 32");
    allows("dg2-g10,pvc", "16 32");
    allows("bmg-g21,bmg-g31", "16 32");
}

/* S1-31: a build for one device or none never compiles for the others. */
static void one_device_is_held_to_the_default_list(void **state)
{
    (void)state;
    allows("", "default 16 32");
    allows("dg2-g10", "default 16 32");
    allows("dg2-g10,acm-g10", "default 16 32"); /* two names of 12.55.8 */
    allows("bmg-g21", "default 16 32");
}

/* S2-25 */
static void unmeasured_target_allows_nothing(void **state)
{
    (void)state;
    const struct devimg_target *known = devimg_target_find("tgllp"); /* 8, 16, 32 */
    struct devimg_target unknown = *devimg_target_find("lnl-m");
    struct dvi_sizes sizes = { 0 };
    unknown.sub_group_sizes = 0;
    const struct devimg_target *const rows[] = { known, &unknown };
    assert_int_equal(dvi_sizes_read(rows, 2, &sizes, NULL), DEVIMG_OK);
    assert_int_equal(sizes.unmeasured.count, 1);
    assert_ptr_equal(sizes.unmeasured.items[0], &unknown);
    assert_int_equal(sizes.allowed, 0);
    assert_false(dvi_target_refuses_size(&unknown, 8)); /* no answer is no refusal */
    assert_true(dvi_target_refuses_size(known, 64));
    dvi_sizes_free(&sizes);
}

static void size_is_a_power_of_two_of_the_set(void **state)
{
    (void)state;
    assert_true(dvi_size_is_in(8 | 16 | 32, 8));
    assert_true(dvi_size_is_in(UINT32_C(1) << 31, UINT64_C(1) << 31));
    assert_false(dvi_size_is_in(16 | 32, 8));
    assert_false(dvi_size_is_in(UINT32_MAX, 24));
    assert_false(dvi_size_is_in(UINT32_MAX, 0));
    assert_false(dvi_size_is_in(UINT32_MAX, UINT64_C(1) << 32));
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: test_target target_names.tsv\n");
        return 2;
    }
    names_path = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_spelling_finds_its_target),
        cmocka_unit_test(rows_end),
        cmocka_unit_test(row_carries_the_facts),
        cmocka_unit_test(portable_row_is_unknown_where_nothing_tells),
        cmocka_unit_test(ip_has_one_name),
        cmocka_unit_test(former_ip_still_names_its_target),
        cmocka_unit_test(target_has_its_present_and_former_ips),
        cmocka_unit_test(product_family_has_one_name),
        cmocka_unit_test(core_family_has_a_row_each_product_family),
        cmocka_unit_test(list_is_trimmed_and_keeps_its_order),
        cmocka_unit_test(repeated_name_collapses),
        cmocka_unit_test(unknown_names_are_all_said),
        cmocka_unit_test(set_stands_for_its_targets),
        cmocka_unit_test(default_list_has_13_ip_versions),
        cmocka_unit_test(lists_add_up),
        cmocka_unit_test(near_name_is_offered),
        cmocka_unit_test(allowed_sizes_are_those_of_every_target),
        cmocka_unit_test(one_device_is_held_to_the_default_list),
        cmocka_unit_test(unmeasured_target_allows_nothing),
        cmocka_unit_test(size_is_a_power_of_two_of_the_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
