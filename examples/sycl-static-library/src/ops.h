/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OPS_H
#define OPS_H
#include <cstddef>

/* Values of the host in and out: who calls them needs no SYCL header. */
void scale(float *values, std::size_t count, float factor);
std::size_t count_above(const float *values, std::size_t count, float limit);
float sum(const float *values, std::size_t count);

#endif
