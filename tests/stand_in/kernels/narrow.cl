/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that requires a sub-group size which Xe2 does not have. */
__attribute__((intel_reqd_sub_group_size(8))) __kernel void narrow(__global float *values)
{
    values[get_global_id(0)] += 1.0f;
}
