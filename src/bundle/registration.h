/* SPDX-License-Identifier: Apache-2.0 */
/* What registration.c shares with the readers of each machine's instructions. */
#ifndef DVI_BUNDLE_REGISTRATION_H
#define DVI_BUNDLE_REGISTRATION_H

#include "bundle/dpcpp.h"

/** One search for code that hands descriptors to __sycl_register_lib. */
struct dvi_registration {
    struct dvi_object *object;
    struct dvi_descriptor *descriptors; /* sorted by addr */
    size_t count;
    enum devimg_answer handed_over; /* what a call by a constructor means: YES, or MAYBE */
    uint64_t got;                   /* what offsets from the global offset table count from */
    uint64_t slot;                  /* PE: where the loader writes the function's address; or 0 */
    uint64_t initterm_slot;         /* the same of _initterm, which calls constructors */
};

/** Told of each table of constructors: the addresses [begin, end) of its words. */
typedef void dvi_tables_visit(void *context, uint64_t begin, uint64_t end);

/** What is known of a machine's instructions: src/bundle/registration_<machine>.c. */
struct dvi_registration_machine {
    const char *name; /* as struct dvi_object names it */
    /* Follow a constructor as far as its instructions are known, and mark the descriptor that its
     * first argument is when it calls __sycl_register_lib. */
    void (*follow)(const struct dvi_registration *r, struct dvi_view code, uint64_t addr);
    /* Mark what any code may name. */
    void (*scan)(const struct dvi_registration *r, struct dvi_view code, uint64_t addr);
    /* PE: find the calls of _initterm in code. NULL: they are not known. */
    void (*tables)(const struct dvi_registration *r, struct dvi_view code, uint64_t addr,
                   dvi_tables_visit *visit, void *context);
};
extern const struct dvi_registration_machine dvi_registration_x86_64, dvi_registration_aarch64;

/** Note an answer for the descriptor at `addr`, if one stands there. YES stays. */
void dvi_registration_mark(const struct dvi_registration *r, uint64_t addr,
                           enum devimg_answer answer);

/** Objects: the address that the field at `addr` will hold; 0: of another file, or none. */
uint64_t dvi_registration_value(const struct dvi_registration *r, uint64_t addr);
/** Objects: will the field at `addr` lead to __sycl_register_lib? */
bool dvi_registration_leads(const struct dvi_registration *r, uint64_t addr);

/** May a descriptor stand at `addr`? A look at the first and the last one only. */
static inline bool dvi_registration_in_reach(const struct dvi_registration *r, uint64_t addr)
{
    return addr >= r->descriptors[0].addr && addr <= r->descriptors[r->count - 1].addr;
}

#endif
