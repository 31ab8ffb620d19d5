/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stand-in for the SYCL header, for tests without a SYCL compiler: only what the examples use, and
 * kernels run on the host, item by item.
 */
#ifndef STAND_IN_SYCL_HPP
#define STAND_IN_SYCL_HPP
#include <cstddef>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace sycl {
class exception : public std::runtime_error {
    using std::runtime_error::runtime_error;
};
template <int> struct range {
    std::size_t size;
    range(std::size_t s) : size(s) {}
};
template <int> struct id {
    std::size_t at;
    operator std::size_t() const { return at; }
};
namespace info {
namespace device {
struct name {};
} // namespace device
} // namespace info
struct device {
    template <class T> std::string get_info() const { return "the host (stand-in for SYCL)"; }
};
struct selector {};
inline constexpr selector default_selector_v{}, cpu_selector_v{}, gpu_selector_v{};
struct event {
    void wait() const {}
};
class queue {
public:
    queue() = default;
    explicit queue(selector) {}
    device get_device() const { return {}; }
    template <class Name, class Kernel> event parallel_for(range<1> r, const Kernel &kernel)
    {
        for (std::size_t i = 0; i < r.size; i++)
            kernel(id<1>{ i });
        return {};
    }
    void wait() const {}
};
template <class T> T *malloc_shared(std::size_t count, const queue &)
{
    return static_cast<T *>(std::calloc(count, sizeof(T)));
}
inline void free(void *p, const queue &)
{
    std::free(p);
}
} // namespace sycl
#endif
