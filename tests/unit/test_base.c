/* SPDX-License-Identifier: Apache-2.0 */
/* Orders and near words, and what may be kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/compare.h"
#include "base/nearest.h"
#include "model/model.h"

/* "kitten", "sitting" is the textbook case: 3. */
static void distance_counts_letters_added_dropped_replaced(void **state)
{
    char room[65];
    (void)state;
    assert_int_equal(dvi_edit_distance("kitten", "sitting"), 3);
    assert_int_equal(dvi_edit_distance("", "abc"), 3);
    assert_int_equal(dvi_edit_distance("abc", ""), 3);
    assert_int_equal(dvi_edit_distance("same", "same"), 0);
    assert_int_equal(dvi_edit_distance("ab", "ba"), 2);
    memset(room, 'a', 64);
    room[64] = 0;
    assert_true(dvi_edit_distance(room, room) == SIZE_MAX);
    room[63] = 0;
    assert_int_equal(dvi_edit_distance(room, room), 0);
}

static void null_stands_before_every_text(void **state)
{
    (void)state;
    assert_true(dvi_compare_text(NULL, "") < 0);
    assert_true(dvi_compare_text("", NULL) > 0);
    assert_int_equal(dvi_compare_text(NULL, NULL), 0);
    assert_true(dvi_compare_text("a", "b") < 0);
    assert_true(dvi_compare_numbers(UINT64_MAX, 0) > 0);
    assert_true(dvi_compare_numbers(1, 2) < 0);
    assert_int_equal(dvi_compare_numbers(7, 7), 0);
}

static void arenas_share_what_they_may_take(void **state)
{
    (void)state;
    struct dvi_arena_budget budget = { .most = 3 << 20 };
    struct dvi_arena one = { .budget = &budget }, other = { .budget = &budget };
    assert_non_null(dvi_arena_array(&one, 1 << 20, 1));
    assert_non_null(dvi_arena_array(&other, 1 << 20, 1));
    assert_true(budget.taken <= budget.most);
    assert_null(dvi_arena_array(&one, 2 << 20, 1));
    assert_true(budget.taken > budget.most);
    dvi_arena_free(&one);
    dvi_arena_free(&other);
}

/* SPIR-V 1.0 with one entry point, "k": for its name nothing is left. */
static void what_is_kept_of_a_file_is_a_limit_with_a_name(void **state)
{
    (void)state;
    static const uint32_t code[] = { 0x07230203, 0x10000, 0, 10, 0, 4 << 16 | 15, 6, 1, 'k' };
    struct devimg_file *file = NULL;
    struct devimg_error err = { 0 };
    assert_int_equal(devimg_open_bytes(code, sizeof code, "x", NULL, &file, &err), DEVIMG_OK);
    file->kept.most = file->kept.taken;
    assert_int_equal(devimg_read_kernels(file, &err), DEVIMG_LIMIT);
    assert_non_null(strstr(err.text, "names and tables of numbers"));
    assert_int_equal(devimg_kernel_count(file), 0);
    file->kept.most = (uint64_t)1 << 30;
    assert_int_equal(devimg_read_kernels(file, &err), DEVIMG_OK);
    assert_int_equal(devimg_kernel_count(file), 1);
    devimg_close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distance_counts_letters_added_dropped_replaced),
        cmocka_unit_test(null_stands_before_every_text),
        cmocka_unit_test(arenas_share_what_they_may_take),
        cmocka_unit_test(what_is_kept_of_a_file_is_a_limit_with_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
