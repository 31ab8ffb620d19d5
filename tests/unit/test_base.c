/* SPDX-License-Identifier: Apache-2.0 */
/* Orders and near words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/compare.h"
#include "base/nearest.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distance_counts_letters_added_dropped_replaced),
        cmocka_unit_test(null_stands_before_every_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
