# SPDX-License-Identifier: MIT
"""The calls of CUDA's runtime and driver that random programs make, by ctypes, and their structures."""

import ctypes

from ctypes import byref, c_char, c_double, c_float, c_int, c_size_t, c_uint, c_uint64, c_void_p

RUNTIME, DRIVER = ctypes.CDLL("libcudart.so.13"), ctypes.CDLL("libcuda.so.1")
BY_ADDRESS = 4  # cudaMemcpyDefault
WORD = (1 << 32) - 1


class CallError(Exception):
    pass


def structure(name, *fields):
    return type(name, (ctypes.Structure,), {"_fields_": [(field, kind) for field, kind in fields]})


Pitched = structure("Pitched", ("at", c_void_p), ("pitch", c_size_t), ("width", c_size_t), ("rows", c_size_t))
Position = structure("Position", ("x", c_size_t), ("y", c_size_t), ("z", c_size_t))
Extent = structure("Extent", ("width", c_size_t), ("height", c_size_t), ("depth", c_size_t))
Channels = structure("Channels", ("bits", c_int * 4), ("kind", c_int))
Volume = structure("Volume", ("from_array", c_void_p), ("from_position", Position), ("from_memory", Pitched), ("to_array", c_void_p),
                   ("to_position", Position), ("to_memory", Pitched), ("extent", Extent), ("kind", c_int))
BOX_SIDE = (("x", c_size_t), ("y", c_size_t), ("z", c_size_t), ("level", c_size_t), ("place", c_uint), ("host", c_void_p), ("device", c_uint64),
            ("array", c_void_p), ("reserved", c_void_p), ("pitch", c_size_t), ("rows", c_size_t))
BoxSide = structure("BoxSide", *BOX_SIDE)
Box = structure("Box", ("from_", BoxSide), ("to", BoxSide), ("width", c_size_t), ("height", c_size_t), ("depth", c_size_t))
Sampling = structure("Sampling", ("modes", c_int * 3), ("filter", c_int), ("fractions", c_int), ("srgb", c_int), ("border", c_float * 4),
                     ("normalized", c_int), ("anisotropy", c_uint), ("level_filter", c_int), ("bias", c_float), ("least", c_float),
                     ("most", c_float), ("optimization", c_int), ("seamless", c_int))
Linear = structure("Linear", ("at", c_void_p), ("channels", Channels), ("bytes", c_size_t))
Rows = structure("Rows", ("at", c_void_p), ("channels", Channels), ("width", c_size_t), ("height", c_size_t), ("pitch", c_size_t))


class ResourceUnion(ctypes.Union):
    _fields_ = [("array", c_void_p), ("linear", Linear), ("rows", Rows), ("reserved", c_int * 32)]


Resource = structure("Resource", ("type", c_int), ("of", ResourceUnion), ("flags", c_uint))
Kernel = structure("Kernel", ("function", c_void_p), ("grid", c_uint * 3), ("block", c_uint * 3), ("shared", c_uint), ("arguments", c_void_p),
                   ("extra", c_void_p), ("kernel", c_void_p), ("context", c_void_p))
Fill = structure("Fill", ("to", c_void_p), ("pitch", c_size_t), ("value", c_uint), ("element", c_uint), ("width", c_size_t), ("height", c_size_t))
Condition = structure("Condition", ("type", c_int), ("reserved", c_int * 3), ("handle", c_uint64), ("choice", c_uint), ("size", c_uint),
                      ("bodies", ctypes.POINTER(c_void_p)), ("context", c_void_p), ("rest", c_char * 200))
HostCall = structure("HostCall", ("function", c_void_p), ("data", c_void_p))


def call(name, *arguments):
    """The code that a call returns. Numbers are sizes; pointers and 32-bit numbers have their type."""
    library = RUNTIME if name.startswith("cuda") else DRIVER
    return getattr(library, name)(*[c_size_t(a) if isinstance(a, int) else a for a in arguments])


def must(name, *arguments):
    code = call(name, *arguments)
    if code != 0:
        raise CallError("%s: %d" % (name, code))


def new(name, *arguments):
    """What a call makes, whose first parameter says where to put it."""
    handle = c_void_p()
    must(name, byref(handle), *arguments)
    return handle.value


def transfer(to, from_, n):
    must("cudaMemcpy", to, from_, n, c_int(BY_ADDRESS))


def upload(data, device):
    buffer = (c_char * len(data)).from_buffer_copy(data)
    transfer(device, ctypes.addressof(buffer), len(data))


def download(device, n):
    buffer = ctypes.create_string_buffer(n)
    transfer(ctypes.addressof(buffer), device, n)
    return buffer.raw


def load(text):
    must("cudaFree", 0)
    return new("cuModuleLoadData", ctypes.c_char_p(text.encode()))


def function(module, name):
    return new("cuModuleGetFunction", c_void_p(module), ctypes.c_char_p(name.encode()))


def pointers(values):
    """An array of pointers to values, as the arguments of a launch are; it keeps them."""
    array = (c_void_p * len(values))(*[ctypes.cast(ctypes.pointer(value), c_void_p) for value in values])
    array.values = values
    return array


def launch(kernel, blocks, threads, values):
    shape = [c_uint(n) for n in (blocks, 1, 1, threads, 1, 1, 0)]
    must("cuLaunchKernel", c_void_p(kernel), *shape, c_void_p(0), pointers(values), c_void_p(0))
