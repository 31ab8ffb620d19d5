/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sources: llvm/llvm-project clang/lib/CodeGen/CGCUDANV.cpp (HIP and CUDA); fatbinary_section.h of the CUDA
 * toolkit (version 2). The address is a relocation before the link and in position-independent files.
 */
#include "bundle/wrappers.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/compare.h"
#include "bundle/dpcpp.h"

/* The address that a wrapper holds; 0: none; DVI_EXTERNAL: of another file. */
static uint64_t target_of(const struct dvi_object *object, uint64_t addr, struct dvi_view wrapper)
{
    const struct dvi_pointer *p = dvi_object_pointer_at(object, addr + 8);
    return p != NULL ? p->value : object->is_linked ? dvi_peek64(wrapper, 8) : 0;
}

static enum devimg_status read_one(struct dvi_wrappers *w, uint64_t addr, struct dvi_view bytes,
                                   struct devimg_error *err)
{
    bool lists = true;
    if (dvi_all_zero(bytes)) /* what a linker fills with */
        return DEVIMG_OK;
    if (bytes.size < DVI_WRAPPER_SIZE)
        return dvi_fail(err, DEVIMG_TRUNCATED, bytes, 0, "%s wrapper: %zu of %d bytes", w->vendor,
                        bytes.size, (int)DVI_WRAPPER_SIZE);
    const uint64_t target = target_of(w->object, addr, bytes);
    if (!w->known(w, bytes, target, &lists)) {
        w->unread = true;
        return dvi_fail(err, DEVIMG_MALFORMED, bytes, 0,
                        "no %s wrapper: magic %08" PRIx32 ", version %" PRIu32, w->vendor,
                        dvi_peek32(bytes, 0), dvi_peek32(bytes, 4));
    }
    /* before the link of relocatable device code, the fat binary is another object's */
    if (!lists || target == DVI_EXTERNAL || (target == 0 && !w->object->is_linked))
        return DEVIMG_OK;
    struct dvi_wrapper *added = DVI_ADD(&w->list);
    if (added == NULL)
        return dvi_fail_memory(err, bytes.source);
    *added = (struct dvi_wrapper){
        .target = target, .addr = addr, .bytes = bytes, .version = dvi_peek32(bytes, 4)
    };
    return DEVIMG_OK;
}

enum devimg_status dvi_wrappers_read(struct dvi_wrappers *w, const struct dvi_section *section,
                                     struct devimg_error *err)
{
    const struct dvi_view all = section->data;
    DVI_TRY(dvi_object_pointers(w->object, err));
    for (uint64_t at = 0; at < all.size && w->damaged_left > 0; at += DVI_WRAPPER_SIZE) {
        const struct dvi_view bytes = dvi_head(dvi_from(all, at), DVI_WRAPPER_SIZE);
        const enum devimg_status status = read_one(w, section->addr + at, bytes, err);
        if (status != DEVIMG_OK)
            w->damaged_left--;
        DVI_TRY(dvi_found_damage(w->found, status, err));
    }
    return DEVIMG_OK;
}

enum devimg_status dvi_wrappers_name_units(struct dvi_wrappers *w, struct devimg_error *err)
{
    const size_t count = w->list.count;
    struct dvi_descriptor *places = count > 0 ? calloc(count, sizeof *places) : NULL;
    bool sorted = places != NULL;
    if (count == 0)
        return DEVIMG_OK;
    for (size_t i = 0; sorted && i < count; i++)
        places[i].addr = w->list.items[i].addr;
    sorted = sorted && dvi_sort_by_addr(places, count, sizeof *places);
    const enum devimg_status status = sorted ? dvi_units_read(w->object, places, count, err)
                                             : dvi_fail_memory(err, w->object->file.source);
    for (size_t i = 0; status == DEVIMG_OK && i < count; i++) {
        const struct dvi_descriptor *place =
            dvi_descriptor_at(places, count, w->list.items[i].addr);
        w->list.items[i].unit = place != NULL ? place->unit : NULL;
    }
    free(places);
    return status;
}

enum devimg_status dvi_wrappers_sort(struct dvi_wrappers *w, struct devimg_error *err)
{
    if (w->list.count > 0 && !dvi_sort_by_addr(w->list.items, w->list.count, sizeof *w->list.items))
        return dvi_fail_memory(err, w->object->file.source);
    return DEVIMG_OK;
}

uint32_t dvi_wrappers_take(struct dvi_wrappers *w, uint64_t addr, const char **unit)
{
    uint32_t version = 0;
    *unit = NULL;
    size_t i = dvi_first_from_addr(w->list.items, w->list.count, sizeof *w->list.items, addr);
    for (; i < w->list.count && w->list.items[i].target == addr; i++) {
        const char *own = w->list.items[i].unit;
        if (version == 0)
            *unit = own;
        else if (dvi_compare_text(*unit, own) != 0)
            *unit = NULL;
        w->list.items[i].used = true;
        if (w->list.items[i].version > version)
            version = w->list.items[i].version;
    }
    return version;
}

bool dvi_wrappers_are_all(const struct dvi_wrappers *w)
{
    return !w->unread && !w->object->pointers_partial && w->object->pointer_size == 8;
}

enum devimg_status dvi_wrappers_say_lost(struct dvi_wrappers *w,
                                         bool (*is_own)(const struct dvi_object *object,
                                                        const struct dvi_section *section),
                                         struct devimg_error *err)
{
    for (size_t i = 0; i < w->list.count && w->damaged_left > 0; i++) {
        const struct dvi_wrapper *one = &w->list.items[i];
        const struct dvi_section *in = dvi_object_section_of(w->object, one->target);
        struct devimg_error what = { 0 };
        if (one->used)
            continue;
        w->damaged_left--;
        if (in != NULL && is_own(w->object, in))
            (void)dvi_fail(&what, DEVIMG_MALFORMED, one->bytes, 8,
                           "a %s wrapper names 0x%" PRIx64 ", where no %s starts", w->vendor,
                           one->target, w->one);
        else
            (void)dvi_fail(&what, DEVIMG_MALFORMED, one->bytes, 8,
                           "a %s wrapper names 0x%" PRIx64 ", outside of %s", w->vendor,
                           one->target, w->sections);
        if (w->found->say(w->found, "registration", "wrapper-outside", &what) != DEVIMG_OK)
            return dvi_fail_memory(err, one->bytes.source);
    }
    return DEVIMG_OK;
}

void dvi_wrappers_free(struct dvi_wrappers *w)
{
    DVI_LIST_FREE(&w->list);
}
