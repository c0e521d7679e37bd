# SPDX-License-Identifier: MIT
"""Random fetches from textures: arrays of all shapes, mipmapped ones, linear memory, rows with a pitch; all formats, filters and address modes.

The model is what the CUDA Programming Guide's appendix "Texture Fetching" says, in real numbers: a fetch by points is exact, a filtered one
differs by what the weights of 8 bits and the rounding of values make at most. Where the guide is silent it has what gtrace-record(1) says.
"""

import itertools
import math
import struct

from cuda import *

WRAP, CLAMP, MIRROR, BORDER = range(4)
SIGNED, UNSIGNED, FLOAT = range(3)
ARRAY, MIPMAPPED, LINEAR, ROWS = range(4)
# dimensions, layered, cube
SHAPES = {"1d": (1, False, False), "2d": (2, False, False), "3d": (3, False, False), "a1d": (1, True, False), "a2d": (2, True, False),
          "cube": (2, False, True), "acube": (2, True, True)}
CODES = {(SIGNED, 1): "b", (UNSIGNED, 1): "B", (SIGNED, 2): "h", (UNSIGNED, 2): "H", (SIGNED, 4): "i", (UNSIGNED, 4): "I", (FLOAT, 2): "e", (FLOAT, 4): "f"}
FETCHES = 64  # of a texture

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
ENTRY = """.visible .entry %s(.param .u64 texture, .param .u64 in, .param .u64 out)
{
	.reg .b32 %%r<20>; .reg .f32 %%f<4>; .reg .b64 %%d<6>;
	ld.param.u64 %%d0, [texture]; ld.param.u64 %%d1, [in]; ld.param.u64 %%d2, [out];
	mov.u32 %%r0, %%tid.x; mul.wide.u32 %%d3, %%r0, 32; add.u64 %%d1, %%d1, %%d3; mul.wide.u32 %%d3, %%r0, 16; add.u64 %%d2, %%d2, %%d3;
	ld.global.v4.b32 {%%r1, %%r2, %%r3, %%r4}, [%%d1]; ld.global.b32 %%r5, [%%d1+16];
	mov.b32 %%f0, %%r1; mov.b32 %%f1, %%r2; mov.b32 %%f2, %%r3; mov.b32 %%f3, %%r5;
	%s {%%r16, %%r17, %%r18, %%r19}, [%%d0, {%s}]%s;
	st.global.v4.b32 [%%d2], {%%r16, %%r17, %%r18, %%r19};
	ret;
}
"""


def entry_of(shape, type_, by, leveled):
    """A kernel that fetches once a thread: from x, y, z, the layer and the level."""
    dimensions, layered, cube = SHAPES[shape]
    n = 3 if cube else dimensions
    places = ["%%f%d" % i if by == "f32" else "%%r%d" % (i + 1) for i in range(n)]
    places = ["%r4"] * layered + places
    places += places[-1:] * (len(places) == 3)
    level = "" if not leveled else ", %f3" if by == "f32" else ", %r5"
    name = "fetch_%s_%s_%s_%d" % (shape, type_, by, leveled)
    opcode = "tex%s.%s.v4.%s.%s" % (".level" if leveled else "", shape, type_, by)
    return ENTRY % (name, opcode, ", ".join(places), level)


def single(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def settle(i, n, mode):
    """The texel that stands for number i of n, or None: the border."""
    if 0 <= i < n:
        return i
    if mode == WRAP:
        return i % n
    if mode == MIRROR:
        return min(i % (2 * n), 2 * n - 1 - i % (2 * n))
    return None if mode == BORDER else 0 if i < 0 else n - 1


def face_of(x, y, z):
    """The face of a cube that a direction meets, and where."""
    def below(v):
        return math.copysign(1, v) < 0

    if abs(z) >= max(abs(x), abs(y)):
        face, s, t, major = 4 + below(z), -x if below(z) else x, -y, z
    elif abs(y) >= abs(x):
        face, s, t, major = 2 + below(y), x, -z if below(y) else z, y
    else:
        face, s, t, major = 0 + below(x), z if below(x) else -z, -y, x
    return face, [single((s / abs(major) + 1) / 2), single((t / abs(major) + 1) / 2)]


class Level:
    """Texels of a level: width, height, depth and layers, and each as it is read, with four channels."""

    def __init__(self, draw, texture, extent):
        self.extent = extent
        self.width, self.height, self.depth = extent
        self.n = self.width * self.height * self.depth * texture.layers
        code, n = CODES[texture.kind, texture.size], self.n * texture.channels
        if texture.kind == FLOAT:
            values = [draw.choice((draw.uniform(-1, 1), draw.randrange(-8, 9))) for _ in range(n)]
        else:  # without the least number, which is as the next one, but not to a filter
            values = [draw.randrange(1 << 8 * texture.size - 1) * draw.choice((1, -1 if texture.kind == SIGNED else 1)) for _ in range(n)]
        self.data = struct.pack("%d%s" % (n, code), *values)
        values = [texture.read(value, i % texture.channels) for i, value in enumerate(struct.unpack("%d%s" % (n, code), self.data))]
        pad = [0] * (4 - texture.channels)
        self.texels = [values[i:i + texture.channels] + pad for i in range(0, n, texture.channels)]

    def texel(self, x, y, z, layer):
        return self.texels[((layer * self.depth + z) * self.height + y) * self.width + x]


class Texture:
    def __init__(self, draw):
        self.draw_format(draw)
        self.draw_shape(draw)
        self.draw_sampling(draw)
        n = draw.randrange(1, max(self.extent).bit_length() + 1) if self.resource == MIPMAPPED else 1
        self.levels = [Level(draw, self, [max(1, e >> i) for e in self.extent]) for i in range(n)]
        self.make()

    def draw_format(self, draw):
        self.kind, self.size = draw.choice(list(CODES))
        self.channels = draw.choice((1, 2, 4))
        self.fractions = self.kind != FLOAT and draw.random() < .5
        self.floats = self.kind == FLOAT or (self.fractions and self.size < 4)
        self.srgb = self.floats and (self.kind, self.size) == (UNSIGNED, 1) and draw.random() < .3
        self.texel_bytes = self.channels * self.size

    def draw_shape(self, draw):
        self.resource = draw.choice((ARRAY, ARRAY, ARRAY, MIPMAPPED, LINEAR, ROWS))
        self.shape = {LINEAR: "1d", ROWS: "2d"}.get(self.resource, draw.choice(list(SHAPES)))
        self.dimensions, self.layered, self.cube = SHAPES[self.shape]
        self.extent = [draw.choice((1, 2, 3, 5, 16, 31, 64)), draw.choice((1, 2, 7, 8, 17)), draw.choice((1, 2, 3, 6))]
        self.extent[self.dimensions:] = [1] * (3 - self.dimensions)
        if self.cube:
            self.extent[1] = self.extent[0]
        self.layers = (6 if self.cube else 1) * (draw.randrange(1, 4) if self.layered else 1)

    def draw_sampling(self, draw):
        self.filter = self.floats and self.resource != LINEAR and draw.random() < .6
        self.level_filter = self.floats and draw.random() < .5
        self.normalized = self.cube or self.resource == MIPMAPPED or draw.random() < .5
        self.modes = [draw.randrange(4) for _ in range(3)]
        self.bias, self.least, self.most = draw.choice((0, 0, .5, -1, 1.25)), draw.choice((0, 0, .5, 1)), draw.choice((20, 20, 1, 1.5))
        self.border = [draw.choice((0, 1, .5, draw.uniform(-1.5, 1.5))) if self.floats else 0 for _ in range(4)]

    def steps(self):
        return (1 << 8 * self.size - (self.kind == SIGNED)) - 1

    def read(self, value, channel):
        if self.kind == FLOAT or not self.floats:
            return value
        part = max(value / self.steps(), -1)
        if self.srgb and channel < 3:
            return part / 12.92 if part <= .04045 else ((part + .055) / 1.055) ** 2.4
        return part

    def border_colour(self):
        """As a texel would have it, to the nearest, of two the one nearer to 0."""
        colour = [0] * 4
        for c in range(self.channels if self.resource != LINEAR else 0):
            value = self.border[c]
            if self.kind == FLOAT:
                colour[c] = struct.unpack(CODES[FLOAT, self.size], struct.pack(CODES[FLOAT, self.size], value))[0]
            elif self.floats:
                value = max(-1 if self.kind == SIGNED else 0, min(1, value))
                colour[c] = math.copysign(math.ceil(abs(value) * self.steps() - .5), value) / self.steps()
        return colour

    def mode(self, d):
        if self.resource == LINEAR:
            return BORDER
        return self.modes[d] if self.normalized or self.modes[d] == BORDER else CLAMP

    # ---- the object ----

    def make(self):
        described = Channels((c_int * 4)(*[8 * self.size if c < self.channels else 0 for c in range(4)]), self.kind)
        resource = Resource(type=self.resource)
        if self.resource in (ARRAY, MIPMAPPED):
            deep = self.dimensions == 3 or self.layered or self.cube
            extent = Extent(self.extent[0], self.extent[1] if self.dimensions > 1 else 0, self.extent[2] * self.layers if deep else 0)
            flags = c_uint((1 if self.layered else 0) | (4 if self.cube else 0))
        if self.resource == ARRAY:
            resource.of.array = self.memory = new("cudaMalloc3DArray", byref(described), extent, flags)
            self.fill(self.memory, self.levels[0])
        elif self.resource == MIPMAPPED:
            resource.of.array = self.memory = new("cudaMallocMipmappedArray", byref(described), extent, c_uint(len(self.levels)), flags)
            for i, level in enumerate(self.levels):
                self.fill(new("cudaGetMipmappedArrayLevel", c_void_p(self.memory), c_uint(i)), level)
        else:
            row, pitch = self.extent[0] * self.texel_bytes, c_size_t()
            memory = c_void_p()
            must("cudaMallocPitch", byref(memory), byref(pitch), row, self.extent[1])
            self.memory = memory.value
            data = self.levels[0].data
            for y in range(self.extent[1]):
                upload(data[y * row:(y + 1) * row], self.memory + y * pitch.value)
            if self.resource == LINEAR:
                resource.of.linear = Linear(self.memory, described, row)
            else:
                resource.of.rows = Rows(self.memory, described, *self.extent[:2], pitch)
        sampling = Sampling((c_int * 3)(*self.modes), self.filter, self.fractions, self.srgb, (c_float * 4)(*self.border), self.normalized, 0,
                            self.level_filter, self.bias, self.least, self.most)
        handle = c_uint64()
        must("cudaCreateTextureObject", byref(handle), byref(resource), byref(sampling), c_void_p(0))
        self.handle = handle.value

    def fill(self, array, level):
        buffer = (c_char * len(level.data)).from_buffer_copy(level.data)
        memory = Pitched(ctypes.addressof(buffer), level.width * self.texel_bytes, 0, level.height)
        must("cudaMemcpy3D", byref(Volume(to_array=array, from_memory=memory, kind=BY_ADDRESS,
                                          extent=Extent(level.width, level.height, level.depth * self.layers))))

    def free(self):
        must("cudaDestroyTextureObject", c_uint64(self.handle))
        must({ARRAY: "cudaFreeArray", MIPMAPPED: "cudaFreeMipmappedArray"}.get(self.resource, "cudaFree"), c_void_p(self.memory))

    # ---- the model ----

    def position(self, x, n, mode):
        """Where a coordinate is, in texels; texels are numbered before they wrap."""
        if self.normalized and self.resource != LINEAR:
            period = {WRAP: 1, MIRROR: 2}.get(mode)
            if period:
                x = min(single(x - period * math.floor(x / period)), period * (1 - 2.0 ** -24))
            x = single(x * n)
        return max(-2.0 ** 30, min(2.0 ** 30, x))

    def fetch_level(self, level, place, layer, whole):
        """A texel, or the weighed sum of its neighbours, and how much those differ."""
        axes = []
        for d in range(self.dimensions):
            mode, n = self.mode(d), level.extent[d]
            if whole:
                axes.append([(settle(place[d], n, mode), 1)])
                continue
            x = self.position(place[d], n, mode) - (.5 if self.filter else 0)
            i = math.floor(x)
            axes.append([(settle(i, n, mode), 1)] if not self.filter else [(settle(i, n, mode), 1 - (x - i)), (settle(i + 1, n, mode), x - i)])
        if self.shape == "1d" and self.filter and not whole and self.mode(1) == BORDER:
            axes.append([(0, .5), (None, .5)])  # a row is filtered between itself and the border
        axes += [[(0, 1)]] * (3 - len(axes))
        corners = []
        for (z, wz), (y, wy), (x, wx) in itertools.product(axes[2], axes[1], axes[0]):
            corners.append((wz * wy * wx, self.border_colour() if None in (x, y, z) else level.texel(x, y, z, layer)))
        if len(corners) == 1:
            return corners[0][1], [0] * 4
        columns = [[texel[c] for _, texel in corners] for c in range(4)]
        return [sum(w * texel[c] for w, texel in corners) for c in range(4)], [max(v) - min(v) for v in columns]

    def fetch(self, place, layer, asked, whole):
        most = self.layers // 6 if self.cube else self.layers
        layer = min(layer, most - 1) if self.layered else 0
        if self.cube:
            face, place = face_of(*place)
            layer = 6 * layer + face
        def cut(v):
            return math.trunc(v * 256) / 256

        level = 0
        if self.resource == MIPMAPPED:
            level = min(max(min(cut(asked) + cut(self.bias), cut(self.most)), cut(self.least), 0), len(self.levels) - 1)
        if not self.level_filter:
            return self.fetch_level(self.levels[math.floor(level + .5)], place, layer, whole)
        first, part = math.floor(level), level - math.floor(level)
        value, spread = self.fetch_level(self.levels[first], place, layer, whole)
        if part == 0:
            return value, spread
        other, other_spread = self.fetch_level(self.levels[first + 1], place, layer, whole)
        return ([(1 - part) * a + part * b for a, b in zip(value, other)], [sum(s) + abs(a - b) for a, b, *s in zip(value, other, spread, other_spread)])

    def tolerance(self, value, spread):
        """Weights are rounded; sRGB has 8 bits, halves that are filtered 11, signed bytes some steps of 16."""
        filtered = self.filter or self.level_filter
        return (spread / 64 + 1e-6 * (1 + abs(value)) + (.008 if self.srgb else 0) + (4e-5 if filtered else 0)
                + ((.004 if self.kind == FLOAT and self.size == 2 else .001 if self.kind == SIGNED else 0) if filtered else 0))

    def __str__(self):
        return "%s texture of %s %s, %d x %d bytes, kind %d, filters %d %d, modes %s" % (
            self.shape, ("an array", "levels", "linear memory", "rows")[self.resource], "x".join(map(str, self.extent)), self.channels, self.size,
            self.kind, self.filter, self.level_filter, self.modes)


def draw_place(draw, texture, whole):
    place = []
    for n in texture.extent:
        x = draw.choice((draw.uniform(-2, 3) * n, draw.randrange(-3 * n, 4 * n) + draw.choice((0, .5, .25)), draw.uniform(0, n), draw.uniform(0, n)))
        x = draw.choice((1e9, -1e20, -1e-9)) if draw.random() < .02 else x
        place.append(draw.uniform(-2, 2) if texture.cube else x / n if texture.normalized and not whole else x)
    return [int(max(-2e9, min(2e9, x))) for x in place] if whole else [single(x) for x in place]


module = None


def kernel_of(name):
    global module
    if not module:
        module = load(HEAD + "".join(entry_of(shape, type_, by, leveled) for shape in SHAPES for type_ in ("f32", "u32", "s32")
                                     for by in ("f32", "s32") for leveled in (0, 1) if by == "f32" or not SHAPES[shape][2]))
    return function(module, name)


def differs(texture, got, value, spread):
    if not texture.floats:
        return list(struct.unpack("4i" if texture.kind == SIGNED else "4I", got)) != value
    minus_0 = texture.kind != FLOAT and any(bits == 1 << 31 for bits in struct.unpack("4I", got))
    return minus_0 or any(not abs(g - v) <= texture.tolerance(v, s) for g, v, s in zip(struct.unpack("4f", got), value, spread))


def check(draw):
    """The fetches of one texture. Returns how many, and the differences."""
    texture = Texture(draw)
    whole = texture.resource == LINEAR or (not texture.cube and draw.random() < .15)
    leveled = texture.resource == MIPMAPPED
    fetches, text = [], b""
    for _ in range(FETCHES):
        place = draw_place(draw, texture, whole)
        layer = draw.randrange(texture.layers + 2)
        level = draw.choice((0, draw.uniform(-1, len(texture.levels) + 1), draw.randrange(len(texture.levels) + 1)))
        level = int(level) if whole else single(level)
        fetches.append((place, layer, level))
        text += struct.pack("3iIi12x" if whole else "3fIf12x", *place, layer, level)
    source, target = new("cudaMalloc", len(text)), new("cudaMalloc", 16 * FETCHES)
    upload(text, source)
    type_ = "f32" if texture.floats else "s32" if texture.kind == SIGNED else "u32"
    name = "fetch_%s_%s_%s_%d" % (texture.shape, type_, "s32" if whole else "f32", leveled)
    launch(kernel_of(name), 1, FETCHES, [c_uint64(texture.handle), c_uint64(source), c_uint64(target)])
    out, differences = download(target, 16 * FETCHES), []
    for i, (place, layer, level) in enumerate(fetches):
        value, spread = texture.fetch(place, layer, level, whole)
        got = out[16 * i:16 * i + 16]
        if differs(texture, got, value, spread):
            differences.append("%s at %s, layer %d, level %g: %s, expected %s" % (
                texture, place, layer, level, struct.unpack("4f" if texture.floats else "4i", got), value))
    texture.free()
    for memory in (source, target):
        must("cudaFree", c_void_p(memory))
    return FETCHES, differences
