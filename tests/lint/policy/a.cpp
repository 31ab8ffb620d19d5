PROJ_SG(8) void a();
auto b = Shape<int, 8>();
[[sycl::reqd_sub_group_size(16)]] void c();
