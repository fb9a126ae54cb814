from __future__ import annotations

import json

import pytest

from islands.bench import brkga
from islands.bench.copy import copy_bandwidth
from islands.cli import main


def test_bench_measures_each_size_and_counts_what_moves(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(brkga, "INSTANCES", {"random": 30, "wi29": 29})
    monkeypatch.setattr(brkga, "copy_bandwidth", lambda backend: 1e9)
    assert main(["bench", "brkga", "--backend", "cpu", "--generations", "3", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["brkga"]
    assert [row["size"] for row in rows] == [30, 29]
    for row in rows:
        seconds = row["milliseconds"] / 1000
        # 3 islands of 256: 25 elite, copied (2 rows), 25 mutants (1), 206 children (2 + 1).
        assert row["keys_per_second"] * seconds == pytest.approx(3 * 231 * row["size"])
        assert row["bytes_per_second"] * seconds == pytest.approx(
            3 * (206 * 3 + 25 + 50) * row["size"] * 4
        )


def test_copy_bandwidth_is_that_of_some_memory(backend) -> None:
    assert 1e8 < copy_bandwidth(backend, repeats=2) < 1e14


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (["bench", "brkgo"], "unknown benchmark 'brkgo'. Did you mean 'brkga'?"),
        (["bench", "--backend", "auto"], "unknown backend 'auto'. Known: cuda, cpu"),
        (["bench", "--generations", "0"], "--generations 0: must be at least 1"),
    ],
)
def test_bench_refuses(line: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line) == 2
    assert message in capsys.readouterr().err
