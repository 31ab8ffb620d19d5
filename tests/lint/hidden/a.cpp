// [[sycl::reqd_sub_group_size(8)]]
/* [[sycl::reqd_sub_group_size(8)]]
   [[sycl::reqd_sub_group_size(8)]] */ int a;
// a comment that goes on \
[[sycl::reqd_sub_group_size(8)]]
// and one with blanks behind the backslash \   
[[sycl::reqd_sub_group_size(8)]]
/\
/ [[sycl::reqd_sub_group_size(8)]]
/\
* [[sycl::reqd_sub_group_size(8)]] *\
/
const char *b = "[[sycl::reqd_sub_group_size(8)]] \" [[sycl::reqd_sub_group_size(8)]]";
const char *c = R"(" [[sycl::reqd_sub_group_size(8)]] // )";
const char *d = u8R"x( )" [[sycl::reqd_sub_group_size(8)]] )y" )x";
const char *e = R"kernel(
#endif
__attribute__((intel_reqd_sub_group_size(8))) kernel void f() {}
)kernel";
const int f = 1'000'000, g = '"', h = '\'', i = 'a'; // ' "
#if 0
it's skipped: [[sycl::reqd_sub_group_size(8)]]
#else
[[sycl::reqd_sub_group_size(8)]] void j();
#if 1
#else
[[sycl::reqd_sub_group_size(8)]] void k();
#endif
#endif
#if 0
#if 1
[[sycl::reqd_sub_group_size(8)]] void l();
#else
[[sycl::reqd_sub_group_size(8)]] void m();
#endif
#elif 0
[[sycl::reqd_sub_group_size(8)]] void n();
#endif
#error don't require [[sycl::reqd_sub_group_size(8)]]
#if __has_cpp_attribute(sycl::reqd_sub_group_size)
#endif
/* the end: [[sycl::reqd_sub_group_size(8)]] */