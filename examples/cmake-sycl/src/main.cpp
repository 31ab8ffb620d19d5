/* SPDX-License-Identifier: Apache-2.0 */
#include "example.h"
#include <cstdio>

int main()
{
    sycl::queue queue;
    float *values = sycl::malloc_shared<float>(1000, queue);
    for (std::size_t i = 0; i < 1000; i++)
        values[i] = static_cast<float>(i);
    scale(queue, values, 1000, 2.0f);
    std::printf("%zu of 1000 on %s\n", count_above(queue, values, 1000, 999.0f),
                queue.get_device().get_info<sycl::info::device::name>().c_str());
    sycl::free(values, queue);
    return 0;
}
