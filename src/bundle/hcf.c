/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HCF, AdaptiveCpp's container: a header of text, a marker, and behind it the bytes of the images.
 * Sources: AdaptiveCpp doc/hcf.md, include/hipSYCL/common/hcf_container.hpp (lines, lists as nodes),
 * src/compiler/sscp/TargetSeparationPass.cpp (what the compiler writes, and in which order).
 *
 *    object-id=<number>               first; nothing else tells where a container starts
 *    {.images
 *    {.<image>                        a name of its own: "llvm-ir.global"
 *    format=<format>                  "llvm-ir"
 *    {.__binary
 *    start=<decimal>                  counts from behind the marker
 *    size=<decimal>
 *    }.__binary
 *    }.<image>
 *    }.images
 *    {.kernels
 *    {.<kernel>
 *    {.image-providers                holds one empty node for each image that has the kernel
 *    {.<image>
 *    }.<image>
 *    }.image-providers
 *    }.<kernel>
 *    }.kernels
 *    __acpp_hcf_binary_appendix       the marker; "__hipsycl_..." until AdaptiveCpp was renamed
 *
 * Blanks around a line, a key and a value do not count; other keys and nodes are stepped over. In a
 * host object the container is a constant somewhere in its data. The marker also stands in
 * AdaptiveCpp's own libraries: without "object-id=" before it, and no NUL between, it is only that.
 */
#include "bundle/bundle.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"

static const char first_key[] = "object-id=", marker_end[] = "_hcf_binary_appendix";
enum {
    FIRST_KEY_SIZE = sizeof first_key - 1,
    MARKER_END_SIZE = sizeof marker_end - 1,
    MOST_DEPTH = 64,      /* AdaptiveCpp nests six nodes */
    MOST_NODES = 1 << 20, /* of one header */
    MOST_SHOWN = 40       /* bytes of a name in a message */
};

/* What a node stands for. */
enum role { ROOT, IMAGES, IMAGE, BINARY, KERNELS, KERNEL, PROVIDERS, PROVIDER, OTHER };

struct node {
    struct dvi_view name;
    enum role role;
};

/* Views into the header; `data` is NULL where the header has no such key. */
struct image {
    struct dvi_view name, format, start, size;
    bool has_binary;
    uint32_t entry_count;
    const char **entries;
};

struct kernel {
    struct dvi_view name;
    bool provided; /* it names an image */
};

struct provider {
    struct dvi_view image;
    uint32_t kernel;
};

struct container {
    struct dvi_view header, appendix; /* the appendix may go on past its images */
};

struct header {
    struct node open[MOST_DEPTH];
    unsigned depth; /* nodes that are open */
    uint32_t nodes; /* so far */
    bool is_whole;  /* read to its end */
    bool has_kernels, entries_known;
    DVI_LIST(struct image) images;
    DVI_LIST(struct kernel) kernels;
    DVI_LIST(struct provider) providers;
};

#define SHOW(v) (int)((v).size < MOST_SHOWN ? (v).size : MOST_SHOWN), (const char *)(v).data

static struct dvi_view trim(struct dvi_view v)
{
    static const char blanks[] = " \t\n\v\f\r";
    size_t skipped = 0;
    while (skipped < v.size && memchr(blanks, v.data[skipped], sizeof blanks - 1) != NULL)
        skipped++;
    v = dvi_from(v, skipped);
    while (v.size > 0 && memchr(blanks, v.data[v.size - 1], sizeof blanks - 1) != NULL)
        v.size--;
    return v;
}

/* --- the header --- */

static enum role role_of(enum role parent, struct dvi_view name)
{
    switch (parent) {
    case ROOT:
        return dvi_equals(name, "images") ? IMAGES : dvi_equals(name, "kernels") ? KERNELS : OTHER;
    case IMAGES: return IMAGE;
    case IMAGE: return dvi_equals(name, "__binary") ? BINARY : OTHER;
    case KERNELS: return KERNEL;
    case KERNEL: return dvi_equals(name, "image-providers") ? PROVIDERS : OTHER;
    case PROVIDERS: return PROVIDER;
    default: return OTHER;
    }
}

static bool keep_image(struct header *h, struct dvi_view name)
{
    struct image *image = DVI_ADD(&h->images);
    if (image != NULL)
        image->name = name;
    return image != NULL;
}

static bool keep_kernel(struct header *h, struct dvi_view name)
{
    struct kernel *kernel = DVI_ADD(&h->kernels);
    if (kernel != NULL)
        kernel->name = name;
    return kernel != NULL;
}

static bool keep_provider(struct header *h, struct dvi_view name)
{
    const size_t kernel = h->kernels.count - 1; /* the one that is open */
    struct provider *provider = DVI_ADD(&h->providers);
    if (provider == NULL)
        return false;
    *provider = (struct provider){ name, (uint32_t)kernel };
    h->kernels.items[kernel].provided = true;
    return true;
}

static enum devimg_status open_node(struct header *h, struct dvi_view name,
                                    struct devimg_error *err)
{
    bool kept = true;
    if (h->depth == MOST_DEPTH)
        return dvi_fail(err, DEVIMG_MALFORMED, name, 0,
                        "HCF header: nodes nested more than %d deep", (int)MOST_DEPTH);
    if (h->nodes++ == MOST_NODES)
        return dvi_fail(err, DEVIMG_MALFORMED, name, 0, "HCF header: more than %d nodes",
                        (int)MOST_NODES);
    const enum role role = role_of(h->depth > 0 ? h->open[h->depth - 1].role : ROOT, name);
    h->open[h->depth++] = (struct node){ name, role };
    if (role == IMAGE)
        kept = keep_image(h, name);
    else if (role == KERNEL)
        kept = keep_kernel(h, name);
    else if (role == PROVIDER)
        kept = keep_provider(h, name);
    else if (role == BINARY)
        h->images.items[h->images.count - 1].has_binary = true;
    else if (role == KERNELS)
        h->has_kernels = true;
    return kept ? DEVIMG_OK : dvi_fail_memory(err, name.source);
}

static enum devimg_status close_node(struct header *h, struct dvi_view name,
                                     struct devimg_error *err)
{
    if (h->depth == 0)
        return dvi_fail(err, DEVIMG_MALFORMED, name, 0,
                        "HCF header: node \"%.*s\" ends and was not open", SHOW(name));
    const struct dvi_view open = h->open[h->depth - 1].name;
    if (dvi_compare(open, name) != 0)
        return dvi_fail(err, DEVIMG_MALFORMED, name, 0,
                        "HCF header: node \"%.*s\" ends where \"%.*s\" is open", SHOW(name),
                        SHOW(open));
    h->depth--;
    return DEVIMG_OK;
}

/* The first value counts, as for AdaptiveCpp. */
static void keep_value(struct header *h, struct dvi_view key, struct dvi_view value)
{
    const enum role role = h->depth > 0 ? h->open[h->depth - 1].role : ROOT;
    struct image *image = h->images.count > 0 ? &h->images.items[h->images.count - 1] : NULL;
    struct dvi_view *kept = NULL;
    if (role == IMAGE && dvi_equals(key, "format"))
        kept = &image->format;
    else if (role == BINARY && dvi_equals(key, "start"))
        kept = &image->start;
    else if (role == BINARY && dvi_equals(key, "size"))
        kept = &image->size;
    if (kept != NULL && kept->data == NULL)
        *kept = value;
}

static enum devimg_status read_line(struct header *h, struct dvi_view line,
                                    struct devimg_error *err)
{
    if (line.size == 0)
        return DEVIMG_OK;
    const uint8_t *nul = memchr(line.data, 0, line.size);
    if (nul != NULL)
        return dvi_fail(err, DEVIMG_MALFORMED, line, (uint64_t)(nul - line.data),
                        "HCF header: a NUL in the text");
    if (dvi_starts_with(line, "{.", 2))
        return open_node(h, dvi_from(line, 2), err);
    if (dvi_starts_with(line, "}.", 2))
        return close_node(h, dvi_from(line, 2), err);
    const uint8_t *equals = memchr(line.data, '=', line.size);
    if (equals == NULL)
        return dvi_fail(err, DEVIMG_MALFORMED, line, 0,
                        "HCF header: \"%.*s\" is no key and no node", SHOW(line));
    const size_t key_size = (size_t)(equals - line.data);
    keep_value(h, trim(dvi_head(line, key_size)), trim(dvi_from(line, key_size + 1)));
    return DEVIMG_OK;
}

static enum devimg_status parse(struct header *h, struct dvi_view text, struct devimg_error *err)
{
    for (size_t at = 0; at < text.size;) {
        const struct dvi_view rest = dvi_from(text, at);
        const uint8_t *end = memchr(rest.data, '\n', rest.size);
        const size_t size = end != NULL ? (size_t)(end - rest.data) : rest.size;
        DVI_TRY(read_line(h, trim(dvi_head(rest, size)), err));
        at += size + 1;
    }
    h->is_whole = h->depth == 0;
    if (h->is_whole)
        return DEVIMG_OK;
    const struct dvi_view open = h->open[h->depth - 1].name;
    return dvi_fail(err, DEVIMG_MALFORMED, open, 0, "HCF header: node \"%.*s\" does not end",
                    SHOW(open));
}

/* --- entries --- */

static int by_name(const void *a, const void *b)
{
    const struct image *x = *(struct image *const *)a, *y = *(struct image *const *)b;
    return dvi_compare(x->name, y->name);
}

static int name_to_image(const void *key, const void *item)
{
    return dvi_compare(*(const struct dvi_view *)key, (*(struct image *const *)item)->name);
}

static enum devimg_status sort_images(struct header *h, struct image **sorted,
                                      struct devimg_error *err)
{
    for (size_t i = 0; i < h->images.count; i++)
        sorted[i] = &h->images.items[i];
    qsort(sorted, h->images.count, sizeof *sorted, by_name);
    for (size_t i = 1; i < h->images.count; i++)
        if (by_name(&sorted[i - 1], &sorted[i]) == 0)
            return dvi_fail(err, DEVIMG_MALFORMED, sorted[i]->name, 0,
                            "HCF header: two images are named \"%.*s\"", SHOW(sorted[i]->name));
    return DEVIMG_OK;
}

/* Room for each image's entries. */
static enum devimg_status count_entries(struct header *h, struct image *const *sorted,
                                        struct image **of_provider, struct dvi_arena *arena,
                                        struct devimg_error *err)
{
    for (size_t i = 0; i < h->providers.count; i++) {
        const struct dvi_view name = h->providers.items[i].image;
        struct image *const *found = h->images.count > 0 ? bsearch(&name, sorted, h->images.count,
                                                                   sizeof *sorted, name_to_image)
                                                         : NULL;
        if (found == NULL)
            return dvi_fail(err, DEVIMG_MALFORMED, name, 0,
                            "HCF header: a kernel is of image \"%.*s\", which is not there",
                            SHOW(name));
        of_provider[i] = *found;
        of_provider[i]->entry_count++;
    }
    for (size_t i = 0; i < h->images.count; i++) {
        struct image *image = &h->images.items[i];
        image->entries = dvi_arena_array(arena, image->entry_count, sizeof *image->entries);
        if (image->entries == NULL)
            return dvi_fail_memory(err, image->name.source);
        image->entry_count = 0;
    }
    return DEVIMG_OK;
}

static enum devimg_status fill_entries(struct header *h, struct image *const *of_provider,
                                       struct dvi_arena *arena, struct devimg_error *err)
{
    const char *name = NULL;
    for (size_t i = 0; i < h->providers.count; i++) {
        const uint32_t kernel = h->providers.items[i].kernel;
        if (h->kernels.items[kernel].name.size > DVI_MOST_KERNEL_NAME)
            return dvi_fail(err, DEVIMG_MALFORMED, h->kernels.items[kernel].name, 0,
                            "HCF kernel name of %zu bytes: at most %d are read",
                            h->kernels.items[kernel].name.size, DVI_MOST_KERNEL_NAME);
        if (i == 0 || kernel != h->providers.items[i - 1].kernel)
            name = dvi_arena_text(arena, h->kernels.items[kernel].name);
        if (name == NULL)
            return dvi_fail_memory(err, h->providers.items[i].image.source);
        of_provider[i]->entries[of_provider[i]->entry_count++] = name;
    }
    h->entries_known = true;
    return DEVIMG_OK;
}

/* Whose kernels are whose. Unknown where one kernel does not say it. */
static enum devimg_status read_entries(struct header *h, struct dvi_view text,
                                       struct dvi_found *found, struct devimg_error *err)
{
    if (!h->has_kernels)
        return DEVIMG_OK;
    for (size_t i = 0; i < h->kernels.count; i++)
        if (!h->kernels.items[i].provided)
            return DEVIMG_OK;
    DVI_TRY(dvi_found_names(found, h->providers.count, "entry names", text, err));
    struct image **sorted = calloc(h->images.count + 1, sizeof *sorted);
    struct image **of_provider = calloc(h->providers.count + 1, sizeof *of_provider);
    enum devimg_status status = sorted == NULL || of_provider == NULL
                                    ? dvi_fail_memory(err, text.source)
                                    : sort_images(h, sorted, err);
    if (status == DEVIMG_OK)
        status = count_entries(h, sorted, of_provider, found->arena, err);
    if (status == DEVIMG_OK)
        status = fill_entries(h, of_provider, found->arena, err);
    free(sorted);
    free(of_provider);
    return status;
}

/* --- images --- */

static enum devimg_status read_number(const struct image *image, struct dvi_view value,
                                      const char *what, uint64_t *out, struct devimg_error *err)
{
    if (value.data == NULL)
        return dvi_fail(err, DEVIMG_MALFORMED, image->name, 0, "HCF image \"%.*s\": no %s",
                        SHOW(image->name), what);
    if (!dvi_decimal(value, out))
        return dvi_fail(err, DEVIMG_MALFORMED, value, 0,
                        "HCF image \"%.*s\": %s \"%.*s\" is no decimal number of 64 bits",
                        SHOW(image->name), what, SHOW(value));
    return DEVIMG_OK;
}

/* `*used` becomes the end of the image in the appendix when it lies behind. */
static enum devimg_status give_image(const struct header *h, const struct image *image,
                                     struct dvi_view appendix, const struct dvi_placed *outer,
                                     struct dvi_found *found, size_t *used,
                                     struct devimg_error *err)
{
    uint64_t start = 0, size = 0;
    struct dvi_placed placed = *outer;
    if (!h->is_whole && (image->start.data == NULL || image->size.data == NULL))
        return DEVIMG_OK; /* what it lacks may have stood behind the damage, which was said */
    if (!image->has_binary)
        return dvi_fail(err, DEVIMG_MALFORMED, image->name, 0,
                        "HCF image \"%.*s\": no node __binary says where it is", SHOW(image->name));
    DVI_TRY(read_number(image, image->start, "start", &start, err));
    DVI_TRY(read_number(image, image->size, "size", &size, err));
    DVI_TRY(dvi_slice(appendix, start, size, "HCF image", &placed.bytes, err));
    if (size == 0)
        return dvi_fail(err, DEVIMG_MALFORMED, image->name, 0, "HCF image \"%.*s\": 0 bytes",
                        SHOW(image->name));
    if (start + size > *used)
        *used = (size_t)(start + size);
    placed.bundle = "hcf";
    placed.offload = DEVIMG_OFFLOAD_ACPP;
    DVI_TRY(dvi_found_label(found, image->name, "HCF image name", &placed.entry_id, err));
    if (h->entries_known) {
        placed.entries = image->entries;
        placed.entry_count = image->entry_count;
        placed.entries_known = true;
    }
    if (image->format.data != NULL && dvi_equals(image->format, "llvm-ir"))
        placed.note = "generic LLVM IR: AdaptiveCpp's runtime compiles it at the first run, for "
                      "whatever device it finds";
    return dvi_found_image(found, &placed, err);
}

/* `*used`: bytes of the appendix that its images take. */
static enum devimg_status read_container(const struct container *c, const struct dvi_placed *outer,
                                         struct dvi_found *found, size_t *used,
                                         struct devimg_error *err)
{
    struct header h = { .depth = 0 };
    enum devimg_status status = parse(&h, c->header, err);
    if (status == DEVIMG_OK) /* of half a list of kernels nothing is told */
        status = read_entries(&h, c->header, found, err);
    status = dvi_found_damage(found, status, err);
    for (size_t i = 0; i < h.images.count && status == DEVIMG_OK; i++) {
        status = give_image(&h, &h.images.items[i], c->appendix, outer, found, used, err);
        status = dvi_found_damage(found, status, err);
    }
    DVI_LIST_FREE(&h.images);
    DVI_LIST_FREE(&h.kernels);
    DVI_LIST_FREE(&h.providers);
    return status;
}

/* --- where containers stand --- */

/* The first marker at or behind `at`, as [*begin, *end). */
static bool find_marker(struct dvi_view v, size_t at, size_t *begin, size_t *end)
{
    static const char *const starts[] = { "__acpp", "__hipsycl" };
    const uint8_t *hit = NULL;
    for (size_t from = at;; from = *end) {
        hit = memmem(v.data + from, v.size - from, marker_end, MARKER_END_SIZE);
        if (hit == NULL)
            return false;
        *begin = (size_t)(hit - v.data);
        *end = *begin + MARKER_END_SIZE;
        for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
            const size_t size = strlen(starts[i]);
            if (*begin - at >= size && memcmp(hit - size, starts[i], size) == 0) {
                *begin -= size;
                return true;
            }
        }
    }
}

/* The first container at or behind `*at`, which moves behind its marker. No byte is looked at twice
 * for two markers. */
static bool find_container(struct dvi_view v, size_t *at, struct container *out)
{
    size_t begin = 0, end = 0;
    for (; find_marker(v, *at, &begin, &end); *at = end) {
        const uint8_t *nul = memrchr(v.data + *at, 0, begin - *at);
        const size_t from = nul != NULL ? (size_t)(nul - v.data) + 1 : *at;
        const uint8_t *start = memmem(v.data + from, begin - from, first_key, FIRST_KEY_SIZE);
        if (start == NULL)
            continue;
        const size_t header = (size_t)(start - v.data);
        *out =
            (struct container){ dvi_head(dvi_from(v, header), begin - header), dvi_from(v, end) };
        *at = end;
        return true;
    }
    return false;
}

static bool match(struct dvi_view v)
{
    size_t begin = 0, end = 0;
    return dvi_starts_with(v, first_key, FIRST_KEY_SIZE) && find_marker(v, 0, &begin, &end);
}

static enum devimg_status walk(const struct dvi_placed *outer, struct dvi_found *found,
                               struct devimg_error *err)
{
    const struct dvi_view v = outer->bytes;
    size_t begin = 0, end = 0, used = 0;
    if (!find_marker(v, 0, &begin, &end))
        return dvi_fail(err, DEVIMG_MALFORMED, v, 0, "HCF without its marker");
    const struct container c = { dvi_head(v, begin), dvi_from(v, end) };
    return read_container(&c, outer, found, &used, err);
}

/* An object under way. Its containers are claimed when all of it is searched, as claims are sorted
 * again after each change. */
struct search {
    struct dvi_claims *claims;
    struct dvi_found *found;
    const struct dvi_section *section;
    struct dvi_placed outer;
    DVI_LIST(struct dvi_view) taken;
};

/* Many sections may share one long name. */
static enum devimg_status name_section(struct search *s, struct devimg_error *err)
{
    if (s->outer.section != NULL || !dvi_claims_charge(s->claims, s->section->name.size))
        return DEVIMG_OK;
    s->outer.section = dvi_arena_text(s->found->arena, s->section->name);
    return s->outer.section != NULL ? DEVIMG_OK : dvi_fail_memory(err, s->section->name.source);
}

static enum devimg_status search_gap(struct search *s, struct dvi_view gap,
                                     struct devimg_error *err)
{
    size_t at = 0;
    struct container c = { 0 };
    while (find_container(gap, &at, &c)) {
        size_t used = 0;
        struct dvi_view *whole = DVI_ADD(&s->taken);
        if (whole == NULL)
            return dvi_fail_memory(err, gap.source);
        *whole = c.header;
        DVI_TRY(name_section(s, err));
        DVI_TRY(read_container(&c, &s->outer, s->found, &used, err));
        at += used; /* an image holds no container */
        whole->size = (size_t)(gap.offset + at - c.header.offset);
    }
    return DEVIMG_OK;
}

/* The compiler writes a constant without relocations, which lies in one of these; without a section
 * table, in a segment. */
static bool is_searched(const struct dvi_section *section)
{
    static const char *const starts[] = { ".rodata", ".lrodata", ".rdata", ".ldata", "PT_LOAD" };
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
        if (dvi_starts_with(section->name, starts[i], strlen(starts[i])))
            return true;
    return dvi_starts_with(section->name, ".data", 5) &&
           !dvi_starts_with(section->name, ".data.rel.ro", 12);
}

static enum devimg_status search_sections(struct search *s, const struct dvi_object *object,
                                          struct devimg_error *err)
{
    for (size_t i = 0; i < object->section_count; i++) {
        struct dvi_view gap = { 0 };
        uint64_t at = 0;
        s->section = &object->sections[i];
        s->outer = dvi_placed_unknown(s->section->data, "hcf");
        const bool is_code = s->section->executable && !dvi_equals(s->section->name, "PT_LOAD");
        if (is_code || !is_searched(s->section))
            continue;
        if (!dvi_claims_charge(s->claims, s->section->data.size))
            return dvi_fail(err, DEVIMG_MALFORMED, s->section->data, 0,
                            "sections overlap: the rest is not searched for HCF containers");
        while (dvi_claims_gap(s->claims, s->section->data, &at, &gap))
            DVI_TRY(search_gap(s, gap, err));
    }
    return DEVIMG_OK;
}

static enum devimg_status walk_object(struct dvi_object *object, struct dvi_claims *claims,
                                      struct dvi_found *found, struct devimg_error *err)
{
    struct search s = { .claims = claims, .found = found };
    enum devimg_status status = search_sections(&s, object, err);
    status = dvi_found_damage(found, status, err);
    for (size_t i = 0; i < s.taken.count && status == DEVIMG_OK; i++)
        status = dvi_claims_add(claims, s.taken.items[i], err);
    DVI_LIST_FREE(&s.taken);
    return status;
}

const struct dvi_bundle dvi_bundle_hcf = {
    .name = "hcf",
    .match = match,
    .walk = walk,
    .walk_object = walk_object,
};
