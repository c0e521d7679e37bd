# SPDX-License-Identifier: MIT
"""Random transforms of cuFFT, of one to three dimensions, batches and layouts, held to the sum that defines them."""

import cmath
import ctypes
import itertools
import math
import struct

from cuda import *

FFT = ctypes.CDLL("libcufft.so.12")
# cufftType: its number, and whether what goes in, and what comes out, is complex; the numbers are floats or doubles.
TYPES = {"C2C": (0x29, "f", True, True), "R2C": (0x2a, "f", False, True), "C2R": (0x2c, "f", True, False), "Z2Z": (0x69, "d", True, True),
         "D2Z": (0x6a, "d", False, True), "Z2D": (0x6c, "d", True, False)}
GAP = -77.0


def made(name, *arguments):
    code = getattr(FFT, name)(*[c_int(a) if isinstance(a, int) else a for a in arguments])
    if code:
        raise CallError("%s: %d" % (name, code))


class Side:
    """How numbers lie on one side: element (i, j, k) of transform t is number ((i * embed[1] + j) * embed[2] + k) * stride + t * distance."""

    def __init__(self, complex_, part, shape, batch, embed, stride, distance):
        self.complex, self.part, self.shape, self.batch = complex_, part, shape, batch
        self.embed, self.stride, self.distance = embed, stride, distance

    def place(self, t, at):
        n = 0
        for i, width in zip(at, self.embed):
            n = n * width + i
        return n * self.stride + t * self.distance

    def numbers(self):
        return self.place(self.batch - 1, [n - 1 for n in self.shape]) + 1

    def bytes(self):
        return self.numbers() * struct.calcsize(self.part) * (1 + self.complex)

    def each(self):
        return itertools.product(range(self.batch), itertools.product(*[range(n) for n in self.shape]))


def parts_of(values, complex_):
    return [p for z in values for p in ((z.real, z.imag) if complex_ else (z.real,))]


def values_of(parts, complex_):
    return [complex(*parts[i:i + 2]) for i in range(0, len(parts), 2)] if complex_ else [complex(p) for p in parts]


def sides(draw, name, n, batch, in_place, simple):
    """The layouts of what goes in and of what comes out."""
    _, part, complex_in, complex_out = TYPES[name]
    half = n[:-1] + [n[-1] // 2 + 1]
    made_of = []
    for complex_, other in ((complex_in, complex_out), (complex_out, complex_in)):
        shape = half if complex_ and not other else n
        if simple:
            embed = shape[:-1] + [2 * half[-1]] if in_place and not complex_ else list(shape)
            stride, distance = 1, math.prod(embed)
        else:
            embed = [width + draw.randrange(3) for width in shape]
            stride = draw.choice((1, 1, 2, 3))
            distance = math.prod(embed) * stride + draw.randrange(4)
            if draw.random() < .3:
                stride, distance = batch, 1  # the transforms lie between each other
        made_of.append(Side(complex_, part, shape, batch, embed, stride, distance))
    return made_of


def transformed(values, n, sign):
    """One transform, whose input is known at every place of n."""
    roots = [[cmath.exp(sign * 2j * math.pi * r / width) for r in range(width)] for width in n]
    places = list(itertools.product(*[range(width) for width in n]))
    return {to: sum(values[at] * math.prod((roots[d][to[d] * at[d] % n[d]] for d in range(len(n))), start=1 + 0j) for at in places) for to in places}


def draw_input(draw, side, n, hermitian):
    """Numbers of each transform at every place of n; those that real results are made of are symmetric."""
    inputs = []
    for _ in range(side.batch):
        values = {at: complex(draw.randrange(-4, 5), draw.randrange(-4, 5) if side.complex else 0) for at in itertools.product(*[range(w) for w in n])}
        if hermitian:
            for at in list(values):
                mirror = tuple(-i % w for i, w in zip(at, n))
                values[mirror] = values[at].conjugate() if mirror != at else complex(values[at].real)
        inputs.append(values)
    return inputs


def plan(draw, name, n, batch, in_side, out_side, simple):
    handle, code, rank = c_int(), TYPES[name][0], len(n)
    if simple and rank == 1 and draw.random() < .5:
        made("cufftPlan1d", byref(handle), n[0], code, batch)
    elif simple and batch == 1 and rank > 1 and draw.random() < .5:
        made("cufftPlan%dd" % rank, byref(handle), *n, code)
    else:
        wide = draw.random() < .3
        number = ctypes.c_longlong if wide else c_int
        sizes = (number * rank)(*n)
        embeds = [None, None] if simple else [(number * rank)(*side.embed) for side in (in_side, out_side)]
        steps = [(number(side.stride), number(side.distance)) for side in (in_side, out_side)]
        if wide:
            made("cufftCreate", byref(handle))
            made("cufftMakePlanMany64", handle, rank, sizes, embeds[0], *steps[0], embeds[1], *steps[1], code, number(batch), byref(c_size_t()))
        else:
            made("cufftPlanMany", byref(handle), rank, sizes, embeds[0], *steps[0], embeds[1], *steps[1], code, batch)
    return handle


def check(draw):
    name = draw.choice(list(TYPES))
    rank = draw.choice((1, 1, 2, 3))
    n = [draw.choice(((1, 2, 3, 4, 5, 7, 8, 12) if rank == 1 else (1, 2, 3, 4, 5) if rank == 2 else (1, 2, 3))) for _ in range(rank)]
    batch, simple = draw.choice((1, 1, 2, 3)), draw.random() < .5
    _, part, complex_in, complex_out = TYPES[name]
    in_place = (simple or complex_in == complex_out) and draw.random() < .4
    in_side, out_side = sides(draw, name, n, batch, in_place, simple)
    if in_place and not simple:
        out_side = in_side
    sign = draw.choice((-1, 1)) if complex_in == complex_out else -1 if complex_out else 1
    inputs = draw_input(draw, in_side, n, not complex_out)
    given = [complex(GAP, GAP)] * in_side.numbers()
    for t, at in in_side.each():
        given[in_side.place(t, at)] = inputs[t][at]
    size = max(in_side.bytes(), out_side.bytes())
    from_ = new("cudaMalloc", size if in_place else in_side.bytes())
    upload(struct.pack("%d%s" % (len(given) * (1 + complex_in), part), *parts_of(given, complex_in)), from_)
    to = from_ if in_place else new("cudaMalloc", out_side.bytes())
    if not in_place:
        upload(struct.pack("%d%s" % (out_side.numbers() * (1 + complex_out), part), *[GAP] * (out_side.numbers() * (1 + complex_out))), to)
    what = "%s %s x %d, %s%s" % (name, n, batch, "simple" if simple else "layouts", ", in place" if in_place else "")
    found = []
    try:
        handle = plan(draw, name, n, batch, in_side, out_side, simple)
        direction = (sign,) if complex_in == complex_out else ()
        made("cufftExec" + name, handle, c_void_p(from_), c_void_p(to), *direction)
        made("cufftDestroy", handle)
    except CallError as error:
        found = ["%s: %s" % (what, error)]
    if not found:
        found = differences(what, inputs, n, sign, out_side, to, in_place)
        if not in_place:
            kept = download(from_, in_side.bytes())
            if values_of(struct.unpack("%d%s" % (len(given) * (1 + complex_in), part), kept), complex_in) != (
                    given if complex_in else [complex(z.real) for z in given]):
                found.append("%s: what went in is changed" % what)
    must("cudaFree", c_void_p(from_))
    if not in_place:
        must("cudaFree", c_void_p(to))
    return 1, found


def differences(what, inputs, n, sign, side, to, in_place):
    is_ = values_of(struct.unpack("%d%s" % (side.numbers() * (1 + side.complex), side.part), download(to, side.bytes())), side.complex)
    expected, found = {}, []
    results = [transformed(values, n, sign) for values in inputs]
    for t, at in side.each():
        expected[side.place(t, at)] = results[t][at]
    for i, value in enumerate(is_):
        if i not in expected and in_place:
            continue  # a gap, which may hold what went in
        should = expected.get(i, complex(GAP, GAP if side.complex else 0))
        if abs(value - should) > 1e-4 * max(1, abs(should)):
            found.append("%s: number %d is %s, not %s" % (what, i, value, should))
            break
    return found
