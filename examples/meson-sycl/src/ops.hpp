/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <cstddef>
#include <sycl/sycl.hpp>

/* Both take memory that the device can reach, and wait until they are done. */
void scale(sycl::queue &queue, float *values, std::size_t count, float factor);
std::size_t count_above(sycl::queue &queue, const float *values, std::size_t count, float limit);
