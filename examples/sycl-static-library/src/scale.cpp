/* SPDX-License-Identifier: Apache-2.0 */
#include "ops.h"
#include "ops_sycl.h"
#include <sycl/sycl.hpp>

class scale_kernel;

void scale(float *values, std::size_t count, float factor)
{
    sycl::queue queue;
    float *shared = sycl::malloc_shared<float>(count, queue);
    for (std::size_t i = 0; i < count; i++)
        shared[i] = values[i];
    queue
        .parallel_for<scale_kernel>(sycl::range<1>(count),
                                    [=](sycl::id<1> i) { shared[i] *= factor; })
        .wait();
    for (std::size_t i = 0; i < count; i++)
        values[i] = shared[i];
    sycl::free(shared, queue);
}
