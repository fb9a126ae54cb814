"""Elementary functions compared with decimal arithmetic and, bit for bit, with plain Python."""

import math
import os
from collections.abc import Callable
from decimal import Context, Decimal, localcontext
from pathlib import Path

import numpy as np
import numpy_exact
import pytest
from numpy.typing import NDArray
from programs_for_tests import for_gpu, require_compiles

from islands.backends.base import Backend, Block
from islands.backends.source import Source
from islands.paths import data_folder

FILE = os.path.relpath(Path(__file__).with_name("exact.cuh"), data_folder("kernels"))
NAMES = ["exp", "log", "sin", "cos"]
Floats = NDArray[np.float64]
DIGITS = Context(prec=60, Emax=10**6, Emin=-(10**6))
PI = Decimal(
    "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862"
)
INF, NAN, TINY = math.inf, math.nan, 5e-324


def found(backend: Backend, name: str, x: Floats, y: Floats | None = None) -> Floats:
    """Return the values of a function on a device."""
    program = backend.compile(Source(FILE), Block(32))
    n, given = np.int32(len(x)), backend.upload(np.asarray(x, np.float64))
    if y is not None:
        out = backend.upload(np.zeros(len(x)))
        other = backend.upload(np.asarray(y, np.float64))
        backend.run([backend.call(program, "check_pow", n, given, other, out, blocks=1)])
        return backend.download(out)
    out = backend.upload(np.zeros((4, len(x))))
    backend.run([backend.call(program, "check_functions", n, given, out, blocks=1)])
    return backend.download(out)[NAMES.index(name)]


def sine(x: Decimal) -> Decimal:
    """Return the sine by its series, after a reduction by whole turns."""
    x = x.remainder_near(2 * PI)
    term = total = x
    for k in range(1, 60):
        term *= -x * x / (2 * k * (2 * k + 1))
        total += term
    return total


EXACT: dict[str, Callable[..., Decimal]] = {
    "exp": Decimal.exp,
    "log": Decimal.ln,
    "sin": sine,
    "cos": lambda x: sine(x + PI / 2),
    "pow": lambda x, y: (y * x.ln()).exp(),
}


def worst(name: str, values: Floats, *arguments: Floats) -> float:
    """Return the largest error, in units in the last place."""
    with localcontext(DIGITS):
        errors = [
            abs((Decimal(float(value)) - (exact := EXACT[name](*map(Decimal, map(float, each)))))
                / Decimal(math.ulp(float(exact))))
            for value, *each in zip(values, *arguments, strict=True)
        ]  # fmt: skip
        return float(max(errors))


def uniform(low: float, high: float, count: int = 1500) -> Floats:
    return np.random.default_rng(count).uniform(low, high, count)


def bits(count: int = 3000) -> Floats:
    """Return positive numbers of any size, subnormal ones included."""
    random = np.random.default_rng(3)
    raw = random.integers(1, 0x7FF0000000000000, count)
    return np.concatenate([raw, random.integers(1, 2**52, count // 4)]).view(np.float64)


QUARTERS = np.arange(1, 60_000, 97) * (math.pi / 2)
ANGLES = np.concatenate([uniform(-1e5, 1e5), uniform(-8, 8), QUARTERS, 10 ** uniform(-300, 0)])
POINTS: dict[str, tuple[Floats, float]] = {
    "exp": (np.concatenate([uniform(-745, 709.7, 3000), uniform(-1, 1), 10 ** uniform(-20, 0)]), 1),
    "log": (np.concatenate([bits(), uniform(0.5, 2), 1 + 10 ** uniform(-15, -1)]), 1),
    "sin": (ANGLES, 1),
    "cos": (ANGLES, 1),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_functions_are_accurate_and_equal_the_reference(backend: Backend, name: str) -> None:
    x, most = POINTS[name]
    values = found(backend, name, x)
    assert worst(name, values, x) < most
    reference = getattr(numpy_exact, name)
    assert values.tolist() == [reference(each) for each in x.tolist()]


@pytest.mark.parametrize(
    ("x", "y", "most"),
    [
        (uniform(0, 10, 3000), uniform(-5, 5, 3000)[::-1], 1),
        (10 ** uniform(-3, 3, 3000), uniform(-20, 20, 3000)[::-1], 1),
        (uniform(0.5, 2, 3000), uniform(-600, 600, 3000)[::-1], 2),
        (1 + uniform(0, 1e-9, 500), uniform(-1e11, 1e11, 500)[::-1], 2),
    ],
)
def test_powers_are_accurate_and_equal_the_reference(
    backend: Backend, x: Floats, y: Floats, most: float
) -> None:
    values = found(backend, "pow", x, y)
    assert worst("pow", values, x, y) < most
    pairs = zip(x.tolist(), y.tolist(), strict=True)
    assert values.tolist() == [numpy_exact.pow(*pair) for pair in pairs]


def test_special_values_give_those_of_the_c_standard(backend: Backend) -> None:
    largest, over = 709.782712893384, 709.782712893385
    x = np.array([0.0, -0.0, INF, -INF, NAN, largest, over, -745.14, -1.0, 1.0, TINY, 1.1e6])
    exp, log, sin, cos = (found(backend, name, x) for name in NAMES)
    e = math.exp(-1.0)
    assert_same(exp[:9], [1, 1, INF, 0, NAN, math.exp(largest), INF, 0, e])
    assert_same(log[:5], [-INF, -INF, INF, NAN, NAN])
    assert_same(log[8:11], [NAN, 0, math.log(TINY)])
    assert_same(sin[:5], [0.0, -0.0, NAN, NAN, NAN])
    assert_same(cos[:5], [1, 1, NAN, NAN, NAN])
    assert_same([sin[11], cos[11]], [NAN, NAN])  # above LARGEST_ANGLE


def test_special_powers_equal_those_of_c(backend: Backend) -> None:
    values = [0.0, -0.0, 1, -1, 2, -2, 0.5, -0.5, 3, -3, INF, -INF, NAN, 1e300, -1e300, TINY]
    values += [4.0, -0.25, 2.0**53, 2.0**53 + 2, -(2.0**52) - 1, 1e18]
    x, y = np.array([(a, b) for a in values for b in values]).T
    with np.errstate(all="ignore"):
        expected = np.power(x, y)
    assert_same(found(backend, "pow", x, y), expected, within=1)


def assert_same(found: object, expected: object, within: int = 0) -> None:
    """Require equal numbers, signs of zeros included, except for `within` units."""
    one, other = np.asarray(found, np.float64), np.asarray(expected, np.float64)
    assert (np.isnan(one) == np.isnan(other)).all()
    one, other = (each.view(np.int64)[~np.isnan(each)] for each in (one, other))
    assert np.abs(one - other).max(initial=0) <= within


@pytest.mark.gpu
def test_the_functions_compile_for_gpus() -> None:
    require_compiles(for_gpu(FILE, {}, Block(32, 32)))
