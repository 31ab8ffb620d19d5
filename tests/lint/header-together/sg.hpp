template <int N, int R> constexpr bool valid() { return N == 16 || N == 32; }
constexpr bool fits(int size, int registers) { return size <= 32 || registers == 256; }
template <int N, int R = 0> struct a { static_assert(N >= 16); static_assert(N <= 32, "too large"); static_assert((N & (N - 1)) == 0); };
template <int N, int R = 0> struct b { static_assert(N == 0 ? R == 256 : (N == 16 || N == 32)); static_assert(R == 0 || R == 256); };
template <int N, int R = 0> struct c { static_assert((N == 16 || N == 32 || (N == 0 && R == 256)) && (R == 0 || R == 256)); };
template <int N, int R = 0> struct d { static_assert(valid<N, R>(), "size"); static_assert(fits(N, R)); };
template <class T, int N> struct e { static_assert(N == 16 || N == 32); static_assert(std::is_same_v<T, int>); };
template <int N, int R = 0> struct f { static_assert(N % 16 == 0 && N <= 32); };
template <int N, int R = 0> struct g { static_assert(N == 16 || N == 32 || (N == 8 && R == 300)); };
template <int N> struct h { static_assert(N >= 16); static_assert(N <= 64); };
template <int N> struct i { static_assert(N >= 16); static_assert(N < 32); };
template <int N> struct j { static_assert(nowhere(N)); };
template <int N> struct k { static_assert(N == 16 || N == 32); static_assert(nowhere(N)); };
