/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels on a CPU device: built only where CPU device code is compiled. */
#include <cstdio>

#include "ops.hpp"

int main()
{
    try {
        sycl::queue queue(sycl::cpu_selector_v);
        float *values = sycl::malloc_shared<float>(1, queue);
        values[0] = 3;
        scale(queue, values, 1, 2);
        const float found = values[0];
        sycl::free(values, queue);
        std::printf("3 * 2 = %g\n", static_cast<double>(found));
        return found == 6 ? 0 : 1;
    } catch (const sycl::exception &e) {
        std::printf("skipped: %s\n", e.what());
        return 77;
    }
}
