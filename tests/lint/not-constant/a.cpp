constexpr int kLoop = kOther, kOther = kLoop;
void a(int n) { q.parallel_for(r, [=](sycl::nd_item<1>) [[sycl::reqd_sub_group_size(n)]] {}); }
[[sycl::reqd_sub_group_size(kNowhere)]] void b();
[[sycl::reqd_sub_group_size(width(8))]] void c();
[[sycl::reqd_sub_group_size()]] void d();
[[sycl::reqd_sub_group_size(8 / 0)]] void e();
[[sycl::reqd_sub_group_size(16.0)]] void f();
[[sycl::reqd_sub_group_size(Traits<16>::size)]] void g();
[[sycl::reqd_sub_group_size(kLoop)]] void h();
// constexpr int kHidden = 16;
void i() { constexpr int kHidden = 16; }
[[sycl::reqd_sub_group_size(kHidden)]] void j();
[[sycl::reqd_sub_group_size(nowhere::kLoop)]] void k();
