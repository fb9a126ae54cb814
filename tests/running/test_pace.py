"""Which steps are feared to take longer than the host is to be deaf."""

from __future__ import annotations

from typing import Any

from fakes import FakeProblem

from islands.run.pace import Pace
from islands.spec.resolve import layers, resolve


def pace(**options: Any) -> Pace:
    return Pace(resolve(layers({"algorithm": "brkga", **options}), FakeProblem()))


def test_generations_are_feared_until_one_was_quick_and_after_one_was_slow() -> None:
    plain = pace(improver="none")
    assert plain.may_be_slow(0, 1)
    plain.met(None, 0, 0.01)
    assert not plain.may_be_slow(0, 50)
    plain.waited(1, 2.01)
    assert plain.may_be_slow(1, 1)


def test_how_long_generation_0_took_says_nothing_of_searches() -> None:
    searching = pace(improver="swap")
    searching.met(None, 0, 0.001)
    assert searching.may_be_slow(0, 1)
    searching.waited(1, 0.002)
    assert not searching.may_be_slow(1, 1)
    # A search may take many times as long as the last one.
    searching.waited(2, 0.102)
    assert searching.may_be_slow(2, 1)


def test_generations_without_searches_say_nothing_of_those_with() -> None:
    seldom = pace(improver="swap", **{"improver.every": 100})
    seldom.met(None, 0, 0.001)
    seldom.waited(50, 0.002)
    assert not seldom.may_be_slow(40, 50)
    assert seldom.may_be_slow(50, 50)
    seldom.waited(100, 0.012)
    assert not seldom.may_be_slow(150, 50)
    assert seldom.may_be_slow(150, 1000)
