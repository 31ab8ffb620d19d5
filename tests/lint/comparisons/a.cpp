void f(int sub_group_size, int x) {
  if (sub_group_size < 8 && x > 3) g();
  for (int i = 0; i < sub_group_size; i++) h(i > 3);
  g(sub_group_size < 8, x > (3));
  bool b = d.sub_group_size<8>, c = sub_group_size < 8;
  auto sizes = dev.get_info<sycl::info::device::sub_group_sizes>();
  auto size = kernel.get_info<info::kernel_device_specific::compile_sub_group_size>(d);
  template_of<sub_group_size>(x);
  g(properties{sub_group_size<8>}, x > 3);
  reqd_sub_group_size(8); /* a call of one's own */
  int reqd_sub_group_size(int kernel);
  object.reqd_sub_group_size(8);
}
template <typename T> constexpr int sub_group_size<T> = 4;
auto s = mine::sub_group_size<float>;
