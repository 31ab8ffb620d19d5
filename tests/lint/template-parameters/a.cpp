template <int SG, typename T = std::array<int, 8>> struct A {
  [[sycl::reqd_sub_group_size(SG)]] void operator()() const;
};
template <class T, unsigned Size>
requires requires(T t) { t.size(); }
void b(T t) { q.parallel_for(r, [=](sycl::nd_item<1>) [[sycl::reqd_sub_group_size(Size * 2)]] {}); }
template <typename T> struct C {
  C() : a{1}, b{2} {}
  [[sycl::reqd_sub_group_size(T::size)]] void operator()() const;
};
template <template <class, int> class TT, int... N>
auto d() {
  return properties{sub_group_size<N>};
}
template <int SG> struct E {
  static constexpr int kSize = SG;
  [[sycl::reqd_sub_group_size(kSize)]] void operator()() const;
};
constexpr int SG = 8;
bool smaller = array[0] < SG; int more = SG > 3;
auto g = [=]<int S>(int x) {
  q.single_task([=]() [[sycl::reqd_sub_group_size(S)]] {});
};
template struct A<16>;
[[sycl::reqd_sub_group_size(SG)]] void h(); /* no parameter: no template is open */
template <int SG> void i();
[[sycl::reqd_sub_group_size(16)]] void j();
