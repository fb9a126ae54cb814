"""An invalid configuration is refused with the message that creating its islands would give."""

from __future__ import annotations

from typing import Any

import pytest

import islands.configuration.resolve as resolving
from islands.backends.base import Backend
from islands.campaign.tuning import TuneRequest, Tuning
from islands.configuration.resolve import layers, resolve
from islands.errors import UsageError
from islands.parallel import World
from islands.problems import load
from islands.run.build import islands_of

TSP = {"instance": "demo/tsp", "algorithm": "brkga", "population": 8, "islands": 3, "elite": 0.25}
TSP |= {"improver": "none", "migration": "ring"}
HALO = {
    "instance": "demo/qap",
    "algorithm": "cellular",
    "population": 8,
    "islands": 3,
    "halo": "true",
}
COLONIES = ["islands=1 algorithm=de", "islands=1 algorithm=tempering population=20"]
MKP = {"instance": "demo/mkp", "algorithm": "brkga", "population": 16, "islands": 2}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({**TSP, "migrants": 6}, None),
        ({**TSP, "migrants": 7}, "migrants"),
        ({**TSP, "migration": "elite", "migrants": 4}, "migrants"),
        ({**TSP, "elite": 0.1}, "elite=0.1"),
        ({**TSP, "decoding": "host", "improver": "swap"}, "decoding=host"),
        ({**HALO, "neighbours": 18}, "population=8"),
        ({**HALO, "migration": "ring"}, "migration ring"),
        ({**MKP, "decoding": "host"}, "decoding=host"),
        ({"instance": "demo/qap", "migration": "ring", "colonies": COLONIES}, "colony 1: pop"),
    ],
)
def test_the_checks_equal_those_of_the_islands(
    options: dict[str, Any], message: str | None, backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, asked = load(options["instance"]), layers(options)
    with monkeypatch.context() as patched:
        patched.setattr(resolving, "require_possible", lambda *_: None)
        unchecked = resolve(asked, problem)
    refusals: list[str | None] = []
    for make in (
        lambda: resolve(asked, problem),
        lambda: islands_of(unchecked, problem, World(), backend),
    ):
        try:
            make()
            refusals.append(None)
        except UsageError as error:
            refusals.append(str(error))
    assert refusals[0] == refusals[1]
    assert (refusals[0] is None) == (message is None)
    assert (message or "") in (refusals[0] or "")


def test_a_grid_skips_invalid_configurations() -> None:
    common = {"population": 8, "islands": 2, "elite": 0.25, "migration": "ring"}
    asked = TuneRequest({**common, "algorithm": "brkga"})

    def tuned(*over: str) -> tuple[list[dict[str, Any]], int]:
        candidates = Tuning.of(asked, ["demo/tsp"], over, 1, configurations=1, steps=20).candidates
        return [each.values for each in candidates.configurations[1:]], candidates.refused

    assert tuned("migrants=1..20") == ([{"migration.migrants": k} for k in (1, 3, 4, 5, 6)], 14)
    decoded, refused = tuned("decoding=host,sorted", "improver=none,swap")
    assert [tuple(each.values()) for each in decoded] == [
        *(("host", "none"), ("sorted", "swap"))  # configuration 0 is sorted without one
    ]
    assert refused == 1
