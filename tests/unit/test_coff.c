/* SPDX-License-Identifier: Apache-2.0 */
/* object/: COFF objects written byte by byte from Microsoft's "PE Format", "COFF File Header (Object
 * and Image)", "Section Table", "COFF Relocations". tests/windows.py has the rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "object/object.h"

enum { AMD64 = 0x8664, ARMNT = 0x1c4, CODE = 0x60000020, DATA = 0xc0000040 };

struct bytes {
    uint8_t data[128];
    size_t size;
};

static void add(struct bytes *b, uint64_t value, size_t size)
{
    assert_true(b->size + size <= sizeof b->data);
    for (size_t i = 0; i < size; i++)
        b->data[b->size++] = (uint8_t)(value >> (8 * i));
}

static void add_name(struct bytes *b, const char *name)
{
    char field[8] = "";
    memcpy(field, name, strlen(name));
    for (size_t i = 0; i < sizeof field; i++)
        add(b, (uint8_t)field[i], 1);
}

/* One section of 8 bytes, with `count` relocations of `type` at its start, of an undefined symbol. */
static struct bytes object_of(unsigned machine, uint32_t flags, unsigned type, unsigned count)
{
    enum { RAW_AT = 20 + 40, RAW_SIZE = 8, RELOCATION_SIZE = 10 };
    struct bytes b = { .size = 0 };
    const uint32_t symbols_at = RAW_AT + RAW_SIZE + count * RELOCATION_SIZE;
    add(&b, machine, 2);
    add(&b, 1, 2); /* sections */
    add(&b, 0, 4);
    add(&b, symbols_at, 4);
    add(&b, 1, 4); /* symbols */
    add(&b, 0, 4);
    add_name(&b, (flags & 0x20) != 0 ? ".text" : ".data");
    add(&b, 0, 8);
    add(&b, RAW_SIZE, 4);
    add(&b, RAW_AT, 4);
    add(&b, RAW_AT + RAW_SIZE, 4);
    add(&b, 0, 4);
    add(&b, count, 2);
    add(&b, 0, 2);
    add(&b, flags, 4);
    add(&b, 0, RAW_SIZE);
    for (unsigned i = 0; i < count; i++) {
        add(&b, 0, 4);
        add(&b, 0, 4);
        add(&b, type, 2);
    }
    add_name(&b, "puts");
    add(&b, 0, 4);
    add(&b, 0, 2); /* undefined */
    add(&b, 0x20, 2);
    add(&b, 2, 1); /* external */
    add(&b, 0, 1);
    add(&b, 4, 4); /* texts: none */
    return b;
}

static void expect(struct bytes b, size_t references, bool partial)
{
    struct dvi_arena arena = { 0 };
    struct dvi_object o = { 0 };
    struct devimg_error err = { 0 };
    if (dvi_object_open(dvi_view_of(b.data, b.size, "t.obj"), &arena, NULL, NULL, &o, &err) !=
            DEVIMG_OK ||
        dvi_object_pointers(&o, &err) != DEVIMG_OK || dvi_object_references(&o, &err) != DEVIMG_OK)
        fail_msg("%s", err.text);
    assert_int_equal(o.reference_count, references);
    assert_int_equal(o.pointers_partial, partial);
    dvi_arena_free(&arena);
}

static void relocations_of_an_unknown_machine_are_said_to_be_missing(void **state)
{
    (void)state;
    expect(object_of(AMD64, CODE, 4, 1), 1, false);  /* IMAGE_REL_AMD64_REL32 */
    expect(object_of(ARMNT, CODE, 20, 1), 0, true);  /* IMAGE_REL_ARM_BRANCH24T */
    expect(object_of(ARMNT, DATA, 1, 1), 0, true);   /* IMAGE_REL_ARM_ADDR32 */
    expect(object_of(ARMNT, CODE, 20, 0), 0, false); /* there are none */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(relocations_of_an_unknown_machine_are_said_to_be_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
