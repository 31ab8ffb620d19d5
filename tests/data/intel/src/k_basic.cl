/* SPDX-License-Identifier: Apache-2.0 */
/* devimg fixture kernels: plain kernels without a size requirement */
__kernel void scale_add(__global float *a, __global const float *b, float f) {
  size_t i = get_global_id(0);
  a[i] = a[i] * f + b[i];
}
__kernel void count_bits(__global uint *a) {
  size_t i = get_global_id(0);
  a[i] = popcount(a[i]);
}
