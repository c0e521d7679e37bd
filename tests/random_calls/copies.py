# SPDX-License-Identifier: MIT
"""Random copies and fills, of rows, rectangles and boxes, between all kinds of memory and arrays.

Each object has a model, which is its bytes. A copy moves rows of bytes from one model to the other, if all of it lies in both; if not, the call
is an error and moves nothing.
"""

import ctypes

from cuda import *

PAGE = 4096


class Memory:
    """Bytes of one kind: device, managed, pinned, registered or host."""

    def __init__(self, draw, kind, n):
        self.kind, self.n, self.element = kind, n, 1
        self.model = bytearray(draw.randbytes(n))
        if kind == "device":
            self.at = new("cudaMalloc", n)
        elif kind == "managed":
            self.at = new("cudaMallocManaged", n, c_uint(1))
        elif kind == "pinned":
            self.at = new("cudaHostAlloc", n, c_uint(0))
        else:
            self.buffer = ctypes.create_string_buffer(n + 2 * PAGE)
            start = ctypes.addressof(self.buffer)
            self.at = start + (-start) % PAGE
            if kind == "registered":
                must("cudaHostRegister", c_void_p(self.at), n, c_uint(0))
        upload(bytes(self.model), self.at)

    def on_device(self):
        return self.kind != "host"

    def contents(self):
        return download(self.at, self.n)

    def free(self):
        if self.kind == "registered":
            must("cudaHostUnregister", c_void_p(self.at))
        elif self.kind != "host":
            must("cudaFreeHost" if self.kind == "pinned" else "cudaFree", c_void_p(self.at))


class Array:
    """A CUDA array; its model has rows, then slices or layers, without gaps."""

    SHAPES = {"1d": (1, 0), "2d": (2, 0), "3d": (3, 0), "layered 1d": (1, 1), "layered 2d": (2, 1), "cube": (2, 4)}

    def __init__(self, draw):
        self.kind = draw.choice(list(self.SHAPES))
        dimensions, flags = self.SHAPES[self.kind]
        channels, size = draw.choice((1, 2, 4)), draw.choice((1, 2, 4))
        self.element = channels * size
        self.width, self.height, self.depth = draw.choice((1, 3, 16, 31, 100)), draw.choice((1, 2, 9, 17)), draw.choice((1, 3, 5))
        if self.kind == "cube":
            self.height, self.depth = self.width, 6
        self.height = self.height if dimensions > 1 else 1
        self.depth = self.depth if dimensions == 3 or flags else 1
        described = Channels((c_int * 4)(*[8 * size if c < channels else 0 for c in range(4)]), 1)
        extent = Extent(self.width, self.height if dimensions > 1 else 0, self.depth if dimensions == 3 or flags else 0)
        self.at = new("cudaMalloc3DArray", byref(described), extent, c_uint(flags))
        self.row = self.width * self.element
        self.model = bytearray(draw.randbytes(self.row * self.height * self.depth))
        buffer = (c_char * len(self.model)).from_buffer_copy(self.model)
        must("cudaMemcpy3D", byref(Volume(to_array=self.at, from_memory=Pitched(ctypes.addressof(buffer), self.row, 0, self.height),
                                          extent=Extent(self.width, self.height, self.depth), kind=BY_ADDRESS)))

    def on_device(self):
        return True

    def contents(self):
        buffer = ctypes.create_string_buffer(len(self.model))
        must("cudaMemcpy3D", byref(Volume(from_array=self.at, to_memory=Pitched(ctypes.addressof(buffer), self.row, 0, self.height),
                                          extent=Extent(self.width, self.height, self.depth), kind=BY_ADDRESS)))
        return buffer.raw

    def free(self):
        must("cudaFreeArray", c_void_p(self.at))


class Side:
    """One side of a box of width bytes, height rows and depth slices: x in bytes."""

    def __init__(self, draw, of, width, height, depth):
        self.of = of
        if isinstance(of, Array):
            beyond = of.element if width and draw.random() < .1 else 0
            self.x = draw.randrange(max(0, of.row - width) // of.element + 1) * of.element + beyond
            self.y, self.z = draw.randrange(max(0, of.height - height) + 1), draw.randrange(max(0, of.depth - depth) + 1)
            self.pitch, self.rows, self.base = of.row, of.height, 0
            self.fits = self.x + width <= of.row and self.y + height <= of.height and self.z + depth <= of.depth
            return
        self.pitch, self.rows = width + draw.randrange(1, 20), height + draw.randrange(3)
        self.x, self.y, self.z = draw.randrange(9), draw.randrange(3), draw.randrange(3)
        last = self.offset(max(height - 1, 0), max(depth - 1, 0), base=0) + width
        # What the device does not have is an error; beyond the host's own memory is anything.
        beyond = draw.randrange(1, 4) if of.kind == "device" and width * height * depth and draw.random() < .1 else 0
        self.base = of.n - last + beyond if beyond else draw.randrange(max(1, of.n - last + 1))
        self.fits = self.base + last <= of.n
        self.possible = self.base >= 0 and (self.fits or beyond > 0)

    possible = True

    def offset(self, row, slice_, base=None):
        """Of a row in the model."""
        return (self.base if base is None else base) + self.x + (self.y + row) * self.pitch + (self.z + slice_) * self.pitch * self.rows

    def memory(self):
        return Pitched(self.of.at + self.base, self.pitch, 0, self.rows)

    def position(self):
        return Position(self.x // self.of.element, self.y, self.z)


def direction(draw, to, from_):
    """A cudaMemcpyKind that may be said of a copy."""
    return c_int(draw.choice((BY_ADDRESS, {(False, False): 0, (True, False): 1, (False, True): 2, (True, True): 3}[to.on_device(), from_.on_device()])))


def by_runtime(draw, to, from_, extent):
    volume = Volume(extent=extent, kind=direction(draw, to.of, from_.of).value, to_position=to.position(), from_position=from_.position())
    if isinstance(to.of, Array):
        volume.to_array = to.of.at
    else:
        volume.to_memory = to.memory()
    if isinstance(from_.of, Array):
        volume.from_array = from_.of.at
    else:
        volume.from_memory = from_.memory()
    return call("cudaMemcpy3D", byref(volume))


def by_driver(draw, to, from_, extent, unit):
    box = Box(width=extent.width * unit, height=extent.height, depth=extent.depth)
    for side, to_fill in ((to, box.to), (from_, box.from_)):
        to_fill.x, to_fill.y, to_fill.z, to_fill.pitch, to_fill.rows = side.x, side.y, side.z, side.pitch, side.rows
        if isinstance(side.of, Array):
            to_fill.place, to_fill.array = 3, side.of.at
        elif side.of.kind in ("host", "registered"):
            to_fill.place, to_fill.host = 1, side.of.at + side.base
        else:
            to_fill.place, to_fill.device = draw.choice((2, 4)), side.of.at + side.base
    return call("cuMemcpy3D_v2", byref(box))


def by_rows(draw, to, from_, extent, unit):
    """A rectangle, whose sides are addresses or, of two dimensions, arrays."""
    width, height, kind = extent.width * unit, extent.height, direction(draw, to.of, from_.of)
    address = [c_void_p(side.of.at + side.offset(0, 0)) for side in (to, from_)]
    if isinstance(to.of, Array) and isinstance(from_.of, Array):
        return call("cudaMemcpy2DArrayToArray", c_void_p(to.of.at), to.x, to.y, c_void_p(from_.of.at), from_.x, from_.y, width, height, kind)
    if isinstance(to.of, Array):
        return call("cudaMemcpy2DToArray", c_void_p(to.of.at), to.x, to.y, address[1], from_.pitch, width, height, kind)
    if isinstance(from_.of, Array):
        return call("cudaMemcpy2DFromArray", address[0], to.pitch, c_void_p(from_.of.at), from_.x, from_.y, width, height, kind)
    if height == 1:
        return call("cudaMemcpy", address[0], address[1], width, kind)
    return call("cudaMemcpy2D", address[0], to.pitch, address[1], from_.pitch, width, height, kind)


def draw_copy(draw, objects):
    """Makes a copy. Returns what it was, or None if it was none after all."""
    to, from_ = draw.sample(objects, 2)
    arrays = [o for o in (to, from_) if isinstance(o, Array)]
    if len(arrays) == 2 and to.element != from_.element:
        return None
    unit = arrays[0].element if arrays else 1
    most = [min(of) for of in zip(*[(a.width, a.height, a.depth) for a in arrays])] if arrays else [40, 5, 4]
    extent = Extent(*[draw.randrange(n + 1) for n in most])
    way = draw.choice(("runtime", "driver", "rows"))
    if way == "rows":
        extent.depth = 1
    sides = [Side(draw, of, extent.width * unit, extent.height, extent.depth) for of in (to, from_)]
    if not all(side.possible for side in sides) or (way == "rows" and any(a.kind not in ("1d", "2d") for a in arrays)):
        return None
    code = (by_runtime(draw, *sides, extent) if way == "runtime" else by_driver(draw, *sides, extent, unit) if way == "driver"
            else by_rows(draw, *sides, extent, unit))
    fits = (sides[0].fits and sides[1].fits) or (not arrays and extent.width * extent.height * extent.depth == 0)
    if fits:
        for slice_ in range(extent.depth):
            for row in range(extent.height):
                at = [side.offset(row, slice_) for side in sides]
                to.model[at[0]:at[0] + extent.width * unit] = from_.model[at[1]:at[1] + extent.width * unit]
    what = "%s copy from %s to %s of %d x %d x %d elements of %d bytes" % (way, from_.kind, to.kind, extent.width, extent.height, extent.depth, unit)
    return "%s: code %d" % (what, code) if (code == 0) != fits else what


def draw_fill(draw, objects):
    """The same for a fill."""
    memory = draw.choice([o for o in objects if isinstance(o, Memory) and o.on_device()])
    element, way = draw.choice(((1, "cudaMemset3D"), (1, "cudaMemset2D"), (2, "cuMemsetD2D16_v2"), (4, "cuMemsetD2D32_v2")))
    width, height, depth = draw.randrange(30), draw.randrange(5), draw.randrange(4) if way == "cudaMemset3D" else 1
    side = Side(draw, memory, width * element, height, depth)
    value = draw.randrange(1 << 8 * element)
    side.pitch, side.base = side.pitch // element * element + element, side.base // element * element
    start = side.base
    rows = [start + slice_ * side.pitch * side.rows + row * side.pitch for slice_ in range(depth) for row in range(height)]
    if start < 0 or (memory.at + start) % element or (depth > 1 and max(rows, default=0) + width > memory.n):
        return None
    fits = not width or all(row + width * element <= memory.n for row in rows)
    to = memory.at + start
    if way == "cudaMemset3D":
        code = call(way, Pitched(to, side.pitch, 0, side.rows), c_int(value), Extent(width, height, depth))
    elif way == "cudaMemset2D":
        code = call(way, c_void_p(to), side.pitch, c_int(value), width, height)
    else:
        code = call(way, c_uint64(to), side.pitch, c_uint(value), width, height)
    for row in rows if fits else ():
        memory.model[row:row + width * element] = value.to_bytes(element, "little") * width
    what = "%s of %s, %d x %d x %d" % (way, memory.kind, width, height, depth)
    return "%s: code %d" % (what, code) if (code == 0) != fits else what


def check(draw):
    """Some copies among some objects. Returns how many, and the differences."""
    objects = [Memory(draw, kind, draw.randrange(500, 2000)) for kind in ("device", "device", "managed", "pinned", "registered", "host")]
    objects += [Array(draw) for _ in range(4)]
    calls, differences = 0, []
    for _ in range(30):
        what = draw_copy(draw, objects) if draw.random() < .8 else draw_fill(draw, objects)
        if not what:
            continue
        calls += 1
        if ": code" in what:
            differences.append(what)
        for one in objects:
            contents = one.contents()
            if contents != one.model:
                differences.append("%s: the contents of %s differ" % (what, one.kind))
                one.model[:] = contents
    for one in objects:
        one.free()
    return calls, differences
