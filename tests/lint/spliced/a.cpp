constexpr int kEi\
ght = 8; [[sy\
cl::reqd_sub_group_size(8)]] void f();
[\
[sycl:\
:reqd_sub_gro\
up_size(kEi\
ght)]] void g();
