/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints what the object layer reads of a file, one record a line, for compare_readelf.py:
 *     object  <machine> <linked 0|1> <has sections 0|1> <pointer size>
 *     section <index> <addr> <size> <offset> <bytes in file> <flags> <name>
 *     symbol  <addr> <defined 0|1> <local 0|1> <kind> <name>
 *     pointer <addr> <value> <external 0|1>
 *     code    <addr> <value> <external 0|1> <name>
 *     damage  <offset> <text>
 * Numbers are hexadecimal. With -t, prints the time that each table took instead.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

static void print_object(const struct dvi_object *o)
{
    printf("object %s %d %d %u\n", o->machine != NULL ? o->machine : "-", o->is_linked,
           o->has_sections, o->pointer_size);
    for (size_t i = 0; i < o->section_count; i++) {
        const struct dvi_section *s = &o->sections[i];
        printf("section %zx %" PRIx64 " %" PRIx64 " %" PRIx64 " %zx %" PRIx64 " ", i, s->addr,
               s->size, s->data.offset, s->data.size, s->flags);
        print_name(s->name);
    }
    for (size_t i = 0; i < o->symbol_count; i++) {
        const struct dvi_symbol *s = &o->symbols[i];
        printf("symbol %" PRIx64 " %d %d %d ", s->addr, s->defined, s->local, (int)s->kind);
        print_name(s->name);
    }
    for (size_t i = 0; i < o->pointer_count; i++)
        printf("pointer %" PRIx64 " %" PRIx64 " %d\n", o->pointers[i].addr, o->pointers[i].value,
               o->pointers[i].external);
    for (size_t i = 0; i < o->reference_count; i++) {
        printf("code %" PRIx64 " %" PRIx64 " %d ", o->references[i].addr, o->references[i].value,
               o->references[i].external);
        print_name(o->references[i].name);
    }
}

static double now_ms(void)
{
    struct timespec t;
    (void)timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void print_times(const double times[5], const struct dvi_object *o)
{
    printf("open %.2f ms (%zu sections), symbols %.2f ms (%zu), pointers %.2f ms (%zu), "
           "references %.2f ms (%zu)\n",
           times[1] - times[0], o->section_count, times[2] - times[1], o->symbol_count,
           times[3] - times[2], o->pointer_count, times[4] - times[3], o->reference_count);
}

static int dump(struct dvi_view file, bool time_only)
{
    struct dvi_arena arena = { 0 };
    struct dvi_object o = { 0 };
    struct devimg_error err = { 0 };
    double times[5] = { now_ms() };
    enum devimg_status st = dvi_object_open(file, &arena, on_damage, NULL, &o, &err);
    times[1] = now_ms();
    if (st == DEVIMG_OK)
        st = dvi_object_symbols(&o, &err);
    times[2] = now_ms();
    if (st == DEVIMG_OK)
        st = dvi_object_pointers(&o, &err);
    times[3] = now_ms();
    if (st == DEVIMG_OK)
        st = dvi_object_references(&o, &err);
    times[4] = now_ms();
    if (st != DEVIMG_OK)
        printf("error %d %" PRIx64 " %s\n", (int)st, err.offset, err.text);
    else if (time_only)
        print_times(times, &o);
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
    const bool time_only = argc == 3 && strcmp(argv[1], "-t") == 0;
    if (argc != 2 && !time_only) {
        fprintf(stderr, "usage: dump_object [-t] FILE\n");
        return 2;
    }
    size_t size = 0;
    uint8_t *bytes = read_all(argv[argc - 1], &size);
    if (bytes == NULL) {
        perror(argv[argc - 1]);
        return 3;
    }
    const int status = dump(dvi_view_of(bytes, size, argv[argc - 1]), time_only);
    free(bytes);
    return status;
}
