void f();
[[sycl::reqd_sub_group_size(8)]]
void f() {}
// no line end