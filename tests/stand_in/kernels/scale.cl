/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel of scale.cpp in the SYCL examples, for the stand-in of icpx. */
__kernel void scale(__global float *values, float factor)
{
    values[get_global_id(0)] *= factor;
}
