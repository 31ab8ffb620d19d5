/* SPDX-License-Identifier: Apache-2.0 */
#include "sycl/sycl_ls.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "image/image.h"
#include "sycl/entry.h"

enum { MOST_DEVICES = 4096 };

/* --- lines --- */

static bool is_word(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/* A word at `*at`, which moves behind it. */
static struct dvi_view take_word(struct dvi_view line, size_t *at)
{
    const size_t from = *at;
    while (*at < line.size && is_word(line.data[*at]))
        ++*at;
    return dvi_head(dvi_from(line, from), *at - from);
}

static bool take_byte(struct dvi_view line, size_t *at, uint8_t byte)
{
    const bool is_it = *at < line.size && line.data[*at] == byte;
    *at += is_it;
    return is_it;
}

/* "[backend:type]", "[backend:type:0]" or the first one with "[backend:0]" behind it. */
static bool read_tag(struct dvi_view line, struct dvi_view *backend, struct dvi_view *type,
                     struct dvi_view *rest)
{
    size_t at = 0;
    if (!take_byte(line, &at, '['))
        return false;
    *backend = take_word(line, &at);
    if (backend->size == 0 || !take_byte(line, &at, ':'))
        return false;
    *type = take_word(line, &at);
    if (take_byte(line, &at, ':') && take_word(line, &at).size == 0)
        return false;
    if (type->size == 0 || !take_byte(line, &at, ']'))
        return false;
    size_t second = at; /* the number of the device, in newer versions */
    if (take_byte(line, &second, '[') && take_word(line, &second).size > 0 &&
        take_byte(line, &second, ':') && take_word(line, &second).size > 0 &&
        take_byte(line, &second, ']'))
        at = second;
    while (take_byte(line, &at, ' '))
        continue;
    *rest = dvi_from(line, at);
    return true;
}

static struct dvi_view without_blanks(struct dvi_view v)
{
    while (v.size > 0 && v.data[v.size - 1] == ' ')
        v.size--;
    return v;
}

static struct dvi_view without_prefix(struct dvi_view v, const char *prefix)
{
    return dvi_starts_with(v, prefix, strlen(prefix)) ? dvi_from(v, strlen(prefix)) : v;
}

/* --- what a line tells of a GPU --- */

/* The last word before the driver's version in brackets. */
static struct dvi_view last_word(struct dvi_view text)
{
    while (text.size > 0 && text.data[text.size - 1] != '[')
        text.size--;
    text.size -= text.size > 0;
    while (text.size > 0 && text.data[text.size - 1] == ' ')
        text.size--;
    size_t from = text.size;
    while (from > 0 && text.data[from - 1] != ' ')
        from--;
    return dvi_from(text, from);
}

/* The id of "[0x9a49]" in a name. */
static uint64_t pci_id_in(struct dvi_view text)
{
    for (size_t at = 0; at + 8 <= text.size; at++) {
        uint64_t id = 0;
        size_t digits = 0;
        if (memcmp(text.data + at, "[0x", 3) != 0)
            continue;
        for (; digits < 4; digits++) {
            const uint8_t c = text.data[at + 3 + digits];
            const int digit = c >= '0' && c <= '9'   ? c - '0'
                              : c >= 'a' && c <= 'f' ? c - 'a' + 10
                              : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                     : -1;
            if (digit < 0)
                break;
            id = id << 4 | (uint64_t)digit;
        }
        if (digits == 4 && text.data[at + 7] == ']')
            return id;
    }
    return DEVIMG_UNKNOWN;
}

/* "8.6": compute capability; 0.0 where the backend does not tell it: then there is no entry. False
 * here and below: no memory. */
static bool cuda_entry(struct dvi_view word, struct dvi_arena *arena, const char **out)
{
    size_t at = 0;
    const struct dvi_view major = take_word(word, &at);
    const bool has_dot = take_byte(word, &at, '.');
    const struct dvi_view minor = take_word(word, &at);
    uint64_t one = 0, two = 0;
    if (!has_dot || at != word.size || !dvi_decimal(major, &one) || !dvi_decimal(minor, &two) ||
        one == 0 || one > 99 || two > 9)
        return true;
    *out = dvi_arena_format(arena, "nvidia_gpu_sm_%" PRIu64 "%" PRIu64, one, two);
    return *out != NULL;
}

/* "gfx90a", also as "gfx90a:sramecc+:xnack-" */
static bool is_gfx(struct dvi_view word)
{
    size_t digits = 3;
    while (digits < word.size && is_word(word.data[digits]) && word.data[digits] != '_' &&
           word.data[digits] <= 'f')
        digits++;
    return digits == word.size && digits >= 6 && digits <= 8;
}

static bool hip_entry(struct dvi_view text, struct dvi_arena *arena, const char **out)
{
    for (size_t at = 0; at + 6 <= text.size; at++) {
        if (memcmp(text.data + at, "gfx", 3) != 0 || (at > 0 && text.data[at - 1] != ' '))
            continue;
        const struct dvi_view word = take_word(text, &at);
        if (!is_gfx(word))
            continue;
        *out = dvi_arena_format(arena, "amd_gpu_%.*s", (int)word.size, (const char *)word.data);
        return *out != NULL;
    }
    return true;
}

static bool read_intel(struct dvi_sycl_device *d, struct dvi_view text, struct dvi_arena *arena)
{
    const struct devimg_target *target = NULL;
    d->pci_id = d->pci_id == DEVIMG_UNKNOWN ? pci_id_in(text) : d->pci_id;
    if (strcmp(d->backend, "level_zero") == 0 &&
        !dvi_ip_of_text(last_word(text), '.', &d->ip_version))
        d->ip_version = DEVIMG_UNKNOWN;
    if (d->ip_version != DEVIMG_UNKNOWN)
        target = dvi_target_of_ip_or_former(d->ip_version);
    if (target == NULL && d->pci_id != DEVIMG_UNKNOWN)
        target = dvi_target_of_pci_id(d->pci_id);
    if (target != NULL && d->ip_version == DEVIMG_UNKNOWN)
        d->ip_version = target->ip_version;
    return target == NULL || dvi_sycl_entry_of(target, arena, &d->target);
}

static bool read_gpu(struct dvi_sycl_device *d, struct dvi_arena *arena)
{
    static const char *const entries[] = { "intel_gpu_", "nvidia_gpu_", "amd_gpu_" };
    const struct dvi_view text = dvi_view_of(d->text, strlen(d->text), NULL);
    bool kept = true;
    if (strcmp(d->backend, "cuda") == 0)
        kept = cuda_entry(last_word(text), arena, &d->target);
    else if (strcmp(d->backend, "hip") == 0)
        kept = hip_entry(text, arena, &d->target);
    else
        kept = read_intel(d, text, arena);
    for (size_t i = 0; d->architecture != NULL && i < sizeof entries / sizeof entries[0]; i++)
        if (strncmp(d->architecture, entries[i], strlen(entries[i])) == 0 &&
            dvi_sycl_is_plain(d->architecture))
            d->target = d->architecture; /* as the runtime itself names it */
    return kept;
}

/* --- the blocks of --verbose --- */

/* "   Name  : value" */
static bool read_field(struct dvi_view line, const char *name, struct dvi_view *value)
{
    size_t at = 0;
    while (take_byte(line, &at, ' ') || take_byte(line, &at, '\t'))
        continue;
    const struct dvi_view rest = dvi_from(line, at);
    if (at == 0 || !dvi_starts_with(rest, name, strlen(name)))
        return false;
    at = strlen(name);
    while (take_byte(rest, &at, ' '))
        continue;
    if (!take_byte(rest, &at, ':'))
        return false;
    while (take_byte(rest, &at, ' '))
        continue;
    *value = without_blanks(dvi_from(rest, at));
    return true;
}

/* Which device of the list a block is of: they stand in the same order. */
struct blocks {
    size_t next; /* of the next block that begins */
    bool open;   /* one has begun */
};

/* "mtl_s,arl_u" of " / mtl_s / arl_u" */
static const char *further_names(struct dvi_view rest, struct dvi_arena *arena)
{
    char *names = dvi_arena_array(arena, rest.size + 1, 1);
    size_t size = 0, at = 0;
    while (names != NULL && at < rest.size) {
        const struct dvi_view word = take_word(rest, &at);
        at += word.size == 0;
        if (word.size > 0 && size > 0)
            names[size++] = ',';
        memcpy(names + size, word.data, word.size);
        size += word.size;
    }
    return names;
}

static bool read_block_line(struct blocks *b, struct dvi_sycl_ls *list, struct dvi_view line,
                            struct dvi_arena *arena)
{
    struct dvi_view value = { 0 };
    if (read_field(line, "Type", &value)) {
        b->open =
            b->next < list->devices.count && dvi_equals(value, list->devices.items[b->next].type);
        b->next++;
        return true;
    }
    if (!b->open)
        return true;
    struct dvi_sycl_device *d = &list->devices.items[b->next - 1];
    if (read_field(line, "Name", &value)) /* never the architecture of another device */
        b->open = value.size == 0 || memmem(d->text, strlen(d->text), value.data, value.size);
    uint64_t id = 0;
    const bool is_intel =
        strcmp(d->backend, "level_zero") == 0 || strcmp(d->backend, "opencl") == 0;
    if (read_field(line, "DeviceID", &value) && is_intel && dvi_decimal(value, &id) &&
        id <= 0xffff && strcmp(d->type, "gpu") == 0)
        d->pci_id = id;
    if (!read_field(line, "Architecture", &value))
        return true;
    size_t at = 0;
    const struct dvi_view first = take_word(value, &at); /* further names follow behind " / " */
    if (first.size == 0 || dvi_equals(first, "unknown"))
        return true;
    d->architecture = dvi_arena_text(arena, first);
    d->aliases = further_names(dvi_from(value, at), arena);
    return d->architecture != NULL && d->aliases != NULL;
}

/* --- the whole --- */

/* Where the last `mark` of the text starts, or its end. */
static size_t last_of(struct dvi_view text, const char *mark)
{
    const size_t size = strlen(mark);
    for (size_t at = text.size; at-- > 0;)
        if (dvi_starts_with(dvi_from(text, at), mark, size))
            return at;
    return text.size;
}

/* "Intel(R) UHD Graphics" of "Intel(R) OpenCL Graphics, Intel(R) UHD Graphics OpenCL 3.0 NEO  [25]":
 * between the platform and the version of the device, which is "OpenCL ..." or one word. */
static struct dvi_view name_in(struct dvi_view text)
{
    const uint8_t *comma = memmem(text.data, text.size, ", ", 2);
    if (comma != NULL)
        text = dvi_from(text, (size_t)(comma - text.data) + 2);
    text = without_blanks(dvi_head(text, last_of(text, " [")));
    const size_t opencl = last_of(text, " OpenCL ");
    if (opencl < text.size)
        return without_blanks(dvi_head(text, opencl));
    const size_t blank = last_of(text, " ");
    const struct dvi_view last = dvi_from(text, blank < text.size ? blank + 1 : text.size);
    const bool is_version = last.size > 0 && ((last.data[0] >= '0' && last.data[0] <= '9') ||
                                              dvi_starts_with(last, "gfx", 3));
    return is_version ? without_blanks(dvi_head(text, blank)) : text;
}

static bool add_device(struct dvi_sycl_ls *list, struct dvi_view backend, struct dvi_view type,
                       struct dvi_view text, struct dvi_arena *arena)
{
    struct dvi_sycl_device *d = DVI_ADD(&list->devices);
    if (d == NULL)
        return false;
    d->backend = dvi_arena_text(arena, without_prefix(backend, "ext_oneapi_"));
    d->type = dvi_arena_text(arena, type);
    d->text = dvi_arena_text(arena, text);
    d->name = dvi_arena_text(arena, name_in(text));
    d->ip_version = d->pci_id = DEVIMG_UNKNOWN;
    return d->backend != NULL && d->type != NULL && d->text != NULL && d->name != NULL;
}

/* The backend that shows the GPUs of an OpenCL platform as well; NULL: none is known. */
static const char *native_backend(const char *platform)
{
    static const char *const vendors[][2] = { { "Intel", "level_zero" },
                                              { "NVIDIA", "cuda" },
                                              { "AMD", "hip" } };
    for (size_t i = 0; i < sizeof vendors / sizeof vendors[0]; i++)
        if (strncmp(platform, vendors[i][0], strlen(vendors[i][0])) == 0)
            return vendors[i][1];
    return NULL;
}

/* A GPU that `opencl` may be, and that no other one was found to be; by its name, or by any. */
static bool find_native(const struct dvi_sycl_ls *list, const struct dvi_sycl_device *opencl,
                        bool by_name, bool *claimed)
{
    const char *backend = native_backend(opencl->text);
    for (size_t i = 0; i < list->devices.count; i++) {
        const struct dvi_sycl_device *d = &list->devices.items[i];
        if (claimed[i] || strcmp(d->type, "gpu") != 0 || strcmp(d->backend, "opencl") == 0)
            continue;
        if (by_name ? strcmp(d->name, opencl->name) != 0
                    : backend == NULL || strcmp(d->backend, backend) != 0)
            continue;
        claimed[i] = true;
        return true;
    }
    return false;
}

/* OpenCL shows GPUs again that Level Zero, CUDA or HIP show: each of those is one of them, by name
 * first. What is left over is a GPU of its own. */
static bool mark_again(struct dvi_sycl_ls *list, struct dvi_arena *arena)
{
    bool *claimed = dvi_arena_array(arena, list->devices.count, sizeof *claimed);
    for (size_t round = 0; claimed != NULL && round < 2; round++)
        for (size_t i = 0; i < list->devices.count; i++) {
            struct dvi_sycl_device *d = &list->devices.items[i];
            if (!d->again && strcmp(d->backend, "opencl") == 0 && strcmp(d->type, "gpu") == 0)
                d->again = find_native(list, d, round == 0, claimed);
        }
    return claimed != NULL;
}

bool dvi_sycl_ls_says_filtered(struct dvi_view text)
{
    static const char *const names[] = { "ONEAPI_DEVICE_SELECTOR", "SYCL_DEVICE_FILTER",
                                         "SYCL_DEVICE_ALLOWLIST" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (text.size > 0 && memmem(text.data, text.size, names[i], strlen(names[i])) != NULL)
            return true;
    return false;
}

enum devimg_status dvi_sycl_ls_read(struct dvi_view text, struct dvi_arena *arena,
                                    struct dvi_sycl_ls *out, struct devimg_error *err)
{
    struct dvi_view rest = text, line = { 0 };
    struct blocks blocks = { 0 };
    bool kept = true;
    while (kept && dvi_next_line(&rest, &line)) {
        struct dvi_view backend = { 0 }, type = { 0 }, behind = { 0 };
        if (read_tag(line, &backend, &type, &behind)) {
            if (out->devices.count == MOST_DEVICES)
                return dvi_fail_plain(err, DEVIMG_LIMIT, "sycl-ls", "lists more than %d devices",
                                      (int)MOST_DEVICES);
            kept = add_device(out, backend, type, behind, arena);
        } else {
            kept = read_block_line(&blocks, out, line, arena);
            out->filtered = out->filtered || dvi_sycl_ls_says_filtered(line);
        }
    }
    for (size_t i = 0; kept && i < out->devices.count; i++)
        if (strcmp(out->devices.items[i].type, "gpu") == 0)
            kept = read_gpu(&out->devices.items[i], arena);
    kept = kept && mark_again(out, arena);
    return kept ? DEVIMG_OK : dvi_fail_memory(err, "sycl-ls");
}

void dvi_sycl_ls_free(struct dvi_sycl_ls *list)
{
    DVI_LIST_FREE(&list->devices);
}

bool dvi_sycl_ls_has(const struct dvi_sycl_ls *list, const char *backend, const char *type)
{
    for (size_t i = 0; i < list->devices.count; i++)
        if (strcmp(list->devices.items[i].backend, backend) == 0 &&
            strcmp(list->devices.items[i].type, type) == 0)
            return true;
    return false;
}
