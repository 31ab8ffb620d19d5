/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `.ze_info`: YAML that IGC writes beside the code, one mapping.
 * Source: intel/intel-graphics-compiler IGC/ZEBinWriter/zebin/spec/zeinfo.md.
 *
 *   version: '1.53'
 *   kernels:
 *     - name: NAME
 *       user_attributes: { intel_reqd_sub_group_size: 16 }
 *       execution_env: { simd_size, required_sub_group_size, grf_count, slm_size, private_size,
 *                        spill_size, barrier_count, has_dpas, ... }
 *       per_thread_memory_buffers: [ { type: global|scratch|slm, usage, size }, ... ]
 *
 * Read with libyaml's events, never as a tree, and no deeper than MOST_DEPTH: the scanner takes
 * minutes for deep flow nesting, so reading stops at the first level too many.
 * Reading also stops behind `kernels`: what follows is large and tells nothing that is needed.
 */
#include "image/ze_info.h"

#include <inttypes.h>
#include <string.h>
#include <yaml.h>

#include "base/yaml.h"

enum { MOST_DEPTH = 16, MOST_SIZE = 64 << 20, MOST_OF_FILE = 512 << 20, FIRST_WITH_ALL_SIZES = 50 };

enum place { OTHER, ROOT, KERNELS, KERNEL, ENVIRONMENT, ATTRIBUTES, BUFFERS, BUFFER };

struct level {
    enum place place;
    bool is_mapping, has_key;
};

struct reader {
    yaml_parser_t parser;
    struct dvi_view text;
    struct dvi_kernel_sink *sink;
    struct level levels[MOST_DEPTH];
    unsigned depth;
    struct dvi_view key; /* of the innermost mapping; borrowed from `key_bytes` */
    uint8_t key_bytes[48];
    bool all_sizes; /* version 1.50 or later: a size left out is 0 */
    bool done;
    struct devimg_kernel kernel; /* under way; its name apart */
    struct dvi_view name;        /* copied into the arena */
    bool has_name;
    bool buffer_counts; /* the buffer under way is scratch memory */
    bool buffer_simt;   /* its size is that of one work-item */
    uint64_t buffer_size;
    uint64_t simt_size; /* the largest of those in this kernel */
};

static enum devimg_status fail_at(const struct reader *r, const yaml_mark_t *mark,
                                  enum devimg_status status, const char *what,
                                  struct devimg_error *err)
{
    return dvi_fail(err, status, r->text, mark->index, ".ze_info line %zu, column %zu: %s",
                    mark->line + 1, mark->column + 1, what);
}

static bool key_is(const struct reader *r, const char *name)
{
    return dvi_equals(r->key, name);
}

static enum place child_place(const struct reader *r, bool is_mapping)
{
    const enum place parent = r->depth > 0 ? r->levels[r->depth - 1].place : OTHER;
    if (r->depth == 0)
        return is_mapping ? ROOT : OTHER;
    if (parent == ROOT && !is_mapping && key_is(r, "kernels"))
        return KERNELS;
    if (parent == KERNELS && is_mapping)
        return KERNEL;
    if (parent == KERNEL && is_mapping && key_is(r, "execution_env"))
        return ENVIRONMENT;
    if (parent == KERNEL && is_mapping && key_is(r, "user_attributes"))
        return ATTRIBUTES;
    if (parent == KERNEL && !is_mapping && key_is(r, "per_thread_memory_buffers"))
        return BUFFERS;
    return parent == BUFFERS && is_mapping ? BUFFER : OTHER;
}

static void begin_kernel(struct reader *r)
{
    const uint64_t left_out = r->all_sizes ? 0 : DEVIMG_UNKNOWN;
    dvi_kernel_unknown(&r->kernel);
    r->kernel.private_size = r->kernel.spill_size = left_out;
    r->kernel.slm_size = r->kernel.scratch_size = r->kernel.barrier_count = 0; /* unless it says */
    r->has_name = false;
    r->simt_size = 0;
}

/* A buffer of one work-item is needed as often as the hardware thread has lanes. */
static void count_simt(struct reader *r)
{
    const uint64_t lanes = r->kernel.sub_group_size;
    if (r->simt_size == 0)
        return;
    if (lanes == DEVIMG_UNKNOWN || lanes == 0 || r->simt_size > (UINT64_MAX - 1) / lanes)
        r->kernel.scratch_size = DEVIMG_UNKNOWN;
    else if (r->simt_size * lanes > r->kernel.scratch_size)
        r->kernel.scratch_size = r->simt_size * lanes;
}

static enum devimg_status end_kernel(struct reader *r, const yaml_mark_t *mark,
                                     struct devimg_error *err)
{
    struct devimg_kernel *added = NULL;
    if (!r->has_name)
        return fail_at(r, mark, DEVIMG_MALFORMED, "a kernel without a name", err);
    DVI_TRY(dvi_kernel_add(r->sink, r->name, &added, err));
    const char *name = added->name;
    count_simt(r);
    *added = r->kernel;
    added->name = name;
    added->record = added->image = added->module = DEVIMG_NONE;
    return DEVIMG_OK;
}

static enum devimg_status begin(struct reader *r, bool is_mapping, const yaml_mark_t *mark,
                                struct devimg_error *err)
{
    const enum place place = child_place(r, is_mapping);
    if (r->depth == MOST_DEPTH)
        return fail_at(r, mark, DEVIMG_MALFORMED, "nested more than 16 deep", err);
    if (r->depth > 0) {
        struct level *outer = &r->levels[r->depth - 1];
        if (outer->is_mapping && !outer->has_key)
            return fail_at(r, mark, DEVIMG_MALFORMED, "expected a key", err);
        outer->has_key = false;
    }
    r->levels[r->depth++] = (struct level){ place, is_mapping, false };
    if (place == KERNEL)
        begin_kernel(r);
    if (place == BUFFER) {
        r->buffer_counts = r->buffer_simt = false;
        r->buffer_size = 0;
    }
    return DEVIMG_OK;
}

static enum devimg_status end(struct reader *r, const yaml_mark_t *mark, struct devimg_error *err)
{
    const enum place place = r->levels[--r->depth].place;
    if (place == BUFFER && r->buffer_counts) {
        uint64_t *largest = r->buffer_simt ? &r->simt_size : &r->kernel.scratch_size;
        if (r->buffer_size > *largest)
            *largest = r->buffer_size;
    }
    if (place == KERNELS)
        r->done = true;
    return place == KERNEL ? end_kernel(r, mark, err) : DEVIMG_OK;
}

static uint64_t *number_field(struct reader *r, enum place place)
{
    static const struct {
        const char *key;
        size_t field;
    } fields[] = {
        { "simd_size", offsetof(struct devimg_kernel, sub_group_size) },
        { "required_sub_group_size", offsetof(struct devimg_kernel, required_sub_group_size) },
        { "grf_count", offsetof(struct devimg_kernel, registers) },
        { "slm_size", offsetof(struct devimg_kernel, slm_size) },
        { "private_size", offsetof(struct devimg_kernel, private_size) },
        { "spill_size", offsetof(struct devimg_kernel, spill_size) },
        { "barrier_count", offsetof(struct devimg_kernel, barrier_count) },
    };
    if (place == ATTRIBUTES && key_is(r, "intel_reqd_sub_group_size"))
        return &r->kernel.required_sub_group_size;
    if (place == BUFFER && key_is(r, "size"))
        return &r->buffer_size;
    if (place != ENVIRONMENT)
        return NULL;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (key_is(r, fields[i].key))
            return (uint64_t *)(void *)((char *)&r->kernel + fields[i].field);
    return NULL;
}

/* "1.53": from 1.50 on every size is written when it is not 0. */
static void take_version(struct reader *r, struct dvi_view value)
{
    uint64_t major = 0, minor = 0;
    const uint8_t *dot = memchr(value.data, '.', value.size);
    if (dot == NULL)
        return;
    const size_t before = (size_t)(dot - value.data);
    const struct dvi_view head = { value.data, before, value.offset, value.source };
    if (dvi_decimal(head, &major) && dvi_decimal(dvi_from(value, before + 1), &minor))
        r->all_sizes = major > 1 || (major == 1 && minor >= FIRST_WITH_ALL_SIZES);
}

static enum devimg_status take_value(struct reader *r, enum place place, struct dvi_view value,
                                     const yaml_mark_t *mark, struct devimg_error *err)
{
    if (place == ROOT && key_is(r, "version"))
        take_version(r, value);
    if (place == KERNEL && key_is(r, "name")) {
        if (value.size == 0 || memchr(value.data, 0, value.size) != NULL)
            return fail_at(r, mark, DEVIMG_MALFORMED, "a kernel's name that is no text", err);
        const char *name = dvi_arena_text(r->sink->arena, value);
        if (name == NULL)
            return dvi_fail_memory(err, r->text.source);
        r->name = dvi_view_of(name, strlen(name), r->text.source);
        r->has_name = true;
    }
    if (place == ENVIRONMENT && key_is(r, "has_dpas") && dvi_equals(value, "true"))
        r->kernel.features |= DEVIMG_FEATURE_MATRIX;
    if (place == BUFFER && key_is(r, "type"))
        r->buffer_counts = dvi_equals(value, "scratch") || dvi_equals(value, "global");
    if (place == BUFFER && key_is(r, "is_simt_thread"))
        r->buffer_simt = dvi_equals(value, "true");
    uint64_t *field = number_field(r, place), number = 0;
    if (field == NULL)
        return DEVIMG_OK;
    if (!dvi_decimal(value, &number))
        return fail_at(r, mark, DEVIMG_MALFORMED, "expected a number", err);
    if (field != &r->kernel.required_sub_group_size || number != 0) /* 0: none is required */
        *field = number;
    return DEVIMG_OK;
}

static enum devimg_status scalar(struct reader *r, const yaml_event_t *event,
                                 struct devimg_error *err)
{
    const struct dvi_view value = { event->data.scalar.value, event->data.scalar.length,
                                    r->text.offset + event->start_mark.index, r->text.source };
    if (r->depth == 0)
        return fail_at(r, &event->start_mark, DEVIMG_MALFORMED, "expected a mapping", err);
    struct level *level = &r->levels[r->depth - 1];
    if (!level->is_mapping)
        return DEVIMG_OK;
    if (level->has_key) {
        level->has_key = false;
        return take_value(r, level->place, value, &event->start_mark, err);
    }
    level->has_key = true;
    r->key = dvi_view_of(r->key_bytes, 0, r->text.source);
    if (value.size <= sizeof r->key_bytes) { /* a longer one is none of ours */
        memcpy(r->key_bytes, value.data, value.size);
        r->key.size = value.size;
    }
    return DEVIMG_OK;
}

static enum devimg_status take_event(struct reader *r, const yaml_event_t *event,
                                     struct devimg_error *err)
{
    switch (event->type) {
    case YAML_DOCUMENT_END_EVENT:
    case YAML_STREAM_END_EVENT: r->done = true; return DEVIMG_OK;
    case YAML_MAPPING_START_EVENT: return begin(r, true, &event->start_mark, err);
    case YAML_SEQUENCE_START_EVENT: return begin(r, false, &event->start_mark, err);
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT: return end(r, &event->start_mark, err);
    case YAML_SCALAR_EVENT: return scalar(r, event, err);
    case YAML_ALIAS_EVENT:
        return fail_at(r, &event->start_mark, DEVIMG_MALFORMED, "an alias: none is expected", err);
    default: return DEVIMG_OK;
    }
}

static enum devimg_status read_events(struct reader *r, struct devimg_error *err)
{
    while (!r->done) {
        yaml_event_t event;
        if (!yaml_parser_parse(&r->parser, &event)) {
            if (r->parser.error == YAML_MEMORY_ERROR)
                return dvi_fail_memory(err, r->text.source);
            if (r->parser.error == YAML_READER_ERROR) /* it has no line yet */
                return dvi_fail(err, DEVIMG_MALFORMED, r->text, r->parser.problem_offset,
                                ".ze_info: %s: expected UTF-8 without control characters",
                                r->parser.problem);
            return fail_at(r, &r->parser.problem_mark, DEVIMG_MALFORMED,
                           r->parser.problem != NULL ? r->parser.problem : "no YAML", err);
        }
        const enum devimg_status status = take_event(r, &event, err);
        yaml_event_delete(&event);
        DVI_TRY(status);
    }
    return DEVIMG_OK;
}

enum devimg_status dvi_ze_info_kernels(struct dvi_view text, struct dvi_kernel_sink *sink,
                                       struct devimg_error *err)
{
    while (text.size > 0 && text.data[text.size - 1] == 0)
        text.size--;
    if (text.size > MOST_SIZE)
        return dvi_fail(err, DEVIMG_MALFORMED, text, 0,
                        ".ze_info of %zu bytes: at most %d are read", text.size, (int)MOST_SIZE);
    if (sink->text != NULL && atomic_fetch_add(sink->text, text.size) > MOST_OF_FILE - text.size)
        return dvi_fail_plain(err, DEVIMG_LIMIT, "kernels", /* of which image, threads decide */
                              "more than %d MiB of .ze_info in one file", MOST_OF_FILE >> 20);
    if (dvi_yaml_has_many_directives(text))
        return dvi_fail(err, DEVIMG_MALFORMED, text, 0, ".ze_info with many %%TAG directives");
    struct reader r = { .text = text, .sink = sink };
    r.key = dvi_view_of(r.key_bytes, 0, text.source);
    if (!yaml_parser_initialize(&r.parser))
        return dvi_fail_memory(err, text.source);
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, text.data, text.size);
    const enum devimg_status status = read_events(&r, err);
    yaml_parser_delete(&r.parser);
    return status;
}
