// Functions that only return an expression, and macros with parameters, are computed.
constexpr int twice(int n) { return n * 2; }
constexpr int larger(const int &a, int b) noexcept { return a > b ? a : b; }
template <int A, int B> consteval auto sum() -> int { return A + B; }
template <class T> constexpr T half(T n) { return n / T(2); }
struct Tuned { static constexpr int size() { return 8; } };
#define DEFER(n) n
#define SECOND(a, b, ...) b
#define JOIN(a, b) a##b
alignas(8) constexpr int kAligned = 8;
[[sycl::reqd_sub_group_size(twice(4))]] void a();
[[sycl::reqd_sub_group_size(larger(8, twice(8)))]] void b();
[[sycl::reqd_sub_group_size(sum<4, 4>())]] void c();
[[sycl::reqd_sub_group_size(half<int>(32))]] void d();
[[sycl::reqd_sub_group_size(Tuned::size())]] void e();
[[sycl::reqd_sub_group_size(DEFER(8))]] void f();
[[sycl::reqd_sub_group_size(SECOND(16, 8, 32, 64))]] void g();
[[sycl::reqd_sub_group_size(JOIN(1, 6))]] void h();
[[sycl::reqd_sub_group_size(kAligned)]] void i();
[[sycl::reqd_sub_group_size(sizeof(double))]] void j();
using Size = unsigned;
[[sycl::reqd_sub_group_size(Size(8))]] void k();
// and others are not
constexpr int looped(int n) { while (n > 16) n /= 2; return n; }
constexpr int over(int n) { return n; }
constexpr int over(long n) { n += 8; return 8; }
constexpr int again(int n) { return n == 0 ? 8 : again(n - 1); }
[[sycl::reqd_sub_group_size(looped(16))]] void l();
[[sycl::reqd_sub_group_size(over(16))]] void m();
[[sycl::reqd_sub_group_size(again(3))]] void n();
[[sycl::reqd_sub_group_size(twice(1, 2))]] void o();
[[sycl::reqd_sub_group_size(half(nothing))]] void p();
[[sycl::reqd_sub_group_size(sizeof(long) * 2)]] void q();
constexpr int kTable[] = { 8, 16 };
[[sycl::reqd_sub_group_size(kTable[1])]] void r();
