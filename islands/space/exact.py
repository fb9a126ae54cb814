"""A bit-identical version of the exponential of kernels/core/exponential.cuh in NumPy or CuPy.

It uses only sums, products and bit operations, as the rounding of `numpy.exp` differs between
machines.
"""

from decimal import Context, Decimal
from typing import Any

_LN2, _REST_OF_LN2 = float.fromhex("0x1.62e42fefa3p-1"), float.fromhex("0x1.3de6af278ece6p-42")
_LOG2_OF_E, _WHOLE = float.fromhex("0x1.71547652b82fep+0"), float.fromhex("0x1.8p+52")
_FACTORIALS = (6227020800, 479001600, 39916800, 3628800, 362880, 40320, 5040, 720, 120, 24, 6, 2)
_DIGITS = Context(prec=60)


def exp(x: Any, module: Any) -> Any:
    """Return e^x of an array of numbers between -700 and 700."""
    k = (x * _LOG2_OF_E + _WHOLE) - _WHOLE
    first, second = x - k * _LN2, k * _REST_OF_LN2
    r = first - second
    rest = (first - r) - second
    series = module.full_like(x, 1.0 / _FACTORIALS[0])
    for factorial in _FACTORIALS[1:]:
        series = series * r + 1.0 / factorial
    high = 1.0 + r
    power = high + ((r - (high - 1.0)) + (series * r * r + (rest + rest * r)))
    whole = k.astype(module.int64)
    half = (whole + (whole < 0)) // 2  # rounded towards zero, as in C++
    return power * _power_of_two(half, module) * _power_of_two(whole - half, module)


def _power_of_two(power: Any, module: Any) -> Any:
    return (power + 1023 << 52).view(module.float64)


def log(x: float) -> float:
    """Return the correctly rounded logarithm of a positive number."""
    return float(_DIGITS.ln(Decimal(x)))
