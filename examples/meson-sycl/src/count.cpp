/* SPDX-License-Identifier: Apache-2.0 */
#include "ops.hpp"

class count_above_kernel;

std::size_t count_above(sycl::queue &queue, const float *values, std::size_t count, float limit)
{
    int *found = sycl::malloc_shared<int>(count, queue);
    queue
        .parallel_for<count_above_kernel>(sycl::range<1>(count),
                                          [=](sycl::id<1> i) { found[i] = values[i] > limit; })
        .wait();
    std::size_t sum = 0;
    for (std::size_t i = 0; i < count; i++)
        sum += found[i] != 0;
    sycl::free(found, queue);
    return sum;
}
