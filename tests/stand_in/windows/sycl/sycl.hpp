/* SPDX-License-Identifier: Apache-2.0 */
/* As ../../include/sycl/sycl.hpp, without Microsoft's library, which no test machine has. */
#ifndef STAND_IN_SYCL_HPP
#define STAND_IN_SYCL_HPP
#include <cstddef>

extern "C" void *malloc(std::size_t size);
extern "C" void free(void *p);

namespace sycl {
template <int> struct range {
    std::size_t size;
    range(std::size_t s) : size(s) {}
};
template <int> struct id {
    std::size_t at;
    operator std::size_t() const { return at; }
};
struct event {
    void wait() const {}
};
class queue {
public:
    template <class Name, class Kernel> event parallel_for(range<1> r, const Kernel &kernel)
    {
        for (std::size_t i = 0; i < r.size; i++)
            kernel(id<1>{ i });
        return {};
    }
};
template <class T> T *malloc_shared(std::size_t count, const queue &)
{
    return static_cast<T *>(::malloc(count * sizeof(T)));
}
inline void free(void *p, const queue &)
{
    ::free(p);
}
} // namespace sycl
#endif
