from __future__ import annotations

from pathlib import Path

import pytest

from islands.instances.catalogue import catalogue
from islands.problems import load
from islands.problems.mkp import Mkp
from islands.reproduce.orlib import KINDS, ProblemKind, all_names, first_names, kind


def test_the_kinds_cover_the_set() -> None:
    assert sorted(all_names()) == sorted(
        entry.full_name for entry in catalogue().set("orlib").entries.values()
    )
    assert first_names()[:4] == [
        *("orlib/mknapcb1-00", "orlib/mknapcb1-10", "orlib/mknapcb1-20", "orlib/mknapcb2-00")
    ]
    for name in all_names():
        entry = catalogue().entry(*name.split("/"))
        assert entry is not None
        assert (kind(name).m, kind(name).n) == (entry.constraints, entry.size)
        assert name in kind(name).instances()
    assert (len(KINDS), KINDS[-1].name) == (27, "30 x 500, 0.75")


@pytest.mark.published
@pytest.mark.parametrize(
    "of", [ProblemKind(5, 100, "0.25"), ProblemKind(10, 250, "0.50"), ProblemKind(30, 100, "0.75")]
)
def test_capacities_have_the_stated_tightness(published: Path, of: ProblemKind) -> None:
    problem = load(of.instances()[-1])
    assert isinstance(problem, Mkp)
    shares = problem.file.capacities / problem.file.weights.sum(axis=1)
    assert shares == pytest.approx(float(of.tightness), abs=1e-3)
