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
    const uint64_t got = r->got, base = r->object->base;
    for (size_t i = 0; i + 4 <= code.size; i++) {
        const uint32_t field = dvi_peek32(code, i);
        const uint64_t relative = addr + i + 4 + (uint64_t)(int64_t)(int32_t)field;
        if (dvi_registration_in_reach(r, relative))
            dvi_registration_mark(r, relative, DEVIMG_MAYBE);
        else if ((r->object->fixed_address || base != 0) &&
                 dvi_registration_in_reach(r, base + field)) /* Windows: [base register + d] */
            dvi_registration_mark(r, base + field, DEVIMG_MAYBE);
        const uint64_t wide = dvi_peek64(code, i); /* -mcmodel=large: absolute, or from the GOT */
        if (dvi_registration_in_reach(r, wide))
            dvi_registration_mark(r, wide, DEVIMG_MAYBE);
        else if (dvi_registration_in_reach(r, wide + got))
            dvi_registration_mark(r, wide + got, DEVIMG_MAYBE);
    }
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
    if (code.data[at] != 0xe8 && code.data[at] != 0xe9)
        return false;
    const uint64_t target = displaced(code, at + 1, addr + at + 5);
    const struct dvi_view thunk = dvi_object_from(object, target);
    return is_indirect(thunk, 0) && slot_at(thunk, 0, target) == slot;
}

/* What is known while a constructor is followed. */
struct state {
    const struct dvi_registration *r;
    struct dvi_view code;
    uint64_t addr;
    uint64_t values[16]; /* of registers; 0: not known */
};

/* The first argument: rdi, on Windows rcx. */
static unsigned argument_of(const struct dvi_object *object)
{
    return object->kind == DEVIMG_KIND_ELF ? 7 : 1;
}

/* The address in the four bytes at `field`: in a linked file counted from `next`, or (0) by itself;
 * in an object what their relocation says. */
static uint64_t address_at(const struct state *s, size_t field, uint64_t next)
{
    return s->r->object->is_linked ? displaced(s->code, field, next)
                                   : dvi_registration_value(s->r, s->addr + field);
}

/* A call, or a jump that ends the constructor; `field` is where its target stands. */
static void call(struct state *s, size_t at, size_t field)
{
    const struct dvi_registration *r = s->r;
    const uint64_t argument = s->values[argument_of(r->object)];
    const bool is_it = !r->object->is_linked ? dvi_registration_leads(r, s->addr + field)
                       : r->slot != 0 ? goes_to_slot(r->object, s->code, at, s->addr, r->slot)
                                      : true; /* ELF: through a table that is not followed */
    if (argument != 0)
        dvi_registration_mark(r, argument, is_it ? r->handed_over : DEVIMG_MAYBE);
    memset(s->values, 0, sizeof s->values);
}

/* With a prefix of 64 bits, as `b` says; the size of the instruction, 0: none of those known. */
static size_t step_wide(struct state *s, size_t at, const uint8_t b[8])
{
    const unsigned high = (b[0] & 4U) << 1; /* REX.R: the other eight registers */
    const unsigned reg = (b[2] >> 3 & 7U) | high, rm = b[2] & 7U;
    const bool is_register = b[2] >= 0xc0;
    if (b[1] == 0x8d && (b[2] & 0xc7) == 0x05) { /* lea r64, [rip + d32] */
        s->values[reg] = address_at(s, at + 3, s->addr + at + 7);
        return 7;
    }
    if (b[1] == 0x89 && is_register) { /* mov r64, r64 */
        s->values[rm] = s->values[reg];
        return 3;
    }
    if (high != 0)
        return 0;
    if (b[1] == 0xc7 && is_register && reg == 0) { /* mov r64, imm32 */
        s->values[rm] = address_at(s, at + 3, 0);
        return 7;
    }
    if ((b[1] == 0x83 || b[1] == 0x81) && is_register) { /* add, sub, and r64, imm */
        s->values[rm] = 0;
        return b[1] == 0x83 ? 4 : 7;
    }
    return 0;
}

/* One instruction of those that constructors are made of; its size, 0: it is another, or the
 * constructor ends here. */
static size_t step_x86(struct state *s, size_t at)
{
    uint8_t b[8] = { 0 };
    const size_t left = s->code.size - at;
    memcpy(b, s->code.data + at, left < sizeof b ? left : sizeof b);
    if (dvi_peek32(s->code, at) == 0xfa1e0ff3) /* endbr64 */
        return 4;
    if (is_indirect(s->code, at)) {
        const size_t size = b[0] == 0x48 ? 7 : 6;
        call(s, at, at + size - 4);
        return b[size - 5] == 0x15 ? size : 0;
    }
    if (b[0] == 0xe8 || b[0] == 0xe9) { /* call, jmp */
        call(s, at, at + 1);
        return b[0] == 0xe8 ? 5 : 0;
    }
    if (b[0] == 0xf2 && b[1] == 0xe8) { /* bnd call */
        call(s, at, at + 2);
        return 6;
    }
    if (b[0] == 0x90 || (b[0] >= 0x50 && b[0] <= 0x57)) /* nop, push */
        return 1;
    if (b[0] >= 0x58 && b[0] <= 0x5f) { /* pop */
        s->values[b[0] - 0x58] = 0;
        return 1;
    }
    if (b[0] >= 0xb8 && b[0] <= 0xbf) { /* mov r32, imm32 */
        s->values[b[0] - 0xb8] = address_at(s, at + 1, 0);
        return 5;
    }
    if (b[0] == 0x41 && b[1] >= 0x50 && b[1] <= 0x5f) /* push, pop r8 to r15 */
        return 2;
    if (b[0] == 0x31 && b[1] >= 0xc0) { /* xor r32, r32 */
        s->values[b[1] & 7] = 0;
        return 2;
    }
    return (b[0] & 0xfb) == 0x48 ? step_wide(s, at, b) : 0;
}

static void follow_x86(const struct dvi_registration *r, struct dvi_view code, uint64_t addr)
{
    struct state s = { .r = r, .code = code, .addr = addr };
    for (size_t at = 0, size = 1; at < code.size && size > 0; at += size)
        size = step_x86(&s, at);
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
