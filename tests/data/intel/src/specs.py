#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the JSON specs that mk.py turns into C. argv: work folder."""
import json, os, sys
W = sys.argv[1]
R = lambda f: os.path.getsize(os.path.join(W, f))
G, S = "spir64_gen", "spir64"
DR = "SYCL/device requirements"


def w(name, **k):
    k["name"] = name
    json.dump(k, open(os.path.join(W, name + ".json"), "w"))


B = ["scale_add", "count_bits"]
three = [dict(target=G, format=0, file="zfat_basic.ar", entries=B, props={DR: {"aspects": []}}, copts="-device tgllp,adl-s,dg2-g11"),
         dict(target=G, format=0, file="zfat_sg16.ar", entries=["row_sum_sg16"],
              props={DR: {"aspects": [5], "reqd_sub_group_size": 16}, "SYCL/misc properties": {"optLevel": 2}})]
spv = [dict(target=S, format=0, file="basic.spv", entries=B, props={DR: {"aspects": []}}),
       dict(target=S, format=0, file="sg16.spv", entries=["row_sum_sg16"], props={DR: {"aspects": [6], "reqd_sub_group_size": 16}})]
w("lib_aot", ctor=True, images=three + spv)
z = [dict(i, file=i["file"] + ".zst", format=4, rawsize=R(i["file"])) for i in three + spv]
w("lib_aot_zstd", ctor=True, images=z)
w("lib_aot_zstd_v3", version=3, ctor=True, images=z)
w("lib_spirv_only", ctor=True, images=spv)
w("lib_bare", ctor=True, images=[dict(target=G, format=1, file="sg16_dg2-g11_ip.zebin", entries=["row_sum_sg16"])] + spv[1:])
w("lib_sg8", ctor=True, images=[dict(target=G, format=0, file="zfat_sg8.ar", entries=["row_sum_sg8"],
                                     props={DR: {"aspects": [], "reqd_sub_group_size": 8}}),
                                dict(target=S, format=0, file="sg8.spv", entries=["row_sum_sg8"],
                                     props={DR: {"aspects": [], "reqd_sub_group_size": 8}})])
w("lib_spill", ctor=True, images=[dict(target=G, format=4, file="spill_dg2-g10.zebin.zst", rawsize=R("spill_dg2-g10.zebin"),
                                       entries=["private_table", "slm_reduce", "spill_mix"])])
w("lib_sections_only", loose=[dict(section="__CLANG_OFFLOAD_BUNDLE__sycl-spir64_gen", file="concat.bin"),
                              dict(section="__CLANG_OFFLOAD_BUNDLE__sycl-spir64", file="basic.spv")])
w("lib_upstream_v3", version=3, kind=8, entry="new", tgtimg=False,
  images=[dict(target="spirv64-intel", section=".llvm.offloading", format=6, file="basic.spv", entries=B)])
w("obj_packager", loose=[dict(section=".llvm.offloading", file="packed.bin", align=8)])
w("lib_garbage", loose=[dict(section="__CLANG_OFFLOAD_BUNDLE__sycl-spir64_gen", file="concat_garbage.bin")])
w("lib_zstd_cut", ctor=True, images=[dict(target=G, format=4, file="zfat_sg16.ar.zst.cut", rawsize=R("zfat_sg16.ar"), entries=["row_sum_sg16"])])
w("lib_hcf", loose=[dict(section=".rodata", file="axpy.hcf", align=1)])
w("lib_cpu", ctor=True, images=[dict(target="spir64_x86_64", format=2, file="basic_x86_64.oclelf", entries=B),
                                dict(target="native_cpu", section=".rodata.native_cpu", format=1, file="table", entries=B),
                                dict(spv[0])])
w("lib_cpu_sections", loose=[dict(section="__CLANG_OFFLOAD_BUNDLE__sycl-spir64_x86_64", file="concat_cpu.bin")])
