/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints what the object layer reads of a file, one record a line, for compare_readelf.py:
 *     object  <machine> <linked 0|1> <pointer size>
 *     section <index> <addr> <size> <offset> <bytes in file> <executable 0|1> <name>
 *     symbol  <static|dynamic> <addr> <defined 0|1> <local 0|1> <kind> <name>
 *     pointer <addr> <value>
 *     code    <addr> <value> <external 0|1>
 *     damage  <offset> <text>
 * Numbers are hexadecimal.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "object/object.h"

static void on_damage(void *sink, const struct devimg_error *err)
{
    (void)sink;
    printf("damage %" PRIx64 " %s\n", err->offset, err->text);
}

static void print_name(struct dvi_view name)
{
    fwrite(name.data, 1, name.size, stdout);
    putchar('\n');
}

static bool print_symbol(void *context, const struct dvi_symbol *s)
{
    const char *table = context;
    printf("symbol %s %" PRIx64 " %d %d %d ", table, s->addr, s->defined, s->local, (int)s->kind);
    print_name(dvi_symbol_name(s));
    return true;
}

static void print_object(const struct dvi_object *o)
{
    static char is_static[] = "static", is_dynamic[] = "dynamic";
    printf("object %s %d %u\n", o->machine != NULL ? o->machine : "-", o->is_linked,
           o->pointer_size);
    for (size_t i = 0; i < o->section_count; i++) {
        const struct dvi_section *s = &o->sections[i];
        printf("section %zx %" PRIx64 " %" PRIx64 " %" PRIx64 " %zx %d ", i, s->addr, s->size,
               s->data.offset, s->data.size, s->executable);
        print_name(s->name);
    }
    (void)dvi_object_each_symbol(o, DVI_SYMBOLS_STATIC, print_symbol, is_static);
    (void)dvi_object_each_symbol(o, DVI_SYMBOLS_DYNAMIC, print_symbol, is_dynamic);
    for (size_t i = 0; i < o->pointer_count; i++)
        printf("pointer %" PRIx64 " %" PRIx64 "\n", o->pointers[i].addr, o->pointers[i].value);
    for (size_t i = 0; i < o->reference_count; i++)
        printf("code %" PRIx64 " %" PRIx64 " %d\n", o->references[i].addr, o->references[i].value,
               o->references[i].external);
}

static int dump(struct dvi_view file)
{
    struct dvi_arena arena = { 0 };
    struct dvi_object o = { 0 };
    struct devimg_error err = { 0 };
    enum devimg_status st = dvi_object_open(file, &arena, on_damage, NULL, &o, &err);
    if (st == DEVIMG_OK)
        st = dvi_object_pointers(&o, &err);
    if (st == DEVIMG_OK)
        st = dvi_object_references(&o, &err);
    if (st != DEVIMG_OK)
        printf("error %d %" PRIx64 " %s\n", (int)st, err.offset, err.text);
    else
        print_object(&o);
    dvi_arena_free(&arena);
    return st == DEVIMG_OK ? 0 : 3;
}

static uint8_t *read_all(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return NULL;
    uint8_t *bytes = NULL;
    size_t room = 0;
    *size = 0;
    for (;;) {
        if (*size == room) {
            room = room == 0 ? 1 << 16 : room * 2;
            uint8_t *moved = realloc(bytes, room);
            if (moved == NULL)
                break;
            bytes = moved;
        }
        const size_t got = fread(bytes + *size, 1, room - *size, f);
        if (got == 0)
            break;
        *size += got;
    }
    fclose(f);
    return bytes;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: dump_object FILE\n");
        return 2;
    }
    size_t size = 0;
    uint8_t *bytes = read_all(argv[1], &size);
    if (bytes == NULL) {
        perror(argv[1]);
        return 3;
    }
    const int status = dump(dvi_view_of(bytes, size, argv[1]));
    free(bytes);
    return status;
}
