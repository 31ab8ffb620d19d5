/* SPDX-License-Identifier: Apache-2.0 */
/* Relocations of COFF objects: the places that hold addresses, and references of code. Layouts and
 * sources: coff.c. */
#include "object/coff.h"

#include <inttypes.h>

enum { RELOCATION_SIZE = 10 };

/* How a field holds the address of its symbol. */
enum use {
    USE_NONE,
    USE_POINTER,  /* as a word: the addend stands there */
    USE_FIELD,    /* in 4 bytes, the addend too */
    USE_PAGE,     /* adr, adrp: the addend in 21 bits */
    USE_OFFSET,   /* add: the addend in 12 bits */
    USE_NO_ADDEND /* a branch; a load, whose offset counts in words */
};

/* From the first type to the last one. */
static const struct {
    uint16_t machine, first, last;
    enum use use;
} uses[] = {
    { COFF_AMD64, 1, 1, USE_POINTER },   /* IMAGE_REL_AMD64_ADDR64 */
    { COFF_AMD64, 2, 3, USE_FIELD },     /* _ADDR32, _ADDR32NB */
    { COFF_AMD64, 4, 9, USE_FIELD },     /* _REL32, _REL32_1 to _5: counted from behind */
    { COFF_I386, 6, 6, USE_POINTER },    /* IMAGE_REL_I386_DIR32 */
    { COFF_I386, 7, 7, USE_FIELD },      /* _DIR32NB */
    { COFF_I386, 20, 20, USE_FIELD },    /* _REL32 */
    { COFF_ARM64, 2, 2, USE_FIELD },     /* _ADDR32NB */
    { COFF_ARM64, 3, 3, USE_NO_ADDEND }, /* IMAGE_REL_ARM64_BRANCH26 */
    { COFF_ARM64, 4, 5, USE_PAGE },      /* _PAGEBASE_REL21, _REL21 */
    { COFF_ARM64, 6, 6, USE_OFFSET },    /* _PAGEOFFSET_12A */
    { COFF_ARM64, 7, 7, USE_NO_ADDEND }, /* _PAGEOFFSET_12L */
    { COFF_ARM64, 14, 14, USE_POINTER }, /* _ADDR64 */
};

static uint16_t family_of(uint16_t machine)
{
    return machine == COFF_ARM64EC || machine == COFF_ARM64X ? COFF_ARM64 : machine;
}

static enum use use_of(uint16_t machine, uint16_t type)
{
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
        if (uses[i].machine == family_of(machine) && type >= uses[i].first && type <= uses[i].last)
            return uses[i].use;
    return USE_NONE;
}

static bool knows_machine(uint16_t machine)
{
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
        if (uses[i].machine == family_of(machine))
            return true;
    return false;
}

/* One section's relocations. */
struct walk {
    struct dvi_object *o;
    const struct dvi_coff *coff;
    const struct dvi_section *section;
    struct dvi_view table;
    size_t count;
    uint64_t bad; /* that could not be read; the first of them is told: */
    enum devimg_status bad_status;
    uint64_t bad_at; /* in `table` */
    const char *bad_what;
};

static size_t complain(struct walk *w, size_t index, const char *what)
{
    if (w->bad++ == 0) {
        w->bad_status = DEVIMG_MALFORMED;
        w->bad_at = (uint64_t)index * RELOCATION_SIZE;
        w->bad_what = what;
    }
    return 0;
}

/* The relocations of section `index`, as many as the file has. */
static struct walk walk_of(struct dvi_object *o, size_t index)
{
    const struct dvi_coff *coff = o->state;
    struct walk w = { .o = o, .coff = coff, .section = &o->sections[index] };
    const struct dvi_coff_header h = dvi_coff_header_at(coff, index);
    uint64_t count = h.relocation_count;
    w.table = dvi_from(o->file, h.relocations_at);
    if ((h.flags & SCN_MANY_RELOCATIONS) != 0 && count == 0xffff && w.table.size > 0) {
        count = dvi_peek32(w.table, 0); /* with this one, which is none */
        if (count == 0)
            (void)complain(&w, 0, "their count is 0");
        w.table = dvi_from(w.table, RELOCATION_SIZE);
        count -= count > 0;
    }
    const uint64_t fit = count > 0 && h.relocations_at != 0 ? w.table.size / RELOCATION_SIZE : 0;
    w.count = (size_t)(count < fit ? count : fit);
    if (count > fit) {
        w.bad = count - fit;
        w.bad_status = DEVIMG_TRUNCATED;
        w.bad_at = fit * RELOCATION_SIZE;
        w.bad_what = "they go on past the file";
    }
    return w;
}

/* Where what was lost pointed at, nobody can tell. */
static void report_walk(const struct walk *w)
{
    struct devimg_error found;
    if (w->bad == 0)
        return;
    (void)dvi_fail(&found, w->bad_status, w->table, w->bad_at,
                   "relocations of section \"%.*s\": %s (%" PRIu64 " such)",
                   (int)w->section->name.size, (const char *)w->section->name.data, w->bad_what,
                   w->bad);
    dvi_object_damage(w->o, &found);
    w->o->pointers_partial = true;
}

/* What the field at `bytes` adds to the symbol. */
static uint64_t addend_at(const struct walk *w, struct dvi_view bytes, enum use use)
{
    const uint32_t field = dvi_peek32(bytes, 0);
    switch (use) {
    case USE_POINTER: return w->o->pointer_size == 8 ? dvi_peek64(bytes, 0) : field;
    case USE_FIELD: return dvi_sign_extended(field, 32);
    case USE_PAGE: return dvi_sign_extended((field >> 5 & 0x7ffff) << 2 | (field >> 29 & 3), 21);
    case USE_OFFSET: return field >> 10 & 0xfff;
    default: return 0;
    }
}

/* A relocation that gives an address. */
struct relocation {
    uint64_t addr, value; /* value: DVI_EXTERNAL where it is of another file */
    struct dvi_view name_bytes;
};

/* 0: it gives none, or cannot be read; then that is counted. */
static size_t read_relocation(struct walk *w, size_t index, bool pointers_only,
                              struct relocation *out)
{
    const uint8_t *p = w->table.data + index * RELOCATION_SIZE;
    const uint32_t at = dvi_bytes32(p), symbol_index = dvi_bytes32(p + 4);
    const enum use use = use_of(w->coff->machine, dvi_bytes16(p + 8));
    const size_t size = use == USE_POINTER ? w->o->pointer_size : 4;
    uint64_t place = 0;
    if (use == USE_NONE || (pointers_only && use != USE_POINTER))
        return 0;
    if (!dvi_fits(w->section->data, at, size))
        return complain(w, index, "its place has no bytes in the file");
    if (symbol_index >= dvi_coff_symbol_count(w->coff))
        return complain(w, index, "there is no such symbol");
    const struct dvi_coff_symbol symbol = dvi_coff_symbol_at(w->coff, symbol_index);
    *out = (struct relocation){ .addr = w->section->addr + at, .value = DVI_EXTERNAL };
    bool fixed = false;
    out->name_bytes = dvi_coff_symbol_name(w->coff, &symbol, &fixed);
    if (dvi_coff_place(w->o, &symbol, &place)) {
        out->value = place + addend_at(w, dvi_from(w->section->data, at), use);
        if (w->o->pointer_size == 4)
            out->value = (uint32_t)out->value;
    }
    return 1;
}

/* Tables of code, or of data that the linker keeps. Debug information has no addresses that are
 * looked for. */
static bool is_wanted(const struct dvi_section *s, bool code)
{
    return (s->type & (SCN_INFO | SCN_REMOVE | SCN_DISCARDABLE)) == 0 && s->executable == code;
}

/* How many relocations the sections have, each in bytes of its own: tables that overlap count as
 * none, and are reported. What those of an unknown machine mean, nobody can tell. */
static size_t count_relocations(struct dvi_object *o, bool code)
{
    uint64_t total = 0;
    for (size_t i = 0; i < o->section_count; i++)
        total += is_wanted(&o->sections[i], code) ? walk_of(o, i).count : 0;
    if (total > 0 && !knows_machine(((const struct dvi_coff *)o->state)->machine))
        o->pointers_partial = true;
    if (total <= o->file.size / RELOCATION_SIZE)
        return (size_t)total;
    struct devimg_error found;
    (void)dvi_fail(&found, DEVIMG_MALFORMED, o->file, 0,
                   "relocations: tables of %" PRIu64 " entries overlap", total);
    dvi_object_damage(o, &found);
    o->pointers_partial = true;
    return 0;
}

enum devimg_status dvi_coff_read_pointers(struct dvi_object *o, struct devimg_error *err)
{
    const size_t most = count_relocations(o, false);
    size_t count = 0;
    if (most == 0)
        return DEVIMG_OK;
    struct dvi_pointer *pointers = dvi_arena_array(o->arena, most, sizeof *pointers);
    if (pointers == NULL)
        return dvi_fail_memory(err, o->file.source);
    for (size_t i = 0; i < o->section_count; i++) {
        if (!is_wanted(&o->sections[i], false))
            continue;
        struct walk w = walk_of(o, i);
        struct relocation r = { 0 };
        for (size_t k = 0; k < w.count && count < most; k++)
            if (read_relocation(&w, k, true, &r) > 0)
                pointers[count++] = (struct dvi_pointer){ r.addr, r.value };
        report_walk(&w);
    }
    if (!dvi_sort_by_addr(pointers, count, sizeof *pointers))
        return dvi_fail_memory(err, o->file.source);
    o->pointers = pointers;
    o->pointer_count = count;
    return DEVIMG_OK;
}

enum devimg_status dvi_coff_read_references(struct dvi_object *o, struct devimg_error *err)
{
    const size_t most = count_relocations(o, true);
    size_t count = 0;
    if (most == 0)
        return DEVIMG_OK;
    struct dvi_code_reference *references = dvi_arena_array(o->arena, most, sizeof *references);
    if (references == NULL)
        return dvi_fail_memory(err, o->file.source);
    for (size_t i = 0; i < o->section_count; i++) {
        if (!is_wanted(&o->sections[i], true))
            continue;
        struct walk w = walk_of(o, i);
        struct relocation r = { 0 };
        for (size_t k = 0; k < w.count && count < most; k++) {
            if (read_relocation(&w, k, false, &r) == 0)
                continue;
            const bool external = r.value == DVI_EXTERNAL;
            references[count++] = (struct dvi_code_reference){ .addr = r.addr,
                                                               .value = external ? 0 : r.value,
                                                               .external = external,
                                                               .name_bytes = r.name_bytes };
        }
        report_walk(&w);
    }
    if (!dvi_sort_by_addr(references, count, sizeof *references))
        return dvi_fail_memory(err, o->file.source);
    o->references = references;
    o->reference_count = count;
    return DEVIMG_OK;
}
