#define MY_SG(N) [[sycl::reqd_sub_group_size(N)]]
#define ALSO
template <int N> struct shape;
namespace n { template <int N> struct used {}; }
n::used<16> u;
MY_SG(16) void f();
