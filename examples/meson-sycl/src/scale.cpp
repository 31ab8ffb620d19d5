/* SPDX-License-Identifier: Apache-2.0 */
#include "ops.hpp"

class scale_kernel;

void scale(sycl::queue &queue, float *values, std::size_t count, float factor)
{
    queue
        .parallel_for<scale_kernel>(sycl::range<1>(count),
                                    [=](sycl::id<1> i) { values[i] *= factor; })
        .wait();
}
