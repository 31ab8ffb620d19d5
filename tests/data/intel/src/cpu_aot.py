#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What opencl-aot writes for -fsycl-targets=spir64_x86_64: the program binary of the OpenCL CPU runtime.

    cpu_aot.py IN.spv OUT       LD_LIBRARY_PATH: the folder of libintelocl.so (pip install intel-opencl-rt
                                intel-cmplr-lib-rt); CL_CONFIG_CPU_TARGET_ARCH as opencl-aot --march sets it
"""
import ctypes as c
import sys

PTR, UINT, SIZE, INT = c.c_void_p, c.c_uint, c.c_size_t, c.c_int
BINARY_SIZES, BINARIES, DEVICE_CPU = 0x1165, 0x1166, 2
cl = c.CDLL("libintelocl.so")
cl.clGetExtensionFunctionAddress.restype = PTR


def function(name, result, *arguments):
    try:
        f = getattr(cl, name)
    except AttributeError:  # reached through the ICD loader otherwise
        return c.CFUNCTYPE(result, *arguments)(cl.clGetExtensionFunctionAddress(name.encode()))
    f.restype, f.argtypes = result, arguments
    return f


def done(status):
    if status != 0:
        raise SystemExit("OpenCL error %d" % status)


def main(source, output):
    with open(source, "rb") as f:
        il = f.read()
    platform, device, status = PTR(), PTR(), INT()
    done(function("clIcdGetPlatformIDsKHR", INT, UINT, c.POINTER(PTR), PTR)(1, c.byref(platform), None))
    done(function("clGetDeviceIDs", INT, PTR, c.c_ulong, UINT, c.POINTER(PTR), PTR)(
        platform, DEVICE_CPU, 1, c.byref(device), None))
    context = function("clCreateContext", PTR, PTR, UINT, c.POINTER(PTR), PTR, PTR, c.POINTER(INT))(
        None, 1, c.byref(device), None, None, c.byref(status))
    done(status.value)
    program = function("clCreateProgramWithIL", PTR, PTR, c.c_char_p, SIZE, c.POINTER(INT))(
        context, il, len(il), c.byref(status))
    done(status.value)
    done(function("clBuildProgram", INT, PTR, UINT, c.POINTER(PTR), c.c_char_p, PTR, PTR)(
        program, 1, c.byref(device), b"", None, None))
    info = function("clGetProgramInfo", INT, PTR, UINT, SIZE, PTR, PTR)
    size = SIZE()
    done(info(program, BINARY_SIZES, c.sizeof(size), c.byref(size), None))
    binary = c.create_string_buffer(size.value)
    pointer = PTR(c.addressof(binary))
    done(info(program, BINARIES, c.sizeof(pointer), c.byref(pointer), None))
    with open(output, "wb") as f:
        f.write(binary.raw)


main(*sys.argv[1:])
