PROJ_SG(16) void a();
[[sycl::reqd_sub_group_size(16)]] void b();
