/* no end
[[sycl::reqd_sub_group_size(8)]] void b();
