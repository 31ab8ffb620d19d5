#include "sg.hpp"
PROJ_SG(16) void a();
[[sycl::reqd_sub_group_size(16)]] void b();
auto c = properties{sub_group_size<16>};
PROJ_SG(32) void d();
#define MINE(n) [[sycl::reqd_sub_group_size(n)]]
[[intel::sub_group_size(primary)]] void e();
