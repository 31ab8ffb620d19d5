/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules: the images that stand for the same kernels, so that the runtime picks one of them.
 *
 * Images with the same set of names belong together, across descriptors, containers and bundles; those
 * of one CUDA fat binary always do, since the runtime takes one of them for a device.
 * A template that several units use gives several images with equal sets: they pair in file order,
 * so that a module never holds two images for the same target, and never images of two units that
 * are both known.
 */
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "model/model.h"

/* What an image is for, as one number: its IP version, or a hash of its target's name. */
typedef DVI_LIST(uint64_t) target_list;

struct candidate {
    uint32_t image;     /* index in the file */
    uint32_t image_end; /* behind its members */
    const char **names; /* sorted, each once */
    uint32_t name_count;
    uint64_t container;       /* not 0: this tells what belongs together, and not the names */
    enum devimg_offload kind; /* UNKNOWN: any */
    bool no_kernels;          /* the names are those of exported functions */
    uint64_t key;             /* hash of the names */
    uint64_t unit_key;        /* hash of its unit; 0: it has none */
    uint64_t pair;            /* hash of key and unit */
    uint64_t signature;       /* hash of key, unit and targets */
    uint32_t first_target, target_count;
    uint32_t module;
};

struct group {         /* modules with equal names, linked in the order they were made */
    uint32_t names_of; /* candidate */
    uint32_t first_module, last_module;
    uint32_t without_unit; /* modules whose unit is not known: any candidate may join them */
};

struct building {  /* a module while images are added */
    uint32_t next; /* module of the same group, or NONE */
    const char *unit;
    uint64_t unit_key;                  /* as of its candidates: most modules differ in it */
    uint32_t candidate;                 /* the first one: it gives the names */
    uint32_t first_member, last_member; /* candidates, linked by next_member */
};

struct builder {
    struct devimg_file *file;
    struct devimg_record *record;
    DVI_LIST(struct candidate) candidates;
    target_list targets;
    DVI_LIST(struct building) modules;
    uint32_t *next_member; /* of each candidate */
    uint32_t *slots;       /* hash table: candidate index + 1 of a group's first */
    struct group *groups;  /* of each candidate that starts one */
    uint32_t *resume;      /* hash table by signature: candidate index + 1 */
    uint32_t *pairs;       /* hash table by pair: candidate index + 1, of the first module */
    size_t slot_count;     /* a power of two */
    uint64_t steps_left;
};

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *at = bytes; /* FNV-1a, 64 bit, eight bytes a step; then mixed down */
    for (; size > 0;) {
        uint64_t word = 0;
        const size_t step = size < sizeof word ? size : sizeof word;
        memcpy(&word, at, step);
        hash = (hash ^ word) * 0x100000001b3u;
        hash ^= hash >> 32;
        at += step;
        size -= step;
    }
    return hash;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return hash_bytes(hash, text, strlen(text) + 1);
}

static const uint64_t hash_start = 0xcbf29ce484222325u;

/* Sorted, each once, in the arena; 0 names: NULL is not used, the array is empty. */
static const char **sorted_names(struct dvi_arena *arena, const char *const *names, uint32_t count,
                                 uint32_t *out_count)
{
    const char **sorted = dvi_arena_array(arena, count, sizeof *sorted);
    if (sorted == NULL)
        return NULL;
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = names[i];
    *out_count = dvi_names_sort(sorted, count);
    return sorted;
}

static uint64_t target_number(const struct devimg_image *image)
{
    if (image->ip_version != DEVIMG_UNKNOWN)
        return image->ip_version;
    const char *text = image->target != NULL ? image->target : image->entry_id;
    return text != NULL ? hash_text(hash_start, text) | (uint64_t)1 << 63 : 0;
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static enum devimg_status add_targets(struct builder *b, struct candidate *c)
{
    c->first_target = (uint32_t)b->targets.count;
    for (uint32_t i = c->image; i < c->image_end; i++) {
        const struct devimg_image *image = &b->file->images.items[i];
        if (image->format == DEVIMG_FORMAT_ARCHIVE && c->image_end - c->image > 1)
            continue;
        /* portable code inside an archive does not stand beside the module's portable image */
        if (image->parent != DEVIMG_NONE && image->format == DEVIMG_FORMAT_SPIRV)
            continue;
        uint64_t *number = DVI_ADD(&b->targets);
        if (number == NULL)
            return DEVIMG_NOMEM;
        *number = target_number(image);
    }
    c->target_count = (uint32_t)b->targets.count - c->first_target;
    if (c->target_count > 0)
        qsort(&b->targets.items[c->first_target], c->target_count, sizeof(uint64_t), by_number);
    return DEVIMG_OK;
}

/* All kernels that the image or its members were decoded to; NULL in `*out`: none was. */
static enum devimg_status decoded_names(struct builder *b,
                                        const struct dvi_described_image *const *described,
                                        uint32_t first, uint32_t end, const char ***out,
                                        uint32_t *out_count)
{
    DVI_LIST(const char *) all = { 0 };
    bool known = false;
    for (uint32_t i = first; i < end; i++) {
        const struct dvi_described_image *it = described[i - b->record->first_image];
        if (it->names == NULL)
            continue;
        known = true;
        for (uint32_t n = 0; n < it->name_count; n++) {
            const char **name = DVI_ADD(&all);
            if (name == NULL) {
                DVI_LIST_FREE(&all);
                return DEVIMG_NOMEM;
            }
            *name = it->names[n];
        }
    }
    *out = NULL;
    if (known)
        *out = sorted_names(&b->file->arena, all.items, (uint32_t)all.count, out_count);
    DVI_LIST_FREE(&all);
    return known && *out == NULL ? DEVIMG_NOMEM : DEVIMG_OK;
}

static enum devimg_status add_candidate(struct builder *b,
                                        const struct dvi_described_image *const *described,
                                        uint32_t first, uint32_t end)
{
    struct devimg_image *image = &b->file->images.items[first];
    struct candidate c = { .image = first,
                           .image_end = end,
                           .container = described[first - b->record->first_image]->container,
                           .module = DEVIMG_NONE };
    /* what a packing says of an image inside stands in the image alone */
    if (b->file->placed.items[first].entries_known || image->entry_count > 0) {
        const uint32_t functions = b->file->placed.items[first].exported_count;
        c.no_kernels = functions > 0 && functions == image->entry_count;
        c.names = sorted_names(&b->file->arena, image->entries,
                               image->entry_count - (c.no_kernels ? 0 : functions), &c.name_count);
        if (c.names == NULL)
            return DEVIMG_NOMEM;
    } else {
        DVI_TRY(decoded_names(b, described, first, end, &c.names, &c.name_count));
    }
    if (c.names != NULL && c.name_count == 0) {
        for (uint32_t i = first; i < end; i++)
            b->file->images.items[i].support = 1;
        return DEVIMG_OK;
    }
    /* CUDA and HIP code is never of one module; where names are unknown, no two kinds are */
    c.kind = c.names == NULL || image->offload == DEVIMG_OFFLOAD_CUDA ||
                     image->offload == DEVIMG_OFFLOAD_HIP
                 ? image->offload
                 : DEVIMG_OFFLOAD_UNKNOWN;
    c.key = hash_bytes(hash_start, &c.kind, sizeof c.kind);
    if (c.container != 0)
        c.key = hash_bytes(c.key, &c.container, sizeof c.container);
    for (uint32_t i = 0; c.container == 0 && c.names != NULL && i < c.name_count; i++)
        c.key = hash_text(c.key, c.names[i]);
    DVI_TRY(add_targets(b, &c));
    c.unit_key = image->unit != NULL ? hash_text(hash_start, image->unit) | 1 : 0;
    c.pair = hash_bytes(c.key, &c.unit_key, sizeof c.unit_key);
    c.signature = c.pair;
    if (c.target_count > 0)
        c.signature = hash_bytes(c.pair, &b->targets.items[c.first_target],
                                 c.target_count * sizeof(uint64_t));
    struct candidate *added = DVI_ADD(&b->candidates);
    if (added == NULL)
        return DEVIMG_NOMEM;
    *added = c;
    return DEVIMG_OK;
}

static bool same_names(const struct candidate *a, const struct candidate *b)
{
    if (a->container != 0 || b->container != 0)
        return a->container == b->container;
    if (a->names == NULL || b->names == NULL)
        return a->names == b->names && a->kind == b->kind;
    if (a->kind != b->kind || a->key != b->key || a->name_count != b->name_count)
        return false;
    for (uint32_t i = 0; i < a->name_count; i++)
        if (strcmp(a->names[i], b->names[i]) != 0)
            return false;
    return true;
}

static bool share_target(struct builder *b, const struct candidate *x, const struct candidate *y)
{
    const uint64_t *numbers = b->targets.items;
    uint32_t i = x->first_target, j = y->first_target;
    while (i < x->first_target + x->target_count && j < y->first_target + y->target_count) {
        if (b->steps_left > 0)
            b->steps_left--;
        if (numbers[i] == numbers[j])
            return true;
        if (numbers[i] < numbers[j])
            i++;
        else
            j++;
    }
    return false;
}

static bool can_join(struct builder *b, const struct building *m, const struct candidate *c)
{
    const char *unit = b->file->images.items[c->image].unit;
    if (m->unit != NULL && unit != NULL &&
        (m->unit_key != c->unit_key || strcmp(m->unit, unit) != 0))
        return false;
    for (uint32_t i = m->first_member; i != DEVIMG_NONE; i = b->next_member[i])
        if (share_target(b, &b->candidates.items[i], c))
            return false;
    return true;
}

/* The group of a candidate's names, made when it is the first with them. */
static struct group *group_of(struct builder *b, uint32_t index)
{
    const struct candidate *c = &b->candidates.items[index];
    size_t slot = (size_t)c->key & (b->slot_count - 1);
    while (b->slots[slot] != 0 && !same_names(c, &b->candidates.items[b->slots[slot] - 1]))
        slot = (slot + 1) & (b->slot_count - 1);
    if (b->slots[slot] == 0) {
        b->slots[slot] = index + 1;
        b->groups[index] = (struct group){ index, DEVIMG_NONE, DEVIMG_NONE, 0 };
    }
    return &b->groups[b->slots[slot] - 1];
}

/* The module that the last candidate with this signature took: those before it cannot be joined. */
static uint32_t *resume_slot(struct builder *b, const struct candidate *c)
{
    size_t slot = (size_t)c->signature & (b->slot_count - 1);
    while (b->resume[slot] != 0 &&
           b->candidates.items[b->resume[slot] - 1].signature != c->signature)
        slot = (slot + 1) & (b->slot_count - 1);
    return &b->resume[slot];
}

/* The candidate with these names and this unit that is in the first module. */
static uint32_t *pair_slot(struct builder *b, const struct candidate *c)
{
    size_t slot = (size_t)c->pair & (b->slot_count - 1);
    while (b->pairs[slot] != 0 && b->candidates.items[b->pairs[slot] - 1].pair != c->pair)
        slot = (slot + 1) & (b->slot_count - 1);
    return &b->pairs[slot];
}

static uint32_t find_module(struct builder *b, const struct group *group, const struct candidate *c,
                            uint32_t resumed, uint32_t first_of_pair)
{
    /* unknown names are equal only before the link, where the images of an object, or of the bundle
     * that goes into one, are of one unit */
    if (c->names == NULL && c->container == 0 && b->record->linked == DEVIMG_YES)
        return DEVIMG_NONE;
    uint32_t m = group->first_module;
    if (resumed != 0)
        m = b->modules.items[b->candidates.items[resumed - 1].module].next;
    else if (c->unit_key != 0 && group->without_unit == 0) /* modules before are of other units */
        m = first_of_pair != 0 ? b->candidates.items[first_of_pair - 1].module : DEVIMG_NONE;
    for (; m != DEVIMG_NONE && b->steps_left > 0; m = b->modules.items[m].next) {
        b->steps_left--;
        if (can_join(b, &b->modules.items[m], c))
            return m;
    }
    return DEVIMG_NONE;
}

static enum devimg_status new_module(struct builder *b, struct group *group, uint32_t index,
                                     uint32_t *out)
{
    *out = (uint32_t)b->modules.count;
    struct building *made = DVI_ADD(&b->modules);
    if (made == NULL)
        return DEVIMG_NOMEM;
    *made = (struct building){ .next = DEVIMG_NONE,
                               .candidate = index,
                               .first_member = DEVIMG_NONE,
                               .last_member = DEVIMG_NONE };
    if (group->last_module != DEVIMG_NONE)
        b->modules.items[group->last_module].next = *out;
    else
        group->first_module = *out;
    group->last_module = *out;
    group->without_unit++; /* until a candidate gives it one */
    return DEVIMG_OK;
}

static enum devimg_status place(struct builder *b, uint32_t index)
{
    struct candidate *c = &b->candidates.items[index];
    struct group *group = group_of(b, index);
    uint32_t *resumed = resume_slot(b, c);
    uint32_t *first_of_pair = pair_slot(b, c);
    uint32_t module = find_module(b, group, c, *resumed, *first_of_pair);
    if (module == DEVIMG_NONE)
        DVI_TRY(new_module(b, group, index, &module));
    struct building *m = &b->modules.items[module]; /* NOLINT(clang-analyzer-unix.Malloc) */
    if (m->first_member == DEVIMG_NONE)
        m->first_member = index;
    else
        b->next_member[m->last_member] = index;
    m->last_member = index;
    b->next_member[index] = DEVIMG_NONE;
    if (m->unit == NULL && c->unit_key != 0) {
        m->unit = b->file->images.items[c->image].unit;
        m->unit_key = c->unit_key;
        group->without_unit--;
    }
    c->module = module;
    if (*first_of_pair == 0 || module < b->candidates.items[*first_of_pair - 1].module)
        *first_of_pair = index + 1;
    *resumed = index + 1;
    return DEVIMG_OK;
}

/* Of a container, images whose names nobody looked at stand beside others. */
static bool all_names_known(const struct builder *b, const struct building *m)
{
    for (uint32_t i = m->first_member; i != DEVIMG_NONE; i = b->next_member[i])
        if (b->candidates.items[i].names == NULL)
            return false;
    return true;
}

/* Write the modules out as records, in the order of their first images. */
static enum devimg_status finish(struct builder *b)
{
    struct devimg_file *file = b->file;
    b->record->first_module = (uint32_t)file->modules.count;
    b->record->module_count = (uint32_t)b->modules.count;
    for (size_t m = 0; m < b->modules.count; m++) {
        const struct building *from = &b->modules.items[m];
        uint32_t count = 0;
        for (uint32_t i = from->first_member; i != DEVIMG_NONE; i = b->next_member[i])
            count += b->candidates.items[i].image_end - b->candidates.items[i].image;
        uint32_t *images = dvi_arena_array(&file->arena, count, sizeof *images);
        struct devimg_module *module = DVI_ADD(&file->modules);
        if (images == NULL || module == NULL)
            return DEVIMG_NOMEM;
        const struct candidate *first = &b->candidates.items[from->candidate];
        const bool names_known = all_names_known(b, from);
        *module =
            (struct devimg_module){ .record = (uint32_t)(b->record - file->records.items),
                                    .unit = from->unit,
                                    .images = images,
                                    .image_count = count,
                                    .names = names_known ? first->names : NULL,
                                    .name_count =
                                        !names_known || first->no_kernels ? 0 : first->name_count };
        count = 0;
        for (uint32_t i = from->first_member; i != DEVIMG_NONE; i = b->next_member[i])
            for (uint32_t image = b->candidates.items[i].image;
                 image < b->candidates.items[i].image_end; image++) {
                images[count++] = image;
                file->images.items[image].module = b->record->first_module + (uint32_t)m;
            }
    }
    return DEVIMG_OK;
}

static enum devimg_status build(struct builder *b,
                                const struct dvi_described_image *const *described)
{
    const struct devimg_record *record = b->record;
    const uint32_t end = record->first_image + record->image_count;
    for (uint32_t i = record->first_image; i < end;) {
        uint32_t next = i + 1;
        while (next < end && b->file->images.items[next].parent != DEVIMG_NONE)
            next++;
        DVI_TRY(add_candidate(b, described, i, next));
        i = next;
    }
    const size_t count = b->candidates.count;
    for (b->slot_count = 16; b->slot_count < 2 * count;)
        b->slot_count *= 2;
    b->next_member = calloc(count + 1, sizeof *b->next_member);
    b->groups = calloc(count + 1, sizeof *b->groups);
    b->slots = calloc(b->slot_count, sizeof *b->slots);
    b->resume = calloc(b->slot_count, sizeof *b->resume);
    b->pairs = calloc(b->slot_count, sizeof *b->pairs);
    if (b->next_member == NULL || b->groups == NULL || b->slots == NULL || b->resume == NULL ||
        b->pairs == NULL)
        return DEVIMG_NOMEM;
    for (uint32_t i = 0; i < count; i++)
        DVI_TRY(place(b, i));
    return finish(b);
}

enum devimg_status dvi_modules_build(struct devimg_file *file, struct devimg_record *record,
                                     const struct dvi_described_image *const *described,
                                     struct devimg_error *err)
{
    enum { STEPS_PER_IMAGE = 4096 }; /* what pairing may cost; past it an image stands alone */
    struct builder b = { .file = file,
                         .record = record,
                         .steps_left = (uint64_t)record->image_count * STEPS_PER_IMAGE };
    const enum devimg_status status = build(&b, described);
    DVI_LIST_FREE(&b.candidates);
    DVI_LIST_FREE(&b.targets);
    DVI_LIST_FREE(&b.modules);
    free(b.next_member);
    free(b.groups);
    free(b.slots);
    free(b.resume);
    free(b.pairs);
    return status == DEVIMG_NOMEM ? dvi_fail_memory(err, file->name) : status;
}
