namespace proj {
constexpr int kSize = 8;
#ifdef A
void f(int a) {
#else
void f(long a) {
#endif
  q.parallel_for(r, [=](sycl::nd_item<1>) [[sycl::reqd_sub_group_size(kSize)]] {});
}
#if B
struct X : Y {
#elif C
struct X {
#endif
  [[sycl::reqd_sub_group_size(kSize)]] void operator()() const;
};
} // namespace proj
[[sycl::reqd_sub_group_size(kSize)]] void outside();
