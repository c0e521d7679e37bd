# SPDX-License-Identifier: MIT
"""A kernel that Numba, CuPy or Triton compiles, launched as it does: compilers.py numba|cupy|triton. Prints PASS or FAIL.
With `missing NAME` prints why it cannot be done here, or nothing."""
import ctypes
import importlib.util
import sys

N = 1000


def missing(name):
    for module in ("numpy", name):
        if importlib.util.find_spec(module) is None:
            return "python3 has no module %s" % module
    if name == "numba":
        from numba import cuda, float32

        try:
            cuda.compile_ptx(lambda a: None, (float32[:],), cc=(7, 5))
        except Exception as error:  # no libNVVM, or one that does not take what this Numba makes
            return "Numba: %s" % " ".join(str(error).split())[:200]
    return ""


def by_numba(numpy):
    from numba import cuda

    @cuda.jit
    def twice(a, out):
        i = cuda.grid(1)
        if i < a.size:
            out[i] = 2 * a[i]

    a = numpy.arange(N, dtype=numpy.float32)
    out = numpy.zeros_like(a)
    twice[8, 128](a, out)
    return (out == 2 * a).all()


def by_cupy(numpy):
    import cupy

    twice = cupy.RawKernel(
        'extern "C" __global__ void twice(const float *a, float *out, int n)'
        "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = 2 * a[i]; }", "twice")
    a = numpy.arange(N, dtype=numpy.float32)
    out = cupy.empty(N, dtype=cupy.float32)
    twice((8,), (128,), (cupy.asarray(a), out, numpy.int32(N)))
    return (out.get() == 2 * a).all()


def launch(ptx, warps, arguments):
    """Loads PTX and launches its kernel in 8 blocks, with null pointers for the parameters that the compiler adds."""
    driver = ctypes.CDLL("libcuda.so.1")
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    entry = ptx[ptx.index(".entry"):]
    parameters = entry[:entry.index(")")].count(".param")
    cells = [ctypes.c_uint64(value) for value in arguments + [0] * (parameters - len(arguments))]
    pointers = (ctypes.c_void_p * len(cells))(*[ctypes.addressof(cell) for cell in cells])
    codes = [driver.cuModuleLoadData(ctypes.byref(module), ptx.encode()),
             driver.cuModuleGetFunction(ctypes.byref(function), module, b"twice"),
             driver.cuLaunchKernel(function, 8, 1, 1, 32 * warps, 1, 1, 0, None, pointers, None),
             driver.cuCtxSynchronize()]
    return all(code == 0 for code in codes)


def by_triton(numpy):
    import triton
    import triton.language as tl
    from triton.backends.compiler import GPUTarget

    @triton.jit
    def twice(a, out, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + i, 2 * tl.load(a + i, mask=i < n), mask=i < n)

    source = triton.compiler.ASTSource(
        fn=twice, signature={"a": "*fp32", "out": "*fp32", "n": "i32", "BLOCK": "constexpr"}, constexprs={"BLOCK": 128})
    ptx = triton.compile(source, target=GPUTarget("cuda", 80, 32), options={"num_warps": 4}).asm["ptx"]
    driver = ctypes.CDLL("libcuda.so.1")
    context, array = ctypes.c_void_p(), ctypes.c_uint64()
    a = numpy.arange(N, dtype=numpy.float32)
    out = numpy.zeros_like(a)
    codes = [driver.cuInit(0), driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0), driver.cuCtxSetCurrent(context),
             driver.cuMemAlloc_v2(ctypes.byref(array), ctypes.c_size_t(2 * a.nbytes)),
             driver.cuMemcpyHtoD_v2(array, ctypes.c_void_p(a.ctypes.data), ctypes.c_size_t(a.nbytes))]
    result = ctypes.c_uint64(array.value + a.nbytes)
    launched = launch(ptx, 4, [array.value, result.value, N])
    codes.append(driver.cuMemcpyDtoH_v2(ctypes.c_void_p(out.ctypes.data), result, ctypes.c_size_t(a.nbytes)))
    return launched and not any(codes) and (out == 2 * a).all()


if sys.argv[1] == "missing":
    print(missing(sys.argv[2]))
else:
    import numpy

    print("PASS" if {"numba": by_numba, "cupy": by_cupy, "triton": by_triton}[sys.argv[1]](numpy) else "FAIL")
