/* SPDX-License-Identifier: Apache-2.0 */
#include "ops.h"
#include "ops_sycl.h"
#include <sycl/sycl.hpp>

class count_above_kernel;

std::size_t count_above(const float *values, std::size_t count, float limit)
{
    sycl::queue queue;
    float *shared = sycl::malloc_shared<float>(count, queue);
    int *found = sycl::malloc_shared<int>(count, queue);
    for (std::size_t i = 0; i < count; i++)
        shared[i] = values[i];
    queue
        .parallel_for<count_above_kernel>(sycl::range<1>(count),
                                          [=](sycl::id<1> i) { found[i] = shared[i] > limit; })
        .wait();
    std::size_t sum = 0;
    for (std::size_t i = 0; i < count; i++)
        sum += found[i] != 0;
    sycl::free(found, queue);
    sycl::free(shared, queue);
    return sum;
}
