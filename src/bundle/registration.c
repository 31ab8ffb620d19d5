/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does host code hand a descriptor to __sycl_register_lib? The wrapper writes a constructor that
 * loads the descriptor's address and calls it; it stands in .init_array (or .ctors), on Windows in
 * what objects call .CRT$XC. What the instructions are: registration_<machine>.c.
 *
 * Yes: a constructor does just that, instruction by instruction, in a file that knows the function.
 * Unknown: other code, or a pointer in data, names the descriptor: a call may come of it. No:
 * nothing names it, or there is no __sycl_register_lib.
 */
#include <string.h>

#include "bundle/registration.h"

static const char register_name[] = "__sycl_register_lib";
static const char imported_name[] = "__imp___sycl_register_lib"; /* objects of Windows */
static const char initterm_name[] = "_initterm";
enum { CONSTRUCTOR_SIZE = 160, SHT_INIT_ARRAY = 14 };

void dvi_registration_mark(const struct dvi_registration *r, uint64_t addr,
                           enum devimg_answer answer)
{
    struct dvi_descriptor *d = dvi_descriptor_at(r->descriptors, r->count, addr);
    if (d != NULL && d->registered != DEVIMG_YES)
        d->registered = answer;
}

static const struct dvi_registration_machine *machine_of(const struct dvi_object *object)
{
    static const struct dvi_registration_machine *const machines[] = {
        &dvi_registration_x86_64,
        &dvi_registration_aarch64,
    };
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++)
        if (object->machine != NULL && strcmp(object->machine, machines[i]->name) == 0)
            return machines[i];
    return NULL;
}

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

/* The linker of Windows sorts ".CRT$XCA" to ".CRT$XCZ", and start-up code calls what lies between. */
static bool is_constructor_table(const struct dvi_object *o, const struct dvi_section *section)
{
    if (o->kind == DEVIMG_KIND_PE) /* by code alone */
        return false;
    return (o->kind == DEVIMG_KIND_ELF && section->type == SHT_INIT_ARRAY) ||
           dvi_starts_with(section->name, ".init_array", 11) ||
           dvi_starts_with(section->name, ".ctors", 6) ||
           (o->kind == DEVIMG_KIND_COFF && dvi_starts_with(section->name, ".CRT$XC", 7));
}

/* The constructors of a file while they are followed. */
struct following {
    const struct dvi_registration *r;
    const struct dvi_registration_machine *machine;
    uint64_t left;      /* bytes of tables: they may overlap */
    uint64_t code_left; /* and of code: many entries may name one function */
};

static void follow_one(struct following *f, uint64_t function)
{
    const struct dvi_object *o = f->r->object;
    const struct dvi_section *host = dvi_object_section_of(o, function);
    if (host == NULL || !host->executable)
        return;
    const struct dvi_view code = dvi_head(dvi_object_from(o, function), CONSTRUCTOR_SIZE);
    if (code.size > f->code_left)
        return;
    f->code_left -= code.size;
    f->machine->follow(f->r, code, function);
}

/* A table of addresses of functions. */
static void follow_table(void *context, uint64_t begin, uint64_t end)
{
    struct following *f = context;
    const struct dvi_object *o = f->r->object;
    const struct dvi_view table =
        dvi_head(dvi_object_from(o, begin), end > begin ? end - begin : 0);
    if (table.size > f->left)
        return;
    f->left -= table.size;
    for (size_t at = 0; at + 8 <= table.size; at += 8) {
        const struct dvi_pointer *p = dvi_object_pointer_at(o, begin + at);
        follow_one(f, p != NULL ? p->value : dvi_peek64(table, at));
    }
}

/* A linked file of Windows: its constructors lie between two addresses that start-up code hands to
 * _initterm of the C library. */
static void follow_tables_of_code(struct following *f)
{
    const struct dvi_object *o = f->r->object;
    uint64_t left = o->file.size; /* sections may overlap */
    for (size_t i = 0; i < o->section_count; i++) {
        const struct dvi_section *s = &o->sections[i];
        if (!s->executable || s->data.size > left)
            continue;
        left -= s->data.size;
        f->machine->tables(f->r, s->data, s->addr, follow_table, f);
    }
}

/* Follow each constructor. */
static void scan_constructors(const struct dvi_registration *r,
                              const struct dvi_registration_machine *machine)
{
    enum { TIMES = 4 };
    const struct dvi_object *o = r->object;
    struct following f = { .r = r,
                           .machine = machine,
                           .left = o->file.size,
                           .code_left = (uint64_t)o->file.size * TIMES };
    for (size_t i = 0; i < o->section_count; i++)
        if (is_constructor_table(o, &o->sections[i]))
            follow_table(&f, o->sections[i].addr, o->sections[i].addr + o->sections[i].data.size);
    if (o->kind == DEVIMG_KIND_PE && o->has_entry && r->initterm_slot != 0 &&
        machine->tables != NULL)
        follow_tables_of_code(&f);
}

static bool all_found(const struct dvi_registration *r)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->descriptors[i].registered != DEVIMG_YES)
            return false;
    return true;
}

/* A table in data, or a GOT slot, that code may read. */
static void mark_pointed(const struct dvi_registration *r)
{
    const struct dvi_object *o = r->object;
    for (size_t i = 0; i < o->pointer_count; i++)
        if (dvi_registration_in_reach(r, o->pointers[i].value))
            dvi_registration_mark(r, o->pointers[i].value, DEVIMG_MAYBE);
}

/* The same at a fixed address, where such words have no relocations. */
static void scan_words(const struct dvi_registration *r, const struct dvi_section *section)
{
    for (uint64_t at = -section->addr & 7; at + 8 <= section->data.size; at += 8) {
        const uint64_t word = dvi_peek64(section->data, at);
        if (dvi_registration_in_reach(r, word))
            dvi_registration_mark(r, word, DEVIMG_MAYBE);
    }
}

static void scan_everything(const struct dvi_registration *r,
                            const struct dvi_registration_machine *machine)
{
    const struct dvi_object *o = r->object;
    uint64_t left = o->file.size; /* sections may overlap; past it nothing is sure */
    for (size_t i = 0; i < o->section_count; i++) {
        const struct dvi_section *section = &o->sections[i];
        const bool is_data = !section->executable && !section->unmapped && section->addr != 0;
        if (!section->executable && !(is_data && o->fixed_address))
            continue;
        if (section->data.size > left) {
            for (size_t d = 0; d < r->count; d++)
                dvi_registration_mark(r, r->descriptors[d].addr, DEVIMG_MAYBE);
            return;
        }
        left -= section->data.size;
        if (section->executable)
            machine->scan(r, section->data, section->addr);
        else
            scan_words(r, section);
    }
    mark_pointed(r);
}

static bool is_register(struct dvi_view name_bytes)
{
    /* with its NUL: the whole name, not one that starts like it */
    return dvi_starts_with(name_bytes, register_name, sizeof register_name) ||
           dvi_starts_with(name_bytes, imported_name, sizeof imported_name);
}

/* What symbols tell of the two functions. */
struct known {
    bool is_pe;
    bool registers;
    uint64_t slot, initterm_slot;
};

static bool visit_symbol(void *context, const struct dvi_symbol *symbol)
{
    struct known *known = context;
    if (is_register(symbol->name_bytes)) {
        known->registers = true;
        known->slot = symbol->slot != 0 ? symbol->slot : known->slot;
    }
    if (symbol->slot != 0 &&
        dvi_starts_with(symbol->name_bytes, initterm_name, sizeof initterm_name))
        known->initterm_slot = symbol->slot;
    return !known->registers || known->is_pe; /* there, more is looked for */
}

/* Does a symbol table know the function? MAYBE: it was stripped of what would tell, since the
 * runtime may be linked in and hidden. */
static enum devimg_answer read_known(const struct dvi_object *object, struct known *known)
{
    (void)dvi_object_each_symbol(object, DVI_SYMBOLS_DYNAMIC, visit_symbol, known);
    if (known->registers)
        return DEVIMG_YES;
    const bool has_static = dvi_object_each_symbol(object, DVI_SYMBOLS_STATIC, visit_symbol, known);
    if (known->registers)
        return DEVIMG_YES;
    return has_static ? DEVIMG_NO : DEVIMG_MAYBE;
}

static void mark_all(const struct dvi_registration *r, enum devimg_answer answer)
{
    for (size_t i = 0; i < r->count; i++)
        r->descriptors[i].registered = answer;
}

/* Another object may name a descriptor that is no local symbol. */
static bool visit_shared(void *context, const struct dvi_symbol *symbol)
{
    const struct dvi_registration *r = context;
    if (symbol->defined && !symbol->local && dvi_registration_in_reach(r, symbol->addr))
        dvi_registration_mark(r, symbol->addr, DEVIMG_MAYBE);
    return true;
}

uint64_t dvi_registration_value(const struct dvi_registration *r, uint64_t addr)
{
    const struct dvi_code_reference *reference = dvi_object_reference_at(r->object, addr);
    return reference != NULL && !reference->external ? reference->value : 0;
}

bool dvi_registration_leads(const struct dvi_registration *r, uint64_t addr)
{
    const struct dvi_code_reference *reference = dvi_object_reference_at(r->object, addr);
    return reference != NULL && reference->external && is_register(reference->name_bytes);
}

/* In an object, relocations name what code uses. */
static enum devimg_status read_relocatable(const struct dvi_registration *r,
                                           const struct dvi_registration_machine *machine,
                                           struct devimg_error *err)
{
    const struct dvi_object *o = r->object;
    DVI_TRY(dvi_object_references(r->object, err));
    scan_constructors(r, machine);
    for (size_t i = 0; i < o->reference_count; i++)
        if (!o->references[i].external)
            dvi_registration_mark(r, o->references[i].value, DEVIMG_MAYBE);
    mark_pointed(r);
    return DEVIMG_OK;
}

/* Is there all that could tell of a call? */
static bool is_whole(const struct dvi_object *o)
{
    for (size_t i = 0; i < o->section_count; i++)
        if (o->sections[i].executable && o->sections[i].data.size < o->sections[i].size)
            return false; /* code that is made at run time, or cut off */
    return !o->symbols_partial && !o->pointers_partial;
}

enum devimg_status dvi_registration_read(struct dvi_object *object,
                                         struct dvi_descriptor *descriptors, size_t count,
                                         struct devimg_error *err)
{
    const bool is_pe = object->kind == DEVIMG_KIND_PE;
    struct known seen = { .is_pe = is_pe };
    const enum devimg_answer known = read_known(object, &seen);
    const struct dvi_registration_machine *machine = machine_of(object);
    const bool is_followed = machine != NULL && (!is_pe || machine->tables != NULL);
    struct dvi_registration r = {
        .object = object,
        .descriptors = descriptors,
        .count = count,
        /* "strip --discard-all" leaves a symbol table without the names of hidden functions */
        .handed_over =
            known == DEVIMG_YES && (!is_pe || seen.slot != 0) ? DEVIMG_YES : DEVIMG_MAYBE,
        .got = got_addr(object),
        .slot = seen.slot,
        .initterm_slot = seen.initterm_slot,
    };
    mark_all(&r,
             is_whole(object) && (known == DEVIMG_NO || is_followed) ? DEVIMG_NO : DEVIMG_MAYBE);
    if (!object->is_linked)
        (void)dvi_object_each_symbol(object, DVI_SYMBOLS_STATIC, visit_shared, &r);
    if (machine == NULL || (known == DEVIMG_NO && !object->is_linked))
        return DEVIMG_OK;
    if (!object->is_linked)
        return read_relocatable(&r, machine, err);
    scan_constructors(&r, machine);
    if (known != DEVIMG_NO && !all_found(&r))
        scan_everything(&r, machine);
    return DEVIMG_OK;
}
