"""The plan of a tuning: the values of settings, configurations, and the runs of a task."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from islands.cells.configurations import Values, grid, random
from islands.cells.domains import Choices, Range, domain
from islands.errors import UsageError
from islands.settings import Settings, setting


@dataclass(frozen=True)
class Sample(Settings):
    share: float = setting(0.5, "a share", low=0, high=1)
    rest: float = setting(0.5, "another share", low=0, high=1)
    size: int = setting(10, "a size", low=1, high=1000)
    word: str = setting("ring", "a word", choices=("ring", "elite"))
    name: str = setting("none", "a name", choices=("none", "tabu"))
    flag: bool = setting(False, "a flag")

    def check(self) -> None:
        if self.share + self.rest > 1:
            raise UsageError("too much")


GROUPS = dict.fromkeys([*Sample.names(), "improver.name"], Sample)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("share=0.25..0.75", Range("share", 0.25, 0.75)),
        (" share = .1 .. 1:log", Range("share", 0.1, 1.0, is_log=True)),
        ("share=0,1,0", Choices("share", (0.0, 1.0))),
        ("size=1..1e3:log", Range("size", 1, 1000, is_log=True)),
        ("size=16,32", Choices("size", (16, 32))),
        ("word=elite, ring", Choices("word", ("elite", "ring"))),
        ("flag=yes,no", Choices("flag", (True, False))),
        ("improver=tabu", Choices("improver.name", ("tabu",))),
    ],
)
def test_a_domain_has_the_type_of_its_setting(text: str, expected: Any) -> None:
    found = domain(text, GROUPS)
    assert found == expected
    if isinstance(found, Range):
        assert type(found.low) is type(found.high) is type(expected.low)


SHARES = (np.arange(9000) + 0.5) / 9000


def test_reals_and_their_logarithms_are_uniform_and_inside_their_range() -> None:
    values = np.array([Range("x", 2.0, 5.0).drawn(share) for share in SHARES])
    assert values == pytest.approx(2 + 3 * SHARES, rel=1e-5)
    third = 1 / 3  # its nearest number of six digits is outside the range
    values = np.array([Range("x", third, 0.5).drawn(share) for share in (0.0, 1e-9)])
    assert values.min() == third
    values = np.log10([Range("x", 0.01, 100.0, is_log=True).drawn(share) for share in SHARES])
    assert values == pytest.approx(4 * SHARES - 2, abs=1e-5)


def test_with_logarithms_every_doubling_of_an_integer_is_equally_likely() -> None:
    drawn = Counter(Range("n", 1, 1023, is_log=True).drawn(share) for share in SHARES)
    octaves = [sum(drawn[n] for n in range(2**k, 2 ** (k + 1))) for k in range(10)]
    # The range begins half an octave below the first number.
    assert octaves[3:] == pytest.approx([octaves[9]] * 7, rel=0.12)
    assert min(drawn) == 1
    assert max(drawn) >= 1020


DOMAINS = (Range("c1", 0.5, 2.0), Range("c2", 0.5, 2.0), Range("size", 1, 100))


def settings(values: Values) -> tuple[object, ...]:
    return tuple(sorted(values.items()))


def test_a_configuration_depends_only_on_seed_and_number() -> None:
    few, many = random(DOMAINS, 4, 7, settings), random(DOMAINS, 9, 7, settings)
    assert few.configurations == many.configurations[:5]
    assert [each.number for each in many.configurations] == list(range(10))
    assert many.configurations[0].values == {}
    assert random(DOMAINS, 4, 8, settings).configurations[1:] != few.configurations[1:]


def test_draws_use_the_attempt_as_counter() -> None:
    third = random(DOMAINS[:2], 3, 7, settings).configurations[3]
    generator = np.random.Philox(counter=[0, 2, 0, 0], key=7)  # type: ignore[arg-type]
    shares = [word / 2**64 for word in generator.random_raw(2)]
    assert list(third.values.values()) == pytest.approx([0.5 + 1.5 * u for u in shares], rel=1e-5)


def test_invalid_configurations_are_drawn_again() -> None:
    def resolve(values: Values) -> tuple[object, ...]:
        if sum(values.values()) > 2:
            raise UsageError(f"too much: {values['a']}")
        return settings(values)

    domains = (Range("a", 0.0, 2.0), Range("b", 0.0, 2.0))
    candidates = random(domains, 20, 1, resolve)
    assert len(candidates.configurations) == 21
    assert all(sum(each.values.values()) <= 2 for each in candidates.configurations)
    assert 5 < candidates.rejected < 60
    assert candidates.rejection.startswith("too much: ")


def test_a_grid_has_all_combinations_and_the_base_once() -> None:
    usual = {"a": 1, "b": 0.5}
    domains = (Choices("a", (1, 2)), Range("b", 0.0, 1.0))
    candidates = grid(domains, 3, lambda values: settings(usual | values))
    assert [each.values for each in candidates.configurations] == [
        *({}, {"a": 1, "b": 0.0}, {"a": 1, "b": 1.0}),
        *({"a": 2, "b": 0.0}, {"a": 2, "b": 0.5}, {"a": 2, "b": 1.0}),
    ]
    assert [each.number for each in candidates.configurations] == list(range(6))
