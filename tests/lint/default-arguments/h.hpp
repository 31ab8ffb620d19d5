template <int N = 8, int R = 0> struct shape;
template <int N, int R> struct shape { static_assert(N == 16 || N == 32); };
constexpr int kWide = 64;
template <class, int N = kWide> struct wide { static_assert(N > 0); };
template <int... N> struct none {};
