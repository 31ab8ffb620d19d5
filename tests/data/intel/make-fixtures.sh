#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the Intel/SYCL fixtures again. Needs: ocloc 22.43 (Debian 12 intel-opencl-icd), clang-19, lld-19, llvm-19,
# clang-tools-19 (clang-offload-packager), spirv-tools, zstd, python3. usage: make-fixtures.sh [OUT]
# KEEP=DIR keeps the work folder (all pieces) in DIR. OCL_CPU=DIR is the lib folder of intel-opencl-rt 2026.2.0 and
# intel-cmplr-lib-rt (PyPI); without it the code for CPUs is the one that is here.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here}
src=$here/src
if [ -n "${KEEP:-}" ]; then w=$KEEP; mkdir -p "$w"; else w=$(mktemp -d); trap 'rm -rf "$w"' EXIT; fi
cp "$src"/* "$w"; cd "$w"
mk="python3 $src/mk.py"
zb="-internal_options -cl-intel-allow-zebin"
bin=$(dirname "$(readlink -f "$(command -v clang-19)")")
oc() { ocloc compile -q "$@" >/dev/null 2>&1; }
one() { # kernel device output [extra]: one bare device image
  rm -rf o; mkdir o; of=$1 od=$2 ot=$3; shift 3
  oc -file "$of" -device "$od" -out_dir o -output x "$@"; cp o/x_*.bin "$ot"; if [ -f o/x_*.spv ]; then cp o/x_*.spv last.spv; fi; }
fat() { oc -file "$1" -device "$2" -output "$3" $4 ${5:-}; }

# SPIR-V
for k in basic sg8 sg16 sg32 spill; do one k_$k.cl dg2-g10 $k.legacy; cp last.spv $k.spv; done
printf 'OpCapability Addresses\nOpCapability Kernel\n%%1 = OpExtInstImport "OpenCL.std"\nOpMemoryModel Physical64 OpenCL\n' > e.spvasm
spirv-as --target-env spv1.0 e.spvasm -o empty.spv
# bare zebins (this IGC writes no product-config note, so *_ip gets one added)
one k_basic.cl dg2-g10 basic_dg2-g10.zebin $zb
one k_sg8.cl adl-s sg8_adl-s.zebin $zb
one k_sg16.cl dg2-g11 sg16_dg2-g11.zebin $zb
one k_sg32.cl dg2-g11 sg32_dg2-g11.zebin $zb
one k_spill.cl dg2-g10 spill_dg2-g10.zebin $zb
$mk ipnote sg16_dg2-g11.zebin sg16_dg2-g11_ip.zebin 12.56.5
$mk ipnote sg8_adl-s.zebin sg8_adl-s_ip.zebin 12.2.0
$mk machine basic_dg2-g10.zebin basic_exe_ff12.zebin 0xff12 0x4f6
# legacy: the default output of this ocloc (OpenCL ELF around patch tokens)
cp spill.legacy spill_dg2-g10.oclelf
# the same kernels as patch tokens and as zebin, without their SPIR-V; "slots" with a scratch space for each use
pair() { # kernel device name [options]
  pk=$1 pd=$2 pn=$3; shift 3; one "$pk" "$pd" "$pn.oclelf" -exclude_ir "$@"; one "$pk" "$pd" "$pn.zebin" -exclude_ir "$@" $zb; }
export IGC_FunctionControl=3; pair k_calls.cl tgllp calls_tgllp; unset IGC_FunctionControl
pair k_dpas.cl dg2-g10 dpas_dg2-g10
pair k_sg16.cl dg2-g10 grf256_dg2-g10 -options -cl-intel-256-GRF-per-thread
export IGC_SeparateSpillPvtScratchSpace=1; pair k_slots.cl pvc slots_pvc; unset IGC_SeparateSpillPvtScratchSpace
P=skl,icllp,tgllp,dg2-g10
fat k_tokens.cl $P tokens_fat.ar -exclude_ir
fat k_tokens.cl $P tokens_zfat.ar "$zb" -exclude_ir
# a device binary without its ELF, for hosts of 32 bits
one k_sg16.cl tgllp sg16.legacy32 -gen_file -32; cp o/x_*.gen sg16_tgllp_32.gen
# code for CPUs, as opencl-aot writes it
if [ -n "${OCL_CPU:-}" ]; then
  LD_LIBRARY_PATH=$OCL_CPU CL_CONFIG_CPU_TARGET_ARCH=core-avx2 python3 "$src/cpu_aot.py" basic.spv basic_x86_64.oclelf
else cp "$here/basic_x86_64.oclelf" .; fi
$mk cat concat_cpu.bin 16 basic_x86_64.oclelf basic_x86_64.oclelf
printf '0123456789abcdef' > table
# fat archives
T=tgllp,adl-s,dg2-g11
fat k_basic.cl $T zfat_basic.ar "$zb"
fat k_sg8.cl $T zfat_sg8.ar "$zb"
fat k_sg16.cl $T zfat_sg16.ar "$zb"
fat k_sg32.cl adl-s,dg2-g11 zfat_sg32_two.ar "$zb"
fat basic.spv adl-s,dg2-g10 zfat_generic_ir.ar "$zb" -spirv_input
fat k_sg8.cl tgllp,dg2-g10 legacy_fat.ar ""
fat k_sg16.cl dg2-g10,acm-g10 zfat_same_ip_twice.ar "$zb"
# pieces for the host files
for f in zfat_basic.ar zfat_sg8.ar zfat_sg16.ar basic.spv sg16.spv sg32.spv spill_dg2-g10.zebin; do $mk zstd $f $f.zst; done
$mk cut zfat_sg16.ar.zst zfat_sg16.ar.zst.cut 900
$mk cat concat.bin 16 zfat_sg16.ar zfat_basic.ar sg16_dg2-g11_ip.zebin
printf 'junk' > junk; $mk cat concat_garbage.bin 16 zfat_sg16.ar junk zfat_sg16.ar
$mk poke zfat_sg16.ar.zst lie.zst 6 ff          # content size field no longer true
clang-offload-packager-19 -o packed.bin --image=file=basic.spv,triple=spirv64-intel,arch=generic,kind=sycl \
  --image=file=sg16_dg2-g11.zebin,triple=spir64_gen,arch=intel_gpu_dg2_g11,kind=sycl
printf 'void axpy_kernel(float *a){a[0]*=2;}\n' > axpy.c
clang-19 -O1 -c -emit-llvm axpy.c -o axpy.bc; $mk hcf axpy.bc axpy.hcf
python3 "$src/specs.py" .
so() { # name [link flags]
  n=$1; shift; $mk cgen $n.json $n.c
  clang-19 -O1 -fPIC -Wno-everything --embed-dir=. -c $n.c -o $n.o
  clang-19 -shared -nostdlib -fuse-ld=lld -Wl,--build-id=none "$@" -o $n.so $n.o; }
for n in lib_cpu lib_cpu_sections lib_aot lib_aot_zstd lib_aot_zstd_v3 lib_spirv_only lib_bare lib_sg8 lib_spill lib_sections_only lib_upstream_v3 lib_garbage lib_zstd_cut; do so $n; done
cp lib_aot_zstd.so lib_aot_zstd_stripped.so; llvm-strip-19 --strip-all lib_aot_zstd_stripped.so
so lib_hcf
$mk cgen obj_packager.json p.c; clang-19 -O1 -Wno-everything --embed-dir=. -c p.c -o obj_packager.o
# fat object in the shape that an unlinked -c step leaves
printf 'int host(void){return 1;}\n' > host.c; clang-19 -c host.c -o host.o
head -c 1 /dev/zero > zero
B=__CLANG_OFFLOAD_BUNDLE__   # llvm.org's bundler has no "sycl" kind: add its sections as it would
llvm-objcopy-19 --add-section=${B}sycl-spir64_gen-unknown-unknown=axpy.bc --set-section-flags=${B}sycl-spir64_gen-unknown-unknown=exclude,readonly \
  --add-section=${B}sycl-spir64-unknown-unknown=axpy.bc --set-section-flags=${B}sycl-spir64-unknown-unknown=exclude,readonly \
  --add-section=${B}host-x86_64-unknown-linux-gnu-=zero --set-section-flags=${B}host-x86_64-unknown-linux-gnu-=exclude,readonly host.o obj_bundle.o
# Windows: object and DLL
coff() { $mk cgen $1.json $1.c; clang-19 --target=x86_64-pc-windows-msvc -mno-incremental-linker-compatible -O1 -Wno-everything -ffreestanding --embed-dir=. -DWIN -c $1.c -o $1.obj
  lld-link-19 /dll /noentry /timestamp:0 /out:$1.dll /export:devimg_fixture_$1 $1.obj >/dev/null; }
sed 's/"ctor": true, //' lib_aot_zstd.json | sed 's/"name": "lib_aot_zstd"/"name": "win_aot_zstd"/' > win_aot_zstd.json; coff win_aot_zstd
$mk bigobj win_aot_zstd.obj win_aot_zstd_big.obj
# another architecture
$mk cgen lib_aot.json a.c; clang-19 --target=aarch64-linux-gnu -O1 -fPIC -ffreestanding -Wno-everything --embed-dir=. -c a.c -o a.o
ld.lld-19 -shared -m aarch64linux --build-id=none -o lib_aot_aarch64.so a.o
# corrupt
$mk cut basic_dg2-g10.zebin bad_zebin_truncated.zebin 3000
$mk cut zfat_basic.ar bad_ar_truncated.ar 9000
$mk poke zfat_basic.ar bad_ar_size.ar 0x7c 7878787878787878
$mk poke basic.spv bad_spirv_wordcount.spv 20 11000000
$mk cut basic.spv bad_spirv_truncated.spv 1001
one k_tokens.cl tgllp tokens.oclelf -exclude_ir # the third kernel's execution environment (token 23) of 4 bytes
n=0; for i in 1 2 3; do n=$($mk find tokens.oclelf 170000008c000000 $((n+1))); done; $mk poke tokens.oclelf bad_tokens.oclelf $((n+4)) 04000000
n=$($mk find sg16_dg2-g11_ip.zebin 080000000400000006000000); $mk poke sg16_dg2-g11_ip.zebin bad_note_overrun.zebin $((n+4)) 40000000
keep="basic_dg2-g10.zebin sg8_adl-s_ip.zebin sg16_dg2-g11.zebin sg16_dg2-g11_ip.zebin sg32_dg2-g11.zebin spill_dg2-g10.zebin basic_exe_ff12.zebin
 spill_dg2-g10.oclelf zfat_basic.ar zfat_sg8.ar zfat_generic_ir.ar legacy_fat.ar zfat_same_ip_twice.ar basic.spv sg8.spv sg16.spv empty.spv
 lib_aot.so lib_aot_zstd.so lib_aot_zstd_stripped.so lib_aot_zstd_v3.so lib_spirv_only.so lib_bare.so lib_sg8.so lib_spill.so lib_sections_only.so
 lib_upstream_v3.so lib_hcf.so axpy.hcf obj_packager.o obj_bundle.o win_aot_zstd.obj win_aot_zstd_big.obj win_aot_zstd.dll lib_aot_aarch64.so lib_aot.o
 calls_tgllp.oclelf calls_tgllp.zebin dpas_dg2-g10.oclelf dpas_dg2-g10.zebin grf256_dg2-g10.oclelf grf256_dg2-g10.zebin
 slots_pvc.oclelf slots_pvc.zebin tokens_fat.ar tokens_zfat.ar sg16_tgllp_32.gen bad_tokens.oclelf
 basic_x86_64.oclelf lib_cpu.so lib_cpu_sections.so
 lib_garbage.so lib_zstd_cut.so bad_zebin_truncated.zebin bad_ar_truncated.ar bad_ar_size.ar bad_spirv_wordcount.spv bad_spirv_truncated.spv bad_note_overrun.zebin"
mkdir -p "$out"; cp $keep "$out"/
