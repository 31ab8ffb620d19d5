#ifdef WIDE
constexpr int kWidth = 16;
#else
constexpr int kWidth = 8;
#endif
[[sycl::reqd_sub_group_size(kWidth)]] void f();
#define SG 8
#include "kernel.inc"
[[sycl::reqd_sub_group_size(SG)]] void g();
#undef SG
#define SG 16
#include "kernel.inc"
[[sycl::reqd_sub_group_size(SG)]] void h();
