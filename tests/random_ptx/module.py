# SPDX-License-Identifier: MIT
"""The context of kernels: the input, the constants, and the module's text."""

import functools
import random

from integers import WIDTHS
from parts import CONSTANT_BYTES, INPUT_CELLS


def interesting_float(r, exponent_bits, fraction_bits):
    top, bias = (1 << exponent_bits) - 1, (1 << (exponent_bits - 1)) - 1
    near, small = (max(0, min(top, bias + r.randint(-n, n))) for n in (6, 18))
    exponent = r.choice((near, near, near, small, 0, 0, top, top - 1, 1, r.randrange(top)))
    few = r.getrandbits(5) << (fraction_bits - 5)  # in the middle of two floats of 8 bits or less, or one of them
    fraction = r.choice((0, 0, 1, (1 << fraction_bits) - 1, 1 << (fraction_bits - 1), few, few ^ 1,
                         r.getrandbits(fraction_bits), r.getrandbits(fraction_bits), r.getrandbits(fraction_bits)))
    return r.getrandbits(1) << (exponent_bits + fraction_bits) | exponent << fraction_bits | fraction


def interesting_integer(r, n):
    x = r.choice((0, 1, 2, 3, 31, 32, 100, 1 << (n - 1), (1 << (n - 1)) - 1, (1 << n) - 1, (1 << n) - 2,
                  1 << r.randrange(n), r.getrandbits(n), r.getrandbits(n), r.getrandbits(8)))
    return x & ((1 << n) - 1)


@functools.lru_cache(maxsize=2)
def make_input(seed):
    r = random.Random("input %s" % seed)
    def several(n, f):
        return sum(f() << (64 // n * i) for i in range(n))
    cells = []
    for _ in range(INPUT_CELLS):
        cells += [r.getrandbits(64), interesting_float(r, 11, 52), several(2, lambda: interesting_float(r, 8, 23)),
                  several(4, lambda: interesting_float(r, 5, 10)), several(4, lambda: interesting_float(r, 8, 7)),
                  interesting_integer(r, 64), several(2, lambda: interesting_integer(r, 32)),
                  several(4, lambda: interesting_integer(r, 16))]
    return b"".join(x.to_bytes(8, "little") for x in cells)


def make_constants(seed):
    return random.Random("constants %s" % seed).randbytes(CONSTANT_BYTES)


def declare(function, write):
    """The frame of a body: registers, local memory, targets."""
    for name, kind in function.registers.items():
        if name not in function.parameters and name not in function.returns:
            write("\t.reg .%s %s;" % (kind, name))
    if "loc" in function.locals:
        write("\t.local .align 16 .b8 loc[64];")
        write("\t.shared .align 16 .b8 sh[%d];" % function.shared)
    for name, kind in function.declared_locals:
        write("\t.param .b%d %s;" % (WIDTHS[kind], name))


def formal(name, kind):
    if name.startswith("%"):
        return ".reg .%s %s" % (kind, name)
    return ".param .b%d %s" % (WIDTHS[kind], name)


def write_module(kernels, constants, newer=True):
    """The PTX text; every function learns the line of its first instruction. `newer`: it may have forms of sm_100."""
    out = [".version 8.8", ".target sm_100a" if newer else ".target sm_90", ".address_size 64", "",
           ".const .align 16 .b8 ctab[%d] = {%s};" % (len(constants), ", ".join(map(str, constants)))]
    write = out.append
    def body(function):
        write("{")
        declare(function, write)
        for name, labels in function.targets.items():
            write("%s: .branchtargets %s;" % (name, ", ".join(labels)))
        function.first_line = len(out) + 1
        for line in function.lines:
            write(line if line.endswith(":") else "\t" + line)
        write("}")
    for kernel in kernels:
        for function in kernel.functions.values():
            write(".func (%s) %s (%s)" % (", ".join(formal(*x) for x in function.returns.items()), function.name,
                                         ", ".join(formal(*x) for x in function.parameters.items())))
            body(function)
        parameters = [".param .align 8 .b8 %s[%d]" % (name, kind) if isinstance(kind, int) else
                      ".param .%s %s" % (kind, name) for name, kind, _ in kernel.values]
        write(".visible .entry %s(%s)" % (kernel.name, ", ".join(parameters)))
        body(kernel)
    return "\n".join(out) + "\n"
