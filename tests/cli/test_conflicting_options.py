"""A setting with two different values in the options is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from islands import Solver, solve
from islands.cli import main
from islands.errors import UsageError


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("line", "name", "first", "second"),
    [
        ("run --set seed=5 --seed 7", "seed", "--seed 7", "--set seed=5"),
        (
            "run --set migration.topology=ring --migration elite",
            *("migration.topology", "--migration elite", "--set migration.topology=ring"),
        ),
        ("run --set islands=4 --islands 8", "islands", "--islands 8", "--set islands=4"),
        ("run --set F=0.5 --set F=0.6", "F", "--set F=0.5", "--set F=0.6"),
        (
            "run --improver two_opt --set improver.name=swap",
            *("improver.name", "--improver two_opt", "--set improver.name=swap"),
        ),
        (
            "run --set interval=5 --set migration.interval=6",
            *("migration.interval", "--set interval=5", "--set migration.interval=6"),
        ),
        (
            "run --stop gap=1% --stop seconds=2 --set stop=gap=1%",
            *("stop", "--stop gap=1% --stop seconds=2", "--set stop=gap=1%"),
        ),
        ("run demo/tsp --set instance=demo/qap", "instance", "demo/tsp", "--set instance=demo/qap"),
        (
            "run demo/tsp demo/qap --set instance=demo/qap",
            *("instance", "demo/tsp demo/qap", "--set instance=demo/qap"),
        ),
        ("run --seed 5 --seed 7", "--seed", "--seed 5", "--seed 7"),
        ("run --out a --out A", "--out", "--out a", "--out A"),
        ("resume a --threads 1 --threads 2", "--threads", "--threads 1", "--threads 2"),
        ("tune --over rho=0.5..1 --seed 1 --set seed=2", "seed", "--seed 1", "--set seed=2"),
        ("reproduce soca2010 --runs 2 --runs 3", "--runs", "--runs 2", "--runs 3"),
    ],
)
def test_two_values_are_refused(
    line: str, name: str, first: str, second: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(line.split()) == 2
    captured = capsys.readouterr()
    wanted = f"islands: {name} is given twice: {first} and {second}. Leave one of them out\n"
    assert (captured.out, captured.err) == ("", wanted)
    assert list(Path().iterdir()) == []


def test_error_names_the_file_with_two_values(capsys: pytest.CaptureFixture[str]) -> None:
    Path("my.toml").write_text("interval = 5\n[migration]\ninterval = 6\n")
    assert main(["run", "--config", "my.toml"]) == 2
    words = "migration.interval is given twice: interval=5 and migration.interval=6. Leave one of"
    assert capsys.readouterr().err.startswith(f"islands: my.toml: {words}")


def test_different_spellings_of_a_value_are_equal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    line = "run demo/tsp --set instance=demo/tsp --seed 5 --seed 05 --set seed=5 --set rho=.60"
    line += " --set rho=0.6 --improver 2opt --set improver.name=two_opt --population 16"
    line += " --set checkpoint.every=1m --set checkpoint.every=60 --backend cpu --threads 1"
    line += " --stop generations=2 --set stop=generations=2 --json --out a"
    assert main(line.split()) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["seed"], result["generations"]) == (5, 2)
    text = Path("a/run.toml").read_text()
    assert "rho = 0.6\n" in text
    assert 'name = "two_opt"\n' in text


def test_python_interface_refuses_two_values() -> None:
    message = r"^migration\.interval is given twice: interval=5 and migration\.interval=6\. Leave"
    for make in (solve, Solver):
        with pytest.raises(UsageError, match=message):
            make("demo/tsp", interval=5, migration={"interval": 6})
    message = "^instance is given twice: instance=demo/tsp and instance=demo/qap"
    for make in (solve, Solver):
        with pytest.raises(UsageError, match=message):
            make("demo/tsp", instance="demo/qap")
