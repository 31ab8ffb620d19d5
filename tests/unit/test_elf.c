/* SPDX-License-Identifier: Apache-2.0 */
/* object/: ELF files written byte by byte from the System V gABI, chapters 4 and 5; relocation
 * numbers from the psABI of each machine; RELR from gabi 4.3, "Relative relocation table". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "object/object.h"

enum { REL_FILE = 1, EXEC = 2, DYN = 3, I386 = 3, X86_64 = 62, AARCH64 = 183 };
enum { PROGBITS = 1, SYMTAB = 2, STRTAB = 3, RELA = 4, NOBITS = 8, REL = 9, DYNSYM = 11 };
enum { SYMTAB_SHNDX = 18, RELR = 19 };
enum { WRITE = 1, ALLOC = 2, CODE = 4, TLS = 0x400 };
enum { NOTYPE = 0, FUNC = 2, SECTION = 3, FILE_NAME = 4, TLS_SYMBOL = 6, LOCAL = 0, GLOBAL = 1 };
enum { UNDEFINED = 0, ABSOLUTE = 0xfff1, COMMON = 0xfff2, XINDEX = 0xffff };
enum { PT_LOAD = 1, PT_DYNAMIC = 2, PT_TLS = 7 };

struct bytes {
    uint8_t data[8192];
    size_t size;
};

static void put(uint8_t *at, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

static void add(struct bytes *b, uint64_t value, size_t size)
{
    assert_true(b->size + size <= sizeof b->data);
    put(b->data + b->size, value, size);
    b->size += size;
}

static void fill(struct bytes *b, size_t size)
{
    assert_true(b->size + size <= sizeof b->data);
    b->size += size;
}

static size_t add_text(struct bytes *b, const char *text)
{
    const size_t at = b->size, size = strlen(text) + 1;
    fill(b, size);
    memcpy(b->data + at, text, size);
    return at;
}

static void add_symbol(struct bytes *b, bool wide, size_t name, unsigned bind, unsigned type,
                       unsigned section, uint64_t value)
{
    add(b, name, 4);
    if (!wide) {
        add(b, value, 4);
        add(b, 0, 4);
    }
    add(b, bind << 4 | type, 1);
    add(b, 0, 1);
    add(b, section, 2);
    if (wide) {
        add(b, value, 8);
        add(b, 0, 8);
    }
}

static void add_rela(struct bytes *b, uint64_t offset, uint32_t type, uint32_t symbol,
                     int64_t addend)
{
    add(b, offset, 8);
    add(b, type, 4);
    add(b, symbol, 4);
    add(b, (uint64_t)addend, 8);
}

static void add_rel32(struct bytes *b, uint32_t offset, uint32_t type, uint32_t symbol)
{
    add(b, offset, 4);
    add(b, symbol << 8 | type, 4);
}

struct section {
    const char *name;
    uint32_t type;
    uint64_t flags, addr;
    const struct bytes *bytes; /* NULL: none in the file */
    uint64_t size;             /* 0: that of the bytes */
    uint32_t link, info;
    uint64_t align, entry_size;
};

struct segment {
    uint32_t type, flags;
    uint64_t offset, addr, file_size, memory_size;
};

enum { MOST_SECTIONS = 24 };

struct file {
    uint8_t bytes[32768];
    size_t size;
    bool wide;
    size_t data_at[MOST_SECTIONS];   /* of section i, in the file */
    size_t header_at[MOST_SECTIONS]; /* its header */
};

/* Offsets of fields in the file header: ELF32, ELF64. */
static size_t field(const struct file *f, size_t narrow, size_t wide)
{
    return f->wide ? wide : narrow;
}

static void make_header(struct file *f, bool wide, unsigned type, unsigned machine)
{
    memset(f, 0, sizeof *f);
    f->wide = wide;
    memcpy(f->bytes, "\x7f\x45\x4c\x46", 4);
    f->bytes[4] = wide ? 2 : 1;
    f->bytes[5] = 1;
    f->bytes[6] = 1;
    put(f->bytes + 16, type, 2);
    put(f->bytes + 18, machine, 2);
    put(f->bytes + 20, 1, 4);
    put(f->bytes + field(f, 42, 54), wide ? 56 : 32, 2);
    put(f->bytes + field(f, 46, 58), wide ? 64 : 40, 2);
    f->size = wide ? 64 : 52;
}

static size_t append(struct file *f, const void *data, size_t size)
{
    f->size = (f->size + 15) & ~(size_t)15;
    const size_t at = f->size;
    assert_true(at + size <= sizeof f->bytes);
    memcpy(f->bytes + at, data, size);
    f->size += size;
    return at;
}

static void put_section_header(struct file *f, size_t at, const struct section *s, size_t name,
                               size_t data_at)
{
    const size_t word = f->wide ? 8 : 4;
    const uint64_t size = s->size == 0 && s->bytes != NULL ? s->bytes->size : s->size;
    const uint64_t words[4] = { s->flags, s->addr, data_at, size };
    put(f->bytes + at, name, 4);
    put(f->bytes + at + 4, s->type, 4);
    for (size_t i = 0; i < 4; i++)
        put(f->bytes + at + 8 + i * word, words[i], word);
    put(f->bytes + at + 8 + 4 * word, s->link, 4);
    put(f->bytes + at + 12 + 4 * word, s->info, 4);
    put(f->bytes + at + 16 + 4 * word, s->align, word);
    put(f->bytes + at + 16 + 5 * word, s->entry_size, word);
}

/* Sections 1 to `count`, then the one of names; call make_header() before. */
static void add_sections(struct file *f, const struct section *sections, size_t count)
{
    struct bytes names = { .size = 1 };
    size_t name_at[MOST_SECTIONS] = { 0 };
    assert_true(count + 2 <= MOST_SECTIONS);
    for (size_t i = 0; i < count; i++) {
        const struct bytes *b = sections[i].bytes;
        name_at[i] = add_text(&names, sections[i].name);
        f->data_at[i + 1] = b != NULL ? append(f, b->data, b->size) : f->size;
    }
    const struct section last = { .name = ".shstrtab", .type = STRTAB, .bytes = &names };
    name_at[count] = add_text(&names, last.name);
    f->data_at[count + 1] = append(f, names.data, names.size);
    const size_t header_size = f->wide ? 64 : 40;
    static const uint8_t zero[64 * MOST_SECTIONS];
    const size_t at = append(f, zero, header_size * (count + 2));
    for (size_t i = 0; i <= count + 1; i++)
        f->header_at[i] = at + header_size * i;
    for (size_t i = 0; i <= count; i++)
        put_section_header(f, f->header_at[i + 1], i < count ? &sections[i] : &last, name_at[i],
                           f->data_at[i + 1]);
    put(f->bytes + field(f, 32, 40), at, f->wide ? 8 : 4);
    put(f->bytes + field(f, 48, 60), count + 2, 2);
    put(f->bytes + field(f, 50, 62), count + 1, 2);
}

static void add_segments(struct file *f, const struct segment *segments, size_t count)
{
    struct bytes table = { .size = 0 };
    const size_t word = f->wide ? 8 : 4;
    for (size_t i = 0; i < count; i++) {
        const struct segment *s = &segments[i];
        add(&table, s->type, 4);
        if (f->wide)
            add(&table, s->flags, 4);
        add(&table, s->offset, word);
        add(&table, s->addr, word);
        add(&table, s->addr, word);
        add(&table, s->file_size, word);
        add(&table, s->memory_size, word);
        if (!f->wide)
            add(&table, s->flags, 4);
        add(&table, 16, word);
    }
    const size_t at = append(f, table.data, table.size);
    put(f->bytes + field(f, 28, 32), at, word);
    put(f->bytes + field(f, 44, 56), count, 2);
}

enum { MOST_DAMAGE = 32 };

struct opened {
    uint8_t *copy; /* just as long as the file, so that a sanitizer sees a read past it */
    struct dvi_arena arena;
    struct dvi_object o;
    struct devimg_error err, damage[MOST_DAMAGE];
    size_t damage_count;
    enum devimg_status status;
};

static void on_damage(void *sink, const struct devimg_error *err)
{
    struct opened *x = sink;
    if (x->damage_count < MOST_DAMAGE)
        x->damage[x->damage_count] = *err;
    x->damage_count++;
}

static void open_bytes(struct opened *x, const void *bytes, size_t size)
{
    memset(x, 0, sizeof *x);
    x->copy = malloc(size + (size == 0));
    assert_non_null(x->copy);
    memcpy(x->copy, bytes, size);
    x->status = dvi_object_open(dvi_view_of(x->copy, size, "t.elf"), &x->arena, on_damage, x, &x->o,
                                &x->err);
    if (x->status == DEVIMG_OK)
        x->status = dvi_object_pointers(&x->o, &x->err);
    if (x->status == DEVIMG_OK)
        x->status = dvi_object_references(&x->o, &x->err);
}

static void open_file(struct opened *x, const struct file *f)
{
    open_bytes(x, f->bytes, f->size);
}

static void close_file(struct opened *x)
{
    dvi_arena_free(&x->arena);
    free(x->copy);
}

static void expect_whole(const struct opened *x)
{
    if (x->status != DEVIMG_OK)
        fail_msg("%s", x->err.text);
    if (x->damage_count > 0)
        fail_msg("%s", x->damage[0].text);
}

static void expect_damage(const struct opened *x, enum devimg_status status, uint64_t offset,
                          const char *text)
{
    assert_int_equal(x->status, DEVIMG_OK);
    assert_int_equal(x->damage_count, 1);
    assert_string_equal(x->damage[0].text, text);
    assert_int_equal(x->damage[0].status, status);
    assert_int_equal(x->damage[0].offset, offset);
}

static void expect_pointer(const struct opened *x, size_t i, uint64_t addr, uint64_t value)
{
    assert_true(i < x->o.pointer_count);
    assert_int_equal(x->o.pointers[i].addr, addr);
    assert_int_equal(x->o.pointers[i].value, value);
}

static void expect_reference(const struct opened *x, size_t i, uint64_t addr, uint64_t value,
                             bool external)
{
    assert_true(i < x->o.reference_count);
    assert_int_equal(x->o.references[i].addr, addr);
    assert_int_equal(x->o.references[i].value, value);
    assert_int_equal(x->o.references[i].external, external);
}

enum { MOST_SYMBOLS = 8 };

struct seen {
    struct dvi_symbol items[MOST_SYMBOLS];
    size_t count, stop_at;
};

static bool see(void *context, const struct dvi_symbol *symbol)
{
    struct seen *s = context;
    assert_true(s->count < MOST_SYMBOLS);
    s->items[s->count++] = *symbol;
    return s->count != s->stop_at;
}

static void expect_symbol(const struct seen *s, size_t i, const char *name, uint64_t addr,
                          bool defined, bool local, enum dvi_symbol_kind kind)
{
    assert_true(i < s->count);
    assert_true(dvi_equals(dvi_symbol_name(&s->items[i]), name));
    assert_int_equal(s->items[i].addr, addr);
    assert_int_equal(s->items[i].defined, defined);
    assert_int_equal(s->items[i].local, local);
    assert_int_equal(s->items[i].kind, kind);
}

/* --- header --- */

static void header_cut_is_truncated(void **state)
{
    (void)state;
    static const bool widths[] = { false, true };
    for (size_t w = 0; w < 2; w++) {
        struct file f;
        make_header(&f, widths[w], DYN, widths[w] ? X86_64 : I386);
        for (size_t size = 4; size < f.size; size++) {
            struct opened x;
            open_bytes(&x, f.bytes, size);
            assert_int_equal(x.status, DEVIMG_TRUNCATED);
            close_file(&x);
        }
        struct opened x;
        open_file(&x, &f);
        expect_whole(&x);
        assert_int_equal(x.o.section_count, 0);
        assert_int_equal(x.o.pointer_size, widths[w] ? 8 : 4);
        close_file(&x);
    }
}

static void expect_refused(unsigned at, uint8_t value, enum devimg_status status, const char *text)
{
    struct file f;
    struct opened x;
    make_header(&f, true, DYN, X86_64);
    f.bytes[at] = value;
    if (at == 5 && value == 2) { /* the numbers turn around, too */
        memcpy(f.bytes + 16, "\0\3\0\26", 4);
    }
    open_file(&x, &f);
    assert_int_equal(x.status, status);
    assert_string_equal(x.err.text, text);
    assert_int_equal(x.err.offset, at);
    close_file(&x);
}

static void big_endian_is_unsupported(void **state)
{
    (void)state;
    expect_refused(5, 2, DEVIMG_UNSUPPORTED, "big-endian ELF: only little-endian objects are read");
}

static void class_and_encoding_out_of_range_are_malformed(void **state)
{
    (void)state;
    expect_refused(4, 3, DEVIMG_MALFORMED, "ELF class 3: expected 1 (32-bit) or 2 (64-bit)");
    expect_refused(5, 7, DEVIMG_MALFORMED, "ELF data encoding 7: expected 1 (little-endian)");
}

static void device_elf_is_no_object(void **state)
{
    static const struct {
        unsigned type, machine;
        bool host;
    } rows[] = {
        { DYN, 205, false },      /* EM_INTELGT: zebin */
        { DYN, 190, false },      /* EM_CUDA: cubin */
        { DYN, 224, false },      /* EM_AMDGPU: code object */
        { 0xff04, 0, false },     /* OpenCL executable of IGC */
        { 0xff12, 205, false },   /* zebin before the machine had a number */
        { 0, X86_64, false },     /* ET_NONE */
        { 4, X86_64, false },     /* ET_CORE */
        { REL_FILE, 205, false }, /* zebin that is linked later */
        { REL_FILE, X86_64, true }, { EXEC, AARCH64, true }, { DYN, I386, true },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct file f;
        struct opened x;
        make_header(&f, true, rows[i].type, rows[i].machine);
        assert_int_equal(dvi_object_matches(dvi_view_of(f.bytes, f.size, "t.elf")), rows[i].host);
        open_file(&x, &f);
        assert_int_equal(x.status, rows[i].host ? DEVIMG_OK : DEVIMG_UNSUPPORTED);
        close_file(&x);
    }
}

static void machine_has_its_name(void **state)
{
    static const struct {
        unsigned machine;
        bool wide;
        const char *name;
    } rows[] = {
        { X86_64, true, "x86_64" },  { I386, false, "i386" },      { AARCH64, true, "aarch64" },
        { 243, true, "riscv64" },    { 243, false, "riscv32" },    { 40, false, "arm" },
        { 21, true, "ppc64le" },     { 20, false, "ppcle" },       { 8, false, "mipsel" },
        { X86_64, false, "x86_64" }, { 258, true, "loongarch64" }, { 9999, true, NULL },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct file f;
        struct opened x;
        make_header(&f, rows[i].wide, EXEC, rows[i].machine);
        open_file(&x, &f);
        expect_whole(&x);
        assert_true(x.o.is_linked);
        assert_int_equal(x.o.pointer_size, rows[i].wide ? 8 : 4);
        if (rows[i].name == NULL)
            assert_null(x.o.machine);
        else
            assert_string_equal(x.o.machine, rows[i].name);
        close_file(&x);
    }
}

/* --- sections and addresses --- */

/* A library of 4 sections at fixed addresses: .text, .data, .bss behind it, and one unloaded. */
static void make_library(struct file *f, bool wide)
{
    static const struct bytes text = { .data = "\xc3\x90\x90\x90", .size = 4 };
    static const struct bytes data = { .data = "0123456789abcdef", .size = 16 };
    static const struct bytes comment = { .data = "note", .size = 4 };
    const struct section sections[] = {
        { ".text", PROGBITS, ALLOC | CODE, 0x1000, &text, 0, 0, 0, 16, 0 },
        { ".data", PROGBITS, ALLOC | WRITE, 0x2000, &data, 0, 0, 0, 8, 0 },
        { ".bss", NOBITS, ALLOC | WRITE, 0x2010, NULL, 0x100, 0, 0, 8, 0 },
        { ".comment", PROGBITS, 0, 0, &comment, 0, 0, 0, 1, 0 },
    };
    make_header(f, wide, DYN, wide ? X86_64 : I386);
    add_sections(f, sections, 4);
}

static void sections_are_read_in_table_order(void **state)
{
    (void)state;
    static const bool widths[] = { false, true };
    for (size_t w = 0; w < 2; w++) {
        static const char *const names[] = {
            "", ".text", ".data", ".bss", ".comment", ".shstrtab"
        };
        static const uint64_t addrs[] = { 0, 0x1000, 0x2000, 0x2010, 0, 0 };
        static const size_t sizes[] = { 0, 4, 16, 0, 4, 37 };
        struct file f;
        struct opened x;
        make_library(&f, widths[w]);
        open_file(&x, &f);
        expect_whole(&x);
        assert_int_equal(x.o.section_count, 6);
        for (size_t i = 0; i < 6; i++) {
            const struct dvi_section *s = &x.o.sections[i];
            assert_true(dvi_equals(s->name, names[i]));
            assert_int_equal(s->addr, addrs[i]);
            assert_int_equal(s->data.size, sizes[i]);
            assert_int_equal(s->executable, i == 1);
            assert_int_equal(s->unmapped, i == 0 || i >= 4);
            if (i > 0 && i != 3)
                assert_int_equal(s->data.offset, f.data_at[i]);
        }
        close_file(&x);
    }
}

static void nobits_has_a_size_and_no_bytes(void **state)
{
    struct file f;
    struct opened x;
    (void)state;
    make_library(&f, true);
    open_file(&x, &f);
    expect_whole(&x);
    const struct dvi_section *bss = &x.o.sections[3];
    assert_int_equal(bss->size, 0x100);
    assert_int_equal(bss->data.size, 0);
    assert_ptr_equal(dvi_object_section_of(&x.o, 0x2080), bss);
    assert_int_equal(dvi_object_from(&x.o, 0x2080).size, 0);
    close_file(&x);
}

static void address_at_section_ends_is_found_in_the_right_one(void **state)
{
    static const struct {
        uint64_t addr;
        size_t section; /* 0: none */
        size_t size;    /* of dvi_object_from() */
    } rows[] = {
        { 0, 0, 0 },      { 0xfff, 0, 0 },  { 0x1000, 1, 4 },  { 0x1003, 1, 1 },
        { 0x1004, 0, 0 }, { 0x1fff, 0, 0 }, { 0x2000, 2, 16 }, { 0x200f, 2, 1 },
        { 0x2010, 3, 0 }, { 0x210f, 3, 0 }, { 0x2110, 0, 0 },  { UINT64_MAX, 0, 0 },
    };
    struct file f;
    struct opened x;
    (void)state;
    make_library(&f, true);
    open_file(&x, &f);
    expect_whole(&x);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct dvi_section *expected =
            rows[i].section != 0 ? &x.o.sections[rows[i].section] : NULL;
        const struct dvi_view v = dvi_object_from(&x.o, rows[i].addr);
        assert_ptr_equal(dvi_object_section_of(&x.o, rows[i].addr), expected);
        assert_int_equal(v.size, rows[i].size);
        if (rows[i].size > 0)
            assert_int_equal(v.offset, f.data_at[rows[i].section] + (rows[i].addr & 0xfff));
    }
    close_file(&x);
}

static void section_past_the_end_is_cut_and_the_rest_read(void **state)
{
    struct file f;
    struct opened x;
    (void)state;
    make_library(&f, true);
    put(f.bytes + f.header_at[2] + 32, 0x100000, 8); /* size of .data */
    open_file(&x, &f);
    char text[128];
    const size_t left = f.size - f.data_at[2];
    snprintf(text, sizeof text, "section \".data\": 1048576 bytes, %zu are in the file", left);
    expect_damage(&x, DEVIMG_TRUNCATED, f.data_at[2], text);
    assert_int_equal(x.o.sections[2].size, 0x100000);
    assert_int_equal(x.o.sections[2].data.size, left);
    assert_true(dvi_equals(x.o.sections[4].data, "note"));
    assert_int_equal(dvi_object_from(&x.o, 0x2000 + left).size, 0);
    close_file(&x);
    put(f.bytes + f.header_at[2] + 24, UINT64_MAX, 8); /* and its offset */
    put(f.bytes + f.header_at[2] + 32, 16, 8);
    open_file(&x, &f);
    expect_damage(&x, DEVIMG_TRUNCATED, f.size, "section \".data\": 16 bytes, 0 are in the file");
    close_file(&x);
}

static void name_past_its_table_is_told_once(void **state)
{
    struct file f;
    struct opened x;
    (void)state;
    make_library(&f, true);
    put(f.bytes + f.header_at[1], 36, 4); /* the last byte of the table: an empty name */
    put(f.bytes + f.header_at[2], 37, 4);
    put(f.bytes + f.header_at[3], UINT32_MAX, 4);
    open_file(&x, &f);
    expect_damage(&x, DEVIMG_MALFORMED, f.data_at[5],
                  "names of sections: 2 do not end in the 37 bytes of their table, the first at "
                  "+37");
    assert_int_equal(x.o.sections[1].name.size, 0);
    assert_int_equal(x.o.sections[2].name.size, 0);
    assert_true(dvi_equals(x.o.sections[4].name, ".comment"));
    close_file(&x);
}

/* e_shstrndx may be 0: gABI, chapter 4, "ELF Header". */
static void sections_without_names_are_not_supported(void **state)
{
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        struct file f;
        struct opened x;
        make_library(&f, wide != 0);
        put(f.bytes + field(&f, 50, 62), 0, 2);
        open_file(&x, &f);
        expect_damage(&x, DEVIMG_UNSUPPORTED, wide != 0 ? 62 : 50,
                      "6 sections without names: what is found by a section's name is not seen");
        close_file(&x);
        put(f.bytes + field(&f, 50, 62), 6, 2);
        open_file(&x, &f);
        expect_damage(&x, DEVIMG_MALFORMED, wide != 0 ? 62 : 50,
                      "names of sections: in section 6 of 6");
        close_file(&x);
    }
}

static void section_entry_size_0_leaves_segments(void **state)
{
    struct file f;
    struct opened x;
    const struct segment load = { PT_LOAD, 5, 0, 0x400000, 64, 64 };
    (void)state;
    make_library(&f, true);
    add_segments(&f, &load, 1);
    put(f.bytes + 58, 0, 2);
    open_file(&x, &f);
    expect_damage(&x, DEVIMG_MALFORMED, 0, "section table entry size 0: expected 64 or more");
    assert_int_equal(x.o.section_count, 1);
    assert_true(dvi_equals(x.o.sections[0].name, "PT_LOAD"));
    assert_true(x.o.sections[0].executable);
    assert_int_equal(dvi_object_from(&x.o, 0x400004).offset, 4);
    close_file(&x);
}

static void million_sections_in_a_small_file_are_bounded(void **state)
{
    static const unsigned types[] = { REL_FILE, DYN };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct file f;
        struct opened x;
        make_library(&f, true);
        put(f.bytes + 16, types[i], 2);
        put(f.bytes + 60, 0, 2); /* count of sections: in section 0 */
        put(f.bytes + f.header_at[0] + 32, 1000000, 8);
        const clock_t start = clock();
        open_file(&x, &f);
        assert_true(clock() - start < CLOCKS_PER_SEC / 10);
        expect_damage(&x, DEVIMG_TRUNCATED, f.header_at[0],
                      "section table: 1000000 entries of 64 bytes, 6 fit in the file");
        assert_int_equal(x.o.section_count, types[i] == DYN ? 0 : 6);
        close_file(&x);
    }
}

static void counts_in_section_0_are_used(void **state)
{
    struct file f;
    struct opened x;
    (void)state;
    make_library(&f, false);
    put(f.bytes + 48, 0, 2);
    put(f.bytes + 50, XINDEX, 2);
    put(f.bytes + f.header_at[0] + 20, 6, 4); /* size: count of sections */
    put(f.bytes + f.header_at[0] + 24, 5, 4); /* link: index of the names */
    open_file(&x, &f);
    expect_whole(&x);
    assert_int_equal(x.o.section_count, 6);
    assert_true(dvi_equals(x.o.sections[4].name, ".comment"));
    close_file(&x);
}

static void tls_bss_takes_no_addresses(void **state)
{
    static const struct bytes data = { .data = "0123456789abcdef", .size = 16 };
    const struct section sections[] = {
        { ".tbss", NOBITS, ALLOC | WRITE | TLS, 0x2008, NULL, 0x1000, 0, 0, 8, 0 },
        { ".data", PROGBITS, ALLOC | WRITE, 0x2000, &data, 0, 0, 0, 8, 0 },
    };
    struct file f;
    struct opened x;
    (void)state;
    make_header(&f, true, DYN, X86_64);
    add_sections(&f, sections, 2);
    open_file(&x, &f);
    expect_whole(&x);
    assert_ptr_equal(dvi_object_section_of(&x.o, 0x200c), &x.o.sections[2]);
    assert_null(dvi_object_section_of(&x.o, 0x2010));
    close_file(&x);
}

/* --- symbols --- */

static void symbols_are_placed_by_their_section(void **state)
{
    (void)state;
    static const bool widths[] = { false, true };
    for (size_t w = 0; w < 2; w++) {
        const bool wide = widths[w];
        static const struct bytes text = { .size = 32 };
        struct bytes symbols = { .size = 0 }, names = { .size = 1 };
        const size_t a = add_text(&names, "a.c"), f1 = add_text(&names, "f");
        const size_t outside = add_text(&names, "outside");
        add_symbol(&symbols, wide, 0, LOCAL, NOTYPE, UNDEFINED, 0);
        add_symbol(&symbols, wide, a, LOCAL, FILE_NAME, ABSOLUTE, 0);
        add_symbol(&symbols, wide, 0, LOCAL, SECTION, 1, 0x1000);
        add_symbol(&symbols, wide, f1, GLOBAL, FUNC, 1, 0x1008);
        add_symbol(&symbols, wide, outside, GLOBAL, NOTYPE, UNDEFINED, 0x77);
        add_symbol(&symbols, wide, 9999, GLOBAL, NOTYPE, 1, 0x1010);
        add_symbol(&symbols, wide, f1, GLOBAL, TLS_SYMBOL, 1, 4);
        const struct section sections[] = {
            { ".text", PROGBITS, ALLOC | CODE, 0x1000, &text, 0, 0, 0, 16, 0 },
            { ".symtab", SYMTAB, 0, 0, &symbols, 0, 3, 3, 8, 0 }, /* entry size 0: the usual */
            { ".strtab", STRTAB, 0, 0, &names, 0, 0, 0, 1, 0 },
        };
        const struct segment tls = { PT_TLS, 4, 0, 0x5000, 0, 16 };
        struct file f;
        struct opened x;
        struct seen s = { .count = 0 };
        make_header(&f, wide, DYN, wide ? X86_64 : I386);
        add_sections(&f, sections, 3);
        add_segments(&f, &tls, 1);
        open_file(&x, &f);
        expect_whole(&x);
        assert_true(dvi_object_each_symbol(&x.o, DVI_SYMBOLS_STATIC, see, &s));
        assert_int_equal(s.count, 6);
        expect_symbol(&s, 0, "a.c", 0, true, true, DVI_SYMBOL_FILE);
        expect_symbol(&s, 1, "", 0x1000, true, true, DVI_SYMBOL_OTHER);
        expect_symbol(&s, 2, "f", 0x1008, true, false, DVI_SYMBOL_FUNCTION);
        expect_symbol(&s, 3, "outside", 0, false, false, DVI_SYMBOL_OTHER);
        expect_symbol(&s, 4, "", 0x1010, true, false, DVI_SYMBOL_OTHER);
        expect_symbol(&s, 5, "f", 0x5004, true, false, DVI_SYMBOL_OTHER);
        s = (struct seen){ .stop_at = 2 };
        assert_true(dvi_object_each_symbol(&x.o, DVI_SYMBOLS_STATIC, see, &s));
        assert_int_equal(s.count, 2);
        assert_false(dvi_object_each_symbol(&x.o, DVI_SYMBOLS_DYNAMIC, see, &s));
        close_file(&x);
    }
}

static void symbol_name_without_end_is_empty(void **state)
{
    static struct bytes names = { .size = 6000 };
    struct bytes symbols = { .size = 0 };
    (void)state;
    memset(names.data + 1, 'n', 5000); /* its NUL stands at 5001 */
    add_symbol(&symbols, true, 0, LOCAL, NOTYPE, UNDEFINED, 0);
    add_symbol(&symbols, true, 1, GLOBAL, NOTYPE, ABSOLUTE, 1);
    add_symbol(&symbols, true, 5001 - 4095, GLOBAL, NOTYPE, ABSOLUTE, 1);
    const struct section sections[] = {
        { ".dynsym", DYNSYM, ALLOC, 0x100, &symbols, 0, 2, 1, 8, 24 },
        { ".dynstr", STRTAB, ALLOC, 0x1000, &names, 0, 0, 0, 1, 0 },
    };
    struct file f;
    struct opened x;
    struct seen s = { .count = 0 };
    make_header(&f, true, DYN, X86_64);
    add_sections(&f, sections, 2);
    open_file(&x, &f);
    expect_whole(&x);
    assert_true(dvi_object_each_symbol(&x.o, DVI_SYMBOLS_DYNAMIC, see, &s));
    assert_int_equal(dvi_symbol_name(&s.items[0]).size, 0);
    assert_int_equal(dvi_symbol_name(&s.items[1]).size, 4095);
    close_file(&x);
}

static void section_number_of_symbol_stands_in_its_own_table(void **state)
{
    static const struct bytes text = { .size = 32 };
    struct bytes symbols = { .size = 0 }, numbers = { .size = 0 }, names = { .size = 1 };
    (void)state;
    add_symbol(&symbols, true, 0, LOCAL, NOTYPE, UNDEFINED, 0);
    add_symbol(&symbols, true, 0, GLOBAL, FUNC, XINDEX, 4);
    add_symbol(&symbols, true, 0, GLOBAL, FUNC, XINDEX, 4);
    add_symbol(&symbols, true, 0, GLOBAL, FUNC, COMMON, 8);
    add_symbol(&symbols, true, 0, GLOBAL, FUNC, ABSOLUTE, 9);
    static const uint32_t in_table[] = { 0, 2, 70000, 1, 1 };
    for (size_t i = 0; i < 5; i++)
        add(&numbers, in_table[i], 4);
    const struct section sections[] = {
        { ".text.a", PROGBITS, ALLOC | CODE, 0, &text, 0, 0, 0, 16, 0 },
        { ".text.b", PROGBITS, ALLOC | CODE, 0, &text, 0, 0, 0, 16, 0 },
        { ".symtab", SYMTAB, 0, 0, &symbols, 0, 5, 1, 8, 24 },
        { ".symtab_shndx", SYMTAB_SHNDX, 0, 0, &numbers, 0, 3, 0, 4, 4 },
        { ".strtab", STRTAB, 0, 0, &names, 0, 0, 0, 1, 0 },
    };
    struct file f;
    struct opened x;
    struct seen s = { .count = 0 };
    make_header(&f, true, REL_FILE, X86_64);
    add_sections(&f, sections, 5);
    open_file(&x, &f);
    expect_whole(&x);
    assert_true(dvi_object_each_symbol(&x.o, DVI_SYMBOLS_STATIC, see, &s));
    expect_symbol(&s, 0, "", x.o.sections[2].addr + 4, true, false, DVI_SYMBOL_FUNCTION);
    expect_symbol(&s, 1, "", 0, false, false, DVI_SYMBOL_FUNCTION); /* there is no such section */
    expect_symbol(&s, 2, "", 0, false, false, DVI_SYMBOL_FUNCTION); /* common: nowhere yet */
    expect_symbol(&s, 3, "", 9, true, false, DVI_SYMBOL_FUNCTION);
    close_file(&x);
}

/* --- pointers --- */

/* A library whose .data has `count` words, `value` of each; and tables of relocations. */
struct linked {
    struct bytes data, relocations, more, symbols, names;
};

static void make_linked(struct file *f, const struct linked *l, bool wide, uint32_t form,
                        uint64_t entry_size)
{
    const struct section sections[] = {
        { ".data", PROGBITS, ALLOC | WRITE, 0x2000, &l->data, 0, 0, 0, 8, 0 },
        { ".rel.dyn", form, ALLOC, 0x400, &l->relocations, 0, 3, 0, 8, entry_size },
        { ".dynsym", DYNSYM, ALLOC, 0x200, &l->symbols, 0, 4, 1, 8, 0 },
        { ".dynstr", STRTAB, ALLOC, 0x300, &l->names, 0, 0, 0, 1, 0 },
        { ".more", form, ALLOC, 0x500, &l->more, 0, 3, 0, 8, entry_size },
        { ".rel.kept", form, 0, 0, &l->relocations, 0, 3, 1, 8, entry_size }, /* --emit-relocs */
    };
    make_header(f, wide, DYN, wide ? X86_64 : I386);
    add_sections(f, sections, 6);
}

static void add_linked_symbols(struct linked *l, bool wide)
{
    l->names.size = 1;
    add_symbol(&l->symbols, wide, 0, LOCAL, NOTYPE, UNDEFINED, 0);
    add_symbol(&l->symbols, wide, 0, GLOBAL, NOTYPE, 1, 0x2010);
    add_symbol(&l->symbols, wide, 0, GLOBAL, NOTYPE, UNDEFINED, 0);
}

static void rela_gives_symbol_and_addend(void **state)
{
    static struct linked l;
    struct file f;
    struct opened x;
    (void)state;
    fill(&l.data, 64);
    memset(l.data.data, 0x55, 64); /* what stands in place is no addend */
    add_linked_symbols(&l, true);
    add_rela(&l.relocations, 0x2020, 1, 1, 4);      /* R_X86_64_64 */
    add_rela(&l.relocations, 0x2000, 8, 0, 0x2030); /* _RELATIVE */
    add_rela(&l.relocations, 0x2008, 6, 1, 0x999);  /* _GLOB_DAT: its addend means nothing */
    add_rela(&l.relocations, 0x2010, 1, 2, -1);     /* of a symbol elsewhere */
    add_rela(&l.relocations, 0x2018, 7, 1, 0);      /* _JUMP_SLOT: no data pointer */
    add_rela(&l.relocations, 0x2028, 1, 0, -16);    /* no symbol: an absolute address */
    add_rela(&l.more, 0x2030, 8, 0, 0x2000);
    make_linked(&f, &l, true, RELA, 24);
    open_file(&x, &f);
    expect_whole(&x);
    assert_int_equal(x.o.pointer_count, 6);
    expect_pointer(&x, 0, 0x2000, 0x2030);
    expect_pointer(&x, 1, 0x2008, 0x2010);
    expect_pointer(&x, 2, 0x2010, DVI_EXTERNAL);
    expect_pointer(&x, 3, 0x2020, 0x2014);
    expect_pointer(&x, 4, 0x2028, UINT64_MAX - 15);
    expect_pointer(&x, 5, 0x2030, 0x2000);
    assert_ptr_equal(dvi_object_pointer_at(&x.o, 0x2010), &x.o.pointers[2]);
    assert_null(dvi_object_pointer_at(&x.o, 0x2011));
    assert_int_equal(dvi_object_pointer_from(&x.o, 0x2011), 3);
    assert_int_equal(dvi_object_pointer_from(&x.o, 0x2031), 6);
    assert_int_equal(x.o.reference_count, 0);
    close_file(&x);
}

static void rel_takes_the_addend_in_place(void **state)
{
    static struct linked l;
    struct file f;
    struct opened x;
    (void)state;
    static const uint32_t words[] = { 0x2008, 4, 0xfffffff0, 7 };
    for (size_t i = 0; i < 4; i++)
        add(&l.data, words[i], 4);
    add_linked_symbols(&l, false);
    add_rel32(&l.relocations, 0x2000, 8, 0); /* R_386_RELATIVE */
    add_rel32(&l.relocations, 0x2004, 1, 1); /* _32 */
    add_rel32(&l.relocations, 0x2008, 1, 1); /* _32: the sum wraps at 32 bits */
    add_rel32(&l.relocations, 0x200c, 6, 1); /* _GLOB_DAT */
    make_linked(&f, &l, false, REL, 8);
    open_file(&x, &f);
    expect_whole(&x);
    assert_int_equal(x.o.pointer_count, 4);
    expect_pointer(&x, 0, 0x2000, 0x2008);
    expect_pointer(&x, 1, 0x2004, 0x2014);
    expect_pointer(&x, 2, 0x2008, 0x2000);
    expect_pointer(&x, 3, 0x200c, 0x2010);
    close_file(&x);
}

static void expect_relr(bool wide, const size_t *words, size_t count, const struct linked *l)
{
    const size_t size = wide ? 8 : 4;
    struct file f;
    struct opened x;
    make_linked(&f, l, wide, RELR, size);
    open_file(&x, &f);
    expect_whole(&x);
    assert_int_equal(x.o.pointer_count, count);
    for (size_t i = 0; i < count; i++)
        expect_pointer(&x, i, 0x2000 + words[i] * size, 0x9000 + words[i]);
    close_file(&x);
}

static void relr_bitmaps_count_on_from_the_last_address(void **state)
{
    static const bool widths[] = { false, true };
    (void)state;
    for (size_t w = 0; w < 2; w++) {
        const size_t size = widths[w] ? 8 : 4, bits = size * 8 - 1;
        struct linked l = { .names = { .size = 1 } };
        for (size_t i = 0; i < 4 * bits; i++)
            add(&l.data, 0x9000 + i, size);
        const uint64_t top = UINT64_C(1) << bits;
        add(&l.relocations, 0x2000, size);            /* word 0 */
        add(&l.relocations, top | 1U << 1 | 1, size); /* words 1 and `bits`: first and last */
        add(&l.relocations, 1, size);                 /* nothing in the next `bits` words */
        add(&l.relocations, 1U << 1 | 1, size);       /* the word behind those */
        add(&l.more, 0x2000 + 2 * size, size);        /* word 2 */
        add(&l.more, 0x2000 + 5 * size, size);        /* word 5, and no bitmap between */
        const size_t words[] = { 0, 1, 2, 5, bits, 1 + 2 * bits };
        expect_relr(widths[w], words, 6, &l);
    }
}

static void relr_without_bytes_is_told(void **state)
{
    static struct linked l = { .names = { .size = 1 } };
    struct file f;
    struct opened x;
    (void)state;
    fill(&l.data, 12);
    add(&l.relocations, 0x2000, 8);
    add(&l.relocations, 1U << 1 | 1, 8); /* 4 of its 8 bytes are there */
    make_linked(&f, &l, true, RELR, 8);
    open_file(&x, &f);
    expect_damage(&x, DEVIMG_MALFORMED, f.data_at[2] + 8,
                  "relocations \".rel.dyn\": 1 cannot be read; the first has an address without "
                  "bytes in the file");
    assert_int_equal(x.o.pointer_count, 1);
    close_file(&x);
}

static void relr_of_more_words_than_the_file_is_left_out(void **state)
{
    static struct linked l = { .names = { .size = 1 } };
    struct file f;
    struct opened x;
    (void)state;
    fill(&l.data, 16);
    for (size_t i = 0; i < 20; i++)
        add(&l.relocations, UINT64_MAX, 8);
    add(&l.more, 0x2008, 8);
    make_linked(&f, &l, true, RELR, 8);
    open_file(&x, &f);
    char text[128];
    snprintf(text, sizeof text, "relocations \".rel.dyn\": 1260 addresses, the file has %zu words",
             f.size / 8);
    expect_damage(&x, DEVIMG_MALFORMED, f.data_at[2], text);
    assert_int_equal(x.o.pointer_count, 1);
    expect_pointer(&x, 0, 0x2008, 0);
    close_file(&x);
}

static void symbol_number_past_its_table_is_told(void **state)
{
    static struct linked l;
    struct file f;
    struct opened x;
    (void)state;
    fill(&l.data, 64);
    add_linked_symbols(&l, true);
    add_rela(&l.relocations, 0x2000, 8, 0, 0x2030);
    add_rela(&l.relocations, 0x2008, 1, 3, 0);
    add_rela(&l.relocations, 0x2010, 1, UINT32_MAX, 0);
    add_rela(&l.relocations, 0x2018, 1, 1, 0);
    make_linked(&f, &l, true, RELA, 24);
    open_file(&x, &f);
    expect_damage(&x, DEVIMG_MALFORMED, f.data_at[2] + 24,
                  "relocations \".rel.dyn\": 2 cannot be read; the first has a symbol number past "
                  "its table");
    assert_int_equal(x.o.pointer_count, 2);
    expect_pointer(&x, 0, 0x2000, 0x2030);
    expect_pointer(&x, 1, 0x2018, 0x2010);
    close_file(&x);
}

static void relocation_entry_size_is_checked(void **state)
{
    static struct linked l;
    struct file f;
    struct opened x;
    (void)state;
    fill(&l.data, 64);
    add_linked_symbols(&l, true);
    add_rela(&l.relocations, 0x2000, 8, 0, 0x2030);
    make_linked(&f, &l, true, RELA, 0); /* not given: the usual */
    open_file(&x, &f);
    expect_whole(&x);
    assert_int_equal(x.o.pointer_count, 1);
    close_file(&x);
    put(f.bytes + f.header_at[2] + 56, 23, 8);
    open_file(&x, &f);
    expect_damage(&x, DEVIMG_MALFORMED, f.data_at[2],
                  "relocations \".rel.dyn\": entry size 23, expected 24");
    assert_int_equal(x.o.pointer_count, 0);
    close_file(&x);
    put(f.bytes + f.header_at[2] + 56, UINT64_MAX, 8); /* no entry fits */
    open_file(&x, &f);
    expect_whole(&x);
    assert_int_equal(x.o.pointer_count, 0);
    close_file(&x);
}

static void relocation_tables_that_overlap_are_left_out(void **state)
{
    struct bytes data = { .size = 16 }, table = { .size = 0 };
    struct section sections[21] = { { ".data", PROGBITS, ALLOC | WRITE, 0x2000, &data, 0, 0, 0, 8,
                                      0 } };
    struct file f;
    struct opened x;
    (void)state;
    for (size_t i = 0; i < 100; i++)
        add_rela(&table, 0x2000, 8, 0, 0x2008);
    for (size_t i = 1; i < 21; i++)
        sections[i] = (struct section){ ".rela", RELA, ALLOC, 0x100, NULL, 2400, 0, 0, 8, 24 };
    sections[1].bytes = &table;
    make_header(&f, true, DYN, X86_64);
    add_sections(&f, sections, 21);
    for (size_t i = 3; i <= 21; i++) /* all of them in the bytes of the first */
        put(f.bytes + f.header_at[i] + 24, f.data_at[2], 8);
    open_file(&x, &f);
    const size_t fit = f.size / 2400;
    assert_int_equal(x.status, DEVIMG_OK);
    assert_int_equal(x.o.pointer_count, fit * 100);
    assert_int_equal(x.damage_count, 20 - fit);
    assert_string_equal(x.damage[0].text, "relocations \".rela\": 2400 bytes lie in another table");
    close_file(&x);
}

/* --- relocatable objects --- */

static void relocatable_sections_do_not_overlap(void **state)
{
    static const struct bytes few = { .size = 5 }, many = { .size = 100 };
    const struct section sections[] = {
        { ".text", PROGBITS, ALLOC | CODE, 0, &many, 0, 0, 0, 16, 0 },
        { ".data", PROGBITS, ALLOC | WRITE, 0, &few, 0, 0, 0, 4096, 0 },
        { ".bss", NOBITS, ALLOC | WRITE, 0, NULL, 0x10000, 0, 0, 8, 0 },
        { ".empty", PROGBITS, ALLOC, 0, NULL, 0, 0, 0, 0, 0 },
        { ".debug", PROGBITS, 0, 0, &few, 0, 0, 0, 3, 0 }, /* no power of two: not aligned */
    };
    static const uint64_t sizes[] = { 100, 5, 0x10000, 0, 5 }, aligns[] = { 16, 4096, 8, 1, 1 };
    struct file f;
    struct opened x;
    (void)state;
    make_header(&f, true, REL_FILE, X86_64);
    add_sections(&f, sections, 5);
    open_file(&x, &f);
    expect_whole(&x);
    assert_false(x.o.is_linked);
    uint64_t end = 0;
    for (size_t i = 0; i < 5; i++) {
        const struct dvi_section *s = &x.o.sections[i + 1];
        assert_true(s->addr > end); /* not even the end of one is the start of the next */
        assert_int_equal(s->addr % aligns[i], 0);
        assert_int_equal(s->size, sizes[i]);
        end = s->addr + s->size;
        if (s->size > 0)
            assert_ptr_equal(dvi_object_section_of(&x.o, end - 1), s);
        assert_null(dvi_object_section_of(&x.o, end));
    }
    close_file(&x);
}

static void section_of_no_address_space_is_told(void **state)
{
    struct file f;
    struct opened x;
    (void)state;
    make_library(&f, true);
    put(f.bytes + 16, REL_FILE, 2);
    put(f.bytes + f.header_at[3] + 32, UINT64_MAX, 8); /* .bss */
    open_file(&x, &f);
    expect_damage(&x, DEVIMG_MALFORMED, f.data_at[3],
                  "section \".bss\": size 18446744073709551615 fits in no address space");
    assert_true(x.o.sections[3].unmapped);
    assert_false(x.o.sections[4].unmapped);
    close_file(&x);
}

/* What the numbers of its relocations mean, nobody can tell: that is no "there are none". */
static void code_references_of_an_unknown_machine_are_said_to_be_missing(void **state)
{
    static const struct bytes text = { .size = 64 };
    static const struct {
        unsigned machine, type;
        size_t references;
        bool partial;
    } rows[] = {
        { X86_64, 4, 1, false }, /* R_X86_64_PLT32 */
        { 21, 10, 0, true },     /* PowerPC64: R_PPC64_REL24 */
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bytes symbols = { .size = 0 }, names = { .size = 1 }, code = { .size = 0 };
        add_symbol(&symbols, true, 0, LOCAL, NOTYPE, UNDEFINED, 0);
        add_symbol(&symbols, true, 0, GLOBAL, FUNC, UNDEFINED, 0);
        add_rela(&code, 20, rows[i].type, 1, 0);
        const struct section sections[] = {
            { ".text", PROGBITS, ALLOC | CODE, 0, &text, 0, 0, 0, 16, 0 },
            { ".rela.text", RELA, 0, 0, &code, 0, 3, 1, 8, 24 },
            { ".symtab", SYMTAB, 0, 0, &symbols, 0, 4, 1, 8, 24 },
            { ".strtab", STRTAB, 0, 0, &names, 0, 0, 0, 1, 0 },
        };
        struct file f;
        struct opened x;
        make_header(&f, true, REL_FILE, rows[i].machine);
        add_sections(&f, sections, 4);
        open_file(&x, &f);
        assert_int_equal(x.status, DEVIMG_OK);
        assert_int_equal(x.o.reference_count, rows[i].references);
        assert_int_equal(x.o.pointers_partial, rows[i].partial);
        close_file(&x);
    }
}

static void code_references_are_freed_of_the_field_size(void **state)
{
    static const struct bytes text = { .size = 64 }, data = { .size = 32 };
    struct bytes symbols = { .size = 0 }, names = { .size = 1 }, code = { .size = 0 };
    struct bytes pointers = { .size = 0 };
    (void)state;
    add_symbol(&symbols, true, 0, LOCAL, NOTYPE, UNDEFINED, 0);
    add_symbol(&symbols, true, 0, LOCAL, SECTION, 2, 0);
    add_symbol(&symbols, true, 0, GLOBAL, FUNC, UNDEFINED, 0);
    add_rela(&code, 20, 4, 2, -4);    /* R_X86_64_PLT32 of a symbol elsewhere */
    add_rela(&code, 3, 2, 1, 4);      /* _PC32: .data + 8 */
    add_rela(&code, 8, 11, 1, 16);    /* _32S: .data + 16 */
    add_rela(&code, 40, 24, 1, 0);    /* _PC64: not one that code of ours has */
    add_rela(&code, 63, 2, 1, -4);    /* the last byte is still in the section */
    add_rela(&code, 64, 2, 1, -4);    /* this one is not */
    add_rela(&pointers, 8, 1, 1, 24); /* _64: .data + 24 */
    const struct section sections[] = {
        { ".text", PROGBITS, ALLOC | CODE, 0, &text, 0, 0, 0, 16, 0 },
        { ".data", PROGBITS, ALLOC | WRITE, 0, &data, 0, 0, 0, 8, 0 },
        { ".rela.text", RELA, 0, 0, &code, 0, 5, 1, 8, 24 },
        { ".rela.data", RELA, 0, 0, &pointers, 0, 5, 2, 8, 24 },
        { ".symtab", SYMTAB, 0, 0, &symbols, 0, 6, 2, 8, 24 },
        { ".strtab", STRTAB, 0, 0, &names, 0, 0, 0, 1, 0 },
    };
    struct file f;
    struct opened x;
    make_header(&f, true, REL_FILE, X86_64);
    add_sections(&f, sections, 6);
    open_file(&x, &f);
    expect_damage(&x, DEVIMG_MALFORMED, f.data_at[3] + 5 * 24,
                  "relocations \".rela.text\": 1 cannot be read; the first has an offset past its "
                  "section");
    const uint64_t text_at = x.o.sections[1].addr, data_at = x.o.sections[2].addr;
    assert_int_equal(x.o.reference_count, 4);
    expect_reference(&x, 0, text_at + 3, data_at + 8, false);
    expect_reference(&x, 1, text_at + 8, data_at + 16, false);
    expect_reference(&x, 2, text_at + 20, 0, true);
    expect_reference(&x, 3, text_at + 63, data_at, false);
    assert_int_equal(x.o.pointer_count, 1);
    expect_pointer(&x, 0, data_at + 8, data_at + 24);
    close_file(&x);
}

/* --- no section table --- */

enum { BASE = 0x10000 };

/* The loader's view alone. All stands in one PT_LOAD, so that an address is BASE + the offset. */
static void make_stripped(struct file *f, uint64_t hash_tag, const struct bytes *hash)
{
    struct bytes symbols = { .size = 0 }, names = { .size = 1 }, data = { .size = 0 };
    struct bytes rela = { .size = 0 }, relr = { .size = 0 }, dynamic = { .size = 0 };
    const size_t here = add_text(&names, "here"), there = add_text(&names, "there");
    make_header(f, true, DYN, X86_64);
    add_symbol(&symbols, true, 0, LOCAL, NOTYPE, UNDEFINED, 0);
    add_symbol(&symbols, true, there, GLOBAL, FUNC, UNDEFINED, 0);
    add_symbol(&symbols, true, here, GLOBAL, FUNC, 7, BASE + 8);
    fill(&data, 32);
    add(&data, BASE + 4, 8); /* for RELR */
    const size_t data_at = append(f, data.data, data.size);
    add_rela(&rela, BASE + data_at, 1, 2, 1);
    add_rela(&rela, BASE + data_at + 8, 1, 1, 0);
    add(&relr, BASE + data_at + 32, 8);
    const uint64_t tags[][2] = {
        { 6, append(f, symbols.data, symbols.size) },    /* DT_SYMTAB; nothing behind says its */
        { hash_tag, append(f, hash->data, hash->size) }, /* size but the hash table */
        { 5, append(f, names.data, names.size) },        /* DT_STRTAB */
        { 7, append(f, rela.data, rela.size) },          /* DT_RELA */
        { 36, append(f, relr.data, relr.size) },         /* DT_RELR */
    };
    for (size_t i = 0; i < 5; i++) {
        add(&dynamic, tags[i][0], 8);
        add(&dynamic, BASE + tags[i][1], 8);
    }
    const uint64_t sizes[][2] = { { 10, names.size }, { 8, rela.size }, { 35, relr.size } };
    for (size_t i = 0; i < 3; i++) {
        add(&dynamic, sizes[i][0], 8);
        add(&dynamic, sizes[i][1], 8);
    }
    fill(&dynamic, 16);  /* DT_NULL */
    add(&dynamic, 7, 8); /* behind the end: not read */
    add(&dynamic, 0xdead, 8);
    const size_t dynamic_at = append(f, dynamic.data, dynamic.size);
    const struct segment segments[] = {
        { PT_LOAD, 6, 0, BASE, f->size, f->size + 0x100 },
        { PT_DYNAMIC, 6, dynamic_at, BASE + dynamic_at, dynamic.size, dynamic.size },
    };
    add_segments(f, segments, 2);
}

static void expect_stripped(const struct file *f)
{
    struct opened x;
    struct seen s = { .count = 0 };
    open_file(&x, f);
    expect_whole(&x);
    assert_int_equal(x.o.section_count, 1);
    assert_int_equal(x.o.sections[0].addr, BASE);
    assert_false(dvi_object_each_symbol(&x.o, DVI_SYMBOLS_STATIC, see, &s));
    assert_true(dvi_object_each_symbol(&x.o, DVI_SYMBOLS_DYNAMIC, see, &s));
    assert_int_equal(s.count, 2);
    expect_symbol(&s, 0, "there", 0, false, false, DVI_SYMBOL_FUNCTION);
    expect_symbol(&s, 1, "here", BASE + 8, true, false, DVI_SYMBOL_FUNCTION);
    assert_int_equal(x.o.pointer_count, 3);
    expect_pointer(&x, 0, BASE + 64, BASE + 9);
    expect_pointer(&x, 1, BASE + 72, DVI_EXTERNAL);
    expect_pointer(&x, 2, BASE + 96, BASE + 4);
    close_file(&x);
}

static void tables_of_the_loader_serve_without_sections(void **state)
{
    struct file f;
    struct bytes hash = { .size = 0 };
    (void)state;
    static const uint32_t sysv[] = { 1, 3, 2, 0, 0, 1 }; /* buckets, chains; heads, links */
    for (size_t i = 0; i < 6; i++)
        add(&hash, sysv[i], 4);
    make_stripped(&f, 4, &hash);
    expect_stripped(&f);
}

static void gnu_hash_tells_the_count_of_symbols(void **state)
{
    struct file f;
    struct bytes hash = { .size = 0 };
    (void)state;
    static const uint32_t gnu[] = { 2, 2, 1, 6, 0, 0, 0, 2, 0x1235 }; /* buckets, first symbol,
        words of the filter, shift; the filter (8 bytes); heads: empty, 2; the end of a chain */
    for (size_t i = 0; i < 9; i++)
        add(&hash, gnu[i], 4);
    make_stripped(&f, 0x6ffffef5, &hash);
    expect_stripped(&f);
}

static void table_of_the_loader_past_the_end_is_told(void **state)
{
    struct file f;
    struct opened x;
    struct bytes hash = { .size = 0 };
    (void)state;
    add(&hash, 0, 4);
    add(&hash, 3, 4);
    make_stripped(&f, 4, &hash);
    uint8_t *tag = f.bytes;
    for (; tag < f.bytes + f.size; tag += 8) /* DT_RELASZ, then the size */
        if (memcmp(tag, "\x08\0\0\0\0\0\0\0\x30\0\0\0\0\0\0\0", 16) == 0)
            break;
    assert_true(tag < f.bytes + f.size);
    put(tag + 8, 1 << 20, 8);
    open_file(&x, &f);
    assert_int_equal(x.status, DEVIMG_OK);
    assert_true(x.damage_count >= 1);
    assert_int_equal(x.damage[0].status, DEVIMG_TRUNCATED);
    assert_non_null(strstr(x.damage[0].text, "DT_RELA at address 0x10"));
    assert_non_null(strstr(x.damage[0].text, ": 1048576 bytes, "));
    assert_true(x.o.pointer_count >= 2);
    expect_pointer(&x, 0, BASE + 64, BASE + 9);
    close_file(&x);
}

/* --- all of it --- */

static void every_cut_and_each_extreme_word_is_an_answer(void **state)
{
    static struct file files[3];
    struct bytes hash = { .size = 24 };
    (void)state;
    hash.data[4] = 3;
    make_library(&files[0], true);
    make_library(&files[1], false);
    make_stripped(&files[2], 4, &hash);
    for (size_t i = 0; i < 3; i++) {
        struct opened x;
        for (size_t size = 4; size < files[i].size; size++) {
            open_bytes(&x, files[i].bytes, size);
            assert_true(x.status == DEVIMG_OK || x.status == DEVIMG_TRUNCATED);
            close_file(&x);
        }
        for (size_t at = 20; at + 4 < files[i].size; at += 2) {
            struct file f = files[i];
            put(f.bytes + at, UINT32_MAX, 4);
            open_file(&x, &f);
            assert_int_equal(x.status, DEVIMG_OK);
            close_file(&x);
        }
    }
}

struct item {
    uint64_t addr;
    size_t number;
};

static void sort_keeps_the_order_of_equal_addresses(void **state)
{
    static struct item items[3000];
    static const uint64_t masks[] = { 0xff, 0xff00ff, UINT64_MAX, 0 };
    (void)state;
    for (size_t m = 0; m < 4; m++) {
        uint64_t x = 88172645463325252u; /* xorshift64, G. Marsaglia */
        for (size_t i = 0; i < 3000; i++) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            items[i] = (struct item){ i < 1000 ? i : x & masks[m], i };
        }
        assert_true(dvi_sort_by_addr(items, 3000, sizeof *items));
        for (size_t i = 1; i < 3000; i++)
            assert_true(
                items[i - 1].addr < items[i].addr ||
                (items[i - 1].addr == items[i].addr && items[i - 1].number < items[i].number));
    }
    assert_true(dvi_sort_by_addr(items, 0, sizeof *items));
    assert_true(dvi_sort_by_addr(items, 1, sizeof *items));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header_cut_is_truncated),
        cmocka_unit_test(big_endian_is_unsupported),
        cmocka_unit_test(class_and_encoding_out_of_range_are_malformed),
        cmocka_unit_test(device_elf_is_no_object),
        cmocka_unit_test(machine_has_its_name),
        cmocka_unit_test(sections_are_read_in_table_order),
        cmocka_unit_test(nobits_has_a_size_and_no_bytes),
        cmocka_unit_test(address_at_section_ends_is_found_in_the_right_one),
        cmocka_unit_test(section_past_the_end_is_cut_and_the_rest_read),
        cmocka_unit_test(name_past_its_table_is_told_once),
        cmocka_unit_test(sections_without_names_are_not_supported),
        cmocka_unit_test(section_entry_size_0_leaves_segments),
        cmocka_unit_test(million_sections_in_a_small_file_are_bounded),
        cmocka_unit_test(counts_in_section_0_are_used),
        cmocka_unit_test(tls_bss_takes_no_addresses),
        cmocka_unit_test(symbols_are_placed_by_their_section),
        cmocka_unit_test(symbol_name_without_end_is_empty),
        cmocka_unit_test(section_number_of_symbol_stands_in_its_own_table),
        cmocka_unit_test(rela_gives_symbol_and_addend),
        cmocka_unit_test(rel_takes_the_addend_in_place),
        cmocka_unit_test(relr_bitmaps_count_on_from_the_last_address),
        cmocka_unit_test(relr_without_bytes_is_told),
        cmocka_unit_test(relr_of_more_words_than_the_file_is_left_out),
        cmocka_unit_test(symbol_number_past_its_table_is_told),
        cmocka_unit_test(relocation_entry_size_is_checked),
        cmocka_unit_test(relocation_tables_that_overlap_are_left_out),
        cmocka_unit_test(relocatable_sections_do_not_overlap),
        cmocka_unit_test(section_of_no_address_space_is_told),
        cmocka_unit_test(code_references_of_an_unknown_machine_are_said_to_be_missing),
        cmocka_unit_test(code_references_are_freed_of_the_field_size),
        cmocka_unit_test(tables_of_the_loader_serve_without_sections),
        cmocka_unit_test(gnu_hash_tells_the_count_of_symbols),
        cmocka_unit_test(table_of_the_loader_past_the_end_is_told),
        cmocka_unit_test(every_cut_and_each_extreme_word_is_an_answer),
        cmocka_unit_test(sort_keeps_the_order_of_equal_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
