"""Parts from scripts, named `FILE.py:NAME` on the command line, and how their runs are resumed."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import copied_parts
import pytest
import synthetic
from commands_for_tests import Capture, done
from scripts_for_tests import forget_parts

from islands.check import perform
from islands.cli import main

FEW = ["--islands", "4", "--population", "16", "--interval", "3", "--migrants", "1"]
FEW += ["--backend", "cpu", "--threads", "1", "--stop", "generations=6"]
BUILT_IN = {
    "algorithm": "ga",
    "encoding": "keys",
    "crossover": "two_point",
    "mutation": "insertion",
    "improver": "swap",
    "migration": "ring",
}
OWN = {
    "algorithm": "Breed",
    "encoding": "Digits",
    "crossover": "Spread",
    "mutation": "Shift",
    "improver": "Climb",
    "migration": "circle",
}
PROBLEM = """
from synthetic import uniform_tsp

nine = Tour(uniform_tsp(9, seed=1))


class Nine(Tour):
    name = "nine"

    def __init__(self):
        super().__init__(uniform_tsp(9, seed=1))
"""


@pytest.fixture(autouse=True)
def _next_to_a_script() -> None:
    shutil.copy(copied_parts.__file__, "mine.py")
    with Path("mine.py").open("a") as script:
        script.write(PROBLEM)


def ran(capsys: Capture, *line: str) -> dict[str, Any]:
    return done(capsys, "run", *line, *FEW, "--out", "out", "--force")


def options(parts: dict[str, str], file: str = "") -> list[str]:
    return [word for name, part in parts.items() for word in (f"--{name}", f"{file}{part}")]


@pytest.mark.slow
def test_each_part_may_come_from_a_script(capsys: Capture, tmp_path: Path) -> None:
    usual = ran(capsys, "demo/tsp", *options(BUILT_IN))
    for name, part in OWN.items():
        changed = options(BUILT_IN | {name: f"mine.py:{part}"})
        assert ran(capsys, "demo/tsp", *changed)["digest"] == usual["digest"], name
    own = ran(capsys, "demo/tsp", *options(OWN, "mine.py:"))
    assert own["digest"] == usual["digest"]
    assert (own["algorithm"], own["encoding"]) == ("breed", "digits")
    kept = tomllib.loads(Path("out/run.toml").read_text())
    assert kept["crossover"] == f"{tmp_path}/mine.py:Spread"
    assert kept["improver"]["name"] == f"{tmp_path}/mine.py:Climb"
    # run.toml repeats the run from any folder.
    shutil.copy("out/run.toml", "again.toml")
    assert ran(capsys, "demo/tsp", "--config", "again.toml")["digest"] == usual["digest"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nine", "Nine"])
def test_problem_of_a_script_is_run_and_verified(
    capsys: Capture, name: str, tmp_path: Path
) -> None:
    result = ran(capsys, f"mine.py:{name}", *options(BUILT_IN))
    assert result["problem"] == {"nine": "tour", "Nine": "nine"}[name]
    kept = tomllib.loads(Path("out/run.toml").read_text())
    assert kept["instance"] == f"{tmp_path}/mine.py:{name}"
    assert done(capsys, "verify", f"mine.py:{name}", "out")["cost"] == result["cost"]


def test_a_script_cannot_end_a_command(capsys: Capture) -> None:
    text = "import sys\nfrom mine import Breed\nclass Leaves(Breed):\n    name = 'leaves'\n"
    Path("leaves.py").write_text(f"{text}    def plan(self, arrays):\n        sys.exit(0)\n")
    line = ["--algorithm", "leaves.py:Leaves", "--encoding", "keys", *FEW, "--quiet"]
    assert main(["run", "demo/tsp", *line, "--improver", "none"]) == 1
    assert "leaves.py, line 6, " in capsys.readouterr().err


SETTINGS = ["--islands", "4", "--population", "16", "--interval", "3", "--migrants", "1"]
SETTINGS += ["--encoding", "keys", "--improver", "none", "--backend", "cpu", "--threads", "1"]
NAMED = {"algorithm": "Breed", "crossover": "Spread", "mutation": "Shift", "migration": "circle"}
PARTS = [word for name, part in NAMED.items() for word in (f"--{name}", f"mine.py:{part}")]
IN_PYTHON = """
import islands
from mine import Breed, Shift, Spread, circle, nine

if __name__ == "__main__":
    parts = {"algorithm": Breed, "crossover": %s, "mutation": Shift(), "migration": circle}
    islands.solve(nine, stop="generations=6", islands=4, population=16, interval=3, migrants=1,
                  encoding="keys", improver="none", backend="cpu", threads=1, out="out", **parts)
"""


def begin(generations: int, out: str = "out") -> None:
    line = ["mine.py:nine", *SETTINGS, *PARTS, "--stop", f"generations={generations}"]
    assert main(["run", *line, "--out", out, "--quiet"]) == 0
    forget_parts()


def resume(capsys: Capture, *line: str) -> dict[str, Any]:
    return done(capsys, "resume", "out", *line, "--stop", "generations=12")


def rejection(capsys: Capture, *line: str) -> str:
    capsys.readouterr()
    assert main(["resume", "out", *line, "--stop", "generations=12"]) == 2
    return capsys.readouterr().err


def whole_digest(capsys: Capture) -> str:
    begin(12, "whole_digest")
    found = done(capsys, "resume", "whole_digest")
    forget_parts()
    return str(found["digest"])


@pytest.mark.slow
def test_run_is_resumed_with_its_script(capsys: Capture) -> None:
    begin(6)
    kept = {path.name: path.read_text() for path in Path("out/parts").glob("*.cuh")}
    used = (copied_parts.Breed, copied_parts.Spread, copied_parts.Shift, copied_parts.Tour)
    assert kept == {part.header.name: part.header.text for part in used}
    assert resume(capsys)["digest"] == whole_digest(capsys)


@pytest.mark.slow
def test_moved_script_can_be_named(capsys: Capture) -> None:
    begin(6)
    Path("elsewhere").mkdir()
    shutil.move("mine.py", "elsewhere/mine.py")
    said = rejection(capsys)
    moved = [word.replace("mine.py", "elsewhere/mine.py") for word in PARTS]
    flags = " ".join(f"--{name} FILE.py:NAME" for name in NAMED)
    assert f"specify its new location: islands resume out {flags}\n" in said
    assert "specify its new location: islands resume out --instance FILE\n" in rejection(
        capsys, *moved
    )
    again = resume(capsys, *moved, "--instance", "elsewhere/mine.py:nine")
    shutil.copy("elsewhere/mine.py", "mine.py")
    assert again["digest"] == whole_digest(capsys)
    assert "elsewhere/mine.py:Spread" in Path("out/run.toml").read_text()


NAMELESS = "type('Nameless', (Spread,), {})"


@pytest.mark.slow
@pytest.mark.parametrize(("crossover", "named"), [("Spread", True), (NAMELESS, False)])
def test_objects_are_found_by_their_name_in_the_module(
    capsys: Capture, crossover: str, named: bool
) -> None:
    Path("solve.py").write_text(IN_PYTHON % crossover)
    own = {**os.environ, "PYTHONPATH": str(Path(synthetic.__file__).parent)}
    subprocess.run([sys.executable, "solve.py"], check=True, timeout=120, env=own)
    settings = Path("out/run.toml").read_text()
    for name in ("nine", "Breed", "Shift", "circle", *(["Spread"] if named else [])):
        assert f'"{Path.cwd()}/mine.py:{name}"' in settings
    line = []
    if not named:
        assert 'crossover = "spread"' in settings
        said = rejection(capsys)
        assert "--crossover FILE.py:NAME" in said
        line = ["--crossover", "mine.py:Spread"]
    assert resume(capsys, *line)["digest"] == whole_digest(capsys)


CHANGES = {
    "the header of the crossover spread": ('"spread.cuh")', '"spread.cuh", word="word ")'),
    "the header of the problem tour": ('"tour.cuh")', '"tour.cuh", namespace="namespace ")'),
    "the definition of the topology circle": ("(island - 1) %", "(island + 1) %"),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", CHANGES)
def test_changed_script_is_rejected(capsys: Capture, what: str) -> None:
    begin(6)
    old, new = CHANGES[what]
    text = Path("mine.py").read_text()
    assert old in text
    Path("mine.py").write_text(text.replace(old, new))
    said = rejection(capsys)
    assert said.startswith(f"islands: out: {what}")
    # The same holds for the checkpoints, which contain the identity of their run.
    shutil.rmtree("out/parts")
    rejection(capsys)
    Path("mine.py").write_text(text + "\n# Other lines may change.\n")
    assert resume(capsys)["digest"] == whole_digest(capsys)


def test_resuming_cannot_change_a_part(capsys: Capture) -> None:
    begin(6)
    for line in (
        ["--encoding", "bits"],
        ["--encoding", "mine.py:Digits"],
        ["--crossover", "one_point"],
        ["--crossover", "mine.py:Shift"],
        ["--migration", "mine.py:Circle"],
    ):
        rejection(capsys, *line)


def test_index_cannot_name_other_files() -> None:
    begin(6)
    Path("precious.cuh").write_text("mine")
    index = Path("out/parts/index.json")
    index.write_text(re.sub('"spread.cuh"', '"../../precious.cuh"', index.read_text()))
    line = ["demo/tsp", *SETTINGS, "--stop", "generations=1", "--out", "out", "--force", "--quiet"]
    assert main(["run", *line]) == 0
    assert Path("precious.cuh").read_text() == "mine"


def test_a_check_that_a_signal_ends_has_no_result_to_continue(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(perform, "examine", lambda *_, **__: signal.raise_signal(signal.SIGTERM))
    assert main(["check", "demo/tsp"]) == 75
    words = "ended by a signal; the check is incomplete. To start it again, repeat the command\n"
    assert capsys.readouterr().err.endswith(words)
