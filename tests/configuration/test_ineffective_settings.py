"""Settings of a preset, a file or a problem are dropped if a choice makes them ineffective."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from problems_for_tests import knapsack

from islands.configuration.resolve import layers, resolve
from islands.errors import UsageError
from islands.problems.mkp import WAYS, MkpSettings


def resolved(options: dict[str, Any], config: Path | None = None) -> dict[str, Any]:
    return resolve(layers(options, config), knapsack(10, 2)).to_mapping()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "preset", ["munhao2019-m1", "munhao2019-m2", "dantas2014-mpi", "dantas2014-cuda"]
)
def test_each_preset_supports_each_infeasible_setting(preset: str, way: str) -> None:
    found = resolved({"preset": preset, "infeasible": way})
    begins_fit = preset.startswith("munhao") and way in ("linear", "dynamic")
    assert (found["infeasible"], found["fit_first"]) == (way, begins_fit)


def test_settings_that_depend_on_dropped_settings_are_dropped() -> None:
    """Constriction drops the schedule, which drops inertia_end."""
    found = resolved(
        {"preset": "munhao2019-m1", "constriction": "yes", "c1": 2.05, "c2": 2.05, "velocity": 4}
    )
    names = ("inertia", "schedule", "inertia_end", "horizon", "velocity", "fit_first")
    assert [found[name] for name in names] == [0.0, "constant", 0.4, 1000, 4.0, True]


def test_options_drop_settings_of_a_file_but_a_file_must_be_consistent(tmp_path: Path) -> None:
    config = tmp_path / "mine.toml"
    config.write_text('algorithm = "ga"\ntournament = 5\nelite = 2\nreplacement = "generational"\n')
    assert resolved({}, config)["tournament"] == 5
    found = resolved({"selection": "random", "elite": 3}, config)
    assert (found["tournament"], found["elite"]) == (2, 3)
    with pytest.raises(
        UsageError, match=r"elite=3: only has an effect with replacement=generational, but"
    ):
        resolved({"replacement": "steady", "elite": 3}, config)
    config.write_text('algorithm = "ga"\ntournament = 5\nselection = "random"\n')
    with pytest.raises(
        UsageError,
        match="tournament=5: only has an effect with selection=tournament, but selection",
    ):
        resolved({}, config)


def test_only_the_strongest_choice_drops_settings(tmp_path: Path) -> None:
    config = tmp_path / "best.toml"
    config.write_text('preset = "munhao2019-m2"\ninfeasible = "repair"\norders = 4\n')
    names = ("infeasible", "fit_first", "orders")
    assert [resolved({}, config)[name] for name in names] == ["repair", False, 4]
    found = resolved({"infeasible": "dynamic"}, config)
    assert [found[name] for name in names] == ["dynamic", True, 16]


def test_settings_of_keys_are_dropped_for_bits(tmp_path: Path) -> None:
    config = tmp_path / "keys.toml"
    config.write_text('algorithm = "pso"\nencoding = "keys"\nlow = -4.0\nhigh = 4.0\n')
    assert [resolved({}, config)[name] for name in ("low", "high")] == [-4.0, 4.0]
    found = resolved({"encoding": "bits"}, config)
    assert [found[name] for name in ("encoding", "low", "high")] == ["bits", 0.0, 1.0]


def test_options_drop_settings_of_a_problem() -> None:
    problem = knapsack(10, 2).adjusted(MkpSettings(infeasible="linear", penalty=7.0))
    for options, wanted in (
        ({}, MkpSettings(infeasible="linear", penalty=7.0)),
        ({"fit_first": True}, MkpSettings(infeasible="linear", penalty=7.0, fit_first=True)),
        ({"infeasible": "dynamic"}, MkpSettings(infeasible="dynamic")),
    ):
        assert resolve(layers(options), problem).problem == wanted
