/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How AArch64 code hands a descriptor over:
 *
 *   adrp x0, page; add x0, x0, #low12; bl __sycl_register_lib
 */
#include <string.h>

#include "bundle/registration.h"

enum { INSTRUCTION = 4, WITHIN = 8 };

/* -mcmodel=large: `movz` sets 16 bits of a register, each `movk` right behind it 16 others. */
static uint64_t moved_aarch64(struct dvi_view code, size_t at)
{
    const uint32_t movk = 0xf2800000;
    const uint32_t first = dvi_peek32(code, at);
    uint64_t value = 0;
    for (size_t i = at; i + 4 <= code.size && i < at + (size_t)4 * INSTRUCTION; i += INSTRUCTION) {
        const uint32_t word = dvi_peek32(code, i);
        if (i > at && ((word & 0xff800000) != movk || (word & 31) != (first & 31)))
            break;
        value |= (uint64_t)(word >> 5 & 0xffff) << (word >> 21 & 3) * 16;
    }
    return value;
}

/* The address that the instruction at `at` makes; 0: none. `adrp` sets a page in a register; the
 * `add` that completes it follows within a few instructions. */
static uint64_t address_aarch64(struct dvi_view code, uint64_t addr, size_t at)
{
    const uint32_t adr = 0x10000000, adrp = 0x90000000, add = 0x91000000, movz = 0xd2800000;
    const uint32_t word = dvi_peek32(code, at);
    const uint64_t immediate = dvi_sign_extended((word >> 5 & 0x7ffff) << 2 | (word >> 29 & 3), 21);
    if ((word & 0xff800000) == movz)
        return moved_aarch64(code, at);
    if ((word & 0x9f000000) == adr)
        return addr + at + immediate;
    if ((word & 0x9f000000) != adrp)
        return 0;
    const uint64_t page = ((addr + at) & ~(uint64_t)0xfff) + (immediate << 12);
    for (size_t i = at + INSTRUCTION; i + 4 <= code.size && i <= at + INSTRUCTION * WITHIN;
         i += 4) {
        const uint32_t next = dvi_peek32(code, i);
        if ((next & 0xffc00000) == add && (next >> 5 & 31) == (word & 31))
            return page + (next >> 10 & 0xfff);
    }
    return 0;
}

/* What `add` makes of the page that the `adrp` at `at` sets, also in two steps: GCC's section
 * anchors keep the address of one constant and count others from it. */
static void scan_page(const struct dvi_registration *r, struct dvi_view code, uint64_t addr,
                      size_t at)
{
    enum { REACH = 64 * INSTRUCTION };
    const uint32_t adrp = 0x90000000, add = 0x91000000;
    const uint32_t first = dvi_peek32(code, at);
    const uint64_t immediate =
        dvi_sign_extended((first >> 5 & 0x7ffff) << 2 | (first >> 29 & 3), 21);
    uint64_t values[32] = { 0 };
    uint32_t known = (uint32_t)1 << (first & 31);
    values[first & 31] = ((addr + at) & ~(uint64_t)0xfff) + (immediate << 12);
    for (size_t i = at + INSTRUCTION; i + 4 <= code.size && i <= at + REACH && known != 0;
         i += INSTRUCTION) {
        const uint32_t word = dvi_peek32(code, i);
        const uint32_t to = word & 31, from = word >> 5 & 31;
        if ((word & 0x9f000000) == adrp)
            known &= ~((uint32_t)1 << to);
        if ((word & 0xff800000) != add || (known >> from & 1) == 0)
            continue;
        const unsigned shift = (word >> 22 & 1) != 0 ? 12 : 0;
        values[to] = values[from] + ((uint64_t)(word >> 10 & 0xfff) << shift);
        known |= (uint32_t)1 << to;
        dvi_registration_mark(r, values[to], DEVIMG_MAYBE);
    }
}

static void scan_aarch64(const struct dvi_registration *r, struct dvi_view code, uint64_t addr)
{
    for (size_t at = -addr & 3; at + 4 <= code.size; at += INSTRUCTION) {
        const uint64_t literal = dvi_peek64(code, at); /* -mcmodel=large of GCC */
        if ((dvi_peek32(code, at) & 0x9f000000) == 0x90000000)
            scan_page(r, code, addr, at);
        else
            dvi_registration_mark(r, address_aarch64(code, addr, at), DEVIMG_MAYBE);
        if (dvi_registration_in_reach(r, literal))
            dvi_registration_mark(r, literal, DEVIMG_MAYBE);
    }
}

/* One instruction that sets an address; false: it is another one. */
static bool set_address(const struct dvi_registration *r, struct dvi_view code, uint64_t addr,
                        size_t at, uint64_t values[32])
{
    const uint32_t adr = 0x10000000, adrp = 0x90000000, add = 0x91000000, mov = 0xaa0003e0;
    const uint32_t movz = 0xd2800000, movk = 0xf2800000;
    const uint32_t word = dvi_peek32(code, at), to = word & 31, from = word >> 5 & 31;
    const uint64_t immediate = dvi_sign_extended((word >> 5 & 0x7ffff) << 2 | (word >> 29 & 3), 21);
    const bool is_add = (word & 0xff800000) == add;
    const bool is_adr = (word & 0x9f000000) == adr, is_adrp = (word & 0x9f000000) == adrp;
    const bool is_movz = (word & 0xff800000) == movz, is_movk = (word & 0xff800000) == movk;
    if ((word & 0xffe0ffe0) == mov) {
        values[to] = values[word >> 16 & 31];
        return true;
    }
    if (!is_add && !is_adr && !is_adrp && !is_movz && !is_movk)
        return false;
    if (!r->object->is_linked)
        values[to] = dvi_registration_value(r, addr + at);
    else if (is_adr)
        values[to] = addr + at + immediate;
    else if (is_adrp)
        values[to] = ((addr + at) & ~(uint64_t)0xfff) + (immediate << 12);
    else if (is_movz)
        values[to] = moved_aarch64(code, at);
    else if (is_add)
        values[to] = values[from] == 0 ? 0
                                       : values[from] + ((uint64_t)(word >> 10 & 0xfff)
                                                         << ((word >> 22 & 1) != 0 ? 12 : 0));
    return true; /* movk: moved_aarch64() has taken it */
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
