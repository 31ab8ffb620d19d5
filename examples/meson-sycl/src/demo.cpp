/* SPDX-License-Identifier: Apache-2.0 */
/* demo gpu|cpu: exits with 77, which Meson counts as skipped, where there is nothing to run on. */
#include <cstdio>
#include <cstring>

#include "devimg_config.h"
#include "ops.hpp"

static int run(sycl::queue queue)
{
    float *values = sycl::malloc_shared<float>(64, queue);
    for (int i = 0; i < 64; i++)
        values[i] = static_cast<float>(i);
    scale(queue, values, 64, 2);
    const std::size_t above = count_above(queue, values, 64, 99); /* 100, 102, ... 126 */
    sycl::free(values, queue);
    std::printf("%zu of 64 values are above 99\n", above);
    return above == 14 ? 0 : 1;
}

int main(int argc, char **argv)
{
    const bool cpu = argc > 1 && std::strcmp(argv[1], "cpu") == 0;
    if (cpu && !EXAMPLE_HAS_CPU_TARGET) {
        std::puts("skipped: no CPU device code was compiled (option sycl_cpu_target)");
        return 77;
    }
    try {
        return run(cpu ? sycl::queue(sycl::cpu_selector_v) : sycl::queue(sycl::gpu_selector_v));
    } catch (const sycl::exception &e) {
        std::printf("skipped: %s\n", e.what());
        return 77;
    }
}
