/* SPDX-License-Identifier: Apache-2.0 */
/**
 * devimg_registry: how many kernels this program has registered with the SYCL runtime.
 *
 * For a test of one's own, on any machine with the runtime, Windows too; no GPU is needed. Link it as
 * the program is linked that must find its kernels:
 *
 *     #include <devimg_registry.hpp>
 *     int main() { return devimg::check_registry(21); }   // at least one kernel a source file
 *
 * It fails, and says on stderr which it was, when the runtime threw, when no kernel is registered
 * (the link dropped the device images), when there are fewer than the floor, or when two calls
 * differ. `devimg sycl registry FILE` tells the same of a file that is not run.
 *
 * C++17, and <sycl/sycl.hpp> of a SYCL 2020 implementation. Header only.
 */
#ifndef DEVIMG_REGISTRY_HPP
#define DEVIMG_REGISTRY_HPP

#include <cstddef>
#include <cstdio>
#include <exception>
#include <string>

#include <sycl/sycl.hpp>

namespace devimg {

/** What the runtime said. */
struct registry_count {
    long long kernels = -1; /**< -1: it threw */
    std::string problem;    /**< then: what() of the exception */
};

/** Kernels that are registered now: sycl::get_kernel_ids(). */
inline registry_count count_registry()
{
    registry_count count;
    try {
        count.kernels = static_cast<long long>(sycl::get_kernel_ids().size());
    } catch (const std::exception &e) {
        count.problem = e.what();
    } catch (...) {
        count.problem = "an exception of no known kind";
    }
    return count;
}

/** Why the registry fails; empty: it does not. @param floor  kernels that must be there, 1 at least */
inline std::string registry_problem(std::size_t floor = 1)
{
    const registry_count first = count_registry();
    const registry_count second = count_registry();
    const long long least = floor < 1 ? 1 : static_cast<long long>(floor);
    if (first.kernels < 0 || second.kernels < 0)
        return "the SYCL runtime threw: " + (first.kernels < 0 ? first : second).problem;
    if (first.kernels != second.kernels)
        return "two calls differ: " + std::to_string(first.kernels) + " kernels, then " +
               std::to_string(second.kernels);
    if (first.kernels == 0)
        return "no kernel is registered: the link dropped the device images, or the code that "
               "registers them (devimg sycl registry FILE tells which)";
    if (first.kernels < least)
        return std::to_string(first.kernels) + " kernels are registered, fewer than " +
               std::to_string(least);
    return {};
}

/** For main(): 0; or 1, and why on stderr. */
inline int check_registry(std::size_t floor = 1)
{
    const std::string problem = registry_problem(floor);
    if (problem.empty())
        return 0;
    std::fprintf(stderr, "devimg_registry: %s\n", problem.c_str());
    return 1;
}

} // namespace devimg

#endif
