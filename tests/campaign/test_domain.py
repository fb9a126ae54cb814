"""The values that `--over` accepts and yields."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from islands.campaign.configurations import Choices, Integers, Owner, Reals, domain
from islands.errors import UsageError
from islands.settings import Settings, setting


@dataclass(frozen=True)
class Sample(Settings):
    share: float = setting(0.5, "a share", low=0, high=1)
    rest: float = setting(0.5, "another share", low=0, high=1)
    size: int = setting(10, "a size", low=1, high=1000)
    word: str = setting("ring", "a word", choices=("ring", "elite"))
    flag: bool = setting(False, "a flag")

    def check(self) -> None:
        if self.share + self.rest > 1:
            raise UsageError("too much")


OWNERS = {name: Owner(Sample, "", name) for name in Sample.names()}
OWNERS["improver.name"] = Owner(Sample, "improver", "word")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("share=0.25..0.75", Reals("share", 0.25, 0.75)),
        (" share = .1 .. 1:log", Reals("share", 0.1, 1.0, is_log=True)),
        ("share=0,1,0", Choices("share", (0.0, 1.0))),
        ("share=1", Choices("share", (1.0,))),
        ("size=1..1e3:log", Integers("size", 1, 1000, is_log=True)),
        ("size=16,32", Choices("size", (16, 32))),
        ("word=elite, ring", Choices("word", ("elite", "ring"))),
        ("flag=yes,no", Choices("flag", (True, False))),
        ("improver=ring", Choices("improver.name", ("ring",))),
        ("algorithm=de,brkga", Choices("algorithm", ("de", "brkga"))),
    ],
)
def test_a_domain_has_the_type_of_its_setting(text: str, expected: Any) -> None:
    assert domain(text, OWNERS) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("share", "--over share: write KEY=A..B, KEY=A..B:log or KEY=a,b,c"),
        ("share=", "--over share=: write KEY=A..B"),
        ("shore=0..1", "--over shore=0..1: unknown setting to tune 'shore'. Did you mean 'share'?"),
        ("seed=1..9", "--over seed=1..9: unknown setting to tune 'seed'."),
        ("share=0.5..2", "--over share=0.5..2: share=2: must be from 0 to 1"),
        ("share=0.5..", "--over share=0.5..: share=: must be a number"),
        ("share=0,2", "--over share=0,2: share=2: must be from 0 to 1"),
        ("size=0..9", "--over size=0..9: size=0: must be from 1 to 1000"),
        ("size=1..2.5", "--over size=1..2.5: size=2.5: must be a whole number"),
        ("size=9..9", "--over size=9..9: the range is empty. Write the lower end first: size=A..B"),
        ("size=9..1", "--over size=9..1: the range is empty."),
        ("share=0..1:log", "--over share=0..1:log: 0.0 has no logarithm. Begin above 0"),
        ("word=a..b", "--over word=a..b: word is not a number. List its values: word=a,b,c"),
        ("word=rign", "--over word=rign: word=rign: unknown choice 'rign'. Did you mean 'ring'?"),
        ("word=ring,", "--over word=ring,: a value is missing. Write KEY=a,b,c"),
    ],
)
def test_an_invalid_domain_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        domain(text, OWNERS)
    assert str(caught.value).startswith(message)


SHARES = (np.arange(9000) + 0.5) / 9000


def test_reals_are_uniform_and_inside_their_range() -> None:
    values = np.array([Reals("x", 2.0, 5.0).drawn(share) for share in SHARES])
    assert values == pytest.approx(2 + 3 * SHARES, rel=1e-5)
    third = 1 / 3  # its nearest number of six digits is outside the range
    values = np.array([Reals("x", third, 0.5).drawn(share) for share in (0.0, 1e-9)])
    assert values.min() == third


def test_logarithms_are_uniform() -> None:
    values = np.log10([Reals("x", 0.01, 100.0, is_log=True).drawn(share) for share in SHARES])
    assert values == pytest.approx(4 * SHARES - 2, abs=1e-5)


def test_whole_numbers_and_choices_are_equally_likely() -> None:
    for each, values in ((Integers("n", 3, 5), (3, 4, 5)), (Choices("n", ("a", "b", "c")), "abc")):
        assert Counter(each.drawn(share) for share in SHARES) == dict.fromkeys(values, 3000)


def test_with_logarithms_every_doubling_of_an_integer_is_equally_likely() -> None:
    drawn = Counter(Integers("n", 1, 1023, is_log=True).drawn(share) for share in SHARES)
    octaves = [sum(drawn[n] for n in range(2**k, 2 ** (k + 1))) for k in range(10)]
    # The range begins half an octave below the first number.
    assert octaves[3:] == pytest.approx([octaves[9]] * 7, rel=0.12)
    assert min(drawn) == 1
    assert max(drawn) >= 1020


@pytest.mark.parametrize(
    ("each", "steps", "expected"),
    [
        (Reals("x", 0.0, 1.0), 5, [0.0, 0.25, 0.5, 0.75, 1.0]),
        (Reals("x", 0.01, 1.0, is_log=True), 3, [0.01, 0.1, 1.0]),
        (Reals("x", 0.5, 1.0), 1, [0.5]),
        (Integers("n", 1, 10), 4, [1, 4, 7, 10]),
        (Integers("n", 1, 3), 9, [1, 2, 3]),
        (Integers("n", 1, 100, is_log=True), 3, [1, 10, 100]),
        (Choices("w", ("a", "b")), 9, ["a", "b"]),
    ],
)
def test_the_points_of_a_grid_go_from_end_to_end(each: Any, steps: int, expected: Any) -> None:
    assert each.points(steps) == expected
