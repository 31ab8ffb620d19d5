constexpr int kFile = 32; /* of this file alone */
#define EIGHT 32
[[sycl::reqd_sub_group_size(kFile)]] void z();
[[sycl::reqd_sub_group_size(EIGHT)]] void y();
