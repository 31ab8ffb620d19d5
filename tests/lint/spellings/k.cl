__kernel
__attribute__((intel_reqd_sub_group_size(8)))
void k(__global int *p) { *p = get_sub_group_size(); }
__kernel __attribute__((intel_reqd_sub_group_size(16))) void l(__global int *p) { *p = 1; }
