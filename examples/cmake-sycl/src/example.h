/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXAMPLE_H
#define EXAMPLE_H
#include <cstddef>
#include <sycl/sycl.hpp>

/** Multiply each of `count` values, which the device can read and write. */
void scale(sycl::queue &queue, float *values, std::size_t count, float factor);

/** How many values are above the limit. */
std::size_t count_above(sycl::queue &queue, const float *values, std::size_t count, float limit);

#endif
