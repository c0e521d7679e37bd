# SPDX-License-Identifier: MIT
"""Random products by cublasLtMatmul: of all types and layouts, in batches, with all epilogues, held to what its documentation says."""

from products import *

LT = ctypes.CDLL("libcublasLt.so.13")


def floats_of_8_bits(exponent_bits):
    """The number of each byte: e4m3, which has no infinities, or e5m2."""
    fraction_bits = 7 - exponent_bits
    bias = (1 << (exponent_bits - 1)) - 1
    values = []
    for byte in range(256):
        exponent, fraction = byte >> fraction_bits & (1 << exponent_bits) - 1, byte & (1 << fraction_bits) - 1
        value = (fraction + ((1 << fraction_bits) if exponent else 0)) * 2.0 ** (max(exponent, 1) - bias - fraction_bits)
        if exponent_bits == 5 and exponent == 31:
            value = math.nan if fraction else math.inf
        elif byte & 0x7f == 0x7f:
            value = math.nan
        values.append(-value if byte >> 7 else value)
    return values


class ByteType:
    complex, bytes, part = False, 1, "B"

    def __init__(self, name):
        self.code, self.values = {"e4m3": (28, floats_of_8_bits(4)), "e5m2": (29, floats_of_8_bits(5))}[name]
        self.finite = sorted((v, byte) for byte, v in enumerate(self.values) if abs(v) < math.inf and byte != 0x80)

    def number(self, draw, real=False):
        return complex(draw.choice((0, 1, 1, -1, 2, -2, 3)))

    def byte_of(self, value):
        """The nearest, and of two the even one; what is beyond the largest becomes it."""
        if value != value:
            return 0x7f
        return min(self.finite, key=lambda pair: (abs(pair[0] - value), pair[1] % 2))[1]

    def packed(self, numbers):
        return bytes(self.byte_of(z.real) for z in numbers)

    def unpacked(self, data):
        return [complex(self.values[byte]) for byte in data]


def type_of(name):
    if name in ("e4m3", "e5m2"):
        return ByteType(name)
    if name in "CZ":
        type_ = Type(name)
        type_.code = CODES[name]
        return type_
    return NamedType(name)


# Types of a and b, of c, of d, and the cublasComputeType_t and type of factors that go with them.
KINDS_OF_TYPES = (("f32", "f32", "f32", "f32", 68, "f32"), ("f64", "f64", "f64", "f64", 70, "f64"), ("f16", "f16", "f16", "f16", 68, "f32"),
                  ("bf16", "bf16", "bf16", "bf16", 68, "f32"), ("f16", "f16", "f32", "f32", 68, "f32"), ("i8", "i8", "i32", "i32", 72, "i32"),
                  ("C", "C", "C", "C", 68, "C"), ("Z", "Z", "Z", "Z", 70, "Z"), ("e4m3", "e4m3", "bf16", "bf16", 68, "f32"),
                  ("e5m2", "e4m3", "f16", "f16", 68, "f32"), ("e4m3", "e5m2", "f32", "f32", 68, "f32"), ("e4m3", "e4m3", "bf16", "e4m3", 68, "f32"))
DEFAULT, RELU, BIAS, OF_RELU, OF_BIAS, GELU, OF_GELU, AUX, SUM_A, SUM_B = 1, 2, 4, 8, 16, 32, 64, 128, 256, 512
EPILOGUES = (DEFAULT, DEFAULT, RELU, BIAS, RELU | BIAS, RELU | AUX, RELU | AUX | BIAS, OF_RELU | AUX, OF_RELU | AUX | OF_BIAS, GELU, GELU | BIAS, GELU | AUX,
             GELU | AUX | BIAS, OF_GELU | AUX, OF_GELU | AUX | OF_BIAS, SUM_A, SUM_B)
POINTER_MODE, TRANS_A, TRANS_B, EPILOGUE, BIAS_AT, BIAS_STRIDE, AUX_AT, AUX_LEADING, AUX_STRIDE, SCALES, LARGEST = 2, 3, 4, 7, 8, 10, 11, 12, 13, 17, 21
ORDER, BATCHES, STRIDE, BATCH_MODE = 1, 5, 6, 8


def gelu(x):
    return x / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + .044715 * x ** 3)))


def slope_of_gelu(x):
    step = 1e-5
    return (gelu(x + step) - gelu(x - step)) / (2 * step)


class Operand:
    """The matrices of a batch, and their layout."""

    def __init__(self, call, type_, m, n, batches, addressed, unread=False):
        draw = call.draw
        self.by_rows = draw.random() < .3
        self.leading = max(1, n if self.by_rows else m) + draw.randrange(3)
        room = self.leading * max(1, m if self.by_rows else n)
        self.stride = room + draw.randrange(3)
        call.type = type_
        self.pool = call.put(Pool([NOTHING] * (self.stride * max(0, batches - 1) + room)))
        self.matrices = [Strided(self.pool, (m, n), self.leading, self.stride * i, self.by_rows) for i in range(batches)]
        for matrix in self.matrices:
            if not unread:
                matrix.fill(draw, type_)
        call.again(self.pool)
        self.layout = c_void_p()
        check_status("cublasLtMatrixLayoutCreate", byref(self.layout), c_int(type_.code), c_uint64(m), c_uint64(n), ctypes.c_int64(self.leading))
        for attribute, value in ((ORDER, c_int(self.by_rows)), (BATCHES, c_int(batches)), (STRIDE, ctypes.c_int64(self.stride))):
            check_status("cublasLtMatrixLayoutSetAttribute", self.layout, c_int(attribute), byref(value), c_size_t(ctypes.sizeof(value)))
        self.at = c_void_p(self.pool.at)
        if addressed:
            check_status("cublasLtMatrixLayoutSetAttribute", self.layout, c_int(BATCH_MODE), byref(c_int(1)), c_size_t(4))
            self.at = addresses_of(call, [self.pool.at + m.offset * type_.bytes for m in self.matrices])


def check_status(name, *arguments):
    status = getattr(LT, name)(*arguments)
    if status:
        raise CallError("%s: %d" % (name, status))


class Description:
    """A cublasLtMatmulDesc_t."""

    def __init__(self, compute, scale):
        self.made = c_void_p()
        check_status("cublasLtMatmulDescCreate", byref(self.made), c_int(compute), c_int(scale))

    def set(self, attribute, value):
        check_status("cublasLtMatmulDescSetAttribute", self.made, c_int(attribute), byref(value), c_size_t(ctypes.sizeof(value)))


def scales_of(call, description, types):
    """Scales of a, b, c and d, where they have 8 bits; and where the largest value is to go."""
    scales = [1.0] * 4
    for o, type_ in enumerate(types):
        if isinstance(type_, ByteType) and call.draw.random() < .6:
            scales[o] = call.draw.choice((.5, 2.0, 4.0))
            at = new("cudaMalloc", 4)
            upload(struct.pack("f", scales[o]), at)
            call.kept.append(at)
            description.set(SCALES + o, c_void_p(at))
    largest = None
    if isinstance(types[3], ByteType) and call.draw.random() < .7:
        largest = new("cudaMalloc", 4)
        call.kept.append(largest)
        description.set(LARGEST, c_void_p(largest))
    return scales, largest


class Auxiliary:
    """What an epilogue reads or writes beside: a vector, a matrix of numbers, or one of bits. One for each of a batch."""

    def __init__(self, call, description, epilogue, type_, m, n, batches):
        draw = call.draw
        self.vectors = self.numbers = self.bits = None
        call.type = type_
        if epilogue & (BIAS | OF_BIAS | SUM_A | SUM_B):
            length = n if epilogue & SUM_B else m
            stride = length + draw.randrange(3)
            pool = call.put(Pool([type_.number(draw) for _ in range(max(1, stride * batches))]))
            self.vectors = [Part(pool, length, 1, stride * i) for i in range(batches)]
            description.set(BIAS_AT, c_void_p(pool.at))
            description.set(BIAS_STRIDE, ctypes.c_int64(stride))
        if not epilogue & AUX:
            return
        bits = bool(epilogue & (RELU | OF_RELU))
        align = 128 if bits else 8
        leading = align * (1 + draw.randrange(2))
        stride = leading * max(1, n) + align * draw.randrange(2)
        if bits:
            call.type = BITS
            pool = call.put(Pool([complex(draw.randrange(256)) for _ in range(max(1, stride * batches // 8))]))
            self.bits = [(pool, stride * i, leading) for i in range(batches)]
        else:
            pool = call.put(Pool([type_.number(draw) for _ in range(max(1, stride * batches))]))
            self.numbers = [Strided(pool, (m, n), leading, stride * i) for i in range(batches)]
        description.set(AUX_AT, c_void_p(pool.at))
        description.set(AUX_LEADING, ctypes.c_int64(leading))
        description.set(AUX_STRIDE, ctypes.c_int64(stride))

    def bit(self, one, i, j):
        pool, offset, leading = self.bits[one]
        at = offset + i + j * leading
        return int(pool.data[at // 8].real) >> at % 8 & 1

    def set_bit(self, one, i, j, value):
        pool, offset, leading = self.bits[one]
        at = offset + i + j * leading
        pool.data[at // 8] = complex(int(pool.data[at // 8].real) & ~(1 << at % 8) | value << at % 8)


class Bytes:
    complex, bytes, part = False, 1, "B"

    def packed(self, numbers):
        return bytes(int(z.real) for z in numbers)

    def unpacked(self, data):
        return [complex(byte) for byte in data]


BITS = Bytes()


def finished(epilogue, value, auxiliary, one, i, j):
    """An element of the result before it is scaled and rounded."""
    if epilogue & BIAS:
        value += auxiliary.vectors[one][i].real
    if epilogue & OF_RELU:
        return value if auxiliary.bit(one, i, j) else 0.0
    if epilogue & OF_GELU:
        return value * slope_of_gelu(auxiliary.numbers[one][i, j].real)
    if epilogue & AUX and epilogue & RELU:
        auxiliary.set_bit(one, i, j, value > 0)
    elif epilogue & AUX:
        auxiliary.numbers[one][i, j] = complex(value)
    return max(value, 0.0) if epilogue & RELU else gelu(value) if epilogue & GELU else value


def matmul(call):
    draw = call.draw
    names = draw.choice(KINDS_OF_TYPES)
    types, compute, of_factors = [type_of(name) for name in names[:4]], names[4], type_of(names[5])
    m, n, k, ta, tb = size(draw), size(draw), size(draw), draw.choice((N, T, C)), draw.choice((N, T, C))
    whole_numbers = names[3] == "i32" or types[3].complex
    epilogue = DEFAULT if whole_numbers else draw.choice(EPILOGUES)
    if epilogue & (GELU | OF_GELU) and names[3] not in ("f32", "f64") or names[3] == "e4m3" and epilogue & ~(DEFAULT | RELU):
        epilogue = RELU
    batches, addressed = draw.choice((1, 1, 2, 3)), draw.random() < .2
    call.type = of_factors
    alpha, beta = call.factor(often_zero=True), call.factor(often_zero=True)
    factors = [call.place(of_factors.packed([z])) for z in (alpha, beta)]
    description = Description(compute, of_factors.code)
    a = Operand(call, types[0], *((m, k) if ta == N else (k, m)), batches, addressed)
    b = Operand(call, types[1], *((k, n) if tb == N else (n, k)), batches, addressed)
    if types[0].complex:  # rows that are conjugated and not turned are refused
        ta, tb = (T if o.by_rows and t == C else t for o, t in ((a, ta), (b, tb)))
    c = Operand(call, types[2], m, n, batches, addressed, unread=beta == 0)
    d = c if names[2] == names[3] and draw.random() < .4 else Operand(call, types[3], m, n, batches, addressed, unread=True)
    for attribute, value in ((POINTER_MODE, call.on_device), (TRANS_A, ta), (TRANS_B, tb), (EPILOGUE, epilogue)):
        description.set(attribute, c_int(value))
    scales, largest = scales_of(call, description, types)
    auxiliary = Auxiliary(call, description, epilogue, types[3], m, n, batches)
    call.name = "cublasLtMatmul"
    check_status(call.name, call.handle, description.made, factors[0], a.at, a.layout, b.at, b.layout, factors[1], c.at, c.layout, d.at, d.layout,
                 c_void_p(0), c_void_p(0), c_size_t(0), c_void_p(0))
    most = 0.0
    for one in range(batches):
        rows_a, rows_b = op_rows(a.matrices[one], ta), op_rows(b.matrices[one], tb)
        rows = padded(product(rows_a, rows_b), m, n)
        values = {}
        for i in range(m):
            for j in range(n):
                sum_ = alpha * scales[0] * scales[1] * rows[i][j] + (beta * scales[2] * c.matrices[one][i, j] if beta != 0 else 0)
                values[i, j] = sum_ if types[3].complex else complex(finished(epilogue, sum_.real, auxiliary, one, i, j))
        for at, value in values.items():
            d.matrices[one][at] = value * scales[3]
            most = max(most, abs(value))
        for i in range(m if epilogue & (OF_BIAS | SUM_A) and m and n else 0):
            auxiliary.vectors[one][i] = sum((values[i, j] for j in range(n)), 0j) if epilogue & OF_BIAS else sum(rows_a[i], 0j)
        for j in range(n if epilogue & SUM_B and m and n else 0):
            auxiliary.vectors[one][j] = sum((row[j] for row in rows_b), 0j)
    found = []
    if largest:
        said = struct.unpack("f", download(largest, 4))[0]
        if not same(complex(said), complex(most)):
            found.append("cublasLtMatmul: the largest is %s, not %s" % (said, most))
    return found


def check(draw):
    return checked(draw, (matmul,))
