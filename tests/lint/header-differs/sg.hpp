#define PROJ_SG(n) [[sycl::reqd_sub_group_size(n)]] PROJ_ASSERT(n)
#define PROJ_ASSERT(n)
template <unsigned SG> struct Shape { static_assert(SG == 8 || SG == 16 || SG == 32); [[sycl::reqd_sub_group_size(SG)]] void f(); };
template <unsigned SG> struct Fine { static_assert(SG >= 16 && SG <= 32 && (SG & (SG - 1)) == 0); [[sycl::reqd_sub_group_size(SG)]] void f(); };
