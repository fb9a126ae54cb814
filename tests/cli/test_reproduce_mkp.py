from __future__ import annotations

import csv
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from islands import solve
from islands.cli import main
from islands.problems import load
from islands.reproduce import dantas2014_islands
from islands.reproduce.dantas2014_islands import SizeTimesTable
from islands.reproduce.munhao2019 import Sac94Table
from islands.reproduce.munhao2019_figures import MODELS, HitFigures, InstanceGroup
from islands.reproduce.orlib import ProblemKind

pytest.importorskip("scipy")
DEMO = "demo/mkp"
QUICK = ["--backend", "cpu", "--generations", "4", "--json"]


def reproduced(line: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert main(["reproduce", *line, *QUICK]) == 0
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


def test_both_models_equal_runs_of_solve(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    printed = dict.fromkeys(MODELS, HitFigures(1.0, 2.0, 0.5, 600.0, 5.0, 3))
    groups = {"demo": InstanceGroup(5, 60, (DEMO,), printed, None)}
    monkeypatch.setattr(Sac94Table, "groups", staticmethod(lambda: groups))
    out = tmp_path / "out"
    done = reproduced(["munhao2019/sac94", "--runs", "2", "--out", str(out)], capsys)
    rows = done["tables"]["sac94"]["rows"]
    problem = load(DEMO)
    for row, (model, preset) in zip(rows, MODELS.items(), strict=True):
        ends = [
            solve(problem, preset=preset, stop="generations=4", backend="cpu", seed=seed)
            for seed in (1, 2)
        ]
        gaps = [end.gap for end in ends if end.gap is not None]
        assert (row["model"], row["without"]) == (model, 2 - len(gaps))
        assert gaps, "choose more generations"
        assert row["best"] == pytest.approx(min(gaps))
        assert row["mean"] == pytest.approx(sum(gaps) / len(gaps))
        # After 4 of 600 generations.
        assert row["milliseconds"] > 600 / 4
    assert [part["instance"] for part in done["tables"]["sac94"]["parts"]] == [DEMO, DEMO]
    settings = tomllib.loads((out / "settings.toml").read_text(encoding="utf-8"))
    assert settings["preset"] == {"sac94": "munhao2019-m1 and munhao2019-m2"}
    with (out / "sac94-parts.csv").open(newline="", encoding="utf-8") as stream:
        assert [part["model"] for part in csv.DictReader(stream)] == ["m1", "m2"]
    assert (out / "sac94.csv").exists()


@pytest.mark.parametrize("threads", ["1,2", "none"])
def test_cpu_times_are_compared_with_the_printed_speedups(
    threads: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = {
        "m1": HitFigures(1.0, 2.0, 0.5, 600.0, 4.5, 3),
        "m2": HitFigures(1, 2, 0.5, 600, 6.5, 3),
    }
    group = InstanceGroup(5, 60, (DEMO, "sac94/hp1"), printed, None)
    monkeypatch.setattr(Sac94Table, "groups", staticmethod(lambda: {"demo": group}))
    line = ["munhao2019/sac94", "--runs", "1", "--only", DEMO, "--threads", threads]
    table = reproduced(line, capsys)["tables"]["sac94"]
    assert [row["paper_speedup"] for row in table["rows"]] == [4.5, 6.5]
    asked = [] if threads == "none" else threads.split(",")
    for row in table["rows"]:
        assert [name for name in row if name.startswith("speedup_cpu")] == [
            f"speedup_cpu_{each}" for each in asked
        ]
        for each in asked:
            ratio = row[f"cpu_{each}_seconds"] / row["milliseconds"] * 1000
            assert row[f"speedup_cpu_{each}"] == pytest.approx(ratio)
    assert table["facts"]["paper_speedup_m2"] == 6.5
    assert [name for name in table["facts"] if name.startswith("speedup_m1")] == [
        f"speedup_m1_cpu_{each}" for each in asked
    ]


def test_times_are_means_by_size(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(SizeTimesTable, "names", staticmethod(lambda: [DEMO]))
    monkeypatch.setattr(dantas2014_islands, "kind", lambda name: ProblemKind(5, 60, "0.50"))
    line = ["dantas2014/times", "--runs", "1", "--threads", "1", "--out", str(tmp_path / "a")]
    done = reproduced(line, capsys)
    (row,) = done["tables"]["times"]["rows"]
    assert (row["size"], row["m"], row["n"], row["ranks"]) == ("5 x 60", 5, 60, 1)
    assert row["seconds"] > 0
    assert row["speedup_cpu_1"] == pytest.approx(row["cpu_1_seconds"] / row["seconds"])
    asked = [json.loads(each)["asked"] for each in (tmp_path / "a/runs.jsonl").open()]
    divided = {each["islands"]: each["population"] for each in asked if "islands" in each}
    assert divided == {2: 2048, 8: 512, 32: 128, 64: 64}
    assert all(row[f"seconds_{count}_islands"] > 0 for count in divided)
