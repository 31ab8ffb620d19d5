/* SPDX-License-Identifier: Apache-2.0 */
/* devimg fixture kernels: what patch tokens and .ze_info must say alike. Small on purpose. */
#pragma OPENCL EXTENSION cl_intel_required_subgroup_size : enable
__kernel void plain(__global float *a) { a[get_global_id(0)] *= 2.0f; }
__attribute__((intel_reqd_sub_group_size(8)))
__kernel void size_8(__global float *a) { a[get_global_id(0)] += (float)get_sub_group_local_id(); }
__attribute__((intel_reqd_sub_group_size(16)))
__kernel void size_16_slm(__global int *a) {
  __local int s[200];
  size_t l = get_local_id(0);
  s[l] = a[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  a[get_global_id(0)] = s[l ^ 1];
}
__attribute__((vec_type_hint(float4), reqd_work_group_size(64, 1, 1), intel_reqd_sub_group_size(32)))
__kernel void a_kernel_whose_name_goes_on_and_on_and_on_and_on_and_on_and_on_and_on_and_on_and_on_to_100_bytes(__global float *a) {
  a[get_global_id(0)] += 1.0f;
}
__kernel void private_items(__global int *a, int n) {
  int t[100];
  size_t i = get_global_id(0);
  #pragma unroll 1
  for (int k = 0; k < 100; ++k) t[k] = a[i + k * n];
  a[i] = t[n & 63] + t[(n >> 6) & 63];
}
