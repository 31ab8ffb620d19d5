/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How AArch64 code hands a descriptor over:
 *
 *   adrp x0, page; add x0, x0, #low12; bl __sycl_register_lib
 */
#include <string.h>

#include "bundle/registration.h"

enum { INSTRUCTION = 4 };

/* Instructions, as what stays of them under a mask: adr and adrp, mov, and the others (which all
 * are the forms with 64 bits). */
static const uint32_t page_mask = 0x9f000000, adr = 0x10000000, adrp = 0x90000000;
static const uint32_t mov_mask = 0xffe0ffe0, mov = 0xaa0003e0;
static const uint32_t wide_mask = 0xff800000;
static const uint32_t add = 0x91000000, movz = 0xd2800000, movk = 0xf2800000;

/* -mcmodel=large: `movz` sets 16 bits of a register, each `movk` right behind it 16 others. */
static uint64_t moved(struct dvi_view code, size_t at)
{
    const uint32_t first = dvi_peek32(code, at);
    uint64_t value = 0;
    for (size_t i = at; i + 4 <= code.size && i < at + (size_t)4 * INSTRUCTION; i += INSTRUCTION) {
        const uint32_t word = dvi_peek32(code, i);
        if (i > at && ((word & wide_mask) != movk || (word & 31) != (first & 31)))
            break;
        value |= (uint64_t)(word >> 5 & 0xffff) << (word >> 21 & 3) * 16;
    }
    return value;
}

/* The address that adr, or the page that adrp, at address `place` sets. */
static uint64_t counted_from(uint32_t word, uint64_t place)
{
    const uint64_t distance = dvi_sign_extended((word >> 5 & 0x7ffff) << 2 | (word >> 29 & 3), 21);
    return (word & page_mask) == adr ? place + distance
                                     : (place & ~(uint64_t)0xfff) + (distance << 12);
}

static uint64_t added(uint32_t word)
{
    return (uint64_t)(word >> 10 & 0xfff) << ((word >> 22 & 1) != 0 ? 12 : 0);
}

/* What `add` makes of the page that the `adrp` at `at` sets, also in two steps: GCC's section
 * anchors keep the address of one constant and count others from it. */
static void scan_page(const struct dvi_registration *r, struct dvi_view code, uint64_t addr,
                      size_t at)
{
    enum { REACH = 64 * INSTRUCTION };
    const uint32_t first = dvi_peek32(code, at);
    uint64_t values[32] = { 0 };
    uint32_t known = (uint32_t)1 << (first & 31);
    values[first & 31] = counted_from(first, addr + at);
    for (size_t i = at + INSTRUCTION; i + 4 <= code.size && i <= at + REACH && known != 0;
         i += INSTRUCTION) {
        const uint32_t word = dvi_peek32(code, i);
        const uint32_t to = word & 31, from = word >> 5 & 31;
        if ((word & page_mask) == adrp)
            known &= ~((uint32_t)1 << to);
        if ((word & wide_mask) != add || (known >> from & 1) == 0)
            continue;
        values[to] = values[from] + added(word);
        known |= (uint32_t)1 << to;
        dvi_registration_mark(r, values[to], DEVIMG_MAYBE);
    }
}

static void scan_aarch64(const struct dvi_registration *r, struct dvi_view code, uint64_t addr)
{
    for (size_t at = -addr & 3; at + 4 <= code.size; at += INSTRUCTION) {
        const uint32_t word = dvi_peek32(code, at);
        const uint64_t literal = dvi_peek64(code, at); /* -mcmodel=large of GCC */
        if ((word & page_mask) == adrp)
            scan_page(r, code, addr, at);
        else if ((word & page_mask) == adr)
            dvi_registration_mark(r, counted_from(word, addr + at), DEVIMG_MAYBE);
        else if ((word & wide_mask) == movz)
            dvi_registration_mark(r, moved(code, at), DEVIMG_MAYBE);
        if (dvi_registration_in_reach(r, literal))
            dvi_registration_mark(r, literal, DEVIMG_MAYBE);
    }
}

/* One instruction that sets an address; false: it is another one. */
static bool set_address(const struct dvi_registration *r, struct dvi_view code, uint64_t addr,
                        size_t at, uint64_t values[32])
{
    const uint32_t word = dvi_peek32(code, at), to = word & 31, from = word >> 5 & 31;
    const uint32_t wide = word & wide_mask, page = word & page_mask;
    if ((word & mov_mask) == mov) {
        values[to] = values[word >> 16 & 31];
        return true;
    }
    if (wide != add && wide != movz && wide != movk && page != adr && page != adrp)
        return false;
    if (!r->object->is_linked)
        values[to] = dvi_registration_value(r, addr + at);
    else if (page == adr || page == adrp)
        values[to] = counted_from(word, addr + at);
    else if (wide == movz)
        values[to] = moved(code, at);
    else if (wide == add)
        values[to] = values[from] == 0 ? 0 : values[from] + added(word);
    return true; /* movk: moved() has taken it */
}

static void follow_aarch64(const struct dvi_registration *r, struct dvi_view code, uint64_t addr)
{
    uint64_t values[32] = { 0 }; /* of registers; 0: not known */
    for (size_t at = 0; at + INSTRUCTION <= code.size; at += INSTRUCTION) {
        const uint32_t word = dvi_peek32(code, at);
        const bool calls = word >> 26 == 0x25, jumps = word >> 26 == 0x05; /* bl, b */
        if (calls || jumps) {
            const bool is_it = r->object->is_linked || dvi_registration_leads(r, addr + at);
            if (values[0] != 0)
                dvi_registration_mark(r, values[0], is_it ? r->handed_over : DEVIMG_MAYBE);
            memset(values, 0, sizeof values);
        } else if (!set_address(r, code, addr, at, values)) {
            values[word & 31] = 0; /* what most instructions write */
        }
        if (jumps || word == 0xd65f03c0) /* ret */
            return;
    }
}

const struct dvi_registration_machine dvi_registration_aarch64 = {
    .name = "aarch64",
    .follow = follow_aarch64,
    .scan = scan_aarch64,
};
