[[sycl::reqd_sub_group_size(8)]] void a();
const char *s = R"x( no end )y" ;
[[sycl::reqd_sub_group_size(8)]] void b();
