__attribute__((intel_reqd_sub_group_size(16))) __kernel void f(__global int *p) { }
__attribute__((intel_reqd_sub_group_size(8))) __kernel void g(__global int *p) { }
