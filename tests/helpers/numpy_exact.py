"""Bit-identical versions of the functions of kernels/core/exact.cuh in plain Python."""

import math
import struct
from itertools import accumulate

Twofold = tuple[float, float]

WHOLE = 1.5 * 2.0**52
LN2, REST_OF_LN2 = 0.693147180559663, 2.8235290563031577e-13
HALF_PI = [
    float.fromhex(part)
    for part in ("0x1.921fb544p+0", "0x1.0b4611a6p-34", "0x1.3198a2ep-69", "0x1.b839a252049c1p-104")
]
FACTORIALS = [float(each) for each in accumulate(range(1, 18), lambda a, b: a * b, initial=1)]


def total(one: float, other: float) -> Twofold:
    high = one + other
    part = high - one
    return high, (one - (high - part)) + (other - part)


def ordered(one: float, other: float) -> Twofold:
    high = one + other
    return high, other - (high - one)


def halves(number: float) -> Twofold:
    scaled = 134217729.0 * number
    high = scaled - (scaled - number)
    return high, number - high


def product(one: float, other: float) -> Twofold:
    high = one * other
    (a, b), (c, d) = halves(one), halves(other)
    return high, ((a * c - high) + a * d + b * c) + b * d


def products(one: Twofold, other: Twofold) -> Twofold:
    high, low = product(one[0], other[0])
    return ordered(high, low + (one[0] * other[1] + one[1] * other[0]))


def polynomial(x: float, *coefficients: float) -> float:
    """Return the value at x; the highest power comes first."""
    value = coefficients[0]
    for coefficient in coefficients[1:]:
        value = value * x + coefficient
    return value


def exponential(x: Twofold) -> float:
    if not x[0] <= 1000:
        return math.inf if x[0] > 1000 else math.nan
    if x[0] < -1000:
        return 0.0
    k = (x[0] * float.fromhex("0x1.71547652b82fep+0") + WHOLE) - WHOLE
    first, second = x[0] - k * LN2, k * REST_OF_LN2 - x[1]
    r = first - second
    rest = (first - r) - second
    series = polynomial(r, *(1 / each for each in FACTORIALS[13:1:-1]))
    high, low = ordered(1.0, r)
    power = high + (low + (series * r * r + (rest + rest * r)))
    half = int(k / 2)
    return power * 2.0**half * 2.0 ** (int(k) - half)


def logarithm(x: float) -> Twofold:
    is_subnormal = x < 2.0**-1022
    (bits,) = struct.unpack("<q", struct.pack("<d", x * 2.0**54 if is_subnormal else x))
    exponent = (bits - 0x3FE6A09E667F3BCD) >> 52
    (m,) = struct.unpack("<d", struct.pack("<q", bits - (exponent << 52)))
    k = exponent - 54.0 * is_subnormal
    below, rest = total(m, 1.0)
    s = (m - 1.0) / below
    high, low = product(s, below)
    quotient = s, (((m - 1.0 - high) - low) - s * rest) / below
    square = products(quotient, quotient)
    series = polynomial(square[0], *(1 / odd for odd in range(25, 4, -2)))
    third = 1 / 3
    high, low = ordered(third, series * square[0])
    cubic = products(square, (high, low + third / 2**54))
    high, low = ordered(1.0, cubic[0])
    own = products((2 * quotient[0], 2 * quotient[1]), (high, low + cubic[1]))
    high, low = ordered(k * LN2, own[0])
    return ordered(high, low + (own[1] + k * REST_OF_LN2))


def exp(x: float) -> float:
    return exponential((x, 0.0))


def log(x: float) -> float:
    """Return the logarithm of a positive and finite number."""
    return logarithm(x)[0]


def pow(x: float, y: float) -> float:
    """Return a power of a positive and finite number."""
    if y == 0 or x == 1:
        return 1.0
    return exponential(products((max(-(2.0**64), min(y, 2.0**64)), 0.0), logarithm(x)))


def turned(x: float, more: int) -> float:
    count = (x * float.fromhex("0x1.45f306dc9c883p-1") + WHOLE) - WHOLE
    high, low = total(x - count * HALF_PI[0], -(count * HALF_PI[1]))
    high, lower = total(high, -(count * HALF_PI[2]))
    r, rest = ordered(high, lower + (low - count * HALF_PI[3]))
    quarters, z = (int(count) + more) % 4, r * r
    if quarters % 2:
        signed = [(-1) ** (k // 2) / FACTORIALS[k] for k in range(16, 2, -2)]
        high, low = ordered(1.0, -0.5 * z)
        size = high + (low + (polynomial(z, *signed) * z * z - r * rest))
    else:
        signed = [(-1) ** (k // 2) / FACTORIALS[k] for k in range(17, 1, -2)]
        size = r + (polynomial(z, *signed) * z * r + rest * (1.0 - 0.5 * z))
    return -size if quarters >= 2 else size


def sin(x: float) -> float:
    return x if x == 0 else turned(x, 0)


def cos(x: float) -> float:
    return turned(x, 1)
