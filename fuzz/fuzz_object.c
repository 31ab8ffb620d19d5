/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer harness of the object layer: open, read every table, look addresses up, walk the
 * members of an archive. What a table says is touched, so that a sanitizer sees a bad view.
 * dict: elf coff pe ar
 */
#include <stdlib.h>

#include "object/object.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct totals {
    uint64_t bytes, damage;
};

static void on_damage(void *sink, const struct devimg_error *err)
{
    struct totals *t = sink;
    t->damage++;
    t->bytes += (uint64_t)err->text[0];
}

static void touch(struct totals *t, struct dvi_view v)
{
    if (v.size > 0)
        t->bytes += (uint64_t)v.data[0] + v.data[v.size - 1];
}

static void require(bool ok)
{
    if (!ok)
        abort();
}

static void look_up(struct totals *t, const struct dvi_object *o, uint64_t addr)
{
    const struct dvi_section *s = dvi_object_section_of(o, addr);
    const struct dvi_view v = dvi_object_from(o, addr);
    require(s == NULL || addr - s->addr < s->size);
    require(v.data >= o->file.data && v.size <= o->file.size - (size_t)(v.data - o->file.data));
    touch(t, v);
}

static void touch_sections(struct totals *t, const struct dvi_object *o)
{
    for (size_t i = 0; i < o->section_count; i++) {
        const struct dvi_section *s = &o->sections[i];
        touch(t, s->name);
        touch(t, s->data);
        look_up(t, o, s->addr);
        look_up(t, o, s->addr + s->size);
    }
}

struct symbols {
    struct totals *totals;
    const struct dvi_object *object;
};

static bool touch_symbol(void *context, const struct dvi_symbol *symbol)
{
    const struct symbols *s = context;
    touch(s->totals, dvi_symbol_name(symbol));
    look_up(s->totals, s->object, symbol->addr);
    return true;
}

static void touch_tables(struct totals *t, const struct dvi_object *o)
{
    for (size_t i = 0; i < o->pointer_count; i++) {
        require(i == 0 || o->pointers[i - 1].addr <= o->pointers[i].addr);
        require(dvi_object_pointer_at(o, o->pointers[i].addr) != NULL);
        look_up(t, o, o->pointers[i].value);
    }
    for (size_t i = 0; i < o->reference_count; i++) {
        require(i == 0 || o->references[i - 1].addr <= o->references[i].addr);
        look_up(t, o, o->references[i].value);
    }
}

static void read_object(struct totals *t, struct dvi_view file)
{
    struct dvi_arena arena = { 0 };
    struct dvi_object o = { 0 };
    struct devimg_error err = { 0 };
    if (dvi_object_open(file, &arena, on_damage, t, &o, &err) == DEVIMG_OK) {
        touch_sections(t, &o);
        struct symbols symbols = { t, &o };
        (void)dvi_object_each_symbol(&o, DVI_SYMBOLS_STATIC, touch_symbol, &symbols);
        (void)dvi_object_each_symbol(&o, DVI_SYMBOLS_DYNAMIC, touch_symbol, &symbols);
        if (dvi_object_pointers(&o, &err) == DEVIMG_OK &&
            dvi_object_references(&o, &err) == DEVIMG_OK)
            touch_tables(t, &o);
    }
    dvi_arena_free(&arena);
}

static void read_archive(struct totals *t, struct dvi_view file)
{
    struct dvi_ar it = dvi_ar_begin(file);
    struct devimg_error err = { 0 };
    for (;;) {
        struct dvi_ar_member m = { 0 };
        const uint64_t at = it.at;
        const enum devimg_status st = dvi_ar_next(&it, &m, &err);
        if (st == DEVIMG_END || (st != DEVIMG_OK && it.at == at))
            return;
        require(it.at > at); /* each step ends */
        if (st != DEVIMG_OK)
            continue;
        touch(t, m.name);
        touch(t, m.data);
        if (dvi_object_matches(m.data))
            read_object(t, m.data);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static volatile uint64_t kept; /* keeps the reads above from being left out */
    struct totals t = { 0 };
    const struct dvi_view file = dvi_view_of(data, size, "fuzz");
    if (dvi_ar_match(file))
        read_archive(&t, file);
    else
        read_object(&t, file);
    kept = t.bytes + t.damage;
    (void)kept;
    return 0;
}
