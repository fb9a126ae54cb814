"""Colonies with parts of a script are resumed, also if the script has moved."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import copied_parts
import pytest

from islands.cli import main
from islands.custom.parts import PartKind

RUN = ["run", "demo/tsp", "--backend", "cpu", "--threads", "1", "--improver", "none"]
RUN += ["--population", "20", "--migration", "ring", "--interval", "3"]
KEYS = "algorithm=ga encoding=keys crossover="
MORE = """

class Mingle(Spread):
    name = "mingle"
    header = copied("crossovers/uniform.cuh", "mingle.cuh")
"""


@pytest.fixture(autouse=True)
def _next_to_a_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = Path(copied_parts.__file__).read_text(encoding="utf-8")
    Path("mine.py").write_text(text + MORE, encoding="utf-8")


def colonies(*settings: str) -> list[str]:
    return [word for each in settings for word in ("--colony", f"islands=1 {each}")]


def moved() -> None:
    """Move the script, and remove its parts from this process, as in a new one."""
    Path("elsewhere").mkdir()
    shutil.move("mine.py", "elsewhere/mine.py")
    for kind in PartKind.all:
        for name in kind.own:
            del kind.registry[name]
        kind.own.clear()


def solved(capsys: pytest.CaptureFixture[str], *line: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main([*line, "--json"]) == 0
    return dict(json.loads(capsys.readouterr().out))


def refusal(capsys: pytest.CaptureFixture[str], *line: str) -> str:
    capsys.readouterr()
    assert main(["resume", "out", *line]) == 2
    return capsys.readouterr().err


def test_a_killed_run_is_resumed_on_other_ranks(
    capsys: pytest.CaptureFixture[str], mpirun: list[str]
) -> None:
    line = [*RUN, *colonies(f"{KEYS}mine.py:Spread", "algorithm=de", "algorithm=brkga")]
    command = [sys.executable, "-m", "islands"]
    endless = ["--stop", "generations=1000000", "--set", "checkpoint.every=0.1", "--out", "out"]
    with subprocess.Popen([*command, *line, *endless], stdout=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 60
        while not (kept := [*Path("out").glob("checkpoints/*/manifest.json")]):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    moved()
    said = refusal(capsys)
    assert "/mine.py: No such file or directory" in said
    assert "name its new location: islands resume out --crossover FILE.py:NAME\n" in said
    newest = max(int(path.parent.name.partition(".")[0]) for path in kept)
    last = ["--stop", f"generations={newest + 100}"]
    resume = [*command, "resume", "out", "--crossover", "elsewhere/mine.py:Spread", *last]
    done = subprocess.run([*mpirun, "2", *resume, "--json"], capture_output=True, check=True)
    shutil.copy("elsewhere/mine.py", "mine.py")
    assert json.loads(done.stdout)["digest"] == solved(capsys, *line, *last)["digest"]


def test_each_of_several_parts_can_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    own = [f"{KEYS}mine.py:Spread", f"{KEYS}mine.py:Mingle", f"{KEYS}mine.py:Spread"]
    line = [*RUN, *colonies(*own, f"{KEYS}two_point"), "--out", "out"]
    solved(capsys, *line, "--stop", "generations=4")
    moved()
    flags = "--crossover FILE.py:Spread --crossover FILE.py:Mingle"
    more = ["--stop", "generations=8"]
    assert f"name its new location: islands resume out {flags}\n" in refusal(capsys, *more)
    spread, mingle = (["--crossover", f"elsewhere/mine.py:{each}"] for each in ("Spread", "Mingle"))
    assert "islands resume out --crossover FILE.py:" in refusal(capsys, *mingle, *more)
    rest = solved(capsys, "resume", "out", *mingle, *spread, *more)
    shutil.copy("elsewhere/mine.py", "mine.py")
    whole = solved(capsys, *line[:-1], "whole", *more)
    assert rest["digest"] == whole["digest"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (["--mutation", "mine.py:Shift"], "a resumed run keeps its mutation, '"),
        (["--crossover", "two_point"], "is 'two_point', but the crossover of the run is '"),
        (["--crossover", "mine.py:Other"], "mine.py: defines no 'Other'"),
        (["--crossover", "mine.py:Third"], "is 'third', but the crossover of the run is '"),
        (
            ["--crossover", "mine.py:Spread", "--crossover", "mine.py:Spread"],
            "crossover is given twice: mine.py:Spread and mine.py:Spread",
        ),
    ],
)
def test_parts_of_colonies_cannot_be_changed(
    capsys: pytest.CaptureFixture[str], line: list[str], message: str
) -> None:
    with Path("mine.py").open("a", encoding="utf-8") as script:
        script.write('\n\nclass Third(Spread):\n    name = "third"\n')
    own = colonies(f"{KEYS}mine.py:Spread", f"{KEYS}mine.py:Mingle")
    solved(capsys, *RUN, *own, "--stop", "generations=2", "--out", "out")
    assert message in refusal(capsys, *line, "--stop", "generations=4")
