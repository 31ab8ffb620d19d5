[[sycl::reqd_sub_group_size(8)]] void a(); /* S2-8: a list without Xe2 gives 8, 16, 32 */
[[sycl::reqd_sub_group_size(16)]] void b();
[[sycl::reqd_sub_group_size(32)]] void c();
[[sycl::reqd_sub_group_size(64)]] void d();
