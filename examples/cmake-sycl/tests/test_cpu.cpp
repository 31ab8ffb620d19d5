/* SPDX-License-Identifier: Apache-2.0 */
/* On a CPU device: without a CPU target the runtime would find no kernel. */
#include "example.h"
#include "example_config.h"

#if !EXAMPLE_HAS_CPU_TARGET
#error this program is only built with a CPU target
#endif

int main()
{
    try {
        sycl::queue queue(sycl::cpu_selector_v);
        float *values = sycl::malloc_shared<float>(2, queue);
        values[0] = 1;
        values[1] = 3;
        const bool good = count_above(queue, values, 2, 2.0f) == 1;
        sycl::free(values, queue);
        return good ? 0 : 1;
    } catch (const sycl::exception &) {
        return 77; /* no such device */
    }
}
