/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How x86-64 code hands a descriptor over:
 *
 *   lea rdi, [rip + d]; call __sycl_register_lib@plt       (mov edi, imm32 when not PIC)
 *   lea rcx, [rip + d]; call thunk                         (Windows; thunk: jmp [rip + slot])
 *
 * and how the start-up code of Windows calls constructors:
 *
 *   lea rdx, [rip + end]; lea rcx, [rip + begin]; call thunk of _initterm
 */
#include <string.h>

#include "bundle/registration.h"

/* Every 4-byte field is tried as a displacement and, at a fixed address, as an absolute one. */
static void scan_x86(const struct dvi_registration *r, struct dvi_view code, uint64_t addr)
{
    const uint64_t got = r->got;
    for (size_t i = 0; i + 4 <= code.size; i++) {
        const uint32_t field = dvi_peek32(code, i);
        const uint64_t relative = addr + i + 4 + (uint64_t)(int64_t)(int32_t)field;
        if (dvi_registration_in_reach(r, relative))
            dvi_registration_mark(r, relative, DEVIMG_MAYBE);
        else if (r->object->fixed_address && dvi_registration_in_reach(r, field))
            dvi_registration_mark(r, field, DEVIMG_MAYBE);
        const uint64_t wide = dvi_peek64(code, i); /* -mcmodel=large: absolute, or from the GOT */
        if (dvi_registration_in_reach(r, wide))
            dvi_registration_mark(r, wide, DEVIMG_MAYBE);
        else if (dvi_registration_in_reach(r, wide + got))
            dvi_registration_mark(r, wide + got, DEVIMG_MAYBE);
    }
}

/* The few instructions that constructors are made of. */
enum step { STEP_OTHER, STEP_LOADS, STEP_CALLS, STEP_JUMPS, STEP_ENDS };

/* Decode one instruction at `at`: its size (0: none of those known), and what it does. */
static size_t step_x86(struct dvi_view code, size_t at, enum step *step)
{
    uint8_t b[8] = { 0 };
    const size_t left = code.size - at;
    memcpy(b, code.data + at, left < sizeof b ? left : sizeof b);
    *step = STEP_OTHER;
    if (dvi_peek32(code, at) == 0xfa1e0ff3) /* endbr64 */
        return 4;
    if (b[0] == 0xe8 || (b[0] == 0xf2 && b[1] == 0xe8) || (b[0] == 0xff && b[1] == 0x15)) {
        *step = STEP_CALLS;
        return b[0] == 0xe8 ? 5 : 6;
    }
    if (b[0] == 0xe9 || b[0] == 0xeb || (b[0] == 0xff && b[1] == 0x25)) {
        *step = STEP_JUMPS;
        return b[0] == 0xeb ? 2 : b[0] == 0xe9 ? 5 : 6;
    }
    if (b[0] == 0xc3 || b[0] == 0xcc) {
        *step = STEP_ENDS;
        return 1;
    }
    if (b[0] >= 0x50 && b[0] <= 0x5f) /* push, pop */
        return 1;
    if (b[0] >= 0xb8 && b[0] <= 0xbf) { /* mov r32, imm32 */
        *step = STEP_LOADS;
        return 5;
    }
    if (b[0] == 0x41 && b[1] >= 0x50 && b[1] <= 0x5f)
        return 2;
    if (b[0] == 0x31 && b[1] >= 0xc0) /* xor r32, r32 */
        return 2;
    if ((b[0] & 0xfb) != 0x48)
        return 0;
    if (b[0] == 0x48 && b[1] == 0xff && (b[2] == 0x15 || b[2] == 0x25)) {
        *step = b[2] == 0x15 ? STEP_CALLS : STEP_JUMPS;
        return 7;
    }
    if (b[1] == 0x8d && (b[2] & 0xc7) == 0x05) { /* lea r64, [rip + d32] */
        *step = STEP_LOADS;
        return 7;
    }
    if (b[1] == 0xc7 && b[2] >= 0xc0 && b[2] <= 0xc7) { /* mov r64, imm32 */
        *step = STEP_LOADS;
        return 7;
    }
    if (b[1] == 0x89 && b[2] >= 0xc0) /* mov r64, r64 */
        return 3;
    if (b[1] == 0x83 && b[2] >= 0xc0) /* add, sub r64, imm8 */
        return 4;
    return b[1] == 0x81 && b[2] >= 0xc0 ? 7 : 0;
}

static uint64_t displaced(struct dvi_view code, size_t at, uint64_t next)
{
    return next + (uint64_t)(int64_t)(int32_t)dvi_peek32(code, at);
}

/* call or jmp [rip + d], with a prefix that changes nothing (Windows, at the end of a function). */
static bool is_indirect(struct dvi_view code, size_t at)
{
    const size_t prefix = dvi_peek16(code, at) == 0xff48 ? 1 : 0;
    const uint16_t opcode = dvi_peek16(code, at + prefix);
    return opcode == 0x15ff || opcode == 0x25ff;
}

static uint64_t slot_at(struct dvi_view code, size_t at, uint64_t addr)
{
    const size_t size = dvi_peek16(code, at) == 0xff48 ? 7 : 6;
    return displaced(code, at + size - 4, addr + at + size);
}

/* Does the call or jump at `at` go to the function whose address the loader writes at `slot`? It
 * does so through that word, or by way of a thunk that jumps through it. */
static bool goes_to_slot(const struct dvi_object *object, struct dvi_view code, size_t at,
                         uint64_t addr, uint64_t slot)
{
    if (is_indirect(code, at))
        return slot_at(code, at, addr) == slot;
    const uint64_t target = displaced(code, at + 1, addr + at + 5);
    const struct dvi_view thunk = dvi_object_from(object, target);
    return is_indirect(thunk, 0) && slot_at(thunk, 0, target) == slot;
}

/* Follow a constructor to its end, which is returned; what it loads before a call is what it hands
 * over. */
static uint64_t follow_x86(const struct dvi_registration *r, struct dvi_view code, uint64_t addr)
{
    uint64_t loaded = 0;
    enum step step = STEP_OTHER;
    for (size_t at = 0, size; at < code.size; at += size) {
        size = step_x86(code, at, &step);
        if (size == 0 || size > code.size - at || step == STEP_ENDS)
            return addr + at;
        if (step == STEP_LOADS && size == 7 && code.data[at + 1] == 0x8d)
            loaded = displaced(code, at + 3, addr + at + 7);
        else if (step == STEP_LOADS)
            loaded = dvi_peek32(code, at + size - 4);
        if (step == STEP_CALLS || step == STEP_JUMPS) {
            const bool is_it = r->slot == 0 || goes_to_slot(r->object, code, at, addr, r->slot);
            dvi_registration_mark(r, loaded, is_it ? r->handed_over : DEVIMG_MAYBE);
            loaded = 0;
        }
        if (step == STEP_JUMPS)
            return addr + at + size;
    }
    return addr + code.size;
}

/* lea rcx, [begin] and lea rdx, [end] in either order, and the call right behind them. */
static void tables_x86(const struct dvi_registration *r, struct dvi_view code, uint64_t addr,
                       dvi_tables_visit *visit, void *context)
{
    enum { LEA = 7, CALL = 5 };
    const uint32_t mask = 0xffffff, lea_rcx = 0x0d8d48, lea_rdx = 0x158d48;
    for (size_t i = 0; i + 2 * LEA + CALL <= code.size; i++) {
        const uint32_t first = dvi_peek32(code, i) & mask;
        if (first != lea_rcx && first != lea_rdx)
            continue;
        const size_t call = i + 2 * LEA;
        const uint32_t second = dvi_peek32(code, i + LEA) & mask;
        if ((second != lea_rcx && second != lea_rdx) || second == first ||
            (code.data[call] != 0xe8 && dvi_peek16(code, call) != 0x15ff) ||
            !goes_to_slot(r->object, code, call, addr, r->initterm_slot))
            continue;
        const uint64_t one = displaced(code, i + 3, addr + i + LEA);
        const uint64_t other = displaced(code, i + LEA + 3, addr + call);
        visit(context, first == lea_rcx ? one : other, first == lea_rcx ? other : one);
    }
}

const struct dvi_registration_machine dvi_registration_x86_64 = {
    .name = "x86_64",
    .follow = follow_x86,
    .scan = scan_x86,
    .tables = tables_x86,
};
