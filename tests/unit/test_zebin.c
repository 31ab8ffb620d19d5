/* SPDX-License-Identifier: Apache-2.0 */
/* image/zebin. ELF files are written from the System V gABI, notes from
 * intel-graphics-compiler IGC/ZEBinWriter/zebin/spec/elf.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "image/image.h"

extern const struct dvi_image_format dvi_image_zebin;

enum { TYPE_PROGBITS = 1, TYPE_STRTAB = 3, TYPE_NOTE = 7, MACHINE_INTELGT = 205, REL = 1 };
#define TYPE_ZE_INFO 0xff000011u

struct section {
    const char *name;
    uint32_t type;
    const void *bytes;
    size_t size;
};

struct file {
    uint8_t bytes[8192];
    size_t size;
};

static void put(struct file *f, size_t at, uint64_t value, unsigned size)
{
    assert_true(at + size <= sizeof f->bytes);
    for (unsigned i = 0; i < size; i++)
        f->bytes[at + i] = (uint8_t)(value >> 8 * i);
    if (at + size > f->size)
        f->size = at + size;
}

static void put_bytes(struct file *f, const void *bytes, size_t size)
{
    assert_true(f->size + size <= sizeof f->bytes);
    memcpy(f->bytes + f->size, bytes, size);
    f->size += size;
}

static void put_header(struct file *f, bool wide, size_t at, uint32_t name, uint32_t type,
                       size_t offset, size_t size)
{
    put(f, at, name, 4);
    put(f, at + 4, type, 4);
    put(f, at + (wide ? 24 : 16), offset, wide ? 8 : 4);
    put(f, at + (wide ? 32 : 20), size, wide ? 8 : 4);
    put(f, at + (wide ? 63 : 39), 0, 1);
}

/* An ELF with a null section, the given ones, and one of names. */
static void build(struct file *f, bool wide, uint16_t type, uint16_t machine,
                  const struct section *sections, size_t count)
{
    size_t offsets[16];
    uint32_t names[17];
    char text[1024] = { 0 };
    uint32_t text_size = 1;
    *f = (struct file){ 0 };
    put_bytes(f, wide ? "\177ELF\2\1\1" : "\177ELF\1\1\1", 8);
    put(f, 16, type, 2);
    put(f, 18, machine, 2);
    put(f, wide ? 63 : 51, 0, 1);
    for (size_t i = 0; i <= count; i++) {
        const char *name = i < count ? sections[i].name : ".shstrtab";
        names[i] = text_size;
        strcpy(text + text_size, name);
        text_size += (uint32_t)strlen(name) + 1;
    }
    for (size_t i = 0; i < count; i++) {
        offsets[i] = f->size;
        put_bytes(f, sections[i].bytes, sections[i].size);
    }
    offsets[count] = f->size;
    put_bytes(f, text, text_size);
    const size_t table = f->size, entry = wide ? 64 : 40;
    put_header(f, wide, table, 0, 0, 0, 0);
    for (size_t i = 0; i < count; i++)
        put_header(f, wide, table + (i + 1) * entry, names[i], sections[i].type, offsets[i],
                   sections[i].size);
    put_header(f, wide, table + (count + 1) * entry, names[count], TYPE_STRTAB, offsets[count],
               text_size);
    put(f, wide ? 40 : 32, table, wide ? 8 : 4);
    put(f, wide ? 58 : 46, entry, 2);
    put(f, wide ? 60 : 48, count + 2, 2);
    put(f, wide ? 62 : 50, count + 1, 2);
}

static const char info[] =
    "version: '1.50'\nkernels:\n- name: k\n  execution_env: {simd_size: 8}\n";
#define INFO                                             \
    {                                                    \
        ".ze_info", TYPE_ZE_INFO, info, sizeof info - 1, \
    }
#define NOTES(text)                                                \
    {                                                              \
        ".note.intelgt.compat", TYPE_NOTE, text, sizeof(text) - 1, \
    }
#define OWNER          "IntelGT\0"
#define CONFIG_12_55_8 "\x08\xc0\x0d\x03" /* 12 << 22 | 55 << 14 | 8 */

struct result {
    struct dvi_arena arena;
    struct dvi_image_facts facts;
    struct dvi_kernel_sink sink;
    enum devimg_status facts_status, status;
    struct devimg_error err;
};

static void decode(struct result *r, const uint8_t *bytes, size_t size)
{
    const struct dvi_view v = dvi_view_of(bytes, size, "zebin");
    *r = (struct result){ 0 };
    r->facts = (struct dvi_image_facts){ .ip_version = DEVIMG_UNKNOWN,
                                         .product_family = DEVIMG_UNKNOWN,
                                         .core_family = DEVIMG_UNKNOWN,
                                         .kernel_count = DEVIMG_UNKNOWN };
    r->sink = (struct dvi_kernel_sink){ .arena = &r->arena, .most = 1000 };
    r->status = dvi_image_zebin.kernels(v, &r->sink, &r->err);
    r->facts_status = dvi_image_zebin.facts(v, &r->arena, &r->facts, &r->err);
}

static void release(struct result *r)
{
    DVI_LIST_FREE(&r->sink.kernels);
    dvi_arena_free(&r->arena);
}

/* One zebin of a note section and .ze_info. */
static void decode_notes(struct result *r, const void *notes, size_t size)
{
    struct file f;
    const struct section sections[] = {
        { ".note.intelgt.compat", TYPE_NOTE, notes, size },
        INFO,
    };
    build(&f, true, REL, MACHINE_INTELGT, sections, 2);
    decode(r, f.bytes, f.size);
}
#define DECODE_NOTES(r, text) decode_notes(r, text, sizeof(text) - 1)

/* S1-20. */
static void notes_give_families_version_and_ip(void **state)
{
    (void)state;
    struct result r;
    DECODE_NOTES(&r, "\x08\0\0\0\4\0\0\0\1\0\0\0" OWNER "\xf6\x04\0\0"
                     "\x08\0\0\0\4\0\0\0\2\0\0\0" OWNER "\x07\x0c\0\0"
                     "\x08\0\0\0\4\0\0\0\3\0\0\0" OWNER "\1\2\3\4"
                     "\x08\0\0\0\5\0\0\0\4\0\0\0" OWNER "1.53\0\0\0\0"
                     "\x08\0\0\0\4\0\0\0\6\0\0\0" OWNER CONFIG_12_55_8
                     "\x08\0\0\0\4\0\0\0\x63\0\0\0" OWNER "????");
    assert_int_equal(r.facts_status, DEVIMG_OK);
    assert_int_equal(r.facts.product_family, 1270);
    assert_int_equal(r.facts.core_family, 0xc07);
    assert_string_equal(r.facts.version, "1.53");
    assert_int_equal(r.facts.ip_version, 51232776); /* 12.55.8 in the notes of shipped images */
    assert_int_equal(r.facts.kernel_count, 0);      /* no code section */
    assert_int_equal(r.status, DEVIMG_OK);
    assert_int_equal(r.sink.kernels.count, 1);
    release(&r);
}

/* S1-20. */
static void reserved_bits_of_the_config_are_left_out(void **state)
{
    (void)state;
    struct result r;
    DECODE_NOTES(&r, "\x08\0\0\0\4\0\0\0\6\0\0\0" OWNER "\xc8\xff\x0d\x03");
    assert_int_equal(r.facts.ip_version, 51232776);
    release(&r);
    DECODE_NOTES(&r, "\x08\0\0\0\4\0\0\0\6\0\0\0" OWNER "\0\0\0\0");
    assert_true(r.facts.ip_version == DEVIMG_UNKNOWN);
    release(&r);
}

/* S1-20. */
static void config_of_wrong_size_is_malformed(void **state)
{
    (void)state;
    struct result r;
    DECODE_NOTES(&r, "\x08\0\0\0\x08\0\0\0\6\0\0\0" OWNER CONFIG_12_55_8 "\0\0\0\0");
    assert_int_equal(r.facts_status, DEVIMG_MALFORMED);
    assert_true(r.facts.ip_version == DEVIMG_UNKNOWN);
    assert_int_equal(r.err.offset, 64 + 20); /* of its data */
    release(&r);
    DECODE_NOTES(&r, "\x08\0\0\0\2\0\0\0\6\0\0\0" OWNER "\x08\xc0\0\0");
    assert_int_equal(r.facts_status, DEVIMG_MALFORMED);
    release(&r);
}

static void note_past_its_section_is_truncated(void **state)
{
    (void)state;
    static const char notes[] = "\x08\0\0\0\4\0\0\0\1\0\0\0" OWNER "\xf6\x04\0\0"
                                "\x08\0\0\0\4\0\0\0\6\0\0\0" OWNER CONFIG_12_55_8;
    struct result r;
    for (size_t size = 25; size < 48; size++) {
        decode_notes(&r, notes, size);
        assert_int_equal(r.facts_status, DEVIMG_TRUNCATED);
        assert_int_equal(r.facts.product_family, 1270); /* what stood before is kept */
        assert_int_equal(r.status, DEVIMG_OK);
        release(&r);
    }
    DECODE_NOTES(&r, "\x08\0\0\0\xff\xff\xff\xff\6\0\0\0" OWNER CONFIG_12_55_8);
    assert_int_equal(r.facts_status, DEVIMG_TRUNCATED);
    release(&r);
    DECODE_NOTES(&r, "\xff\xff\xff\xff\4\0\0\0\6\0\0\0" OWNER CONFIG_12_55_8);
    assert_int_equal(r.facts_status, DEVIMG_TRUNCATED);
    release(&r);
}

static void last_note_needs_no_padding(void **state)
{
    (void)state;
    struct result r;
    DECODE_NOTES(&r, "\x08\0\0\0\5\0\0\0\4\0\0\0" OWNER "1.531");
    assert_int_equal(r.facts_status, DEVIMG_OK);
    assert_string_equal(r.facts.version, "1.531");
    release(&r);
    DECODE_NOTES(&r, "\x08\0\0\0\5\0\0\0\4\0\0\0" OWNER "1.62\0\0\0\0"
                     "\5\0\0\0\0\0\0\0\1\0\0\0IntG\0\0\0\0" /* a name of 5 bytes, padded */
                     "\x08\0\0\0\4\0\0\0\6\0\0\0" OWNER CONFIG_12_55_8);
    assert_int_equal(r.facts_status, DEVIMG_OK);
    assert_int_equal(r.facts.ip_version, 51232776);
    release(&r);
}

static void notes_of_another_owner_say_nothing(void **state)
{
    (void)state;
    struct result r;
    DECODE_NOTES(&r, "\x08\0\0\0\4\0\0\0\6\0\0\0"
                     "IntelGTX" CONFIG_12_55_8 "\4\0\0\0\x08\0\0\0\6\0\0\0GNU\0" CONFIG_12_55_8
                     "\0\0\0\0");
    assert_int_equal(r.facts_status, DEVIMG_OK);
    assert_true(r.facts.ip_version == DEVIMG_UNKNOWN);
    release(&r);
}

/* S1-20. */
static void second_section_of_notes_is_malformed(void **state)
{
    (void)state;
    struct file f;
    struct result r;
    const struct section sections[] = {
        NOTES("\x08\0\0\0\4\0\0\0\6\0\0\0" OWNER CONFIG_12_55_8),
        INFO,
        NOTES("\x08\0\0\0\4\0\0\0\6\0\0\0" OWNER "\0\0\x0d\x03"),
    };
    build(&f, true, REL, MACHINE_INTELGT, sections, 3);
    decode(&r, f.bytes, f.size);
    assert_int_equal(r.facts_status, DEVIMG_MALFORMED);
    assert_int_equal(r.facts.ip_version, 51232776); /* the first stays */
    release(&r);
}

/* The metrics section has the type of a note section but holds none. */
static void note_sections_of_other_names_are_not_read(void **state)
{
    (void)state;
    struct file f;
    struct result r;
    static const char zeros[64] = { 0 };
    const struct section sections[] = {
        { ".note.intelgt.metrics", TYPE_NOTE, zeros, sizeof zeros },
        NOTES("\x08\0\0\0\4\0\0\0\6\0\0\0" OWNER CONFIG_12_55_8),
        INFO,
    };
    build(&f, true, REL, MACHINE_INTELGT, sections, 3);
    decode(&r, f.bytes, f.size);
    assert_int_equal(r.facts_status, DEVIMG_OK);
    assert_int_equal(r.facts.ip_version, 51232776);
    release(&r);
}

static void elf32_reads_like_elf64(void **state)
{
    (void)state;
    struct file f;
    struct result r;
    const struct section sections[] = {
        { ".text.k", TYPE_PROGBITS, "code", 4 },
        NOTES("\x08\0\0\0\4\0\0\0\6\0\0\0" OWNER CONFIG_12_55_8),
        INFO,
    };
    build(&f, false, REL, MACHINE_INTELGT, sections, 3);
    decode(&r, f.bytes, f.size);
    assert_int_equal(r.facts_status, DEVIMG_OK);
    assert_int_equal(r.facts.ip_version, 51232776);
    assert_int_equal(r.facts.kernel_count, 1);
    assert_int_equal(r.sink.kernels.count, 1);
    assert_string_equal(r.sink.kernels.items[0].name, "k");
    release(&r);
}

static void code_sections_count_kernels(void **state)
{
    (void)state;
    struct file f;
    struct result r;
    const struct section sections[] = {
        { ".text.a", TYPE_PROGBITS, "code", 4 },
        { ".text.Intel_Symbol_Table_Void_Program", TYPE_PROGBITS, "code", 4 },
        { ".text.b", TYPE_PROGBITS, "code", 4 },
        { ".textual", TYPE_PROGBITS, "code", 4 },
        INFO,
    };
    build(&f, true, REL, MACHINE_INTELGT, sections, 5);
    decode(&r, f.bytes, f.size);
    assert_int_equal(r.facts.kernel_count, 2);
    release(&r);
}

static void old_types_give_a_family_in_the_machine(void **state)
{
    (void)state;
    struct file f;
    struct result r;
    const struct section sections[] = { INFO };
    for (uint16_t type = 0xff11; type <= 0xff13; type++) {
        build(&f, true, type, 1270, sections, 1);
        assert_true(dvi_image_zebin.match(dvi_view_of(f.bytes, f.size, "z")));
        decode(&r, f.bytes, f.size);
        assert_int_equal(r.facts_status, DEVIMG_OK);
        assert_int_equal(r.facts.product_family, 1270);
        assert_true(r.facts.core_family == DEVIMG_UNKNOWN);
        release(&r);
    }
}

/* elf.md, TargetFlags: machineEntryUsesGfxCoreInsteadOfProductFamily is bit 15 of e_flags. */
static void flag_15_makes_the_machine_a_core_family(void **state)
{
    (void)state;
    struct file f;
    struct result r;
    const struct section sections[] = { INFO };
    for (int wide = 0; wide <= 1; wide++) {
        build(&f, wide, 0xff12, 0xc07, sections, 1);
        put(&f, wide ? 48 : 36, 1u << 15, 4);
        decode(&r, f.bytes, f.size);
        assert_int_equal(r.facts_status, DEVIMG_OK);
        assert_int_equal(r.facts.core_family, 0xc07);
        assert_true(r.facts.product_family == DEVIMG_UNKNOWN);
        release(&r);
        put(&f, wide ? 48 : 36, ~(1u << 15), 4); /* every flag but that one */
        decode(&r, f.bytes, f.size);
        assert_int_equal(r.facts.product_family, 0xc07);
        assert_true(r.facts.core_family == DEVIMG_UNKNOWN);
        release(&r);
    }
}

static void notes_come_before_the_machine(void **state)
{
    (void)state;
    struct file f;
    struct result r;
    const struct section sections[] = {
        NOTES("\x08\0\0\0\4\0\0\0\1\0\0\0" OWNER "\xf7\4\0\0"),
        INFO,
    };
    build(&f, true, 0xff12, 1270, sections, 2);
    decode(&r, f.bytes, f.size);
    assert_int_equal(r.facts.product_family, 1271);
    release(&r);
}

/* compute-runtime loads e_type REL with any e_machine: only the section tells. */
static void section_ze_info_makes_a_zebin(void **state)
{
    (void)state;
    struct file f;
    struct result r;
    const struct section with[] = { INFO };
    const struct section without[] = { { ".text.k", TYPE_PROGBITS, "code", 4 } };
    build(&f, true, REL, 1270, with, 1);
    assert_true(dvi_image_zebin.match(dvi_view_of(f.bytes, f.size, "z")));
    decode(&r, f.bytes, f.size);
    assert_int_equal(r.facts_status, DEVIMG_OK);
    assert_int_equal(r.facts.product_family, 1270);
    assert_int_equal(r.sink.kernels.count, 1);
    release(&r);
    build(&f, true, REL, 0, with, 1);
    decode(&r, f.bytes, f.size);
    assert_true(r.facts.product_family == DEVIMG_UNKNOWN); /* 0 is no family */
    release(&r);
    build(&f, true, REL, 1270, without, 1);
    assert_false(dvi_image_zebin.match(dvi_view_of(f.bytes, f.size, "z")));
}

static void other_files_are_no_zebin(void **state)
{
    (void)state;
    struct file f;
    const struct section code[] = { { ".text.k", TYPE_PROGBITS, "code", 4 } };
    const struct section info_section[] = { INFO };
    build(&f, true, REL, 62, code, 1);
    assert_false(dvi_image_zebin.match(dvi_view_of(f.bytes, f.size, "z")));
    build(&f, true, 0xff10, 1270, code, 1);
    assert_false(dvi_image_zebin.match(dvi_view_of(f.bytes, f.size, "z")));
    build(&f, true, 0xff14, 1270, code, 1);
    assert_false(dvi_image_zebin.match(dvi_view_of(f.bytes, f.size, "z")));
    build(&f, true, REL, MACHINE_INTELGT, info_section, 1);
    f.bytes[5] = 2; /* big-endian: none exists */
    assert_false(dvi_image_zebin.match(dvi_view_of(f.bytes, f.size, "z")));
    assert_false(dvi_image_zebin.match(dvi_view_of("\177ELF\2\1\1", 7, "z")));
}

/* The code of a kernel is found by name, also where one name begins with the other. */
static void code_size_is_that_of_the_kernels_section(void **state)
{
    (void)state;
    struct file f;
    struct result r;
    static const char text[] = "version: '1.50'\nkernels:\n- name: kk\n- name: k\n- name: l\n";
    const struct section sections[] = {
        { ".text.k", TYPE_PROGBITS, "code", 4 },
        { ".text.kk", TYPE_PROGBITS, "longer", 6 },
        { ".text.kkk", TYPE_PROGBITS, "x", 1 },
        { ".ze_info", TYPE_ZE_INFO, text, sizeof text - 1 },
    };
    build(&f, true, REL, MACHINE_INTELGT, sections, 4);
    decode(&r, f.bytes, f.size);
    assert_int_equal(r.status, DEVIMG_OK);
    assert_int_equal(r.sink.kernels.count, 3);
    assert_int_equal(r.sink.kernels.items[0].code_size, 6);
    assert_int_equal(r.sink.kernels.items[1].code_size, 4);
    assert_true(r.sink.kernels.items[2].code_size == DEVIMG_UNKNOWN);
    release(&r);
}

static void missing_ze_info_is_malformed(void **state)
{
    (void)state;
    struct file f;
    struct result r;
    const struct section sections[] = {
        { ".text.k", TYPE_PROGBITS, "code", 4 },
    };
    build(&f, true, REL, MACHINE_INTELGT, sections, 1);
    decode(&r, f.bytes, f.size);
    assert_int_equal(r.facts_status, DEVIMG_MALFORMED);
    assert_int_equal(r.sink.kernels.count, 0);
    release(&r);
}

static void section_past_the_end_is_truncated(void **state)
{
    (void)state;
    static const uint64_t sizes[] = { 8192, UINT64_MAX, UINT64_MAX - 64, (uint64_t)1 << 32 };
    const struct section sections[] = { INFO };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct file f;
        struct result r;
        build(&f, true, REL, MACHINE_INTELGT, sections, 1);
        put(&f, f.size - 2 * 64 + 32, sizes[i], 8);
        decode(&r, f.bytes, f.size);
        assert_int_equal(r.facts_status, DEVIMG_TRUNCATED);
        assert_int_equal(r.status, DEVIMG_TRUNCATED);
        release(&r);
    }
}

static void wrong_tables_of_sections_are_refused(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint64_t value;
        unsigned size;
        enum devimg_status expected;
    } rows[] = {
        { 40, UINT64_MAX, 8, DEVIMG_TRUNCATED }, /* e_shoff */
        { 58, 63, 2, DEVIMG_MALFORMED },         /* e_shentsize */
        { 58, 0xffff, 2, DEVIMG_TRUNCATED },     /* too large for the file */
        { 60, 0, 2, DEVIMG_MALFORMED },          /* e_shnum */
        { 60, 0xffff, 2, DEVIMG_TRUNCATED },     { 62, 3, 2, DEVIMG_MALFORMED }, /* e_shstrndx */
    };
    const struct section sections[] = { INFO };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct file f;
        struct result r;
        build(&f, true, REL, MACHINE_INTELGT, sections, 1);
        put(&f, rows[i].at, rows[i].value, rows[i].size);
        decode(&r, f.bytes, f.size);
        assert_int_equal(r.facts_status, rows[i].expected);
        assert_int_equal(r.status, rows[i].expected);
        release(&r);
    }
}

static void sections_without_names_are_not_supported(void **state)
{
    (void)state;
    const struct section sections[] = { INFO };
    for (int wide = 0; wide < 2; wide++) {
        struct file f;
        struct result r;
        build(&f, wide != 0, REL, MACHINE_INTELGT, sections, 1);
        put(&f, wide != 0 ? 62 : 50, 0, 2); /* e_shstrndx */
        decode(&r, f.bytes, f.size);
        assert_int_equal(r.facts_status, DEVIMG_UNSUPPORTED);
        assert_int_equal(r.err.offset, wide != 0 ? 62 : 50);
        release(&r);
    }
}

static void file_cut_at_any_byte_never_reads_past_it(void **state)
{
    (void)state;
    struct file f;
    const struct section sections[] = {
        { ".text.k", TYPE_PROGBITS, "code", 4 },
        NOTES("\x08\0\0\0\4\0\0\0\6\0\0\0" OWNER CONFIG_12_55_8),
        INFO,
    };
    for (int wide = 0; wide < 2; wide++) {
        build(&f, wide != 0, REL, MACHINE_INTELGT, sections, 3);
        for (size_t size = 0; size < f.size; size++) {
            struct result r;
            uint8_t *copy = malloc(size + 1);
            assert_non_null(copy);
            memcpy(copy + 1, f.bytes, size);
            decode(&r, copy + 1, size);
            assert_true(r.facts_status != DEVIMG_OK); /* the section table stands last */
            release(&r);
            free(copy);
        }
    }
}

/* 65,000 sections whose names all point at one text of 16 MB: each is looked at, none is read to
 * its end. */
static void names_of_any_length_take_little_time(void **state)
{
    (void)state;
    enum { COUNT = 65000, TEXT = 16 << 20, TABLE = 64 + TEXT };
    const size_t size = TABLE + (size_t)COUNT * 64;
    uint8_t *bytes = calloc(size, 1);
    struct result r;
    assert_non_null(bytes);
    memcpy(bytes, "\177ELF\2\1\1", 7);
    bytes[16] = REL;
    bytes[18] = MACHINE_INTELGT;
    for (unsigned i = 0; i < 4; i++)
        bytes[40 + i] = (uint8_t)((unsigned)TABLE >> 8 * i);
    bytes[58] = 64;
    bytes[60] = (uint8_t)(COUNT & 0xff);
    bytes[61] = (uint8_t)(COUNT >> 8);
    bytes[62] = 1;
    memset(bytes + 64, 'n', TEXT - 1);
    uint8_t *names = bytes + TABLE + 64;
    names[4] = TYPE_STRTAB;
    names[24] = 64;
    names[32 + 3] = 1; /* 16 MB */
    const clock_t start = clock();
    decode(&r, bytes, size);
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 1);
    assert_int_equal(r.facts_status, DEVIMG_MALFORMED); /* no .ze_info */
    release(&r);
    free(bytes);
}

static void put_number(uint8_t *at, size_t value)
{
    for (unsigned i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

static void put_section(uint8_t *at, uint32_t name, uint32_t type, size_t offset, size_t size)
{
    put_number(at, name);
    put_number(at + 4, type);
    put_number(at + 24, offset);
    put_number(at + 32, size);
}

/* 65,000 sections ".text.b" beside one kernel whose name is 16 MB long: the name is refused,
 * and not measured for each of them. */
static void long_kernel_name_is_refused_in_little_time(void **state)
{
    (void)state;
    enum { COUNT = 65000, NAME = 16 << 20, NAMES = 64, TEXT = NAMES + 32 };
    static const char names[] = "\0.ze_info\0.text.b", before[] = "kernels:\n- name: ";
    const size_t text_size = sizeof before - 1 + NAME + 1, table = TEXT + text_size + 1;
    uint8_t *bytes = calloc(table + (size_t)COUNT * 64, 1);
    struct result r;
    assert_non_null(bytes);
    memcpy(bytes, "\177ELF\2\1\1", 7);
    bytes[16] = REL;
    bytes[18] = MACHINE_INTELGT;
    put_number(bytes + 40, table);
    bytes[58] = 64;
    bytes[60] = (uint8_t)(COUNT & 0xff);
    bytes[61] = (uint8_t)(COUNT >> 8);
    bytes[62] = 1;
    memcpy(bytes + NAMES, names, sizeof names);
    memcpy(bytes + TEXT, before, sizeof before - 1);
    memset(bytes + TEXT + sizeof before - 1, 'a', NAME);
    bytes[TEXT + text_size - 1] = '\n';
    put_section(bytes + table + 64, 0, TYPE_STRTAB, NAMES, sizeof names);
    put_section(bytes + table + 128, 1, TYPE_ZE_INFO, TEXT, text_size);
    for (size_t i = 3; i < COUNT; i++)
        put_section(bytes + table + i * 64, 10, TYPE_PROGBITS, NAMES, 4);
    const clock_t start = clock();
    decode(&r, bytes, table + (size_t)COUNT * 64);
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 10);
    assert_int_equal(r.status, DEVIMG_MALFORMED);
    assert_non_null(strstr(r.err.text, "16777216 bytes: at most 65536"));
    assert_int_equal(r.sink.kernels.count, 0);
    release(&r);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(notes_give_families_version_and_ip),
        cmocka_unit_test(reserved_bits_of_the_config_are_left_out),
        cmocka_unit_test(config_of_wrong_size_is_malformed),
        cmocka_unit_test(note_past_its_section_is_truncated),
        cmocka_unit_test(last_note_needs_no_padding),
        cmocka_unit_test(notes_of_another_owner_say_nothing),
        cmocka_unit_test(second_section_of_notes_is_malformed),
        cmocka_unit_test(note_sections_of_other_names_are_not_read),
        cmocka_unit_test(elf32_reads_like_elf64),
        cmocka_unit_test(code_sections_count_kernels),
        cmocka_unit_test(old_types_give_a_family_in_the_machine),
        cmocka_unit_test(flag_15_makes_the_machine_a_core_family),
        cmocka_unit_test(notes_come_before_the_machine),
        cmocka_unit_test(section_ze_info_makes_a_zebin),
        cmocka_unit_test(other_files_are_no_zebin),
        cmocka_unit_test(code_size_is_that_of_the_kernels_section),
        cmocka_unit_test(missing_ze_info_is_malformed),
        cmocka_unit_test(section_past_the_end_is_truncated),
        cmocka_unit_test(wrong_tables_of_sections_are_refused),
        cmocka_unit_test(sections_without_names_are_not_supported),
        cmocka_unit_test(file_cut_at_any_byte_never_reads_past_it),
        cmocka_unit_test(names_of_any_length_take_little_time),
        cmocka_unit_test(long_kernel_name_is_refused_in_little_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
