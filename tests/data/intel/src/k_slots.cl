/* SPDX-License-Identifier: Apache-2.0 */
/* devimg fixture kernel: spills and private memory in scratch spaces of their own */
#pragma OPENCL EXTENSION cl_intel_required_subgroup_size : enable
#define R4(m,n) m(n) m(n+1) m(n+2) m(n+3)
#define R16(m,n) R4(m,n) R4(m,n+4) R4(m,n+8) R4(m,n+12)
#define LD(n) v[n] = a[i * 48 + (n)];
#define MIX(n) v[n] = fma(v[(n)], v[((n) * 5 + 3) % 48], v[((n) * 11 + 7) % 48]);
#define ST(n) a[i * 48 + (n)] = v[n];
__attribute__((intel_reqd_sub_group_size(32)))
__kernel void slots(__global float *a, int n) {
  float v[48], t[300];
  size_t i = get_global_id(0);
  for (int k = 0; k < 300; k++) t[k] = a[k * n];
  R16(LD,0) R16(LD,16) R16(LD,32)
  for (int k = 0; k < n; ++k) { R16(MIX,0) R16(MIX,16) R16(MIX,32) t[(int)v[k & 3] & 255] += v[2]; }
  R16(ST,0) R16(ST,16) R16(ST,32)
  a[i] += t[n];
}
