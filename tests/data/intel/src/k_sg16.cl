/* SPDX-License-Identifier: Apache-2.0 */
/* devimg fixture kernel: requires sub-group size 16 */
#pragma OPENCL EXTENSION cl_intel_required_subgroup_size : enable
__attribute__((intel_reqd_sub_group_size(16)))
__kernel void row_sum_sg16(__global float *a) {
  size_t i = get_global_id(0);
  a[i] = a[i] * 2.0f + (float)get_sub_group_local_id();
}
