"""`islands bench --out` and `islands reproduce --out` refuse folders of other work."""

from __future__ import annotations

from pathlib import Path

import pytest

from islands.cli import main, parser

QUALITY = ["bench", "quality", "--limit", "0.1", "--seeds", "1", "--backend", "cpu"]
QUALITY += ["--threads", "1", "--quiet"]
OTHERS = (
    [*QUALITY, "--of", "demo/mkp"],
    [*QUALITY, "--of", "demo/qap", "--variant", "algorithm=ga"],
    ["bench", "topologies", "--islands", "8"],
)


def test_another_measurement_is_not_overwritten(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    out = ["--out", str(tmp_path)]
    assert main([*QUALITY, "--of", "demo/qap", *out]) == 0
    before = {each.name: each.read_bytes() for each in tmp_path.iterdir()}
    for other in OTHERS:
        assert main([*other, *out]) == 2
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == before
    more = [word if word != "1" else "2" for word in QUALITY]
    assert main([*more, "--of", "demo/qap", *out]) == 0


@pytest.mark.parametrize(
    "file", ["run.toml", "tune.tsv", "a-seed1/run.toml", "topologies.csv", "bench.json"]
)
def test_other_work_is_not_overwritten(file: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("scipy")
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.write_text("")
    for line in (OTHERS[2], ["reproduce", "jardim2021", "--backend", "cpu"]):
        assert main([*line, "--out", str(tmp_path)]) == 2
    assert [each for each in tmp_path.rglob("*") if each.is_file()] == [path]


def test_a_program_that_is_named_twice_runs_once() -> None:
    line = ["bench", "quality", "--rivals", "highs,lkh,highs", "--of", "gk,gk"]
    asked = parser("bench").parse_args(line)
    assert (asked.rivals, asked.of) == (("highs", "lkh"), ("gk",))
