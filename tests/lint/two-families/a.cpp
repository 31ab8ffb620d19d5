[[sycl::reqd_sub_group_size(8)]] void a();
[[sycl::reqd_sub_group_size(-8)]] void b();
