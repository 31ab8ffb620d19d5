// SPDX-License-Identifier: Apache-2.0
// Compiles free-function SYCL kernels at run time; the runtime dumps the device images it builds into the working folder.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sycl/sycl.hpp>
namespace syclx = sycl::ext::oneapi::experimental;

int main(int argc, char **argv) {
  if (argc != 3) {
    std::cerr << "usage: sycl-to-spirv KERNELS.cpp OUT\n";
    return 2;
  }
  std::ifstream in(argv[1]);
  const std::string source{std::istreambuf_iterator<char>(in), {}};
  std::filesystem::create_directories(argv[2]);
  std::filesystem::current_path(argv[2]);
  setenv("SYCL_DUMP_IMAGES", "1", 1);
  try {
    sycl::queue queue;
    auto bundle = syclx::create_kernel_bundle_from_source(queue.get_context(), syclx::source_language::sycl, source);
    std::string log;
    auto built = syclx::build(bundle, syclx::properties{syclx::save_log{&log}});
    std::cerr << log;
  } catch (const sycl::exception &e) {
    std::cerr << e.what() << '\n';
    return 1;
  }
}
