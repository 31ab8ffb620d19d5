/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does host code hand a descriptor to __sycl_register_lib? The wrapper writes a constructor that
 * loads the descriptor's address and calls it; it stands in .init_array (or .ctors).
 *
 *   x86-64:   lea rdi, [rip + d]; call __sycl_register_lib@plt       (mov edi, imm32 when not PIC)
 *   AArch64:  adrp x0, page; add x0, x0, #low12; bl ...
 *
 * The constructors are looked at first; a descriptor that none of them names is then looked for in
 * all host code. Without an import of __sycl_register_lib nothing can register.
 */
#include "bundle/dpcpp.h"

#include <string.h>

static const char register_name[] = "__sycl_register_lib";
enum { CONSTRUCTOR_SIZE = 160, SHT_INIT_ARRAY = 14 };

struct search {
    struct dvi_object *object;
    struct dvi_descriptor *descriptors;
    size_t count;
};

static void mark(const struct search *s, uint64_t addr, enum devimg_answer answer)
{
    struct dvi_descriptor *d = dvi_descriptor_at(s->descriptors, s->count, addr);
    if (d != NULL && d->registered != DEVIMG_YES)
        d->registered = answer;
}

static bool in_reach(const struct search *s, uint64_t addr)
{
    return addr >= s->descriptors[0].addr && addr <= s->descriptors[s->count - 1].addr;
}

/* Every 4-byte field is tried as a displacement and as an absolute address. */
static void scan_x86(const struct search *s, struct dvi_view code, uint64_t addr)
{
    for (size_t i = 0; i + 4 <= code.size; i++) {
        const uint32_t field = dvi_peek32(code, i);
        const uint64_t relative = addr + i + 4 + (uint64_t)(int64_t)(int32_t)field;
        if (in_reach(s, relative))
            mark(s, relative, DEVIMG_YES);
        else if (in_reach(s, field))
            mark(s, field, DEVIMG_YES);
    }
}

static uint64_t sign_extended(uint64_t value, unsigned bits)
{
    const uint64_t sign = (uint64_t)1 << (bits - 1);
    return (value ^ sign) - sign;
}

/* `adrp` sets a page in a register; the `add` that completes it follows within a few instructions.
 */
static void scan_aarch64(const struct search *s, struct dvi_view code, uint64_t addr)
{
    enum { ADR = 0x10000000, ADRP = 0x90000000u, ADD = 0x91000000u, WITHIN = 8 };
    for (size_t i = -addr & 3; i + 4 <= code.size; i += 4) {
        const uint32_t word = dvi_peek32(code, i);
        const uint64_t immediate = sign_extended((word >> 5 & 0x7ffff) << 2 | (word >> 29 & 3), 21);
        if ((word & 0x9f000000u) == ADR)
            mark(s, addr + i + immediate, DEVIMG_YES);
        if ((word & 0x9f000000u) != ADRP)
            continue;
        const uint64_t page = ((addr + i) & ~(uint64_t)0xfff) + (immediate << 12);
        for (size_t j = i + 4; j + 4 <= code.size && j <= i + 4 * WITHIN; j += 4) {
            const uint32_t next = dvi_peek32(code, j);
            if ((next & 0xffc00000u) == ADD && (next >> 5 & 31) == (word & 31))
                mark(s, page + (next >> 10 & 0xfff), DEVIMG_YES);
        }
    }
}

typedef void scan_code(const struct search *s, struct dvi_view code, uint64_t addr);

static scan_code *scanner_of(const struct dvi_object *object)
{
    if (object->machine == NULL)
        return NULL;
    if (strcmp(object->machine, "x86_64") == 0)
        return scan_x86;
    return strcmp(object->machine, "aarch64") == 0 ? scan_aarch64 : NULL;
}

static void scan_constructors(const struct search *s, scan_code *scan)
{
    struct dvi_object *o = s->object;
    for (size_t i = 0; i < o->section_count; i++) {
        const struct dvi_section *table = &o->sections[i];
        if (table->type != SHT_INIT_ARRAY && !dvi_starts_with(table->name, ".init_array", 11) &&
            !dvi_starts_with(table->name, ".ctors", 6))
            continue;
        for (size_t at = 0; at + 8 <= table->data.size; at += 8) {
            const struct dvi_pointer *p = dvi_object_pointer_at(o, table->addr + at);
            const uint64_t function = p != NULL ? p->value : dvi_peek64(table->data, at);
            const struct dvi_section *host = dvi_object_section_of(o, function);
            if (host == NULL || !host->executable)
                continue;
            struct dvi_view code = dvi_object_from(o, function);
            if (code.size > CONSTRUCTOR_SIZE)
                code.size = CONSTRUCTOR_SIZE;
            scan(s, code, function);
        }
    }
}

static bool all_found(const struct search *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->descriptors[i].registered != DEVIMG_YES)
            return false;
    return true;
}

/* What the constructors do not name: all code, then data (a table or a GOT slot that code reads).
 */
static void scan_everything(const struct search *s, scan_code *scan)
{
    const struct dvi_object *o = s->object;
    for (size_t i = 0; i < o->section_count; i++)
        if (o->sections[i].executable)
            scan(s, o->sections[i].data, o->sections[i].addr);
    for (size_t i = 0; i < o->pointer_count; i++)
        if (in_reach(s, o->pointers[i].value))
            mark(s, o->pointers[i].value, DEVIMG_MAYBE);
}

static bool visit_name(void *context, const struct dvi_symbol *symbol)
{
    bool *found = context;
    /* with its NUL: the whole name, not one that starts like it */
    *found = dvi_starts_with(symbol->name_bytes, register_name, sizeof register_name);
    return !*found;
}

/* Does any symbol table know the function? MAYBE: there is no table that would. */
static enum devimg_answer knows_register(const struct dvi_object *object)
{
    bool found = false;
    const bool has_dynamic =
        dvi_object_each_symbol(object, DVI_SYMBOLS_DYNAMIC, visit_name, &found);
    if (found)
        return DEVIMG_YES;
    const bool has_static = dvi_object_each_symbol(object, DVI_SYMBOLS_STATIC, visit_name, &found);
    if (found)
        return DEVIMG_YES;
    return has_dynamic || has_static ? DEVIMG_NO : DEVIMG_MAYBE;
}

static void mark_all(const struct search *s, enum devimg_answer answer)
{
    for (size_t i = 0; i < s->count; i++)
        s->descriptors[i].registered = answer;
}

static enum devimg_status read_relocatable(const struct search *s, struct devimg_error *err)
{
    DVI_TRY(dvi_object_references(s->object, err));
    for (size_t i = 0; i < s->object->reference_count; i++)
        if (!s->object->references[i].external)
            mark(s, s->object->references[i].value, DEVIMG_YES);
    return DEVIMG_OK;
}

enum devimg_status dvi_registration_read(struct dvi_object *object,
                                         struct dvi_descriptor *descriptors, size_t count,
                                         struct devimg_error *err)
{
    const struct search s = { object, descriptors, count };
    const enum devimg_answer known = knows_register(object);
    mark_all(&s, known == DEVIMG_YES ? DEVIMG_NO : known);
    if (known != DEVIMG_YES)
        return DEVIMG_OK;
    if (!object->is_linked)
        return read_relocatable(&s, err);
    scan_code *scan = scanner_of(object);
    if (scan == NULL) {
        mark_all(&s, DEVIMG_MAYBE);
        return DEVIMG_OK;
    }
    scan_constructors(&s, scan);
    if (!all_found(&s))
        scan_everything(&s, scan);
    return DEVIMG_OK;
}
