/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does host code hand a descriptor to __sycl_register_lib? The wrapper writes a constructor that
 * loads the descriptor's address and calls it; it stands in .init_array (or .ctors).
 *
 *   x86-64:   lea rdi, [rip + d]; call __sycl_register_lib@plt       (mov edi, imm32 when not PIC)
 *   AArch64:  adrp x0, page; add x0, x0, #low12; bl ...
 *
 * Yes: a constructor does just that, instruction by instruction, in a file that knows the function.
 * Unknown: other code, or a pointer in data, names the descriptor: a call may come of it. No:
 * nothing names it, or there is no __sycl_register_lib.
 */
#include <string.h>

#include "bundle/dpcpp.h"

static const char register_name[] = "__sycl_register_lib";
enum { CONSTRUCTOR_SIZE = 160, SHT_INIT_ARRAY = 14 };

struct search {
    struct dvi_object *object;
    struct dvi_descriptor *descriptors;
    size_t count;
    enum devimg_answer handed_over; /* what a call by a constructor means: YES, or MAYBE */
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

/* --- x86-64 --- */

/* Where offsets from the global offset table count from; 0: there is none. */
static uint64_t got_addr(const struct dvi_object *object)
{
    uint64_t addr = 0;
    for (size_t i = 0; i < object->section_count; i++) {
        if (dvi_equals(object->sections[i].name, ".got.plt"))
            return object->sections[i].addr;
        if (dvi_equals(object->sections[i].name, ".got"))
            addr = object->sections[i].addr;
    }
    return addr;
}

/* Every 4-byte field is tried as a displacement and, at a fixed address, as an absolute one. */
static void scan_x86(const struct search *s, struct dvi_view code, uint64_t addr)
{
    const uint64_t got = got_addr(s->object);
    for (size_t i = 0; i + 4 <= code.size; i++) {
        const uint32_t field = dvi_peek32(code, i);
        const uint64_t relative = addr + i + 4 + (uint64_t)(int64_t)(int32_t)field;
        if (in_reach(s, relative))
            mark(s, relative, DEVIMG_MAYBE);
        else if (s->object->fixed_address && in_reach(s, field))
            mark(s, field, DEVIMG_MAYBE);
        const uint64_t wide = dvi_peek64(code, i); /* -mcmodel=large: absolute, or from the GOT */
        if (in_reach(s, wide))
            mark(s, wide, DEVIMG_MAYBE);
        else if (in_reach(s, wide + got))
            mark(s, wide + got, DEVIMG_MAYBE);
    }
}

/* The few instructions that constructors are made of. */
enum step { STEP_OTHER, STEP_LOADS, STEP_CALLS, STEP_JUMPS, STEP_ENDS };

/* Decode one instruction at `at`: its size (0: none of those known), and what it does. */
static size_t step_x86(struct dvi_view code, size_t at, enum step *step)
{
    uint8_t b[8] = { 0 };
    const size_t left = code.size - at;
    memcpy(b, code.data + at, left < sizeof b ? left : sizeof b);
    *step = STEP_OTHER;
    if (dvi_peek32(code, at) == 0xfa1e0ff3) /* endbr64 */
        return 4;
    if (b[0] == 0xe8 || (b[0] == 0xf2 && b[1] == 0xe8) || (b[0] == 0xff && b[1] == 0x15)) {
        *step = STEP_CALLS;
        return b[0] == 0xe8 ? 5 : 6;
    }
    if (b[0] == 0xe9 || b[0] == 0xeb || (b[0] == 0xff && b[1] == 0x25)) {
        *step = STEP_JUMPS;
        return b[0] == 0xeb ? 2 : b[0] == 0xe9 ? 5 : 6;
    }
    if (b[0] == 0xc3 || b[0] == 0xcc) {
        *step = STEP_ENDS;
        return 1;
    }
    if (b[0] >= 0x50 && b[0] <= 0x5f) /* push, pop */
        return 1;
    if (b[0] >= 0xb8 && b[0] <= 0xbf) { /* mov r32, imm32 */
        *step = STEP_LOADS;
        return 5;
    }
    if (b[0] == 0x41 && b[1] >= 0x50 && b[1] <= 0x5f)
        return 2;
    if (b[0] == 0x31 && b[1] >= 0xc0) /* xor r32, r32 */
        return 2;
    if ((b[0] & 0xfb) != 0x48)
        return 0;
    if (b[1] == 0x8d && (b[2] & 0xc7) == 0x05) { /* lea r64, [rip + d32] */
        *step = STEP_LOADS;
        return 7;
    }
    if (b[1] == 0xc7 && b[2] >= 0xc0 && b[2] <= 0xc7) { /* mov r64, imm32 */
        *step = STEP_LOADS;
        return 7;
    }
    if (b[1] == 0x89 && b[2] >= 0xc0) /* mov r64, r64 */
        return 3;
    if (b[1] == 0x83 && b[2] >= 0xc0) /* add, sub r64, imm8 */
        return 4;
    return b[1] == 0x81 && b[2] >= 0xc0 ? 7 : 0;
}

/* Follow a constructor to its end, which is returned; what it loads before a call is what it hands
 * over. */
static uint64_t follow_x86(const struct search *s, struct dvi_view code, uint64_t addr)
{
    uint64_t loaded = 0;
    enum step step = STEP_OTHER;
    for (size_t at = 0, size; at < code.size; at += size) {
        size = step_x86(code, at, &step);
        if (size == 0 || size > code.size - at || step == STEP_ENDS)
            return addr + at;
        if (step == STEP_LOADS && size == 7 && code.data[at + 1] == 0x8d)
            loaded = addr + at + 7 + (uint64_t)(int64_t)(int32_t)dvi_peek32(code, at + 3);
        else if (step == STEP_LOADS)
            loaded = dvi_peek32(code, at + size - 4);
        if (step == STEP_CALLS || step == STEP_JUMPS) {
            mark(s, loaded, s->handed_over);
            loaded = 0;
        }
        if (step == STEP_JUMPS)
            return addr + at + size;
    }
    return addr + code.size;
}

/* --- AArch64 --- */

static uint64_t sign_extended(uint64_t value, unsigned bits)
{
    const uint64_t sign = (uint64_t)1 << (bits - 1);
    return (value ^ sign) - sign;
}

enum { INSTRUCTION = 4, WITHIN = 8 };

/* -mcmodel=large: `movz` sets 16 bits of a register, each `movk` right behind it 16 others. */
static uint64_t moved_aarch64(struct dvi_view code, size_t at)
{
    const uint32_t movk = 0xf2800000;
    const uint32_t first = dvi_peek32(code, at);
    uint64_t value = 0;
    for (size_t i = at; i + 4 <= code.size && i < at + (size_t)4 * INSTRUCTION; i += INSTRUCTION) {
        const uint32_t word = dvi_peek32(code, i);
        if (i > at && ((word & 0xff800000) != movk || (word & 31) != (first & 31)))
            break;
        value |= (uint64_t)(word >> 5 & 0xffff) << (word >> 21 & 3) * 16;
    }
    return value;
}

/* The address that the instruction at `at` makes; 0: none. `adrp` sets a page in a register; the
 * `add` that completes it follows within a few instructions. */
static uint64_t address_aarch64(struct dvi_view code, uint64_t addr, size_t at)
{
    const uint32_t adr = 0x10000000, adrp = 0x90000000, add = 0x91000000, movz = 0xd2800000;
    const uint32_t word = dvi_peek32(code, at);
    const uint64_t immediate = sign_extended((word >> 5 & 0x7ffff) << 2 | (word >> 29 & 3), 21);
    if ((word & 0xff800000) == movz)
        return moved_aarch64(code, at);
    if ((word & 0x9f000000) == adr)
        return addr + at + immediate;
    if ((word & 0x9f000000) != adrp)
        return 0;
    const uint64_t page = ((addr + at) & ~(uint64_t)0xfff) + (immediate << 12);
    for (size_t i = at + INSTRUCTION; i + 4 <= code.size && i <= at + INSTRUCTION * WITHIN;
         i += 4) {
        const uint32_t next = dvi_peek32(code, i);
        if ((next & 0xffc00000) == add && (next >> 5 & 31) == (word & 31))
            return page + (next >> 10 & 0xfff);
    }
    return 0;
}

/* What `add` makes of the page that the `adrp` at `at` sets, also in two steps: GCC's section
 * anchors keep the address of one constant and count others from it. */
static void scan_page(const struct search *s, struct dvi_view code, uint64_t addr, size_t at)
{
    enum { REACH = 64 * INSTRUCTION };
    const uint32_t adrp = 0x90000000, add = 0x91000000;
    const uint32_t first = dvi_peek32(code, at);
    const uint64_t immediate = sign_extended((first >> 5 & 0x7ffff) << 2 | (first >> 29 & 3), 21);
    uint64_t values[32] = { 0 };
    uint32_t known = (uint32_t)1 << (first & 31);
    values[first & 31] = ((addr + at) & ~(uint64_t)0xfff) + (immediate << 12);
    for (size_t i = at + INSTRUCTION; i + 4 <= code.size && i <= at + REACH && known != 0;
         i += INSTRUCTION) {
        const uint32_t word = dvi_peek32(code, i);
        const uint32_t to = word & 31, from = word >> 5 & 31;
        if ((word & 0x9f000000) == adrp)
            known &= ~((uint32_t)1 << to);
        if ((word & 0xff800000) != add || (known >> from & 1) == 0)
            continue;
        const unsigned shift = (word >> 22 & 1) != 0 ? 12 : 0;
        values[to] = values[from] + ((uint64_t)(word >> 10 & 0xfff) << shift);
        known |= (uint32_t)1 << to;
        mark(s, values[to], DEVIMG_MAYBE);
    }
}

static void scan_aarch64(const struct search *s, struct dvi_view code, uint64_t addr)
{
    for (size_t at = -addr & 3; at + 4 <= code.size; at += INSTRUCTION) {
        const uint64_t literal = dvi_peek64(code, at); /* -mcmodel=large of GCC */
        if ((dvi_peek32(code, at) & 0x9f000000) == 0x90000000)
            scan_page(s, code, addr, at);
        else
            mark(s, address_aarch64(code, addr, at), DEVIMG_MAYBE);
        if (in_reach(s, literal))
            mark(s, literal, DEVIMG_MAYBE);
    }
}

static uint64_t follow_aarch64(const struct search *s, struct dvi_view code, uint64_t addr)
{
    uint64_t loaded = 0;
    for (size_t at = 0; at + 4 <= code.size; at += INSTRUCTION) {
        const uint32_t word = dvi_peek32(code, at);
        const uint64_t made = address_aarch64(code, addr, at);
        const bool calls = word >> 26 == 0x25, jumps = word >> 26 == 0x05; /* bl, b */
        if (made != 0)
            loaded = made;
        if (calls || jumps)
            mark(s, loaded, s->handed_over);
        if (jumps || word == 0xd65f03c0) /* ret */
            return addr + at + INSTRUCTION;
        if (calls)
            loaded = 0;
    }
    return addr + code.size;
}

typedef void scan_code(const struct search *s, struct dvi_view code, uint64_t addr);
typedef uint64_t follow_code(const struct search *s, struct dvi_view code, uint64_t addr);

struct scanner {
    const char *machine;
    follow_code *follow; /* one constructor */
    scan_code *scan;     /* any code */
};

static const struct scanner *scanner_of(const struct dvi_object *object)
{
    static const struct scanner scanners[] = {
        { "x86_64", follow_x86, scan_x86 },
        { "aarch64", follow_aarch64, scan_aarch64 },
    };
    for (size_t i = 0; i < sizeof scanners / sizeof scanners[0]; i++)
        if (object->machine != NULL && strcmp(object->machine, scanners[i].machine) == 0)
            return &scanners[i];
    return NULL;
}

/* A function that is called when the file is loaded. */
struct constructor {
    uint64_t addr, end; /* as far as it was followed */
};
typedef DVI_LIST(struct constructor) constructor_list;

static bool is_constructor_table(const struct dvi_section *section)
{
    return section->type == SHT_INIT_ARRAY || dvi_starts_with(section->name, ".init_array", 11) ||
           dvi_starts_with(section->name, ".ctors", 6);
}

/* Follow each constructor; `out`: keep where they stand (NULL: do not). */
static enum devimg_status scan_constructors(const struct search *s, follow_code *follow,
                                            constructor_list *out, struct devimg_error *err)
{
    struct dvi_object *o = s->object;
    uint64_t left = o->file.size; /* tables may overlap */
    for (size_t i = 0; i < o->section_count; i++) {
        const struct dvi_section *table = &o->sections[i];
        if (!is_constructor_table(table))
            continue;
        if (table->data.size > left)
            return DEVIMG_OK;
        left -= table->data.size;
        for (size_t at = 0; at + 8 <= table->data.size; at += 8) {
            const struct dvi_pointer *p = dvi_object_pointer_at(o, table->addr + at);
            const uint64_t function = p != NULL ? p->value : dvi_peek64(table->data, at);
            const struct dvi_section *host = dvi_object_section_of(o, function);
            if (host == NULL || !host->executable)
                continue;
            struct dvi_view code = dvi_object_from(o, function);
            if (code.size > CONSTRUCTOR_SIZE)
                code.size = CONSTRUCTOR_SIZE;
            const uint64_t end = follow(s, code, function);
            if (out == NULL)
                continue;
            struct constructor *kept = DVI_ADD(out);
            if (kept == NULL)
                return dvi_fail_memory(err, o->file.source);
            *kept = (struct constructor){ function, end };
        }
    }
    return DEVIMG_OK;
}

static bool all_found(const struct search *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->descriptors[i].registered != DEVIMG_YES)
            return false;
    return true;
}

/* A table in data, or a GOT slot, that code may read. */
static void mark_pointed(const struct search *s)
{
    const struct dvi_object *o = s->object;
    for (size_t i = 0; i < o->pointer_count; i++)
        if (in_reach(s, o->pointers[i].value))
            mark(s, o->pointers[i].value, DEVIMG_MAYBE);
}

/* The same at a fixed address, where such words have no relocations. */
static void scan_words(const struct search *s, const struct dvi_section *section)
{
    for (uint64_t at = -section->addr & 7; at + 8 <= section->data.size; at += 8) {
        const uint64_t word = dvi_peek64(section->data, at);
        if (in_reach(s, word))
            mark(s, word, DEVIMG_MAYBE);
    }
}

static void scan_everything(const struct search *s, scan_code *scan)
{
    const struct dvi_object *o = s->object;
    uint64_t left = o->file.size; /* sections may overlap; past it nothing is sure */
    for (size_t i = 0; i < o->section_count; i++) {
        const struct dvi_section *section = &o->sections[i];
        const bool is_data = !section->executable && !section->unmapped && section->addr != 0;
        if (!section->executable && !(is_data && o->fixed_address))
            continue;
        if (section->data.size > left) {
            for (size_t d = 0; d < s->count; d++)
                mark(s, s->descriptors[d].addr, DEVIMG_MAYBE);
            return;
        }
        left -= section->data.size;
        if (section->executable)
            scan(s, section->data, section->addr);
        else
            scan_words(s, section);
    }
    mark_pointed(s);
}

static bool visit_name(void *context, const struct dvi_symbol *symbol)
{
    bool *found = context;
    /* with its NUL: the whole name, not one that starts like it */
    *found = dvi_starts_with(symbol->name_bytes, register_name, sizeof register_name);
    return !*found;
}

/* Does a symbol table know the function? MAYBE: it was stripped of what would tell, since the
 * runtime may be linked in and hidden. */
static enum devimg_answer knows_register(const struct dvi_object *object)
{
    bool found = false;
    (void)dvi_object_each_symbol(object, DVI_SYMBOLS_DYNAMIC, visit_name, &found);
    if (found)
        return DEVIMG_YES;
    const bool has_static = dvi_object_each_symbol(object, DVI_SYMBOLS_STATIC, visit_name, &found);
    if (found)
        return DEVIMG_YES;
    return has_static ? DEVIMG_NO : DEVIMG_MAYBE;
}

static void mark_all(const struct search *s, enum devimg_answer answer)
{
    for (size_t i = 0; i < s->count; i++)
        s->descriptors[i].registered = answer;
}

/* `list` is sorted by addr. */
static bool in_constructor(const constructor_list *list, uint64_t addr)
{
    size_t low = 0, high = list->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (list->items[middle].addr <= addr)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && addr < list->items[low - 1].end;
}

/* Is the descriptor that reference `i` loads handed to the function right behind it? */
static bool is_handed_over(const struct dvi_object *o, size_t i)
{
    enum { AHEAD = 3, NEAR = 32 };
    const struct dvi_code_reference *load = &o->references[i];
    for (size_t k = i + 1; k < o->reference_count && k <= i + AHEAD; k++) {
        const struct dvi_code_reference *call = &o->references[k];
        if (call->addr - load->addr > NEAR)
            return false;
        if (call->external)
            return dvi_starts_with(call->name_bytes, register_name, sizeof register_name);
    }
    return false;
}

/* In an object, relocations name what code uses: a descriptor, and right behind it the function
 * that it is handed to. */
static enum devimg_status read_relocatable(const struct search *s, follow_code *follow,
                                           struct devimg_error *err)
{
    const struct dvi_object *o = s->object;
    const struct search nothing = { .object = s->object }; /* displacements are not there yet */
    constructor_list constructors = { 0 };
    enum devimg_status status = dvi_object_references(s->object, err);
    if (status == DEVIMG_OK)
        status = scan_constructors(&nothing, follow, &constructors, err);
    if (status == DEVIMG_OK &&
        !dvi_sort_by_addr(constructors.items, constructors.count, sizeof *constructors.items))
        status = dvi_fail_memory(err, o->file.source);
    for (size_t i = 0; status == DEVIMG_OK && i < o->reference_count; i++) {
        const struct dvi_code_reference *load = &o->references[i];
        if (load->external || dvi_descriptor_at(s->descriptors, s->count, load->value) == NULL)
            continue;
        const bool sure = in_constructor(&constructors, load->addr) && is_handed_over(o, i);
        mark(s, load->value, sure ? DEVIMG_YES : DEVIMG_MAYBE);
    }
    mark_pointed(s);
    DVI_LIST_FREE(&constructors);
    return status;
}

enum devimg_status dvi_registration_read(struct dvi_object *object,
                                         struct dvi_descriptor *descriptors, size_t count,
                                         struct devimg_error *err)
{
    const enum devimg_answer known = knows_register(object);
    const struct scanner *scanner = scanner_of(object);
    /* "strip --discard-all" leaves a symbol table without the names of hidden functions */
    const struct search s = { object, descriptors, count,
                              known == DEVIMG_NO ? DEVIMG_MAYBE : known };
    mark_all(&s, known == DEVIMG_NO || scanner != NULL ? DEVIMG_NO : DEVIMG_MAYBE);
    if (scanner == NULL || (known == DEVIMG_NO && !object->is_linked))
        return DEVIMG_OK;
    if (!object->is_linked)
        return read_relocatable(&s, scanner->follow, err);
    DVI_TRY(scan_constructors(&s, scanner->follow, NULL, err));
    if (known != DEVIMG_NO && !all_found(&s))
        scan_everything(&s, scanner->scan);
    return DEVIMG_OK;
}
