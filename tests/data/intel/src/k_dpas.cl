/* SPDX-License-Identifier: Apache-2.0 */
/* devimg fixture kernel: a matrix instruction, through the builtin of the compiler */
int __builtin_IB_sub_group_idpas_s8_s8_8_1(int sum, int a, int8 b);
__attribute__((intel_reqd_sub_group_size(8)))
__kernel void matrix(__global int *a, __global int8 *b) {
  size_t i = get_global_id(0);
  a[i] = __builtin_IB_sub_group_idpas_s8_s8_8_1(0, a[i], b[i]);
}
