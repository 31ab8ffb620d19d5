#if defined(SYCL)
#define SG(n) [[sycl::reqd_sub_group_size(n)]]
#else
#define SG(n)
#endif
#define ATTR(size) \
  __attribute__((always_inline)) \
  SG(size)
#define TWICE(name, n) ATTR((n) * 2)
#define ANY(...) [[sycl::reqd_sub_group_size(__VA_ARGS__)]]
#define KERNEL(name, n) \
  template <int N> SG(n) [[sycl::reqd_work_group_size(N)]] void name()
#define SG8 [[sycl::reqd_sub_group_size(8)]]
