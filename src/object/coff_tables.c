/* SPDX-License-Identifier: Apache-2.0 */
/* The section and symbol tables of COFF, which PE files have too. Layouts and sources: coff.c. */
#include "object/coff.h"

#include <inttypes.h>
#include <string.h>

enum { DERIVED_FUNCTION = 2 };

const char *dvi_coff_machine_name(uint16_t machine)
{
    switch (machine) {
    case COFF_I386: return "i386";
    case COFF_ARM: return "arm";
    case COFF_AMD64: return "x86_64";
    case COFF_ARM64:
    case COFF_ARM64EC:
    case COFF_ARM64X: return "aarch64";
    default: return NULL;
    }
}

/* A table, as many of its entries as the file has. */
static struct dvi_view take_table(struct dvi_object *o, const char *what, uint64_t at,
                                  uint64_t count, size_t entry_size)
{
    struct devimg_error found;
    const struct dvi_view rest = dvi_from(o->file, at);
    const uint64_t fit = rest.size / entry_size;
    if (count > fit) {
        (void)dvi_fail(&found, DEVIMG_TRUNCATED, o->file, at,
                       "%s: %" PRIu64 " entries of %zu bytes, %" PRIu64 " fit in the file", what,
                       count, entry_size, fit);
        dvi_object_damage(o, &found);
        o->symbols_partial = true;
    }
    return dvi_head(rest, (count < fit ? count : fit) * entry_size);
}

void dvi_coff_take_tables(struct dvi_object *o, uint64_t sections_at, uint64_t section_count,
                          uint64_t symbols_at, uint64_t symbol_count)
{
    struct dvi_coff *coff = o->state;
    const size_t symbol_size = dvi_coff_symbol_size(coff);
    coff->headers = take_table(o, "section table", sections_at, section_count, COFF_SECTION_SIZE);
    coff->symbols = coff->strings = dvi_from(o->file, o->file.size);
    if (symbols_at == 0)
        return;
    coff->symbols = take_table(o, "symbol table", symbols_at, symbol_count, symbol_size);
    const struct dvi_view rest = dvi_from(o->file, symbols_at + symbol_count * symbol_size);
    const uint32_t size = dvi_peek32(rest, 0);
    coff->strings = dvi_head(rest, size);
    if (coff->strings.size == size || rest.size < 4)
        return; /* a table of no strings may be left out */
    struct devimg_error found;
    (void)dvi_fail(&found, DEVIMG_TRUNCATED, rest, 0,
                   "string table of %" PRIu32 " bytes: %zu are in the file", size, rest.size);
    dvi_object_damage(o, &found);
    o->symbols_partial = true;
}

struct dvi_coff_header dvi_coff_header_at(const struct dvi_coff *coff, size_t index)
{
    struct dvi_cursor c = dvi_cursor_at(coff->headers, (uint64_t)index * COFF_SECTION_SIZE);
    struct dvi_coff_header h = { 0 };
    h.name = dvi_take(&c, COFF_NAME_SIZE);
    h.size = dvi_le32(&c);
    h.addr = dvi_le32(&c);
    h.raw_size = dvi_le32(&c);
    h.raw_at = dvi_le32(&c);
    h.relocations_at = dvi_le32(&c);
    dvi_skip(&c, 4); /* line numbers */
    h.relocation_count = dvi_le16(&c);
    dvi_skip(&c, 2);
    h.flags = dvi_le32(&c);
    return h;
}

/* The name that fills a field, or ends with a NUL in it. */
static struct dvi_view short_name(struct dvi_view field)
{
    const uint8_t *end = memchr(field.data, 0, field.size);
    return dvi_head(field, end != NULL ? (uint64_t)(end - field.data) : field.size);
}

/* "//" and up to six digits of base 64, most significant first: offsets above 9,999,999. */
static bool base64_offset(struct dvi_view digits, uint64_t *out)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    *out = 0;
    for (size_t i = 0; i < digits.size; i++) {
        const char *digit = digits.data[i] != 0 ? strchr(alphabet, digits.data[i]) : NULL;
        if (digit == NULL)
            return false;
        *out = *out << 6 | (uint64_t)(digit - alphabet);
    }
    return digits.size > 0;
}

/* False: the field says that the name stands in the string table, and it does not. */
static bool section_name(const struct dvi_coff *coff, struct dvi_view field, struct dvi_view *out)
{
    uint64_t at = 0;
    *out = short_name(field);
    const bool is_base64 = dvi_starts_with(*out, "//", 2);
    if (!dvi_starts_with(*out, "/", 1) ||
        !(is_base64 ? base64_offset(dvi_from(*out, 2), &at) : dvi_decimal(dvi_from(*out, 1), &at)))
        return true;
    struct dvi_view name = { 0 };
    const struct dvi_view rest = dvi_head(dvi_from(coff->strings, at), DVI_MOST_NAME_BYTES);
    if (at < 4 || dvi_text_at(rest, 0, "name", &name, NULL) != DEVIMG_OK)
        return false;
    *out = name;
    return true;
}

static struct dvi_view bytes_of(const struct dvi_object *o, const struct dvi_coff_header *h,
                                uint64_t size)
{
    const bool is_empty = (h->flags & SCN_UNINITIALIZED) != 0 || h->raw_at == 0;
    const struct dvi_view rest = dvi_from(o->file, h->raw_at);
    return dvi_head(dvi_head(rest, is_empty ? 0 : h->raw_size), size);
}

/* `*next`: the next address to give away, in an object. */
static enum devimg_status make_section(const struct dvi_object *o, const struct dvi_coff_header *h,
                                       uint64_t *next, struct dvi_section *s,
                                       struct devimg_error *err)
{
    const unsigned align = h->flags >> 20 & 15; /* 1: to 1 byte, 2: to 2, 3: to 4, ... */
    const struct dvi_coff *coff = o->state;
    const bool has_name = section_name(coff, h->name, &s->name);
    s->type = h->flags;
    s->size = o->is_linked && h->size != 0 ? h->size : h->raw_size;
    s->data = bytes_of(o, h, s->size);
    s->executable = (h->flags & (SCN_CODE | SCN_EXECUTE)) != 0;
    s->addr = o->base + h->addr;
    if (!o->is_linked)
        s->unmapped =
            !dvi_made_addr(next, s->size, align > 0 ? UINT64_C(1) << (align - 1) : 1, &s->addr);
    const uint64_t wanted = h->raw_size < s->size ? h->raw_size : s->size;
    if (s->unmapped)
        return dvi_fail(err, DEVIMG_MALFORMED, s->data, 0,
                        "section \"%.*s\": size %" PRIu64 " fits in no address space",
                        (int)s->name.size, (const char *)s->name.data, s->size);
    if (!has_name)
        return dvi_fail(err, DEVIMG_MALFORMED, h->name, 0,
                        "section \"%.*s\": no such name in the string table of %zu bytes",
                        (int)s->name.size, (const char *)s->name.data, coff->strings.size);
    if (s->data.size < wanted && (h->flags & SCN_UNINITIALIZED) == 0)
        return dvi_fail(err, DEVIMG_TRUNCATED, s->data, 0,
                        "section \"%.*s\": %" PRIu64 " bytes, %zu are in the file",
                        (int)s->name.size, (const char *)s->name.data, wanted, s->data.size);
    return DEVIMG_OK;
}

enum devimg_status dvi_coff_make_sections(struct dvi_object *o, struct devimg_error *err)
{
    const struct dvi_coff *coff = o->state;
    const size_t count = coff->headers.size / COFF_SECTION_SIZE;
    struct dvi_section *sections = dvi_arena_array(o->arena, count, sizeof *sections);
    struct devimg_error found;
    size_t damaged = 0;
    uint64_t next = 0;
    if (sections == NULL)
        return dvi_fail_memory(err, o->file.source);
    for (size_t i = 0; i < count; i++) {
        const struct dvi_coff_header h = dvi_coff_header_at(coff, i);
        if (make_section(o, &h, &next, &sections[i], &found) != DEVIMG_OK &&
            damaged++ < DVI_MOST_REPORTS)
            dvi_object_damage(o, &found);
    }
    if (damaged > DVI_MOST_REPORTS) {
        (void)dvi_fail(&found, DEVIMG_TRUNCATED, coff->headers, 0,
                       "%zu more of %zu sections are damaged", damaged - DVI_MOST_REPORTS, count);
        dvi_object_damage(o, &found);
    }
    o->sections = sections;
    o->section_count = count;
    return DEVIMG_OK;
}

size_t dvi_coff_symbol_size(const struct dvi_coff *coff)
{
    return coff->big ? 20 : 18;
}

size_t dvi_coff_symbol_count(const struct dvi_coff *coff)
{
    return coff->symbols.size / dvi_coff_symbol_size(coff);
}

struct dvi_coff_symbol dvi_coff_symbol_at(const struct dvi_coff *coff, size_t index)
{
    struct dvi_cursor c =
        dvi_cursor_at(coff->symbols, (uint64_t)index * dvi_coff_symbol_size(coff));
    struct dvi_coff_symbol s = { 0 };
    s.name = dvi_take(&c, COFF_NAME_SIZE);
    s.value = dvi_le32(&c);
    s.section = coff->big ? (int32_t)dvi_le32(&c) : (int16_t)dvi_le16(&c);
    s.type = dvi_le16(&c);
    s.storage = dvi_u8(&c);
    s.extra = dvi_u8(&c);
    return s;
}

struct dvi_view dvi_coff_symbol_name(const struct dvi_coff *coff, const struct dvi_coff_symbol *s,
                                     bool *fixed)
{
    *fixed = dvi_peek32(s->name, 0) != 0;
    const uint32_t at = dvi_peek32(s->name, 4);
    if (*fixed)
        return s->name;
    return dvi_from(coff->strings, at >= 4 ? at : coff->strings.size);
}

static const char *fault_of(const struct dvi_object *o, const struct dvi_coff_symbol *s)
{
    const struct dvi_coff *coff = o->state;
    const uint32_t at = dvi_peek32(s->name, 4);
    if (dvi_peek32(s->name, 0) == 0 && at != 0 && (at < 4 || at >= coff->strings.size))
        return "its name is not in the string table";
    if (s->section > 0 && (size_t)s->section > o->section_count)
        return "its section is not in the section table";
    /* a section, a function or a weak name has one further entry */
    return s->extra > 1 && s->storage != COFF_CLASS_FILE ? "too many further entries belong to it"
                                                         : NULL;
}

void dvi_coff_check_symbols(struct dvi_object *o)
{
    const struct dvi_coff *coff = o->state;
    const size_t count = dvi_coff_symbol_count(coff), size = dvi_coff_symbol_size(coff);
    const char *first = NULL;
    size_t bad = 0, at = 0;
    for (size_t i = 0; i < count; i++) {
        const struct dvi_coff_symbol s = dvi_coff_symbol_at(coff, i);
        const char *fault = fault_of(o, &s);
        if (fault != NULL && bad++ == 0) {
            first = fault;
            at = i;
        }
        i += s.extra;
    }
    const struct dvi_view strings = coff->strings;
    if (bad == 0 && count > 0 && strings.size > 4 && strings.data[strings.size - 1] != 0) {
        first = "the string table does not end with a NUL";
        bad = 1;
    }
    if (bad == 0)
        return;
    struct devimg_error found;
    (void)dvi_fail(&found, DEVIMG_MALFORMED, coff->symbols, at * size,
                   "symbol %zu: %s (%zu such symbols)", at, first, bad);
    dvi_object_damage(o, &found);
    o->symbols_partial = true;
}

bool dvi_coff_place(const struct dvi_object *o, const struct dvi_coff_symbol *s, uint64_t *addr)
{
    *addr = s->value;
    if (s->section == COFF_ABSOLUTE)
        return true;
    if (s->section < 1 || (size_t)s->section > o->section_count)
        return false;
    *addr += o->sections[s->section - 1].addr;
    return true;
}

bool dvi_coff_each_symbol(const struct dvi_object *o, dvi_symbol_visit *visit, void *context)
{
    const struct dvi_coff *coff = o->state;
    const size_t count = dvi_coff_symbol_count(coff), size = dvi_coff_symbol_size(coff);
    for (size_t i = 0; i < count; i++) {
        const struct dvi_coff_symbol raw = dvi_coff_symbol_at(coff, i);
        struct dvi_symbol s = { .local = raw.storage != COFF_CLASS_EXTERNAL &&
                                         raw.storage != COFF_CLASS_WEAK };
        s.name_bytes = dvi_coff_symbol_name(coff, &raw, &s.name_fixed);
        if (raw.storage == COFF_CLASS_FILE) { /* its name is what follows */
            s.kind = DVI_SYMBOL_FILE;
            s.name_bytes = dvi_head(dvi_from(coff->symbols, (i + 1) * size), raw.extra * size);
            s.name_fixed = true;
        } else if ((raw.type >> 4 & 3) == DERIVED_FUNCTION) {
            s.kind = DVI_SYMBOL_FUNCTION;
        }
        s.defined = dvi_coff_place(o, &raw, &s.addr);
        s.addr = s.defined ? s.addr : 0;
        if (!visit(context, &s))
            break;
        i += raw.extra;
    }
    return count > 0;
}
