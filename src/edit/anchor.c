/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An anchor: an external symbol of a COFF object, at the place of its DPC++ descriptor, by which a
 * linker that is told to include it (/INCLUDE) takes the object out of its library, and with it
 * the code that registers the device images. The layout of COFF: object/coff.c.
 *
 * Three places of the file change: the count of symbols in the header; a record behind the last
 * symbol; the string table, which grows by the name and says so. Nothing refers to what moves: the
 * string table ends the file, and names are counted from its start.
 */
#include "edit/anchor.h"

#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "base/write.h"
#include "object/coff.h"
#include "object/magic.h"

enum { SIZE_FIELD = 4 };

static const char descriptor_name[] = ".sycl_offloading.descriptor"; /* clang-offload-wrapper */

/* What is written instead of what. */
struct plan {
    const struct dvi_file *opened;
    struct dvi_view file;
    struct dvi_coff_layout at;
    uint64_t strings_at;
    struct dvi_coff coff; /* symbols and strings */
    struct dvi_coff_symbol descriptor;
    const char *name; /* of the anchor */
};

/* Refuse with the code that scripts see. */
#define REFUSE(code, ...) (*code_out = (code), dvi_fail(err, __VA_ARGS__))

bool dvi_is_anchor_name(const char *name)
{
    const size_t size = strlen(name);
    for (size_t i = 0; i < size; i++)
        if (name[i] <= ' ' || name[i] > '~' || name[i] == '"')
            return false;
    return size >= DVI_ANCHOR_LEAST && size <= DVI_ANCHOR_MOST;
}

/* What a file is that is no COFF object, as far as its first bytes tell. */
static const char *kind_of(struct dvi_view file)
{
    static const struct {
        const char *start;
        size_t size;
        const char *kind;
    } kinds[] = {
        { DVI_MAGIC_ELF, DVI_MAGIC_SIZE, "an ELF file: on Linux no anchor is needed" },
        { "MZ", 2, "a PE file: it is linked already" },
        { "!<arch>\n", 8, "an archive: the anchor goes into its object, before the archive" },
        { DVI_MAGIC_BITCODE, DVI_MAGIC_SIZE, "LLVM bitcode: an object of a compiler with -flto" },
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (dvi_starts_with(file, kinds[i].start, kinds[i].size))
            return kinds[i].kind;
    return "no COFF object";
}

static enum devimg_status find_tables(struct plan *p, const char **code_out,
                                      struct devimg_error *err)
{
    struct devimg_error found = { 0 };
    const struct dvi_view file = p->file;
    if (file.size < COFF_HEADER_SIZE)
        return REFUSE("coff-too-short", DEVIMG_TRUNCATED, file, 0,
                      "%zu bytes: a COFF header has %d", file.size, (int)COFF_HEADER_SIZE);
    if (!dvi_coff_matches(file))
        return REFUSE("not-coff", DEVIMG_UNSUPPORTED, file, 0, "%s", kind_of(file));
    const enum devimg_status st = dvi_coff_layout_of(file, &p->at, &found);
    if (st != DEVIMG_OK)
        return REFUSE(st == DEVIMG_TRUNCATED ? "coff-too-short" : "not-coff", st, file,
                      found.offset, "%s", found.text);
    if (p->at.is_import)
        return REFUSE("not-coff", DEVIMG_UNSUPPORTED, file, 0,
                      "an import of a DLL's library, which has no code");
    if (p->at.symbols_at == 0 || p->at.symbol_count == 0)
        return REFUSE("no-symbol-table", DEVIMG_MALFORMED, file, p->at.count_at,
                      "there are no symbols");
    p->coff = (struct dvi_coff){ .big = p->at.big, .machine = p->at.machine };
    const uint64_t size = p->at.symbol_count * dvi_coff_symbol_size(&p->coff);
    p->coff.symbols = dvi_head(dvi_from(file, p->at.symbols_at), size);
    if (p->coff.symbols.size < size)
        return REFUSE("coff-too-short", DEVIMG_TRUNCATED, file, p->at.symbols_at,
                      "%" PRIu64 " symbols do not fit in the file", p->at.symbol_count);
    p->strings_at = p->at.symbols_at + size;
    p->coff.strings = dvi_from(file, p->strings_at);
    const size_t left = p->coff.strings.size;
    if (left < SIZE_FIELD)
        return REFUSE("strtab-not-last", DEVIMG_MALFORMED, file, p->strings_at,
                      "%zu bytes follow the symbols: no string table", left);
    const uint32_t stated = dvi_peek32(p->coff.strings, 0);
    if (stated != left)
        return REFUSE("strtab-not-last", DEVIMG_MALFORMED, file, p->strings_at,
                      "the string table has %" PRIu32 " bytes, %zu are left of the file", stated,
                      left);
    return DEVIMG_OK;
}

/* The name of a symbol. False: it is not in the string table. */
static bool name_of(const struct plan *p, const struct dvi_coff_symbol *s, struct dvi_view *out)
{
    bool fixed = false;
    const struct dvi_view bytes = dvi_coff_symbol_name(&p->coff, s, &fixed);
    const uint8_t *end = bytes.size > 0 ? memchr(bytes.data, 0, bytes.size) : NULL;
    *out = end != NULL ? dvi_head(bytes, (uint64_t)(end - bytes.data)) : bytes;
    return fixed || end != NULL || dvi_peek32(s->name, 4) == 0; /* eight zeros: no name */
}

static enum devimg_status find_descriptor(struct plan *p, const char **code_out,
                                          struct devimg_error *err)
{
    const size_t count = dvi_coff_symbol_count(&p->coff), size = dvi_coff_symbol_size(&p->coff);
    const struct dvi_view symbols = p->coff.symbols;
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        const struct dvi_coff_symbol s = dvi_coff_symbol_at(&p->coff, i);
        struct dvi_view name = { 0 };
        if (s.extra >= count - i)
            return REFUSE("bad-aux-count", DEVIMG_MALFORMED, symbols, i * size,
                          "symbol %zu: %u further entries belong to it, %zu are left", i, s.extra,
                          count - i - 1);
        if (!name_of(p, &s, &name))
            return REFUSE("bad-name-offset", DEVIMG_MALFORMED, symbols, i * size,
                          "symbol %zu: its name at %" PRIu32 " is not in the string table", i,
                          dvi_peek32(s.name, 4));
        if (dvi_equals(name, p->name) && (s.section != 0 || s.value != 0))
            return REFUSE("already-defined", DEVIMG_MALFORMED, symbols, i * size,
                          "symbol %zu is %s already", i, p->name);
        if (!found && dvi_equals(name, descriptor_name)) {
            found = true;
            p->descriptor = s;
        }
        i += s.extra;
    }
    if (!found)
        return REFUSE("no-descriptor", DEVIMG_MALFORMED, symbols, 0, "no symbol %s",
                      descriptor_name);
    if (p->descriptor.section < 1 || (uint64_t)p->descriptor.section > p->at.section_count)
        return REFUSE("descriptor-undefined", DEVIMG_MALFORMED, symbols, 0,
                      "%s stands in section %" PRId32 " of %" PRIu64, descriptor_name,
                      p->descriptor.section, p->at.section_count);
    return DEVIMG_OK;
}

static enum devimg_status make_plan(struct plan *p, const char **code_out, struct devimg_error *err)
{
    if (!dvi_is_anchor_name(p->name)) {
        *code_out = "bad-anchor-name";
        return dvi_fail_plain(err, DEVIMG_MALFORMED, p->file.source,
                              "the symbol's name must have %d to %d characters of ASCII, no blank, "
                              "no quote",
                              (int)DVI_ANCHOR_LEAST, (int)DVI_ANCHOR_MOST);
    }
    DVI_TRY(find_tables(p, code_out, err));
    DVI_TRY(find_descriptor(p, code_out, err));
    const uint64_t size =
        (uint64_t)p->file.size + dvi_coff_symbol_size(&p->coff) + strlen(p->name) + 1;
    if (size > INT32_MAX) { /* offsets of COFF are signed to some linkers */
        *code_out = "coff-too-large";
        return dvi_fail_plain(err, DEVIMG_LIMIT, p->file.source,
                              "%" PRIu64 " bytes with the symbol: no linker takes 2 GiB", size);
    }
    return DEVIMG_OK;
}

/* --- writing --- */

static void put(FILE *file, uint64_t number, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        putc((int)(number >> (8 * i) & 0xff), file);
}

static void put_bytes(FILE *file, struct dvi_view v)
{
    if (v.size > 0)
        (void)fwrite(v.data, 1, v.size, file);
}

static enum devimg_status fill(FILE *file, const void *context, struct devimg_error *err)
{
    const struct plan *p = context;
    const struct dvi_view strings = p->coff.strings;
    put_bytes(file, dvi_head(p->file, p->at.count_at));
    put(file, p->at.symbol_count + 1, 4);
    put_bytes(file,
              dvi_head(dvi_from(p->file, p->at.count_at + 4), p->strings_at - p->at.count_at - 4));
    put(file, 0, 4);            /* the name stands in the string table, */
    put(file, strings.size, 4); /* behind all others */
    put(file, p->descriptor.value, 4);
    put(file, (uint32_t)p->descriptor.section, p->coff.big ? 4 : 2);
    put(file, 0, 2); /* type */
    put(file, COFF_CLASS_EXTERNAL, 1);
    put(file, 0, 1); /* no further entries */
    put(file, strings.size + strlen(p->name) + 1, 4);
    put_bytes(file, dvi_from(strings, SIZE_FIELD));
    (void)fwrite(p->name, 1, strlen(p->name) + 1, file);
    if (dvi_file_was_cut(p->opened))
        return dvi_fail_plain(err, DEVIMG_IO, p->file.source, "was cut while it was read");
    return DEVIMG_OK;
}

enum devimg_status devimg_anchor(const char *in, const char *name, const char *out,
                                 struct devimg_anchored *anchored, struct devimg_error *err)
{
    struct dvi_file file = { 0 };
    struct devimg_error discarded = { 0 };
    err = err != NULL ? err : &discarded;
    *anchored = (struct devimg_anchored){ 0 };
    DVI_TRY(dvi_file_open(in, in, false, &file, err));
    struct plan plan = { .opened = &file, .file = file.bytes, .name = name };
    enum devimg_status st = make_plan(&plan, &anchored->code, err);
    if (st == DEVIMG_OK) /* an object of an earlier run may be replaced, and nothing else */
        st = dvi_file_replace_kind(out, dvi_coff_matches, "COFF object", fill, &plan, err);
    if (st == DEVIMG_OK) {
        anchored->section = (uint32_t)plan.descriptor.section;
        anchored->value = plan.descriptor.value;
    }
    dvi_file_close(&file);
    return st;
}
