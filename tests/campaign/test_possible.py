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
QAP = {"instance": "demo/qap", "algorithm": "tempering"}
COLONIES = ["islands=1 algorithm=de", "islands=1 algorithm=tempering population=20"]
SMALL = ["islands=2 algorithm=de population=30", "islands=2 algorithm=ga population=20"]
MKP = {"instance": "demo/mkp", "algorithm": "brkga", "population": 16, "islands": 2}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({**TSP, "migrants": 6}, None),
        ({**TSP, "migrants": 7}, "only 6 of population=8 are not elite"),
        ({**TSP, "migrants": 9}, "migrants=9: must be at most population=8"),
        ({**TSP, "migrants": 7, "islands": 1}, None),
        (
            {**TSP, "migration": "elite", "migrants": 4},
            "brings up to 8 migrants to one of 3",
        ),
        ({**TSP, "elite": 0.1}, "elite=0.1 of population=8 is 0 individuals"),
        ({**TSP, "decoding": "host"}, None),
        ({**TSP, "decoding": "host", "improver": "swap"}, "decoding=host with improver swap"),
        ({**TSP, "decoding": "sorted", "improver": "swap"}, None),
        (HALO, None),
        ({**HALO, "neighbours": 18}, "population=8: with halo=true an island needs"),
        ({**HALO, "neighbours": 24}, "islands=3 x population=8: a ring with neighbours=24"),
        ({**HALO, "migration": "ring"}, "halo=true with migration ring"),
        ({**MKP, "decoding": "host"}, "decoding=host: only kernels select the items"),
        (
            {**QAP, "population": 20},
            "population=20: must be a multiple of rungs=8. Choose 16 or 24",
        ),
        ({**QAP, "decoding": "host"}, "decoding=host: tempering "),
        (
            {"instance": "demo/qap", "migration": "ring", "colonies": COLONIES},
            "colony 1: population=20: must be a multiple of rungs=8. Choose 16 or 24",
        ),
        (
            {"instance": "demo/qap", "migration": "elite", "migrants": 7, "colonies": SMALL},
            "colony 1: migration elite brings up to 21 migrants to one of 4 islands",
        ),
    ],
)
def test_the_checks_equal_those_of_the_islands(
    options: dict[str, Any],
    message: str | None,
    backend: Backend,
    monkeypatch: pytest.MonkeyPatch,
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
        *(("host", "none"), ("sorted", "swap")),  # configuration 0 is sorted without one
    ]
    assert refused == 1


def test_contradictory_draws_are_replaced() -> None:
    asked = TuneRequest({"population": 16, "islands": 2})
    over = ["infeasible=linear,repair", "penalty=1..5"]
    candidates = Tuning.of(asked, ["demo/mkp"], over, 1, configurations=12).candidates
    assert len(candidates.configurations) == 13
    assert {each.values["infeasible"] for each in candidates.configurations[1:]} == {"linear"}
    assert candidates.refused > 0
    assert "only has an effect with infeasible=linear, but infeasible is" in candidates.refusal
