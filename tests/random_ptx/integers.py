# SPDX-License-Identifier: MIT
"""Operations of integers and bits: each gives the types of the results and of the sources, and the function."""


class IllDefined(Exception):
    """The program has no defined result: a register is read before it is written, a thread waits for ever, ..."""


WIDTHS = {"pred": 1, "b8": 8, "u8": 8, "s8": 8, "b16": 16, "u16": 16, "s16": 16, "f16": 16, "bf16": 16,
          "b32": 32, "u32": 32, "s32": 32, "f32": 32, "f16x2": 32, "bf16x2": 32, "u16x2": 32, "s16x2": 32, "tf32": 32,
          "b64": 64, "u64": 64, "s64": 64, "f64": 64, "f32x2": 64, "b128": 128,
          "e4m3x2": 16, "e5m2x2": 16, "e2m3x2": 16, "e3m2x2": 16, "e2m1x2": 8, "ue8m0x2": 16}
MASK32 = 0xFFFFFFFF


def ones(n):
    return (1 << n) - 1


def signed(x, n):
    return x - (1 << n) if x >> (n - 1) & 1 else x


def is_signed(t):
    return t[0] == "s"


def value_of(t, x):
    """An integer type's bits as a number."""
    x &= ones(WIDTHS[t])
    return signed(x, WIDTHS[t]) if is_signed(t) else x


def clamp(t, x):
    n = WIDTHS[t]
    least, most = (-(1 << (n - 1)), ones(n - 1)) if is_signed(t) else (0, ones(n))
    return max(least, min(most, x)) & ones(n)


def wrap(t, f):
    """A function of numbers, with its result truncated to the type."""
    n = ones(WIDTHS[t])
    return lambda *xs: f(*[value_of(t, x) for x in xs]) & n


def divided(x, y):
    if y == 0:
        raise IllDefined("division by zero")
    quotient = abs(x) // abs(y)
    return -quotient if (x < 0) != (y < 0) else quotient


def integer_add(mods, sign):
    t = mods[-1]
    if "sat" in mods:
        return (t,), (t, t), lambda x, y: clamp(t, value_of(t, x) + sign * value_of(t, y))
    return (t,), (t, t), wrap(t, lambda x, y: x + sign * y)


def product(mods, bits):
    """mul and mul24: the selected part of the product, as numbers; and the type of the result."""
    t = mods[-1]
    def factor(x):
        return (signed(x & ones(24), 24) if is_signed(t) else x & ones(24)) if bits == 24 else value_of(t, x)
    if mods[0] == "wide":
        wide = t[0] + str(2 * WIDTHS[t])
        return wide, lambda x, y: factor(x) * factor(y)
    if mods[0] == "lo":
        return t, lambda x, y: factor(x) * factor(y)
    by = 16 if bits == 24 else WIDTHS[t]
    return t, lambda x, y: factor(x) * factor(y) >> by


def multiply(mods, bits=0):
    d, f = product(mods, bits)
    t, n = mods[-1], ones(WIDTHS[d])
    return (d,), (t, t), lambda x, y: f(x, y) & n


def multiply_add(mods, bits=0):
    d, f = product(mods, bits)
    t, n = mods[-1], ones(WIDTHS[d])
    if "sat" in mods:
        def high(p):
            return signed(p & n, WIDTHS[d])
        return (d,), (t, t, d), lambda x, y, z: clamp(d, high(f(x, y)) + value_of(d, z))
    return (d,), (t, t, d), lambda x, y, z: (f(x, y) + z) & n


def find(mods):
    t = mods[-1]
    n = WIDTHS[t]
    def f(x):
        if is_signed(t) and x >> (n - 1):
            x ^= ones(n)
        if x == 0:
            return MASK32
        at = x.bit_length() - 1
        return n - 1 - at if "shiftamt" in mods else at
    return ("u32",), (t,), f


def of_field(n, width):
    """A position or length: above 255 PTX defines nothing, and a GPU's operations of 64 bits take all of it."""
    return n if width == 64 else n & 255


def extract(mods):
    t = mods[-1]
    n = WIDTHS[t]
    def f(x, at, length):
        at, length = of_field(at, n), of_field(length, n)
        if length == 0:
            return 0
        top = x >> min(at + length - 1, n - 1) & 1 if is_signed(t) else 0
        result = 0
        for i in range(n):
            bit = x >> (at + i) & 1 if i < length and at + i < n else top
            result |= bit << i
        return result
    return (t,), (t, "u32", "u32"), f


def insert(mods):
    t = mods[-1]
    n = WIDTHS[t]
    def f(x, into, at, length):
        at, length = of_field(at, n), min(of_field(length, n), n)
        for i in range(length):
            if at + i < n:
                into = into & ~(1 << (at + i)) | (x >> i & 1) << (at + i)
        return into
    return (t,), (t, t, "u32", "u32"), f


def shift(mods, left):
    t = mods[-1]
    n = WIDTHS[t]
    def f(x, by):
        by = min(by, n)
        return (x << by if left else value_of(t, x) >> by) & ones(n)
    return (t,), (t, "u32"), f


def funnel(mods):
    direction, how = mods[0], mods[1]
    def f(low, high, by):
        by = min(by, 32) if how == "clamp" else by & 31
        both = high << 32 | low
        return (both << by >> 32 if direction == "l" else both >> by) & MASK32
    return ("b32",), ("b32", "b32", "u32"), f


def permute(mods):
    mode = mods[1] if len(mods) > 1 else ""
    ways = {  # by c & 3: which bytes, the lowest first
        "f4e": ((0, 1, 2, 3), (1, 2, 3, 4), (2, 3, 4, 5), (3, 4, 5, 6)),
        "b4e": ((0, 7, 6, 5), (1, 0, 7, 6), (2, 1, 0, 7), (3, 2, 1, 0)),
        "rc8": ((0,) * 4, (1,) * 4, (2,) * 4, (3,) * 4),
        "ecl": ((0, 1, 2, 3), (1, 1, 2, 3), (2, 2, 2, 3), (3, 3, 3, 3)),
        "ecr": ((0, 0, 0, 0), (0, 1, 1, 1), (0, 1, 2, 2), (0, 1, 2, 3)),
        "rc16": ((0, 1, 0, 1), (2, 3, 2, 3), (0, 1, 0, 1), (2, 3, 2, 3)),
    }
    def f(a, b, c):
        pool = (b << 32 | a).to_bytes(8, "little")
        if mode:
            return int.from_bytes(bytes(pool[i] for i in ways[mode][c & 3]), "little")
        chosen = []
        for i in range(4):
            selector = c >> 4 * i & 15
            byte = pool[selector & 7]
            chosen.append((255 if byte & 128 else 0) if selector & 8 else byte)
        return int.from_bytes(bytes(chosen), "little")
    return ("b32",), ("b32", "b32", "b32"), f


def look_up(mods):
    def f(a, b, c, table):
        result = 0
        for i in range(32):
            index = (a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)
            result |= (table >> index & 1) << i
        return result
    if len(mods) == 2:  # lop3.or.b32 d|p, a, b, c, table, q
        def g(a, b, c, table, q):
            result = f(a, b, c, table)
            return result, int((result != 0) or q) if mods[0] == "or" else int((result != 0) and q)
        return ("b32", "pred"), ("b32", "b32", "b32", "u32", "pred"), g
    return ("b32",), ("b32", "b32", "b32", "u32"), f


def dot(mods, n):
    """dp4a and dp2a: products of bytes, or of halves of a and bytes of b."""
    ta, tb = mods[-2], mods[-1]
    def part(t, x, i, bits):
        x = x >> bits * i & ones(bits)
        return signed(x, bits) if is_signed(t) else x
    def f(a, b, c):
        first = 2 if n == 2 and mods[0] == "hi" else 0
        width = 8 if n == 4 else 16
        total = sum(part(ta, a, i, width) * part(tb, b, first + i, 8) for i in range(n))
        return (c + total) & MASK32
    d = "s32" if "s32" in (ta, tb) else "u32"
    return (d,), (ta, tb, d), f


def bit_mask(mods):
    def f(at, length):
        if mods[0] == "wrap":
            at, length = at & 31, length & 31
        else:
            at, length = min(at, 32), min(length, 32)
        return ones(length) << at & MASK32
    return ("b32",), ("u32", "u32"), f


def find_nth(mods):
    def f(x, at, n):
        n = value_of("s32", n)
        if at > 31:
            raise IllDefined("fns from no bit")
        ways = range(at, 32) if n > 0 else range(at, -1, -1) if n < 0 else [at]
        bits = [b for b in ways if x >> b & 1]
        return bits[max(abs(n), 1) - 1] if len(bits) >= max(abs(n), 1) else MASK32
    return ("b32",), ("b32", "u32", "s32"), f


def extend(mods):
    t = mods[-1]
    def f(x, n):
        if mods[0] == "wrap":
            n &= 31
        if n == 0:
            return 0
        if n >= 32:
            return x
        return (signed(x & ones(n), n) if is_signed(t) else x & ones(n)) & MASK32
    return (t,), (t, "u32"), f


def bitwise(mods, f):
    t = mods[-1]
    n = ones(WIDTHS[t])
    return (t,), (t, t), lambda x, y: f(x, y) & n
