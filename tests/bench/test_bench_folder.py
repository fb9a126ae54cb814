"""`islands bench --out` and `islands reproduce --out` refuse folders of other work."""

from __future__ import annotations

from pathlib import Path

import pytest

from islands.cli import main

QUALITY = ["bench", "quality", "--limit", "0.1", "--seeds", "1", "--backend", "cpu"]
QUALITY += ["--threads", "1", "--quiet"]
OTHERS = (
    [*QUALITY, "--of", "demo/mkp"],
    [*QUALITY, "--of", "demo/qap", "--variant", "algorithm=ga"],
    ["bench", "topologies", "--islands", "8"],
)


def test_another_measurement_is_not_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    out = ["--out", str(tmp_path)]
    assert main([*QUALITY, "--of", "demo/qap", *out]) == 0
    before = {each.name: each.read_bytes() for each in tmp_path.iterdir()}
    for other in OTHERS:
        assert main([*other, *out]) == 2
        assert f"--out {tmp_path}: contains another measurement: " in capsys.readouterr().err
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == before
    more = [word if word != "1" else "2" for word in QUALITY]
    assert main([*more, "--of", "demo/qap", *out]) == 0


@pytest.mark.parametrize(
    ("file", "held"),
    [("run.toml", "contains a run"), ("tune.tsv", "a tuning"), ("a-seed1/run.toml", "a series")],
)
def test_other_work_is_not_overwritten(
    file: str, held: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("scipy")
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.write_text("")
    for line in (OTHERS[2], ["reproduce", "jardim2021", "--backend", "cpu"]):
        assert main([*line, "--out", str(tmp_path)]) == 2
        assert held in capsys.readouterr().err
    assert [each for each in tmp_path.rglob("*") if each.is_file()] == [path]


def test_a_measurement_is_not_overwritten_by_an_experiment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("scipy")
    assert main(["bench", "topologies", "--islands", "8", "--quiet", "--out", str(tmp_path)]) == 0
    before = {each.name: each.read_bytes() for each in tmp_path.iterdir()}
    capsys.readouterr()
    assert main(["reproduce", "jardim2021", "--backend", "cpu", "--out", str(tmp_path)]) == 2
    assert "contains a measurement of islands bench, no experiment" in capsys.readouterr().err
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == before


def test_files_of_the_user_are_not_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    (tmp_path / "topologies.csv").write_text("mine")
    assert main([*OTHERS[2], "--out", str(tmp_path)]) == 2
    assert "contains files, but no measurement" in capsys.readouterr().err
    assert (tmp_path / "topologies.csv").read_text() == "mine"
