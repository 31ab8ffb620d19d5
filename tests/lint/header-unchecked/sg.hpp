#define PROJ_SG(n) [[sycl::reqd_sub_group_size(n)]]
static_assert(sizeof(int) == 4);
