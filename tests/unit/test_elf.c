/* SPDX-License-Identifier: Apache-2.0 */
/* ELF objects written out here, field by field as in the System V ABI (gabi), chapters 4 and 5. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "object/object.h"

enum { ET_REL = 1, ET_EXEC = 2, ET_DYN = 3, I386 = 3, X86_64 = 62, AARCH64 = 183 };
enum { PROGBITS = 1, SYMTAB = 2, STRTAB = 3, RELA = 4, NOBITS = 8, REL = 9, DYNSYM = 11 };
enum { SYMTAB_SHNDX = 18, RELR = 19, WRITE = 1, ALLOC = 2, EXEC = 4, TLS = 0x400 };
enum { FILE_SIZE = 8192, MOST_SECTIONS = 12, MOST_DAMAGE = 8 };

/* A file that grows: sections' bytes first, then their headers. */
struct writer {
    uint8_t bytes[FILE_SIZE];
    size_t size;
    bool wide;
    size_t count; /* sections, the null one included */
    uint64_t headers[MOST_SECTIONS][10];
    char names[256];
    size_t names_size;
};

struct test {
    struct writer w;
    struct dvi_arena arena;
    struct dvi_object o;
    struct devimg_error damage[MOST_DAMAGE];
    size_t damage_count;
};

static void put_at(struct writer *w, size_t at, uint64_t value, size_t size)
{
    assert_true(at + size <= FILE_SIZE);
    for (size_t i = 0; i < size; i++)
        w->bytes[at + i] = (uint8_t)(value >> (8 * i));
}

static void put(struct writer *w, uint64_t value, size_t size)
{
    put_at(w, w->size, value, size);
    w->size += size;
}

static void begin(struct test *t, bool wide, uint16_t type, uint16_t machine)
{
    *t = (struct test){ .w.wide = wide, .w.count = 1, .w.names_size = 1 };
    struct writer *w = &t->w;
    memcpy(w->bytes,
           "\x7f"
           "ELF",
           4);
    put_at(w, 4, wide ? 2 : 1, 1);
    put_at(w, 5, 1, 1);
    put_at(w, 6, 1, 1);
    put_at(w, 16, type, 2);
    put_at(w, 18, machine, 2);
    put_at(w, 20, 1, 4);
    w->size = wide ? 64 : 52;
}

/* The next section: its bytes are those put until the next call; its index. */
static size_t section(struct writer *w, const char *name, uint32_t type, uint64_t flags,
                      uint64_t addr)
{
    assert_true(w->count < MOST_SECTIONS);
    if (w->count > 1 && w->headers[w->count - 1][5] == 0)
        w->headers[w->count - 1][5] = w->size - w->headers[w->count - 1][4];
    w->size = (w->size + 7) / 8 * 8;
    uint64_t *h = w->headers[w->count];
    h[0] = w->names_size;
    h[1] = type;
    h[2] = flags;
    h[3] = addr;
    h[4] = w->size;
    h[8] = 8;
    memcpy(w->names + w->names_size, name, strlen(name) + 1);
    w->names_size += strlen(name) + 1;
    return w->count++;
}

static void link_to(struct writer *w, size_t index, uint64_t link, uint64_t info,
                    uint64_t entry_size)
{
    w->headers[index][6] = link;
    w->headers[index][7] = info;
    w->headers[index][9] = entry_size;
}

static void symbol(struct writer *w, uint32_t name, uint8_t info, uint16_t index, uint64_t value)
{
    put(w, name, 4);
    if (w->wide) {
        put(w, info, 2);
        put(w, index, 2);
        put(w, value, 8);
        put(w, 0, 8);
    } else {
        put(w, value, 4);
        put(w, 0, 4);
        put(w, info, 2);
        put(w, index, 2);
    }
}

static void rela(struct writer *w, uint64_t offset, uint64_t number, uint32_t type, uint64_t addend)
{
    put(w, offset, 8);
    put(w, number << 32 | type, 8);
    put(w, addend, 8);
}

/* The section names and the section table; returns where the table stands. */
static size_t end_sections(struct writer *w)
{
    const size_t names = section(w, ".shstrtab", STRTAB, 0, 0);
    memcpy(w->bytes + w->size, w->names, w->names_size);
    w->size += w->names_size;
    w->headers[names][5] = w->names_size;
    w->size = (w->size + 7) / 8 * 8;
    const size_t at = w->size;
    put_at(w, w->wide ? 40 : 32, at, w->wide ? 8 : 4);
    put_at(w, w->wide ? 58 : 46, w->wide ? 64 : 40, 2);
    put_at(w, w->wide ? 60 : 48, w->count, 2);
    put_at(w, w->wide ? 62 : 50, names, 2);
    for (size_t i = 0; i < w->count; i++)
        for (size_t field = 0; field < 10; field++) {
            const bool narrow = field < 2 || field == 6 || field == 7 || !w->wide;
            put(w, w->headers[i][field], narrow ? 4 : 8);
        }
    return at;
}

static void segment(struct writer *w, uint32_t type, uint32_t flags, uint64_t offset, uint64_t addr,
                    uint64_t in_file, uint64_t in_memory)
{
    const uint64_t words[] = { offset, addr, addr, in_file, in_memory, 1 };
    put(w, type, 4);
    put(w, flags, 4);
    for (size_t i = 0; i < 6; i++)
        put(w, words[i], 8);
}

static void on_damage(void *sink, const struct devimg_error *err)
{
    struct test *t = sink;
    if (t->damage_count < MOST_DAMAGE)
        t->damage[t->damage_count] = *err;
    t->damage_count++;
}

static void open_size(struct test *t, size_t size)
{
    assert_int_equal(dvi_object_open(dvi_view_of(t->w.bytes, size, "test.so"), &t->arena, on_damage,
                                     t, &t->o, NULL),
                     DEVIMG_OK);
}

static void open_all(struct test *t)
{
    open_size(t, t->w.size);
    assert_int_equal(dvi_object_pointers(&t->o, NULL), DEVIMG_OK);
    assert_int_equal(dvi_object_references(&t->o, NULL), DEVIMG_OK);
}

static void expect_error(struct test *t, size_t size, enum devimg_status status, uint64_t offset)
{
    struct devimg_error err = { 0 };
    assert_int_equal(dvi_object_open(dvi_view_of(t->w.bytes, size, "test.so"), &t->arena, NULL,
                                     NULL, &t->o, &err),
                     status);
    assert_int_equal(err.offset, offset);
    assert_string_equal(err.source, "test.so");
}

static void expect_pointers(const struct test *t, const struct dvi_pointer *wanted, size_t count)
{
    assert_int_equal(t->o.pointer_count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(t->o.pointers[i].addr, wanted[i].addr);
        assert_int_equal(t->o.pointers[i].value, wanted[i].value);
    }
}

static void finish(struct test *t)
{
    dvi_arena_free(&t->arena);
}

static void other_bytes_are_unsupported(void **state)
{
    (void)state;
    struct test t;
    begin(&t, true, ET_DYN, X86_64);
    t.w.bytes[0] = 'M';
    expect_error(&t, t.w.size, DEVIMG_UNSUPPORTED, 0);
}

static void cut_header_is_truncated(void **state)
{
    (void)state;
    struct test t;
    begin(&t, true, ET_DYN, X86_64);
    expect_error(&t, 5, DEVIMG_TRUNCATED, 5);
    expect_error(&t, 63, DEVIMG_TRUNCATED, 62);
    finish(&t);
}

static void big_endian_is_unsupported(void **state)
{
    (void)state;
    struct test t;
    begin(&t, true, 0x0300, 22 << 8); /* ET_DYN, EM_S390 */
    t.w.bytes[5] = 2;
    expect_error(&t, t.w.size, DEVIMG_UNSUPPORTED, 5);
}

static void unknown_class_is_malformed(void **state)
{
    (void)state;
    struct test t;
    begin(&t, true, ET_DYN, X86_64);
    t.w.bytes[4] = 3;
    expect_error(&t, t.w.size, DEVIMG_MALFORMED, 4);
}

static void device_code_is_no_object(void **state)
{
    (void)state;
    static const uint16_t device[][2] = {
        { ET_REL, 205 },  { ET_EXEC, 190 }, { ET_DYN, 224 }, /* EM_INTELGT, _CUDA, _AMDGPU */
        { 0xff02, 0 },    { 0xff04, 0 },                     /* OpenCL ELF */
        { 0xff12, 1270 }, { 0, 0 },                          /* old zebin; oneDNN's generator */
    };
    struct test t;
    for (size_t i = 0; i < sizeof device / sizeof *device; i++) {
        begin(&t, true, device[i][0], device[i][1]);
        assert_false(dvi_object_matches(dvi_view_of(t.w.bytes, t.w.size, "")));
    }
    begin(&t, true, ET_REL, X86_64);
    assert_true(dvi_object_matches(dvi_view_of(t.w.bytes, t.w.size, "")));
}

static void sections_of_a_library_keep_their_addresses(void **state)
{
    (void)state;
    struct test t;
    begin(&t, true, ET_DYN, AARCH64);
    section(&t.w, ".text", PROGBITS, ALLOC | EXEC, 0x1000);
    put(&t.w, 0x1122334455667788, 8);
    const size_t tbss = section(&t.w, ".tbss", NOBITS, ALLOC | WRITE | TLS, 0x2000);
    t.w.headers[tbss][5] = 0x100;
    section(&t.w, ".data", PROGBITS, ALLOC | WRITE, 0x2000);
    put(&t.w, 0xabcd, 8);
    section(&t.w, ".comment", PROGBITS, 0, 0);
    put(&t.w, 0, 8);
    end_sections(&t.w);
    open_all(&t);
    assert_string_equal(t.o.machine, "aarch64");
    assert_true(t.o.is_linked);
    assert_int_equal(t.o.pointer_size, 8);
    assert_int_equal(t.o.section_count, 6);
    assert_true(dvi_equals(t.o.sections[1].name, ".text"));
    assert_true(t.o.sections[1].executable);
    assert_ptr_equal(dvi_object_section_of(&t.o, 0x1007), &t.o.sections[1]);
    assert_null(dvi_object_section_of(&t.o, 0x1008));
    assert_null(dvi_object_section_of(&t.o, 0xfff));
    assert_null(dvi_object_section_of(&t.o, 0)); /* .comment has no address */
    assert_ptr_equal(dvi_object_section_of(&t.o, 0x2000), &t.o.sections[3]);
    assert_int_equal(dvi_object_from(&t.o, 0x1003).size, 5);
    assert_int_equal(dvi_peek16(dvi_object_from(&t.o, 0x2000), 0), 0xabcd);
    assert_int_equal(t.damage_count, 0);
    finish(&t);
}

static void relative_value_is_the_addend_not_the_bytes_in_place(void **state)
{
    (void)state;
    struct test t;
    begin(&t, true, ET_DYN, X86_64);
    section(&t.w, ".data.rel.ro", PROGBITS, ALLOC | WRITE, 0x1000);
    for (size_t i = 0; i < 4; i++)
        put(&t.w, 0x7777, 8);
    const size_t table = section(&t.w, ".rela.dyn", RELA, ALLOC, 0x3000);
    rela(&t.w, 0x1010, 0, 8, 0x5010); /* R_X86_64_RELATIVE, not in order of address */
    rela(&t.w, 0x1000, 1, 1, 0x10);   /* R_X86_64_64, symbol 1 */
    rela(&t.w, 0x1008, 2, 6, 0);      /* R_X86_64_GLOB_DAT, symbol 2: elsewhere */
    rela(&t.w, 0x1018, 0, 37, 0x999); /* R_X86_64_IRELATIVE calls code: no pointer to data */
    const size_t symbols = section(&t.w, ".dynsym", DYNSYM, ALLOC, 0x4000);
    symbol(&t.w, 0, 0, 0, 0);
    symbol(&t.w, 0, 0x11, 1, 0x1018);
    symbol(&t.w, 0, 0x10, 0, 0);
    link_to(&t.w, table, symbols, 0, 24);
    link_to(&t.w, symbols, 0, 1, 24);
    end_sections(&t.w);
    open_all(&t);
    const struct dvi_pointer wanted[] = { { 0x1000, 0x1028 },
                                          { 0x1008, DVI_EXTERNAL },
                                          { 0x1010, 0x5010 } };
    expect_pointers(&t, wanted, 3);
    assert_ptr_equal(dvi_object_pointer_at(&t.o, 0x1010), &t.o.pointers[2]);
    assert_null(dvi_object_pointer_at(&t.o, 0x1011));
    assert_int_equal(dvi_object_pointer_from(&t.o, 0x1001), 1);
    assert_int_equal(dvi_object_pointer_from(&t.o, 0x1011), 3);
    assert_int_equal(t.damage_count, 0);
    finish(&t);
}

static void relr_bitmap_covers_the_63_words_behind_the_address(void **state)
{
    (void)state;
    struct test t;
    begin(&t, true, ET_DYN, AARCH64);
    section(&t.w, ".data.rel.ro", PROGBITS, ALLOC | WRITE, 0x1000);
    for (uint64_t i = 0; i < 80; i++)
        put(&t.w, 0x9000 + i, 8);
    const size_t table = section(&t.w, ".relr.dyn", RELR, ALLOC, 0x3000);
    put(&t.w, 0x1000, 8);
    put(&t.w, 1 | 1U << 1 | 1U << 3 | UINT64_C(1) << 63, 8); /* words 1, 3 and 63 */
    put(&t.w, 1 | 1U << 2, 8);                               /* word 64 + 1 */
    link_to(&t.w, table, 0, 0, 8);
    end_sections(&t.w);
    open_all(&t);
    const struct dvi_pointer wanted[] = { { 0x1000, 0x9000 },
                                          { 0x1008, 0x9001 },
                                          { 0x1018, 0x9003 },
                                          { 0x1000 + 63 * 8, 0x9000 + 63 },
                                          { 0x1000 + 65 * 8, 0x9000 + 65 } };
    expect_pointers(&t, wanted, 5);
    assert_int_equal(t.damage_count, 0);
    finish(&t);
}

static void rel_addend_stands_in_place(void **state)
{
    (void)state;
    struct test t;
    begin(&t, false, ET_DYN, I386);
    section(&t.w, ".data", PROGBITS, ALLOC | WRITE, 0x1000);
    put(&t.w, 0x1004, 4);
    put(&t.w, 0x10, 4);
    const size_t table = section(&t.w, ".rel.dyn", REL, ALLOC, 0x3000);
    put(&t.w, 0x1000, 4); /* R_386_RELATIVE */
    put(&t.w, 8, 4);
    put(&t.w, 0x1004, 4); /* R_386_32, symbol 1 */
    put(&t.w, 1 << 8 | 1, 4);
    const size_t symbols = section(&t.w, ".dynsym", DYNSYM, ALLOC, 0x4000);
    symbol(&t.w, 0, 0, 0, 0);
    symbol(&t.w, 0, 0x11, 1, 0x2000);
    link_to(&t.w, table, symbols, 0, 8);
    link_to(&t.w, symbols, 0, 1, 16);
    end_sections(&t.w);
    open_all(&t);
    assert_int_equal(t.o.pointer_size, 4);
    const struct dvi_pointer wanted[] = { { 0x1000, 0x1004 }, { 0x1004, 0x2010 } };
    expect_pointers(&t, wanted, 2);
    finish(&t);
}

/* .text with a call and an address, .data with pointers, each with its relocations. */
static void write_object(struct test *t)
{
    begin(t, true, ET_REL, X86_64);
    struct writer *w = &t->w;
    section(w, ".text", PROGBITS, ALLOC | EXEC, 0);
    put(w, 0, 8);
    put(w, 0, 8);
    section(w, ".data", PROGBITS, ALLOC | WRITE, 0);
    put(w, 0, 8);
    put(w, 0, 8);
    put(w, 0, 8);
    const size_t code = section(w, ".rela.text", RELA, 0, 0);
    rela(w, 2, 1, 2, 8 - 4);          /* R_X86_64_PC32, .data + 8 */
    rela(w, 9, 3, 4, UINT64_MAX - 3); /* R_X86_64_PLT32, elsewhere - 4 */
    const size_t data = section(w, ".rela.data", RELA, 0, 0);
    rela(w, 0, 1, 1, 16); /* R_X86_64_64, .data + 16 */
    rela(w, 8, 2, 1, 0);  /* function */
    rela(w, 16, 3, 1, 0); /* elsewhere */
    const size_t symbols = section(w, ".symtab", SYMTAB, 0, 0);
    symbol(w, 0, 0, 0, 0);
    symbol(w, 0, 3, 2, 0);          /* section .data */
    symbol(w, 1, 0x12, 1, 4);       /* function, global */
    symbol(w, 10, 0x10, 0, 0);      /* elsewhere */
    symbol(w, 20, 4, 0xfff1, 0);    /* file */
    symbol(w, 24, 0x11, 0xfff2, 8); /* common: has no place yet */
    const size_t names = section(w, ".strtab", STRTAB, 0, 0);
    memcpy(w->bytes + w->size, "\0function\0elsewhere\0a.c\0common", 31);
    w->size += 31;
    link_to(w, code, symbols, 1, 24);
    link_to(w, data, symbols, 2, 24);
    link_to(w, symbols, names, 2, 24);
    end_sections(w);
}

static void sections_of_an_object_get_addresses_of_their_own(void **state)
{
    (void)state;
    struct test t;
    write_object(&t);
    open_all(&t);
    assert_false(t.o.is_linked);
    uint64_t end = 0;
    for (size_t i = 1; i < t.o.section_count; i++) {
        const struct dvi_section *s = &t.o.sections[i];
        assert_true(s->addr > end); /* apart, so that an end is no start */
        assert_int_equal(s->addr % 8, 0);
        assert_ptr_equal(dvi_object_section_of(&t.o, s->addr), s);
        end = s->addr + s->size;
        assert_null(dvi_object_section_of(&t.o, end));
    }
    finish(&t);
}

static void pointers_of_an_object_are_section_symbol_and_addend(void **state)
{
    (void)state;
    struct test t;
    write_object(&t);
    open_all(&t);
    const uint64_t text = t.o.sections[1].addr, data = t.o.sections[2].addr;
    const struct dvi_pointer wanted[] = { { data, data + 16 },
                                          { data + 8, text + 4 },
                                          { data + 16, DVI_EXTERNAL } };
    expect_pointers(&t, wanted, 3);
    assert_int_equal(t.damage_count, 0);
    finish(&t);
}

static void code_references_are_freed_of_the_minus_4(void **state)
{
    (void)state;
    struct test t;
    write_object(&t);
    open_all(&t);
    const uint64_t text = t.o.sections[1].addr, data = t.o.sections[2].addr;
    assert_int_equal(t.o.reference_count, 2);
    assert_int_equal(t.o.references[0].addr, text + 2);
    assert_int_equal(t.o.references[0].value, data + 8);
    assert_false(t.o.references[0].external);
    assert_int_equal(t.o.references[1].addr, text + 9);
    assert_true(t.o.references[1].external);
    finish(&t);
}

struct seen {
    struct dvi_symbol symbols[8];
    size_t count, most;
};

static bool see(void *context, const struct dvi_symbol *s)
{
    struct seen *seen = context;
    assert_true(seen->count < 8);
    seen->symbols[seen->count++] = *s;
    return seen->count < seen->most;
}

static void symbols_tell_kind_binding_and_place(void **state)
{
    (void)state;
    struct test t;
    struct seen seen = { .most = 8 };
    write_object(&t);
    open_all(&t);
    assert_true(dvi_object_each_symbol(&t.o, DVI_SYMBOLS_STATIC, see, &seen));
    assert_int_equal(seen.count, 5);
    const struct dvi_symbol *s = seen.symbols;
    assert_int_equal(dvi_symbol_name(&s[0]).size, 0);
    assert_true(s[0].local && s[0].defined);
    assert_true(dvi_equals(dvi_symbol_name(&s[1]), "function"));
    assert_int_equal(s[1].kind, DVI_SYMBOL_FUNCTION);
    assert_int_equal(s[1].addr, t.o.sections[1].addr + 4);
    assert_false(s[1].local);
    assert_true(dvi_equals(dvi_symbol_name(&s[2]), "elsewhere"));
    assert_false(s[2].defined);
    assert_int_equal(s[3].kind, DVI_SYMBOL_FILE);
    assert_true(dvi_equals(dvi_symbol_name(&s[3]), "a.c"));
    assert_false(s[4].defined);
    finish(&t);
}

static void symbol_walk_ends_when_it_is_told_to(void **state)
{
    (void)state;
    struct test t;
    struct seen seen = { .most = 2 };
    write_object(&t);
    open_all(&t);
    assert_true(dvi_object_each_symbol(&t.o, DVI_SYMBOLS_STATIC, see, &seen));
    assert_int_equal(seen.count, 2);
    assert_false(dvi_object_each_symbol(&t.o, DVI_SYMBOLS_DYNAMIC, see, &seen));
    finish(&t);
}

static void counts_too_large_for_the_header_stand_in_section_0(void **state)
{
    (void)state;
    struct test t;
    write_object(&t);
    struct writer *w = &t.w;
    const size_t at = w->size - w->count * 64;
    put_at(w, 60, 0, 2);      /* e_shnum */
    put_at(w, 62, 0xffff, 2); /* e_shstrndx */
    put_at(w, at + 32, w->count, 8);
    put_at(w, at + 40, w->count - 1, 4);
    open_all(&t);
    assert_int_equal(t.o.section_count, w->count);
    assert_true(dvi_equals(t.o.sections[2].name, ".data"));
    assert_int_equal(t.o.sections[0].size, 0);
    assert_int_equal(t.o.pointer_count, 3);
    assert_int_equal(t.damage_count, 0);
    finish(&t);
}

static void section_number_of_a_symbol_may_stand_in_a_table(void **state)
{
    (void)state;
    struct test t;
    struct seen seen = { .most = 8 };
    begin(&t, true, ET_REL, X86_64);
    section(&t.w, ".data", PROGBITS, ALLOC | WRITE, 0);
    put(&t.w, 0, 8);
    const size_t symbols = section(&t.w, ".symtab", SYMTAB, 0, 0);
    symbol(&t.w, 0, 0, 0, 0);
    symbol(&t.w, 0, 0x11, 0xffff, 4);
    const size_t numbers = section(&t.w, ".symtab_shndx", SYMTAB_SHNDX, 0, 0);
    put(&t.w, 0, 4);
    put(&t.w, 1, 4);
    link_to(&t.w, symbols, 0, 1, 24);
    link_to(&t.w, numbers, symbols, 0, 4);
    end_sections(&t.w);
    open_all(&t);
    assert_true(dvi_object_each_symbol(&t.o, DVI_SYMBOLS_STATIC, see, &seen));
    assert_int_equal(seen.count, 1);
    assert_true(seen.symbols[0].defined);
    assert_int_equal(seen.symbols[0].addr, t.o.sections[1].addr + 4);
    finish(&t);
}

static void cut_section_keeps_the_bytes_that_are_there(void **state)
{
    (void)state;
    struct test t;
    begin(&t, true, ET_DYN, X86_64);
    const size_t data = section(&t.w, ".data", PROGBITS, ALLOC, 0x1000);
    put(&t.w, 5, 8);
    t.w.headers[data][5] = 0x100000;
    end_sections(&t.w);
    open_all(&t);
    assert_int_equal(t.damage_count, 1);
    assert_int_equal(t.damage[0].status, DEVIMG_TRUNCATED);
    assert_int_equal(t.damage[0].offset, 64);
    assert_int_equal(t.o.sections[1].size, 0x100000);
    assert_int_equal(t.o.sections[1].data.size, t.w.size - 64);
    finish(&t);
}

/* A library whose loader's tables lie in one segment at address 0x1000. */
static size_t write_segments(struct test *t)
{
    begin(t, true, ET_DYN, X86_64);
    struct writer *w = &t->w;
    put_at(w, 32, 64, 8); /* segments at */
    put_at(w, 54, 56, 2);
    put_at(w, 56, 2, 2);
    w->size = 64 + 2 * 56;
    const size_t start = w->size; /* address 0x1000 */
    rela(w, 0x1018, 0, 8, 0x1000);
    put(w, 0, 8); /* what it patches */
    const size_t symbols = w->size - start;
    symbol(w, 0, 0, 0, 0);
    symbol(w, 1, 0x12, 7, 0x1234);
    const size_t names = w->size - start;
    memcpy(w->bytes + w->size, "\0ref\0\0\0", 8);
    w->size += 8;
    const size_t hash = w->size - start;
    put(w, 1, 4);
    put(w, 2, 4); /* chains: one for each symbol */
    put(w, 1, 4);
    put(w, 0, 4);
    put(w, 0, 4);
    const size_t dynamic = w->size;
    const uint64_t tags[][2] = { { 4, 0x1000 + hash },
                                 { 5, 0x1000 + names },
                                 { 6, 0x1000 + symbols },
                                 { 10, 8 },
                                 { 7, 0x1000 },
                                 { 8, 24 },
                                 { 0, 0 } };
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        put(w, tags[i][0], 8);
        put(w, tags[i][1], 8);
    }
    const size_t end = w->size;
    w->size = 64;
    segment(w, 1, 5, start, 0x1000, end - start, end - start + 0x40);
    segment(w, 2, 4, dynamic, 0x1000 + dynamic - start, end - dynamic, end - dynamic);
    w->size = end;
    return end - start;
}

static void expect_segments(struct test *t, size_t size)
{
    struct seen seen = { .most = 8 };
    assert_int_equal(t->o.section_count, 1);
    assert_true(dvi_equals(t->o.sections[0].name, "PT_LOAD"));
    assert_int_equal(t->o.sections[0].addr, 0x1000);
    assert_int_equal(t->o.sections[0].data.size, size);
    assert_int_equal(t->o.sections[0].size, size + 0x40);
    assert_true(t->o.sections[0].executable);
    const struct dvi_pointer wanted[] = { { 0x1018, 0x1000 } };
    expect_pointers(t, wanted, 1);
    assert_true(dvi_object_each_symbol(&t->o, DVI_SYMBOLS_DYNAMIC, see, &seen));
    assert_int_equal(seen.count, 1);
    assert_true(dvi_equals(dvi_symbol_name(&seen.symbols[0]), "ref"));
    assert_int_equal(seen.symbols[0].addr, 0x1234);
    assert_true(seen.symbols[0].defined);
}

static void without_section_table_segments_stand_in(void **state)
{
    (void)state;
    struct test t;
    const size_t size = write_segments(&t);
    open_all(&t);
    assert_int_equal(t.damage_count, 0);
    expect_segments(&t, size);
    finish(&t);
}

static void section_table_past_the_end_is_damage_and_segments_stand_in(void **state)
{
    (void)state;
    struct test t;
    const size_t size = write_segments(&t);
    put_at(&t.w, 40, 0x100000, 8);
    put_at(&t.w, 58, 64, 2);
    put_at(&t.w, 60, 3, 2);
    open_all(&t);
    assert_int_equal(t.damage_count, 1);
    assert_int_equal(t.damage[0].status, DEVIMG_TRUNCATED);
    expect_segments(&t, size);
    finish(&t);
}

static void relr_with_more_addresses_than_words_is_left_out(void **state)
{
    (void)state;
    struct test t;
    begin(&t, true, ET_DYN, X86_64);
    section(&t.w, ".data", PROGBITS, ALLOC, 0x1000);
    put(&t.w, 0, 8);
    const size_t table = section(&t.w, ".relr.dyn", RELR, ALLOC, 0x3000);
    for (size_t i = 0; i < 64; i++)
        put(&t.w, UINT64_MAX, 8);
    link_to(&t.w, table, 0, 0, 8);
    end_sections(&t.w);
    open_all(&t);
    assert_int_equal(t.o.pointer_count, 0);
    assert_int_equal(t.damage_count, 1);
    assert_int_equal(t.damage[0].status, DEVIMG_MALFORMED);
    finish(&t);
}

static void relocation_tables_that_share_bytes_are_read_once(void **state)
{
    (void)state;
    struct test t;
    begin(&t, true, ET_DYN, X86_64);
    const size_t first = section(&t.w, ".rela.dyn", RELA, ALLOC, 0x1000);
    for (uint64_t i = 0; i < 100; i++)
        rela(&t.w, 0x9000 + 8 * i, 0, 8, i);
    const size_t second = section(&t.w, ".rela.same", RELA, ALLOC, 0x1000);
    t.w.headers[second][4] = t.w.headers[first][4];
    t.w.headers[second][5] = 2400;
    link_to(&t.w, first, 0, 0, 24);
    link_to(&t.w, second, 0, 0, 24);
    end_sections(&t.w);
    open_all(&t);
    assert_int_equal(t.o.pointer_count, 100);
    assert_int_equal(t.damage_count, 1);
    assert_int_equal(t.damage[0].status, DEVIMG_MALFORMED);
    finish(&t);
}

static void symbol_number_past_its_table_is_damage_and_the_rest_is_kept(void **state)
{
    (void)state;
    struct test t;
    begin(&t, true, ET_DYN, X86_64);
    const size_t table = section(&t.w, ".rela.dyn", RELA, ALLOC, 0x1000);
    rela(&t.w, 0x9000, 77, 1, 0);
    rela(&t.w, 0x9008, 0, 8, 5);
    link_to(&t.w, table, 0, 0, 24);
    end_sections(&t.w);
    open_all(&t);
    const struct dvi_pointer wanted[] = { { 0x9008, 5 } };
    expect_pointers(&t, wanted, 1);
    assert_int_equal(t.damage_count, 1);
    assert_int_equal(t.damage[0].offset, 64);
    finish(&t);
}

static void sort_keeps_the_order_of_equal_addresses(void **state)
{
    (void)state;
    struct dvi_pointer items[600];
    uint64_t random = 1;
    for (size_t i = 0; i < 600; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        items[i] = (struct dvi_pointer){ random >> 58 << (random >> 50 & 31), i };
    }
    assert_true(dvi_sort_by_addr(items, 600, sizeof *items));
    for (size_t i = 1; i < 600; i++) {
        assert_true(items[i - 1].addr <= items[i].addr);
        if (items[i - 1].addr == items[i].addr)
            assert_true(items[i - 1].value < items[i].value);
    }
    assert_true(dvi_sort_by_addr(items, 0, sizeof *items));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_bytes_are_unsupported),
        cmocka_unit_test(cut_header_is_truncated),
        cmocka_unit_test(big_endian_is_unsupported),
        cmocka_unit_test(unknown_class_is_malformed),
        cmocka_unit_test(device_code_is_no_object),
        cmocka_unit_test(sections_of_a_library_keep_their_addresses),
        cmocka_unit_test(relative_value_is_the_addend_not_the_bytes_in_place),
        cmocka_unit_test(relr_bitmap_covers_the_63_words_behind_the_address),
        cmocka_unit_test(rel_addend_stands_in_place),
        cmocka_unit_test(sections_of_an_object_get_addresses_of_their_own),
        cmocka_unit_test(pointers_of_an_object_are_section_symbol_and_addend),
        cmocka_unit_test(code_references_are_freed_of_the_minus_4),
        cmocka_unit_test(symbols_tell_kind_binding_and_place),
        cmocka_unit_test(symbol_walk_ends_when_it_is_told_to),
        cmocka_unit_test(counts_too_large_for_the_header_stand_in_section_0),
        cmocka_unit_test(section_number_of_a_symbol_may_stand_in_a_table),
        cmocka_unit_test(cut_section_keeps_the_bytes_that_are_there),
        cmocka_unit_test(without_section_table_segments_stand_in),
        cmocka_unit_test(section_table_past_the_end_is_damage_and_segments_stand_in),
        cmocka_unit_test(relr_with_more_addresses_than_words_is_left_out),
        cmocka_unit_test(relocation_tables_that_share_bytes_are_read_once),
        cmocka_unit_test(symbol_number_past_its_table_is_damage_and_the_rest_is_kept),
        cmocka_unit_test(sort_keeps_the_order_of_equal_addresses),
    };
    return cmocka_run_group_tests_name("elf", tests, NULL, NULL);
}
