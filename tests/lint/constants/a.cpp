#include "config.hpp"
constexpr int kFile = 8;
static const unsigned kOld = 8;
inline constexpr std::size_t kBraces{8};
constexpr int kFirst = 16, kSecond = kFirst / 2, kNoSize = kFile * 0;
#define EIGHT 8
enum { Plain = 8, Other };
enum class Size : unsigned { Scoped = 8, Wide = 16 };
enum Count { Seven = 7, Next };
int const kTrailing = 16;
constexpr int kSame = 16;
namespace unrelated { constexpr int kSame = 8; }
namespace proj { namespace cfg = config; constexpr int kTwice = cfg::kSize; }
namespace proj {
using config::kUsing;
[[sycl::reqd_sub_group_size(kSame)]] void fine();
[[sycl::reqd_sub_group_size(kFile)]] void a();
[[sycl::reqd_sub_group_size(kOld)]] void b();
[[sycl::reqd_sub_group_size(kBraces)]] void c();
[[sycl::reqd_sub_group_size(kSecond)]] void d();
[[sycl::reqd_sub_group_size(EIGHT)]] void e();
[[sycl::reqd_sub_group_size(Plain)]] void f();
[[sycl::reqd_sub_group_size(Size::Scoped)]] void g();
[[sycl::reqd_sub_group_size(Next)]] void h();
[[sycl::reqd_sub_group_size(1 << 3)]] void i();
[[sycl::reqd_sub_group_size(static_cast<int>(kSecond))]] void j();
[[sycl::reqd_sub_group_size((unsigned)(kFile))]] void k();
[[sycl::reqd_sub_group_size(kFile > 4 ? 8 : 16)]] void l();
[[sycl::reqd_sub_group_size(std::uint32_t{8})]] void m();
[[sycl::reqd_sub_group_size(kFromOther)]] void n();
[[sycl::reqd_sub_group_size(config::kSize)]] void o();
[[sycl::reqd_sub_group_size(cfg::kSize)]] void p();
[[sycl::reqd_sub_group_size(::proj::config::kSize)]] void q();
[[sycl::reqd_sub_group_size(010)]] void r();
[[sycl::reqd_sub_group_size(0b1000u)]] void s();
[[sycl::reqd_sub_group_size(kTrailing)]] void fine2();
void t(sycl::queue &queue) {
  constexpr int kLocal = 8;
  queue.parallel_for(r, [=](sycl::nd_item<1> it) [[sycl::reqd_sub_group_size(kLocal)]] { });
  { constexpr int kLocal = 16;
    queue.parallel_for(r, [=](sycl::nd_item<1> it) [[sycl::reqd_sub_group_size(kLocal)]] { }); }
}
struct Kernel {
  static constexpr int kMember = 8;
  void run();
  [[sycl::reqd_sub_group_size(kMember)]] void operator()() const;
};
void Kernel::run() {
  h.parallel_for(r, [=](sycl::nd_item<1> it) [[sycl::reqd_sub_group_size(kMember)]] { });
}
namespace {
constexpr int kInner = 8;
[[sycl::reqd_sub_group_size(kInner)]] void u();
}
using namespace used;
[[sycl::reqd_sub_group_size(kUsed)]] void v();
}
