# SPDX-License-Identifier: MIT
"""Random calls of cuBLAS: of vectors, of a matrix and vectors, of matrices, and of batches.

A model is lists of numbers and a rule of the call's documentation, element by element. Numbers are small integers, so that sums of floats are exact
and a difference is one of meaning. What a call is not to read is NaN: gaps behind a column, the other triangle, a unit diagonal, a result that
beta = 0 makes anew. What it is not to write has to stay as it is.
"""

import ctypes
import math
import struct

from cuda import *

BLAS = ctypes.CDLL("libcublas.so.13")
CODES = {"S": 0, "D": 1, "C": 4, "Z": 5}  # cudaDataType
TYPES = {"S": ("f", False), "D": ("d", False), "C": ("f", True), "Z": ("d", True)}
N, T, C = range(3)
LOWER, UPPER = range(2)
LEFT, RIGHT = range(2)


class Type:
    def __init__(self, letter):
        self.letter, (self.part, self.complex) = letter, TYPES[letter]
        self.bytes = struct.calcsize(self.part) * (1 + self.complex)

    def number(self, draw, real=False):
        part = draw.choice((0, 1, 1, -1, 2, -2, 3))
        return complex(part, draw.choice((0, 0, 1, -1, 2))) if self.complex and not real else complex(part)

    def packed(self, numbers):
        parts = [p for z in numbers for p in ((z.real, z.imag) if self.complex else (z.real,))]
        return struct.pack("%d%s" % (len(parts), self.part), *parts)

    def unpacked(self, data):
        parts = struct.unpack("%d%s" % (len(data) // struct.calcsize(self.part), self.part), data)
        return [complex(*parts[i:i + 2]) for i in range(0, len(parts), 2)] if self.complex else [complex(p) for p in parts]


def nearest_bf16(bits):
    """The upper half of a float's bits, rounded to even; of NaN as it is."""
    return bits >> 16 if bits >> 23 & 0xff == 0xff else bits + 0x7fff + (bits >> 16 & 1) >> 16


class NamedType:
    """A cudaDataType of real numbers."""

    CODES = {"f32": (0, "f"), "f64": (1, "d"), "f16": (2, "e"), "i8": (3, "b"), "i32": (10, "i"), "bf16": (14, "H")}

    def __init__(self, name):
        self.name, self.complex = name, False
        self.code, self.part = self.CODES[name]
        self.bytes = struct.calcsize(self.part)

    def number(self, draw, real=False):
        return complex(draw.choice((0, 1, 1, -1, 2, -2, 3)))

    def packed(self, numbers):
        parts = [int(z.real) if self.part in "bi" and z == z else 0 if self.part in "bi" else z.real for z in numbers]
        if self.name == "bf16":
            parts = [nearest_bf16(struct.unpack("I", struct.pack("f", part))[0]) for part in parts]
        return struct.pack("%d%s" % (len(parts), self.part), *parts)

    def unpacked(self, data):
        parts = struct.unpack("%d%s" % (len(data) // self.bytes, self.part), data)
        if self.name == "bf16":
            parts = [struct.unpack("f", struct.pack("I", part << 16))[0] for part in parts]
        return [complex(part) for part in parts]


NOTHING = complex(math.nan, math.nan)


class Vector:
    """n numbers, `step` apart; from the last to the first if it is negative."""

    def __init__(self, draw, type_, n, step=None):
        self.n, self.step = n, step or draw.choice((1, 1, 2, 3, -1, -2))
        self.first = (1 - n) * self.step if self.step < 0 and n else 0
        self.data = [NOTHING] * (max(0, n - 1) * abs(self.step) + 1 + draw.randrange(2))
        for i in range(n):
            self[i] = type_.number(draw)

    def place(self, i):
        return self.first + i * self.step

    def __getitem__(self, i):
        return self.data[self.place(i)]

    def __setitem__(self, i, value):
        self.data[self.place(i)] = value

    def list(self):
        return [self[i] for i in range(self.n)]


class Matrix:
    """m by n numbers, by columns. A number is stored where place says so."""

    def __init__(self, draw, type_, m, n, stored=lambda i, j: True):
        self.m, self.n, self.stored = m, n, stored
        self.leading = max(1, m) + draw.randrange(3)
        self.data = [NOTHING] * (self.leading * max(1, n) + 1)
        self.fill(draw, type_)

    def fill(self, draw, type_):
        for j in range(self.n):
            for i in range(self.m):
                if self.stored(i, j):
                    self[i, j] = type_.number(draw)

    def place(self, at):
        return at[1] * self.leading + at[0]

    def __getitem__(self, at):
        return self.data[self.place(at)]

    def __setitem__(self, at, value):
        self.data[self.place(at)] = value

    def forget(self):
        """All that is stored becomes nothing."""
        for j in range(self.n):
            for i in range(self.m):
                self[i, j] = NOTHING


class Band(Matrix):
    """Of a matrix, `below` diagonals under the main one and `above` over it."""

    def __init__(self, draw, type_, m, n, below, above):
        self.below, self.above = below, above
        self.m, self.n = m, n
        self.stored = lambda i, j: -above <= i - j <= below
        self.leading = below + above + 1 + draw.randrange(2)
        self.data = [NOTHING] * (self.leading * max(1, n) + 1)
        self.fill(draw, type_)

    def place(self, at):
        return at[1] * self.leading + self.above + at[0] - at[1]


class Packed(Matrix):
    """A triangle without gaps."""

    def __init__(self, draw, type_, n, uplo):
        self.m = self.n = n
        self.uplo, self.stored = uplo, in_triangle(uplo)
        self.data = [NOTHING] * (n * (n + 1) // 2 + 1)
        self.fill(draw, type_)

    def place(self, at):
        i, j = at
        return i + j * (j + 1) // 2 if self.uplo == UPPER else i - j + j * self.n - j * (j - 1) // 2


def in_triangle(uplo):
    return (lambda i, j: i >= j) if uplo == LOWER else (lambda i, j: i <= j)


def whole(a, kind="general", diag=0):
    """The rows of the matrix that is stored so: a general one, a triangle, or a half of a symmetric or Hermitian one."""
    def at(i, j):
        if kind != "general" and i == j:
            return 1 + 0j if kind == "triangle" and diag else complex(a[i, j].real) if kind == "hermitian" else a[i, j]
        if a.stored(i, j):
            return a[i, j]
        if kind in ("general", "triangle") or not a.stored(j, i):
            return 0j
        return a[j, i].conjugate() if kind == "hermitian" else a[j, i]
    return [[at(i, j) for j in range(a.n)] for i in range(a.m)]


def turned(rows, columns, operation):
    """op of a matrix of so many columns."""
    if operation == N:
        return rows
    return [[r[j].conjugate() if operation == C else r[j] for r in rows] for j in range(columns)]


def product(a, b):
    columns = len(b[0]) if b else 0
    return [[sum((r[k] * b[k][j] for k in range(len(b))), 0j) for j in range(columns)] for r in a]


def solved(a, b, lower):
    """x of a x = b, where a is a triangle."""
    x = [list(row) for row in b]
    order = range(len(a)) if lower else reversed(range(len(a)))
    for i in order:
        for j in range(len(x[i])):
            rest = x[i][j] - sum((a[i][k] * x[k][j] for k in range(len(a)) if k != i), 0j)
            x[i][j] = rest / a[i][i]
    return x


class Call:
    """One call: draws operands, makes it, and holds what it wrote to the model."""

    def __init__(self, draw):
        self.draw, self.type = draw, Type(draw.choice("SDCZ"))
        self.kept, self.memory, self.results = [], [], []
        self.on_device = draw.random() < .4
        self.handle = new_handle()
        BLAS.cublasSetPointerMode_v2(self.handle, c_int(self.on_device))

    def of_type(self, name):
        """What is drawn from here on is of that type."""
        self.type = NamedType(name)
        return self.type

    def vector(self, n, **how):
        return self.put(Vector(self.draw, self.type, n, **how))

    def matrix(self, m, n, stored=lambda i, j: True):
        return self.put(Matrix(self.draw, self.type, m, n, stored))

    def put(self, operand):
        operand.type = self.type
        operand.at = new("cudaMalloc", max(1, len(operand.data) * self.type.bytes))
        self.again(operand)
        self.memory.append(operand)
        return operand

    def again(self, operand):
        """Uploads an operand whose numbers were changed."""
        upload(operand.type.packed(operand.data), operand.at)

    def scalar(self, value, real=False):
        parts = [value.real] + ([value.imag] if self.type.complex and not real else [])
        return self.place(struct.pack("%d%s" % (len(parts), self.type.part), *parts))

    def place(self, data):
        if self.on_device:
            at = new("cudaMalloc", len(data))
            upload(data, at)
            self.kept.append(at)
            return c_void_p(at)
        buffer = (c_char * len(data)).from_buffer_copy(data)
        self.results.append(buffer)
        return byref(buffer)

    def result(self, at, n):
        return download(at.value, n) if self.on_device else bytes(at._obj)[:n]

    def factor(self, real=False, often_zero=False):
        return 0j if often_zero and self.draw.random() >= .8 else self.type.number(self.draw, real)

    def make(self, name, *arguments, has_wide=True):
        """The 32-bit entry or the 64-bit one, if there is one. Sizes are plain ints, flags are c_int."""
        wide = has_wide and self.draw.random() < .4
        size = ctypes.c_int64 if wide else c_int
        passed = [size(a) if isinstance(a, int) else c_void_p(a.at) if hasattr(a, "data") else a for a in arguments]
        self.name = name + ("_64" if wide else "")
        status = getattr(BLAS, self.name)(self.handle, *passed)
        if status:
            raise CallError("%s: %d" % (self.name, status))

    def differences(self):
        found = []
        for which, operand in enumerate(self.memory):
            type_ = operand.type
            was = type_.unpacked(download(operand.at, len(operand.data) * type_.bytes))
            for i, (is_, expected) in enumerate(zip(was, type_.unpacked(type_.packed(operand.data)))):
                if not same(is_, expected):
                    found.append("%s: operand %d, number %d is %s, not %s" % (self.name, which, i, is_, expected))
                    break
        return found

    def end(self):
        for operand in self.memory:
            must("cudaFree", c_void_p(operand.at))
        for at in self.kept:
            must("cudaFree", c_void_p(at))
        BLAS.cublasDestroy_v2(self.handle)


def new_handle():
    handle = c_void_p()
    if BLAS.cublasCreate_v2(byref(handle)):
        raise CallError("cublasCreate_v2")
    return handle


def same(is_, expected):
    def near(a, b):
        return (math.isnan(a) and math.isnan(b)) or abs(a - b) <= 1e-4 * max(1, abs(b))
    return near(is_.real, expected.real) and near(is_.imag, expected.imag)


def size(draw):
    return draw.choice((0, 1, 2, 3, 4, 5, 7))


def flag(value):
    return c_int(value)


# ---- vectors ----

def vectors(call):
    draw, type_, n = call.draw, call.type, size(call.draw)
    letter = type_.letter
    what = draw.choice(("axpy", "copy", "swap", "scal", "dot", "amax", "amin", "asum", "nrm2", "rot") + (() if type_.complex else ("rotm",)))
    named = flag(CODES[letter]) if draw.random() < .4 else None  # by the call that names types
    if what in ("axpy", "copy", "swap"):
        x, y = call.vector(n), call.vector(n)
        if what == "axpy":
            alpha = call.factor()
            call.make("cublas%saxpy_v2" % letter, n, call.scalar(alpha), x, x.step, y, y.step)
            y_new = [alpha * a + b for a, b in zip(x.list(), y.list())]
            x_new = x.list()
        else:
            if named:
                call.make("cublas%sEx" % what.capitalize(), n, x, named, x.step, y, named, y.step)
            else:
                call.make("cublas%s%s_v2" % (letter, what), n, x, x.step, y, y.step)
            x_new, y_new = (x.list(), x.list()) if what == "copy" else (y.list(), x.list())
        for i in range(n):
            x[i], y[i] = x_new[i], y_new[i]
    elif what == "scal":
        x = call.vector(n, step=draw.choice((1, 2, 3)))
        real = type_.complex and draw.random() < .4
        alpha = call.factor(real)
        name = {"C": "Cs", "Z": "Zd"}[letter] if real else letter
        call.make("cublas%sscal_v2" % name, n, call.scalar(alpha, real), x, x.step)
        for i in range(n):
            x[i] = alpha * x[i]
    elif what == "rot":
        real = type_.complex and draw.random() < .4
        x, y, c, s = call.vector(n), call.vector(n), call.factor(real=True), call.factor(real)
        if named:
            call.make("cublasRotEx", n, x, named, x.step, y, named, y.step, call.scalar(c), call.scalar(s), named, named)
        else:
            name = {"C": "Cs", "Z": "Zd"}[letter] if real else letter
            call.make("cublas%srot_v2" % name, n, x, x.step, y, y.step, call.scalar(c, real=True), call.scalar(s, real))
        for i in range(n):
            x[i], y[i] = c * x[i] + s * y[i], c * y[i] - s.conjugate() * x[i]
    elif what == "rotm":
        x, y, form = call.vector(n), call.vector(n), draw.choice((-2, -1, 0, 1))
        h = [type_.number(draw).real for _ in range(4)]
        at = call.place(struct.pack("5%s" % type_.part, form, *h))
        call.make("cublas%srotm_v2" % letter, n, x, x.step, y, y.step, at)
        h11, h21, h12, h22 = {-2: (1, 0, 0, 1), -1: h, 0: (1, h[1], h[2], 1), 1: (h[0], -1, 1, h[3])}[form]
        for i in range(n):
            x[i], y[i] = h11 * x[i] + h12 * y[i], h21 * x[i] + h22 * y[i]
    else:
        return reduced(call, what, n, named)
    return []


def reduced(call, what, n, named):
    """A number of one vector or two."""
    draw, type_, letter = call.draw, call.type, call.type.letter
    step = None if what == "dot" else draw.choice((1, 2, 3))
    x = call.vector(n, step=step)
    into = call.place(bytes(16))
    length = [abs(z.real) + abs(z.imag) for z in x.list()]
    if what == "dot":
        y, form = call.vector(n), draw.choice("uc") if type_.complex else ""
        call.make("cublas%sdot%s_v2" % (letter, form), n, x, x.step, y, y.step, into)
        expected = sum((a.conjugate() * b if form == "c" else a * b for a, b in zip(x.list(), y.list())), 0j)
        is_ = type_.unpacked(call.result(into, type_.bytes))[0]
    elif what in ("amax", "amin"):
        if named:
            call.make("cublasI%sEx" % what, n, x, named, x.step, into)
        else:
            call.make("cublasI%s%s_v2" % (letter.lower(), what), n, x, x.step, into)
        expected = length.index((max if what == "amax" else min)(length)) + 1 if n else 0
        wide = call.name.endswith("_64")
        is_ = struct.unpack("q" if wide else "i", call.result(into, 8 if wide else 4))[0]
    else:
        call.make("cublas%s%s_v2" % ({"C": "Sc", "Z": "Dz"}.get(letter, letter), what), n, x, x.step, into)
        expected = sum(length) if what == "asum" else math.sqrt(sum(abs(z) ** 2 for z in x.list()))
        is_ = struct.unpack(type_.part, call.result(into, struct.calcsize(type_.part)))[0]
    return [] if same(complex(is_), complex(expected)) else ["%s: %s, not %s" % (call.name, is_, expected)]


# ---- a matrix and vectors ----

def matrix_times_vector(call):
    """y = alpha op(a) x + beta y."""
    draw, type_, letter = call.draw, call.type, call.type.letter
    kind = draw.choice(("gemv", "gbmv", "symv", "sbmv", "spmv"))
    m, n, operation, uplo = size(draw), size(draw), draw.choice((N, T, C)), draw.choice((LOWER, UPPER))
    alpha, beta = call.factor(often_zero=True), call.factor(often_zero=True)
    scalars = call.scalar(alpha), call.scalar(beta)
    if kind[0] == "g":
        if kind == "gbmv":
            below, above = draw.randrange(max(1, m)), draw.randrange(max(1, n))
            a = call.put(Band(draw, type_, m, n, below, above))
            sizes = (m, n, below, above)
        else:
            a, sizes = call.matrix(m, n), (m, n)
        rows = turned(whole(a), n, operation)
        name, first, leading = kind, (flag(operation),) + sizes, (a.leading,)
        long_x, long_y = (n, m) if operation == N else (m, n)
    else:
        m = n
        stored = in_triangle(uplo)
        k = draw.randrange(max(1, n))
        a = (call.matrix(n, n, stored) if kind == "symv" else call.put(Packed(draw, type_, n, uplo)) if kind == "spmv"
             else call.put(Band(draw, type_, n, n, *((k, 0) if uplo == LOWER else (0, k)))))
        hermitian = type_.complex and (kind != "symv" or draw.random() < .5)
        rows = whole(a, "hermitian" if hermitian else "symmetric")
        name = ("he" + kind[2:] if kind == "symv" else "h" + kind[1:]) if hermitian else kind
        first, leading = (flag(uplo), n) + ((k,) if kind == "sbmv" else ()), () if kind == "spmv" else (a.leading,)
        long_x = long_y = n
    x, y = call.vector(long_x), call.vector(long_y)
    empty = m == 0 or n == 0
    if beta == 0 and not empty:
        y.data = [NOTHING] * len(y.data)
        call.again(y)
    call.make("cublas%s%s_v2" % (letter, name), *first, scalars[0], a, *leading, x, x.step, scalars[1], y, y.step)
    if not empty:
        ax = product(rows, [[v] for v in x.list()])
        for i in range(long_y):
            y[i] = alpha * ax[i][0] + (beta * y[i] if beta != 0 else 0)
    return []


def triangle_and_vector(call):
    """x = op(a) x, or what it is to be for that."""
    draw, type_, n = call.draw, call.type, size(call.draw)
    a, rows, first, leading, kind, solve = triangle(call, n, draw.choice("rbp"))
    x = call.vector(n)
    call.make("cublas%st%s%sv_v2" % (type_.letter, kind, "s" if solve[0] else "m"), *first, a, *leading, x, x.step)
    b = [[v] for v in x.list()]
    new_x = solved(rows, b, solve[1]) if solve[0] else product(rows, b)
    for i in range(n):
        x[i] = new_x[i][0]
    return []


def triangle(call, n, kind, solving=None):
    """A triangle, and op of it; kind: r as a matrix, b a band, p without gaps."""
    draw, type_ = call.draw, call.type
    uplo, operation, diag = draw.choice((LOWER, UPPER)), draw.choice((N, T, C)), draw.choice((0, 1))
    k = draw.randrange(max(1, n))
    a = (call.matrix(n, n, in_triangle(uplo)) if kind == "r" else call.put(Packed(draw, type_, n, uplo)) if kind == "p"
         else call.put(Band(draw, type_, n, n, *((k, 0) if uplo == LOWER else (0, k)))))
    solving = draw.random() < .5 if solving is None else solving
    for i in range(n):
        a[i, i] = NOTHING if diag else complex(draw.choice((1, -1, 2))) if solving else a[i, i]
    call.again(a)
    rows = turned(whole(a, "triangle", diag), n, operation)
    first = (flag(uplo), flag(operation), flag(diag), n) + ((k,) if kind == "b" else ())
    return a, rows, first, () if kind == "p" else (a.leading,), kind, (solving, (uplo == LOWER) == (operation == N))


def rank_update(call):
    """a = alpha x y + a, of vectors."""
    draw, type_, letter = call.draw, call.type, call.type.letter
    kind, form = draw.choice(("ger", "r", "r2", "pr", "pr2")), draw.choice("uc") if type_.complex else ""
    m, n, uplo = size(draw), size(draw), draw.choice((LOWER, UPPER))
    hermitian = type_.complex and kind != "ger" and (kind[0] == "p" or draw.random() < .6)
    alpha = call.factor(real=hermitian and kind in ("r", "pr"))
    turn = (lambda z: z.conjugate()) if hermitian or (kind == "ger" and form == "c") else (lambda z: z)
    if kind == "ger":
        a, x, y = call.matrix(m, n), call.vector(m), call.vector(n)
        call.make("cublas%sger%s_v2" % (letter, form), m, n, call.scalar(alpha), x, x.step, y, y.step, a, a.leading)
    else:
        packed = kind[0] == "p"
        a = call.put(Packed(draw, type_, n, uplo)) if packed else call.matrix(n, n, in_triangle(uplo))
        x, y = call.vector(n), call.vector(n) if kind[-1] == "2" else None
        name = ("h" if packed else "he") if hermitian else "s" if packed else "sy"
        second = (y, y.step) if y else ()
        call.make("cublas%s%s%s_v2" % (letter, name, kind), flag(uplo), n, call.scalar(alpha, hermitian and not y), x, x.step, *second, a,
                  *(() if packed else (a.leading,)))
    for j in range(a.n):
        for i in range(a.m):
            if not a.stored(i, j):
                continue
            if kind == "ger":
                a[i, j] += alpha * x[i] * turn(y[j])
            elif y:
                a[i, j] += alpha * x[i] * turn(y[j]) + turn(alpha) * y[i] * turn(x[j])
            else:
                a[i, j] += alpha * x[i] * turn(x[j])
            if hermitian and i == j and alpha != 0:
                a[i, j] = complex(a[i, j].real)
    return []


# ---- matrices ----

def put_result(c, rows, alpha, beta, hermitian=False):
    """c = alpha rows + beta c, where it is stored."""
    for j in range(c.n):
        for i in range(c.m):
            if c.stored(i, j):
                c[i, j] = alpha * rows[i][j] + (beta * c[i, j] if beta != 0 else 0)
                if hermitian and i == j:
                    c[i, j] = complex(c[i, j].real)


def result_matrix(call, m, n, beta, stored=lambda i, j: True):
    c = call.matrix(m, n, stored)
    if beta == 0:
        c.forget()
        call.again(c)
    return c


def op_rows(a, operation):
    return turned(whole(a), a.n, operation)


def general_product(call):
    """gemm, alone, in batches by a stride, and in batches by addresses."""
    draw, letter = call.draw, call.type.letter
    m, n, k, ta, tb = size(draw), size(draw), size(draw), draw.choice((N, T, C)), draw.choice((N, T, C))
    alpha, beta = call.factor(often_zero=True), call.factor(often_zero=True)
    shapes = ((m, k) if ta == N else (k, m), (k, n) if tb == N else (n, k), (m, n))
    way = draw.choice(("", "Batched", "StridedBatched"))
    sizes, scalars = (flag(ta), flag(tb), m, n, k), (call.scalar(alpha), call.scalar(beta))
    if way == "StridedBatched":
        return strided(call, shapes, sizes, scalars, (alpha, beta), (ta, tb))
    batches = draw.randrange(4) if way else 1
    sets = []
    for _ in range(batches):
        sets.append([call.matrix(*shapes[0]), call.matrix(*shapes[1]), result_matrix(call, *shapes[2], beta)])
        if len(sets) > 1:
            same_leading(call, sets[0], sets[-1])
    if not way:
        a, b, c = sets[0]
        call.make("cublas%sgemm_v2" % letter, *sizes, scalars[0], a, a.leading, b, b.leading, scalars[1], c, c.leading)
    else:
        tables, leadings = [], []
        for o in range(3):
            tables.append(addresses_of(call, [s[o].at for s in sets]))
            leadings.append(sets[0][o].leading if sets else max(1, shapes[o][0]))
        call.make("cublas%sgemmBatched" % letter, *sizes, scalars[0], tables[0], leadings[0], tables[1], leadings[1], scalars[1], tables[2],
                  leadings[2], batches)
    for a, b, c in sets:
        put_result(c, padded(product(op_rows(a, ta), op_rows(b, tb)), m, n), alpha, beta)
    return []


def groups_of_products(call):
    """gemmGroupedBatched, and the call that names types."""
    draw = call.draw
    call.type = type_ = Type(draw.choice("SD"))
    n_groups = draw.randrange(4)
    operations = [(draw.choice((N, T, C)), draw.choice((N, T, C))) for _ in range(n_groups)]
    shapes = [(size(draw), size(draw), size(draw)) for _ in range(n_groups)]
    lengths = [draw.randrange(3) for _ in range(n_groups)]
    factors = [(call.factor(often_zero=True), call.factor(often_zero=True)) for _ in range(n_groups)]
    sets, leadings = [], []
    for (ta, tb), (m, n, k), (_, beta), length in zip(operations, shapes, factors, lengths):
        own = []
        for _ in range(length):
            own.append([call.matrix(*((m, k) if ta == N else (k, m))), call.matrix(*((k, n) if tb == N else (n, k))), result_matrix(call, m, n, beta)])
            same_leading(call, own[0], own[-1])
        sets.append(own)
        leadings.append([o.leading for o in own[0]] if own else [max(m, n, k, 1)] * 3)
    addresses = [addresses_of(call, [one[o].at for own in sets for one in own]) for o in range(3)]
    wide = draw.random() < .4

    def host(values, kind=None):
        return ((kind or (ctypes.c_int64 if wide else c_int)) * max(1, len(values)))(*values)
    scalars = [call.place(type_.packed([f[o] for f in factors]) + bytes(8)) for o in range(2)]
    named = (flag(CODES[type_.letter]),) if draw.random() < .5 else ()
    flags = [host([o[i] for o in operations], c_int) for i in range(2)]
    sizes = [host([s[i] for s in shapes]) for i in range(3)]
    lead = [host([one[i] for one in leadings]) for i in range(3)]
    call.name = ("cublasGemmGroupedBatchedEx" if named else "cublas%sgemmGroupedBatched" % type_.letter) + ("_64" if wide else "")
    status = getattr(BLAS, call.name)(call.handle, *flags, *sizes, scalars[0], addresses[0], *named, lead[0], addresses[1], *named, lead[1], scalars[1],
                                      addresses[2], *named, lead[2], (ctypes.c_int64 if wide else c_int)(n_groups), host(lengths),
                                      *((flag(68 if type_.letter == "S" else 70),) if named else ()))
    if status:
        raise CallError("%s: %d" % (call.name, status))
    for own, (ta, tb), (m, n, _), (alpha, beta) in zip(sets, operations, shapes, factors):
        for a, b, c in own:
            put_result(c, padded(product(op_rows(a, ta), op_rows(b, tb)), m, n), alpha, beta)
    return []


def addresses_of(call, places):
    """An array of these addresses, in device memory."""
    at = new("cudaMalloc", 8 * max(1, len(places)))
    upload(struct.pack("%dQ" % len(places), *places), at)
    call.kept.append(at)
    return c_void_p(at)


# Letters of the calls that have other types, and the types of a and x, of y and of the factors.
TYPED_VECTORS = {"HSH": ("f16", "f16"), "HSS": ("f16", "f32"), "TST": ("bf16", "bf16"), "TSS": ("bf16", "f32")}


def batches_of_vectors(call):
    """gemvBatched and gemvStridedBatched."""
    draw = call.draw
    m, n, operation, batches = size(draw), size(draw), draw.choice((N, T, C)), draw.randrange(4)
    letter = draw.choice((call.type.letter,) * 3 + tuple(TYPED_VECTORS))
    of_factors = NamedType("f32") if letter in TYPED_VECTORS else call.type
    of_a, of_y = (NamedType(name) for name in TYPED_VECTORS[letter]) if letter in TYPED_VECTORS else (call.type, call.type)
    call.type = of_factors
    alpha, beta = call.factor(often_zero=True), call.factor(often_zero=True)
    scalars = call.place(of_factors.packed([alpha])), call.place(of_factors.packed([beta]))
    lengths, steps = (n, m) if operation == N else (m, n), [draw.choice((1, 2, -1, -3)) for _ in range(2)]
    empty = m == 0 or n == 0
    if draw.random() < .5:
        call.type = of_a
        a = [call.matrix(m, n) for _ in range(batches)]
        for one in a[1:]:
            same_leading(call, a[:1], [one])
        x = [call.vector(lengths[0], step=steps[0]) for _ in range(batches)]
        call.type = of_y
        y = [call.vector(lengths[1], step=steps[1]) for _ in range(batches)]
        tables = [addresses_of(call, [one.at for one in o]) for o in (a, x, y)]
        call.make("cublas%sgemvBatched" % letter, flag(operation), m, n, scalars[0], tables[0], a[0].leading if a else max(1, m), tables[1], steps[0],
                  scalars[1], tables[2], steps[1], batches)
    else:
        leading = max(1, m) + draw.randrange(2)
        rooms = [leading * max(1, n)] + [max(0, length - 1) * abs(step) + 1 for length, step in zip(lengths, steps)]
        strides = [room + draw.randrange(2) for room in rooms]
        pools = []
        for o, type_ in enumerate((of_a, of_a, of_y)):
            call.type = type_
            pools.append(call.put(Pool([type_.number(draw) for _ in range(strides[o] * max(0, batches - 1) + rooms[o])])))
        a = [Strided(pools[0], (m, n), leading, strides[0] * i) for i in range(batches)]
        x, y = ([Part(pools[o], lengths[o - 1], steps[o - 1], strides[o] * i) for i in range(batches)] for o in (1, 2))
        call.make("cublas%sgemvStridedBatched" % letter, flag(operation), m, n, scalars[0], pools[0], leading, ctypes.c_longlong(strides[0]), pools[1], steps[0],
                  ctypes.c_longlong(strides[1]), scalars[1], pools[2], steps[1], ctypes.c_longlong(strides[2]), batches)
    for one, of_x, to in zip(a, x, y):
        if not empty:
            ax = product(turned(whole(one), n, operation), [[v] for v in of_x.list()])
            for i in range(lengths[1]):
                to[i] = alpha * ax[i][0] + (beta * to[i] if beta != 0 else 0)
    return []


def padded(rows, m, n):
    """A product over no numbers is zeros."""
    return rows if rows and rows[0] and len(rows) == m else [[0j] * n for _ in range(m)]


def same_leading(call, first, others):
    """The matrices of a batch have the leading dimensions of its first."""
    for one, other in zip(first, others):
        if one.leading == other.leading:
            continue
        numbers = {(i, j): other[i, j] for j in range(other.n) for i in range(other.m) if other.stored(i, j)}
        other.leading = one.leading
        other.data = [NOTHING] * len(one.data)
        for at, value in numbers.items():
            other[at] = value
        must("cudaFree", c_void_p(other.at))
        other.at = new("cudaMalloc", max(1, len(other.data) * other.type.bytes))
        call.again(other)


class Strided(Matrix):
    """A matrix within the memory of another operand, by columns or by rows."""

    def __init__(self, of, shape, leading, offset, by_rows=False):
        self.m, self.n, self.leading, self.offset, self.by_rows = shape[0], shape[1], leading, offset, by_rows
        self.data, self.stored = of.data, lambda i, j: True

    def place(self, at):
        return self.offset + super().place(at[::-1] if self.by_rows else at)


class Part(Vector):
    """A vector within the memory of another operand."""

    def __init__(self, of, n, step, offset):
        self.data, self.n, self.step = of.data, n, step
        self.first = offset + ((1 - n) * step if step < 0 and n else 0)


class Pool:
    def __init__(self, data):
        self.data = data


def strided(call, shapes, sizes, scalars, factors, operations):
    draw, type_ = call.draw, call.type
    batches = draw.randrange(4)
    matrices, arguments = [], []
    for o, shape in enumerate(shapes):
        leading = max(1, shape[0]) + draw.randrange(2)
        room = leading * max(1, shape[1])
        stride = room + draw.randrange(3) if o == 2 or draw.random() < .8 else 0
        fresh = o == 2 and factors[1] == 0
        pool = call.put(Pool([NOTHING if fresh else type_.number(draw) for _ in range(stride * max(0, batches - 1) + room)]))
        matrices.append([Strided(pool, shape, leading, stride * i) for i in range(batches)])
        arguments.append((pool, leading, ctypes.c_longlong(stride)))
    call.make("cublas%sgemmStridedBatched" % type_.letter, *sizes, scalars[0], *arguments[0], *arguments[1], scalars[1], *arguments[2], batches)
    for a, b, c in zip(*matrices):
        rows = product(op_rows(a, operations[0]), op_rows(b, operations[1]))
        put_result(c, padded(rows, c.m, c.n), *factors)
    return []


# Types of a, b and c, and the cublasComputeType_t and type of factors that go with them.
TYPED_PRODUCTS = (("f16", "f16", "f16", 64, "f16"), ("f16", "f16", "f16", 68, "f32"), ("f16", "f16", "f32", 68, "f32"),
                  ("bf16", "bf16", "bf16", 68, "f32"), ("bf16", "bf16", "f32", 77, "f32"), ("i8", "i8", "i32", 72, "i32"),
                  ("i8", "i8", "f32", 68, "f32"), ("f32", "f32", "f32", 68, "f32"), ("f64", "f64", "f64", 70, "f64"))


def typed_product(call):
    """cublasGemmEx."""
    draw = call.draw
    *types, compute, of_factors = draw.choice(TYPED_PRODUCTS)
    m, n, k, ta, tb = size(draw), size(draw), size(draw), draw.choice((N, T, C)), draw.choice((N, T, C))
    factors = call.of_type(of_factors)
    alpha, beta = call.factor(often_zero=True), call.factor(often_zero=True)
    scalars = [call.place(factors.packed([z])) for z in (alpha, beta)]
    codes = [flag(NamedType(name).code) for name in types]
    call.of_type(types[0])
    a = call.matrix(*((m, k) if ta == N else (k, m)))
    call.of_type(types[1])
    b = call.matrix(*((k, n) if tb == N else (n, k)))
    call.of_type(types[2])
    c = result_matrix(call, m, n, beta)
    call.make("cublasGemmEx", flag(ta), flag(tb), m, n, k, scalars[0], a, codes[0], a.leading, b, codes[1], b.leading, scalars[1], c, codes[2],
              c.leading, flag(compute), flag(-1))
    put_result(c, padded(product(op_rows(a, ta), op_rows(b, tb)), m, n), alpha, beta)
    return []


def half_product(call):
    """symm and hemm: c = alpha a b + beta c, or b a."""
    draw, type_ = call.draw, call.type
    m, n, side, uplo = size(draw), size(draw), draw.choice((LEFT, RIGHT)), draw.choice((LOWER, UPPER))
    hermitian = type_.complex and draw.random() < .5
    alpha, beta, order = call.factor(often_zero=True), call.factor(often_zero=True), m if side == LEFT else n
    a, b, c = call.matrix(order, order, in_triangle(uplo)), call.matrix(m, n), result_matrix(call, m, n, beta)
    call.make("cublas%s%s_v2" % (type_.letter, "hemm" if hermitian else "symm"), flag(side), flag(uplo), m, n, call.scalar(alpha), a, a.leading, b,
              b.leading, call.scalar(beta), c, c.leading)
    rows = whole(a, "hermitian" if hermitian else "symmetric")
    put_result(c, padded(product(rows, whole(b)) if side == LEFT else product(whole(b), rows), m, n), alpha, beta)
    return []


def triangle_product(call):
    """trmm, whose result has a place of its own, and trsm, alone and in batches."""
    draw, type_ = call.draw, call.type
    m, n, side = draw.randrange(5), draw.randrange(5), draw.choice((LEFT, RIGHT))
    a, rows, first, _, _, (solving, lower) = triangle(call, m if side == LEFT else n, "r")
    alpha = call.factor()
    b = call.matrix(m, n)
    where = (flag(side), first[0], first[1], first[2], m, n, call.scalar(alpha), a, a.leading)
    old = whole(b)
    if solving:
        call.make("cublas%strsm_v2" % type_.letter, *where, b, b.leading)
        scaled = [[alpha * v for v in row] for row in old]
        if side == LEFT:
            result = solved(rows, scaled, lower)
        else:
            result = turned(solved(turned(rows, n, T), turned(scaled, n, T), not lower), m, T)
        put_result(b, result, 1, 0)
        return []
    c = b if draw.random() < .3 else result_matrix(call, m, n, 0)
    call.make("cublas%strmm_v2" % type_.letter, *where, b, b.leading, c, c.leading)
    put_result(c, padded(product(rows, old) if side == LEFT else product(old, rows), m, n), alpha, 0)
    return []


def triangle_update(call):
    """syrk, syr2k, syrkx and the same of Hermitian matrices."""
    draw, type_ = call.draw, call.type
    n, k, uplo = size(draw), size(draw), draw.choice((LOWER, UPPER))
    hermitian, kind = type_.complex and draw.random() < .5, draw.choice(("rk", "r2k", "rkx"))
    across = C if hermitian else T
    operation = draw.choice((N, across))
    alpha = call.factor(real=hermitian and kind == "rk", often_zero=True)
    beta = call.factor(real=hermitian, often_zero=True)
    if hermitian and kind == "rkx":
        alpha = complex(alpha.real)
    shape = (n, k) if operation == N else (k, n)
    a, b = call.matrix(*shape), call.matrix(*shape) if kind != "rk" else None
    if kind == "rkx":
        same_leading(call, [a], [b])
        for i in range(len(a.data)):
            b.data[i] = 2 * a.data[i]  # so that the result is one of its kind
        call.again(b)
    c = call.matrix(n, n, in_triangle(uplo))
    if hermitian:
        for i in range(n):
            c[i, i] = complex(c[i, i].real)
    if beta == 0:
        c.forget()
    call.again(c)
    second = (b, b.leading) if b else ()
    call.make("cublas%s%s%s%s" % (type_.letter, "he" if hermitian else "sy", kind, "" if kind == "rkx" else "_v2"), flag(uplo), flag(operation), n, k,
              call.scalar(alpha, hermitian and kind == "rk"), a, a.leading, *second, call.scalar(beta, hermitian), c, c.leading)
    ra, rb = op_rows(a, operation), op_rows(b or a, operation)
    once = padded(product(ra, turned(rb, k, across)), n, n)
    if kind == "r2k":
        twice = padded(product(rb, turned(ra, k, across)), n, n)
        other = alpha.conjugate() if hermitian else alpha
        rows = [[alpha * p + other * q for p, q in zip(*pair)] for pair in zip(once, twice)]
        put_result(c, rows, 1, beta, hermitian)
    else:
        put_result(c, once, alpha, beta, hermitian)
    return []


def sums_and_scales(call):
    """geam and dgmm."""
    draw, type_, letter = call.draw, call.type, call.type.letter
    m, n = size(draw), size(draw)
    if draw.random() < .4:
        side = draw.choice((LEFT, RIGHT))
        a, x = call.matrix(m, n), call.vector(m if side == LEFT else n)
        c = a if draw.random() < .3 else result_matrix(call, m, n, 0)
        old = whole(a)
        call.make("cublas%sdgmm" % letter, flag(side), m, n, a, a.leading, x, x.step, c, c.leading)
        put_result(c, [[old[i][j] * x[i if side == LEFT else j] for j in range(n)] for i in range(m)], 1, 0)
        return []
    alpha, beta, ta, tb = call.factor(often_zero=True), call.factor(often_zero=True), draw.choice((N, T, C)), draw.choice((N, T, C))
    a = result_matrix(call, *((m, n) if ta == N else (n, m)), alpha)
    b = result_matrix(call, *((m, n) if tb == N else (n, m)), beta)
    c = result_matrix(call, m, n, 0)
    call.make("cublas%sgeam" % letter, flag(ta), flag(tb), m, n, call.scalar(alpha), a, a.leading, call.scalar(beta), b, b.leading, c, c.leading)
    ra, rb = padded(op_rows(a, ta), m, n), padded(op_rows(b, tb), m, n)
    put_result(c, [[(alpha * ra[i][j] if alpha else 0) + (beta * rb[i][j] if beta else 0) for j in range(n)] for i in range(m)], 1, 0)
    return []


KINDS = (vectors, vectors, matrix_times_vector, batches_of_vectors, triangle_and_vector, rank_update, general_product, groups_of_products,
         typed_product, half_product, triangle_product, triangle_update, sums_and_scales)


def checked(draw, kinds):
    """One call of one of the kinds."""
    call = Call(draw)
    try:
        found = draw.choice(kinds)(call) + call.differences()
    except CallError as error:
        found = [str(error)]
    call.end()
    return 1, found


def check(draw):
    return checked(draw, KINDS)
