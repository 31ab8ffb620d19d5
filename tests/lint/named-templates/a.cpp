constexpr int kEight = 8;
template <int SG, int GRF = 0> struct KernelShape { [[sycl::reqd_sub_group_size(SG)]] void f(); };
template <int GRF> struct KernelShape<16, GRF> {};
using A = KernelShape<8, 256>;
std::vector<Wrap<KernelShape<8>>> b;
template struct proj::KernelShape<8, (1 > 2)>;
KernelShape<kEight> c;
void d() { Launch<void>(q); }
void e() { Launch<std::pair<int, int>, 16>(q); }
void f() { proj::Launch<Pair<A, B>, 8>(q, KernelShape_size < 8, x > 3); }
template <int SG> using Own = KernelShape<SG, 0>;
KernelShape<32> g;
