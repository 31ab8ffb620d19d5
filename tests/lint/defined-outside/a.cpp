#ifndef SG
#define SG 16
#endif
/* -DSG=8 hides the default above */
[[sycl::reqd_sub_group_size(SG)]] void f();
[[sycl::reqd_sub_group_size(WIDE)]] void g();
