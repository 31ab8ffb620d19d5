/* S2-11: the header's own check is held to the set as well */
#define PROJ_SG(n) PROJ_CHECK(n) [[sycl::reqd_sub_group_size(n)]]
template <unsigned SG, unsigned GRF> struct Shape {
  static_assert(SG == 16 || SG == 32, "sub-group size");
  static_assert(GRF == 0 || GRF == 256);
  [[sycl::reqd_sub_group_size(SG)]] void operator()() const;
};
