"""Random configurations use counter-based draws; a grid has all combinations."""

from __future__ import annotations

import numpy as np
import pytest

from islands.campaign.configurations import Choices, Integers, Reals, Values, grid, random, words_of
from islands.errors import InputError, UsageError

DOMAINS = (Reals("c1", 0.5, 2.0), Reals("c2", 0.5, 2.0), Integers("size", 1, 100))


def text(values: Values) -> str:
    return repr(sorted(values.items()))


def test_a_configuration_depends_only_on_seed_and_number() -> None:
    few, many = random(DOMAINS, 4, 7, text), random(DOMAINS, 9, 7, text)
    assert few.configurations == many.configurations[:5]
    assert [each.number for each in many.configurations] == list(range(10))
    assert many.configurations[0].values == {}
    assert random(DOMAINS, 4, 8, text).configurations[1:] != few.configurations[1:]


def test_draws_use_the_attempt_as_counter() -> None:
    third = random(DOMAINS[:2], 3, 7, text).configurations[3]
    generator = np.random.Philox(counter=[0, 2, 0, 0], key=7)  # type: ignore[arg-type]
    shares = [word / 2**64 for word in generator.random_raw(2)]
    assert list(third.values.values()) == pytest.approx([0.5 + 1.5 * u for u in shares], rel=1e-5)


def test_draws_fill_their_ranges() -> None:
    found = random(DOMAINS, 400, 1, text).configurations[1:]
    for each in DOMAINS:
        values = np.array([one.values[each.key] for one in found])
        assert each.low <= values.min()
        assert values.max() <= each.high
        shares = (values - each.low) / (each.high - each.low)
        # Five standard errors of the mean and of the second moment of uniform numbers.
        assert shares.mean() == pytest.approx(1 / 2, abs=5 * (1 / 12 / 400) ** 0.5)
        assert (shares**2).mean() == pytest.approx(1 / 3, abs=5 * (4 / 45 / 400) ** 0.5)


def test_invalid_configurations_are_drawn_again() -> None:
    def identify(values: Values) -> str:
        if sum(values.values()) > 2:
            raise UsageError(f"too much: {values['a']}")
        return text(values)

    domains = (Reals("a", 0.0, 2.0), Reals("b", 0.0, 2.0))
    candidates = random(domains, 20, 1, identify)
    assert len(candidates.configurations) == 21
    assert all(sum(each.values.values()) <= 2 for each in candidates.configurations)
    assert 5 < candidates.refused < 60
    assert candidates.refusal.startswith("too much: ")


def test_an_invalid_configuration_counts_once() -> None:
    def identify(values: Values) -> str:
        if values.get("a") in (2, 5):
            raise InputError(f"a={values['a']}")
        return text(values)

    candidates = random((Integers("a", 1, 5),), 9, 1, identify)
    assert len(candidates.configurations) == 1 + 3
    assert candidates.refused == 2
    assert candidates.refusal in ("a=2", "a=5")


def test_few_combinations_are_all_taken_once() -> None:
    domains = (Choices("a", (1, 2)), Choices("b", (1, 2, 3)))
    candidates = random(domains, 50, 1, text)
    assert len({text(each.values) for each in candidates.configurations}) == 1 + 6


def test_a_repeated_draw_is_not_checked_again() -> None:
    """A check takes about as long as the start of a run."""
    seen: list[Values] = []

    def identify(values: Values) -> str:
        seen.append(values)
        if values.get("a") == 3:
            raise UsageError("a=3")
        return text(values)

    candidates = random((Choices("a", (1, 2, 3)),), 10, 1, identify)
    assert len(candidates.configurations) == 1 + 2
    assert len(seen) == 1 + 3


def test_a_grid_has_all_combinations_and_the_base_once() -> None:
    usual = {"a": 1, "b": 0.5}
    domains = (Choices("a", (1, 2)), Reals("b", 0.0, 1.0))
    candidates = grid(domains, 3, lambda values: text(usual | values))
    assert [each.values for each in candidates.configurations] == [
        *({}, {"a": 1, "b": 0.0}, {"a": 1, "b": 1.0}),
        *({"a": 2, "b": 0.0}, {"a": 2, "b": 0.5}, {"a": 2, "b": 1.0}),
    ]
    assert [each.number for each in candidates.configurations] == list(range(6))


def test_too_many_and_no_valid_configurations_are_refused() -> None:
    with pytest.raises(UsageError, match=r"--grid 11: 1331 points: must be at most 1000\. Take"):
        grid(DOMAINS, 11, text)
    with pytest.raises(UsageError, match=r"--configurations 1001: must be at most 1000\. Ask"):
        random(DOMAINS, 1001, 1, text)

    def identify(values: Values) -> str:
        if values:
            raise UsageError("a=2 cannot be")
        return ""

    with pytest.raises(
        UsageError, match=r"no configuration except the base is valid\. a=2 cannot be"
    ):
        grid((Choices("a", (2,)),), 3, identify)


def test_text_of_a_configuration() -> None:
    assert words_of({}) == "as given"
    assert words_of({"a": 0.5, "improver.name": "none"}) == "a=0.5 improver.name=none"
