/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel of count.cpp in the SYCL examples, for the stand-in of icpx. */
__kernel void count_above(__global const float *values, __global int *found, float limit)
{
    size_t i = get_global_id(0);
    found[i] = values[i] > limit;
}
