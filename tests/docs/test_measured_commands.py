"""docs/measure runs the commands of measurements, and writes their output with what made it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pages import ROOT
from scripts_for_tests import script


@pytest.fixture(scope="module")
def measure() -> ModuleType:
    """Return the script docs/measure as a module."""
    return script(ROOT / "docs" / "measure")


def made(measure: ModuleType, folder: Path, *lines: str) -> dict[str, Any]:
    """Return the measurement that commands make."""
    measure.measure("some", lines, folder)
    found: dict[str, Any] = json.loads((folder / "some.json").read_text())
    provenance = found["provenance"]
    assert provenance["lines"] == list(lines)
    assert provenance["seconds"] > 0
    assert provenance["processor_seconds"] > 0
    assert {"date", "islands", "commit", "changed", "versions", "devices"} <= set(provenance)
    return found


def test_the_json_of_a_benchmark_is_kept(measure: ModuleType, tmp_path: Path) -> None:
    found = made(measure, tmp_path, "islands bench topologies --islands 4 --genes 8 --quiet --json")
    assert found["provenance"]["measurement"]["benchmarks"] == ["topologies"]
    assert found["printed"]["topologies"].count("\n") == len(found["topologies"])


def test_runs_become_a_table(measure: ModuleType, tmp_path: Path) -> None:
    line = "islands run demo/tsp --stop generations=1 --bound --backend cpu --quiet --json"
    found = made(measure, tmp_path, line)
    [run] = found["runs"]
    assert run["bound"] <= run["best_known"] <= run["cost"]
    head, row = found["printed"]["runs"].splitlines()
    assert head.split()[:3] == ["instance", "algorithm", "cost"]
    assert row.split()[:3] == ["demo/tsp", "eax", str(run["cost"])]
    below = 100 * (run["best_known"] - run["bound"]) / run["best_known"]
    assert row.split()[-4:-2] == [str(run["bound"]), f"{below:.4f}"]
    assert found["provenance"]["devices"] == [run["device"]]


def test_a_run_without_a_bound_has_dashes() -> None:
    run: dict[str, Any] = {"instance": "a", "algorithm": "eax", "cost": 7, "gap": None}
    run |= {
        "seconds": 2.0,
        "evaluations": 4000,
        "best_known": 6,
        "bound": 5,
        "bound_kind": "1-tree",
    }
    run |= {"bound_estimate": None, "bound_seconds": 1.5}
    missing = {"bound": None, "bound_kind": "", "bound_seconds": None}
    _, first, second = (
        script(ROOT / "docs" / "measuring.py")
        .table_of_runs([run, {**run, **missing, "cost": None}])
        .splitlines()
    )
    assert first.split() == ["a", "eax", "7", "-", "2.00", "2.0k", "5", "16.6667", "1.50", "1-tree"]
    assert second.split() == ["a", "eax", "-", "-", "2.00", "2.0k", "-", "-", "-"]


def test_several_commands_share_a_folder_and_become_a_table_of_times(
    measure: ModuleType, tmp_path: Path
) -> None:
    lines = (
        "islands run demo/mkp --stop generations=1 --backend cpu --out a",
        "islands verify demo/mkp a",
    )
    rows = made(measure, tmp_path, *lines)["printed"]["times"].splitlines()
    assert [row.split(maxsplit=2)[2] for row in rows[1:]] == list(lines)


@pytest.mark.usefixtures("published")
def test_an_experiment_becomes_a_folder(measure: ModuleType, tmp_path: Path) -> None:
    line = "islands reproduce soca2010/quality --only had12 --runs 1 --generations 20"
    line += " --backend cpu --out soca"
    measure.measure("soca", [line], tmp_path)
    assert {path.name for path in (tmp_path / "soca").iterdir()} == {
        "provenance.json",
        "quality.txt",
    }


def test_a_failure_is_told_and_the_next_measurement_is_made(
    measure: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    lines = {"bad": ["islands walk"], "good": ["islands instances show demo/tsp"]}
    monkeypatch.setattr(measure, "known", lambda: lines)
    assert measure.main(["bad", "good", "--out", str(tmp_path)]) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["good.json"]
    assert "bad: islands walk: ended with status 2" in capsys.readouterr().err


def test_names_are_listed_and_unknown_ones_refused(measure: ModuleType, capsys: Any) -> None:
    assert measure.main(["--list"]) == 0
    listed = capsys.readouterr().out
    # The name of a file repeats its command.
    for name in ("tabu-cpu", *(path.stem for path in measure.FOLDER.glob("*.json"))):
        assert re.search(rf"^{name}:\n    (islands|python|mpirun) ", listed, re.MULTILINE)
    with pytest.raises(SystemExit):
        measure.main(["tabbu"])
    assert "tabbu: unknown measurement" in capsys.readouterr().err
