// SPDX-License-Identifier: Apache-2.0
#include <sycl/sycl.hpp>
namespace syclx = sycl::ext::oneapi::experimental;
static size_t id() { return sycl::ext::oneapi::this_work_item::get_nd_item<1>().get_global_linear_id(); }
#define KERNEL extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((syclx::nd_range_kernel<1>))

KERNEL [[sycl::reqd_sub_group_size(8)]] void needs_8(float *p) { p[id()] *= 2; }
