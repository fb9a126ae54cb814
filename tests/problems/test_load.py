from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from islands.errors import InputError
from islands.problems import load


@pytest.fixture(autouse=True)
def _no_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISLANDS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("ISLANDS_INSTANCES", raising=False)


def test_format_can_be_given(tmp_path: Path) -> None:
    path = tmp_path / "both.knapsack"
    path.write_text("2 2 0 1 1 1 1 1 1 1 1")
    drake, sac94 = (load(str(path), form) for form in ("drake", "sac94"))
    assert (drake.file.profits.tolist(), sac94.file.profits.tolist()) == ([1, 1], [0, 1])
    with pytest.raises(InputError, match="more than the 8 of two matrices"):
        load(str(path), "qaplib")


def test_stated_optimum_is_the_best_known_value(tmp_path: Path) -> None:
    path = tmp_path / "set.txt"
    path.write_text("2\n2 1 8706.1\n6000 2706.1\n1 1\n2\n1 1 0\n5\n1\n1\n")
    first, second = load(f"{path}:00"), load(f"{path}:01")
    assert (first.instance, second.instance) == (f"{path}:00", f"{path}:01")
    assert second.best_known is None
    assert (first.best_known.value, first.best_known.status) == (8706.1, "best_known")
    assert first.cost(np.ones(2, np.int64)) == 8706.1
    with pytest.raises(InputError, match=r"set\.txt: the file contains 2 problems\. Name one of "):
        load(str(path))


@pytest.mark.published
def test_published_knapsacks_are_found_by_name_and_by_path(
    published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_path = load(f"{published}/mkp/orlib/mknapcb1.txt:07")
    monkeypatch.setenv("ISLANDS_INSTANCES", str(published))
    problems = [load(name) for name in ("orlib/mknapcb1-07", "weish30", "gk/gk01")]
    found = [problem.instance for problem in (by_path, *problems)]
    assert found == ["orlib/mknapcb1-07", "orlib/mknapcb1-07", "sac94/weish30", "gk/gk01"]
    np.testing.assert_array_equal(by_path.file.weights, problems[0].file.weights)
    assert load(f"{published}/mkp/sac94/hp/hp1.dat").instance == "sac94/hp1"
    with pytest.raises(InputError, match=r"mknapcb1\.txt:00 to /.*mknapcb1\.txt:29$"):
        load(f"{published}/mkp/orlib/mknapcb1.txt")
