// MY_SG alone is named: what it hands its size to is found
template <int N> struct shape { static_assert(N % 16 == 0 && N <= 64); static constexpr int value = N; };
#define MY_SG(N) [[sycl::reqd_sub_group_size(::shape<N>::value)]]
