[[sycl::reqd_sub_group_size(0)]] void a(); /* D11: no request */
[[intel::sub_group_size(primary)]] void b();
[[intel::named_sub_group_size(automatic)]] void c();
[[sycl::reqd_work_group_size(8)]] void d();
[[sycl::reqd_sub_group_size(16)]] void e();
[[intel::reqd_work_group_size(8, 8, 8), sycl::work_group_size_hint(8)]] void f();
