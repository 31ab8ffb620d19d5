#define SG(n) [[sycl::reqd_sub_group_size(n)]]
#define OTHER SG
OTHER(8) void f1();
#define AGAIN OTHER
AGAIN(8) void f2();
#define NAME reqd_sub_group_size
[[sycl::NAME(8)]] void f3();
#define PROPERTY sycl::ext::oneapi::experimental::sub_group_size
auto p4 = PROPERTY<8>;
#define EACH(X) X(8) X(16)
#define KERNEL(n) SG(n) void k##n();
EACH(KERNEL)
#define EACH_OF(X, n) EACH(X) X(n)
EACH_OF(KERNEL, 32)
#define CALL(M, x) M(x)
CALL(SG, 8) void f5();
#define CALL_SG(x) CALL(SG, x)
CALL_SG(8) void f6();
#define ATTRIBUTES(...) [[using sycl: __VA_ARGS__]]
ATTRIBUTES(reqd_sub_group_size(8)) void f7();
#define EMPTY
[[sycl::reqd_sub_group_size EMPTY (8)]] void f8();
#define PUT(x) sycl::x
[[PUT(reqd_sub_group_size)(8)]] void f9();
#define BY_NAME(a, n) [[sycl::a(n)]]
BY_NAME(reqd_sub_group_size, 8) void f10();
#define CONSTANT(n) [[sycl::reqd_sub_group_size(k##n)]]
constexpr int kEight = 8;
CONSTANT(Eight) void f11();
PREDEFINED_EACH(SG, 8, 16)
#define PASTED(x) [[sycl::reqd_##x##_size(8)]]
int SIZE(int SG), sg = SIZE(3);
#define PLAIN(f) f(8) f(16)
PLAIN(print)
