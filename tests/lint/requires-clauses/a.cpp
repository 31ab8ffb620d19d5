constexpr int N = 8;
template <int N> void g() requires (N > 4) { int a; }
[[sycl::reqd_sub_group_size(N)]] void f1();
template <int N> requires (N > 4) struct S { int a; };
[[sycl::reqd_sub_group_size(N)]] void f2();
template <int N> concept Wide = requires (int x) { x + N; };
[[sycl::reqd_sub_group_size(N)]] void f3();
template <int N> requires requires (int x) { x + N; } void h() { int a; }
[[sycl::reqd_sub_group_size(N)]] void f4();
template <int N> void k() requires requires { N; } { int a; [[sycl::reqd_sub_group_size(N)]] auto l = 0; }
[[sycl::reqd_sub_group_size(N)]] void f5();
template <int N> constexpr bool ok = requires (int x) { x + N; } && requires { N; };
[[sycl::reqd_sub_group_size(N)]] void f6();
