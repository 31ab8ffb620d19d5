#define ATTR(x) __attribute__((x))
ATTR(intel_reqd_sub_group_size(8)) __kernel void f(__global int *p) {}
