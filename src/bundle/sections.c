/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sections of an object that hold device images and no table of their own:
 *
 *    __CLANG_OFFLOAD_BUNDLE__<kind>-<target>   in an object what the compiler left for the device
 *                                              link; in a linked file the images of that target
 *    spir64_gen, spir64, ...                   the same, as the new offload driver of intel/llvm
 *                                              names it: after the target alone
 *    .llvm.offloading                          offload binaries for the device link; in a linked
 *                                              file, by clang from llvm.org, SYCL images
 *    .sycl_fatbin                              the same
 *
 * Linkers of Windows keep eight bytes of a name in linked files: "__CLANG_" for images of every
 * target.
 * In the memory of a program an offload binary is OpenMP's. Its descriptor names each image by two
 * addresses in a row, of its first byte and behind its last one.
 * Images stand one after another at multiples of 8 or 16, with zero bytes between. What a
 * descriptor names is claimed already; the rest stands here.
 * Sources: intel/llvm clang/tools/clang-offload-bundler (object files), ClangOffloadWrapper.cpp,
 * llvm/lib/Frontend/Offloading/SYCLOffloadWrapper.cpp; llvm/llvm-project
 * llvm/lib/Object/OffloadBinary.cpp, llvm/lib/Frontend/Offloading/OffloadWrapper.cpp.
 */
#include "bundle/bundle.h"
#include "object/bitcode.h"
#include "object/magic.h"

#include <inttypes.h>
#include <string.h>

static const char prefix[] = "__CLANG_OFFLOAD_BUNDLE__";
enum { PREFIX_SIZE = sizeof prefix - 1, ALIGNMENT = 8, MOST_DAMAGED = 256 };
enum { SHT_LLVM_OFFLOADING = 0x6fff4c0b };

/* Behind the zero bytes at `at`; the end of `v` when only zeros follow. */
static uint64_t skip_padding(struct dvi_view v, uint64_t at)
{
    while (at < v.size && v.data[at] == 0)
        at++;
    return at;
}

/* Behind bytes that could not be read: the next place where an image may start. */
static uint64_t next_start(struct dvi_view v, uint64_t at)
{
    for (at += ALIGNMENT - (v.offset + at) % ALIGNMENT; at < v.size; at += ALIGNMENT)
        if (dvi_packed_starts(dvi_from(v, at)))
            return at;
    return v.size;
}

/* The words of a program that may name images by two addresses in a row: where the first of such
 * pairs leads to, sorted. */
struct begin {
    uint64_t addr;
};
struct openmp {
    const struct dvi_section *in; /* the section that images stand in */
    DVI_LIST(struct begin) begins;
};

static enum devimg_status take_pair(struct openmp *o, uint64_t begin, uint64_t end,
                                    struct devimg_error *err)
{
    const uint64_t size = o->in->data.size;
    if (begin - o->in->addr >= size || end <= begin || end - o->in->addr > size)
        return DEVIMG_OK;
    struct begin *added = DVI_ADD(&o->begins);
    if (added == NULL)
        return dvi_fail_memory(err, o->in->data.source);
    added->addr = begin;
    return DEVIMG_OK;
}

/* In a file at a fixed address such words have no relocations. */
static enum devimg_status take_words(struct openmp *o, const struct dvi_object *object,
                                     struct dvi_claims *claims, struct devimg_error *err)
{
    for (size_t i = 0; i < object->section_count; i++) {
        const struct dvi_section *s = &object->sections[i];
        if (s->executable || s->unmapped || s->addr == 0 || s == o->in)
            continue;
        if (!dvi_claims_charge(claims, s->data.size))
            return DEVIMG_OK; /* what is not looked at stays unknown */
        for (uint64_t at = -s->addr & 7; at + 16 <= s->data.size; at += 8)
            DVI_TRY(take_pair(o, dvi_peek64(s->data, at), dvi_peek64(s->data, at + 8), err));
    }
    return DEVIMG_OK;
}

static enum devimg_status read_openmp(struct openmp *o, struct dvi_object *object,
                                      struct dvi_claims *claims, struct devimg_error *err)
{
    if (object->pointer_size != 8)
        return DEVIMG_OK;
    DVI_TRY(dvi_object_pointers(object, err));
    /* a file may have any number of such sections, and all pointers are looked at for each */
    if (!dvi_claims_charge(claims, (uint64_t)object->pointer_count * object->pointer_size))
        return DEVIMG_OK;
    for (size_t i = 1; i < object->pointer_count; i++) {
        const struct dvi_pointer *p = &object->pointers[i - 1];
        if (p[1].addr == p->addr + 8 && p->value != DVI_EXTERNAL && p[1].value != DVI_EXTERNAL)
            DVI_TRY(take_pair(o, p->value, p[1].value, err));
    }
    if (object->fixed_address)
        DVI_TRY(take_words(o, object, claims, err));
    if (!dvi_sort_by_addr(o->begins.items, o->begins.count, sizeof *o->begins.items))
        return dvi_fail_memory(err, object->file.source);
    return DEVIMG_OK;
}

/* Does a pair of addresses name something in these bytes of the section? */
static bool is_named(const struct openmp *o, struct dvi_view bytes)
{
    const uint64_t begin = o->in->addr + (bytes.offset - o->in->data.offset);
    const size_t i =
        dvi_first_from_addr(o->begins.items, o->begins.count, sizeof *o->begins.items, begin);
    return i < o->begins.count && o->begins.items[i].addr - begin < bytes.size;
}

/* A section under way. Reading what looks like an image may go on to the end of the section before
 * it fails, so only so many failures are taken. */
struct walk {
    const struct dvi_object *object;
    struct dvi_claims *claims;
    struct dvi_found *found;
    struct dvi_placed outer;
    struct openmp openmp;
    bool is_loaded; /* the section is part of the running program */
    bool is_bundle; /* of clang's bundler */
    unsigned damaged_left;
};

/* What the next link will do, or the last one has done. */
static void tell_link(struct dvi_placed *image, const struct walk *w)
{
    const struct dvi_object *object = w->object;
    /* a descriptor may be there and not seen: of a 32-bit host, behind lost relocations, or
     * damaged */
    const bool all_seen =
        object->pointer_size == 8 && !object->pointers_partial && !w->claims->incomplete;
    const bool for_link = dvi_has_magic(image->bytes, DVI_MAGIC_OFFLOAD_BINARY);
    const bool bitcode = dvi_bitcode_match(image->bytes);
    /* a device link took a copy; link.exe, which knows no such section, keeps the first */
    const bool for_device_link =
        object->kind == DEVIMG_KIND_PE && bitcode && w->is_bundle && w->found->descriptor_count > 0;
    if (!object->is_linked && bitcode)
        image->note = "bitcode in its object: the device link of the offload compiler's driver "
                      "makes code of it, for the targets of the link line; a plain link drops it";
    else if (!object->is_linked)
        image->note = "still in its object: only a link by the offload compiler's driver keeps it";
    else if (for_device_link)
        image->note = "left over in a linked file: the device link has made images of its kind, "
                      "and the linker keeps what they were made of";
    else if (for_link && w->is_loaded)
        image->note = "an offload binary in the memory of the program, for the runtime of OpenMP";
    else if (for_link)
        image->note = "left over in a linked file: the offload compiler's driver takes it out";
    else
        image->note =
            all_seen ? "no descriptor names it" : "whether a descriptor names it is unknown";
    image->registered =
        object->is_linked && !for_link && !for_device_link && all_seen ? DEVIMG_NO : DEVIMG_MAYBE;
    image->entries_known = for_device_link; /* none that a program could launch */
    if (for_device_link && image->offload == DEVIMG_OFFLOAD_UNKNOWN) /* the section's name is cut */
        image->offload = DEVIMG_OFFLOAD_SYCL;
}

static enum devimg_status walk_gap(struct walk *w, struct dvi_view gap, struct devimg_error *err)
{
    for (uint64_t at = skip_padding(gap, 0); at < gap.size; at = skip_padding(gap, at)) {
        struct dvi_placed image = w->outer;
        enum devimg_status status = dvi_packed_first(dvi_from(gap, at), &image.bytes, err);
        const bool moves = status == DEVIMG_OK && image.bytes.size > 0;
        const uint64_t next = moves ? at + image.bytes.size : next_start(gap, at);
        if (moves) {
            tell_link(&image, w);
            if (w->is_loaded && is_named(&w->openmp, image.bytes))
                image.registered = DEVIMG_YES;
            status = dvi_found_image(w->found, &image, err);
        }
        DVI_TRY(dvi_found_damage(w->found, status, err));
        if (status != DEVIMG_OK && --w->damaged_left == 0)
            return dvi_fail(err, DEVIMG_MALFORMED, gap, next,
                            "%d places held no image: the rest is left out", (int)MOST_DAMAGED);
        at = next;
    }
    return DEVIMG_OK;
}

/* What a section's name says of the images in it. */
struct label {
    struct dvi_view text; /* entry id or target; empty: nothing */
    bool is_target;       /* the whole name is a target of SYCL */
    bool is_bundle;       /* __CLANG_OFFLOAD_BUNDLE__ */
};

/* Does the section hold images? */
static bool holds_images(const struct dvi_object *object, const struct dvi_section *section,
                         struct label *label)
{
    static const char *const targets[] = { "spir64_gen", "spir64_x86_64", "spir64",
                                           "spirv64",    "native_cpu",    "spir" };
    const struct dvi_view name = section->name;
    *label = (struct label){ .text = dvi_from(name, name.size) };
    if (name.size > PREFIX_SIZE && dvi_starts_with(name, prefix, PREFIX_SIZE)) {
        label->text = dvi_from(name, PREFIX_SIZE);
        label->is_bundle = true;
        return !dvi_starts_with(label->text, "host-", 5);
    }
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
        if (dvi_object_names(object, section, targets[i])) {
            label->text = dvi_view_of(targets[i], strlen(targets[i]), name.source);
            label->is_target = true;
            return true;
        }
    label->is_bundle = dvi_object_names(object, section, prefix); /* cut: of any target */
    return label->is_bundle || dvi_object_names(object, section, ".llvm.offloading") ||
           dvi_object_names(object, section, ".sycl_fatbin") ||
           (object->kind == DEVIMG_KIND_ELF && section->type == (uint32_t)SHT_LLVM_OFFLOADING);
}

static enum devimg_status walk_section(struct dvi_object *object, const struct dvi_section *section,
                                       const struct label *label, struct dvi_claims *claims,
                                       struct dvi_found *found, struct devimg_error *err)
{
    const bool is_bundle = label->is_bundle || label->is_target;
    struct walk w = { .object = object,
                      .claims = claims,
                      .found = found,
                      .is_loaded = !section->unmapped,
                      .is_bundle = label->is_bundle,
                      .outer =
                          dvi_placed_unknown(section->data, is_bundle ? "clang-bundle" : "none"),
                      .damaged_left = MOST_DAMAGED };
    w.outer.offload = label->is_target ? DEVIMG_OFFLOAD_SYCL : dvi_clang_offload(label->text);
    w.outer.section = dvi_arena_text(found->arena, section->name);
    if (label->text.size > 0)
        w.outer.entry_id = dvi_arena_text(found->arena, label->text);
    const struct dvi_view arch = dvi_clang_arch(label->text);
    if (arch.size > 0)
        w.outer.arch = dvi_arena_text(found->arena, arch);
    if (w.outer.section == NULL || (w.outer.entry_id == NULL && label->text.size > 0) ||
        (w.outer.arch == NULL && arch.size > 0))
        return dvi_fail_memory(err, section->name.source);
    uint64_t at = 0;
    struct dvi_view gap = { 0 };
    enum devimg_status status = DEVIMG_OK;
    w.openmp.in = section;
    if (object->is_linked && w.is_loaded && !is_bundle)
        status = read_openmp(&w.openmp, object, claims, err);
    while (status == DEVIMG_OK && dvi_claims_gap(claims, section->data, &at, &gap))
        status = walk_gap(&w, gap, err);
    DVI_LIST_FREE(&w.openmp.begins);
    return status;
}

static enum devimg_status walk_object(struct dvi_object *object, struct dvi_claims *claims,
                                      struct dvi_found *found, struct devimg_error *err)
{
    for (size_t i = 0; i < object->section_count; i++) {
        const struct dvi_section *section = &object->sections[i];
        struct label label = { 0 };
        if (!holds_images(object, section, &label))
            continue;
        if (!dvi_claims_charge(claims, section->data.size + section->name.size))
            return dvi_fail(err, DEVIMG_MALFORMED, section->data, 0, "bundle sections overlap");
        const enum devimg_status status = walk_section(object, section, &label, claims, found, err);
        DVI_TRY(dvi_found_damage(found, status, err));
    }
    return DEVIMG_OK;
}

const struct dvi_bundle dvi_bundle_sections = {
    .name = "clang-bundle",
    .walk_object = walk_object,
};
