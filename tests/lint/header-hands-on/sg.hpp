// the macro hands its size to a template, whose check is the one
constexpr bool ok(int n) { return n == 16 || n == 32; }
template <int N> struct shape { static_assert(ok(N), "size"); static constexpr int value = N; };
template <int N> struct wrapped { static_assert(shape<N>::value != 0); [[sycl::reqd_sub_group_size(shape<N>::value)]] void operator()(int) const; };
#define MY_SG(N) [[sycl::reqd_sub_group_size(::shape<(N)>::value)]]
