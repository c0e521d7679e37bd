# SPDX-License-Identifier: MIT
"""Floating point on bit patterns with integers of any length: exact, then rounded once.

A value is NAN, or (sign, mantissa, exponent): (-1)^sign * mantissa * 2^exponent, the mantissa a whole
number; an infinity has the mantissa None.
"""

import math
from collections import namedtuple

class Format(namedtuple("Format", "name width exponent_bits precision nan most infinite")):
    """`most`: the bits of the largest number, which those of an infinity follow if there is one."""


def ieee(name, width, exponent_bits, precision, nan):
    return Format(name, width, exponent_bits, precision, nan, (((1 << exponent_bits) - 1) << (precision - 1)) - 1, True)


F16 = ieee("f16", 16, 5, 11, 0x7FFF)
BF16 = ieee("bf16", 16, 8, 8, 0x7FFF)
TF32 = ieee("tf32", 19, 8, 11, 0x3FFFF)
F32 = ieee("f32", 32, 8, 24, 0x7FFFFFFF)
F64 = ieee("f64", 64, 11, 53, 0x7FF8000000000000)
FORMATS = {f.name: f for f in (F16, BF16, F32, F64)}
# Of 8 bits and fewer. Those of 4 and 6 have neither infinities nor NaN; what would be NaN is their largest number.
SMALL = {f.name: f for f in (Format("e4m3", 8, 4, 4, 0x7F, 0x7E, False), ieee("e5m2", 8, 5, 3, 0x7F), Format("e2m3", 6, 2, 4, 0x1F, 0x1F, False),
                             Format("e3m2", 6, 3, 3, 0x1F, 0x1F, False), Format("e2m1", 4, 2, 2, 0x7, 0x7, False))}
NAN = "nan"


def decode(fmt, bits):
    sign = bits >> (fmt.width - 1)
    magnitude = bits & ((1 << (fmt.width - 1)) - 1)
    if magnitude > fmt.most:
        return (sign, None, 0) if fmt.infinite and magnitude == fmt.most + 1 else NAN
    field, fraction = magnitude >> (fmt.precision - 1), magnitude & ((1 << (fmt.precision - 1)) - 1)
    least = 3 - (1 << (fmt.exponent_bits - 1)) - fmt.precision
    if field == 0:
        return (sign, fraction, least)
    return (sign, fraction + (1 << (fmt.precision - 1)), least + field - 1)


def is_nan(fmt, bits):
    return decode(fmt, bits) == NAN


def is_subnormal(fmt, bits):
    magnitude = bits & ((1 << (fmt.width - 1)) - 1)
    return 0 < magnitude < 1 << (fmt.precision - 1)


def goes_away(kept, rest, half, sign, rounding):
    """Whether the magnitude is rounded up."""
    if rounding == "rn":
        return rest > half or (rest == half and kept & 1)
    if rounding == "rna":
        return rest >= half
    return rest > 0 and ((rounding == "rm" and sign) or (rounding == "rp" and not sign))


def encode(fmt, value, rounding="rn", finite=False):
    """The nearest number in the direction of rounding; `finite`: never an infinity."""
    if value == NAN:
        return fmt.nan
    sign, mantissa, exponent = value
    high = sign << (fmt.width - 1)
    beyond = high | fmt.most + (fmt.infinite and not finite)
    if mantissa is None:
        return beyond
    if mantissa == 0:
        return high
    least = 3 - (1 << (fmt.exponent_bits - 1)) - fmt.precision
    quantum = max(exponent + mantissa.bit_length() - fmt.precision, least)
    shift = quantum - exponent
    if shift <= 0:
        kept = mantissa << -shift
    else:
        kept = mantissa >> shift
        rest = mantissa & ((1 << shift) - 1)
        if goes_away(kept, rest, 1 << (shift - 1), sign, rounding):
            kept += 1
    bits = ((quantum - least) << (fmt.precision - 1)) + kept
    if bits <= fmt.most:
        return high | bits
    stays = rounding == "rz" or (rounding == "rm" and not sign) or (rounding == "rp" and sign)
    return high | fmt.most if stays else beyond


def add(x, y, rounding="rn"):
    if x == NAN or y == NAN:
        return NAN
    if x[1] is None or y[1] is None:
        if x[1] is None and y[1] is None and x[0] != y[0]:
            return NAN
        return x if x[1] is None else y
    exponent = min(x[2], y[2])
    total = sum((-v[1] if v[0] else v[1]) << (v[2] - exponent) for v in (x, y))
    if total == 0:
        both = x[0] == y[0] and x[1] == 0 and y[1] == 0
        return (x[0] if both else int(rounding == "rm"), 0, 0)
    return (int(total < 0), abs(total), exponent)


def negate(x):
    return NAN if x == NAN else (1 - x[0], x[1], x[2])


def multiply(x, y):
    if x == NAN or y == NAN:
        return NAN
    sign = x[0] ^ y[0]
    if x[1] is None or y[1] is None:
        return NAN if 0 in (x[1], y[1]) else (sign, None, 0)
    return (sign, x[1] * y[1], x[2] + y[2])


def divide(x, y):
    """With 64 bits more than any format has; the lowest bit is set if the quotient is truncated."""
    if x == NAN or y == NAN:
        return NAN
    sign = x[0] ^ y[0]
    if x[1] is None:
        return NAN if y[1] is None else (sign, None, 0)
    if y[1] is None:
        return (sign, 0, 0)
    if y[1] == 0:
        return NAN if x[1] == 0 else (sign, None, 0)
    quotient, rest = divmod(x[1] << 192, y[1])
    return (sign, quotient << 1 | (rest != 0), x[2] - y[2] - 193)


def root(x):
    if x == NAN or x[1] == 0:
        return x
    if x[0]:
        return NAN
    if x[1] is None:
        return x
    mantissa, exponent = x[1] << 192, x[2] - 192
    if exponent & 1:
        mantissa, exponent = mantissa << 1, exponent - 1
    whole = math.isqrt(mantissa)
    return (0, whole << 1 | (whole * whole != mantissa), exponent // 2 - 1)


def order(x, y):
    """Negative, 0 or positive; None if one is NaN."""
    if x == NAN or y == NAN:
        return None
    def key(v):
        return (-1 if v[0] else 1) * (1 << 5000 if v[1] is None else v[1] << (v[2] + 2400))
    return (key(x) > key(y)) - (key(x) < key(y))


def integral(x, rounding):
    """The whole number, as an int; x is finite."""
    sign, mantissa, exponent = x
    if exponent >= 0:
        whole = mantissa << exponent
    else:
        whole, rest = mantissa >> -exponent, mantissa & ((1 << -exponent) - 1)
        if goes_away(whole, rest, 1 << (-exponent - 1), sign, rounding):
            whole += 1
    return -whole if sign else whole


def from_integer(x):
    return (int(x < 0), abs(x), 0)


def to_python(fmt, bits):
    """The nearest Python float; f64 holds every value of the smaller formats."""
    value = decode(fmt, bits)
    if value == NAN:
        return math.nan
    sign, mantissa, exponent = value
    magnitude = math.inf if mantissa is None else math.ldexp(mantissa, exponent)
    return -magnitude if sign else magnitude
