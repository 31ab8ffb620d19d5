/* SPDX-License-Identifier: Apache-2.0 */
#include "base/heap.h"

#include <stdint.h>
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

#if defined __GLIBC__ && defined MADV_HUGEPAGE
enum {
    LARGE_PAGE = 2 << 20, /* of x86-64, and of AArch64 with pages of 4 KiB */
    STEP = 32 << 20,      /* the heap grows by so much; what is not touched costs nothing */
    OWN_MAPPING = 8 << 20 /* larger blocks lie outside the heap, and go back when they are freed */
};

void dvi_heap_large_pages(void)
{
    (void)mallopt(M_TOP_PAD, STEP);
    (void)mallopt(M_TRIM_THRESHOLD, 2 * STEP);
    (void)mallopt(M_MMAP_THRESHOLD, OWN_MAPPING);
    void *first = malloc(1); /* the heap exists from here on */
    const uintptr_t start = ((uintptr_t)first + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
    const uintptr_t end = (uintptr_t)sbrk(0) / LARGE_PAGE * LARGE_PAGE;
    if (first != NULL && start < end && end - start <= STEP)
        (void)madvise((void *)start, end - start,
                      MADV_HUGEPAGE); /* NOLINT(performance-no-int-to-ptr) */
    free(first);
}
#else
void dvi_heap_large_pages(void)
{
}
#endif
