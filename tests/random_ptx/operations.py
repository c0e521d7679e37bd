# SPDX-License-Identifier: MIT
"""The result of each operation that uses no memory, control or other lanes, from the PTX manual alone.

meaning(opcode) gives the types of the results, those of the sources, and a function from the sources'
bits to the result's: integers, unsigned, of the type's width. An unordered NaN result is the format's
canonical one.
"""

import math

import floats
from floats import BF16, F16, F32, F64, FORMATS, NAN, TF32
from integers import (WIDTHS, bit_mask, bitwise, clamp, divided, dot, extend, extract, find, find_nth, funnel, insert,
                      integer_add, look_up, multiply, multiply_add, ones, permute, shift, signed, value_of, wrap)

ROUNDINGS = ("rn", "rz", "rm", "rp", "rna")
WHOLE_ROUNDINGS = {"rni": "rn", "rzi": "rz", "rmi": "rm", "rpi": "rp"}


def is_float(t):
    return t in FORMATS


def flush(fmt, x):
    return x & 1 << (fmt.width - 1) if floats.is_subnormal(fmt, x) else x


def saturate(fmt, x):
    value = floats.decode(fmt, x)
    if value == NAN or value[0]:
        return 0
    one = floats.encode(fmt, (0, 1, 0))
    return min(x, one)


def rounding_of(mods):
    return next((m for m in mods if m in ROUNDINGS), "rn")


def real(mods, n, f):
    """An operation of n floats: f(rounding, values) is exact, or exact enough to be rounded once."""
    t = mods[-1]
    if len(mods) > 1 and mods[-2] == "f32":  # of halves and, as the last, a float
        types = (t,) * (n - 1) + ("f32",)
        values = [lambda x, fmt=FORMATS[s]: floats.decode(fmt, x) for s in types]
        return ("f32",), types, lambda *xs: rounded(F32, mods, f(rounding_of(mods), *[value(x) for value, x in zip(values, xs)]))
    fmt = FORMATS[t[:-2] if t.endswith("x2") else t]
    def one(*xs):
        if "ftz" in mods:
            xs = [flush(fmt, x) for x in xs]
        return rounded(fmt, mods, f(rounding_of(mods), *[floats.decode(fmt, x) for x in xs]))
    return (t,), (t,) * n, in_pairs(t, one)


def rounded(fmt, mods, value):
    result = floats.encode(fmt, value, rounding_of(mods))
    if "ftz" in mods:
        result = flush(fmt, result)
    if "sat" in mods:
        result = saturate(fmt, result)
    if "relu" in mods and result >> (fmt.width - 1):
        result = 0
    return result


def in_pairs(t, one):
    if not t.endswith("x2"):
        return one
    half = WIDTHS[t] // 2
    return lambda *xs: one(*[x & ones(half) for x in xs]) | one(*[x >> half for x in xs]) << half


def bits_of_float(mods, n, f):
    """abs, neg and similar: f takes the format and the bits."""
    t = mods[-1]
    fmt = FORMATS[t[:-2] if t.endswith("x2") else t]
    def one(*xs):
        if "ftz" in mods:
            xs = [flush(fmt, x) for x in xs]
        result = f(fmt, *xs)
        return fmt.nan if floats.is_nan(fmt, result) else result
    return (t,), (t,) * n, in_pairs(t, one)


def absolute(fmt, x):
    return x & ones(fmt.width - 1)


def extreme(mods, sign, n):
    def f(fmt, x, y, *more):
        if more:
            first = f(fmt, x, y)
            x, y = more[0], first
        if "abs" in mods and "xorsign" not in mods:
            x, y = absolute(fmt, x), absolute(fmt, y)
        if "xorsign" in mods:
            signs = (x ^ y) & 1 << (fmt.width - 1)
            chosen = plain(fmt, absolute(fmt, x), absolute(fmt, y))
            return chosen if floats.is_nan(fmt, chosen) else chosen | signs
        return plain(fmt, x, y)
    def plain(fmt, x, y):
        xs = [v for v in (x, y) if not floats.is_nan(fmt, v)]
        if len(xs) < 2:
            return fmt.nan if "NaN" in mods or not xs else xs[0]
        by = floats.order(floats.decode(fmt, x), floats.decode(fmt, y))
        if by == 0:  # -0 is less than +0
            by = (y >> (fmt.width - 1)) - (x >> (fmt.width - 1))
        return x if by * sign > 0 else y
    return bits_of_float(mods, n, f)


def classify(mods):
    fmt = FORMATS[mods[-1]]
    def f(x):
        value = floats.decode(fmt, x)
        finite = value != NAN and value[1] is not None
        subnormal = floats.is_subnormal(fmt, x)
        return int({
            "finite": finite, "infinite": value != NAN and not finite, "number": value != NAN,
            "notanumber": value == NAN, "normal": finite and not subnormal,  # zeros are
            "subnormal": subnormal}[mods[0]])
    return ("pred",), (mods[-1],), f


def approximate(mods, n, f):
    """f takes Python floats; the result is compared within a bound."""
    t = mods[-1]
    fmt = FORMATS[t[:-2] if t.endswith("x2") else t]
    def one(*xs):
        if "ftz" in mods:
            xs = [flush(fmt, x) for x in xs]
        try:
            y = f(*[floats.to_python(fmt, x) for x in xs])
        except OverflowError:
            y = math.inf
        except ValueError:
            y = math.nan
        if y != y:
            return fmt.nan
        result = floats.encode(fmt, floats.decode(F64, from_python(y)))
        return flush(fmt, result) if "ftz" in mods else result
    return (t,), (t,) * n, in_pairs(t, one)


def from_python(y):
    import struct
    return struct.unpack("<Q", struct.pack("<d", y))[0]


def reciprocal(x):
    return math.copysign(math.inf, x) if x == 0 else 1 / x


def quotient(x, y):
    if y == 0:
        return math.nan if x == 0 or x != x else math.copysign(math.inf, x) * math.copysign(1, y)
    return x / y


def logarithm(x):
    return -math.inf if x == 0 else math.log2(x)



ORDERED = {"eq": lambda c: c == 0, "ne": lambda c: c != 0, "lt": lambda c: c < 0, "le": lambda c: c <= 0,
           "gt": lambda c: c > 0, "ge": lambda c: c >= 0}
UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
COMBINE = {"and": lambda x, q: x & q, "or": lambda x, q: x | q, "xor": lambda x, q: x ^ q}


def comparison(name, t, ftz):
    if is_float(t):
        fmt = FORMATS[t]
        def f(x, y):
            if ftz:
                x, y = flush(fmt, x), flush(fmt, y)
            c = floats.order(floats.decode(fmt, x), floats.decode(fmt, y))
            if name in ("num", "nan"):
                return int((c is None) == (name == "nan"))
            if name in ORDERED:
                return int(c is not None and ORDERED[name](c))
            return int(c is None or ORDERED[name[:-1]](c))
        return f
    which = ORDERED[UNSIGNED.get(name, name)]
    def g(x, y):
        x, y = value_of(t, x), value_of(t, y)
        return int(which((x > y) - (x < y)))
    return g


def set_predicate(mods):
    t = mods[-1]
    how = next((m for m in mods if m in COMBINE), None)
    if t.endswith("x2"):
        compare = comparison(mods[0], t[:-2], "ftz" in mods)
        def pair(x, y, q=None):
            results = [compare(x & 0xFFFF, y & 0xFFFF), compare(x >> 16, y >> 16)]
            return tuple(COMBINE[how](r, q) if how else r for r in results)
        return ("pred", "pred"), (t, t) + (("pred",) if how else ()), pair
    compare = comparison(mods[0], t, "ftz" in mods)
    def f(x, y, q=None):
        result = compare(x, y)
        if how is None:
            return result, 1 - result
        return COMBINE[how](result, q), COMBINE[how](1 - result, q)
    return ("pred", "pred"), (t, t) + (("pred",) if how else ()), f


def set_register(mods):
    d, t = mods[-2], mods[-1]
    _, sources, f = set_predicate(mods[:-2] + [t])
    if t.endswith("x2"):
        one = floats.encode(FORMATS[t[:-2]], (0, 1, 0)) if d == t else 0xFFFF
        def pair(*xs):
            low, high = f(*xs)
            return (one if low else 0) | (one if high else 0) << 16
        return (d,), sources, pair
    yes = floats.encode(FORMATS[d], (0, 1, 0)) if is_float(d) else ones(WIDTHS[d])
    return (d,), sources, lambda *xs: yes if f(*xs)[0] else 0


def select_by_sign(mods):
    t, c = mods[-2], mods[-1]
    def f(x, y, by):
        if c == "f32":
            by = flush(F32, by) if "ftz" in mods else by
            value = floats.decode(F32, by)
            return x if value != NAN and (not value[0] or value[1] == 0) else y
        return y if by >> 31 else x
    return (t,), (t, t, c), f



def add_packed(mods):
    """Sums of two halves of 16 bits, each by itself."""
    return ("b32",), ("b32", "b32"), in_pairs(mods[-1], lambda x, y: x + y & 0xFFFF)


def minimum_packed(mods, sign):
    _, _, one = minimum(mods[:-1] + [mods[-1][:-2]], sign)
    return ("b32",), ("b32", "b32"), in_pairs(mods[-1], one)


def pack(mods):
    """Two integers, each clamped to few bits, above them a third."""
    t = next(m for m in mods if m not in ("pack", "sat", "b32"))
    n = int(t[1:])
    least, most = (0, ones(n)) if t[0] == "u" else (-(1 << (n - 1)), ones(n - 1))
    def cut(x):
        return max(least, min(most, value_of("s32", x))) & ones(n)
    def f(x, y, z=0):
        return (z << 2 * n | cut(x) << n | cut(y)) & ones(32)
    return ("b32",), ("s32", "s32") + (("b32",) if mods[-1] == "b32" else ()), f


def convert(mods):
    if mods[0] == "pack":
        return pack(mods)
    d, s = mods[-2], mods[-1]
    rounding = rounding_of(mods)
    whole = next((WHOLE_ROUNDINGS[m] for m in mods if m in WHOLE_ROUNDINGS), None)
    if d.endswith("x2"):
        return convert_two(mods[:-2], d, s)
    if not is_float(s) and not is_float(d) and d != "tf32":
        if "sat" in mods:
            return (d,), (s,), lambda x: clamp(d, value_of(s, x))
        return (d,), (s,), lambda x: value_of(s, x) & ones(WIDTHS[d])
    if not is_float(s):
        fmt = FORMATS[d]
        return (d,), (s,), lambda x: float_result(
            fmt, mods, floats.encode(fmt, floats.from_integer(value_of(s, x)), rounding))
    source = FORMATS[s]
    def read(x):
        return floats.decode(source, flush(source, x) if "ftz" in mods and s == "f32" and d != "f16" else x)
    if d == "tf32":
        return ("b32",), (s,), lambda x: positive(TF32, mods, floats.encode(TF32, read(x), rounding, "satfinite" in mods)) << 13
    if is_float(d):
        fmt = FORMATS[d]
        def to_float(x):
            value = read(x)
            if whole and value != NAN and value[1] is not None:
                number = floats.integral(value, whole)
                value = (value[0], abs(number), 0)
            return float_result(fmt, mods, floats.encode(fmt, value, rounding, "satfinite" in mods))
        return (d,), (s,), to_float
    def to_integer(x):
        value = read(x)
        if value == NAN:
            return 1 << (WIDTHS[d] - 1) if s == "f64" or WIDTHS[d] == 64 else 0
        if value[1] is None:
            return clamp(d, -(1 << 70) if value[0] else 1 << 70)
        return clamp(d, floats.integral(value, whole))
    return (d,), (s,), to_integer


def float_result(fmt, mods, bits):
    if "ftz" in mods and fmt == F32:
        bits = flush(fmt, bits)
    if "sat" in mods:
        bits = saturate(fmt, bits)
    return positive(fmt, mods, bits)


def positive(fmt, mods, bits):
    return 0 if "relu" in mods and bits >> (fmt.width - 1) else bits


def power_of_2(rounding, finite, x):
    """ue8m0: the exponent of a float of 32 bits, of which its sign is no part; 255 is NaN."""
    value = floats.decode(F32, x & ones(31))
    if value == NAN:
        return 255
    if value[1] is None:
        return 254 if finite else 255
    for power in range(256):
        if floats.order((0, 1, power - 127), value) >= 0:
            break
    exact = floats.order((0, 1, power - 127), value) == 0
    power = power if exact or rounding == "rp" or power == 0 else power - 1
    return 254 if finite and power == 255 else power


def convert_two(mods, d, s):
    """Two floats to two that are smaller, the first to the upper part; or a pair to a pair."""
    to, half = d[:-2], s[:-2] if s.endswith("x2") else s
    pair = s.endswith("x2")
    if to == "ue8m0":
        fill = 32 - FORMATS[half].width  # the upper bits of an f32
        f = lambda x: power_of_2(rounding_of(mods), "satfinite" in mods, x << fill)
    elif half == "ue8m0":
        f = lambda x: floats.encode(BF16, NAN if x == 255 else (0, 1, x - 127))
    elif half in floats.SMALL:
        f = lambda x: positive(F16, mods, floats.encode(F16, floats.decode(floats.SMALL[half], x & ones(floats.SMALL[half].width))))
    elif to in floats.SMALL:
        f = lambda x: positive(floats.SMALL[to], mods, floats.encode(floats.SMALL[to], floats.decode(FORMATS[half], x), "rn", True))
    else:
        _, _, f = convert(mods + [to, s])
    into, outof = WIDTHS[d] // 2, WIDTHS[s] // 2
    if pair:
        return (d,), (s,), lambda x: f(x >> outof) << into | f(x & ones(outof))
    return (d,), (s, s), lambda high, low: f(high) << into | f(low)


def numbers_of(word, t, bits, at):
    """A part of a word as a number."""
    return value_of(t[0] + str(bits), word >> at) if bits < 32 else value_of(t, word)


COMPARE = {"eq": int.__eq__, "ne": int.__ne__, "lt": int.__lt__, "le": int.__le__, "gt": int.__gt__, "ge": int.__ge__}
VIDEO = {"vadd": lambda x, y: x + y, "vsub": lambda x, y: x - y, "vabsdiff": lambda x, y: abs(x - y), "vmin": min, "vmax": max,
         "vavrg": lambda x, y: (x + y + 1 if x + y >= 0 else x + y) >> 1}


VIDEOS = {base + n for base in (*VIDEO, "vset") for n in ("", "2", "4")} - {"vavrg"} | {"vshl", "vshr", "vmad"}


def takes_three(name, mods):
    """Whether it needs a third source, though no part of the result is named."""
    return name == "vmad" or name[-1] in "24" or any(m in ("add", "min", "max") for m in mods)


def selected(t, which, way, x, y=0):
    """The part of x that .b0 to .b3, .h0 or .h1 names; of y:x for the digit of a vector."""
    bits = {"b": 8, "h": 16, "w": 32}[which]
    return numbers_of(y << 32 | x, t, bits, bits * way)


def video(name, mods, parts):
    """Instructions for video: the modifiers, and the parts of d, a and b: "b0", "h10"; "" if there is none."""
    n = int(name[-1]) if name[-1] in "24" else 0
    base = name[:-1] if n else name
    types = [m for m in mods if m in ("u32", "s32")]
    d_type, a_type, b_type = types if len(types) == 3 else ["u32"] + types
    then = next((m for m in mods if m in ("add", "min", "max")), None)
    sat = "sat" in mods
    def operate(x, y):
        if base == "vset":
            return int(COMPARE[next(m for m in mods if m in COMPARE)](x, y))
        if base in ("vshl", "vshr"):
            y = min(y, 32) if "clamp" in mods else y & 31
            return signed(x << y & ones(34), 34) if base == "vshl" else x >> y
        return VIDEO[base](x, y)
    def cut(t, bits):
        low, high = (-(1 << (bits - 1)), ones(bits - 1)) if d_type == "s32" else (0, ones(bits))
        return min(max(t, low), high) if sat else t
    def scalar(x, y, z=0):
        parse = lambda p: (p[0], int(p[1])) if p else ("w", 0)
        t = operate(selected(a_type, *parse(parts[1]), x), selected(b_type, *parse(parts[2]), y))
        which, way = parse(parts[0])
        bits = {"b": 8, "h": 16, "w": 32}[which]
        t = cut(t, bits)
        if then:
            t, c = value_of(d_type, t), value_of(d_type, z)
            t = {"add": t + c, "min": min(t, c), "max": max(t, c)}[then]
        return (z & ~(ones(bits) << bits * way) | (t & ones(bits)) << bits * way) & ones(32)
    def vector(x, y, z):
        kind, bits = ("h", 16) if n == 2 else ("b", 8)
        digits = [(p or default)[1:] for p, default in zip(parts, ("x" + "3210"[-n:], "x" + "3210"[-n:], "x" + "76543210"[-2 * n:-n]))]
        total, merged = z, z
        for i in range(n):
            if str(i) not in digits[0]:
                continue
            t = operate(*[selected(s, kind, int(d[n - 1 - i]), x, y) for s, d in zip((a_type, b_type), digits[1:])])
            total += t
            t = cut(t, bits)
            merged = merged & ~(ones(bits) << bits * i) | (t & ones(bits)) << bits * i
        return (total if then else merged) & ones(32)
    return ("u32",), ("u32",) * 3, vector if n else scalar


def video_mad(mods, parts, negated):
    """vmad: with parts of a and b, and which of the sources are negated."""
    types = [m for m in mods if m in ("u32", "s32")]
    turn = negated[0] != negated[1]
    final = "s32" in types[1:] or turn or negated[2]
    scale = 7 if "shr7" in mods else 15 if "shr15" in mods else 0
    def f(x, y, z):
        parse = lambda p: (p[0], int(p[1])) if p else ("w", 0)
        product = selected(types[1], *parse(parts[1]), x) * selected(types[2], *parse(parts[2]), y)
        c = value_of("s32" if final else "u32", z)
        total = (-product if turn else product) + (-c if negated[2] else c) + ("po" in mods)
        total = total >> scale & ones(64)
        total = signed(total, 64) if final else total
        if "sat" in mods:
            return clamp("s32" if final else "u32", total)
        return total & ones(32)
    return ("u32",), ("u32",) * 3, f


def add(mods):
    if mods[-1] in ("u16x2", "s16x2"):
        return add_packed(mods)
    if not mods[-1].startswith(("f", "bf")):
        return integer_add(mods, 1)
    return real(mods, 2, lambda r, x, y: floats.add(x, y, r))


def subtract(mods):
    if not mods[-1].startswith(("f", "bf")):
        return integer_add(mods, -1)
    return real(mods, 2, lambda r, x, y: floats.add(x, floats.negate(y), r))


def times(mods):
    if not mods[-1].startswith(("f", "bf")):
        return multiply(mods)
    return real(mods, 2, lambda r, x, y: floats.multiply(x, y))


def fused(mods):
    return real(mods, 3, lambda r, x, y, z: floats.add(floats.multiply(x, y), z, r))


def divide(mods):
    t = mods[-1]
    if "approx" in mods or "full" in mods:
        return approximate(mods, 2, quotient)
    if is_float(t):
        return real(mods, 2, lambda r, x, y: floats.divide(x, y))
    return (t,), (t, t), wrap(t, divided)


def remainder(mods):
    t = mods[-1]
    return (t,), (t, t), wrap(t, lambda x, y: x - y * divided(x, y))


def minimum(mods, sign, n=2):
    t = mods[-1]
    if t.startswith(("f", "bf")):
        return extreme(mods, sign, n)
    if t.endswith("x2"):
        return minimum_packed(mods, sign)
    pick = max if sign > 0 else min
    return (t,), (t, t), wrap(t, lambda x, y: max(pick(x, y), 0) if "relu" in mods else pick(x, y))


def negative(mods):
    if mods[-1].startswith(("f", "bf")):
        return bits_of_float(mods, 1, lambda fmt, x: x ^ 1 << (fmt.width - 1))
    return (mods[-1],), (mods[-1],), wrap(mods[-1], lambda x: -x)


def magnitude(mods):
    if mods[-1].startswith(("f", "bf")):
        return bits_of_float(mods, 1, absolute)
    return (mods[-1],), (mods[-1],), wrap(mods[-1], abs)


def copy_sign(mods):
    def f(fmt, sign, x):
        return x & ones(fmt.width - 1) | sign & 1 << (fmt.width - 1)
    return bits_of_float(mods, 2, f)


def reciprocal_of(mods):
    if "approx" in mods:
        return approximate(mods, 1, reciprocal)
    return real(mods, 1, lambda r, x: floats.divide((0, 1, 0), x))


def square_root(mods):
    if "approx" in mods:
        return approximate(mods, 1, math.sqrt)
    return real(mods, 1, lambda r, x: floats.root(x))


def simple(d, f):
    return lambda mods: ((d or mods[-1],), (mods[-1],), (lambda x: f(x, WIDTHS[mods[-1]])))


def choose(mods):
    t = mods[-1]
    return (t,), (t, t, "pred"), lambda x, y, p: x if p else y


def accuracy(f):
    return lambda mods: approximate(mods, 1, f)


TABLE = {
    "add": add, "sub": subtract, "mul": times, "div": divide, "rem": remainder, "fma": fused,
    "mad": lambda mods: fused(mods) if mods[-1][0] == "f" else multiply_add(mods),
    "mul24": lambda mods: multiply(mods, 24), "mad24": lambda mods: multiply_add(mods, 24),
    "sad": lambda mods: ((mods[-1],), (mods[-1],) * 3, wrap(mods[-1], lambda x, y, z: abs(x - y) + z)),
    "abs": magnitude, "neg": negative,
    "min": lambda mods: minimum(mods, -1), "max": lambda mods: minimum(mods, 1),
    "min3": lambda mods: minimum(mods, -1, 3), "max3": lambda mods: minimum(mods, 1, 3),
    "popc": simple("u32", lambda x, n: bin(x).count("1")),
    "clz": simple("u32", lambda x, n: n - x.bit_length()),
    "brev": simple(None, lambda x, n: int(format(x, "0%db" % n)[::-1], 2)),
    "not": simple(None, lambda x, n: x ^ ones(n)),
    "cnot": simple(None, lambda x, n: int(x == 0)),
    "mov": simple(None, lambda x, n: x),
    "bfind": find, "bfe": extract, "bfi": insert, "prmt": permute, "lop3": look_up, "shf": funnel,
    "and": lambda mods: bitwise(mods, lambda x, y: x & y), "or": lambda mods: bitwise(mods, lambda x, y: x | y),
    "xor": lambda mods: bitwise(mods, lambda x, y: x ^ y),
    "shl": lambda mods: shift(mods, True), "shr": lambda mods: shift(mods, False),
    "dp4a": lambda mods: dot(mods, 4), "dp2a": lambda mods: dot(mods, 2),
    "bmsk": bit_mask, "fns": find_nth, "szext": extend,
    "rcp": reciprocal_of, "sqrt": square_root, "copysign": copy_sign, "testp": classify,
    "rsqrt": accuracy(lambda x: math.copysign(math.inf, x) if x == 0 else 0.0 if x == math.inf else 1 / math.sqrt(x)),
    "sin": accuracy(math.sin), "cos": accuracy(math.cos), "lg2": accuracy(logarithm),
    "ex2": accuracy(lambda x: math.pow(2.0, x)), "tanh": accuracy(math.tanh),
    "setp": set_predicate, "set": set_register, "selp": choose, "slct": select_by_sign, "cvt": convert,
}


def meaning(opcode, operands=None):
    """The opcode, and, for video, the operands as they are written: -%r1, %r1.b0."""
    base, *mods = opcode.split(".")
    if base in VIDEOS:
        operands = operands or ["d", "a", "b", "c"][:4 if takes_three(base, mods) else 3]
        parts = [(x.split(".") + [""])[1] for x in operands]
        return video_mad(mods, parts, [x[0] == "-" for x in operands[1:]]) if base == "vmad" else video(base, mods, parts)
    return TABLE[base](mods)
