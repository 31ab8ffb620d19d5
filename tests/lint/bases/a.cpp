// What a class inherits comes before what is around it: [class.member.lookup], [basic.lookup.unqual].
constexpr int SG = 16;
struct Base { static constexpr int SG = 8; };
struct K : Base { [[sycl::reqd_sub_group_size(SG)]] void operator()(int) const; };
struct Above : public virtual Base {};
struct L final : private Above { void f() { auto k = [](int) [[sycl::reqd_sub_group_size(SG)]] {}; } };
struct M : Above { static constexpr int SG = 32; [[sycl::reqd_sub_group_size(SG)]] void operator()(int) const; };
[[sycl::reqd_sub_group_size(L::SG)]] void qualified();
template <int N> struct Sized { static constexpr int SG = N; };
struct Of8 : Sized<8> { [[sycl::reqd_sub_group_size(SG)]] void operator()(int) const; };
struct Of32 : Sized<SG * 2> { [[sycl::reqd_sub_group_size(SG)]] void operator()(int) const; };
// a base that depends on a parameter is not looked into: [temp.dep.type]
template <class T> struct Late : T { [[sycl::reqd_sub_group_size(SG)]] void operator()(int) const; };
template <int N> struct Both : Sized<N>, Base { [[sycl::reqd_sub_group_size(SG)]] void operator()(int) const; };
using Other = Base;
struct Named : Other { [[sycl::reqd_sub_group_size(SG)]] void operator()(int) const; };
struct Gone : nowhere::Kernel { [[sycl::reqd_sub_group_size(SG)]] void operator()(int) const; };
struct Shared : std::enable_shared_from_this<Shared> { [[sycl::reqd_sub_group_size(SG)]] void operator()(int) const; };
void local() {
  constexpr int SG = 16;
  struct In : Base { [[sycl::reqd_sub_group_size(SG)]] void operator()(int) const; };
  struct Out { [[sycl::reqd_sub_group_size(SG)]] void operator()(int) const; };
}
namespace n { struct Base { static constexpr int SG = 64; }; struct D : Base { void f(); }; constexpr int kOwn = 8; void g(); }
void n::D::f() { auto k = [](int) [[sycl::reqd_sub_group_size(SG)]] {}; }
void n::g() { auto k = [](int) [[sycl::reqd_sub_group_size(kOwn)]] {}; }
struct Split
#ifdef A
  : Base
#else
  : Above
#endif
{ [[sycl::reqd_sub_group_size(SG)]] void operator()(int) const; };
#include "h.hpp"
struct Header : FromHeader { [[sycl::reqd_sub_group_size(kHeader)]] void operator()(int) const; };
