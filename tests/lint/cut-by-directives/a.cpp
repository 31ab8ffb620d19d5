void f()
{
    auto k = [=](int) [[sycl::reqd_sub_group_size(
#ifdef A
        8
#else
        16
#endif
        )]] {};
    properties p{sub_group_size<
#ifdef A
        8
#else
        16
#endif
    >};
}
#define BEGIN [[sycl::reqd_sub_group_size(
#define END )]]
BEGIN 8 END void g();
#define K(n, ...) auto k##n = [=](int) [[sycl::reqd_sub_group_size(n)]] __VA_ARGS__
#define LAST(name, n) [[sycl::reqd_sub_group_size(n)]] void name()
void h()
{
    K(8, {
#ifdef A
        x = 1;
#endif
    });
    K(16, {
#ifdef A
        x = 1;
#endif
    });
}
LAST(i, 16
#ifdef A
    * 2
#endif
);
