/* SPDX-License-Identifier: Apache-2.0 */
/* Entries of -fsycl-targets. */
#ifndef DVI_SYCL_ENTRY_H
#define DVI_SYCL_ENTRY_H

#include "target/target.h"

/** "intel_gpu_bmg_g21" of bmg-g21, in the arena; NULL: no Intel GPU. False: no memory. */
bool dvi_sycl_entry_of(const struct devimg_target *target, struct dvi_arena *arena,
                       const char **out);
/** Has it the form of one, such as "spir64_gen", "nvidia_gpu_sm_90" or "nvptx64-nvidia-cuda"? */
bool dvi_sycl_is_entry(const char *name);
/** Only letters, digits and "_-+.:/": no language or shell reads more into it. */
bool dvi_sycl_is_plain(const char *name);
/** One that a GPU can run: a GPU's own, or SPIR-V. */
bool dvi_sycl_entry_is_gpu(const char *name);

#endif
