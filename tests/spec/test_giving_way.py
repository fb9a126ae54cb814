"""What a preset, a file or a problem sets gives way where it means nothing beside a choice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from problems_for_tests import knapsack

from islands.errors import UsageError
from islands.problems.mkp_settings import WAYS, MkpSettings
from islands.spec.resolve import layers, resolve


def resolved(options: dict[str, Any], config: Path | None = None) -> dict[str, Any]:
    return resolve(layers(options, config), knapsack(10, 2)).to_mapping()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "preset", ["munhao2019-m1", "munhao2019-m2", "dantas2014-mpi", "dantas2014-cuda"]
)
def test_each_preset_takes_each_way(preset: str, way: str) -> None:
    found = resolved({"preset": preset, "infeasible": way})
    begins_fit = preset.startswith("munhao") and way in ("linear", "dynamic")
    assert (found["infeasible"], found["fit_first"]) == (way, begins_fit)


def test_what_hangs_on_what_gives_way_does_so_too() -> None:
    """A constriction takes the schedule with it, and that takes what the inertia falls to."""
    found = resolved(
        {"preset": "munhao2019-m1", "constriction": "yes", "c1": 2.05, "c2": 2.05, "velocity": 4}
    )
    names = ("inertia", "schedule", "inertia_end", "horizon", "velocity", "fit_first")
    assert [found[name] for name in names] == [0.0, "constant", 0.4, 1000, 4.0, True]


def test_a_file_gives_way_to_options_but_not_to_itself(tmp_path: Path) -> None:
    config = tmp_path / "mine.toml"
    config.write_text('algorithm = "ga"\ntournament = 5\nelite = 2\nreplacement = "generational"\n')
    assert resolved({}, config)["tournament"] == 5
    found = resolved({"selection": "random", "elite": 3}, config)
    assert (found["tournament"], found["elite"]) == (2, 3)
    with pytest.raises(UsageError, match=r"elite=3: is of replacement=generational, but"):
        resolved({"replacement": "steady", "elite": 3}, config)
    config.write_text('algorithm = "ga"\ntournament = 5\nselection = "random"\n')
    with pytest.raises(UsageError, match="tournament=5: is of selection=tournament, but selection"):
        resolved({}, config)


def test_only_the_choice_that_is_made_in_the_end_counts(tmp_path: Path) -> None:
    config = tmp_path / "best.toml"
    config.write_text('preset = "munhao2019-m2"\ninfeasible = "repair"\norders = 4\n')
    names = ("infeasible", "fit_first", "orders")
    assert [resolved({}, config)[name] for name in names] == ["repair", False, 4]
    found = resolved({"infeasible": "dynamic"}, config)
    assert [found[name] for name in names] == ["dynamic", True, 16]


def test_settings_of_keys_give_way_to_bits(tmp_path: Path) -> None:
    config = tmp_path / "keys.toml"
    config.write_text('algorithm = "pso"\nencoding = "keys"\nlow = -4.0\nhigh = 4.0\n')
    assert [resolved({}, config)[name] for name in ("low", "high")] == [-4.0, 4.0]
    found = resolved({"encoding": "bits"}, config)
    assert [found[name] for name in ("encoding", "low", "high")] == ["bits", 0.0, 1.0]


def test_a_problem_gives_way_to_what_is_asked_for() -> None:
    problem = knapsack(10, 2).adjusted(MkpSettings(infeasible="linear", penalty=7.0))
    for options, wanted in (
        ({}, MkpSettings(infeasible="linear", penalty=7.0)),
        ({"fit_first": True}, MkpSettings(infeasible="linear", penalty=7.0, fit_first=True)),
        ({"infeasible": "dynamic"}, MkpSettings(infeasible="dynamic")),
    ):
        assert resolve(layers(options), problem).problem == wanted
