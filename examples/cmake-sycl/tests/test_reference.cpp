/* SPDX-License-Identifier: Apache-2.0 */
/* One test for a list of back ends: the one that needs host code and a CPU target is compiled out without either, and what still asks for
 * it is skipped with the reason. */
#include "example.h"
#include "example_config.h"
#include <cstdio>
#include <cstring>

#define HAS_REFERENCE (EXAMPLE_HOST_BACKEND && EXAMPLE_HAS_CPU_TARGET)

static const char *const backends[] = {
    "default",
#if HAS_REFERENCE
    "reference",
#endif
};

static int run(const char *backend)
{
    for (const char *known : backends) {
        if (std::strcmp(known, backend) != 0)
            continue;
        sycl::queue queue;
        float *values = sycl::malloc_shared<float>(1, queue);
        values[0] = 5;
        const bool good = count_above(queue, values, 1, 4.0f) == 1;
        sycl::free(values, queue);
        std::printf("%s: %s\n", backend, good ? "passed" : "FAILED");
        return good ? 0 : 1;
    }
    std::printf("%s: skipped: EXAMPLE_HOST_BACKEND is %d, EXAMPLE_HAS_CPU_TARGET is %d\n", backend,
                EXAMPLE_HOST_BACKEND, EXAMPLE_HAS_CPU_TARGET);
    return 77;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return run(argv[1]);
    for (const char *backend : backends)
        if (const int status = run(backend))
            return status;
    return 0;
}
