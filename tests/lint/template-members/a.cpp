// Members of a template with its arguments; a specialization comes before the template itself.
template <class T> struct Traits { static constexpr int kSize = 16; };
template <> struct Traits<float> { static constexpr int kSize = 8; };
template <int N, int M = N * 2> struct Box { static constexpr int kOne = N, kTwo = M, kSum = N + M; enum { kEnum = N }; };
constexpr int kFour = 4;
[[sycl::reqd_sub_group_size(Traits<int>::kSize)]] void a();
[[sycl::reqd_sub_group_size(Traits<float>::kSize)]] void b();
[[sycl::reqd_sub_group_size(Box<8>::kOne)]] void c();
[[sycl::reqd_sub_group_size(Box<kFour>::kTwo)]] void d();
[[sycl::reqd_sub_group_size(Box<kFour, 12>::kSum)]] void e();
[[sycl::reqd_sub_group_size(::Box<(kFour > 3) ? 8 : 16>::kEnum)]] void f();
using Eight = Box<8, 16>;
[[sycl::reqd_sub_group_size(Eight::kOne)]] void g();
template <int N> using Twice = Box<N * 2, 16>;
[[sycl::reqd_sub_group_size(Twice<4>::kOne)]] void h();
template <class T> constexpr int kOf = sizeof(T) * 2;
template <int N> constexpr bool isGood = N == 16 || N == 32;
[[sycl::reqd_sub_group_size(isGood<16> ? 16 : 8)]] void i();
[[sycl::reqd_sub_group_size(kFour < 5 ? 16 : 8)]] void j();
using Constant = std::integral_constant<int, 8>;
[[sycl::reqd_sub_group_size(Constant::value)]] void k();
struct Tuned { static constexpr int sg = 8; };
template <class T> struct Pass { static constexpr int kPassed = T::sg; };
[[sycl::reqd_sub_group_size(Pass<Tuned>::kPassed)]] void l();
// a parameter of another template is nobody's here
[[sycl::reqd_sub_group_size(Box::kOne)]] void m();
[[sycl::reqd_sub_group_size(typename Gone<8>::kOne)]] void n();
template <int N> struct Own { [[sycl::reqd_sub_group_size(Box<N>::kOne)]] void operator()(int) const; };
template <class T> struct Typed { [[sycl::reqd_sub_group_size(T::sg)]] void operator()(int) const; };
