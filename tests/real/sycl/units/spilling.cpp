// SPDX-License-Identifier: Apache-2.0
#include <sycl/sycl.hpp>
namespace syclx = sycl::ext::oneapi::experimental;
static size_t id() { return sycl::ext::oneapi::this_work_item::get_nd_item<1>().get_global_linear_id(); }
#define KERNEL extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((syclx::nd_range_kernel<1>))

// 64 live values at sub-group size 32 do not fit in the registers; nothing can be unrolled away.
KERNEL [[sycl::reqd_sub_group_size(32)]] void spills(float *p, int n) {
  float v[64];
  const size_t at = id() * 64;
#pragma unroll
  for (int k = 0; k < 64; k++) v[k] = p[at + k];
  for (int i = 0; i < n; i++) {
#pragma unroll
    for (int k = 0; k < 64; k++) v[k] = sycl::fma(v[k], v[(k * 5 + 3) & 63], v[(k * 11 + 7) & 63]);
  }
#pragma unroll
  for (int k = 0; k < 64; k++) p[at + k] = v[k];
}
