"""The presets have the values of the papers, and our choices for values that they omit."""

import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from problems_for_tests import flat, knapsack

from islands.configuration.request import Request
from islands.configuration.resolve import resolve
from islands.presets import PRESETS

Values = dict[str, Any]


def with_dots(values: Values) -> Values:
    """Return values by name, with dotted names for groups."""
    whole = {name: value for name, value in values.items() if not isinstance(value, dict)}
    for group, members in values.items():
        if isinstance(members, dict):
            whole |= {f"{group}.{name}": value for name, value in members.items()}
    return whole


def wanted() -> dict[str, Values]:
    found = tomllib.loads(Path(__file__).with_name("presets.toml").read_text(encoding="utf-8"))
    base, whole = found.pop("base"), dict[str, Values]()
    for preset, values in found.items():
        whole[preset] = {}
        for name in values.pop("from", []):
            whole[preset] |= with_dots(base[name])
        whole[preset] |= with_dots(values)
    return whole


WANTED = wanted()


def resolved(preset: str) -> Values:
    is_knapsack = WANTED[preset]["encoding"] == "bits"
    problem = knapsack(10, 2) if is_knapsack else flat(9, 720)
    return with_dots(resolve(Request.of({"preset": preset}), problem).spec.to_mapping())


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_have_the_settings_of_their_papers(preset: str) -> None:
    found = resolved(preset)
    assert {name: found[name] for name in WANTED[preset]} == WANTED[preset]
    text = files("islands").joinpath(f"presets/{preset}.toml").read_text(encoding="utf-8")
    names = set(with_dots(tomllib.loads(text)))
    assert names <= set(WANTED[preset])
    # Problems have other defaults for these.
    assert names >= {"algorithm", "encoding", "stop", "islands", "population", "migration.topology"}


def test_presets_give_the_numbers_that_the_papers_state() -> None:
    a, soca, xavier = resolved("jardim2021-a"), resolved("soca2010"), resolved("xavier2019")
    # Jardim, experiment A: number of evaluations in a run.
    assert a["population"] * (1 + int(a["stop"][0].split("=")[1])) == 1_025_024
    # Soca: blocks times threads.
    assert soca["population"] / soca["group"] == 32
    # Xavier: of 256 individuals, 25 are elite and 25 mutants; each population receives 4.
    assert [int(xavier[name] * xavier["population"]) for name in ("elite", "mutants")] == [25, 25]
    assert (xavier["islands"] - 1) * xavier["migration.migrants"] == 4
    for preset in ("dantas2014-mpi", "dantas2014-cuda"):
        each = resolved(preset)
        assert each["islands"] * each["population"] == 4096
