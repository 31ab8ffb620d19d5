template <int SG> struct KernelShape {
  template <class F> void run(F f) { q.parallel_for(r, [=](item i) [[sycl::reqd_sub_group_size(SG)]] { f(i); }); }
};
KernelShape<16> a;
[[sycl::reqd_sub_group_size(16)]] void b();
