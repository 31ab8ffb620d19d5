#define MY_SG(N) [[sycl::reqd_sub_group_size(N)]]
[[sycl::reqd_sub_group_size(16)]] void f();
