/* SPDX-License-Identifier: Apache-2.0 */
/* devimg fixture kernels: private memory, SLM and register spills */
#pragma OPENCL EXTENSION cl_intel_required_subgroup_size : enable
__kernel void private_table(__global int *a, int n) {
  int t[64];
  size_t i = get_global_id(0);
  for (int k = 0; k < 64; ++k) t[k] = a[(i + k) & 255];
  for (int k = 0; k < n; ++k) { int j = t[(k * 7 + n) & 63] & 63; t[j] += t[(j + k) & 63]; }
  a[i] = t[n & 63];
}
__kernel void slm_reduce(__global int *a) {
  __local int s[256];
  size_t l = get_local_id(0);
  s[l] = a[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = 128; d > 0; d >>= 1) { if (l < d) s[l] += s[l + d]; barrier(CLK_LOCAL_MEM_FENCE); }
  if (l == 0) a[get_group_id(0)] = s[0];
}
#define R4(m,n) m(n) m(n+1) m(n+2) m(n+3)
#define R16(m,n) R4(m,n) R4(m,n+4) R4(m,n+8) R4(m,n+12)
#define R64(m,n) R16(m,n) R16(m,n+16) R16(m,n+32) R16(m,n+48)
#define LD(n) v[n] = a[i * 64 + (n)];
#define MIX(n) v[n] = fma(v[(n)], v[((n) * 5 + 3) & 63], v[((n) * 11 + 7) & 63]);
#define ST(n) a[i * 64 + (n)] = v[n];
__attribute__((intel_reqd_sub_group_size(32)))
__kernel void spill_mix(__global float *a, int n) {
  float v[64];
  size_t i = get_global_id(0);
  R64(LD,0)
  for (int k = 0; k < n; ++k) { R64(MIX,0) }
  R64(ST,0)
}
