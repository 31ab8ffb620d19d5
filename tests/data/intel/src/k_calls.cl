/* SPDX-License-Identifier: Apache-2.0 */
/* devimg fixture kernel: a call, which takes scratch memory and private memory of a thread */
__attribute__((noinline)) int pick(int a, int b) {
  int t[16];
  for (int i = 0; i < 16; ++i) t[i] = a * i;
  return t[b & 15];
}
__kernel void calls(__global int *a) {
  size_t i = get_global_id(0);
  a[i] = pick(a[i], (int)i);
}
